//! A cryptoserver that accepts connections and never answers.

use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use crate::common::TestDirectory;

pub struct MuteServer {
    socket: PathBuf,
    connections: Arc<Mutex<Vec<UnixStream>>>,
    has_left: Arc<AtomicBool>,
    taking: Option<JoinHandle<()>>,
}

impl MuteServer {
    pub fn start(dir: &TestDirectory) -> Self {
        let socket = dir.path("mute.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let connections = Arc::new(Mutex::new(Vec::new()));
        let has_left = Arc::new(AtomicBool::new(false));
        let (taken, is_over) = (Arc::clone(&connections), Arc::clone(&has_left));
        let taking = thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if is_over.load(Ordering::Acquire) {
                    return;
                }
                taken.lock().unwrap().push(stream);
            }
        });
        Self { socket, connections, has_left, taking: Some(taking) }
    }

    /// Returns the lines of the provider's section that select this server, with the maximum patience.
    pub fn section(&self) -> String {
        format!("mode = service\nsocket = {}\npatience_ms = 600000", self.socket.display())
    }

    pub fn connections(&self) -> usize {
        self.connections.lock().unwrap().len()
    }

    /// Closes all connections and accepts no more.
    pub fn leave(&mut self) {
        self.has_left.store(true, Ordering::Release);
        // One more, so that it looks.
        let _ = UnixStream::connect(&self.socket);
        if let Some(taking) = self.taking.take() {
            taking.join().unwrap();
        }
        self.connections.lock().unwrap().clear();
    }
}
