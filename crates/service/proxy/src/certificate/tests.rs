use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use oarlock::keys::reference::Reference;
use oarlock_hsm::{HsmSet, HsmSettings};
use oarlock_service_kit::KeyHolders;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair, PublicKeyData,
    date_time_ymd,
};
use rustls::sign::CertifiedKey;

use oarlock_service_kit::certificate::CertificateValidity;

use super::*;

const SCHEMES: [SignatureScheme; 2] =
    [SignatureScheme::ECDSA_NISTP256_SHA256, SignatureScheme::RSA_PSS_SHA256];

fn sources() -> CertificateKeySources {
    let accelerator = oarlock::Accelerator::builder().engines(["scalar"]).lazy().build().unwrap();
    CertificateKeySources { accelerator, holders: KeyHolders::default() }
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

/// Returns the name of the file whose certificate a client gets that asks for `name`.
fn found<'a>(
    table: &'a CertificateTable,
    name: Option<&str>,
    schemes: &[SignatureScheme],
    now_s: i64,
) -> Option<&'a str> {
    let name = name.map(HostName::new);
    table.find(name.as_ref(), schemes, now_s).map(|entry| entry.files.name())
}

/// A time at which certificates without a validity of their own are valid.
const NOW_S: i64 = 1_800_000_000;

/// Checks that a client that asks for `name` gets the certificate of a file, or none.
fn answers(table: &CertificateTable, name: Option<&str>, file: Option<&str>) {
    assert_eq!(found(table, name, &SCHEMES, NOW_S), file, "{name:?}");
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
        ("www.example.com.", "a"),
        ("MAIL.example.com.", "b"),
        // Two final dots are not a name.
        ("www.example.com..", "a"),
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
    let strict = load(directory.path(), UnknownNamePolicy::Refuse).unwrap();
    answers(&strict, Some("unknown.example"), None);
    answers(&strict, Some("a.mail.example.com"), None);
    answers(&strict, Some("www.example.com.."), None);
    answers(&strict, Some("www.example.com."), Some("a"));
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
        assert_eq!(found(&table, name, &[SignatureScheme::RSA_PSS_SHA256], NOW_S), Some("b"), "{name:?}");
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
fn a_certified_key_in_a_device_needs_no_device_at_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let uri = "pkcs11:token=web;object=www\n";
    write(&directory.path().join("a.crt"), certificate(&["a.example"]).0);
    write(&directory.path().join("a.key"), uri);
    // In the file of the chain, too.
    write(&directory.path().join("b.pem"), format!("{uri}{}", certificate(&["b.example"]).0));
    let error = load(directory.path(), UnknownNamePolicy::Refuse).unwrap_err().to_string();
    let expected = "a.key: the key pkcs11:token=web;object=www lives in a device: expected a section [[hsm]]";
    assert!(error.contains(expected) && error.lines().count() == 2, "{error}");
    let mut sources = sources();
    let settings = HsmSettings::from_uri(&"pkcs11:token=web?module-path=/absent.so".parse().unwrap());
    sources.holders.devices = Some(HsmSet::open(settings, &sources.accelerator).unwrap());
    let source = CertificateSource { path: directory.path().to_owned() };
    let table = CertificateTable::load(&source, None, UnknownNamePolicy::Refuse, &sources, None).unwrap();
    assert!(table.entries().iter().all(|entry| entry.is_held && entry.key.keys_match().is_ok()));
    answers(&table, Some("a.example"), Some("a"));
    answers(&table, Some("b.example"), Some("b"));
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

/// The position of a validity before, around or after [`NOW_S`].
#[derive(Clone, Copy, Debug, PartialEq)]
enum Time {
    Before,
    Valid,
    After,
}

const TIMES: [Time; 3] = [Time::Before, Time::Valid, Time::After];

fn validity(time: Time) -> CertificateValidity {
    let (not_before, not_after) = match time {
        Time::Before => (NOW_S + 1, NOW_S + 100),
        Time::Valid => (NOW_S, NOW_S),
        Time::After => (NOW_S - 100, NOW_S - 1),
    };
    CertificateValidity { not_before, not_after }
}

/// Returns an entry with the same key and names, and another validity.
fn with_validity(entry: &CertificateEntry, validity: CertificateValidity) -> Arc<CertificateEntry> {
    Arc::new(CertificateEntry {
        label: Arc::clone(&entry.label),
        files: entry.files.clone(),
        key: Arc::clone(&entry.key),
        names: entry.names.clone(),
        validity,
        properties: ChainProperties::from_chain(&entry.key.cert, true),
        is_held: false,
        fetched: None,
        ocsp_fault: None,
    })
}

/// Writes certificates of both key types: `a` for an unrelated name, which is the default, `b` for `www.example.com`
/// and `c` for `*.example.com`.
fn write_both_types(directory: &Path) {
    let rsa = KeyPair::generate_for(&rcgen::PKCS_RSA_SHA256).unwrap();
    for (file, name) in [("a", "default.example"), ("b", "www.example.com"), ("c", "*.example.com")] {
        combined(directory, &format!("{file}-ecdsa.pem"), &[name]);
        let chain = CertificateParams::new(vec![name.to_owned()]).unwrap().self_signed(&rsa).unwrap().pem();
        write(&directory.join(format!("{file}-rsa.pem")), chain + &rsa.serialize_pem());
    }
}

#[test]
fn valid_certificates_come_first_for_every_name_key_type_time_and_policy() {
    const ECDSA: SignatureScheme = SignatureScheme::ECDSA_NISTP256_SHA256;
    const RSA: SignatureScheme = SignatureScheme::RSA_PSS_SHA256;
    let directory = tempfile::tempdir().unwrap();
    write_both_types(directory.path());
    let loaded = load(directory.path(), UnknownNamePolicy::Default).unwrap();
    // The files in their order: each has one of three times.
    let files = ["a-ecdsa", "a-rsa", "b-ecdsa", "b-rsa", "c-ecdsa", "c-rsa"];
    let clients: [(&[SignatureScheme], &[&str]); 4] = [
        (&[ECDSA, RSA], &["ecdsa", "rsa"]),
        (&[ECDSA], &["ecdsa"]),
        (&[RSA], &["rsa"]),
        (&[SignatureScheme::ED25519], &[]),
    ];
    let mut cases = 0;
    for number in 0..3_usize.pow(6) {
        let times: Vec<Time> = (0..6).map(|position| TIMES[number / 3_usize.pow(position) % 3]).collect();
        let entries: Vec<_> = loaded
            .entries()
            .iter()
            .zip(&times)
            .map(|(entry, time)| with_validity(entry, validity(*time)))
            .collect();
        for policy in [UnknownNamePolicy::Default, UnknownNamePolicy::Refuse] {
            let table = CertificateTable::build(entries.clone(), None, policy).unwrap();
            let for_unknown: &[&str] = match policy {
                UnknownNamePolicy::Default => &["a-ecdsa", "a-rsa"],
                UnknownNamePolicy::Refuse => &[],
            };
            let names: [(Option<&str>, &[&str]); 4] = [
                (Some("www.example.com"), &["b-ecdsa", "b-rsa", "c-ecdsa", "c-rsa"]),
                (Some("mail.example.com"), &["c-ecdsa", "c-rsa"]),
                (None, &["a-ecdsa", "a-rsa"]),
                (Some("unknown.example"), for_unknown),
            ];
            for (name, fitting) in names {
                for (schemes, types) in clients {
                    let is_usable = |file: &&&str| types.iter().any(|ending| file.ends_with(ending));
                    let is_valid = |file: &&&str| {
                        times[files.iter().position(|other| other == *file).unwrap()] == Time::Valid
                    };
                    let usable = || fitting.iter().filter(is_usable);
                    let expected = usable().find(is_valid).or_else(|| usable().next()).or(fitting.first());
                    let file = found(&table, name, schemes, NOW_S);
                    assert_eq!(file, expected.copied(), "{name:?} {schemes:?} {times:?} {policy:?}");
                    cases += 1;
                }
            }
        }
    }
    assert_eq!(cases, 729 * 2 * 4 * 4);
}

#[test]
fn the_clock_changes_the_choice_without_a_reload() {
    let directory = tempfile::tempdir().unwrap();
    combined(directory.path(), "new.pem", &["www.example.com"]);
    combined(directory.path(), "old.pem", &["www.example.com"]);
    let loaded = load(directory.path(), UnknownNamePolicy::Refuse).unwrap();
    // A renewed certificate that was put in early: it begins before the old one ends.
    let validities = [
        CertificateValidity { not_before: 50, not_after: 200 },
        CertificateValidity { not_before: 0, not_after: 100 },
    ];
    let entries =
        loaded.entries().iter().zip(validities).map(|(entry, validity)| with_validity(entry, validity));
    let table = CertificateTable::build(entries.collect(), None, UnknownNamePolicy::Refuse).unwrap();
    for (now_s, file) in [
        (-1, "new"),
        (0, "old"),
        (49, "old"),
        (50, "new"),
        (100, "new"),
        (101, "new"),
        (200, "new"),
        (201, "new"),
    ] {
        assert_eq!(found(&table, Some("www.example.com"), &SCHEMES, now_s), Some(file), "{now_s}");
    }
}

/// Returns the warnings about a directory of one file, without its path.
fn warnings(chain: &str, key: &KeyPair, now_s: i64) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    write(&directory.path().join("x.pem"), chain.to_owned() + &key.serialize_pem());
    let table = load(directory.path(), UnknownNamePolicy::Refuse).unwrap();
    let start = format!("{}: ", directory.path().join("x.pem").display());
    table
        .warnings(now_s)
        .map(|warning| warning.to_string().strip_prefix(&start).unwrap().to_owned())
        .collect()
}

#[test]
fn certificates_that_clients_reject_are_warned_about() {
    let (ca_key, key) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    let named = |name: &str| {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        (params.not_before, params.not_after) = (date_time_ymd(2026, 1, 1), date_time_ymd(2026, 3, 1));
        params
    };
    let mut ca = named("the authority");
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    (ca.not_before, ca.not_after) = (date_time_ymd(2025, 1, 1), date_time_ymd(2026, 2, 1));
    let ca_pem = ca.self_signed(&ca_key).unwrap().pem();
    let other_pem = named("another authority").self_signed(&ca_key).unwrap().pem();
    let issuer = Issuer::from_params(&ca, &ca_key);
    let leaf = |names: &[&str]| {
        let mut params = named("only-cn.example");
        params.subject_alt_names =
            CertificateParams::new(names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
                .unwrap()
                .subject_alt_names;
        params.signed_by(&key, &issuer).unwrap().pem()
    };
    let good = leaf(&["a.example"]);
    // 1 January, 15 January, 15 February and 2 March 2026.
    let [begin, middle, late, end] = [1_767_225_600, 1_768_435_200, 1_771_113_600, 1_772_409_600];
    let of = |chain: &str, now_s| warnings(chain, &key, now_s);
    assert_eq!(of(&(good.clone() + &ca_pem), middle), [""; 0]);
    // A missing intermediate cannot be known, and clients may ask for an address.
    assert_eq!(of(&good, middle), [""; 0]);
    assert_eq!(of(&leaf(&["192.0.2.1"]), middle), [""; 0]);
    for (chain, now_s, expected) in [
        (good.clone(), begin - 1, "the certificate is not valid before Jan  1 00:00:00 2026"),
        (good.clone(), end, "the certificate has expired at Mar  1 00:00:00 2026"),
        (good.clone() + &ca_pem, late, "certificate 2 of the chain has expired at Feb  1"),
        (leaf(&[]), middle, "no DNS name as subject alternative name"),
        (leaf(&[]), middle, "the common name \"only-cn.example\""),
        (good.clone() + &other_pem, middle, "certificate 2 (CN=another authority) is not that of the issuer"),
        (good.clone() + &good, middle, "expected CN=the authority"),
    ] {
        let found = of(&chain, now_s);
        assert!(matches!(&found[..], [only] if only.contains(expected) && !only.contains('\n')), "{found:?}");
    }
    // One line per file, however many faults it has.
    let found = of(&(leaf(&[]) + &other_pem), end);
    assert!(matches!(&found[..], [only] if only.matches("; ").count() == 3), "{found:?}");
}
