//! Servers and clients that are not built for the provider.

pub mod apache;
pub mod haproxy;
pub mod mute;
pub mod nginx;
pub mod postfix;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use oarlock_measure::ports::free_port;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::common::{ProgramResult, TestDirectory, program};

/// The time after which a test fails. Nothing takes this long unless it hangs.
const HANGS: Duration = Duration::from_secs(30);

/// A server that runs until this value is dropped, and its log.
pub struct Daemon {
    child: Child,
    log: Arc<Mutex<String>>,
    /// The command that stops the server if its processes leave its process group.
    stop: Option<Command>,
}

/// The options of a client besides the defaults of TLS 1.3.
pub struct Visit {
    pub port: u16,
    /// The name in the expected certificate.
    pub key: &'static str,
    pub options: &'static str,
}

/// TLS 1.3 and 1.2, with each certificate of a server that has two.
pub const VISITS: [(&str, &str); 4] = [
    ("rsa", "-tls1_3 -sigalgs RSA-PSS+SHA256:RSA+SHA256"),
    ("p256", "-tls1_3 -sigalgs ECDSA+SHA256"),
    ("rsa", "-tls1_2 -cipher ECDHE-RSA-AES128-GCM-SHA256"),
    ("p256", "-tls1_2 -cipher ECDHE-ECDSA-AES128-GCM-SHA256"),
];

/// Makes a test directory that other users can read, because servers give up root.
pub fn test_directory(section: &str) -> TestDirectory {
    let dir = TestDirectory::new(section);
    fs::set_permissions(&dir.directory, PermissionsExt::from_mode(0o755)).unwrap();
    for name in ["rsa", "p256"] {
        let (_, how) = crate::common::KEYS.iter().find(|(known, _)| *known == name).unwrap();
        dir.key(name, how);
        dir.certificate(name);
    }
    dir
}

/// True if the tests run as root, which some servers need to start.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// True if all of these programs are installed.
pub fn has(programs: &[&str]) -> bool {
    programs.iter().all(|name| program(name).is_some())
}

/// Repeats a question until it has an answer.
#[track_caller]
pub fn wait_for<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(begin.elapsed() < HANGS, "{what}: not so");
        thread::yield_now();
    }
}

impl Daemon {
    /// Starts a program that listens on a port, and waits until it accepts connections.
    pub fn start(mut command: impl FnMut(u16) -> (Command, Option<Command>)) -> (Self, u16) {
        for _ in 0..5 {
            let port = free_port().unwrap();
            let (start, stop) = command(port);
            let mut daemon = Self::spawn(start, stop);
            let is_up = wait_for("a server that starts or fails", || {
                let is_up = TcpStream::connect(("127.0.0.1", port)).is_ok();
                (is_up || !daemon.is_running()).then_some(is_up)
            });
            if is_up {
                return (daemon, port);
            }
            daemon.wait_for_log_end();
            // Another program has got the port.
            assert!(daemon.log().contains("in use"), "{}", daemon.log());
        }
        panic!("five ports were free and then were not");
    }

    fn spawn(mut command: Command, stop: Option<Command>) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let shown = format!("{command:?}");
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{shown}: {error}"));
        let log = Arc::new(Mutex::new(String::new()));
        collect::<ChildStdout>(child.stdout.take(), &log);
        collect::<ChildStderr>(child.stderr.take(), &log);
        Self { child, log, stop }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    pub fn log(&self) -> String {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    #[track_caller]
    pub fn wait_for_log(&self, what: impl Fn(&str) -> bool) {
        let begin = Instant::now();
        while !what(&self.log()) {
            assert!(begin.elapsed() < HANGS, "not said: {}", self.log());
            thread::yield_now();
        }
    }

    fn wait_for_log_end(&self) {
        // Both readers have let go of it.
        wait_for("the end of a log", || (Arc::strong_count(&self.log) == 1).then_some(()));
    }

    pub fn signal(&self, signal: Signal) {
        signal_to(self.id(), signal);
    }

    /// Counts the open descriptors of the process whose type begins with `kind`: `socket:`, `anon_inode:[eventfd]`.
    pub fn descriptors(&self, kind: &str) -> usize {
        let of = PathBuf::from(format!("/proc/{}/fd", self.id()));
        let links = fs::read_dir(of).unwrap().flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
        links.filter(|link| link.to_string_lossy().starts_with(kind)).count()
    }

    /// Waits until the process has `count` of these descriptors.
    #[track_caller]
    pub fn wait_for_descriptors(&self, kind: &str, count: usize) {
        let begin = Instant::now();
        loop {
            let now = self.descriptors(kind);
            if now == count {
                return;
            }
            assert!(begin.elapsed() < HANGS, "{kind}: {now}, not {count}: {}", self.log());
            thread::yield_now();
        }
    }
}

pub fn signal_to(process: u32, signal: Signal) {
    let pid = Pid::from_raw(process.try_into().unwrap()).unwrap();
    // It fails for a process that has gone.
    let _ = kill_process(pid, signal);
}

/// Collects the output of a program on a thread, until all of its processes have closed it.
fn collect<R: Read + Send + 'static>(from: Option<R>, log: &Arc<Mutex<String>>) {
    let (from, log) = (BufReader::new(from.unwrap()), Arc::clone(log));
    thread::spawn(move || {
        for line in from.lines().map_while(Result::ok) {
            let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
            log.push_str(&line);
            log.push('\n');
        }
    });
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("{}", self.log());
        }
        if let Some(stop) = &mut self.stop {
            let _ = stop.output();
        }
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

impl Visit {
    /// Fetches a page with `openssl s_client` without the provider, which checks the certificate.
    pub fn https(&self, dir: &TestDirectory) -> ProgramResult {
        self.client(dir, b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n", "")
    }

    fn client(&self, dir: &TestDirectory, request: &[u8], extra: &str) -> ProgramResult {
        let name = format!("request.{:?}", thread::current().id());
        dir.write(&name, request);
        let Self { port, key, options } = self;
        let arguments = format!(
            "s_client -connect 127.0.0.1:{port} -servername localhost -CAfile {key}.crt -verify_return_error \
             -verify_hostname localhost -ign_eof {options} {extra}"
        );
        let mut command = dir.plain_command(&dir.openssl);
        command.args(arguments.split_whitespace()).stdin(fs::File::open(dir.path(&name)).unwrap());
        ProgramResult::from_command(&mut command)
    }

    /// Checks the answer of a server whose every page is "hello".
    #[track_caller]
    pub fn succeeds(&self, dir: &TestDirectory) {
        let said = self.https(dir).ok();
        assert!(said.contains("Verification: OK") && said.contains("hello"), "{said}");
    }

    /// Starts a client that holds its session until it is killed.
    pub fn stays(&self, dir: &TestDirectory) -> Child {
        let Self { port, key, options } = self;
        let arguments = format!(
            "s_client -connect 127.0.0.1:{port} -servername localhost -CAfile {key}.crt -quiet {options}"
        );
        let mut command = dir.plain_command(&dir.openssl);
        command
            .args(arguments.split_whitespace())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.spawn().unwrap()
    }

    /// Records the first message of such a client.
    pub fn hello(dir: &TestDirectory, options: &'static str) -> Vec<u8> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut client = Visit { port, key: "rsa", options }.stays(dir);
        let (mut stream, _) = listener.accept().unwrap();
        // RFC 8446 5.1: type, version and length of a record.
        let mut hello = vec![0; 5];
        stream.read_exact(&mut hello).unwrap();
        let length = usize::from(u16::from_be_bytes([hello[3], hello[4]]));
        hello.resize(5 + length, 0);
        stream.read_exact(&mut hello[5..]).unwrap();
        client.kill().unwrap();
        client.wait().unwrap();
        hello
    }

    /// Checks a TLS session inside of SMTP.
    #[track_caller]
    pub fn starts_tls(&self, dir: &TestDirectory) {
        let said = self.client(dir, b"QUIT\r\n", "-starttls smtp -quiet -crlf").ok();
        assert!(said.contains("221 2.0.0 Bye"), "{said}");
    }
}
