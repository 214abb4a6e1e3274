//! Devices, measured or learnt from scans, and remembered between runs.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use innoscan_io::{self as io, Device, Direct, EngineKind, File};
use serde_json::{Value, json};

use crate::Result;

/// The limits of devices, by the device number of their files. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct KnownDevices {
    /// The file that keeps them for the next run.
    memory: Option<PathBuf>,
    devices: Arc<Mutex<HashMap<String, Device>>>,
}

/// A change by less than this factor is not written to the file.
const NOTABLE: f64 = 1.25;

impl KnownDevices {
    /// The devices of this user's runs, which are kept in `innoscan/devices.json` in the user's cache
    /// directory (XDG). Without such a directory they are known only during this run.
    pub fn of_user() -> KnownDevices {
        KnownDevices { memory: memory(), devices: Arc::default() }
    }

    /// The device of a file, if it is known. Reads through the page cache say nothing about a device.
    pub fn get(&self, file: &File) -> Option<Device> {
        if !file.is_direct() {
            return None;
        }
        let name = name_of(file);
        let mut devices = self.devices();
        if let Some(device) = devices.get(&name) {
            return Some(*device);
        }
        let device = recall(self.memory.as_deref()?, &name)?;
        devices.insert(name, device);
        Some(device)
    }

    /// Adds the device of a file; returns the file that keeps it for the next run. It is no error if that
    /// cannot be written.
    pub fn set(&self, file: &File, device: Device) -> Option<&Path> {
        if !file.is_direct() {
            return None;
        }
        let memory = self.memory.as_deref();
        if self.get(file).is_some_and(|before| before.is_within(&device, NOTABLE)) {
            return memory;
        }
        let name = name_of(file);
        self.devices().insert(name.clone(), device);
        memory.filter(|memory| remember(memory, &name, &device).is_ok())
    }

    /// The device of a file: the known one, or else measured now, in less than a second; and the file that
    /// keeps it for the next run.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn get_or_measure(
        &self,
        path: &Path,
        direct: Direct,
        engine: EngineKind,
    ) -> Result<(Device, Option<&Path>)> {
        let file = Arc::new(File::open(path, direct)?);
        if let Some(device) = self.get(&file) {
            return Ok((device, self.memory.as_deref()));
        }
        let device = io::measure(&file, engine)?;
        Ok((device, self.set(&file, device)))
    }

    fn devices(&self) -> MutexGuard<'_, HashMap<String, Device>> {
        self.devices.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn name_of(file: &File) -> String {
    format!("{:x}", file.identity().device)
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
        seeks: None,
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
    fn reads_through_the_page_cache_are_not_remembered() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, vec![1; 4 << 20]).unwrap();
        let memory = dir.path().join("devices.json");
        let known = KnownDevices { memory: Some(memory.clone()), devices: Arc::default() };
        let measured = known.get_or_measure(&path, Direct::Off, EngineKind::Pread).unwrap();
        assert_eq!(measured.1, None);
        assert!(!memory.exists());
    }

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
