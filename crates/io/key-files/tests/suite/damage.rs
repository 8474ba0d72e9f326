//! Files that were cut, changed or are something else.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use oarlock_key_files::objects::{
    DamagedContent, ObjectStore, ObjectStoreError, StoreFault, StoreListing, StoredObject,
};
use rusqlite::Connection;

use super::{Fixture, LABEL, USER_PIN, VALUE, VENDOR, object, plain, private_key, secret};

/// Changes a store by SQL, as somebody without a PIN can.
fn tamper(path: &Path, statements: &str) {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(statements).unwrap();
}

#[test]
fn rows_that_were_moved_changed_or_removed_are_noticed() {
    // Two objects with equal attributes and lengths: only their positions differ.
    let cases = [
        ("values of two objects are exchanged", "
            CREATE TEMP TABLE t AS SELECT * FROM attribute WHERE type = 17;
            UPDATE attribute SET value = (SELECT value FROM t WHERE t.object = 3 - attribute.object) WHERE type = 17"),
        ("values of two attributes are exchanged", "
            CREATE TEMP TABLE t AS SELECT * FROM attribute WHERE object = 1;
            UPDATE attribute SET value = (SELECT value FROM t WHERE t.type = 2147483666 - attribute.type)
            WHERE object = 1 AND type IN (17, 2147483649)"),
        ("whole objects are exchanged", "
            UPDATE attribute SET object = 9 WHERE object = 1; UPDATE attribute SET object = 1 WHERE object = 2;
            UPDATE attribute SET object = 2 WHERE object = 9;"),
        ("an attribute is removed", "DELETE FROM attribute WHERE object = 1 AND type = 3"),
        ("an attribute is added", "INSERT INTO attribute VALUES (1, 4, 0, x'00')"),
        ("a type is changed", "UPDATE attribute SET type = 18 WHERE object = 1 AND type = 17"),
        ("a version is changed", "UPDATE object SET version = version - 1 WHERE id = 1"),
        ("a private object is made public", "UPDATE object SET private = 0 WHERE id = 1"),
        ("a secret is no more secret", "UPDATE attribute SET secret = 0 WHERE object = 1 AND type = 17"),
        ("a seal is taken from another object", "
            UPDATE object SET seal = (SELECT seal FROM object WHERE id = 2) WHERE id = 1"),
        ("a seal is emptied", "UPDATE object SET seal = x'' WHERE id = 1"),
        ("a value is cut", "UPDATE attribute SET value = substr(value, 1, 20) WHERE object = 1 AND type = 17"),
        ("a value is emptied", "UPDATE attribute SET value = x'' WHERE object = 1 AND type = 17"),
    ];
    for (case, statements) in cases {
        let fixture = Fixture::new();
        let key = |value: &[u8]| {
            let mut key = private_key(value);
            key.attributes.insert(VENDOR, secret(value));
            key
        };
        let ids = [fixture.insert(key(b"one")).id, fixture.insert(key(b"two")).id];
        assert_eq!(ids.map(|id| id.0), [1, 2]);
        tamper(&fixture.path(), &format!("PRAGMA foreign_keys = OFF; {statements}"));
        let user = Some(&fixture.user);
        let fault = fixture.store.read(user, ids[0]).unwrap_err().fault;
        assert!(
            matches!(&fault, StoreFault::Damaged { what: DamagedContent::Object(id) } if *id == ids[0]),
            "{case}: {fault}"
        );
        let listing = fixture.store.list(user).unwrap();
        assert_eq!(listing.damaged.first(), Some(&DamagedContent::Object(ids[0])), "{case}");
        assert_eq!(listing.objects.len() + listing.damaged.len(), 2, "{case}");
        assert!(listing.objects.iter().all(|object| object.id != ids[0]), "{case}");
    }
}

#[test]
fn a_damaged_object_does_not_hide_the_others() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let public = [b"one", b"two"].map(|label| fixture.insert(object(false, [(LABEL, plain(label))])));
    let private = fixture.insert(private_key(b"three"));
    tamper(&fixture.path(), "UPDATE attribute SET value = x'00' WHERE object = 1");
    for (login, expected) in [(None, &[public[1].id][..]), (Some(&fixture.user), &[public[1].id, private.id])]
    {
        let listing = store.list(login).unwrap();
        assert_eq!(listing.objects.iter().map(|object| object.id).collect::<Vec<_>>(), expected);
        assert_eq!(listing.damaged, [DamagedContent::Object(public[0].id)]);
    }
    // The others can be used and changed.
    assert!(store.read(Some(&fixture.user), private.id).is_ok());
    store.update(None, public[1], [(LABEL, plain(b"new"))].into(), vec![]).unwrap();
    let fault = store.read(None, public[0].id).unwrap_err().fault;
    assert!(matches!(fault, StoreFault::Damaged { .. }), "{fault}");
}

#[test]
fn an_older_value_of_the_same_attribute_is_noticed() {
    let fixture = Fixture::new();
    let old = fixture.insert(private_key(b"old"));
    let kept = fixture.folder.path().join("kept");
    let copy = format!("VACUUM INTO '{}'", kept.display());
    tamper(&fixture.path(), &copy);
    fixture.store.update(Some(&fixture.user), old, [(VALUE, secret(b"new"))].into(), vec![]).unwrap();
    let back = "UPDATE attribute SET value =
        (SELECT value FROM old.attribute AS o WHERE o.type = 17) WHERE type = 17";
    tamper(&fixture.path(), &format!("ATTACH '{}' AS old; {back}", kept.display()));
    let fault = fixture.store.read(Some(&fixture.user), old.id).unwrap_err().fault;
    assert!(matches!(fault, StoreFault::Damaged { .. }), "{fault}");
}

#[test]
fn damage_of_public_objects_and_descriptions_is_noticed() {
    for (statements, is_open) in [
        ("UPDATE attribute SET value = x'00'", true),
        ("UPDATE object SET version = 99", true),
        ("DELETE FROM token", false),
        ("UPDATE token SET max_tries = 0", false),
        ("UPDATE token SET pin_max_bytes = 100000", false),
        ("UPDATE token SET epoch = x'00'", true),
        ("UPDATE pin SET log_n = 40", true),
        ("UPDATE pin SET r = 0", true),
        ("UPDATE pin SET tries_left = -1", true),
        ("DROP TABLE attribute", true),
        (
            "DROP TABLE attribute; CREATE VIEW attribute AS SELECT 1 AS object, 2 AS type, 0 AS secret, x'' AS value",
            true,
        ),
        ("PRAGMA user_version = 2", false),
        ("PRAGMA application_id = 2", false),
    ] {
        let fixture = Fixture::new();
        let public = fixture.insert(object(false, [(LABEL, plain(b"public"))]));
        let (path, user) = (fixture.path(), fixture.user.clone());
        drop(fixture.store);
        tamper(&path, &format!("PRAGMA foreign_keys = OFF; {statements}"));
        let opened = ObjectStore::open(&path);
        assert_eq!(opened.is_ok(), is_open, "{statements}");
        let result = opened.and_then(|store| {
            store.read(Some(&user), public.id)?;
            store.login(oarlock_key_files::objects::PinRole::User, USER_PIN)
        });
        let error = result.unwrap_err();
        let is_typed = matches!(
            error.fault,
            StoreFault::Damaged { .. } | StoreFault::Format { found: 2, expected: 1 } | StoreFault::NotAStore
        );
        assert!(is_typed, "{statements}: {error}");
    }
}

#[test]
fn other_files_are_not_stores() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let fault = || ObjectStore::open(&path).unwrap_err().fault;
    for content in ["", "x", &"-----BEGIN PRIVATE KEY-----\n".repeat(99)] {
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(matches!(fault(), StoreFault::NotAStore), "{}", fault());
        assert_eq!(fs::read_to_string(&path).unwrap(), content, "the file is left unchanged");
    }
    fs::remove_file(&path).unwrap();
    tamper(&path, "CREATE TABLE token (id INTEGER)");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(matches!(fault(), StoreFault::NotAStore), "{}", fault());
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(matches!(fault(), StoreFault::NotAStore), "{}", fault());
}

/// A closed store with some objects, its bytes, and the objects.
struct ClosedStore {
    fixture: Fixture,
    bytes: Vec<u8>,
    objects: Vec<StoredObject>,
}

impl ClosedStore {
    fn new() -> Self {
        let fixture = Fixture::new();
        for number in 0..20_u8 {
            fixture.insert(private_key(&[number; 700]));
            fixture.insert(object(false, [(LABEL, plain(&[number; 300]))]));
        }
        let objects = read_all(&fixture.path(), &fixture).unwrap();
        // All connections are closed, so the log is in the file.
        let path = fixture.path();
        let Fixture { folder, store, user } = fixture;
        drop(store);
        assert!(!path.with_file_name("token-wal").exists());
        let bytes = fs::read(&path).unwrap();
        let store = ObjectStore::open(&path).unwrap();
        Self { fixture: Fixture { folder, store, user }, bytes, objects }
    }

    /// Returns what a reader of other bytes sees.
    fn read(&self, bytes: &[u8]) -> Result<Vec<StoredObject>, ObjectStoreError> {
        let path = self.fixture.folder.path().join("changed");
        for suffix in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(path.with_file_name(format!("changed{suffix}")));
        }
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        read_all(&path, &self.fixture)
    }
}

fn read_all(path: &Path, fixture: &Fixture) -> Result<Vec<StoredObject>, ObjectStoreError> {
    let (store, user) = (ObjectStore::open(path)?, Some(&fixture.user));
    let StoreListing { objects, damaged } = store.list(user)?;
    if let Some(what) = damaged.into_iter().next() {
        return Err(ObjectStoreError { path: path.to_owned(), fault: StoreFault::Damaged { what } });
    }
    objects.iter().map(|object| store.read(user, object.id)).collect()
}

#[test]
fn a_cut_file_is_damaged() {
    let closed = ClosedStore::new();
    assert_eq!(closed.read(&closed.bytes).unwrap(), closed.objects);
    let pages = closed.bytes.len() / 4096;
    assert!(pages > 8, "{pages} pages");
    for page in 0..pages {
        for len in [page * 4096, page * 4096 + 1, page * 4096 + 2048] {
            let error = closed.read(&closed.bytes[..len]).unwrap_err();
            let is_typed = matches!(error.fault, StoreFault::Damaged { .. } | StoreFault::NotAStore);
            assert!(is_typed, "cut to {len}: {error}");
        }
    }
}

#[test]
fn a_changed_byte_never_gives_another_object() {
    let closed = ClosedStore::new();
    let (mut damaged, mut unnoticed) = (0, 0);
    for at in (0..closed.bytes.len()).step_by(197) {
        let mut bytes = closed.bytes.clone();
        bytes[at] ^= 0x55;
        match closed.read(&bytes) {
            // Free space, the label, or rows that are gone.
            Ok(objects) => {
                unnoticed += 1;
                assert!(objects.iter().all(|object| closed.objects.contains(object)), "byte {at}");
            }
            Err(error) => {
                damaged += 1;
                let fault = &error.fault;
                let is_typed = matches!(
                    fault,
                    StoreFault::Damaged { .. }
                        | StoreFault::NotAStore
                        | StoreFault::Format { .. }
                        | StoreFault::LoginEnded
                        | StoreFault::NoObject(_)
                );
                assert!(is_typed, "byte {at}: {error}");
            }
        }
    }
    assert!(damaged > unnoticed, "{damaged} noticed, {unnoticed} not");
}

#[test]
fn the_file_shows_no_secret() {
    let fixture = Fixture::new();
    let value: &[u8] = b"a value that must not be readable";
    let key = fixture.insert(private_key(value));
    fixture.insert(object(false, [(LABEL, plain(b"public label")), (VALUE, secret(value))]));
    fixture.store.update(Some(&fixture.user), key, [(VENDOR, secret(value))].into(), vec![]).unwrap();
    let mut has_public = false;
    for file in fs::read_dir(fixture.folder.path()).unwrap() {
        let file = file.unwrap().path();
        let bytes = fs::read(&file).unwrap();
        let has = |wanted: &[u8]| bytes.windows(wanted.len()).any(|window| window == wanted);
        has_public |= has(b"public label");
        for text in [value, b"private label", USER_PIN, super::SO_PIN] {
            assert!(!has(text), "{}: {}", file.display(), String::from_utf8_lossy(text));
        }
    }
    assert!(has_public, "the search finds what is there");
}
