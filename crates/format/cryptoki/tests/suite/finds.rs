//! Searches, and tokens that another process changes.

use oarlock_cryptoki::{
    AttributeSet, AttributeType as A, AttributeValue, KeyTypeNumber, Mechanism, MechanismType as M,
    ObjectClass, ObjectContent, ObjectHandle, ReturnCode, TemplateEntry, TokenObjects,
};

use crate::common::*;

fn data(label: &[u8]) -> Template {
    Template::class(ObjectClass::DATA).bytes(A::LABEL, label).flag(A::TOKEN, true).bytes(A::VALUE, label)
}

#[test]
fn objects_are_found_by_every_attribute() {
    let user = User::new();
    let one = user.create(&data(b"one")).unwrap();
    let two = user.create(&data(b"two").flag(A::TOKEN, true).bytes(A::APPLICATION, b"app")).unwrap_err();
    assert_eq!(two, ReturnCode::TemplateInconsistent, "TOKEN stands twice");
    let two = user.create(&data(b"two").bytes(A::APPLICATION, b"app")).unwrap();
    let key = Template::secret(KeyTypeNumber::AES, &[1; 16]).bytes(A::ID, &[5]).bytes(A::LABEL, b"one");
    let key = user.create(&key).unwrap();
    assert_eq!(user.find(&Template::new()), [one, two, key]);
    assert_eq!(user.find(&Template::new().bytes(A::LABEL, b"one")), [one, key]);
    assert_eq!(user.find(&Template::new().bytes(A::ID, &[5])), [key]);
    assert_eq!(user.find(&Template::class(ObjectClass::DATA)), [one, two]);
    assert_eq!(user.find(&Template::class(ObjectClass::DATA).bytes(A::LABEL, b"one")), [one]);
    assert_eq!(user.find(&Template::new().bytes(A::APPLICATION, b"app")), [two]);
    assert_eq!(user.find(&Template::new().bytes(A::VALUE, b"two")), [two]);
    assert_eq!(user.find(&Template::new().flag(A::SENSITIVE, true)), [key]);
    assert_eq!(user.find(&Template::new().number(A::KEY_TYPE, KeyTypeNumber::RSA.0)), []);
    assert_eq!(user.find(&Template::new().bytes(A(0x7777), b"")), []);
    assert_eq!(user.find(&Template::new().bytes(A::CLASS, &[1])), [], "a class of one byte");
    let same = Template::new().bytes(A::LABEL, b"one");
    assert_eq!(user.find(&same.clone().bytes(A::LABEL, b"one")), [one, key]);
    assert_eq!(user.find(&same.bytes(A::LABEL, b"two")), []);
    // No search finds a key by its secret value, sensitive or not.
    assert_eq!(user.find(&Template::new().bytes(A::VALUE, &[1; 16])), []);
}

#[test]
fn a_changed_label_is_found_and_the_old_one_is_not() {
    let user = User::new();
    for token in [true, false] {
        let template =
            Template::secret(KeyTypeNumber::AES, &[1; 16]).flag(A::TOKEN, token).bytes(A::LABEL, b"old");
        let key = user.create(&template).unwrap();
        user.set(key, &Template::new().bytes(A::LABEL, b"new").bytes(A::ID, &[9])).unwrap();
        assert_eq!(user.find(&Template::new().bytes(A::LABEL, b"old")), []);
        assert_eq!(user.find(&Template::new().bytes(A::LABEL, b"new")), [key]);
        assert_eq!(user.find(&Template::new().bytes(A::ID, &[9])), [key]);
        user.cryptoki.destroy_object(user.session, key).unwrap();
        assert_eq!(user.find(&Template::new().bytes(A::LABEL, b"new")), []);
    }
}

#[test]
fn a_search_is_active_until_its_end() {
    let user = User::new();
    let (library, session) = (&user.cryptoki, user.session);
    let mut handles = [ObjectHandle(0); 4];
    assert_eq!(library.find_objects(session, &mut handles), Err(ReturnCode::OperationNotInitialized));
    assert_eq!(library.find_objects_final(session), Err(ReturnCode::OperationNotInitialized));
    library.find_objects_init(session, &[]).unwrap();
    assert_eq!(library.find_objects_init(session, &[]), Err(ReturnCode::OperationActive));
    assert_eq!(library.find_objects(session, &mut []), Ok(0));
    library.session_cancel(session, 0x40).unwrap();
    assert_eq!(library.find_objects(session, &mut handles), Err(ReturnCode::OperationNotInitialized));
    let null = [TemplateEntry::null(A::LABEL)];
    assert_eq!(library.find_objects_init(session, &null), Err(ReturnCode::AttributeValueInvalid));
}

#[test]
fn profiles_are_found_by_their_class_only() {
    let user = User::new();
    assert_eq!(user.find(&Template::new()), []);
    let profiles = user.find(&Template::class(ObjectClass::PROFILE));
    assert_eq!(profiles.len(), 3);
    assert_eq!(user.get(profiles[0], A::PROFILE_ID).unwrap(), 1_usize.to_ne_bytes());
    let destroyed = user.cryptoki.destroy_object(user.session, profiles[0]);
    assert_eq!(destroyed, Err(ReturnCode::ActionProhibited));
}

#[test]
fn changes_by_another_process_are_seen_and_handles_stay() {
    let user = User::new();
    let kept = user.create(&data(b"kept")).unwrap();
    let gone = user.create(&data(b"gone")).unwrap();
    let key = Template::secret(KeyTypeNumber::AES, &[1; 16]).flag(A::TOKEN, true);
    let key = user.create(&key).unwrap();
    let mac = user.sign(&Mechanism::plain(M::AES_CMAC), key, b"m").unwrap();
    // Another process works on the token itself.
    let listed = user.token.list().unwrap();
    let labelled =
        |label: &[u8]| listed.iter().find(|object| object.attributes.bytes(A::LABEL) == Some(label)).unwrap();
    user.token.destroy(labelled(b"gone").id).unwrap();
    let kept_before = labelled(b"kept");
    let mut changed = kept_before.attributes.clone();
    changed.set(A::LABEL, "changed");
    assert_eq!(user.token.update(kept_before.id, &kept_before.attributes, &changed), Ok(true));
    let late = user.token.update(kept_before.id, &kept_before.attributes, &changed);
    assert_eq!(late, Ok(false), "out of date");
    let attributes: AttributeSet = [
        (A::CLASS, AttributeValue::from(ObjectClass::DATA.0)),
        (A::TOKEN, true.into()),
        (A::PRIVATE, false.into()),
        (A::LABEL, "new".into()),
    ]
    .into_iter()
    .collect();
    user.token.create(&[ObjectContent { attributes, secrets: AttributeSet::new() }]).unwrap();
    assert_eq!(user.find(&Template::new().bytes(A::LABEL, b"changed")), [kept]);
    assert_eq!(user.find(&Template::new().bytes(A::LABEL, b"new")).len(), 1);
    assert_eq!(user.get(gone, A::LABEL), Err(ReturnCode::ObjectHandleInvalid));
    assert_eq!(user.verify(&Mechanism::plain(M::AES_CMAC), key, b"m", &mac), Ok(()));
}

#[test]
fn a_change_by_another_process_is_not_undone() {
    let user = User::new();
    let key = Template::secret(KeyTypeNumber::AES, &[1; 16]).readable().flag(A::TOKEN, true);
    let key = user.create(&key).unwrap();
    assert_eq!(user.get(key, A::VALUE).unwrap(), [1; 16]);
    // Another process makes the key sensitive. The index of this one does not show it yet.
    let listed = user.token.list().unwrap();
    let [before] = &listed[..] else { panic!() };
    let mut changed = before.attributes.clone();
    changed.set(A::SENSITIVE, true);
    assert_eq!(user.token.update(before.id, &before.attributes, &changed), Ok(true));
    user.set(key, &Template::new().bytes(A::LABEL, b"renamed")).unwrap();
    assert!(user.is_true(key, A::SENSITIVE), "the other process's change stays");
    assert_eq!(user.get(key, A::LABEL).unwrap(), b"renamed");
    assert_eq!(user.get(key, A::VALUE), Err(ReturnCode::AttributeSensitive));
}

#[test]
fn one_of_ten_thousand_is_found_without_a_walk() {
    let user = User::new();
    let attributes = |number: u32| -> AttributeSet {
        [
            (A::CLASS, AttributeValue::from(ObjectClass::DATA.0)),
            (A::TOKEN, true.into()),
            (A::PRIVATE, false.into()),
            (A::LABEL, format!("object {number}").as_str().into()),
            (A::ID, number.to_be_bytes()[..].into()),
        ]
        .into_iter()
        .collect()
    };
    let contents: Vec<_> = (0..10_000)
        .map(|number| ObjectContent { attributes: attributes(number), secrets: AttributeSet::new() })
        .collect();
    user.token.create(&contents).unwrap();
    for number in [0_u32, 5_000, 9_999] {
        let by_label = user.find(&Template::new().bytes(A::LABEL, format!("object {number}").as_bytes()));
        let by_id = user.find(&Template::new().bytes(A::ID, &number.to_be_bytes()));
        assert_eq!((by_label.len(), &by_label), (1, &by_id));
    }
    assert_eq!(user.find(&Template::new()).len(), 10_000);
}
