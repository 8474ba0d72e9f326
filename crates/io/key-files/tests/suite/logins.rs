//! PINs: lengths, tries, locks, and what ends a login.

use std::fs;
use std::thread;

use oarlock_key_files::objects::{ObjectStore, PinLevel, PinRole, PinRules, StoreFault};

use super::{Fixture, LABEL, SO_PIN, USER_PIN, VALUE, object, plain, private_key, secret};

const USER: PinRole = PinRole::User;
const OFFICER: PinRole = PinRole::SecurityOfficer;

#[test]
fn wrong_pins_lock_and_the_security_officer_unlocks() {
    let fixture = Fixture::with_rules(PinRules { max_tries: 3, ..PinRules::default() });
    let key = fixture.insert(private_key(b"stays"));
    let store = &fixture.store;
    assert_eq!(store.pin_state(USER).unwrap().level(), PinLevel::Full);
    for (left, level) in [(2, PinLevel::Low), (1, PinLevel::FinalTry), (0, PinLevel::Locked)] {
        let fault = store.login(USER, b"wrong").unwrap_err().fault;
        assert!(
            matches!(fault, StoreFault::PinWrong { role: USER, tries_left } if tries_left == left),
            "{fault}"
        );
        // Another process sees the same.
        let state = ObjectStore::open(&fixture.path()).unwrap().pin_state(USER).unwrap();
        assert_eq!((state.tries_left, state.level(), state.is_set), (left, level, true));
    }
    for pin in [USER_PIN, b"wrong"] {
        let fault = store.login(USER, pin).unwrap_err().fault;
        assert!(matches!(fault, StoreFault::PinLocked(USER)), "{fault}");
        let fault = store.set_pin(USER, pin, b"new pin").unwrap_err().fault;
        assert!(matches!(fault, StoreFault::PinLocked(USER)), "{fault}");
    }
    assert_eq!(store.pin_state(OFFICER).unwrap().level(), PinLevel::Full, "the roles are counted apart");
    let officer = store.login(OFFICER, SO_PIN).unwrap();
    store.init_pin(&officer, b"another pin").unwrap();
    assert!(matches!(
        store.login(USER, USER_PIN).unwrap_err().fault,
        StoreFault::PinWrong { tries_left: 2, .. }
    ));
    let user = store.login(USER, b"another pin").unwrap();
    assert_eq!(store.pin_state(USER).unwrap().level(), PinLevel::Full, "a login gives all tries back");
    assert_eq!(store.read(Some(&user), key.id).unwrap().attributes[&VALUE], secret(b"stays"));
}

#[test]
fn the_security_officer_is_locked_for_ever() {
    let fixture = Fixture::with_rules(PinRules { max_tries: 1, ..PinRules::default() });
    let store = &fixture.store;
    assert_eq!(store.pin_state(OFFICER).unwrap().level(), PinLevel::FinalTry);
    assert!(matches!(
        store.login(OFFICER, b"wrong").unwrap_err().fault,
        StoreFault::PinWrong { tries_left: 0, .. }
    ));
    for result in [
        store.login(OFFICER, SO_PIN).map(drop),
        store.set_pin(OFFICER, SO_PIN, b"new pin"),
        store.initialise_again(SO_PIN, "again"),
    ] {
        let fault = result.unwrap_err().fault;
        assert!(matches!(fault, StoreFault::PinLocked(OFFICER)), "{fault}");
    }
    store.login(USER, USER_PIN).unwrap();
}

#[test]
fn a_pin_of_a_forbidden_length_is_no_try() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let officer = store.login(OFFICER, SO_PIN).unwrap();
    for pin in [b"".as_slice(), b"123", &[b'1'; 256], &[b'1'; 100_000]] {
        for result in [
            store.login(USER, pin).map(drop),
            store.set_pin(USER, pin, b"new pin"),
            store.set_pin(USER, USER_PIN, pin),
            store.init_pin(&officer, pin),
            store.initialise_again(pin, "again"),
        ] {
            let fault = result.unwrap_err().fault;
            assert!(matches!(fault, StoreFault::PinLength { found, .. } if found == pin.len()), "{fault}");
        }
    }
    for role in PinRole::ALL {
        assert_eq!(store.pin_state(role).unwrap().level(), PinLevel::Full);
    }
    for pin in [&[b'1'; 4][..], &[0xff; 255]] {
        store.init_pin(&officer, pin).unwrap();
        store.login(USER, pin).unwrap();
    }
}

#[test]
fn a_pin_is_changed_with_the_old_one() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let fault = store.set_pin(USER, b"wrong", b"new pin").unwrap_err().fault;
    assert!(matches!(fault, StoreFault::PinWrong { tries_left: 9, .. }), "{fault}");
    store.set_pin(USER, USER_PIN, b"new pin").unwrap();
    assert!(matches!(store.login(USER, USER_PIN).unwrap_err().fault, StoreFault::PinWrong { .. }));
    let key = fixture.insert(private_key(b"by the old login"));
    let user = store.login(USER, b"new pin").unwrap();
    assert_eq!(store.read(Some(&user), key.id).unwrap().attributes[&VALUE], secret(b"by the old login"));
    store.set_pin(OFFICER, SO_PIN, b"new officer").unwrap();
    store.login(OFFICER, b"new officer").unwrap();
    let fault = store.init_pin(&user, b"new pin").unwrap_err().fault;
    assert!(matches!(fault, StoreFault::WrongRole { expected: OFFICER }), "{fault}");
}

#[test]
fn an_initialised_store_is_empty_and_ends_all_logins() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let old = fixture.insert(private_key(b"old"));
    fixture.insert(object(false, [(LABEL, plain(b"public"))]));
    let officer = store.login(OFFICER, SO_PIN).unwrap();
    let (before, version) = (store.describe().unwrap(), store.data_version().unwrap());
    let fault = store.initialise_again(b"wrong", "again").unwrap_err().fault;
    assert!(matches!(fault, StoreFault::PinWrong { role: OFFICER, tries_left: 9 }), "{fault}");
    assert_eq!(store.list(Some(&fixture.user)).unwrap().objects.len(), 2);
    store.initialise_again(SO_PIN, "again").unwrap();
    let after = store.describe().unwrap();
    assert_eq!((after.serial, after.label.as_str()), (before.serial, "again"));
    assert!(store.list(None).unwrap().objects.is_empty() && store.data_version().unwrap() > version);
    for result in [
        store.list(Some(&fixture.user)).map(drop),
        store.read(Some(&fixture.user), old.id).map(drop),
        store.insert(Some(&fixture.user), private_key(b"x")).map(drop),
        store.init_pin(&officer, b"new pin"),
    ] {
        let fault = result.unwrap_err().fault;
        assert!(matches!(fault, StoreFault::LoginEnded), "{fault}");
    }
    let fault = store.login(USER, USER_PIN).unwrap_err().fault;
    assert!(matches!(fault, StoreFault::PinNotSet(USER)), "{fault}");
    assert!(!store.pin_state(USER).unwrap().is_set);
    let officer = store.login(OFFICER, SO_PIN).unwrap();
    store.init_pin(&officer, USER_PIN).unwrap();
    let user = store.login(USER, USER_PIN).unwrap();
    let new = store.insert(Some(&user), private_key(b"new")).unwrap();
    assert!(new.id > old.id, "a number is never used again");
}

#[test]
fn a_login_is_of_one_store() {
    let (one, other) = (Fixture::new(), Fixture::new());
    let fault = one.store.list(Some(&other.user)).unwrap_err().fault;
    assert!(matches!(fault, StoreFault::LoginEnded), "{fault}");
}

#[test]
fn right_pins_at_the_same_moment_use_up_no_tries() {
    let fixture = Fixture::with_rules(PinRules { max_tries: 1, ..PinRules::default() });
    let other = ObjectStore::open(&fixture.path()).unwrap();
    thread::scope(|scope| {
        for store in [&fixture.store, &other, &fixture.store, &other] {
            scope.spawn(move || store.login(USER, USER_PIN).unwrap());
        }
    });
    assert_eq!(fixture.store.pin_state(USER).unwrap().tries_left, 1);
}

#[test]
fn no_pin_is_shown() {
    let fixture = Fixture::new();
    let error = fixture.store.login(USER, b"Tr0ub4dor").unwrap_err();
    for shown in [format!("{error}"), format!("{error:?}"), format!("{:?}", fixture.user)] {
        assert!(!shown.contains("Tr0ub4dor") && !shown.contains("84, 114"), "{shown}");
    }
    assert_eq!(format!("{:?}", fixture.user), "StoreLogin(user)");
}

#[test]
fn a_key_under_an_old_pin_does_not_stay_in_the_files() {
    let fixture = Fixture::new();
    let wrapped = || -> Vec<u8> {
        let connection = rusqlite::Connection::open(fixture.path()).unwrap();
        connection.query_row("SELECT wrapped FROM pin WHERE role = 1", [], |row| row.get(0)).unwrap()
    };
    let has = |wanted: &[u8]| {
        let files =
            fs::read_dir(fixture.folder.path()).unwrap().map(|file| fs::read(file.unwrap().path()).unwrap());
        files.into_iter().any(|bytes| bytes.windows(wanted.len()).any(|window| window == wanted))
    };
    let old = wrapped();
    assert!(has(&old));
    fixture.store.set_pin(USER, USER_PIN, b"new pin").unwrap();
    assert!(!has(&old) && has(&wrapped()));
}
