//! Tests of the filter behind Postfix, with OpenDKIM and swaks as peers.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use oarlock_mailfilter::{MessageFault, MessageOutcome};

use crate::running_filter::{self, FilterFiles, RunningFilter};

/// The time after which a step counts as hanging.
const HANGS: Duration = Duration::from_secs(60);

/// Returns the path of a program. Reports a missing one.
fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders =
        std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/lib/postfix/sbin".into()]);
    let found = folders.find_map(|directory| Some(directory.join(name)).filter(|path| path.is_file()));
    if found.is_none() {
        eprintln!("SKIPPED: {name} is not installed");
    }
    found
}

/// Returns true if the programs are installed and the user can start them.
fn is_possible(programs: &[&str]) -> bool {
    let missing = programs.iter().filter(|name| program(name).is_none()).count();
    let has_all = missing == 0;
    if has_all && !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: only root can start Postfix");
        return false;
    }
    has_all
}

/// Asks again until there is an answer.
#[track_caller]
fn wait_for<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(begin.elapsed() < HANGS, "{what}: not so");
        std::thread::yield_now();
    }
}

/// Runs a program without input to its end.
fn ran(command: &mut Command) -> Output {
    ran_with_input(command.stdin(Stdio::null()))
}

fn ran_with_input(command: &mut Command) -> Output {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let pid = rustix::process::Pid::from_child(&child);
    let (result, ended) = mpsc::channel();
    std::thread::spawn(move || result.send(child.wait_with_output()));
    let Ok(output) = ended.recv_timeout(HANGS) else {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        panic!("{command:?}: not finished after {HANGS:?}");
    };
    let output = output.unwrap();
    let said = [&*output.stdout, &*output.stderr].concat();
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&said));
    output
}

/// A Postfix of its own with a folder for all mail. One port uses the first filter, one the second, and one both.
struct MailSystem {
    directory: PathBuf,
    child: Child,
    ports: [u16; 3],
}

impl MailSystem {
    /// Starts a mail system for two filters.
    fn start(directory: PathBuf, filters: [&RunningFilter; 2]) -> Self {
        Self::start_with(directory, filters, "")
    }

    /// Starts a mail system with additional lines in `main.cf`.
    fn start_with(directory: PathBuf, filters: [&RunningFilter; 2], more: &str) -> Self {
        for name in ["queue", "data", "boxes"] {
            fs::create_dir_all(directory.join(name)).unwrap();
        }
        for path in directory.ancestors().take(2) {
            fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
        }
        let user = String::from_utf8(ran(Command::new("id").args(["-u", "postfix"])).stdout).unwrap();
        let user = user.trim().parse().unwrap();
        for name in ["data", "boxes"] {
            chown(directory.join(name), Some(user), None).unwrap();
        }
        let ports = oarlock_measure::ports::free_ports(3).unwrap().try_into().unwrap();
        fs::write(directory.join("strip_results"), STRIP_RESULTS).unwrap();
        fs::write(directory.join("main.cf"), settings(&directory, user) + more).unwrap();
        fs::write(directory.join("master.cf"), services(ports, filters)).unwrap();
        let mut command = Command::new(program("postfix").unwrap());
        command.arg("-c").arg(&directory).arg("start-fg").stdin(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let log = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || log.lines().map_while(Result::ok).for_each(|line| eprintln!("{line}")));
        for port in ports {
            wait_for("Postfix", || TcpStream::connect(("127.0.0.1", port)).ok());
        }
        Self { directory, child, ports }
    }

    /// Sends a file unchanged and returns the delivered message.
    fn delivered(&self, port: u16, file: &Path) -> String {
        let new = self.directory.join("boxes/new");
        let before = names(&new);
        let mut swaks = Command::new(program("swaks").unwrap());
        swaks.args(["--server", "127.0.0.1", "--port", &port.to_string(), "--helo", "client.example"]);
        swaks.args(["--from", "joe@example.com", "--to", "jane@example.net", "--suppress-data", "--data"]);
        ran(swaks.arg(format!("@{}", file.display())));
        let name = wait_for("a delivery", || names(&new).into_iter().find(|name| !before.contains(name)));
        let mut text = String::new();
        fs::File::open(new.join(name)).unwrap().read_to_string(&mut text).unwrap();
        text
    }
}

impl Drop for MailSystem {
    fn drop(&mut self) {
        let mut stop = Command::new("postfix");
        let _ = stop.arg("-c").arg(&self.directory).arg("stop").output();
        let begin = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) && begin.elapsed() < HANGS {
            std::thread::yield_now();
        }
        // After the deadline the process is still there. Otherwise this does nothing.
        let _ = self.child.kill();
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

fn settings(directory: &Path, user: u32) -> String {
    let directory = directory.display();
    format!(
        "compatibility_level = 3.6\nmyhostname = mx.example\nmydestination =\nmynetworks =\n\
         inet_interfaces = 127.0.0.1\ninet_protocols = ipv4\nalias_maps =\nmaillog_file = /dev/stdout\n\
         queue_directory = {directory}/queue\ndata_directory = {directory}/data\n\
         command_directory = /usr/sbin\ndaemon_directory = /usr/lib/postfix/sbin\n\
         virtual_mailbox_domains = example.net\nvirtual_mailbox_base = {directory}/boxes\n\
         virtual_mailbox_maps = static:./\nvirtual_uid_maps = static:{user}\nvirtual_gid_maps = static:{user}\n\
         virtual_minimum_uid = 1\nmilter_default_action = tempfail\n\
         header_checks = regexp:{directory}/strip_results\n"
    )
}

fn services(ports: [u16; 3], filters: [&RunningFilter; 2]) -> String {
    let milter = |filter: &RunningFilter| {
        let oarlock_milter::MilterSocket::Inet { port: at, .. } = filter.socket else { panic!() };
        format!("inet:127.0.0.1:{at}")
    };
    let [first, second] = filters.map(milter);
    let both = format!("{first},{second}");
    let smtpd = |(port, milters): (u16, String)| {
        format!("127.0.0.1:{port} inet n - n - - smtpd\n -o smtpd_milters={milters}\n")
    };
    let services: String = ports.into_iter().zip([first, second, both]).map(smtpd).collect();
    let lines = [
        "cleanup unix n - n - 0 cleanup",
        "qmgr unix n - n 300 1 qmgr",
        "rewrite unix - - n - - trivial-rewrite",
        "bounce unix - - n - 0 bounce",
        "defer unix - - n - 0 bounce",
        "trace unix - - n - 0 bounce",
        "error unix - - n - - error",
        "retry unix - - n - - error",
        "proxymap unix - - n - - proxymap",
        "virtual unix - n n - - virtual",
        "anvil unix - - n - 1 anvil",
        "postlog unix-dgram n - n - 1 postlogd",
    ];
    services + &lines.join("\n") + "\n"
}

/// The pattern of docs/milter.md for a filter that runs before the seal.
const STRIP_RESULTS: &str = "/^Authentication-Results[[:space:]]*:[[:space:]]*first\\.mx\\.example/ IGNORE\n";

const MAIL: &str = "From: Joe <joe@example.com>\r\nTo: jane@example.net\r\nSubject: a subject\r\n that is  folded\r\n\
                    Date: Thu, 1 Jan 2026 00:00:00 +0000\r\nMessage-ID: <1@example.com>\r\n\r\n\
                    Hello  Jane,\r\n\r\n.a line with a dot\r\nhow are you? \r\n\r\n";

/// Returns a delivered message as it was transmitted, without the fields that delivery adds.
fn as_sent(delivered: &str) -> String {
    let added = ["Return-Path:", "X-Original-To:", "Delivered-To:"];
    let lines = delivered.lines().skip_while(|line| added.iter().any(|name| line.starts_with(name)));
    lines.map(|line| format!("{line}\r\n")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn signs_and_verifies_mail_behind_postfix() {
    if !is_possible(&["postfix", "swaks", "opendkim", "opendkim-testmsg"]) {
        return;
    }
    let files = FilterFiles::for_example();
    let signing = files.start_filter("").await;
    let verifying = files.start_filter("internal_networks = []\nverifying.accepts_sha1 = true").await;
    let directory = files.path("mail");
    tokio::task::block_in_place(|| {
        let system = MailSystem::start(directory, [&signing, &verifying]);
        let [ours, others, _] = system.ports;
        let file = files.path("message");
        // Our signatures verify with OpenDKIM.
        files.write("message", MAIL);
        let signed = as_sent(&system.delivered(ours, &file));
        let first = signed.find("DKIM-Signature").unwrap();
        assert!(first < signed.find("Received:").unwrap(), "{signed}");
        assert_eq!(signed.matches("DKIM-Signature: ").count(), 2, "{signed}");
        let said = opendkim(&files, &signed);
        assert!(said.contains("verification (s=s1, d=example.com, 2048-bit key) succeeded"), "{said}");
        // A forger adds results before and after the signatures.
        let forged = "Authentication-Results: mx.example; dkim=pass header.d=bank.example\r\n";
        let (head, body) = signed.split_once("\r\n\r\n").unwrap();
        files.write("message", &format!("{forged}{forged}{head}\r\n{forged}\r\n{body}"));
        let received = as_sent(&system.delivered(others, &file)).replace("\r\n\t", " ").replace("\r\n ", " ");
        let results: Vec<&str> =
            received.lines().filter(|line| line.starts_with("Authentication-Results:")).collect();
        assert_eq!(results.len(), 1, "{received}");
        assert!(received.starts_with("Authentication-Results: mx.example;"), "{received}");
        assert_eq!(results[0].matches("dkim=pass").count(), 2, "{received}");
        assert!(!received.contains("bank.example"), "{received}");
        // OpenDKIM's signatures verify with us.
        files.write("message", &opendkim_signed(&files));
        let received = system.delivered(others, &file).replace("\n\t", " ");
        assert!(received.contains("dkim=pass (2048-bit key) header.d=example.com"), "{received}");
        // A message without a signature.
        files.write("message", MAIL);
        let received = system.delivered(others, &file);
        assert!(received.contains("Authentication-Results: mx.example; dkim=none\n"), "{received}");
    });
    assert_eq!(signing.service.metrics().messages(MessageOutcome::Signed), 1);
    assert_eq!(verifying.service.metrics().messages(MessageOutcome::Passed), 2);
    signing.stopped().await;
    verifying.stopped().await;
}

/// The table signs for two domains that are hosted side by side.
#[tokio::test(flavor = "multi_thread")]
async fn does_not_sign_for_a_user_of_another_hosted_domain() {
    if !is_possible(&["postfix", "swaks"]) {
        return;
    }
    let files = FilterFiles::for_example();
    files.table("* s1 rsa\n");
    let signing = files.start_filter("internal_networks = []").await;
    let other = files.start_filter("internal_networks = []\nmode = \"verify\"").await;
    let directory = files.path("mail");
    tokio::task::block_in_place(|| {
        // Every client counts as authenticated, with a MAIL FROM that Postfix has checked.
        let authenticated = "milter_macro_defaults = auth_authen=joe\n";
        let system = MailSystem::start_with(directory, [&signing, &other], authenticated);
        let [ours, ..] = system.ports;
        files.write("message", MAIL);
        let signed = as_sent(&system.delivered(ours, &files.path("message")));
        assert_eq!(signed.matches("DKIM-Signature: ").count(), 1, "{signed}");
        files.write("message", &MAIL.replace("joe@example.com", "boss@hosted.example"));
        let unsigned = as_sent(&system.delivered(ours, &files.path("message")));
        assert!(
            unsigned.contains("boss@hosted.example") && !unsigned.contains("DKIM-Signature"),
            "{unsigned}"
        );
    });
    assert_eq!(signing.service.metrics().messages(MessageOutcome::Signed), 1);
    assert_eq!(signing.service.metrics().messages(MessageOutcome::Faulty(MessageFault::WrongFrom)), 1);
    signing.stopped().await;
    other.stopped().await;
}

/// Returns OpenDKIM's report on the signatures of a message.
fn opendkim(files: &FilterFiles, message: &str) -> String {
    files.write("verified", message);
    files.write("records", &files.records);
    let keys = files.path("records");
    files.write("opendkim.conf", &format!("Mode v\nSyslog no\nTestPublicKeys {}\n", keys.display()));
    let mut command = Command::new(program("opendkim").unwrap());
    command.arg("-x").arg(files.path("opendkim.conf")).arg("-t").arg(files.path("verified")).arg("-vvv");
    let output = ran(&mut command);
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

/// Returns a message that OpenDKIM has signed.
fn opendkim_signed(files: &FilterFiles) -> String {
    files.write("unsigned", MAIL);
    let mut command = Command::new(program("opendkim-testmsg").unwrap());
    command.args(["-d", "example.com", "-s", "s1", "-C", "-k"]).arg(files.path("rsa"));
    let output = ran_with_input(command.stdin(fs::File::open(files.path("unsigned")).unwrap()));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| format!("{line}\r\n")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn seals_the_results_of_an_earlier_filter_and_never_forged_ones() {
    if !is_possible(&["postfix", "swaks"]) {
        return;
    }
    let mut files = FilterFiles::for_example();
    files.key("arc", "arc", "example.net", &oarlock::keys::generate::rsa(2048).unwrap());
    // This filter stands for OpenDMARC or rspamd: it adds a field under its own name.
    let config = files.config("internal_networks = []\nmode = \"verify\"\n");
    let config = oarlock_mailfilter::FilterConfig { authserv_id: Some("first.mx.example".into()), ..config };
    let first = RunningFilter::open(config, running_filter::scalar(), files.dns()).await;
    let sealing = "internal_networks = []\ntrusted_results.filters = [\"first.mx.example\"]\n\
                   arc.seal = { domain = \"example.net\", selector = \"arc\", key = \"arc\" }";
    let second = files.start_filter(sealing).await;
    let directory = files.path("mail");
    tokio::task::block_in_place(|| {
        let system = MailSystem::start(directory, [&first, &second]);
        let [_, _, both] = system.ports;
        let forged = [
            "Authentication-Results: first.mx.example; spf=pass smtp.mailfrom=bank.example",
            "authentication-results :\r\n\tFirst.MX.example 1; dmarc=pass header.from=bank.example",
            "Authentication-Results: mx.example; spf=pass smtp.mailfrom=bank.example",
            "Authentication-Results : mx.example; dmarc=pass header.from=bank.example",
            "Authentication-Results: (x) first.mx.example; iprev=pass policy.iprev=bank",
        ];
        files.write("message", &format!("{}\r\n{MAIL}", forged.join("\r\n")));
        let received = as_sent(&system.delivered(both, &files.path("message")));
        let unfolded = received.replace("\r\n\t", " ").replace("\r\n ", " ");
        let set = unfolded.lines().find(|line| line.starts_with("ARC-Authentication-Results:")).unwrap();
        // The set has our results and after them those of the first filter.
        assert_eq!(
            set, "ARC-Authentication-Results: i=1; mx.example; dkim=none; arc=none; dkim=none",
            "{received}"
        );
        let results: Vec<&str> = unfolded
            .lines()
            .filter(|line| line.to_ascii_lowercase().starts_with("authentication-results"))
            .collect();
        // Postfix does not find a name after a comment. The first filter removes that field as forged.
        assert_eq!(results.len(), 2, "{received}");
        assert!(results[0].starts_with("Authentication-Results: mx.example;"), "{received}");
        assert!(results[1].starts_with("Authentication-Results: first.mx.example; dkim=none"), "{received}");
        assert!(!received.contains("bank"), "{received}");
    });
    first.stopped().await;
    second.stopped().await;
}
