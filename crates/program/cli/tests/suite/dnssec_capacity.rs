//! `oarlock dnssec capacity` as its users run it.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use crate::program::printed::PrintedLines;
use crate::program::{code, command, oarlock, stderr};
use serde_json::Value;
use tempfile::TempDir;

/// Rates of the small machine of Blaauwendraad 2017, table 5.1.
const SMALL: &str = r#"{
  "by": "Blaauwendraad 2017, table 5.1", "processor": "ARMv8 at 1.2 GHz", "cores": 4, "runs": 100, "run_seconds": 10.0,
  "rates": [
    {"algorithm": "p256", "implementation": "OpenSSL 1.0.1f", "mean_per_s": 243.2, "sigma_per_s": 2.0},
    {"algorithm": "p256", "implementation": "OpenSSL 1.1.0e", "mean_per_s": 786.4, "sigma_per_s": 2.1},
    {"algorithm": "p384", "implementation": "OpenSSL 1.1.0e", "mean_per_s": 93.7, "sigma_per_s": 0.7},
    {"algorithm": "ed25519", "implementation": "ed25519-donna", "mean_per_s": 716.5, "sigma_per_s": null}
  ]
}"#;
/// Rates of the large machine of Blaauwendraad 2017, table 5.2.
const LARGE: &str = r#"{
  "by": "Blaauwendraad 2017, table 5.2", "processor": "i7-4500U", "cores": 2, "runs": 100, "run_seconds": 10.0,
  "rates": [{"algorithm": "p256", "implementation": "OpenSSL 1.1.0e", "mean_per_s": 8606.3, "sigma_per_s": 53.9}]
}"#;
const AT_S: u32 = 1_700_000_000;

struct CaptureFolder(TempDir);

impl CaptureFolder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.write("small.json", SMALL);
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), bytes).unwrap();
        self.text(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// Returns the JSON of the command for the small machine.
    fn ask(&self, arguments: &[&str]) -> Value {
        let output = oarlock(
            &[&["--json", "dnssec", "capacity", "--machine", &self.text("small.json")], arguments].concat(),
        );
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

fn message(flags: u8, signatures: u8) -> Vec<u8> {
    let mut out = vec![0, 1, flags, 0, 0, 1, 0, signatures, 0, 0, 0, 0, 1, b'a', 0, 0, 1, 0, 1];
    for covered in 0..signatures {
        out.extend([0xc0, 12, 0, 46, 0, 1, 0, 0, 1, 44, 0, 20]);
        out.extend([0, covered, 13, 1, 0, 0, 14, 16, 0, 0, 0, 9, 0, 0, 0, 1, 0, 7, 0, 1]);
    }
    out
}

const QUERY: u8 = 1;
const RESPONSE: u8 = 0x81;

/// Returns a capture of raw IP packets: seconds after the first, and messages.
fn pcap(packets: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut out = 0xa1b2_c3d4_u32.to_le_bytes().to_vec();
    out.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 101, 0, 0, 0]);
    for (after_s, message) in packets {
        let len = message.len() as u16;
        let mut ip = vec![0x45, 0];
        ip.extend((len + 28).to_be_bytes());
        ip.extend([0, 0, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2, 156, 64, 0, 53]);
        ip.extend((len + 8).to_be_bytes());
        ip.extend([0, 0]);
        ip.extend(message);
        out.extend((AT_S + after_s).to_le_bytes());
        out.extend([0; 4]);
        out.extend([(ip.len() as u32).to_le_bytes(); 2].concat());
        out.extend(ip);
    }
    out
}

/// Returns a capture of ten seconds. Each second has one query more, and each answer has two signatures.
fn rising() -> Vec<u8> {
    let second = |after_s| {
        (0..=after_s).flat_map(move |_| [(after_s, message(QUERY, 0)), (after_s, message(RESPONSE, 2))])
    };
    pcap(&(0..10).flat_map(second).collect::<Vec<_>>())
}

fn number(value: &Value, pointer: &str) -> f64 {
    value.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer} of {value:#}"))
}

#[test]
fn reproduces_the_case_of_the_paper() {
    let folder = CaptureFolder::new();
    let found = folder.ask(&["--queries-per-second", "58", "--worst-case", "--overhead-us", "0"]);
    assert_eq!(number(&found, "/demand/signatures_per_s"), 174.0);
    assert_eq!(number(&found, "/demand/required_per_s"), 200.0);
    let affordable: Vec<bool> = found["verdicts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["is_affordable"].as_bool().unwrap())
        .collect();
    // Half of a core affords P-256 with the newest OpenSSL and Ed25519, but not P-384 or the oldest OpenSSL.
    assert_eq!(affordable, [false, true, false, true]);
    let sentence = found["sentence"].as_str().unwrap();
    assert!(
        sentence.contains("200 validations per second with 50 % of one core with P-256 and Ed25519"),
        "{sentence}"
    );
    assert!(
        sentence.contains("not with P-384") && sentence.contains("Ed25519 (ed25519-donna)"),
        "{sentence}"
    );
    assert_eq!(found["traffic"], Value::Null);
}

#[test]
fn overhead_counts_unless_it_is_zero() {
    let folder = CaptureFolder::new();
    let found = folder.ask(&["--queries-per-second", "58", "--worst-case"]);
    let with = number(&found, "/verdicts/1/validations_per_s");
    assert!((with - 1.0 / (1.0 / 786.4 + 37e-6)).abs() < 1e-6, "{with}");
    assert!(number(&found, "/verdicts/1/cpu_share") > number(&found, "/verdicts/1/cpu_share_bare"));
}

/// The document of `oarlock --json bench resolver`, with two rows.
const RESOLVER: &str = r#"{
  "by": "oarlock 0.1.0", "bench": "resolver", "names_per_turn": 3000, "turns": 3,
  "rows": [
    {"name": "unbound-p256", "engine": "scalar", "overhead_us": 30.0, "peer_overhead_us": 50.0},
    {"name": "bind-rsa2048", "engine": "scalar", "overhead_us": null, "peer_overhead_us": 80.0}
  ]
}"#;

#[test]
fn a_measured_overhead_replaces_the_constant() {
    let folder = CaptureFolder::new();
    let resolver = folder.write("resolver.json", RESOLVER);
    let load = ["--queries-per-second", "58", "--worst-case", "--overhead-from", &resolver];
    for (row, name, overhead_us) in
        [(None, "unbound-p256", 50.0), (Some("bind-rsa2048"), "bind-rsa2048", 80.0)]
    {
        let row = row.map_or_else(Vec::new, |row| vec!["--overhead-row", row]);
        let found = folder.ask(&[&load[..], &row].concat());
        assert_eq!(number(&found, "/budget/overhead_us"), overhead_us);
        assert_eq!(found["budget"]["overhead_row"], name);
        let validations = number(&found, "/verdicts/1/validations_per_s");
        assert!((validations - 1.0 / (1.0 / 786.4 + overhead_us * 1e-6)).abs() < 1e-6, "{validations}");
    }
    let machine = folder.text("small.json");
    let output = oarlock(&[&["dnssec", "capacity", "--machine", &machine], &load[..]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("50 µs each beyond the verification (measured: unbound-p256)"), "{text}");
}

#[test]
fn a_document_without_an_overhead_is_refused_with_the_reason() {
    let folder = CaptureFolder::new();
    let machine = folder.text("small.json");
    let without = RESOLVER.replace("50.0", "null");
    let negative = RESOLVER.replace("50.0", "-3.5");
    let foreign = RESOLVER.replace("\"resolver\"", "\"tls\"");
    for (name, text, row, expected) in [
        ("absent.json", None, None, "cannot open"),
        ("cut.json", Some(&RESOLVER[..40]), None, "was not written by `oarlock --json bench resolver`"),
        ("rates.json", Some(SMALL), None, "was not written by `oarlock --json bench resolver`"),
        ("tls.json", Some(&foreign), None, "expected `resolver`, found `tls`"),
        ("empty.json", Some(r#"{"bench": "resolver", "rows": []}"#), None, "its bench measured nothing"),
        ("row.json", Some(RESOLVER), Some("nsd-p256"), "expected one of unbound-p256, bind-rsa2048"),
        ("none.json", Some(&without), None, "expected peer_overhead_us above 0, found none"),
        ("negative.json", Some(&negative), None, "expected peer_overhead_us above 0, found -3.5"),
    ] {
        let path = text.map_or_else(|| folder.text(name), |text| folder.write(name, text));
        let mut arguments = vec!["dnssec", "capacity", "--machine", &machine, "--queries-per-second", "1"];
        arguments.extend(["--worst-case", "--overhead-from", &path]);
        arguments.extend(row.into_iter().flat_map(|row| ["--overhead-row", row]));
        let output = oarlock(&arguments);
        assert_eq!(code(&output), 2, "{name}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected) && stderr(&output).contains(name), "{}", stderr(&output));
    }
}

#[test]
fn answers_no_if_no_algorithm_is_affordable() {
    let folder = CaptureFolder::new();
    let machine = folder.text("small.json");
    let arguments =
        ["dnssec", "capacity", "--machine", &machine, "--queries-per-second", "1000", "--worst-case"];
    let output = oarlock(&arguments);
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("= 3000.0 signatures per second") && text.contains("with no algorithm"), "{text}");
}

#[test]
fn fits_the_model_to_a_capture() {
    let folder = CaptureFolder::new();
    let capture = folder.write("rising.pcap", rising());
    let found = folder.ask(&[&capture, "--overhead-us", "0"]);
    let traffic = &found["traffic"];
    assert_eq!(traffic["queries"], 55);
    assert_eq!((&traffic["responses"], &traffic["signed_responses"]), (&Value::from(55), &Value::from(55)));
    assert_eq!(
        (&traffic["signatures"], &traffic["verified_signatures"]),
        (&Value::from(110), &Value::from(2))
    );
    assert_eq!(traffic["queries_per_s"]["max"], 10);
    assert_eq!(traffic["queries_per_s"]["p50"], 5);
    assert_eq!(traffic["inputs"][0]["format"], "pcap");
    let model = &found["model"];
    for (name, value) in [("r", 1.0), ("a_s", 1.0), ("s", 2.0)] {
        assert_eq!(model[name]["origin"], "fit", "{name}");
        assert!((model[name]["coefficient"].as_f64().unwrap() - value).abs() < 1e-9, "{name}: {model:#}");
    }
    // The cache has both signatures after the first second, so no line can be fitted.
    assert_eq!(model["a_v"]["origin"], "totals");
    assert!((number(&found, "/demand/signatures_per_s") - 20.0 * 2.0 / 110.0).abs() < 1e-9);
    let found = folder.ask(&[&capture, "--overhead-us", "0", "--a-v", "1", "--b", "5"]);
    assert!((number(&found, "/demand/signatures_per_s") - 25.0).abs() < 1e-9);
    assert_eq!(found["model"]["a_v"]["origin"], "by hand");
}

/// RFC 1996, RFC 2136: a server verifies nothing for notifications and updates.
#[test]
fn updates_and_notifications_are_not_queries() {
    const NOTIFY: u8 = 4 << 3;
    const UPDATE: u8 = 5 << 3;
    let folder = CaptureFolder::new();
    let others = [NOTIFY, UPDATE, 0x80 | NOTIFY, 0x80 | UPDATE].map(|flags| (3, message(flags, 1)));
    let capture = folder.write("update.pcap", [rising(), pcap(&others).split_off(24)].concat());
    let traffic = &folder.ask(&[&capture, "--overhead-us", "0"])["traffic"];
    let counted =
        ["queries", "responses", "signatures", "other_opcodes", "malformed"].map(|name| &traffic[name]);
    assert_eq!(counted, [55, 55, 110, 4, 0]);
    let machine = folder.text("small.json");
    let output = oarlock(&["dnssec", "capacity", &capture, "--machine", &machine]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("Left out: 4 messages with another opcode than QUERY, such as UPDATE and NOTIFY."),
        "{text}"
    );
    let one = pcap(&others[..1]).split_off(24);
    let capture = folder.write("notify.pcap", [rising(), one].concat());
    let output = oarlock(&["dnssec", "capacity", &capture, "--machine", &machine]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("Left out: 1 message with another opcode"), "{text}");
}

#[test]
fn addresses_are_never_shown() {
    let folder = CaptureFolder::new();
    let capture = folder.write("rising.pcap", rising());
    let machine = folder.text("small.json");
    for json in [&[][..], &["--json"]] {
        let output =
            oarlock(&[json, &["-v", "dnssec", "capacity", &capture, "--machine", &machine]].concat());
        let all = String::from_utf8(output.stdout.clone()).unwrap() + &stderr(&output);
        assert_eq!(code(&output), 0, "{all}");
        assert!(!all.contains("192.0.2") && all.contains("55"), "{all}");
    }
}

#[test]
fn a_truncated_input_counts_up_to_its_end_and_the_next_is_read() {
    let folder = CaptureFolder::new();
    let whole = rising();
    let cut = folder.write("cut.pcap", &whole[..whole.len() - 3]);
    let log = format!("{} a\n{} b\nnonsense\n", AT_S + 100, AT_S + 100);
    let log = folder.write("queries.log", log);
    let machine = folder.text("small.json");
    let output = oarlock(&["--json", "dnssec", "capacity", &cut, &log, "--machine", &machine]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&found["traffic"]["queries"], &found["traffic"]["responses"]),
        (&Value::from(57), &Value::from(54))
    );
    assert_eq!(found["traffic"]["queries_per_s"]["seconds"], 11);
    assert_eq!(found["traffic"]["inputs"][1]["skipped"]["lines"], 1);
    assert!(stderr(&output).contains("ends within a packet"), "{}", stderr(&output));
}

#[test]
fn a_query_log_gives_only_queries() {
    let folder = CaptureFolder::new();
    let log = folder.write("queries.log", format!("[{AT_S}] unbound[1:0] info: 192.0.2.1 a. A IN\n"));
    let machine = folder.text("small.json");
    let output = oarlock(&["dnssec", "capacity", &log, "--machine", &machine]);
    assert_eq!(code(&output), 2);
    assert!(
        stderr(&output).contains("the traffic does not determine --r, --a-s, --s, --a-v"),
        "{}",
        stderr(&output)
    );
    let found = folder.ask(&[&log, "--worst-case"]);
    assert_eq!(number(&found, "/demand/signatures_per_s"), 3.0);
}

#[test]
fn errors_name_wrong_arguments_and_files() {
    let folder = CaptureFolder::new();
    let nonsense = folder.write("nonsense", "hello\nworld\n");
    let damaged = folder.write("damaged.gz", [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1]);
    let unknown = folder.write("unknown.pcap", [&pcap(&[])[..20], &[147, 0, 0, 0]].concat());
    let broken = folder.write("broken.json", "{}");
    let machine = folder.text("small.json");
    let missing = folder.text("missing");
    let load = ["--queries-per-second", "58", "--worst-case"];
    let cases: [(&[&str], &str); 10] = [
        (&[&missing], "cannot open"),
        (&[&nonsense], "expected pcap, pcapng, dnstap"),
        (&[&damaged], "damaged gzip stream"),
        (&[&unknown], "link type 147"),
        (&[], "there is no traffic: expected captures or logs"),
        (&["--queries-per-second", "58"], "the traffic does not determine --r"),
        (&["--a-v", "2"], "expected a number from 0 to 1"),
        (&["--plot-queries", "q.svg", load[0], load[1], load[2]], "needs traffic"),
        (&["--against", &broken, load[0], load[1], load[2]], "has no rates that --save wrote"),
        (&["--for", "3"], "--dnstap-socket"),
    ];
    for (arguments, said) in cases {
        let mut command = command(&[&["dnssec", "capacity", "--machine", &machine], arguments].concat());
        let output = command.current_dir(folder.0.path()).output().unwrap();
        assert_eq!(code(&output), 2, "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(said), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn a_machine_is_measured_saved_and_compared() {
    let folder = CaptureFolder::new();
    let saved = folder.text("here.json");
    let load = ["--queries-per-second", "1", "--worst-case", "--algorithms", "ed25519"];
    let measured =
        ["--json", "dnssec", "capacity", "--runs", "2", "--run-seconds", "0.005", "--save", &saved];
    let output = oarlock(&[&measured[..], &load].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rates = found["machine"]["rates"].as_array().unwrap();
    for implementation in ["scalar", "scalar hot"] {
        assert!(rates.iter().any(|rate| rate["implementation"] == implementation), "{rates:?}");
    }
    assert!(
        rates.iter().all(|rate| rate["mean_per_s"].as_f64().unwrap() > 0.0 && rate["sigma_per_s"].is_f64())
    );
    let again = ["--json", "dnssec", "capacity", "--machine", &saved, "--against", &saved];
    let output = oarlock(&[&again[..], &load].concat());
    let again: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(again["machine"]["rates"], found["machine"]["rates"]);
    let multipliers = again["against"]["multipliers"].as_array().unwrap();
    assert_eq!(multipliers.len(), rates.len());
    assert!(multipliers.iter().all(|row| row["times"] == 1.0));
}

#[test]
fn compares_machines_as_the_table_of_the_paper_does() {
    let folder = CaptureFolder::new();
    let large = folder.write("large.json", LARGE);
    let output = oarlock(&[
        "dnssec",
        "capacity",
        "--machine",
        &large,
        "--against",
        &folder.text("small.json"),
        "--queries-per-second",
        "58",
        "--worst-case",
    ]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("Against ARMv8 at 1.2 GHz") && text.contains("10.9x"), "{text}");
}

#[test]
fn pictures_are_drawn() {
    let folder = CaptureFolder::new();
    let capture = folder.write("rising.pcap", rising());
    let (queries, demand) = (folder.text("queries.svg"), folder.text("demand.svg"));
    folder.ask(&[&capture, "--plot-queries", &queries, "--plot", &demand, "--a-v", "1"]);
    let (queries, demand) =
        (std::fs::read_to_string(queries).unwrap(), std::fs::read_to_string(demand).unwrap());
    assert!(
        queries.contains("10 in the busiest of 10 seconds") && queries.matches("<circle").count() == 10,
        "{queries}"
    );
    assert!(demand.contains("demand: 20") && demand.contains("P-384"), "{demand}");
}

/// The command while it listens.
struct ListeningCommand {
    child: Child,
    errors: PrintedLines,
}

impl ListeningCommand {
    fn start(folder: &CaptureFolder, socket: &Path, arguments: &[&str]) -> Self {
        let machine = folder.text("small.json");
        let fixed = [
            "--json",
            "dnssec",
            "capacity",
            "--machine",
            &machine,
            "--dnstap-socket",
            socket.to_str().unwrap(),
        ];
        let mut command = command(&[&fixed[..], arguments].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut errors = PrintedLines::from_stream(child.stderr.take().unwrap());
        errors.wait_for("listening");
        Self { child, errors }
    }

    fn end(mut self) -> (Value, String) {
        let mut out = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        let errors = self.errors.all();
        assert!(self.child.wait().unwrap().success(), "{errors}");
        (serde_json::from_str(&out).unwrap(), errors)
    }
}

fn control(kind: u8, names_content: bool) -> Vec<u8> {
    let content: &[u8] = b"protobuf:dnstap.Dnstap";
    let fields = if names_content { [&[0, 0, 0, 1, 0, 0, 0, 22][..], content].concat() } else { Vec::new() };
    [&[0, 0, 0, 0, 0, 0, 0, fields.len() as u8 + 4, 0, 0, 0, kind][..], &fields].concat()
}

/// Returns a frame of dnstap with a message; odd kinds are queries.
fn frame(kind: u8, message: &[u8]) -> Vec<u8> {
    let (time, field) = if kind % 2 == 1 { (8, 10) } else { (12, 14) };
    let mut inner = vec![8, kind, time << 3, 0x80, 0xe2, 0xcf, 0xaa, 6, field << 3 | 2, message.len() as u8];
    inner.extend(message);
    let outer = [&[14 << 3 | 2, inner.len() as u8], &inner[..]].concat();
    [&(outer.len() as u32).to_be_bytes()[..], &outer].concat()
}

#[test]
fn a_live_socket_counts_until_a_signal() {
    let folder = CaptureFolder::new();
    let socket = folder.path("dnstap.sock");
    let listening = ListeningCommand::start(&folder, &socket, &["--worst-case", "--side", "upstream"]);
    let mut stream = UnixStream::connect(&socket).unwrap();
    stream.write_all(&control(4, true)).unwrap();
    let mut accept = vec![0; control(1, true).len()];
    stream.read_exact(&mut accept).unwrap();
    assert_eq!(accept, control(1, true));
    let (query, response) = (message(QUERY, 0), message(RESPONSE, 1));
    stream.write_all(&control(2, true)).unwrap();
    for (kind, message) in [(3, &query), (4, &response), (5, &query), (6, &response), (3, &query)] {
        stream.write_all(&frame(kind, message)).unwrap();
    }
    stream.write_all(&control(3, false)).unwrap();
    let mut finish = vec![0; control(5, false).len()];
    stream.read_exact(&mut finish).unwrap();
    assert_eq!(finish, control(5, false));
    // A connection that breaks off does not disturb the others.
    let mut broken = UnixStream::connect(&socket).unwrap();
    broken.write_all(&control(2, true)).unwrap();
    broken.write_all(&[255; 4]).unwrap();
    assert_eq!(broken.read(&mut [0]).unwrap_or(0), 0);

    let pid = rustix::process::Pid::from_child(&listening.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let (found, errors) = listening.end();
    let traffic = &found["traffic"];
    assert_eq!((&traffic["queries"], &traffic["signatures"]), (&Value::from(2), &Value::from(1)), "{errors}");
    assert_eq!(traffic["inputs"][0]["messages"], 5);
    assert!(errors.contains("a frame of 4294967295 bytes"), "{errors}");
    assert!(!socket.exists());
}

#[test]
fn a_live_socket_ends_after_its_time_and_replaces_a_dead_socket() {
    let folder = CaptureFolder::new();
    let socket = folder.path("dnstap.sock");
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    let arguments = ["--for", "0.05", "--worst-case", "--queries-per-second", "58"];
    let (found, _) = ListeningCommand::start(&folder, &socket, &arguments).end();
    assert_eq!(found["traffic"]["queries"], 0);
    assert_eq!(number(&found, "/demand/required_per_s"), 200.0);
}
