//! Keys in HSMs at the cryptoserver, each module in a process of its own: SoftHSM, and a module in C with faults
//! (crates/io/hsm/tests/faulty).

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use oarlock::SigningScheme;

use crate::program::{code, command, oarlock, run_records_in, stderr, text};
use crate::serve_load::{under_load, wait_for};
use crate::served::{Served, with_metrics};

pub(crate) const SOFTHSM: &str = "/usr/lib/softhsm/libsofthsm2.so";
const PIN: &str = "4711-0815";
const SO_PIN: &str = "12345678";

/// Tokens of a module in a directory, and the module with faults, which passes its calls to it.
pub(crate) struct Tokens {
    directory: tempfile::TempDir,
    module: PathBuf,
}

/// The modules other than SoftHSM: our own, and kryoptic if `OARLOCK_KRYOPTIC` or the system has it.
fn other_modules() -> Vec<PathBuf> {
    let program = std::env::current_exe().unwrap();
    let built = program.parent().unwrap().join("liboarlock_pkcs11.so");
    let kryoptic = std::env::var_os("OARLOCK_KRYOPTIC").map(PathBuf::from).into_iter().chain([
        "/usr/lib64/pkcs11/libkryoptic_pkcs11.so".into(),
        "/usr/lib/x86_64-linux-gnu/pkcs11/libkryoptic_pkcs11.so".into(),
    ]);
    let modules =
        [("our module", Some(built)), ("kryoptic", kryoptic.into_iter().find(|path| path.exists()))];
    let found = modules.into_iter().filter_map(|(name, module)| {
        let found = module.filter(|module| module.exists());
        if found.is_none() {
            println!("SKIPPED: no module of {name}");
        }
        found
    });
    found.collect()
}

impl Tokens {
    /// Makes tokens of SoftHSM. Returns `None` if it or a compiler is missing.
    pub(crate) fn with(labels: &[&str]) -> Option<Self> {
        let has_util = Command::new("softhsm2-util").arg("--version").output().is_ok();
        if !Path::new(SOFTHSM).exists() || !has_util {
            println!("SKIPPED: SoftHSM is not installed ({SOFTHSM}, softhsm2-util)");
            return None;
        }
        Self::of(SOFTHSM.into(), labels)
    }

    /// Makes tokens of each module that is here.
    pub(crate) fn of_each_module(labels: &[&str]) -> Vec<Self> {
        if Command::new("pkcs11-tool").arg("--help").output().is_err() {
            println!("SKIPPED: pkcs11-tool is not installed, so there is SoftHSM alone");
            return Self::with(labels).into_iter().collect();
        }
        let others = other_modules().into_iter().filter_map(|module| Self::of(module, labels));
        Self::with(labels).into_iter().chain(others).collect()
    }

    fn of(module: PathBuf, labels: &[&str]) -> Option<Self> {
        let tokens = Self { directory: tempfile::tempdir().unwrap(), module };
        fs::create_dir(tokens.path("tokens")).unwrap();
        let conf = format!(
            "directories.tokendir = {}\nobjectstore.backend = file\nlog.level = ERROR\n",
            tokens.path("tokens").display()
        );
        fs::write(tokens.path("softhsm2.conf"), conf).unwrap();
        let slots = |slot: fn(&Path, usize) -> String| -> String {
            labels.iter().enumerate().map(|(at, label)| slot(&tokens.path(label), at)).collect()
        };
        let store = slots(|path, _| {
            format!("[[slot]]\nkind = \"store\"\npath = {:?}\n", path.with_extension("token"))
        });
        fs::write(tokens.path("oarlock.conf"), store).unwrap();
        let sqlite = slots(|path, at| {
            format!(
                "[[slots]]\nslot = {at}\ndbtype = \"sqlite\"\ndbargs = {:?}\n",
                path.with_extension("sql")
            )
        });
        fs::write(tokens.path("kryoptic.conf"), sqlite).unwrap();
        fs::write(tokens.path("pin"), PIN).unwrap();
        fs::set_permissions(tokens.path("pin"), fs::Permissions::from_mode(0o600)).unwrap();
        labels.iter().enumerate().for_each(|(slot, label)| tokens.init(slot, label));
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../io/hsm/tests/faulty/faulty.c");
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(tokens.path("faulty.so"))
            .args([source, "-ldl", "-lpthread"])
            .output();
        let Ok(compiled) = compiled else {
            println!("SKIPPED: no compiler `cc` for the faulty module");
            return None;
        };
        assert!(compiled.status.success(), "{}", stderr(&compiled));
        Some(tokens)
    }

    fn init(&self, slot: usize, label: &str) {
        if self.is_softhsm() {
            return self.util(&[
                "--init-token",
                "--free",
                "--label",
                label,
                "--pin",
                PIN,
                "--so-pin",
                SO_PIN,
            ]);
        }
        let slot = slot.to_string();
        self.tool(&["--slot-index", &slot, "--init-token", "--label", label, "--so-pin", SO_PIN]);
        let as_officer = ["--login", "--login-type", "so", "--so-pin", SO_PIN, "--init-pin", "--pin", PIN];
        self.tool(&[&["--slot-index", &slot][..], &as_officer].concat());
    }

    fn is_softhsm(&self) -> bool {
        self.module == Path::new(SOFTHSM)
    }

    /// Returns the path of the module itself.
    pub(crate) fn module(&self) -> &str {
        self.module.to_str().unwrap()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn set_environment(&self, command: &mut Command) {
        command.env("SOFTHSM2_CONF", self.path("softhsm2.conf"));
        command.env("OARLOCK_PKCS11_CONF", self.path("oarlock.conf"));
        command.env("KRYOPTIC_CONF", self.path("kryoptic.conf"));
        command.env("FAULTY_MODULE", &self.module).env("FAULTY_DIR", self.directory.path());
    }

    fn util(&self, arguments: &[&str]) {
        self.succeed(Command::new("softhsm2-util").args(arguments));
    }

    fn tool(&self, arguments: &[&str]) {
        self.succeed(Command::new("pkcs11-tool").args(["--module", self.module()]).args(arguments));
    }

    fn succeed(&self, command: &mut Command) {
        self.set_environment(command);
        let done = command.output().unwrap();
        assert!(done.status.success(), "{command:?}: {}", stderr(&done));
    }

    /// Makes a key and imports it into tokens.
    pub(crate) fn import(&self, kind: &str, name: &str, labels: &[&str]) {
        let file = self.path(&format!("{name}.pem"));
        let file = file.to_str().unwrap();
        text(&oarlock(&["keys", "generate", kind, "--out", file]));
        let id: String = name.bytes().map(|byte| format!("{byte:02X}")).collect();
        let public = self.path(&format!("{name}.pub.pem"));
        fs::write(&public, text(&oarlock(&["keys", "show", file, "--pem"]))).unwrap();
        for label in labels {
            if self.is_softhsm() {
                self.util(&["--import", file, "--token", label, "--label", name, "--id", &id, "--pin", PIN]);
                continue;
            }
            for (file, class) in [(file, "privkey"), (public.to_str().unwrap(), "pubkey")] {
                let object = ["--write-object", file, "--type", class, "--label", name, "--id", &id];
                let login = ["--token-label", label, "--login", "--pin", PIN, "--usage-sign"];
                self.tool(&[&login[..], &object].concat());
            }
        }
    }

    pub(crate) fn plant(&self, fault: &str) {
        fs::write(self.path(fault), "").unwrap();
    }

    /// Runs `oarlock` with the tokens.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        let mut program = command(arguments);
        self.set_environment(&mut program);
        program.output().unwrap()
    }

    /// Returns the URI of a key, with everything that a command needs.
    pub(crate) fn uri(&self, token: &str, name: &str) -> String {
        let (module, pin) = (percent_encoded(&self.module), percent_encoded(&self.path("pin")));
        format!("pkcs11:token={token};object={name}?module-path={module}&pin-source={pin}")
    }

    /// Returns a section for a token.
    pub(crate) fn section(&self, label: &str, module: &str, more: &str) -> String {
        let pin = self.path("pin");
        format!("[[hsm]]\nmodule = {module:?}\ntoken = {label:?}\npin_file = {pin:?}\n{more}\n")
    }

    pub(crate) fn faulty(&self) -> String {
        self.path("faulty.so").to_str().unwrap().to_owned()
    }

    /// Starts a server that lists its metrics.
    fn serve(&self, state: &Path, sections: &str, keys: &str) -> Served {
        let more = format!("{sections}\n[keys.hsm]\n{keys}\n");
        with_metrics(state, &more, |command| self.set_environment(command))
    }
}

/// Returns a path as a URI may hold it. RFC 7512 2.3.
fn percent_encoded(path: &Path) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._".contains(&byte);
    let encoded = |byte: &u8| match is_plain(*byte) {
        true => char::from(*byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    path.as_os_str().as_encoded_bytes().iter().map(encoded).collect()
}

fn sign(served: &Served, key: &str) -> Output {
    let message = served.state.join("message");
    fs::write(&message, "hello\n").unwrap();
    let (message, signature) = (message.to_str().unwrap(), served.state.join("signature"));
    let signed = served.call(&["sign", "--key", key, "--in", message, "--out", signature.to_str().unwrap()]);
    if signed.status.success() {
        let verified = served.call(&[
            "verify",
            "--key",
            key,
            "--in",
            message,
            "--signature",
            signature.to_str().unwrap(),
        ]);
        assert!(text(&verified).contains("is valid"));
    }
    signed
}

/// Returns the value of a metric of a device.
fn metric(served: &Served, name: &str, device: &str) -> f64 {
    let metrics = served.metrics();
    let line = metrics.lines().find(|line| line.starts_with(&format!("{name}{{device=\"{device}\"}}")));
    line.unwrap_or_else(|| panic!("no {name} in:\n{metrics}")).rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn keys_of_tokens_are_served_beside_those_of_files() {
    let Some(tokens) = Tokens::with(&["mail"]) else { return };
    tokens.import("rsa2048", "www", &["mail"]);
    tokens.import("p256", "zone", &["mail"]);
    let state = tempfile::tempdir().unwrap();
    let keys = "www = 'pkcs11:object=www'\nzone-key = 'pkcs11:token=mail;object=zone'\n\
                none = 'pkcs11:object=none'";
    let mut served = tokens.serve(state.path(), &tokens.section("mail", SOFTHSM, ""), keys);
    served.log().wait_for("connected to the device");
    for key in ["www", "zone-key", "rsa2048"] {
        text(&sign(&served, key));
    }
    let listed = text(&served.call(&["keys"]));
    assert!(listed.contains("zone-key") && !listed.contains("none"), "{listed}");
    let none = sign(&served, "none");
    assert_eq!(code(&none), 3, "{}", stderr(&none));
    assert!(stderr(&none).contains("no object of token \"mail\" is pkcs11:object=none"), "{}", stderr(&none));
    assert!((metric(&served, "oarlock_hsm_available", "mail") - 1.0).abs() < f64::EPSILON);
    assert!(metric(&served, "oarlock_hsm_job_seconds", "mail") > 0.0);
}

#[test]
fn a_module_that_crashes_takes_no_other_key_with_it() {
    let Some(tokens) = Tokens::with(&["mail"]) else { return };
    tokens.import("p256", "key", &["mail"]);
    let state = tempfile::tempdir().unwrap();
    let section = tokens.section("mail", &tokens.faulty(), "");
    let mut served = tokens.serve(state.path(), &section, "key = 'pkcs11:object=key'");
    let mut log = served.log();
    text(&sign(&served, "key"));
    tokens.plant("once.print");
    text(&sign(&served, "key"));
    tokens.plant("once.crash");
    let crashed = sign(&served, "key");
    assert_eq!(code(&crashed), 3, "{}", stderr(&crashed));
    text(&sign(&served, "p256"));
    log.wait_for("the process of the device is started again");
    log.wait_for("connected to the device");
    text(&sign(&served, "key"));
    assert!(metric(&served, "oarlock_hsm_restarts_total", "mail") >= 1.0);
}

/// Symmetric keys of a token, with the results of `pkcs11-tool` under the same keys.
#[test]
fn symmetric_keys_of_a_token_encrypt_and_make_codes_for_clients() {
    let Some(tokens) = Tokens::with(&["mail"]) else { return };
    if Command::new("pkcs11-tool").arg("--help").output().is_err() {
        println!("SKIPPED: pkcs11-tool is not installed");
        return;
    }
    let tool = |arguments: &[&str]| {
        let mut tool = Command::new("pkcs11-tool");
        tokens.set_environment(&mut tool);
        tool.args(["--module", SOFTHSM, "--token-label", "mail", "--login", "--pin", PIN]);
        let done = tool.args(arguments).output().unwrap();
        assert!(done.status.success(), "{}", stderr(&done));
    };
    tool(&["--keygen", "--key-type", "AES:32", "--label", "pan", "--id", "01"]);
    tool(&["--keygen", "--key-type", "GENERIC:64", "--label", "codes", "--id", "02"]);
    let state = tempfile::tempdir().unwrap();
    let keys = ["pan", "codes", "none"].map(|key| format!("{key} = 'pkcs11:object={key};type=secret-key'"));
    let section = tokens.section("mail", &tokens.faulty(), "");
    let mut served = tokens.serve(state.path(), &section, &keys.join("\n"));
    let mut log = served.log();
    let file = |name: &str| state.path().join(name).display().to_string();
    fs::write(file("text"), "4111111111111111").unwrap();
    let listed = text(&served.call(&["keys"]));
    for (name, kind) in [("pan", "aes256"), ("codes", "hmac")] {
        let is_listed = |line: &str| line.split_whitespace().take(2).eq([name, kind]);
        assert!(listed.lines().any(is_listed), "{name}: {listed}");
    }

    // GCM, by a stream.
    let sealing =
        ["encrypt", "--key", "pan", "--aad", "card", "--in", &file("text"), "--out", &file("sealed")];
    text(&served.call(&sealing));
    let opening =
        ["decrypt", "--key", "pan", "--aad", "card", "--in", &file("sealed"), "--out", &file("opened")];
    text(&served.call(&opening));
    assert_eq!(fs::read_to_string(file("opened")).unwrap(), "4111111111111111");
    let mut sealed = fs::read(file("sealed")).unwrap();
    assert_eq!(sealed.len(), 12 + 16 + 16);
    sealed[20] ^= 1;
    fs::write(file("sealed"), &sealed).unwrap();
    fs::remove_file(file("opened")).unwrap();
    let forged = served.call(&opening);
    assert_eq!((code(&forged), Path::new(&file("opened")).exists()), (1, false), "{}", stderr(&forged));

    // The policy of the token.
    let iv = "00".repeat(12);
    let chosen = served.call(&["encrypt", "--key", "pan", "--iv", &iv, "--in", &file("text")]);
    assert!(
        stderr(&chosen).contains("does not allow this key to encrypt under an IV"),
        "{}",
        stderr(&chosen)
    );
    let none = served.call(&["encrypt", "--key", "none", "--in", &file("text")]);
    assert!(stderr(&none).contains("no object of token \"mail\""), "{}", stderr(&none));

    // Codes, as another program makes them.
    tool(&["--sign", "-m", "SHA256-HMAC", "--id", "02", "-i", &file("text"), "-o", &file("theirs")]);
    text(&served.call(&["mac", "--key", "codes", "--in", &file("text"), "--out", &file("ours")]));
    assert_eq!(fs::read(file("ours")).unwrap(), fs::read(file("theirs")).unwrap());

    // Rows, by many records at once, and single values, by a call without a stream.
    let rows: Vec<String> = (0..2000).map(|row| (4_111_111_111_000_000_u64 + row).to_string()).collect();
    let rows = format!("pan\n{}\n", rows.join("\n"));
    fs::write(file("in.csv"), &rows).unwrap();
    let how = "--column pan --encoding text --cipher aes256-gcm --key-name pan --server oarlock.sock";
    run_records_in(state.path(), &format!("encrypt in.csv -o sealed.csv {how}"));
    run_records_in(state.path(), &format!("decrypt sealed.csv -o out.csv {how} --drop-iv"));
    assert!(fs::read_to_string(file("out.csv")).unwrap() == rows);
    if Command::new("curl").arg("--version").output().is_ok() {
        let post = |call: &str, request: &str| -> serde_json::Value {
            let mut curl = Command::new("curl");
            curl.args(["--silent", "--cacert", "ca.pem", "--cert", "client.pem", "--key", "client-key.pem"]);
            let port = served.said["tcp"].as_str().unwrap().rsplit_once(':').unwrap().1;
            let url = format!("https://localhost:{port}/oarlock.v1.Cryptoserver/{call}");
            let answered = curl.args(["--json", request, &url]).current_dir(state.path()).output().unwrap();
            serde_json::from_slice(&answered.stdout).unwrap()
        };
        let made = post("Encrypt", "{\"key\": \"pan\", \"plaintexts\": [\"NDExMQ==\"]}");
        let asked = serde_json::json!({"key": "pan", "ciphertexts": made["ciphertexts"]});
        assert_eq!(post("Decrypt", &asked.to_string())["plaintexts"][0], "NDExMQ==", "{made}");
        let made = post("Mac", "{\"key\": \"codes\", \"messages\": [\"aGVsbG8=\"]}");
        let asked = serde_json::json!({"key": "codes", "messages": ["aGVsbG8="], "macs": made["macs"]});
        assert_eq!(post("VerifyMac", &asked.to_string())["areValid"][0], true, "{made}");
    }

    // A crash takes no other key with it.
    tokens.plant("once.crash");
    let crashed = served.call(&["mac", "--key", "codes", "--in", &file("text")]);
    assert_eq!(code(&crashed), 3, "{}", stderr(&crashed));
    text(&served.call(&["encrypt", "--key", "aes128", "--in", &file("text"), "--out", &file("sealed")]));
    log.wait_for("the process of the device is started again");
    log.wait_for("connected to the device");
    text(&served.call(&["mac", "--key", "codes", "--in", &file("text"), "--out", &file("ours")]));
    assert_eq!(fs::read(file("ours")).unwrap(), fs::read(file("theirs")).unwrap());
}

#[test]
fn a_module_that_hangs_delays_no_other_key_and_gets_a_new_process() {
    let Some(tokens) = Tokens::with(&["mail", "spare"]) else { return };
    tokens.import("p256", "key", &["mail"]);
    tokens.import("p256", "other", &["spare"]);
    assert!(Command::new("mkfifo").arg(tokens.path("gate")).status().unwrap().success());
    let state = tempfile::tempdir().unwrap();
    let hanging = tokens.section("mail", &tokens.faulty(), "sessions = 1\npatience_ms = 100");
    let sections = format!("{hanging}{}", tokens.section("spare", SOFTHSM, ""));
    let keys = "key = 'pkcs11:object=key'\nother = 'pkcs11:object=other'";
    let mut served = tokens.serve(state.path(), &sections, keys);
    let mut log = served.log();
    text(&sign(&served, "key"));
    tokens.plant("hang");
    // Nobody opens the gate, so soon three calls hang at once: one more than two per session.
    let first = sign(&served, "key");
    assert!(stderr(&first).contains("did not return within 100 ms"), "{}", stderr(&first));
    for _ in 0..3 {
        assert_eq!(code(&sign(&served, "key")), 3);
        text(&sign(&served, "other"));
    }
    log.wait_for("the process of the device is started again");
    fs::remove_file(tokens.path("hang")).unwrap();
    // A process that began before hangs, and is started again.
    assert!((0..1000).any(|_| code(&sign(&served, "key")) == 0));
    assert!(metric(&served, "oarlock_hsm_restarts_total", "mail") >= 1.0);
}

#[test]
fn two_tokens_with_one_key_share_its_jobs_and_one_may_fail() {
    let Some(tokens) = Tokens::with(&["mail", "spare"]) else { return };
    tokens.import("p256", "key", &["mail", "spare"]);
    let state = tempfile::tempdir().unwrap();
    let sections =
        format!("{}{}", tokens.section("mail", &tokens.faulty(), ""), tokens.section("spare", SOFTHSM, ""));
    let served = tokens.serve(state.path(), &sections, "key = 'pkcs11:object=key'");
    // Each process reports its counts a few times a second.
    let answered = |device| metric(&served, "oarlock_hsm_answered_total", device);
    let are_used = (0..1000).any(|_| {
        text(&sign(&served, "key"));
        answered("mail") >= 5.0 && answered("spare") >= 5.0
    });
    assert!(are_used, "{}", served.metrics());
    tokens.plant("crash");
    for _ in 0..20 {
        text(&sign(&served, "key"));
    }
}

#[test]
fn a_token_that_is_missing_at_the_start_is_used_once_it_is_there() {
    let Some(tokens) = Tokens::with(&["mail"]) else { return };
    tokens.import("p256", "key", &["mail"]);
    tokens.plant("removed");
    let state = tempfile::tempdir().unwrap();
    let section = tokens.section("mail", &tokens.faulty(), "");
    let mut served = tokens.serve(state.path(), &section, "key = 'pkcs11:object=key'");
    let mut log = served.log();
    let missing = sign(&served, "key");
    assert_eq!(code(&missing), 3, "{}", stderr(&missing));
    assert!(stderr(&missing).contains("\"key\" is not available"), "{}", stderr(&missing));
    text(&sign(&served, "p256"));
    fs::remove_file(tokens.path("removed")).unwrap();
    log.wait_for("connected to the device");
    log.wait_for("\"added\":\"[\\\"key\\\"]\"");
    text(&sign(&served, "key"));
}

#[test]
fn a_wrong_pin_is_tried_once() {
    let Some(tokens) = Tokens::with(&["mail"]) else { return };
    tokens.import("p256", "key", &["mail"]);
    fs::write(tokens.path("pin"), "0000-wrong").unwrap();
    let state = tempfile::tempdir().unwrap();
    let section = tokens.section("mail", &tokens.faulty(), "");
    let served = tokens.serve(state.path(), &section, "key = 'pkcs11:object=key'");
    let refused = sign(&served, "key");
    assert_eq!(code(&refused), 3);
    assert!(stderr(&refused).contains("refuses the PIN"), "{}", stderr(&refused));
    // The device is asked every second, and probes its token by itself.
    for _ in 0..3 {
        assert_eq!(code(&sign(&served, "key")), 3);
    }
    assert_eq!(fs::read(tokens.path("logins")).unwrap().len(), 1);
}

#[test]
fn the_process_of_a_device_ends_with_its_server() {
    let Some(tokens) = Tokens::with(&["mail"]) else { return };
    tokens.import("p256", "key", &["mail"]);
    let state = tempfile::tempdir().unwrap();
    let section = tokens.section("mail", SOFTHSM, "");
    let served = tokens.serve(state.path(), &section, "key = 'pkcs11:object=key'");
    text(&sign(&served, "key"));
    let children = children_of(&served.child);
    assert_eq!(children.len(), 1, "{children:?}");
    // A service manager sends the signal to both, and the server drains.
    for signal in ["-TERM", "-INT", "-HUP"] {
        assert!(Command::new("kill").args([signal, &children[0]]).status().unwrap().success());
    }
    text(&sign(&served, "key"));
    assert_eq!(children_of(&served.child), children);
    // Killed, it cannot tell the process, which learns it by the end of its input.
    served.signal("-KILL");
    let (status, _) = served.end();
    assert!(!status.success());
    for child in children {
        let ended =
            Command::new("tail").args(["--pid", &child, "-f", "/dev/null"]).stdin(Stdio::null()).status();
        assert!(ended.unwrap().success());
    }
}

fn children_of(child: &Child) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{}/task", child.id())).unwrap();
    let children = tasks.map(|task| fs::read_to_string(task.unwrap().path().join("children")).unwrap());
    children.flat_map(|text| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[test]
fn settings_of_devices_are_checked_without_touching_them() {
    let Some(tokens) = Tokens::with(&["mail"]) else { return };
    let state = tempfile::tempdir().unwrap();
    let check = |section: &str, keys: &str| {
        let path = state.path().join("oarlock.toml");
        let listen = format!("[listen]\nunix = {:?}\n", state.path().join("socket"));
        fs::write(&path, format!("{listen}{section}\n[keys.hsm]\n{keys}\n")).unwrap();
        oarlock(&["serve", "--config", path.to_str().unwrap(), "--check"])
    };
    let section = tokens.section("mail", &tokens.faulty(), "");
    let good = check(&section, "key = 'pkcs11:object=key'");
    text(&good);
    assert!(!tokens.path("logins").exists());
    for (more, keys, expected) in [
        ("sessions = 0", "", "[[hsm]] sessions: expected 1 to 256, found 0"),
        ("pin = '1234'", "", "unknown field `pin`"),
        ("", "key = 'pkcs11:token=other;object=key'", "[keys.hsm] key: no section [[hsm]] has its token"),
        ("", "key = 'pkcs11:token=mail'", "[keys.hsm] key: expected a URI with `object` or `id`"),
        ("", "key = 'pkcs11:object=key?pin-value=1234'", "[keys.hsm] key: attribute `pin-value`"),
        ("", "'a key' = 'pkcs11:object=key'", "[keys.hsm] a key: expected a name of letters"),
    ] {
        let found = check(&tokens.section("mail", &tokens.faulty(), more), keys);
        assert_eq!(code(&found), 2, "{more} {keys}");
        assert!(stderr(&found).contains(expected), "{more} {keys}: {}", stderr(&found));
        assert!(!stderr(&found).contains("1234"));
    }
}

/// Nobody starts the process of a device by hand.
#[test]
fn the_process_of_a_device_says_who_starts_it() {
    let started = oarlock(&["hsm-process"]);
    assert_eq!(code(&started), 3);
    assert!(stderr(&started).contains("only services start this command"), "{}", stderr(&started));
}

#[test]
fn the_keys_of_a_token_are_listed_with_their_rates() {
    let Some(tokens) = Tokens::with(&["mail"]) else { return };
    tokens.import("rsa2048", "www", &["mail"]);
    tokens.import("p256", "zone", &["mail"]);
    let list = |token: &str, more: &[&str]| {
        let pin = tokens.path("pin");
        let uri = format!("pkcs11:token={token}?module-path={SOFTHSM}&pin-source={}", pin.display());
        let mut command = command(&[&["keys", "list", &uri], more].concat());
        tokens.set_environment(&mut command);
        command.output().unwrap()
    };
    let shown = text(&list("mail", &["--measure", "0.01"]));
    for words in ["token mail", SOFTHSM, "CKM_ECDSA", "pkcs11:object=zone;id=%7A%6F%6E%65", "rsa2048", "µs"]
    {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let listed: serde_json::Value = serde_json::from_str(&text(&list("mail", &["--json"]))).unwrap();
    assert_eq!(listed["keys"].as_array().unwrap().len(), 2);
    assert!(listed["keys"][0]["measured"].is_null() && listed["keys"][0]["fingerprint"].is_string());
    let absent = list("other", &[]);
    assert_eq!(code(&absent), 3);
    assert!(stderr(&absent).contains("has no token \"other\"; found \"mail\""), "{}", stderr(&absent));
    let pinless = oarlock(&["keys", "list", "pkcs11:token=mail?pin-source=/etc/pin"]);
    assert_eq!(code(&pinless), 2);
    assert!(stderr(&pinless).contains("module-path: expected in the URI"), "{}", stderr(&pinless));
}

#[test]
fn each_module_serves_its_keys_to_a_server_and_to_a_zone() {
    for tokens in Tokens::of_each_module(&["mail"]) {
        tokens.import("rsa2048", "www", &["mail"]);
        tokens.import("p256", "zone", &["mail"]);
        let state = tempfile::tempdir().unwrap();
        let keys = "www = 'pkcs11:object=www'\nzone-key = 'pkcs11:token=mail;object=zone'";
        let served = tokens.serve(state.path(), &tokens.section("mail", tokens.module(), ""), keys);
        for key in ["www", "zone-key"] {
            text(&sign(&served, key));
        }
        let (zone, signed) = (tokens.path("zone"), tokens.path("zone.signed"));
        fs::write(&zone, "$TTL 60\n@ SOA ns root 1 60 60 60 60\n@ NS ns\nns A 192.0.2.1\n").unwrap();
        let (uri, zone, out) = (tokens.uri("mail", "zone"), zone.to_str().unwrap(), signed.to_str().unwrap());
        let arguments = ["dnssec", "sign", "--origin", "example.test.", "--csk", &uri, zone, "--out", out];
        text(&tokens.run(&arguments));
        assert!(fs::read_to_string(&signed).unwrap().contains("RRSIG"));
        signs_by_its_times(&tokens, &uri, zone);
    }
}

/// Signs with the key of a device in a directory of keys, which has its times beside the DNSKEY.
fn signs_by_its_times(tokens: &Tokens, uri: &str, zone: &str) {
    let listed = text(&tokens.run(&["--json", "dnssec", "ds", "--zone", "example.test.", "--dnskey", uri]));
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let (tag, record) = (listed[0]["key_tag"].as_u64().unwrap(), listed[0]["record"].as_str().unwrap());
    let keys = tokens.path("zone-keys");
    fs::create_dir_all(&keys).unwrap();
    let stem = keys.join(format!("Kexample.test.+013+{tag:05}"));
    let file = |ending: &str| PathBuf::from(format!("{}.{ending}", stem.display()));
    fs::write(file("private"), format!("{uri}\n")).unwrap();
    fs::write(file("key"), format!("; Activate: 20200101000000\n{record}\n")).unwrap();
    let keys = keys.to_str().unwrap();
    let sign = ["dnssec", "sign", "--origin", "example.test.", "--keys", keys, zone];
    assert!(text(&tokens.run(&sign)).contains(&format!(" {tag} example.test. ")));
    let set = ["dnssec", "settime", stem.to_str().unwrap(), "--inactive", "20200201000000"];
    assert!(text(&tokens.run(&set)).contains(".key: key"));
    let refused = tokens.run(&sign);
    assert!(code(&refused) == 2 && stderr(&refused).contains("no active key of"), "{}", stderr(&refused));
}

#[test]
fn a_rolling_restart_under_load_loses_no_signature() {
    let Some(tokens) = Tokens::with(&["mail"]) else { return };
    tokens.import("p256", "key", &["mail"]);
    let states = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let section = tokens.section("mail", SOFTHSM, "");
    let mut servers = states
        .each_ref()
        .map(|state| Some(tokens.serve(state.path(), &section, "key = 'pkcs11:object=key'")));
    let sockets: Vec<PathBuf> = servers.iter().flatten().map(Served::socket).collect();
    let signed = under_load(&sockets, ("key", SigningScheme::ECDSA_P256_SHA256_DER), |signed| {
        for (server, state) in servers.iter_mut().zip(&states) {
            wait_for(signed, 200);
            let former = server.take().unwrap();
            former.signal("-TERM");
            let (status, log) = former.end();
            assert!(status.success() && !log.contains("deadline passed"), "{log}");
            *server = Some(Served::start_with(state.path(), |command| tokens.set_environment(command)));
        }
        wait_for(signed, 200);
    });
    assert!(signed >= 600);
    // The new processes have signed, too.
    for served in servers.iter().flatten() {
        text(&sign(served, "key"));
    }
}
