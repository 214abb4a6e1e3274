//! Detection of tablespaces locked by `FLUSH TABLES ... FOR EXPORT`: the server has written them
//! completely, allows no changes, and has created a `.cfg` beside them (`row0quiesce.cc`), which it
//! removes when it unlocks them.
//!
//! An existing `.cfg` proves nothing: a server that was killed leaves it, and a copy may have been
//! put there for `IMPORT TABLESPACE`.

use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::datadir::running_server;

/// The state of a tablespace according to the `.cfg` beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Export {
    /// There is no `.cfg`.
    None,
    /// The tablespace was written since, or its server has started since: it is not locked.
    Stale,
    /// The `.cfg` is plausible, and a server is running.
    Held,
    /// The `.cfg` is plausible, and no server is running.
    Left,
}

impl Export {
    /// The state of an `.ibd` file in a data directory whose system tablespace has this first file.
    pub fn of(ibd: &Path, root: &Path, system: &Path) -> Export {
        let modified = |path: &Path| path.metadata().and_then(|metadata| metadata.modified()).ok();
        let Some(exported) = modified(&ibd.with_extension("cfg")) else { return Export::None };
        if modified(ibd).is_none_or(|written| written > exported) {
            return Export::Stale;
        }
        let Some(holder) = running_server(root, system) else { return Export::Left };
        let started = holder.pid.and_then(|pid| start_of(pid.as_raw_nonzero().get()));
        match started {
            Some(started) if started > exported => Export::Stale,
            _ => Export::Held,
        }
    }
}

/// The start time of a process, or up to two seconds before; `None` for a process of another container.
fn start_of(pid: i32) -> Option<SystemTime> {
    // Fields are counted after the name, which may contain blanks and parentheses.
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields = stat.rsplit_once(')')?.1;
    let ticks: u64 = fields.split_ascii_whitespace().nth(19)?.parse().ok()?;
    // /proc/stat also has the boot time, but is slow to read where there are many interrupts, and this
    // is called for each table while all are locked.
    let uptime = std::fs::read_to_string("/proc/uptime").ok()?;
    let up_s: f64 = uptime.split_ascii_whitespace().next()?.parse().ok()?;
    let started_s = ticks / rustix::param::clock_ticks_per_second().max(1);
    let age = Duration::try_from_secs_f64(up_s + 1.0 - started_s as f64).ok()?;
    SystemTime::now().checked_sub(age)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn a_process_has_begun_before_now_and_not_long_ago() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let started = start_of(child.id() as i32).unwrap();
        let now = SystemTime::now();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(started <= now);
        assert!(now.duration_since(started).unwrap() < Duration::from_secs(10));
    }

    #[test]
    fn a_tablespace_that_was_written_to_since_is_not_held() {
        let dir = tempfile::tempdir().unwrap();
        let (ibd, cfg) = (dir.path().join("t.ibd"), dir.path().join("t.cfg"));
        let export = || Export::of(&ibd, dir.path(), &dir.path().join("ibdata1"));
        File::create(&ibd).unwrap();
        assert_eq!(export(), Export::None);
        let at = |path: &Path, seconds| {
            let file = File::options().write(true).open(path).unwrap();
            file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
        };
        File::create(&cfg).unwrap();
        at(&ibd, 1000);
        for (exported, expected) in
            [(999, Export::Stale), (1000, Export::Left), (1001, Export::Left)]
        {
            at(&cfg, exported);
            assert_eq!(export(), expected);
        }
    }
}
