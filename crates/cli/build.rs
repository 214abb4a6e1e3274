//! Tells the commit that the command is built from, for `innoscan --version`.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=INNOSCAN_COMMIT");
    // Of a worktree that was never built with git, or of a package, there is none.
    println!("cargo:rerun-if-changed=../../.git/logs/HEAD");
    let named = std::env::var("INNOSCAN_COMMIT").ok();
    let commit = named.or_else(head).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo:rustc-env=INNOSCAN_COMMIT={commit}");
}

fn head() -> Option<String> {
    let output = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output().ok()?;
    let head = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    Some(head.trim().to_owned())
}
