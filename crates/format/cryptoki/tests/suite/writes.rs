//! Writes to a token by one thread while others search and use objects.

use std::sync::{Arc, Barrier};
use std::thread;

use oarlock_cryptoki::{
    AttributeType as A, Cryptoki, KeyTypeNumber, Mechanism, MechanismType as M, ReturnCode, SessionHandle,
    SlotSettings, UserType,
};

use crate::common::watched_token::{PauseMoment, WatchedToken};
use crate::common::*;

fn library(token: &Arc<WatchedToken>) -> (Cryptoki, SessionHandle) {
    let cryptoki = Cryptoki::new(accelerator(), vec![SlotSettings::new(SLOT, "a slot", token.clone())]);
    let session = cryptoki.open_session(SLOT, READ_WRITE).unwrap();
    cryptoki.login(session, UserType::User, Some(USER_PIN)).unwrap();
    (cryptoki, session)
}

fn key(label: &[u8]) -> Template {
    let key = Template::secret(KeyTypeNumber::GENERIC_SECRET, &[7; 32]);
    key.flag(A::TOKEN, true).flag(A::SIGN, true).bytes(A::LABEL, label)
}

fn labelled(label: &[u8]) -> Template {
    Template::new().bytes(A::LABEL, label)
}

fn mac(cryptoki: &Cryptoki, session: SessionHandle, key: oarlock_cryptoki::ObjectHandle) -> Vec<u8> {
    cryptoki.sign_init(session, &Mechanism::plain(M::SHA256_HMAC), key).unwrap();
    take(|output| cryptoki.sign(session, b"a message", output)).unwrap()
}

#[test]
fn a_search_does_not_wait_for_the_write_of_another_thread() {
    let token = Arc::new(WatchedToken::new());
    let (cryptoki, session) = library(&token);
    let old = cryptoki.create_object(session, &key(b"old").entries()).unwrap();
    let held = token.hold_creation(PauseMoment::BeforeWrite);
    let new = thread::scope(|scope| {
        let writer = cryptoki.open_session(SLOT, READ_WRITE).unwrap();
        let created = scope.spawn({
            let cryptoki = &cryptoki;
            move || cryptoki.create_object(writer, &key(b"new").entries())
        });
        held.await_begin();
        assert_eq!(find(&cryptoki, session, &labelled(b"old")), [old]);
        assert_eq!(find(&cryptoki, session, &labelled(b"new")), []);
        mac(&cryptoki, session, old);
        held.release();
        created.join().unwrap().unwrap()
    });
    assert_eq!(find(&cryptoki, session, &labelled(b"new")), [new]);
}

#[test]
fn an_object_that_a_search_finds_during_its_creation_has_one_handle() {
    let token = Arc::new(WatchedToken::new());
    let (cryptoki, session) = library(&token);
    let held = token.hold_creation(PauseMoment::AfterWrite);
    let (created, found) = thread::scope(|scope| {
        let writer = cryptoki.open_session(SLOT, READ_WRITE).unwrap();
        let created = scope.spawn({
            let cryptoki = &cryptoki;
            move || cryptoki.create_object(writer, &key(b"new").entries())
        });
        held.await_begin();
        let found = find(&cryptoki, session, &labelled(b"new"));
        mac(&cryptoki, session, found[0]);
        held.release();
        (created.join().unwrap().unwrap(), found)
    });
    assert_eq!(found, [created]);
    assert_eq!(find(&cryptoki, session, &labelled(b"new")), [created]);
}

/// Another process removes the object before its creator knows that it is there.
#[test]
fn an_object_that_is_destroyed_during_its_creation_stays_gone() {
    let token = Arc::new(WatchedToken::new());
    let (cryptoki, session) = library(&token);
    let (other, theirs) = library(&token);
    let held = token.hold_creation(PauseMoment::AfterWrite);
    let created = thread::scope(|scope| {
        let writer = cryptoki.open_session(SLOT, READ_WRITE).unwrap();
        let created = scope.spawn({
            let cryptoki = &cryptoki;
            move || cryptoki.create_object(writer, &key(b"new").entries())
        });
        held.await_begin();
        let [found] = find(&other, theirs, &labelled(b"new"))[..] else { panic!("it is on the token") };
        other.destroy_object(theirs, found).unwrap();
        assert_eq!(find(&cryptoki, session, &labelled(b"new")), []);
        held.release();
        created.join().unwrap().unwrap()
    });
    assert_eq!(find(&cryptoki, session, &labelled(b"new")), []);
    assert_eq!(cryptoki.object_size(session, created), Err(ReturnCode::ObjectHandleInvalid));
}

#[test]
fn threads_that_use_a_key_for_the_first_time_open_it_once() {
    const THREADS: usize = 8;
    let token = Arc::new(WatchedToken::new());
    let (first, session) = library(&token);
    first.create_object(session, &key(b"key").entries()).unwrap();
    for round in 1..=20 {
        // Another process, which has to open the key.
        let (cryptoki, session) = library(&token);
        let [key] = find(&cryptoki, session, &labelled(b"key"))[..] else { panic!() };
        let start = Barrier::new(THREADS);
        let macs: Vec<_> = thread::scope(|scope| {
            let use_key = || {
                let session = cryptoki.open_session(SLOT, READ_WRITE).unwrap();
                start.wait();
                mac(&cryptoki, session, key)
            };
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(use_key)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(macs.windows(2).all(|pair| pair[0] == pair[1]));
        assert_eq!(token.opened(), round);
    }
}
