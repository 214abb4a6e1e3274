//! Option files, as servers and their clients read them.
//!
//! The files are `/etc/my.cnf`, `/etc/mysql/my.cnf` and `~/.my.cnf`, where later files override earlier
//! ones, or only that of `--defaults-file`. Names may have `_` for `-`; values may be quoted and contain `\n`, `\t`, `\s`, `\\`; `!include` and `!includedir` are
//! followed (`my_load_defaults`, mysys/my_default.cc).

use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use innoscan_engine::{Error, Remedy, Result};

/// Maximum nesting of includes.
const DEPTH_MAX: usize = 10;

/// The groups that servers read, some also followed by `-` and a version.
const GROUPS_OF_SERVERS: [&str; 4] = ["server", "mysqld", "mariadb", "mariadbd"];

/// The option files to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OptionFiles {
    /// The only file to read.
    pub only: Option<PathBuf>,
    /// A file to read after the usual ones.
    pub extra: Option<PathBuf>,
    /// Whether no file is read.
    pub none: bool,
}

/// The options of the files, by name, with `-` between words.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct FileOptions {
    values: HashMap<String, String>,
    /// Notes on files that were not read.
    pub notes: Vec<String>,
}

impl FileOptions {
    /// The value of an option; empty for an option without one.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }
}

impl OptionFiles {
    /// Reads the options of servers.
    ///
    /// # Errors
    /// As of [`OptionFiles::read`].
    pub fn read_of_server(&self) -> Result<FileOptions> {
        self.read(|group| {
            GROUPS_OF_SERVERS.iter().any(|name| {
                group
                    .strip_prefix(name)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
            })
        })
    }

    /// Reads the options in the groups for which `is_wanted` returns `true`.
    ///
    /// # Errors
    /// If a named file cannot be read, or a file has a syntax error.
    pub fn read(&self, is_wanted: impl Fn(&str) -> bool) -> Result<FileOptions> {
        let mut options = FileOptions::default();
        if self.none {
            return Ok(options);
        }
        if let Some(only) = &self.only {
            options.read(only, &is_wanted, 0)?;
            return Ok(options);
        }
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let usual = ["/etc/my.cnf", "/etc/mysql/my.cnf"].map(PathBuf::from);
        let own = home.map(|home| home.join(".my.cnf"));
        for file in usual.iter().chain(&own).filter(|file| file.is_file()) {
            options.read(file, &is_wanted, 0)?;
        }
        if let Some(extra) = &self.extra {
            options.read(extra, &is_wanted, 0)?;
        }
        Ok(options)
    }
}

impl FileOptions {
    fn read(&mut self, path: &Path, is_wanted: &dyn Fn(&str) -> bool, depth: usize) -> Result<()> {
        let unread = |error| Error::read("cannot read the option file", error).in_file(path);
        let mode = std::fs::metadata(path).map_err(unread)?.permissions().mode();
        if mode & 0o002 != 0 {
            self.notes.push(format!(
                "{}: not read, because it is writable for everybody",
                path.display()
            ));
            return Ok(());
        }
        let text = std::fs::read(path).map_err(unread)?;
        let mut is_ours = false;
        for (at, line) in String::from_utf8_lossy(&text).lines().enumerate() {
            let refused = |what: &str| {
                let what = format!("line {} {what}", at + 1);
                let remedies = ["correct the option file".into(), Remedy::SkipOptionFiles];
                Err(Error::refused(what, remedies).in_file(path))
            };
            let line = line.trim();
            if line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            if let Some(directive) = line.strip_prefix('!') {
                if depth == DEPTH_MAX {
                    return refused("includes files too deeply");
                }
                self.include(directive, is_wanted, depth + 1)?;
            } else if let Some(group) = line.strip_prefix('[') {
                let Some((name, _)) = group.split_once(']') else {
                    return refused("starts a group without `]`");
                };
                is_ours = is_wanted(name.trim());
            } else if is_ours {
                let (name, value) = line.split_once('=').unwrap_or((line, ""));
                let name = name.trim().replace('_', "-");
                let name = name.strip_prefix("loose-").unwrap_or(&name).to_owned();
                self.values.insert(name, unquoted(value.trim()));
            }
        }
        Ok(())
    }

    fn include(
        &mut self,
        directive: &str,
        is_wanted: &dyn Fn(&str) -> bool,
        depth: usize,
    ) -> Result<()> {
        if let Some(directory) = directive.strip_prefix("includedir ") {
            let directory = Path::new(directory.trim());
            let Ok(entries) = std::fs::read_dir(directory) else { return Ok(()) };
            let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            files.retain(|file| file.extension().is_some_and(|extension| extension == "cnf"));
            files.sort();
            return files.iter().try_for_each(|file| self.read(file, is_wanted, depth));
        }
        match directive.strip_prefix("include ") {
            Some(file) => self.read(Path::new(file.trim()), is_wanted, depth),
            None => Ok(()),
        }
    }
}

/// A value without quotes and escapes; outside quotes, `#` starts a comment.
fn unquoted(value: &str) -> String {
    let inner = ['"', '\'']
        .into_iter()
        .find_map(|quote| value.strip_prefix(quote)?.rsplit_once(quote).map(|(inner, _)| inner));
    let plain = inner.unwrap_or_else(|| match value.find(" #") {
        Some(at) => value[..at].trim_end(),
        None => value,
    });
    let mut text = String::with_capacity(plain.len());
    let mut characters = plain.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some('b') => text.push('\u{8}'),
            Some('s') => text.push(' '),
            Some(other @ ('\\' | '"' | '\'')) => text.push(other),
            Some(other) => text.extend(['\\', other]),
            None => text.push('\\'),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_files_and_lines_win_and_other_groups_do_not_count() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        std::fs::create_dir(dir.path().join("more")).unwrap();
        write("more/b.cnf", "[client]\nport = 3308\n");
        write("more/a.cnf", "[client]\nport = 3307\nssl_ca=/x\n");
        write("more/c.txt", "[client]\nport = 1\n");
        let main = write(
            "my.cnf",
            &format!(
                "# remark\n[mysqld]\nsocket=/no\n[client]\nuser = ann # who\npassword = \"a#b\\\\c\\sd'\"\n\
                 skip-ssl\n!includedir {}\n",
                dir.path().join("more").display()
            ),
        );
        let options = OptionFiles { only: Some(main), ..OptionFiles::default() }
            .read(|group| group == "client")
            .ok()
            .unwrap();
        assert_eq!(options.get("user"), Some("ann"));
        assert_eq!(options.get("password"), Some("a#b\\c d'"));
        assert_eq!(options.get("socket"), None);
        assert_eq!((options.get("port"), options.get("ssl-ca")), (Some("3308"), Some("/x")));
        assert_eq!(options.get("skip-ssl"), Some(""));
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_place() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("my.cnf");
        let read =
            || OptionFiles { only: Some(path.clone()), ..OptionFiles::default() }.read(|_| true);
        assert!(read().error_text().contains("my.cnf: cannot read the option file"));
        std::fs::write(&path, "\n[client\n").unwrap();
        assert!(read().error_text().contains("line 2 starts a group"));
        std::fs::write(&path, format!("!include {}\n", path.display())).unwrap();
        assert!(read().error_text().contains("too deep"));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
        assert!(read().ok().unwrap().notes[0].contains("writable for everybody"));
    }

    trait ErrorText {
        fn error_text(self) -> String;
    }

    impl ErrorText for Result<FileOptions> {
        fn error_text(self) -> String {
            self.err().map(|error| error.to_string()).unwrap_or_default()
        }
    }
}
