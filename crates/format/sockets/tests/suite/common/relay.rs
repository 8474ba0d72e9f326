//! Programs of TLS on both sides of a recording relay.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// A relay of one connection that keeps what it passes on.
pub struct Relay {
    pub port: u16,
    /// The bytes to the server and to the client so far.
    passed: Arc<Mutex<[Vec<u8>; 2]>>,
    server: Arc<Mutex<Option<TcpStream>>>,
    thread: JoinHandle<()>,
}

impl Relay {
    pub fn start(server_port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (passed, to_inject) =
            (Arc::<Mutex<[Vec<u8>; 2]>>::default(), Arc::<Mutex<Option<TcpStream>>>::default());
        let (own_passed, own_server) = (passed.clone(), to_inject.clone());
        let thread = std::thread::spawn(move || {
            let client = listener.accept().unwrap().0;
            let server = TcpStream::connect(("127.0.0.1", server_port)).unwrap();
            for stream in [&client, &server] {
                // A peer that hangs fails the test instead of stopping it.
                stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            }
            *own_server.lock().unwrap() = Some(server.try_clone().unwrap());
            let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            let up_passed = own_passed.clone();
            let up = std::thread::spawn(move || pass_on(from, to, &up_passed, 0));
            pass_on(server, client, &own_passed, 1);
            up.join().unwrap();
        });
        Self { port, passed, server: to_inject, thread }
    }

    /// Returns the bytes of both directions so far.
    pub fn passed(&self) -> [Vec<u8>; 2] {
        self.passed.lock().unwrap().clone()
    }

    /// Sends bytes to the server that the client did not send. They are not kept.
    pub fn inject(&self, bytes: &[u8]) {
        let server = self.server.lock().unwrap();
        let mut stream = server.as_ref().unwrap();
        stream.write_all(bytes).unwrap();
    }

    /// Waits for the end of the connection and returns the bytes of both directions.
    pub fn finish(self) -> [Vec<u8>; 2] {
        self.thread.join().unwrap();
        self.passed.lock().unwrap().clone()
    }
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, passed: &Mutex<[Vec<u8>; 2]>, direction: usize) {
    let mut buffer = [0; 4096];
    while let Ok(len @ 1..) = from.read(&mut buffer) {
        // Kept before it is sent, so that a test that sees an effect of it finds it.
        passed.lock().unwrap()[direction].extend_from_slice(&buffer[..len]);
        if to.write_all(&buffer[..len]).is_err() {
            break;
        }
    }
    // The other side may be gone already.
    let _ = to.shutdown(Shutdown::Write);
}

/// A server that ends with the test, also if the test fails.
pub struct RunningServer(pub Child);

impl Drop for RunningServer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn make_certificate(key: &Path, certificate: &Path) {
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout"])
        .args([key, Path::new("-out"), certificate])
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(made.success());
}
