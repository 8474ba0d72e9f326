//! Handles that are not the caller's, and templates that contradict themselves.

use cryptoki::context::Pkcs11;
use cryptoki::error::RvError;
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, AttributeType, KeyType, ObjectClass};
use cryptoki::session::{Session, UserType};
use cryptoki::slot::Slot;

use super::{code, create_secret, loaded, logged_in, pin, prepared};
use crate::common::{SO_PIN, STORE, USER_PIN, isolated};

/// Two tokens in two slots.
const TWO: &str = "[[slot]]\nkind = \"store\"\npath = \"one\"\n[[slot]]\nkind = \"store\"\npath = \"two\"\n";

fn two_tokens() -> (Pkcs11, Vec<Slot>) {
    let (client, _) = loaded();
    let slots = client.get_all_slots().unwrap();
    for slot in &slots {
        client.init_token(*slot, &pin(SO_PIN), "a token").unwrap();
        let session = client.open_rw_session(*slot).unwrap();
        session.login(UserType::So, Some(&pin(SO_PIN))).unwrap();
        session.init_pin(&pin(USER_PIN)).unwrap();
    }
    (client, slots)
}

#[test]
fn a_handle_of_another_token_is_invalid() {
    isolated(
        "store::handles::a_handle_of_another_token_is_invalid",
        TWO,
        |_| (),
        |_| {
            let (client, slots) = two_tokens();
            let [one, other] = [slots[0], slots[1]].map(|slot| logged_in(&client, slot).unwrap());
            let key = create_secret(&one, "k", &[1; 32]).unwrap();
            let label = [Attribute::Label("theirs".into())];
            let invalid = Err(RvError::ObjectHandleInvalid);
            assert_eq!(other.get_attributes(key, &[AttributeType::Label]).map(drop).map_err(code), invalid);
            assert_eq!(other.update_attributes(key, &label).map_err(code), invalid);
            assert_eq!(other.destroy_object(key).map_err(code), invalid);
            let sign = other.sign(&Mechanism::Sha256Hmac, key, b"data").map(drop).map_err(code);
            assert_eq!(sign, Err(RvError::KeyHandleInvalid));
            assert_eq!(
                one.get_attributes(key, &[AttributeType::Label]).unwrap(),
                [Attribute::Label("k".into())]
            );
        },
    );
}

#[test]
fn a_handle_of_an_object_that_is_gone_is_invalid() {
    isolated(
        "store::handles::a_handle_of_an_object_that_is_gone_is_invalid",
        STORE,
        |_| (),
        |_| {
            let (client, slot) = prepared();
            let session = logged_in(&client, slot).unwrap();
            let key = create_secret(&session, "k", &[1; 32]).unwrap();
            let gone = |session: &Session| {
                let read = session.get_attributes(key, &[AttributeType::Label]).map(drop).map_err(code);
                assert_eq!(read, Err(RvError::ObjectHandleInvalid));
                let sign = session.sign(&Mechanism::Sha256Hmac, key, b"data").map(drop).map_err(code);
                assert_eq!(sign, Err(RvError::KeyHandleInvalid));
            };
            // After a logout the private object is not visible.
            session.logout().unwrap();
            gone(&session);
            session.login(UserType::User, Some(&pin(USER_PIN))).unwrap();
            let found = session.find_objects(&[Attribute::Label("k".into())]).unwrap();
            session.destroy_object(found[0]).unwrap();
            gone(&session);
            assert_eq!(session.destroy_object(found[0]).map_err(code), Err(RvError::ObjectHandleInvalid));
            let next = create_secret(&session, "k", &[1; 32]).unwrap();
            assert!(next != key && next != found[0], "a handle is never used again");
        },
    );
}

#[test]
fn doubled_and_contradictory_templates_make_nothing() {
    isolated(
        "store::handles::doubled_and_contradictory_templates_make_nothing",
        STORE,
        |_| (),
        |_| {
            let (client, slot) = prepared();
            let session = logged_in(&client, slot).unwrap();
            let base = [
                Attribute::Class(ObjectClass::SECRET_KEY),
                Attribute::KeyType(KeyType::AES),
                Attribute::Token(true),
                Attribute::Value(vec![1; 32]),
            ];
            let create =
                |more: &[Attribute]| session.create_object(&[&base[..], more].concat()).map_err(code);
            for doubled in [
                Attribute::Value(vec![2; 32]),
                Attribute::Value(vec![1; 32]),
                Attribute::Token(false),
                Attribute::Class(ObjectClass::DATA),
                Attribute::KeyType(KeyType::RSA),
            ] {
                assert_eq!(create(std::slice::from_ref(&doubled)), Err(RvError::TemplateInconsistent));
            }
            let both = [Attribute::Wrap(true), Attribute::Decrypt(true)];
            assert_eq!(create(&both), Err(RvError::TemplateInconsistent));
            assert_eq!(create(&[Attribute::Modulus(vec![1])]), Err(RvError::AttributeTypeInvalid));
            let short = [&base[..3], &[Attribute::Value(vec![1; 31])]].concat();
            assert_eq!(session.create_object(&short).map_err(code), Err(RvError::AttributeValueInvalid));
            assert!(session.find_objects(&base[..1]).unwrap().is_empty(), "nothing was made");
            let made = create(&[]).unwrap();
            let doubled = [Attribute::Label("a".into()), Attribute::Label("b".into())];
            let set = session.update_attributes(made, &doubled).map_err(code);
            assert_eq!(set, Err(RvError::TemplateInconsistent));
        },
    );
}
