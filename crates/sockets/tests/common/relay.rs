//! Programs of TLS on both sides of a recording relay.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

/// A relay of one connection that keeps what it passes on.
pub struct Relay {
    pub port: u16,
    thread: JoinHandle<[Vec<u8>; 2]>,
}

impl Relay {
    pub fn start(server_port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let thread = std::thread::spawn(move || {
            let client = listener.accept().unwrap().0;
            let server = TcpStream::connect(("127.0.0.1", server_port)).unwrap();
            for stream in [&client, &server] {
                // A peer that hangs fails the test instead of stopping it.
                stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            }
            let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            let up = std::thread::spawn(move || pass_on(from, to));
            let down = pass_on(server, client);
            [up.join().unwrap(), down]
        });
        Self { port, thread }
    }

    pub fn finish(self) -> [Vec<u8>; 2] {
        self.thread.join().unwrap()
    }
}

fn pass_on(mut from: TcpStream, mut to: TcpStream) -> Vec<u8> {
    let (mut passed, mut buffer) = (Vec::new(), [0; 4096]);
    while let Ok(len @ 1..) = from.read(&mut buffer) {
        passed.extend_from_slice(&buffer[..len]);
        if to.write_all(&buffer[..len]).is_err() {
            break;
        }
    }
    // The other side may be gone already.
    let _ = to.shutdown(Shutdown::Write);
    passed
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
