//! Device models, measured once and remembered between runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use innoscan_io::{self as io, Device, Direct, EngineKind, File};
use serde_json::{Value, json};

use crate::Result;

/// A device's limits, and the file that remembers them.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    /// The limits.
    pub device: Device,
    /// The file in which the limits are kept for the next run; `None` where they are not: those of the
    /// page cache are never kept.
    pub kept_in: Option<PathBuf>,
}

/// The device of a file: as remembered, or else measured now, in less than a second.
pub fn device_of(path: &Path, direct: Direct, engine: EngineKind) -> Result<Known> {
    let file = Arc::new(File::open(path, direct)?);
    let kept_in = memory().filter(|_| file.is_direct());
    let name = format!("{:x}", file.identity().device);
    let remembered = kept_in.as_deref().and_then(|memory| recall(memory, &name));
    if let Some(device) = remembered {
        return Ok(Known { device, kept_in });
    }
    let device = io::measure(&file, engine)?;
    let kept_in = kept_in.filter(|memory| remember(memory, &name, &device).is_ok());
    Ok(Known { device, kept_in })
}

/// The file that remembers devices, by the XDG base directories.
fn memory() -> Option<PathBuf> {
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.filter(|path| path.is_absolute()).or_else(home)?;
    Some(cache.join("innoscan/devices.json"))
}

fn all(memory: &Path) -> Option<Value> {
    serde_json::from_slice(&std::fs::read(memory).ok()?).ok()
}

fn recall(memory: &Path, name: &str) -> Option<Device> {
    let all = all(memory)?;
    let one = all.get(name)?;
    Some(Device {
        iops: Some(one.get("iops")?.as_f64()?),
        bytes_per_second: Some(one.get("bytes_per_second")?.as_f64()?),
        latency: Duration::from_micros(one.get("latency_us")?.as_u64()?),
    })
}

fn remember(memory: &Path, name: &str, device: &Device) -> std::io::Result<()> {
    let mut all = all(memory).filter(Value::is_object).unwrap_or_else(|| json!({}));
    all[name] = json!({
        "iops": device.iops,
        "bytes_per_second": device.bytes_per_second,
        "latency_us": device.latency.as_micros() as u64,
    });
    if let Some(dir) = memory.parent() {
        std::fs::create_dir_all(dir)?;
    }
    // Concurrent readers see either the old or the new file, complete.
    let new = memory.with_extension(format!("{}.tmp", std::process::id()));
    std::fs::write(&new, all.to_string())?;
    std::fs::rename(&new, memory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_what_was_measured() {
        let dir = tempfile::tempdir().unwrap();
        let memory = dir.path().join("a/devices.json");
        assert_eq!(recall(&memory, "1"), None);
        let device: Device = "iops=150,bw=150M,latency=300us".parse().unwrap();
        remember(&memory, "1", &device).unwrap();
        remember(&memory, "2", &"gp3".parse().unwrap()).unwrap();
        assert_eq!(recall(&memory, "1"), Some(device));
        assert_eq!(recall(&memory, "3"), None);
        std::fs::write(&memory, "[1, 2").unwrap();
        assert_eq!(recall(&memory, "1"), None);
        remember(&memory, "1", &device).unwrap();
        assert_eq!(recall(&memory, "1"), Some(device));
    }
}
