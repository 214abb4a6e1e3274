//! Standard error: lines for people, or with `--log-format json` one JSON object a line for those who watch a job
//! (docs/log.md).

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use innoscan_export::dump::json_utc;
use serde_json::{Value, json};

/// How this process logs; it is set once, before anything is logged.
static AS_JSON: AtomicBool = AtomicBool::new(false);

/// From now on, logs JSON objects.
pub fn set_json() {
    AS_JSON.store(true, Ordering::Relaxed);
}

/// Whether JSON objects are logged.
pub fn is_json() -> bool {
    AS_JSON.load(Ordering::Relaxed)
}

/// Logs an event with these fields, if JSON is logged; returns whether it is.
pub fn event(name: &str, fields: Value) -> bool {
    if !is_json() {
        return false;
    }
    let mut object = json!({ "time": json_utc(SystemTime::now()), "event": name });
    if let (Some(object), Value::Object(fields)) = (object.as_object_mut(), fields) {
        object.extend(fields);
    }
    // Of a log that nobody reads there is nobody to tell.
    let _ = writeln!(std::io::stderr().lock(), "{object}");
    true
}

/// Logs a line for people; as JSON, the event `note`.
pub fn line(text: &str) {
    let message = text.strip_prefix("innoscan: ").unwrap_or(text);
    let message = message.strip_prefix("note: ").unwrap_or(message);
    if !event("note", json!({ "message": message })) {
        let _ = writeln!(std::io::stderr().lock(), "{text}");
    }
}
