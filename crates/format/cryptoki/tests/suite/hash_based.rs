//! Keys of SLH-DSA: their values and signatures.

use oarlock_cryptoki::{
    AttributeType as A, KeyTypeNumber, Mechanism, MechanismParameters as P, MechanismType as M, ObjectClass,
    ObjectHandle, ReturnCode, parameter_values as value,
};

use crate::common::*;

/// The fast sets of n = 16, SHA2 and SHAKE, whose keys and signatures have the same lengths.
const SETS: [u64; 2] = [value::CKP_SLH_DSA_SHA2_128F, value::CKP_SLH_DSA_SHAKE_128F];
const SIGNATURE_LEN: usize = 17_088;
const DETERMINISTIC: u64 = value::CKH_DETERMINISTIC_REQUIRED;

fn pair(user: &User, set: u64) -> (ObjectHandle, ObjectHandle) {
    let public = Template::new().number(A::PARAMETER_SET, set);
    user.pair(M::SLH_DSA_KEY_PAIR_GEN, &public, &Template::new().readable()).unwrap()
}

fn context(kind: M, hedge: u64, context: &[u8]) -> Mechanism<'_> {
    Mechanism::new(kind, P::SignContext { hedge, context })
}

fn template(class: ObjectClass, set: u64) -> Template {
    Template::class(class).number(A::KEY_TYPE, KeyTypeNumber::SLH_DSA.0).number(A::PARAMETER_SET, set)
}

#[test]
fn a_new_pair_has_its_parameter_set_and_values() {
    let user = User::new();
    for set in SETS {
        let (public, private) = pair(&user, set);
        let (public_value, value) =
            (user.get(public, A::VALUE).unwrap(), user.get(private, A::VALUE).unwrap());
        assert_eq!((public_value.len(), value.len()), (32, 64));
        assert_eq!(value[32..], public_value);
        assert!(user.is_true(public, A::VERIFY) && user.is_true(private, A::SIGN));
        assert!(user.get(private, A::SEED).is_err());
        let again = user.create(&template(ObjectClass::PRIVATE_KEY, set).bytes(A::VALUE, &value)).unwrap();
        let mechanism = context(M::SLH_DSA, DETERMINISTIC, b"");
        let signature = user.sign(&mechanism, again, b"message").unwrap();
        assert_eq!(user.sign(&mechanism, private, b"message"), Ok(signature));
    }
}

#[test]
fn values_that_do_not_fit_make_no_key() {
    let user = User::new();
    let [sha2, shake] = SETS;
    let (public, private) = pair(&user, sha2);
    let (public, private) = (user.get(public, A::VALUE).unwrap(), user.get(private, A::VALUE).unwrap());
    let create = |class, set, bytes: &[u8]| user.create(&template(class, set).bytes(A::VALUE, bytes));
    let invalid = Err(ReturnCode::AttributeValueInvalid);
    let mut wrong_root = private.clone();
    wrong_root[63] ^= 1;
    for wrong in [&private[1..], &[&private[..], &[0]].concat(), &wrong_root, &[]] {
        assert_eq!(create(ObjectClass::PRIVATE_KEY, sha2, wrong), invalid);
    }
    // The other set has keys of this length, and another root.
    assert_eq!(create(ObjectClass::PRIVATE_KEY, shake, &private), invalid);
    assert_eq!(create(ObjectClass::PUBLIC_KEY, sha2, &public[1..]), invalid);
    for set in [0, 13, 1 << 32] {
        assert_eq!(create(ObjectClass::PUBLIC_KEY, set, &public), invalid, "{set}");
    }
    let seeded = template(ObjectClass::PRIVATE_KEY, sha2).bytes(A::VALUE, &private).bytes(A::SEED, &[1; 48]);
    assert_eq!(user.create(&seeded), Err(ReturnCode::AttributeTypeInvalid));
    let incomplete = template(ObjectClass::PRIVATE_KEY, sha2);
    assert_eq!(user.create(&incomplete), Err(ReturnCode::TemplateIncomplete));
}

#[test]
fn signatures_verify_under_their_mechanism_and_context_alone() {
    let user = User::new();
    let (public, private) = pair(&user, SETS[0]);
    let message = b"a message";
    let mechanisms = [M::SLH_DSA, M::HASH_SLH_DSA_SHA256, M::HASH_SLH_DSA_SHA3_512, M::HASH_SLH_DSA_SHAKE256];
    let signed = mechanisms.map(|kind| {
        let signature = user.sign(&context(kind, DETERMINISTIC, b"c"), private, message).unwrap();
        assert_eq!(signature.len(), SIGNATURE_LEN);
        signature
    });
    let invalid = Err(ReturnCode::SignatureInvalid);
    for (made_by, signature) in mechanisms.iter().zip(&signed) {
        for kind in mechanisms {
            let verified = user.verify(&context(kind, DETERMINISTIC, b"c"), public, message, signature);
            assert_eq!(verified, if kind == *made_by { Ok(()) } else { invalid }, "{made_by} as {kind}");
        }
        let verify = |context_bytes, message: &[u8]| {
            user.verify(&context(*made_by, DETERMINISTIC, context_bytes), public, message, signature)
        };
        assert_eq!((verify(b"d", message), verify(b"c", b"another")), (invalid, invalid));
    }
    let short = user.verify(&context(M::SLH_DSA, 0, b"c"), public, message, &signed[0][1..]);
    assert_eq!(short, Err(ReturnCode::SignatureLenRange));
    let (other, _) = pair(&user, SETS[1]);
    let verified = user.verify(&context(M::SLH_DSA, 0, b"c"), other, message, &signed[0]);
    assert_eq!(verified, invalid, "the set with signatures of the same length");
}

#[test]
fn a_digest_is_signed_as_its_message() {
    let user = User::new();
    let (public, private) = pair(&user, SETS[0]);
    user.cryptoki.digest_init(user.session, &Mechanism::plain(M::SHA256)).unwrap();
    let digest = take(|output| user.cryptoki.digest(user.session, b"message", output)).unwrap();
    let parameters = P::HashSignContext { hedge: DETERMINISTIC, context: b"c", hash: M::SHA256 };
    let of_digest = Mechanism::new(M::HASH_SLH_DSA, parameters);
    let of_message = context(M::HASH_SLH_DSA_SHA256, DETERMINISTIC, b"c");
    let signature = user.sign(&of_digest, private, &digest).unwrap();
    assert_eq!(user.sign(&of_message, private, b"message").as_ref(), Ok(&signature));
    assert_eq!(user.verify(&of_digest, public, &digest, &signature), Ok(()));
    assert_eq!(user.sign(&of_digest, private, &digest[1..]), Err(ReturnCode::DataLenRange));
}

#[test]
fn wrong_parameters_begin_nothing() {
    let user = User::new();
    let (public, private) = pair(&user, SETS[0]);
    let invalid = Err(ReturnCode::MechanismParamInvalid);
    for mechanism in [
        context(M::SLH_DSA, 0, &[7; 256]),
        context(M::SLH_DSA, 3, b""),
        Mechanism::plain(M::HASH_SLH_DSA),
        Mechanism::new(M::SLH_DSA, P::Iv(&[1; 16])),
    ] {
        assert_eq!(user.cryptoki.sign_init(user.session, &mechanism, private), invalid, "{mechanism:?}");
    }
    let longest = context(M::SLH_DSA, 0, &[7; 255]);
    let signature = user.sign(&longest, private, b"m").unwrap();
    assert_eq!(user.verify(&longest, public, b"m", &signature), Ok(()));
    let begun = user.cryptoki.sign_init(user.session, &Mechanism::plain(M::ML_DSA), private);
    assert_eq!(begun, Err(ReturnCode::KeyTypeInconsistent));
}
