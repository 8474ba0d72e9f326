//! Signers of DNSSEC: BIND, Knot and OpenDNSSEC.

use std::path::Path;

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
    dir.run(tool, &[&login[..], &["--label", label, "--id", "01", "--usage-sign"]].concat());
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
        let label = format!("pkcs11:token=a%20token;object=key;pin-source={}", dir.path("pin").display());
        let mut command = dir.command(&from_label);
        command.env("PKCS11_MODULE_PATH", module_path());
        command.args(["-E", "pkcs11", "-a", algorithm, "-f", "KSK", "-l", &label, "example.org"]);
        let output = command.output().unwrap();
        if said(&output).contains("no engine") {
            eprintln!("SKIPPED: this BIND was built without engines of OpenSSL");
            return;
        }
        assert!(output.status.success(), "{}", said(&output));
        let mut command = dir.command(&sign);
        command.env("PKCS11_MODULE_PATH", module_path());
        let output =
            command.args(["-E", "pkcs11", "-S", "-z", "-o", "example.org", "zone"]).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        let verified = dir.run(&verify, &["-z", "-o", "example.org", "zone.signed"]);
        assert!(verified.contains(&format!("Algorithm: {algorithm}: KSKs: 1 active")), "{verified}");
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
