use std::fs;
use std::os::unix::fs::PermissionsExt;

use oarlock::keys::{export, generate};
use oarlock_service_kit::HeldKeyFault;
use oarlock_service_kit::metrics::read_counter as count_of;
use tempfile::TempDir;

use super::*;
use crate::keys::{KeyReader, SigningKeyFault};

struct TableFiles(TempDir);

impl TableFiles {
    fn new(table: &str) -> Self {
        let files = Self(tempfile::tempdir().unwrap());
        files.write("table", table);
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let new = self.path(".writing");
        fs::write(&new, text).unwrap();
        fs::set_permissions(&new, PermissionsExt::from_mode(0o600)).unwrap();
        fs::rename(new, self.path(name)).unwrap();
    }

    fn key(&self, name: &str) {
        let key = generate::ed25519().unwrap();
        self.write(name, &export::private_pkcs8_pem(&key).unwrap());
    }

    /// Writes keys that can sign, under the names that the tables of these tests use.
    fn with_keys(self, names: &[&str]) -> Self {
        names.iter().for_each(|name| self.key(name));
        self
    }

    fn open(&self) -> Result<TableFile, SigningTableError> {
        TableFile::open(&self.path("table"))
    }
}

fn careful() -> KeyReader {
    KeyReader::default()
}

fn author(address: &str) -> AuthorAddress {
    AuthorAddress::parse(address.as_bytes()).unwrap()
}

/// Returns `d=` and selector of the lines for an author.
fn found(tables: &TableFile, address: &str) -> Vec<String> {
    let table = tables.current();
    let shown = |line: &SigningLine| format!("{}/{}", line.domain.as_deref().unwrap_or("-"), line.selector);
    table.find(&author(address)).map(shown).collect()
}

#[test]
fn only_the_most_specific_pattern_applies() {
    let files = TableFiles::new(
        "# comments and empty lines\n\n\
         example.com  s1 rsa.pem\n\
         Example.COM  s2 ed.pem active\n\
         boss@example.com s3 ed.pem\n\
         *.example.com s4 ed.pem\n\
         *.b.example.com s5 ed.pem test domain=other.example identity=@x.other.example\n\
         * s6 ed.pem\n\
         b\u{fc}cher.example s7 ed.pem retiring\n",
    );
    let tables = files.open().unwrap();
    let of = |address| found(&tables, address);
    assert_eq!(of("joe@EXAMPLE.com"), ["example.com/s1", "example.com/s2"]);
    assert_eq!(of("Boss@example.com"), ["example.com/s3"]);
    assert_eq!(of("joe@a.example.com"), ["example.com/s4"]);
    assert_eq!(of("joe@a.b.example.com"), ["other.example/s5"]);
    assert_eq!(of("joe@elsewhere.example"), ["-/s6"]);
    assert_eq!(of("joe@xn--bcher-kva.example"), ["xn--bcher-kva.example/s7"]);
    let states: Vec<KeyState> = tables.current().lines.iter().map(|line| line.state).collect();
    assert_eq!((states[0], states[4], states[6]), (KeyState::Active, KeyState::Test, KeyState::Retiring));
    assert_eq!((tables.current().len(), tables.current().files.len()), (7, 2));
}

#[test]
fn reports_faulty_lines_with_their_number() {
    for (line, fault) in [
        ("example.com s1", "expected PATTERN"),
        ("exa_mple..com s1 k", "expected a domain"),
        ("@example.com s1 k", "expected a domain"),
        ("*example.com s1 k", "expected a domain"),
        ("example.com s..1 k", "is not a domain name"),
        ("example.com s1 k broken", "\"broken\""),
        ("example.com s1 k active active", "\"active\""),
        ("example.com s1 k color=red", "\"color=red\""),
        ("example.com s1 k from=2026-02-29", "\"2026-02-29\": expected a date in UTC"),
        ("example.com s1 k until=tomorrow", "\"tomorrow\": expected a date in UTC"),
        (
            "example.com s1 k from=2026-07-01 until=2026-07-01",
            "until=2026-07-01 is not after from=2026-07-01",
        ),
        ("example.com s1 k until=2026-07-01 until=2026-08-01", "\"until=2026-08-01\": expected active"),
        ("example.com s1 k until=2026-07-01 active", "\"active\""),
        ("example.com s1 k identity=@example.net", "is neither in example.com"),
        ("* s1 k identity=@example.net", "is neither in the author's domain"),
        ("first.example s0 other", "an earlier line has the same"),
    ] {
        let files = TableFiles::new(&format!("first.example s0 k\n{line}\n"));
        let error = files.open().unwrap_err().to_string();
        assert!(error.contains("table:2: ") && error.contains(fault), "{error}");
    }
    let files = TableFiles::new("");
    fs::remove_file(files.path("table")).unwrap();
    assert!(matches!(files.open(), Err(SigningTableError::Read { .. })));
}

#[test]
fn replaces_a_table_only_by_one_without_faults() {
    let files = TableFiles::new("example.com s1 k\n").with_keys(&["k"]);
    let tables = files.open().unwrap();
    assert!(matches!(tables.reload(false, &careful()), TableReload::Unchanged));
    assert!(matches!(tables.reload(true, &careful()), TableReload::Replaced(_)));
    files.write("table", "example.com s2 k\nexample.net s1 k\n");
    assert!(matches!(tables.reload(false, &careful()), TableReload::Replaced(table) if table.len() == 2));
    assert_eq!(found(&tables, "a@example.com"), ["example.com/s2"]);
    files.write("table", "example.com s3 k\nexample.net\n");
    assert!(matches!(
        tables.reload(false, &careful()),
        TableReload::Refused(SigningTableError::Line { line: 2, .. })
    ));
    assert_eq!(found(&tables, "a@example.com"), ["example.com/s2"]);
    // The fault is reported once.
    assert!(matches!(tables.reload(false, &careful()), TableReload::Unchanged));
    fs::remove_file(files.path("table")).unwrap();
    assert!(matches!(tables.reload(false, &careful()), TableReload::Refused(SigningTableError::Read { .. })));
    assert_eq!(found(&tables, "a@example.net"), ["example.net/s1"]);
}

#[tokio::test]
async fn reads_keys_once_and_again_after_a_change() {
    let mut text = String::new();
    for domain in 0..100_000 {
        text += &format!("d{domain}.example s{} k{}\n", domain % 2, domain % 4);
    }
    let files = TableFiles::new(&text);
    (0..4).for_each(|key| files.key(&format!("k{key}")));
    let tables = files.open().unwrap();
    let reader = KeyReader::default();
    let key = async |address: &str| {
        let table = tables.current();
        let line = table.find(&author(address)).next().unwrap().clone();
        line.file.key(&reader).await.unwrap().fingerprint()
    };
    assert_eq!((tables.current().len(), count_of(&reader.reads)), (100_000, 0));
    let same = tokio::join!(key("a@d1.example"), key("b@d99997.example"), key("c@d5.example"));
    assert_eq!((same.0, same.1, count_of(&reader.reads)), (same.1, same.2, 1));
    for domain in 0..1_000 {
        key(&format!("a@d{domain}.example")).await;
    }
    assert_eq!(count_of(&reader.reads), 4);
    // Unchanged keys are not read again. Changed keys are read before the new table is used.
    assert!(matches!(tables.reload(true, &reader), TableReload::Replaced(_)));
    assert_eq!((key("a@d1.example").await, count_of(&reader.reads)), (same.0, 4));
    files.key("k1");
    assert!(matches!(tables.reload(true, &reader), TableReload::Replaced(_)));
    assert_ne!(key("a@d1.example").await, same.0);
    assert_eq!(count_of(&reader.reads), 5);
}

#[test]
fn a_uri_stands_in_place_of_a_path_and_is_shared() {
    let table = "a.example s1 pkcs11:token=mail;object=a%20key\nb.example s1 file domain=a.example\n\
                 c.example s2 pkcs11:token=mail;object=a%20key retiring\n";
    let table = SigningTable::parse(table, Path::new("/etc/milter/table")).unwrap();
    let path = |domain: &str| {
        let author = author(&format!("joe@{domain}"));
        table.find(&author).next().map(|line| line.file.path().to_owned())
    };
    assert_eq!(path("a.example").as_deref(), Some(Path::new("pkcs11:token=mail;object=a%20key")));
    assert_eq!(path("b.example").as_deref(), Some(Path::new("/etc/milter/file")));
    assert_eq!(table.files.len(), 2);
    let fault = table.check_keys(&careful()).remove(0);
    assert!(fault.to_string().ends_with("expected a section [[hsm]]") && !fault.may_recover(), "{fault}");
    let pin = "a.example s1 pkcs11:object=a?pin-value=4711\n";
    let error = SigningTable::parse(pin, Path::new("table")).unwrap_err().to_string();
    assert!(error.starts_with("table:1: the URI of the key: attribute `pin-value`"), "{error}");
    assert!(!error.contains("4711"), "{error}");
}

#[test]
fn rejects_exposed_and_malformed_keys() {
    let files = TableFiles::new("");
    files.key("key");
    let file = SigningKeyFile::new(files.path("key"));
    let (careful, careless) =
        (KeyReader::default(), KeyReader { allows_open_keys: true, ..KeyReader::default() });
    file.read(&careful).unwrap();
    for mode in [0o640, 0o604, 0o660, 0o601] {
        fs::set_permissions(files.path("key"), PermissionsExt::from_mode(mode)).unwrap();
        assert!(matches!(file.read(&careful), Err(SigningKeyFault::Open(found)) if found.mode == mode));
        file.read(&careless).unwrap();
    }
    files.write("key", "no key");
    assert!(matches!(file.read(&careful), Err(SigningKeyFault::Key { .. })));
    let missing = SigningKeyFile::new(files.path("missing"));
    assert!(matches!(missing.read(&careful), Err(SigningKeyFault::Read { .. })));
    // A reference is not secret but needs a server.
    let reference = oarlock::keys::reference::Reference { name: "mail".into(), spki: None };
    files.write("key", &reference.to_pem().unwrap());
    fs::set_permissions(files.path("key"), PermissionsExt::from_mode(0o644)).unwrap();
    assert!(
        matches!(file.read(&careful), Err(SigningKeyFault::Held { fault: HeldKeyFault::NoCryptoserver { name }, .. }) if name == "mail")
    );
}

#[cfg(feature = "sqlite")]
#[test]
fn reads_tables_in_sqlite() {
    let files = TableFiles::new("").with_keys(&["k"]);
    fs::remove_file(files.path("table")).unwrap();
    let database = rusqlite::Connection::open(files.path("table")).unwrap();
    let schema = include_str!("../../../../../docs/milter.sql");
    database.execute_batch(schema).unwrap();
    let insert = "INSERT INTO signing (pattern, selector, key, state, domain) VALUES (?, ?, ?, ?, ?)";
    let rows = [("example.com", "s1", "active", None), ("*", "s2", "test", Some("example.net"))];
    for (pattern, selector, state, domain) in rows {
        database.execute(insert, (pattern, selector, "k", state, domain)).unwrap();
    }
    let tables = files.open().unwrap();
    assert_eq!(found(&tables, "a@example.com"), ["example.com/s1"]);
    assert_eq!(found(&tables, "a@elsewhere.example"), ["example.net/s2"]);
    // 2026-07-01 is 1,782,864,000 s after the beginning of 1970.
    database
        .execute("UPDATE signing SET valid_from = '2026-07-01' WHERE pattern = 'example.com'", ())
        .unwrap();
    assert!(matches!(tables.reload(false, &careful()), TableReload::Replaced(_)));
    let signs = |now_s| tables.current().lines.iter().map(|line| line.signs_at(now_s)).collect::<Vec<_>>();
    assert_eq!((signs(1_782_863_999), signs(1_782_864_000)), (vec![false, true], vec![true, true]));
    database.execute("UPDATE signing SET valid_until = 'never' WHERE pattern = '*'", ()).unwrap();
    assert!(matches!(
        tables.reload(false, &careful()),
        TableReload::Refused(SigningTableError::Line { line: 2, fault: LineFault::Date(_), .. })
    ));
    database.execute("UPDATE signing SET valid_until = NULL WHERE pattern = '*'", ()).unwrap();
    // Another process writes to the database in write-ahead mode.
    database.pragma_update(None, "journal_mode", "wal").unwrap();
    assert!(matches!(tables.reload(false, &careful()), TableReload::Replaced(_)));
    database.execute("UPDATE signing SET selector = 's3' WHERE pattern = '*'", ()).unwrap();
    assert!(matches!(tables.reload(false, &careful()), TableReload::Replaced(_)));
    assert_eq!(found(&tables, "a@elsewhere.example"), ["example.net/s3"]);
    database.execute("UPDATE signing SET selector = 's..3' WHERE pattern = '*'", ()).unwrap();
    assert!(matches!(
        tables.reload(false, &careful()),
        TableReload::Refused(SigningTableError::Line { line: 2, .. })
    ));
    // A table of an earlier version has no dates.
    database.execute_batch("ALTER TABLE signing DROP COLUMN valid_from").unwrap();
    database.execute_batch("ALTER TABLE signing DROP COLUMN valid_until").unwrap();
    database.execute("UPDATE signing SET selector = 's4' WHERE pattern = '*'", ()).unwrap();
    assert!(matches!(tables.reload(false, &careful()), TableReload::Replaced(_)));
    assert_eq!(found(&tables, "a@elsewhere.example"), ["example.net/s4"]);
    drop(database);
    fs::write(files.path("table"), b"SQLite format 3\0 and nothing else").unwrap();
    assert!(matches!(tables.reload(false, &careful()), TableReload::Refused(SigningTableError::Read { .. })));
}

#[test]
fn accepts_patterns_in_the_form_of_opendkim() {
    let files = TableFiles::new(
        "*@example.com s1 k\nboss@example.com s2 k\n*@*.example.org s3 k\n*@* s4 k domain=example.net\n",
    );
    let tables = files.open().unwrap();
    let of = |address| found(&tables, address);
    assert_eq!(of("joe@Example.com"), ["example.com/s1"]);
    assert_eq!(of("boss@example.com"), ["example.com/s2"]);
    assert_eq!(of("joe@a.example.com"), ["example.net/s4"]);
    assert_eq!(of("joe@a.b.example.org"), ["example.org/s3"]);
    assert_eq!(of("joe@example.org"), ["example.net/s4"]);
    // A pattern that would never match is rejected, and the error lists the valid forms.
    for pattern in [
        "sales-*@example.com",
        "*@boss@example.com",
        "joe@*.example.com",
        ".example.com",
        "*@.example.com",
        "**",
    ] {
        let error = TableFiles::new(&format!("{pattern} s1 k\n")).open().unwrap_err().to_string();
        assert!(error.contains(pattern) && error.contains("*@DOMAIN"), "{error}");
    }
    // Both forms are the same pattern.
    let error = TableFiles::new("example.com s1 k\n*@example.com s1 k\n").open().unwrap_err().to_string();
    assert!(error.contains("table:2: an earlier line has the same pattern"), "{error}");
}

#[test]
fn rejects_a_table_with_keys_that_cannot_sign() {
    let files = TableFiles::new("example.com s1 k\n").with_keys(&["k"]);
    let tables = files.open().unwrap();
    tables.check_keys(&careful()).unwrap();
    let p256 = generate::ec(oarlock::Curve::P256).unwrap();
    files.write("p256", &export::private_pkcs8_pem(&p256).unwrap());
    files.write("public", &export::spki_pem(&p256).unwrap());
    files.write("text", "no key");
    let lines = "example.com s1 k\na.example s2 p256\nb.example s3 missing\nc.example s4 public\nd.example s5 text\n\
                 e.example s6 gone retiring\n";
    files.write("table", lines);
    let TableReload::Refused(error) = tables.reload(false, &careful()) else { panic!("taken") };
    let said = error.to_string();
    for words in [
        "4 of its key files cannot be used",
        "p256 (selector s2): an ECDSA private key over P-256 cannot sign with",
        "expected an RSA private key of 1024 to 4096 bits, or an Ed25519 private key",
        "missing: ",
        "public (selector s4): an ECDSA public key over P-256",
        "text: ",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(!said.contains("gone"), "{said}");
    assert_eq!(found(&tables, "joe@example.com"), ["example.com/s1"]);
    assert!(found(&tables, "joe@a.example").is_empty());
    let opened = files.open().unwrap();
    assert!(
        matches!(opened.check_keys(&careful()), Err(SigningTableError::Keys { faults, .. }) if faults.len() == 4)
    );
    // A missing key makes the next reading fail. The old table signs until then.
    files.write("table", "example.com s1 k\n");
    assert!(matches!(tables.reload(false, &careful()), TableReload::Replaced(_)));
    fs::remove_file(files.path("k")).unwrap();
    assert!(matches!(tables.reload(true, &careful()), TableReload::Refused(SigningTableError::Keys { .. })));
    assert!(tables.current().check_keys(&careful()).is_empty());
}

#[test]
fn a_panic_of_a_key_check_is_not_a_success() {
    let odd = |numbers: &[u32]| numbers.iter().copied().filter(|number| number % 2 == 1).collect::<Vec<_>>();
    let numbers: Vec<u32> = (0..100).collect();
    assert_eq!(in_parallel(&numbers, odd).len(), 50);
    for numbers in [&numbers[..1], &numbers] {
        let panics = |_: &[u32]| -> Vec<u32> { panic!("a panic that the test wants to see caught") };
        assert!(std::panic::catch_unwind(|| in_parallel(numbers, panics)).is_err());
    }
}
