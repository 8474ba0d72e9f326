//! The laws of attributes and templates.

use oarlock_cryptoki::{
    AttributeQuery, AttributeType as A, KeyTypeNumber, Mechanism, MechanismParameters, MechanismType as M,
    ObjectClass, ReturnCode, TemplateEntry, UserType,
};

use crate::common::*;

fn aes() -> Template {
    Template::new().number(A::VALUE_LEN, 16)
}

#[test]
fn a_generated_key_was_always_sensitive_and_never_extractable() {
    let user = User::new();
    let key = user.generate(M::AES_KEY_GEN, &aes()).unwrap();
    for kind in [A::SENSITIVE, A::ALWAYS_SENSITIVE, A::NEVER_EXTRACTABLE, A::LOCAL, A::PRIVATE] {
        assert!(user.is_true(key, kind), "{kind}");
    }
    assert!(!user.is_true(key, A::EXTRACTABLE));
    assert_eq!(user.get(key, A::KEY_GEN_MECHANISM).unwrap(), 0x1080_usize.to_ne_bytes());
    assert_eq!(user.get(key, A::VALUE).unwrap_err(), ReturnCode::AttributeSensitive);
}

#[test]
fn an_imported_key_was_not_always_sensitive() {
    let user = User::new();
    let key = user.create(&Template::secret(KeyTypeNumber::AES, &[1; 16])).unwrap();
    assert!(user.is_true(key, A::SENSITIVE));
    for kind in [A::ALWAYS_SENSITIVE, A::NEVER_EXTRACTABLE, A::LOCAL] {
        assert!(!user.is_true(key, kind), "{kind}");
    }
    assert_eq!(user.get(key, A::KEY_GEN_MECHANISM).unwrap(), [0xFF; 8]);
}

#[test]
fn a_sensitive_key_stays_sensitive_and_an_unextractable_one_unextractable() {
    let user = User::new();
    let key = user.generate(M::AES_KEY_GEN, &aes().readable()).unwrap();
    assert_eq!(user.get(key, A::VALUE).unwrap().len(), 16);
    user.set(key, &Template::new().flag(A::SENSITIVE, true)).unwrap();
    user.set(key, &Template::new().flag(A::EXTRACTABLE, false)).unwrap();
    let read_only = Err(ReturnCode::AttributeReadOnly);
    assert_eq!(user.set(key, &Template::new().flag(A::SENSITIVE, false)), read_only);
    assert_eq!(user.set(key, &Template::new().flag(A::EXTRACTABLE, true)), read_only);
    // It was readable once, and says so.
    assert!(!user.is_true(key, A::ALWAYS_SENSITIVE) && !user.is_true(key, A::NEVER_EXTRACTABLE));
    let copy = |template: &Template| user.cryptoki.copy_object(user.session, key, &template.entries());
    assert_eq!(copy(&Template::new().flag(A::SENSITIVE, false)).unwrap_err(), ReturnCode::AttributeReadOnly);
    assert_eq!(copy(&Template::new().flag(A::EXTRACTABLE, true)).unwrap_err(), ReturnCode::AttributeReadOnly);
    assert_eq!(copy(&Template::new().flag(A::PRIVATE, false)).unwrap_err(), ReturnCode::AttributeReadOnly);
}

#[test]
fn attributes_that_the_library_computes_cannot_be_set() {
    let user = User::new();
    for kind in [A::LOCAL, A::ALWAYS_SENSITIVE, A::NEVER_EXTRACTABLE] {
        let made = user.generate(M::AES_KEY_GEN, &aes().flag(kind, true));
        assert_eq!(made.unwrap_err(), ReturnCode::AttributeReadOnly, "{kind}");
        let created = user.create(&Template::secret(KeyTypeNumber::AES, &[1; 16]).flag(kind, true));
        assert_eq!(created.unwrap_err(), ReturnCode::AttributeReadOnly, "{kind}");
    }
    let value = user.generate(M::AES_KEY_GEN, &aes().bytes(A::VALUE, &[1; 16]));
    assert_eq!(value.unwrap_err(), ReturnCode::TemplateInconsistent);
    let len = user.create(&Template::secret(KeyTypeNumber::AES, &[1; 16]).number(A::VALUE_LEN, 16));
    assert_eq!(len.unwrap_err(), ReturnCode::AttributeReadOnly);
}

#[test]
fn doubled_contradictory_and_missing_attributes_are_refused() {
    let user = User::new();
    let doubled = user.generate(M::AES_KEY_GEN, &aes().number(A::VALUE_LEN, 16));
    assert_eq!(doubled.unwrap_err(), ReturnCode::TemplateInconsistent);
    let class = user.generate(M::AES_KEY_GEN, &aes().number(A::CLASS, ObjectClass::PUBLIC_KEY.0));
    assert_eq!(class.unwrap_err(), ReturnCode::TemplateInconsistent);
    let key_type = user.generate(M::AES_KEY_GEN, &aes().number(A::KEY_TYPE, KeyTypeNumber::RSA.0));
    assert_eq!(key_type.unwrap_err(), ReturnCode::TemplateInconsistent);
    let no_len = user.generate(M::AES_KEY_GEN, &Template::new());
    assert_eq!(no_len.unwrap_err(), ReturnCode::TemplateIncomplete);
    let modulus = user.generate(M::AES_KEY_GEN, &aes().bytes(A::MODULUS, &[1]));
    assert_eq!(modulus.unwrap_err(), ReturnCode::AttributeTypeInvalid);
    assert_eq!(user.create(&Template::new()).unwrap_err(), ReturnCode::TemplateIncomplete);
    let no_type = Template::class(ObjectClass::SECRET_KEY).bytes(A::VALUE, &[1; 16]);
    assert_eq!(user.create(&no_type).unwrap_err(), ReturnCode::TemplateIncomplete);
    let no_value = Template::class(ObjectClass::SECRET_KEY).number(A::KEY_TYPE, KeyTypeNumber::AES.0);
    assert_eq!(user.create(&no_value).unwrap_err(), ReturnCode::TemplateIncomplete);
    let public_aes = Template::class(ObjectClass::PUBLIC_KEY).number(A::KEY_TYPE, KeyTypeNumber::AES.0);
    assert_eq!(user.create(&public_aes).unwrap_err(), ReturnCode::TemplateInconsistent);
    let unknown_type = Template::secret(KeyTypeNumber(0x8000_0000), &[1; 16]);
    assert_eq!(user.create(&unknown_type).unwrap_err(), ReturnCode::AttributeValueInvalid);
    let huge = user.generate(M::GENERIC_SECRET_KEY_GEN, &Template::new().number(A::VALUE_LEN, u64::MAX));
    assert_eq!(huge.unwrap_err(), ReturnCode::KeySizeRange);
    let null = [TemplateEntry::null(A::LABEL)];
    let mechanism = Mechanism::plain(M::AES_KEY_GEN);
    let null = user.cryptoki.generate_key(user.session, &mechanism, &null);
    assert_eq!(null.unwrap_err(), ReturnCode::AttributeValueInvalid);
}

#[test]
fn a_key_that_wraps_does_nothing_else() {
    let user = User::new();
    for wrapping in [A::WRAP, A::UNWRAP] {
        for other in [A::ENCRYPT, A::DECRYPT, A::SIGN, A::VERIFY, A::DERIVE] {
            let both = aes().flag(wrapping, true).flag(other, true);
            let made = user.generate(M::AES_KEY_GEN, &both);
            assert_eq!(made.unwrap_err(), ReturnCode::TemplateInconsistent, "{wrapping} {other}");
        }
    }
    let key = user.generate(M::AES_KEY_GEN, &aes().flag(A::WRAP, true)).unwrap();
    assert!(!user.is_true(key, A::DECRYPT) && !user.is_true(key, A::SIGN));
    let later = user.set(key, &Template::new().flag(A::DECRYPT, true));
    assert_eq!(later.unwrap_err(), ReturnCode::TemplateInconsistent);
    // A key that decrypted does not become one that wraps, by no way.
    let key = user.generate(M::AES_KEY_GEN, &aes().flag(A::DECRYPT, true)).unwrap();
    let turned = Template::new().flag(A::DECRYPT, false).flag(A::WRAP, true);
    assert_eq!(user.set(key, &turned).unwrap_err(), ReturnCode::AttributeReadOnly);
    let copy = user.cryptoki.copy_object(user.session, key, &turned.entries());
    assert_eq!(copy.unwrap_err(), ReturnCode::AttributeReadOnly);
    let rsa = Template::new().number(A::MODULUS_BITS, 1024).flag(A::WRAP, true).flag(A::ENCRYPT, true);
    let made = user.pair(M::RSA_PKCS_KEY_PAIR_GEN, &rsa, &Template::new());
    assert_eq!(made.unwrap_err(), ReturnCode::TemplateInconsistent);
}

#[test]
fn a_compatible_slot_lets_a_key_wrap_and_decrypt() {
    let user = User::with(|slot| slot.is_compatible = true);
    let both = aes().flag(A::WRAP, true).flag(A::DECRYPT, true);
    let key = user.generate(M::AES_KEY_GEN, &both).unwrap();
    assert!(user.is_true(key, A::WRAP) && user.is_true(key, A::DECRYPT));
    user.set(key, &Template::new().flag(A::WRAP, false)).unwrap();
}

#[test]
fn only_the_security_officer_says_that_a_key_is_trusted() {
    let user = User::logged_out(|_| {});
    let trusted = Template::class(ObjectClass::PUBLIC_KEY)
        .number(A::KEY_TYPE, KeyTypeNumber::RSA.0)
        .bytes(A::MODULUS, &[0xFF; 128])
        .bytes(A::PUBLIC_EXPONENT, &[1, 0, 1])
        .flag(A::TRUSTED, true);
    assert_eq!(user.create(&trusted).unwrap_err(), ReturnCode::AttributeReadOnly);
    user.cryptoki.login(user.session, UserType::SecurityOfficer, Some(SO_PIN)).unwrap();
    let key = user.create(&trusted).unwrap();
    assert!(user.is_true(key, A::TRUSTED));
    // The officer has no private objects.
    let secret = user.create(&Template::secret(KeyTypeNumber::AES, &[1; 16]));
    assert_eq!(secret.unwrap_err(), ReturnCode::UserNotLoggedIn);
}

#[test]
fn a_key_that_wants_trust_is_not_wrapped_by_others() {
    let user = User::new();
    let wrapping = user.generate(M::AES_KEY_GEN, &aes().flag(A::WRAP, true)).unwrap();
    let shy = aes().flag(A::EXTRACTABLE, true).flag(A::WRAP_WITH_TRUSTED, true);
    let key = user.generate(M::AES_KEY_GEN, &shy).unwrap();
    let mechanism = Mechanism::plain(M::AES_KEY_WRAP);
    let wrap = |key| take(|output| user.cryptoki.wrap_key(user.session, &mechanism, wrapping, key, output));
    assert_eq!(wrap(key).unwrap_err(), ReturnCode::KeyNotWrappable);
    let less = user.set(key, &Template::new().flag(A::WRAP_WITH_TRUSTED, false));
    assert_eq!(less.unwrap_err(), ReturnCode::AttributeReadOnly);
    let kept = user.generate(M::AES_KEY_GEN, &aes()).unwrap();
    assert_eq!(wrap(kept).unwrap_err(), ReturnCode::KeyUnextractable);
    let free = user.generate(M::AES_KEY_GEN, &aes().flag(A::EXTRACTABLE, true)).unwrap();
    assert_eq!(wrap(free).unwrap().len(), 24);
}

#[test]
fn an_object_says_if_it_can_be_changed_copied_and_destroyed() {
    let user = User::new();
    let fixed = |kind| user.generate(M::AES_KEY_GEN, &aes().flag(kind, false)).unwrap();
    let key = fixed(A::MODIFIABLE);
    let changed = user.set(key, &Template::new().bytes(A::LABEL, b"a"));
    assert_eq!(changed.unwrap_err(), ReturnCode::ActionProhibited);
    let key = fixed(A::COPYABLE);
    let copied = user.cryptoki.copy_object(user.session, key, &[]);
    assert_eq!(copied.unwrap_err(), ReturnCode::ActionProhibited);
    let again = user.set(key, &Template::new().flag(A::COPYABLE, true));
    assert_eq!(again.unwrap_err(), ReturnCode::AttributeReadOnly);
    let key = fixed(A::DESTROYABLE);
    let destroyed = user.cryptoki.destroy_object(user.session, key);
    assert_eq!(destroyed.unwrap_err(), ReturnCode::ActionProhibited);
}

#[test]
fn a_copy_has_the_same_key_and_a_handle_and_identity_of_its_own() {
    let user = User::new();
    let key = user.generate(M::AES_KEY_GEN, &aes().readable()).unwrap();
    let template = Template::new().flag(A::TOKEN, true).bytes(A::LABEL, b"copy");
    let copy = user.cryptoki.copy_object(user.session, key, &template.entries()).unwrap();
    assert_ne!(copy, key);
    assert_eq!(user.get(copy, A::VALUE), user.get(key, A::VALUE));
    assert_ne!(user.get(copy, A::UNIQUE_ID), user.get(key, A::UNIQUE_ID));
    assert!(user.is_true(copy, A::TOKEN) && user.is_true(copy, A::LOCAL));
    assert_eq!(user.find(&Template::new().bytes(A::LABEL, b"copy")), [copy]);
}

#[test]
fn a_query_that_fails_leaves_the_others_answered() {
    let user = User::new();
    let key = user.generate(M::AES_KEY_GEN, &aes().bytes(A::LABEL, b"label")).unwrap();
    let (mut label, mut short) = ([0; 9], [0; 3]);
    let mut queries = [
        AttributeQuery::length_only(A::VALUE),
        AttributeQuery::new(A::LABEL, &mut label),
        AttributeQuery::new(A::LABEL, &mut short),
        AttributeQuery::length_only(A::MODULUS),
    ];
    let result = user.cryptoki.get_attribute_value(user.session, key, &mut queries);
    assert_eq!(result, Err(ReturnCode::AttributeSensitive));
    assert_eq!(queries.map(|query| query.len), [None, Some(5), None, None]);
    assert_eq!((&label[..5], short), (&b"label"[..], [0; 3]));
}

#[test]
fn a_private_key_says_what_it_has() {
    let user = User::new();
    let public = Template::new().bytes(A::EC_PARAMS, P256).bytes(A::ID, &[9]);
    let (public, private) = user.pair(M::EC_KEY_PAIR_GEN, &public, &Template::new().readable()).unwrap();
    assert_eq!(user.get(public, A::EC_POINT).unwrap()[..3], [4, 65, 4]);
    assert_eq!(user.get(private, A::EC_PARAMS).unwrap(), P256);
    assert_eq!(user.get(private, A::VALUE).unwrap().len(), 32);
    assert_eq!(user.get(private, A::PUBLIC_KEY_INFO), user.get(public, A::PUBLIC_KEY_INFO));
    assert_eq!(user.get(public, A::VALUE).unwrap_err(), ReturnCode::AttributeTypeInvalid);
    assert!(!user.is_true(public, A::PRIVATE) && user.is_true(private, A::PRIVATE));
}

#[test]
fn a_mechanism_that_is_not_allowed_for_a_key_is_invalid() {
    let user = User::new();
    let only = 0x1087_usize.to_ne_bytes();
    let key = user.generate(M::AES_KEY_GEN, &aes().bytes(A::ALLOWED_MECHANISMS, &only)).unwrap();
    let cbc = Mechanism::new(M::AES_CBC, MechanismParameters::Iv(&[0; 16]));
    let init = user.cryptoki.encrypt_init(user.session, &cbc, key);
    assert_eq!(init.unwrap_err(), ReturnCode::MechanismInvalid);
    let gcm = MechanismParameters::Gcm { iv: &[0; 12], aad: &[], tag_bits: 128 };
    user.cryptoki.encrypt_init(user.session, &Mechanism::new(M::AES_GCM, gcm), key).unwrap();
    assert_eq!(user.get(key, A::ALLOWED_MECHANISMS).unwrap(), only);
}

#[test]
fn a_certificate_needs_a_subject_and_a_value() {
    let user = User::new();
    let base = Template::class(ObjectClass::CERTIFICATE).number(A::CERTIFICATE_TYPE, 0);
    assert_eq!(user.create(&base).unwrap_err(), ReturnCode::TemplateIncomplete);
    let whole = base.bytes(A::SUBJECT, b"subject").bytes(A::VALUE, b"certificate").flag(A::TOKEN, true);
    let certificate = user.create(&whole).unwrap();
    assert_eq!(user.get(certificate, A::VALUE).unwrap(), b"certificate");
    assert_eq!(user.find(&Template::new().bytes(A::VALUE, b"certificate")), [certificate]);
}

#[test]
fn the_value_of_private_data_is_kept_apart() {
    let user = User::new();
    let data = Template::class(ObjectClass::DATA)
        .bytes(A::VALUE, b"a private note")
        .flag(A::PRIVATE, true)
        .flag(A::TOKEN, true);
    let object = user.create(&data).unwrap();
    assert_eq!(user.get(object, A::VALUE).unwrap(), b"a private note");
    use oarlock_cryptoki::TokenObjects;
    let listed = user.token.list().unwrap();
    assert!(listed.iter().all(|object| !object.attributes.contains(A::VALUE)));
}
