//! Signers of DNSSEC: BIND, Knot and OpenDNSSEC.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use oarlock_measure::ports::free_port;

use super::running::{HANGS, RunningServer};
use super::{TestDirectory, USER_PIN, has_engine, module_path, program, said, with_store};

const ZONE: &str =
    "$TTL 300\n@ SOA ns root 1 7200 3600 86400 300\n@ NS ns\nns A 192.0.2.1\nwww A 192.0.2.2\n";

/// Makes a token, and a file with its PIN.
fn with_token(tool: &Path) -> TestDirectory {
    let dir = with_store(tool, "");
    // Without a newline: libp11 takes the whole file as the PIN.
    dir.write("pin", USER_PIN);
    dir.write("zone", ZONE);
    dir
}

fn make_key(dir: &TestDirectory, tool: &Path, kind: &str, label: &str) {
    let module = module_path();
    let login = ["--module", &module, "--login", "--pin", USER_PIN, "--keypairgen", "--key-type", kind];
    // Programs pair the public and the private key by the id.
    let id: String = label.bytes().map(|byte| format!("{byte:02x}")).collect();
    dir.run(tool, &[&login[..], &["--label", label, "--id", &id, "--usage-sign"]].concat());
}

#[test]
fn bind_signs_a_zone() {
    let (Some(from_label), Some(sign)) = (program("dnssec-keyfromlabel"), program("dnssec-signzone")) else {
        return;
    };
    let (Some(verify), Some(tool)) = (program("dnssec-verify"), program("pkcs11-tool")) else { return };
    if !has_engine() {
        return;
    }
    for (kind, algorithm) in [("rsa:2048", "RSASHA256"), ("EC:prime256v1", "ECDSAP256SHA256")] {
        let dir = with_token(&tool);
        make_key(&dir, &tool, kind, "key");
        let options = ["-a", algorithm, "-f", "KSK", "example.org"];
        if name_key(&dir, &from_label, "key", &options).is_none() {
            return;
        }
        let output =
            bind_command(&dir, &sign).args(["-S", "-z", "-o", "example.org", "zone"]).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        let verified = dir.run(&verify, &["-z", "-o", "example.org", "zone.signed"]);
        assert!(verified.contains(&format!("Algorithm: {algorithm}: KSKs: 1 active")), "{verified}");
    }
}

/// `named` signs a zone that it loads, and an update of it, and its answers are validated from the key of the token.
#[test]
fn named_signs_zones_and_updates() {
    let (Some(named), Some(from_label)) = (program("named"), program("dnssec-keyfromlabel")) else { return };
    let (Some(tool), Some(client)) = (program("pkcs11-tool"), DnsClient::new(free_port().unwrap())) else {
        return;
    };
    if !has_engine() {
        return;
    }
    let dir = with_token(&tool);
    let zones = [("rsa.test", "rsa:2048", "RSASHA256"), ("p256.test", "EC:prime256v1", "ECDSAP256SHA256")];
    let mut anchors = String::new();
    for (zone, kind, algorithm) in zones {
        std::fs::copy(dir.path("zone"), dir.path(zone)).unwrap();
        for (use_name, use_flag) in [("ksk", &["-f", "KSK"][..]), ("zsk", &[])] {
            let label = format!("{use_name}.{zone}");
            make_key(&dir, &tool, kind, &label);
            let options = [&["-a", algorithm][..], use_flag, &[zone]].concat();
            let Some(key) = name_key(&dir, &from_label, &label, &options) else { return };
            if use_name == "ksk" {
                anchors += &trust_anchor(&dir, zone, &key);
            }
        }
    }
    dir.write("anchors", format!("trust-anchors {{ {anchors} }};\n"));
    dir.write("named.conf", named_settings(&dir, client.port, zones));
    let mut command = bind_command(&dir, &named);
    let mut server = RunningServer::start(command.args(["-g", "-c", "named.conf"]));
    server.wait_for("all zones loaded");
    for (zone, _, algorithm) in zones {
        let verified = client.wait_for_signed(&dir, zone, "www");
        assert!(verified.contains(&format!("Algorithm: {algorithm}: KSKs: 1 active")), "{verified}");
        client.validate(&dir, zone, "www");
        client.add_name(&dir, zone, "new");
        client.wait_for_signed(&dir, zone, "new");
        client.validate(&dir, zone, "new");
    }
}

/// Makes a command of BIND that uses the module.
fn bind_command(dir: &TestDirectory, program: &Path) -> Command {
    let mut command = dir.command(program);
    command.env("PKCS11_MODULE_PATH", module_path()).args(["-E", "pkcs11"]);
    command
}

/// Makes the files by which BIND finds a key of the token, and returns their name. Prints SKIPPED and returns `None` if
/// this BIND has no engines.
#[track_caller]
fn name_key(dir: &TestDirectory, from_label: &Path, label: &str, options: &[&str]) -> Option<String> {
    let key = format!("pkcs11:token=a%20token;object={label};pin-source={}", dir.path("pin").display());
    let output = bind_command(dir, from_label).args(["-l", &key]).args(options).output().unwrap();
    if said(&output).contains("no engine") {
        eprintln!("SKIPPED: this BIND was built without engines of OpenSSL");
        return None;
    }
    assert!(output.status.success(), "{}", said(&output));
    Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

/// Returns the key of a zone as `delv` wants it.
fn trust_anchor(dir: &TestDirectory, zone: &str, key: &str) -> String {
    let file = std::fs::read_to_string(dir.path(&format!("{key}.key"))).unwrap();
    let (_, key) = file.split_once(" DNSKEY ").unwrap();
    let fields: Vec<&str> = key.split_whitespace().collect();
    format!("{zone}. static-key {} \"{}\"; ", fields[..3].join(" "), fields[3..].concat())
}

fn named_settings(dir: &TestDirectory, port: u16, zones: [(&str, &str, &str); 2]) -> String {
    let root = dir.path("").display().to_string();
    let zones = zones.map(|(zone, _, algorithm)| {
        // The one zone is signed beside the file, the other one is changed itself.
        let inline = if zone == "rsa.test" { "yes" } else { "no" };
        format!(
            "dnssec-policy \"{zone}\" {{ keys {{ ksk lifetime unlimited algorithm {algorithm}; \
             zsk lifetime unlimited algorithm {algorithm}; }}; }};\n\
             zone \"{zone}\" {{ type primary; file \"{zone}\"; dnssec-policy \"{zone}\"; \
             inline-signing {inline}; allow-update {{ 127.0.0.1; }}; }};\n"
        )
    });
    format!(
        "options {{ directory \"{root}\"; pid-file \"{root}/named.pid\"; session-keyfile \"{root}/session.key\";\n\
         listen-on port {port} {{ 127.0.0.1; }}; listen-on-v6 {{ none; }}; recursion no;\n\
         dnssec-validation no; allow-transfer {{ 127.0.0.1; }}; }};\ncontrols {{ }};\n{}",
        zones.concat()
    )
}

/// The clients of BIND, and the port of the server that they ask.
struct DnsClient {
    dig: PathBuf,
    delv: PathBuf,
    update: PathBuf,
    verify: PathBuf,
    port: u16,
}

impl DnsClient {
    /// Returns `None` if a program is not installed.
    fn new(port: u16) -> Option<Self> {
        let (dig, delv, update) = (program("dig")?, program("delv")?, program("nsupdate")?);
        Some(Self { dig, delv, update, verify: program("dnssec-verify")?, port })
    }

    /// Transfers the zone until it has a name and every name of it is signed. Returns what `dnssec-verify` printed.
    #[track_caller]
    fn wait_for_signed(&self, dir: &TestDirectory, zone: &str, name: &str) -> String {
        let start = Instant::now();
        loop {
            let transferred = self.ask(dir, &["axfr", zone]);
            dir.write("transferred", &transferred);
            let output = dir.command(&self.verify).args(["-o", zone, "transferred"]).output().unwrap();
            let verified = said(&output);
            if output.status.success() && transferred.contains(&format!("\n{name}.{zone}.")) {
                return verified;
            }
            assert!(start.elapsed() < HANGS, "{name}.{zone} is not signed: {transferred}\n{verified}");
        }
    }

    /// Checks that an answer is signed, and validates it from the trust anchors.
    #[track_caller]
    fn validate(&self, dir: &TestDirectory, zone: &str, name: &str) {
        let name = format!("{name}.{zone}");
        let answer = self.ask(dir, &["+dnssec", "+noall", "+answer", &name]);
        assert!(answer.contains("RRSIG\tA "), "{answer}");
        let (port, root) = (self.port.to_string(), format!("+root={zone}"));
        let arguments = ["@127.0.0.1", "-p", &port, "-a", "anchors", &root, &name, "A"];
        let validated = dir.run(&self.delv, &arguments);
        assert!(validated.contains("; fully validated"), "{validated}");
    }

    #[track_caller]
    fn ask(&self, dir: &TestDirectory, question: &[&str]) -> String {
        dir.run(&self.dig, &[&["@127.0.0.1", "-p", &self.port.to_string()], question].concat())
    }

    /// Adds a name to the zone by a dynamic update.
    #[track_caller]
    fn add_name(&self, dir: &TestDirectory, zone: &str, name: &str) {
        let port = self.port;
        dir.write(
            "update",
            format!("server 127.0.0.1 {port}\nzone {zone}\nupdate add {name}.{zone} 300 A 192.0.2.9\nsend\n"),
        );
        dir.run(&self.update, &["update"]);
    }
}

#[test]
fn knot_makes_a_key_and_signs_a_zone() {
    let (Some(keymgr), Some(sign), Some(verify), Some(tool)) =
        (program("keymgr"), program("kzonesign"), program("dnssec-verify"), program("pkcs11-tool"))
    else {
        return;
    };
    for algorithm in ["RSASHA256", "ECDSAP256SHA256"] {
        let dir = with_token(&tool);
        dir.write("knot.conf", knot_settings(&dir, algorithm));
        for folder in ["database", "signed"] {
            std::fs::create_dir(dir.path(folder)).unwrap();
        }
        let key = [&format!("algorithm={algorithm}"), "size=2048", "ksk=yes", "zsk=yes"];
        let key = if algorithm == "RSASHA256" { &key[..] } else { &[key[0], key[2], key[3]] };
        dir.run(&keymgr, &[&["-c", "knot.conf", "example.org", "generate"], key].concat());
        dir.run(&sign, &["-c", "knot.conf", "-o", "signed", "example.org"]);
        let verified = dir.run(&verify, &["-z", "-o", "example.org", "signed/zone"]);
        assert!(verified.contains(&format!("Algorithm: {algorithm}: KSKs: 1 active")), "{verified}");
    }
}

fn knot_settings(dir: &TestDirectory, algorithm: &str) -> String {
    let root = dir.path("");
    let (root, module) = (root.display(), module_path());
    format!(
        "database:\n    storage: {root}/database\n\
         keystore:\n  - id: token\n    backend: pkcs11\n    \
         config: \"pkcs11:token=a%20token;pin-value={USER_PIN} {module}\"\n\
         policy:\n  - id: policy\n    manual: on\n    algorithm: {algorithm}\n    keystore: token\n\
         zone:\n  - domain: example.org\n    storage: {root}\n    file: zone\n    dnssec-signing: on\n    \
         dnssec-policy: policy\n"
    )
}

#[test]
fn opendnssec_tests_keys_of_a_token() {
    let (Some(hsm), Some(speed), Some(tool)) =
        (program("ods-hsmutil"), program("ods-hsmspeed"), program("pkcs11-tool"))
    else {
        return;
    };
    let dir = with_token(&tool);
    let settings = format!(
        "<?xml version=\"1.0\"?>\n<Configuration><RepositoryList><Repository name=\"token\">\
         <Module>{}</Module><TokenLabel>a token</TokenLabel><PIN>{USER_PIN}</PIN>\
         </Repository></RepositoryList></Configuration>\n",
        module_path()
    );
    dir.write("conf.xml", settings);
    let option = ["-c", "conf.xml"];
    let made = dir.run(&hsm, &[&option[..], &["generate", "token", "rsa", "2048"]].concat());
    assert!(made.contains("Key generation successful"), "{made}");
    let listed = dir.run(&hsm, &[&option[..], &["list"]].concat());
    assert!(listed.contains("RSA/2048"), "{listed}");
    // It also tries DSA and GOST, and then ends with the number of kinds that failed.
    let tested = said(&dir.command(&hsm).args(option).args(["test", "token"]).output().unwrap());
    let tested: String =
        tested.split("Generating ").filter(|part| part.starts_with("2048-bit RSA key")).collect();
    for scheme in ["RSA/SHA1", "RSA/SHA256", "RSA/SHA512"] {
        assert!(tested.contains(&format!("Signing ({scheme}) with key... OK")), "{tested}");
    }
    let run = ["-r", "token", "-i", "20", "-s", "2048", "-t", "4"];
    let measured = dir.run(&speed, &[&option[..], &run].concat());
    assert!(measured.contains("4 threads, 20 signatures per thread"), "{measured}");
}
