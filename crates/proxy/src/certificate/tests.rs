use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use oarlock::keys::reference::Reference;
use rcgen::{CertificateParams, DistinguishedName, KeyPair, PublicKeyData};

use super::*;

const SCHEMES: [SignatureScheme; 2] =
    [SignatureScheme::ECDSA_NISTP256_SHA256, SignatureScheme::RSA_PSS_SHA256];

fn sources() -> CertificateKeySources {
    let accelerator = oarlock::Accelerator::builder().engines(["scalar"]).lazy().build().unwrap();
    CertificateKeySources { accelerator, remote: None }
}

fn write(path: &Path, text: impl AsRef<[u8]>) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

/// Returns a certificate and its key in PEM.
fn certificate(names: &[&str]) -> (String, KeyPair) {
    let key = KeyPair::generate().unwrap();
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    params.distinguished_name = DistinguishedName::new();
    (params.self_signed(&key).unwrap().pem(), key)
}

fn combined(directory: &Path, file: &str, names: &[&str]) {
    let (chain, key) = certificate(names);
    write(&directory.join(file), chain + &key.serialize_pem());
}

fn load(directory: &Path, unknown: UnknownNamePolicy) -> Result<CertificateTable, CertificateTableError> {
    let source = CertificateSource { path: directory.to_owned() };
    CertificateTable::load(&source, None, unknown, &sources(), None)
}

fn chain_of(table: &CertificateTable, name: &str) -> Arc<CertifiedKey> {
    let entry = table.entries().iter().find(|entry| entry.files.name() == name).unwrap();
    Arc::clone(&entry.key)
}

/// Checks that a client that asks for `name` gets the certificate of a file, or none.
fn answers(table: &CertificateTable, name: Option<&str>, file: Option<&str>) {
    let found = table.find(name, &SCHEMES);
    match file {
        None => assert!(found.is_none(), "{name:?}"),
        Some(file) => assert!(Arc::ptr_eq(&found.unwrap(), &chain_of(table, file)), "{name:?}"),
    }
}

#[test]
fn names_are_found_exactly_and_by_wildcards_of_one_label() {
    let directory = tempfile::tempdir().unwrap();
    combined(directory.path(), "a.pem", &["www.example.com", "example.com"]);
    combined(directory.path(), "b.pem", &["*.example.com"]);
    combined(directory.path(), "c.pem", &["xn--bcher-kva.example"]);
    let table = load(directory.path(), UnknownNamePolicy::Default).unwrap();
    for (name, file) in [
        ("www.example.com", "a"),
        ("WWW.Example.COM", "a"),
        ("example.com", "a"),
        ("mail.example.com", "b"),
        ("xn--bcher-kva.example", "c"),
        // A wildcard stands for one label, and the default answers for the rest.
        ("a.mail.example.com", "a"),
        ("unknown.example", "a"),
        ("", "a"),
        ("localhost", "a"),
    ] {
        answers(&table, Some(name), Some(file));
    }
    answers(&table, None, Some("a"));
    assert!(table.knows("mail.example.com") && !table.knows("a.mail.example.com"));
    let strict = load(directory.path(), UnknownNamePolicy::Refuse).unwrap();
    answers(&strict, Some("unknown.example"), None);
    answers(&strict, Some(&"a".repeat(255)), None);
    answers(&strict, Some("mail.example.com"), Some("b"));
    answers(&strict, None, Some("a"));
}

#[test]
fn the_key_type_that_the_client_knows_is_chosen() {
    let directory = tempfile::tempdir().unwrap();
    combined(directory.path(), "a.pem", &["www.example.com"]);
    let (rsa, rsa_key) = {
        let key = KeyPair::generate_for(&rcgen::PKCS_RSA_SHA256).unwrap();
        let params = CertificateParams::new(vec!["www.example.com".to_owned()]).unwrap();
        (params.self_signed(&key).unwrap().pem(), key)
    };
    write(&directory.path().join("b.pem"), rsa + &rsa_key.serialize_pem());
    let table = load(directory.path(), UnknownNamePolicy::Default).unwrap();
    answers(&table, Some("www.example.com"), Some("a"));
    for name in [Some("www.example.com"), None] {
        let found = table.find(name, &[SignatureScheme::RSA_PSS_SHA256]).unwrap();
        assert!(Arc::ptr_eq(&found, &chain_of(&table, "b")), "{name:?}");
    }
}

#[test]
fn keys_stand_in_files_of_their_own_and_in_directories_too() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let (chain, key) = certificate(&["a.example"]);
    fs::write(path("a.crt"), chain).unwrap();
    write(&path("a.key"), key.serialize_pem());
    write(&path("a.ocsp"), [0x30, 0x03, 0x0a, 0x01, 0x06]);
    let (chain, key) = certificate(&["b.example"]);
    fs::create_dir(path("b.example")).unwrap();
    fs::write(path("b.example/fullchain.pem"), chain).unwrap();
    write(&path("b.example/privkey.pem"), key.serialize_pem());
    fs::write(path("README"), "not a certificate").unwrap();
    fs::write(path(".hidden.pem"), "unfinished").unwrap();
    let table = load(directory.path(), UnknownNamePolicy::Refuse).unwrap();
    answers(&table, Some("a.example"), Some("a"));
    answers(&table, Some("b.example"), Some("b.example"));
    assert_eq!(chain_of(&table, "a").ocsp.as_deref(), Some(&[0x30, 0x03, 0x0a, 0x01, 0x06][..]));
    assert_eq!(chain_of(&table, "b.example").ocsp, None);
}

#[test]
fn one_file_may_take_the_place_of_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    combined(directory.path(), "only.pem", &["a.example"]);
    let table = load(&directory.path().join("only.pem"), UnknownNamePolicy::Refuse).unwrap();
    answers(&table, Some("a.example"), Some("only"));
}

/// As OpenSSL and its servers read them.
#[test]
fn certificates_may_be_indented_and_have_the_labels_of_openssl() {
    let changes: [fn(&str) -> String; 4] = [
        |chain| chain.replace(" CERTIFICATE-", " X509 CERTIFICATE-"),
        |chain| chain.replace(" CERTIFICATE-", " TRUSTED CERTIFICATE-"),
        |chain| chain.lines().map(|line| format!("  {line}\n")).collect(),
        |chain| format!("\u{feff}{chain}"),
    ];
    for change in changes {
        let directory = tempfile::tempdir().unwrap();
        let (chain, key) = certificate(&["a.example"]);
        write(&directory.path().join("x.pem"), change(&chain) + &key.serialize_pem());
        let table = load(directory.path(), UnknownNamePolicy::Refuse).unwrap();
        answers(&table, Some("a.example"), Some("x"));
    }
}

#[test]
fn each_fault_names_its_file_and_quotes_no_byte() {
    let (chain, key) = certificate(&["a.example"]);
    let pem = key.serialize_pem();
    let (_, other) = certificate(&["a.example"]);
    let damaged = pem.replace("MIG", "M*G");
    let reference = Reference { name: "web".into(), spki: Some(key.subject_public_key_info()) };
    let two = chain.clone() + &pem + &other.serialize_pem();
    let cases: [(&str, String, &str); 8] = [
        ("x.pem", two, "expected one private key, found 2 of them in the file"),
        ("x.pem", chain.clone(), "x.pem: no private key: expected it in the same file or in"),
        ("x.pem", pem.clone(), "x.pem: expected certificates in PEM: found none"),
        ("x.pem", chain.clone() + &other.serialize_pem(), "does not belong to the first certificate"),
        ("x.pem", chain.clone() + &damaged, "x.pem: "),
        ("x.pem", chain.replace("MII", "M!!") + &pem, "x.pem: expected certificates in PEM"),
        ("x.pem", chain.clone() + &reference.to_pem().unwrap(), "expected a section [cryptoserver]"),
        ("x.pem", format!("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n{pem}"), "X.509"),
    ];
    let secret = pem.lines().nth(1).unwrap();
    for (file, text, expected) in cases {
        let directory = tempfile::tempdir().unwrap();
        write(&directory.path().join(file), text);
        let error = load(directory.path(), UnknownNamePolicy::Default).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("x.pem"), "{error}");
        assert!(!error.contains(&secret[..10]), "{error}");
    }
}

#[test]
fn an_exposed_key_a_bad_staple_and_a_missing_default_are_faults() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    assert!(
        load(directory.path(), UnknownNamePolicy::Default).unwrap_err().to_string().contains("found none")
    );
    combined(directory.path(), "a.pem", &["a.example"]);
    fs::set_permissions(path("a.pem"), fs::Permissions::from_mode(0o644)).unwrap();
    let error = load(directory.path(), UnknownNamePolicy::Default).unwrap_err();
    assert!(matches!(error.faults[..], [CertificateFault::Exposed(_)]), "{error}");
    combined(directory.path(), "a.pem", &["a.example"]);
    write(&path("a.ocsp"), "");
    let error = load(directory.path(), UnknownNamePolicy::Default).unwrap_err();
    assert!(matches!(error.faults[..], [CertificateFault::Staple { .. }]), "{error}");
    fs::remove_file(path("a.ocsp")).unwrap();
    let source = CertificateSource { path: directory.path().to_owned() };
    let named =
        |name| CertificateTable::load(&source, Some(name), UnknownNamePolicy::Refuse, &sources(), None);
    assert!(named("b").unwrap_err().to_string().contains("found \"b\""));
    named("a").unwrap();
    let missing = load(&path("nowhere"), UnknownNamePolicy::Default).unwrap_err().to_string();
    assert!(missing.contains("nowhere"), "{missing}");
}

#[test]
fn a_reload_takes_unchanged_certificates_from_the_old_table() {
    let directory = tempfile::tempdir().unwrap();
    combined(directory.path(), "a.pem", &["a.example"]);
    combined(directory.path(), "b.pem", &["b.example"]);
    let source = CertificateSource { path: directory.path().to_owned() };
    let reload = |before: Option<&CertificateTable>| {
        CertificateTable::load(&source, None, UnknownNamePolicy::Refuse, &sources(), before).unwrap()
    };
    let first = reload(None);
    let listing = list_certificates(&source).unwrap();
    assert_eq!(list_certificates(&source).unwrap(), listing);
    combined(directory.path(), "b.pem", &["c.example"]);
    assert_ne!(list_certificates(&source).unwrap(), listing);
    let second = reload(Some(&first));
    assert!(Arc::ptr_eq(&chain_of(&first, "a"), &chain_of(&second, "a")));
    answers(&second, Some("c.example"), Some("b"));
    answers(&second, Some("b.example"), None);
    answers(&first, Some("b.example"), Some("b"));
    fs::remove_file(directory.path().join("b.pem")).unwrap();
    assert_eq!(reload(Some(&second)).entries().len(), 1);
}
