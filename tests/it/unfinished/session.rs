//! Clients that leave their transactions open.

use std::io::{Read, Result};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use innoscan_testkit::server::Server;

/// A client's input: statements, then nothing until the sender is dropped.
struct Held {
    statements: std::io::Cursor<Vec<u8>>,
    until: Receiver<()>,
}

impl Read for Held {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let read = self.statements.read(buffer)?;
        if read == 0 {
            // Ends when the sender is gone: that is what is waited for.
            _ = self.until.recv();
        }
        Ok(read)
    }
}

/// Clients with open transactions.
pub struct Sessions {
    holds: Vec<Sender<()>>,
    clients: Vec<JoinHandle<Result<Vec<u8>>>>,
}

impl Sessions {
    /// Runs the statements of each session, one session after the other.
    pub fn begin(server: &Server, sessions: Vec<String>) -> Sessions {
        let (mut holds, mut clients) = (Vec::new(), Vec::new());
        for (nth, statements) in sessions.into_iter().enumerate() {
            let mark = server.data().join(format!("session-{nth}"));
            _ = std::fs::remove_file(&mark);
            let all = format!("{statements}\nSELECT 1 INTO OUTFILE '{}';\n", mark.display());
            let (hold, until) = channel();
            let mut input = Held { statements: std::io::Cursor::new(all.into_bytes()), until };
            let server = server.client();
            let client = std::thread::spawn(move || server.feed(&mut input));
            wait_for(&mark, &client);
            holds.push(hold);
            clients.push(client);
        }
        Sessions { holds, clients }
    }

    /// Ends the clients of a server that is gone.
    pub fn end(self) {
        drop(self.holds);
        for client in self.clients {
            // Its server is gone, which it may have noticed or not.
            _ = client.join().unwrap();
        }
    }
}

fn wait_for(mark: &Path, client: &JoinHandle<Result<Vec<u8>>>) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !is_written(mark) {
        assert!(!client.is_finished(), "{}: the session ended early", mark.display());
        assert!(Instant::now() < deadline, "{}: never written", mark.display());
        std::thread::yield_now();
    }
}

fn is_written(mark: &Path) -> bool {
    std::fs::metadata(mark).is_ok_and(|found| found.len() > 0)
}
