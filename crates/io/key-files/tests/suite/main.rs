//! The object store on disk: logins, damage, full disks, and several processes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod damage;
mod logins;
mod processes;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use oarlock_key_files::objects::{
    ChangedObject, MAX_OBJECT_BYTES, ObjectId, ObjectStore, PinRole, PinRules, StoreChange, StoreFault,
    StoreLogin, StoredAttributes, StoredValue, UnstoredObject,
};
use tempfile::TempDir;

const SO_PIN: &[u8] = b"officer's pin";
const USER_PIN: &[u8] = b"user's pin";
const LABEL: u64 = 3;
const VALUE: u64 = 0x11;
/// A type of vendors, above the signed numbers of 32 bits.
const VENDOR: u64 = 0x8000_0001;
/// A type above the signed numbers of 64 bits.
const HUGE: u64 = u64::MAX - 1;

/// A store with a user PIN in a folder of its own.
struct Fixture {
    folder: TempDir,
    store: ObjectStore,
    user: StoreLogin,
}

impl Fixture {
    fn new() -> Self {
        Self::with_rules(PinRules::default())
    }

    fn with_rules(rules: PinRules) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = ObjectStore::create(&folder.path().join("token"), "test", SO_PIN, rules).unwrap();
        let officer = store.login(PinRole::SecurityOfficer, SO_PIN).unwrap();
        store.init_pin(&officer, USER_PIN).unwrap();
        let user = store.login(PinRole::User, USER_PIN).unwrap();
        Self { folder, store, user }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("token")
    }

    fn insert(&self, object: UnstoredObject) -> ChangedObject {
        self.store.insert(Some(&self.user), object).unwrap()
    }
}

fn plain(value: &[u8]) -> StoredValue {
    StoredValue::Plain(value.to_vec())
}

fn secret(value: &[u8]) -> StoredValue {
    StoredValue::Secret(value.to_vec().into())
}

fn object<const N: usize>(is_private: bool, attributes: [(u64, StoredValue); N]) -> UnstoredObject {
    UnstoredObject { is_private, attributes: BTreeMap::from(attributes) }
}

/// A private object with a label and a secret.
fn private_key(value: &[u8]) -> UnstoredObject {
    object(true, [(LABEL, plain(b"private label")), (VALUE, secret(value))])
}

fn concealed(attributes: &StoredAttributes) -> StoredAttributes {
    let conceal =
        |value: &StoredValue| if value.is_secret() { StoredValue::Concealed } else { value.clone() };
    attributes.iter().map(|(attribute, value)| (*attribute, conceal(value))).collect()
}

#[test]
fn objects_are_read_as_they_were_written() {
    let fixture = Fixture::new();
    let (store, user) = (&fixture.store, Some(&fixture.user));
    let objects = [
        object(false, [(LABEL, plain(b"public")), (VENDOR, plain(b"")), (HUGE, plain(b"x"))]),
        object(false, [(LABEL, plain(b"public with a secret")), (VALUE, secret(b"hush"))]),
        private_key(b"0123456789abcdef"),
        object(true, [(VALUE, secret(b"")), (HUGE, secret(&[7; 5000]))]),
        object(true, []),
        object(false, []),
    ];
    let stored: Vec<ChangedObject> = objects.iter().map(|object| fixture.insert(object.clone())).collect();
    for reopened in [store, &ObjectStore::open(&fixture.path()).unwrap()] {
        let listed = reopened.list(user).unwrap().objects;
        assert_eq!(listed.len(), objects.len());
        for ((object, stored), listed) in objects.iter().zip(&stored).zip(&listed) {
            assert_eq!((listed.id, listed.version), (stored.id, stored.version));
            assert_eq!(
                (listed.is_private, &listed.attributes),
                (object.is_private, &concealed(&object.attributes))
            );
            let read = reopened.read(user, stored.id).unwrap();
            assert_eq!((read.is_private, &read.attributes), (object.is_private, &object.attributes));
        }
        let public: Vec<ObjectId> =
            reopened.list(None).unwrap().objects.iter().map(|object| object.id).collect();
        assert_eq!(public, [stored[0].id, stored[1].id, stored[5].id]);
    }
}

#[test]
fn without_a_login_secrets_stay_hidden_and_unchanged() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let mixed = fixture.insert(object(false, [(LABEL, plain(b"mixed")), (VALUE, secret(b"hush"))]));
    let private = fixture.insert(private_key(b"key"));
    assert_eq!(store.read(None, mixed.id).unwrap().attributes[&VALUE], StoredValue::Concealed);
    let officer = store.login(PinRole::SecurityOfficer, SO_PIN).unwrap();
    for login in [None, Some(&officer)] {
        let faults = [
            store.read(login, private.id).map(drop),
            store.update(login, private, BTreeMap::new(), vec![LABEL]).map(drop),
            store.remove(login, private.id).map(drop),
            store.insert(login, private_key(b"new")).map(drop),
        ];
        for fault in faults {
            let fault = fault.unwrap_err().fault;
            assert!(matches!(fault, StoreFault::LoginNeeded(_) | StoreFault::LoginToInsert), "{fault}");
        }
        assert_eq!(store.list(login).unwrap().objects.len(), 1);
    }
    for result in [
        store.update(None, mixed, BTreeMap::from([(LABEL, plain(b"other"))]), vec![]).map(drop),
        store.remove(None, mixed.id).map(drop),
        store.insert(None, object(false, [(VALUE, secret(b"hush"))])).map(drop),
    ] {
        let fault = result.unwrap_err().fault;
        assert!(matches!(fault, StoreFault::LoginNeeded(_) | StoreFault::LoginToInsert), "{fault}");
    }
    // Public objects without secrets need no login.
    let public = store.insert(None, object(false, [(LABEL, plain(b"a"))])).unwrap();
    let set = BTreeMap::from([(LABEL, plain(b"b"))]);
    let public = store.update(None, public, set, vec![]).unwrap();
    assert_eq!(store.read(None, public.id).unwrap().attributes[&LABEL], plain(b"b"));
    let set = BTreeMap::from([(VALUE, secret(b"hush"))]);
    assert!(matches!(store.update(None, public, set, vec![]).unwrap_err().fault, StoreFault::LoginToInsert));
    store.remove(None, public.id).unwrap();
    assert!(
        matches!(store.read(None, public.id).unwrap_err().fault, StoreFault::NoObject(id) if id == public.id)
    );
}

#[test]
fn an_update_needs_the_current_version() {
    let fixture = Fixture::new();
    let (store, user) = (&fixture.store, Some(&fixture.user));
    let first = fixture.insert(private_key(b"one"));
    let set = BTreeMap::from([(LABEL, plain(b"new label")), (VENDOR, secret(b"more"))]);
    let second = store.update(user, first, set, vec![HUGE]).unwrap();
    assert!(second.version > first.version);
    let read = store.read(user, first.id).unwrap();
    let expected =
        BTreeMap::from([(LABEL, plain(b"new label")), (VALUE, secret(b"one")), (VENDOR, secret(b"more"))]);
    assert_eq!((read.version, read.attributes), (second.version, expected));
    let fault = store.update(user, first, BTreeMap::new(), vec![VALUE]).unwrap_err().fault;
    assert!(
        matches!(fault, StoreFault::Conflict { expected, found, .. } if (expected, found) == (first.version, second.version)),
        "{fault}"
    );
    store.update(user, second, BTreeMap::new(), vec![VALUE, LABEL]).unwrap();
    let left = store.read(user, first.id).unwrap().attributes;
    assert_eq!(left, BTreeMap::from([(VENDOR, secret(b"more"))]));
}

#[test]
fn several_changes_happen_together_or_not_at_all() {
    let fixture = Fixture::new();
    let (store, user) = (&fixture.store, Some(&fixture.user));
    let old = fixture.insert(private_key(b"old"));
    let before = (store.data_version().unwrap(), store.list(user).unwrap().objects);
    let insert = || StoreChange::Insert(private_key(b"new"));
    let missing = StoreChange::Remove(ObjectId(999));
    let long = StoreChange::Insert(object(true, [(VALUE, secret(&vec![0; MAX_OBJECT_BYTES + 1]))]));
    let empty = StoreChange::Insert(object(true, [(VALUE, StoredValue::Concealed)]));
    for (bad, is_expected) in [
        (missing, (|fault| matches!(fault, StoreFault::NoObject(_))) as fn(&StoreFault) -> bool),
        (long, |fault| matches!(fault, StoreFault::ObjectLength { .. })),
        (empty, |fault| matches!(fault, StoreFault::NoValue { attribute: VALUE })),
    ] {
        let fault = store.apply(user, &[insert(), StoreChange::Remove(old.id), bad]).unwrap_err().fault;
        assert!(is_expected(&fault), "{fault}");
        assert_eq!((store.data_version().unwrap(), store.list(user).unwrap().objects), before);
    }
    let changed = store.apply(user, &[insert(), StoreChange::Remove(old.id), insert()]).unwrap();
    assert!(changed.iter().all(|object| object.version == changed[0].version));
    let ids: Vec<ObjectId> = store.list(user).unwrap().objects.iter().map(|object| object.id).collect();
    assert_eq!(ids, [changed[0].id, changed[2].id]);
    // The longest object fits.
    fixture.insert(object(true, [(VALUE, secret(&vec![0; MAX_OBJECT_BYTES]))]));
}

#[test]
fn the_data_version_grows_with_changes_of_objects_only() {
    let fixture = Fixture::new();
    let elsewhere = ObjectStore::open(&fixture.path()).unwrap();
    let first = elsewhere.data_version().unwrap();
    assert_eq!(elsewhere.data_version().unwrap(), first);
    fixture.store.login(PinRole::User, USER_PIN).unwrap();
    fixture.store.login(PinRole::User, b"wrong pin").unwrap_err();
    assert_eq!(elsewhere.data_version().unwrap(), first, "logins change no object");
    let inserted = fixture.insert(private_key(b"a"));
    let second = elsewhere.data_version().unwrap();
    assert!(second > first && second == inserted.version);
    assert_eq!(fixture.store.data_version().unwrap(), second);
    elsewhere.remove(Some(&fixture.user), inserted.id).unwrap();
    assert!(fixture.store.data_version().unwrap() > second);
}

#[test]
fn a_file_is_private_and_never_replaced() {
    let fixture = Fixture::new();
    fixture.insert(private_key(b"a"));
    for name in fs::read_dir(fixture.folder.path()).unwrap() {
        let about = name.unwrap();
        let mode = about.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", about.path().display());
    }
    let again = ObjectStore::create(&fixture.path(), "again", SO_PIN, PinRules::default()).unwrap_err();
    assert!(matches!(again.fault, StoreFault::Exists), "{again}");
    for mode in [0o640, 0o604, 0o660, 0o644, 0o666] {
        fs::set_permissions(fixture.path(), fs::Permissions::from_mode(mode)).unwrap();
        let error = ObjectStore::open(&fixture.path()).unwrap_err();
        assert!(matches!(&error.fault, StoreFault::Exposed(exposed) if exposed.mode == mode), "{error}");
        assert!(error.to_string().contains("chmod 600"), "{error}");
    }
    fs::set_permissions(fixture.path(), fs::Permissions::from_mode(0o600)).unwrap();
    ObjectStore::open(&fixture.path()).unwrap();
}

#[test]
fn a_store_is_created_with_allowed_values_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    let create = |label, pin: &[u8], rules| ObjectStore::create(&path, label, pin, rules).unwrap_err().fault;
    let rules = PinRules::default();
    for pin in [b"".as_slice(), b"123", &[b'1'; 256]] {
        let fault = create("label", pin, rules);
        assert!(
            matches!(fault, StoreFault::PinLength { found, min: 4, max: 255 } if found == pin.len()),
            "{fault}"
        );
    }
    let fault = create("a label of thirty-three characters", SO_PIN, rules);
    assert!(matches!(fault, StoreFault::Label { found: 34, max: 32 }), "{fault}");
    let fault = create("label", SO_PIN, PinRules { max_tries: 0, ..rules });
    assert!(matches!(fault, StoreFault::PinRules), "{fault}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
    let missing = ObjectStore::open(&path).unwrap_err();
    assert!(matches!(missing.fault, StoreFault::Missing), "{missing}");
    let absent = folder.path().join("absent/token");
    assert!(matches!(ObjectStore::create(&absent, "x", SO_PIN, rules).unwrap_err().fault, StoreFault::Io(_)));
    let store = ObjectStore::create(&path, "a label of thirty-two characters", SO_PIN, rules).unwrap();
    let about = store.describe().unwrap();
    assert_eq!((about.label.len(), about.serial.len(), about.pin_rules), (32, 16, rules));
    assert!(about.serial.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| name.to_string_lossy().starts_with("token")), "{names:?}");
}
