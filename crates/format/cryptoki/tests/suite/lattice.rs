//! Keys of ML-KEM and ML-DSA: their values, secrets and signatures.

use oarlock_cryptoki::{
    AttributeQuery, AttributeType as A, CallOutput, KeyTypeNumber, ManyInputs, ManySpans, Mechanism,
    MechanismParameters as P, MechanismType as M, ObjectClass, ObjectHandle, ReturnCode, TemplateEntry,
    parameter_values as value, session_flags,
};

use crate::common::*;

const SETS: [u64; 3] = [1, 2, 3];
const PREFERRED: u64 = value::CKH_HEDGE_PREFERRED;
const DETERMINISTIC: u64 = value::CKH_DETERMINISTIC_REQUIRED;

const HASHES: [(M, M); 8] = [
    (M::HASH_ML_DSA_SHA224, M::SHA224),
    (M::HASH_ML_DSA_SHA256, M::SHA256),
    (M::HASH_ML_DSA_SHA384, M::SHA384),
    (M::HASH_ML_DSA_SHA512, M::SHA512),
    (M::HASH_ML_DSA_SHA3_256, M::SHA3_256),
    (M::HASH_ML_DSA_SHA3_384, M::SHA3_384),
    (M::HASH_ML_DSA_SHA3_512, M::SHA3_512),
    // The module has no such digest by itself.
    (M::HASH_ML_DSA_SHA3_224, M::SHA3_224),
];

/// Generates a public and a private key of a parameter set.
type MakePair = fn(&User, u64) -> (ObjectHandle, ObjectHandle);

fn kem_pair(user: &User, set: u64) -> (ObjectHandle, ObjectHandle) {
    let public = Template::new().number(A::PARAMETER_SET, set);
    user.pair(M::ML_KEM_KEY_PAIR_GEN, &public, &Template::new().readable()).unwrap()
}

fn dsa_pair(user: &User, set: u64) -> (ObjectHandle, ObjectHandle) {
    let public = Template::new().number(A::PARAMETER_SET, set);
    user.pair(M::ML_DSA_KEY_PAIR_GEN, &public, &Template::new().readable()).unwrap()
}

fn encapsulate(
    user: &User,
    public: ObjectHandle,
    template: &Template,
) -> Result<(Vec<u8>, ObjectHandle), ReturnCode> {
    let (mut new, mechanism) = (None, Mechanism::plain(M::ML_KEM));
    let ciphertext = take(|output| {
        new = user.cryptoki.encapsulate_key(user.session, &mechanism, public, &template.entries(), output)?;
        Ok(())
    })?;
    Ok((ciphertext, new.unwrap()))
}

fn decapsulate(
    user: &User,
    private: ObjectHandle,
    template: &Template,
    ciphertext: &[u8],
) -> Result<ObjectHandle, ReturnCode> {
    let mechanism = Mechanism::plain(M::ML_KEM);
    user.cryptoki.decapsulate_key(user.session, &mechanism, private, &template.entries(), ciphertext)
}

fn context(kind: M, hedge: u64, context: &[u8]) -> Mechanism<'_> {
    Mechanism::new(kind, P::SignContext { hedge, context })
}

/// A private key from its values.
fn private(key_type: KeyTypeNumber, set: u64) -> Template {
    Template::class(ObjectClass::PRIVATE_KEY).number(A::KEY_TYPE, key_type.0).number(A::PARAMETER_SET, set)
}

#[test]
fn both_sides_have_the_same_secret_and_another_each_time() {
    let user = User::new();
    let template = Template::new().number(A::KEY_TYPE, KeyTypeNumber::AES.0).readable();
    for (set, len) in SETS.into_iter().zip([768, 1088, 1568]) {
        let (public, private) = kem_pair(&user, set);
        assert!(user.is_true(public, A::ENCAPSULATE) && user.is_true(private, A::DECAPSULATE));
        let (ciphertext, sent) = encapsulate(&user, public, &template).unwrap();
        assert_eq!(ciphertext.len(), len);
        let received = decapsulate(&user, private, &template, &ciphertext).unwrap();
        let value = user.get(sent, A::VALUE).unwrap();
        assert_eq!((value.len(), user.get(received, A::VALUE)), (32, Ok(value.clone())));
        assert!(!user.is_true(sent, A::LOCAL) && !user.is_true(received, A::NEVER_EXTRACTABLE));
        let (_, other) = encapsulate(&user, public, &template).unwrap();
        assert_ne!(user.get(other, A::VALUE), Ok(value.clone()));
        // Implicit rejection: a ciphertext of the right length always gives a key, and always the same one.
        let random: Vec<u8> = (0..len).map(|index| (index * 7) as u8).collect();
        let rejected = decapsulate(&user, private, &template, &random).unwrap();
        let again = decapsulate(&user, private, &template, &random).unwrap();
        assert_ne!(user.get(rejected, A::VALUE), Ok(value));
        assert_eq!(user.get(rejected, A::VALUE), user.get(again, A::VALUE));
        for wrong in [&ciphertext[1..], &[], &[&ciphertext[..], &[0]].concat()] {
            let opened = decapsulate(&user, private, &template, wrong);
            assert_eq!(opened, Err(ReturnCode::WrappedKeyInvalid));
        }
    }
}

#[test]
fn encapsulation_takes_public_keys_and_no_other_length() {
    let user = User::new();
    let (public, private) = kem_pair(&user, value::CKP_ML_KEM_768);
    let template = Template::new();
    // The usage is checked first, and a private key never encapsulates.
    assert_eq!(encapsulate(&user, private, &template), Err(ReturnCode::KeyFunctionNotPermitted));
    assert_eq!(decapsulate(&user, public, &template, &[0; 1088]), Err(ReturnCode::KeyFunctionNotPermitted));
    let (_, signing) = dsa_pair(&user, value::CKP_ML_DSA_44);
    assert_eq!(encapsulate(&user, signing, &template), Err(ReturnCode::KeyTypeInconsistent));
    for len in [1, 16, 31, 33, 64] {
        let wanted = Template::new().number(A::VALUE_LEN, len).readable();
        assert_eq!(encapsulate(&user, public, &wanted), Err(ReturnCode::KeySizeRange), "{len}");
        assert_eq!(decapsulate(&user, private, &wanted, &[0; 1088]), Err(ReturnCode::KeySizeRange));
    }
    let off = Template::new().number(A::PARAMETER_SET, 1).flag(A::ENCAPSULATE, false);
    let (unmarked, _) = user.pair(M::ML_KEM_KEY_PAIR_GEN, &off, &Template::new()).unwrap();
    assert_eq!(encapsulate(&user, unmarked, &template), Err(ReturnCode::KeyFunctionNotPermitted));
    // The mechanism takes no parameter.
    let mechanism = Mechanism::new(M::ML_KEM, P::Iv(&[1]));
    let entries = template.entries();
    let mut output = CallOutput::length_only();
    let made = user.cryptoki.encapsulate_key(user.session, &mechanism, public, &entries, &mut output);
    assert_eq!(made, Err(ReturnCode::MechanismParamInvalid));
    // A call for the length makes no key.
    let before = user.find(&Template::class(ObjectClass::SECRET_KEY)).len();
    let plain = Mechanism::plain(M::ML_KEM);
    let mut output = CallOutput::length_only();
    let asked = user.cryptoki.encapsulate_key(user.session, &plain, public, &entries, &mut output);
    assert_eq!((asked, output.len()), (Ok(None), 1088));
    assert_eq!(user.find(&Template::class(ObjectClass::SECRET_KEY)).len(), before);
}

#[test]
fn a_template_of_the_key_binds_the_secret() {
    let user = User::new();
    let strict = [true, false].map(u8::from);
    let nested =
        [TemplateEntry::new(A::SENSITIVE, &strict[..1]), TemplateEntry::new(A::EXTRACTABLE, &strict[1..])];
    let set = usize::to_ne_bytes(2);
    let public =
        [TemplateEntry::new(A::PARAMETER_SET, &set), TemplateEntry::nested(A::ENCAPSULATE_TEMPLATE, &nested)];
    let private = [TemplateEntry::nested(A::DECAPSULATE_TEMPLATE, &nested)];
    let mechanism = Mechanism::plain(M::ML_KEM_KEY_PAIR_GEN);
    let pair = user.cryptoki.generate_key_pair(user.session, &mechanism, &public, &private);
    let (public, private) = pair.unwrap();
    let readable = Template::new().readable();
    assert_eq!(encapsulate(&user, public, &readable), Err(ReturnCode::TemplateInconsistent));
    let (ciphertext, sent) = encapsulate(&user, public, &Template::new()).unwrap();
    let opened = decapsulate(&user, private, &readable, &ciphertext);
    assert_eq!(opened, Err(ReturnCode::TemplateInconsistent));
    let received = decapsulate(&user, private, &Template::new(), &ciphertext).unwrap();
    for key in [sent, received] {
        assert_eq!(user.get(key, A::VALUE), Err(ReturnCode::AttributeSensitive));
    }
}

#[test]
fn a_new_pair_has_its_parameter_set_seed_and_values() {
    let user = User::new();
    type Lens = [(usize, usize); 3];
    let cases: [(KeyTypeNumber, MakePair, usize, Lens); 2] = [
        (KeyTypeNumber::ML_KEM, kem_pair, 64, [(800, 1632), (1184, 2400), (1568, 3168)]),
        (KeyTypeNumber::ML_DSA, dsa_pair, 32, [(1312, 2560), (1952, 4032), (2592, 4896)]),
    ];
    for (key_type, make, seed_len, lens) in cases {
        for (set, (public_len, private_len)) in SETS.into_iter().zip(lens) {
            let (public, private_key) = make(&user, set);
            for key in [public, private_key] {
                assert_eq!(user.get(key, A::PARAMETER_SET), Ok((set as usize).to_ne_bytes().to_vec()));
                assert_eq!(user.get(key, A::KEY_TYPE), Ok((key_type.0 as usize).to_ne_bytes().to_vec()));
                assert!(user.is_true(key, A::LOCAL));
            }
            let public_value = user.get(public, A::VALUE).unwrap();
            let (seed, expanded) =
                (user.get(private_key, A::SEED).unwrap(), user.get(private_key, A::VALUE).unwrap());
            assert_eq!((public_value.len(), seed.len(), expanded.len()), (public_len, seed_len, private_len));
            assert_eq!(user.get(public, A::SEED), Err(ReturnCode::AttributeTypeInvalid));
            // A search by the public value finds the public key alone, and no search finds a secret.
            let by_value = Template::new().bytes(A::VALUE, &public_value);
            assert_eq!(user.find(&by_value), [public]);
            assert_eq!(user.find(&Template::new().bytes(A::SEED, &seed)), []);
            assert_eq!(user.find(&Template::new().bytes(A::VALUE, &expanded)), []);
            // Each way to create the key gives the same public key.
            let info = user.get(public, A::PUBLIC_KEY_INFO).unwrap();
            let template = private(key_type, set).readable();
            for (template, seed_answer) in [
                (template.clone().bytes(A::SEED, &seed), Ok(seed.clone())),
                (template.clone().bytes(A::VALUE, &expanded), Err(ReturnCode::AttributeTypeInvalid)),
                (template.clone().bytes(A::SEED, &seed).bytes(A::VALUE, &expanded), Ok(seed.clone())),
            ] {
                let made = user.create(&template).unwrap();
                assert_eq!(user.get(made, A::PUBLIC_KEY_INFO), Ok(info.clone()));
                assert_eq!(user.get(made, A::VALUE), Ok(expanded.clone()));
                assert_eq!(user.get(made, A::SEED), seed_answer);
                let copy = user.cryptoki.copy_object(user.session, made, &[]).unwrap();
                assert_eq!(user.get(copy, A::VALUE), Ok(expanded.clone()));
            }
        }
    }
}

#[test]
fn a_seed_is_as_secret_as_the_key() {
    let user = User::new();
    let public = Template::new().number(A::PARAMETER_SET, 1);
    let flags = |sensitive, extractable| {
        Template::new().flag(A::SENSITIVE, sensitive).flag(A::EXTRACTABLE, extractable)
    };
    for kind in [M::ML_KEM_KEY_PAIR_GEN, M::ML_DSA_KEY_PAIR_GEN] {
        for (sensitive, extractable) in [(true, false), (true, true), (false, false)] {
            let (_, key) = user.pair(kind, &public, &flags(sensitive, extractable)).unwrap();
            for secret in [A::SEED, A::VALUE] {
                assert_eq!(user.get(key, secret), Err(ReturnCode::AttributeSensitive), "{secret}");
                let mut query = [AttributeQuery::length_only(secret)];
                let asked = user.cryptoki.get_attribute_value(user.session, key, &mut query);
                assert_eq!((asked, query[0].len), (Err(ReturnCode::AttributeSensitive), None));
            }
        }
    }
}

#[test]
fn values_that_do_not_fit_make_no_key() {
    let user = User::new();
    let invalid = Err(ReturnCode::AttributeValueInvalid);
    let cases: [(KeyTypeNumber, M, MakePair); 2] = [
        (KeyTypeNumber::ML_KEM, M::ML_KEM_KEY_PAIR_GEN, kem_pair),
        (KeyTypeNumber::ML_DSA, M::ML_DSA_KEY_PAIR_GEN, dsa_pair),
    ];
    for (key_type, generate, make) in cases {
        let (public, key) = make(&user, 2);
        let public_value = user.get(public, A::VALUE).unwrap();
        let (seed, expanded) = (user.get(key, A::SEED).unwrap(), user.get(key, A::VALUE).unwrap());
        let template = private(key_type, 2);
        for wrong in [&[][..], &seed[1..], &[&seed[..], &[0]].concat()] {
            assert_eq!(user.create(&template.clone().bytes(A::SEED, wrong)), invalid, "{key_type}");
            let both = template.clone().bytes(A::SEED, wrong).bytes(A::VALUE, &expanded);
            assert_eq!(user.create(&both), invalid, "{key_type}");
        }
        // Every byte counts, z of ML-KEM at the end included.
        for index in [0, expanded.len() / 2, expanded.len() - 1] {
            let mut changed = expanded.clone();
            changed[index] ^= 1;
            let both = template.clone().bytes(A::SEED, &seed).bytes(A::VALUE, &changed);
            assert_eq!(user.create(&both), invalid, "{key_type} {index}");
        }
        assert_eq!(user.create(&template.clone().bytes(A::VALUE, &expanded[1..])), invalid);
        assert_eq!(user.create(&template), Err(ReturnCode::TemplateIncomplete));
        // Another parameter set, or none, or a number that is none.
        for set in [0, 1, 3, 4] {
            assert_eq!(user.create(&private(key_type, set).bytes(A::VALUE, &expanded)), invalid, "{set}");
        }
        let unnamed = Template::class(ObjectClass::PRIVATE_KEY).number(A::KEY_TYPE, key_type.0);
        let unnamed = user.create(&unnamed.bytes(A::SEED, &seed));
        assert_eq!(unnamed, Err(ReturnCode::TemplateIncomplete));
        let of_public = |set| {
            Template::class(ObjectClass::PUBLIC_KEY)
                .number(A::KEY_TYPE, key_type.0)
                .number(A::PARAMETER_SET, set)
        };
        for set in [0, 1, 3, 4] {
            assert_eq!(user.create(&of_public(set).bytes(A::VALUE, &public_value)), invalid, "{set}");
        }
        assert_eq!(user.create(&of_public(2).bytes(A::VALUE, &public_value[1..])), invalid);
        assert_eq!(user.create(&of_public(2)), Err(ReturnCode::TemplateIncomplete));
        let seeded = of_public(2).bytes(A::VALUE, &public_value).bytes(A::SEED, &seed);
        assert_eq!(user.create(&seeded), Err(ReturnCode::AttributeTypeInvalid));
        // A pair is described by the template of its public key alone.
        let pair = |public: &Template, private: &Template| user.pair(generate, public, private).map(|_| ());
        let (none, set) = (Template::new(), |set| Template::new().number(A::PARAMETER_SET, set));
        assert_eq!(pair(&none, &none), Err(ReturnCode::TemplateIncomplete));
        assert_eq!(pair(&none, &set(2)), Err(ReturnCode::TemplateInconsistent));
        assert_eq!(pair(&set(2), &set(2)), Err(ReturnCode::TemplateInconsistent));
        let seeded = none.clone().bytes(A::SEED, &seed);
        assert_eq!(pair(&set(2), &seeded), Err(ReturnCode::TemplateInconsistent));
        for number in [0, 4, 1 << 32] {
            assert_eq!(pair(&set(number), &none), Err(ReturnCode::AttributeValueInvalid));
        }
    }
    // A parameter set belongs to no other key.
    let rsa = Template::new().number(A::MODULUS_BITS, 2048).number(A::PARAMETER_SET, 1);
    let rsa = user.pair(M::RSA_PKCS_KEY_PAIR_GEN, &rsa, &Template::new());
    assert_eq!(rsa, Err(ReturnCode::AttributeTypeInvalid));
}

#[test]
fn a_wrapped_key_is_the_same_key() {
    let user = User::new();
    let template = Template::new().number(A::VALUE_LEN, 32).flag(A::WRAP, true).flag(A::UNWRAP, true);
    let wrapping = user.generate(M::AES_KEY_GEN, &template).unwrap();
    let mechanism = Mechanism::plain(M::AES_KEY_WRAP_KWP);
    for (key_type, (_, key)) in
        [(KeyTypeNumber::ML_KEM, kem_pair(&user, 2)), (KeyTypeNumber::ML_DSA, dsa_pair(&user, 2))]
    {
        let wrapped =
            take(|output| user.cryptoki.wrap_key(user.session, &mechanism, wrapping, key, output)).unwrap();
        let unwrap = |key_type: KeyTypeNumber| {
            let template =
                Template::class(ObjectClass::PRIVATE_KEY).number(A::KEY_TYPE, key_type.0).readable();
            user.cryptoki.unwrap_key(user.session, &mechanism, wrapping, &wrapped, &template.entries())
        };
        let unwrapped = unwrap(key_type).unwrap();
        for kind in [A::SEED, A::VALUE, A::PARAMETER_SET] {
            assert_eq!(user.get(unwrapped, kind), user.get(key, kind));
        }
        assert_eq!(unwrap(KeyTypeNumber::EC), Err(ReturnCode::WrappedKeyInvalid));
    }
}

#[test]
fn signatures_verify_whole_and_in_pieces_under_their_context_alone() {
    let user = User::new();
    let message = b"a message of several pieces";
    for (set, len) in SETS.into_iter().zip([2420, 3309, 4627]) {
        let (public, private) = dsa_pair(&user, set);
        let mut mechanisms = vec![M::ML_DSA, M::HASH_ML_DSA_SHAKE128, M::HASH_ML_DSA_SHAKE256];
        mechanisms.extend(HASHES.iter().map(|(kind, _)| *kind));
        let mut signatures: Vec<(M, Vec<u8>)> = Vec::new();
        for kind in mechanisms {
            let mechanism = context(kind, DETERMINISTIC, b"a context");
            let signature = user.sign(&mechanism, private, message).unwrap();
            assert_eq!(signature.len(), len);
            user.cryptoki.sign_init(user.session, &mechanism, private).unwrap();
            for piece in message.chunks(5) {
                user.cryptoki.sign_update(user.session, piece).unwrap();
            }
            let pieces = take(|output| user.cryptoki.sign_final(user.session, output));
            assert_eq!(pieces.as_ref(), Ok(&signature), "{kind}");
            assert_eq!(user.verify(&mechanism, public, message, &signature), Ok(()));
            user.cryptoki.verify_init(user.session, &mechanism, public).unwrap();
            for piece in message.chunks(4) {
                user.cryptoki.verify_update(user.session, piece).unwrap();
            }
            assert_eq!(user.cryptoki.verify_final(user.session, &signature), Ok(()), "{kind}");
            let invalid = Err(ReturnCode::SignatureInvalid);
            for other in [Mechanism::plain(kind), context(kind, PREFERRED, b"another context")] {
                assert_eq!(user.verify(&other, public, message, &signature), invalid, "{kind}");
            }
            assert_eq!(user.verify(&mechanism, public, b"another message", &signature), invalid);
            let short = user.verify(&mechanism, public, message, &signature[1..]);
            assert_eq!(short, Err(ReturnCode::SignatureLenRange));
            signatures.push((kind, signature));
        }
        // A signature of one mechanism is none of another.
        for (signed, signature) in &signatures {
            for (kind, _) in &signatures {
                let answer =
                    user.verify(&context(*kind, PREFERRED, b"a context"), public, message, signature);
                assert_eq!(answer.is_ok(), signed == kind, "{signed} {kind}");
            }
        }
    }
}

#[test]
fn the_parameter_decides_about_randomness() {
    let user = User::new();
    let (public, private) = dsa_pair(&user, value::CKP_ML_DSA_44);
    let sign = |mechanism: &Mechanism<'_>| user.sign(mechanism, private, b"m").unwrap();
    let deterministic = context(M::ML_DSA, DETERMINISTIC, b"");
    assert_eq!(sign(&deterministic), sign(&deterministic));
    for mechanism in [
        Mechanism::plain(M::ML_DSA),
        context(M::ML_DSA, PREFERRED, b""),
        context(M::ML_DSA, value::CKH_HEDGE_REQUIRED, b""),
    ] {
        let signatures = [sign(&mechanism), sign(&mechanism)];
        assert_ne!(signatures[0], signatures[1]);
        for signature in signatures {
            assert_eq!(user.verify(&deterministic, public, b"m", &signature), Ok(()));
        }
    }
    // A verification ignores the field.
    let signature = sign(&deterministic);
    assert_eq!(user.verify(&context(M::ML_DSA, 77, b""), public, b"m", &signature), Ok(()));
}

#[test]
fn a_digest_is_signed_as_its_message() {
    let user = User::new();
    let (public, private) = dsa_pair(&user, value::CKP_ML_DSA_65);
    let message = b"a message";
    for (kind, hash) in HASHES {
        let given =
            Mechanism::new(M::HASH_ML_DSA, P::HashSignContext { hedge: DETERMINISTIC, context: b"c", hash });
        let hashed = context(kind, DETERMINISTIC, b"c");
        let signature = user.sign(&hashed, private, message).unwrap();
        if hash != M::SHA3_224 {
            user.cryptoki.digest_init(user.session, &Mechanism::plain(hash)).unwrap();
            let digest = take(|output| user.cryptoki.digest(user.session, message, output)).unwrap();
            assert_eq!(user.sign(&given, private, &digest).as_ref(), Ok(&signature), "{kind}");
            assert_eq!(user.verify(&given, public, &digest, &signature), Ok(()), "{kind}");
        }
        for len in [0, 27, 65] {
            let wrong = user.sign(&given, private, &vec![1; len]);
            assert_eq!(wrong, Err(ReturnCode::DataLenRange), "{kind} {len}");
        }
    }
}

#[test]
fn a_signed_digest_is_bound_to_its_name() {
    let user = User::new();
    let (public, private) = dsa_pair(&user, value::CKP_ML_DSA_44);
    // Digests of one length: the name alone distinguishes them.
    for hashes in [&[M::SHA256, M::SHA3_256, M::SHA512_256][..], &[M::SHA224, M::SHA3_224, M::SHA512_224]] {
        let digest = vec![7; if hashes[0] == M::SHA256 { 32 } else { 28 }];
        let named = |hash| {
            Mechanism::new(M::HASH_ML_DSA, P::HashSignContext { hedge: PREFERRED, context: &[], hash })
        };
        for signed in hashes {
            let signature = user.sign(&named(*signed), private, &digest).unwrap();
            for hash in hashes {
                let answer = user.verify(&named(*hash), public, &digest, &signature);
                let expected = if hash == signed { Ok(()) } else { Err(ReturnCode::SignatureInvalid) };
                assert_eq!(answer, expected, "{signed} {hash}");
            }
        }
    }
}

#[test]
fn bad_parameters_begin_no_signature() {
    let user = User::new();
    let (public, private) = dsa_pair(&user, value::CKP_ML_DSA_44);
    let invalid = Err(ReturnCode::MechanismParamInvalid);
    let long = [7; 256];
    let hash = |hash| P::HashSignContext { hedge: PREFERRED, context: &[], hash };
    let long_hash = P::HashSignContext { hedge: PREFERRED, context: &long, hash: M::SHA256 };
    let wild_hash = P::HashSignContext { hedge: 3, context: &[], hash: M::SHA256 };
    for mechanism in [
        context(M::ML_DSA, PREFERRED, &long),
        context(M::HASH_ML_DSA_SHA256, PREFERRED, &long),
        context(M::ML_DSA, 3, &[]),
        context(M::ML_DSA, u64::MAX, &[]),
        Mechanism::new(M::HASH_ML_DSA, long_hash),
        Mechanism::new(M::HASH_ML_DSA, wild_hash),
        Mechanism::new(M::HASH_ML_DSA, hash(M::AES_CBC)),
        Mechanism::new(M::HASH_ML_DSA, hash(M::SHA_1)),
        Mechanism::new(M::HASH_ML_DSA, hash(M(u64::MAX))),
        Mechanism::plain(M::HASH_ML_DSA),
        context(M::HASH_ML_DSA, PREFERRED, &[]),
        Mechanism::new(M::ML_DSA, hash(M::SHA256)),
        Mechanism::new(M::HASH_ML_DSA_SHA256, hash(M::SHA256)),
        Mechanism::new(M::ML_DSA, P::Iv(&[1; 16])),
    ] {
        let begun = user.cryptoki.sign_init(user.session, &mechanism, private);
        assert_eq!(begun, invalid, "{mechanism:?}");
        if !matches!(
            mechanism.parameters,
            P::SignContext { hedge: 3.., .. } | P::HashSignContext { hedge: 3.., .. }
        ) {
            let begun = user.cryptoki.verify_init(user.session, &mechanism, public);
            assert_eq!(begun, invalid, "{mechanism:?}");
        }
    }
    let longest = context(M::ML_DSA, PREFERRED, &long[1..]);
    let signature = user.sign(&longest, private, b"m").unwrap();
    assert_eq!(user.verify(&longest, public, b"m", &signature), Ok(()));
    let (_, kem) = kem_pair(&user, 1);
    let begun = user.cryptoki.sign_init(user.session, &Mechanism::plain(M::ML_DSA), kem);
    assert_eq!(begun, Err(ReturnCode::KeyTypeInconsistent));
}

#[test]
fn messages_and_many_inputs_are_signed_under_one_context() {
    let user = User::new();
    let (public, private) = dsa_pair(&user, value::CKP_ML_DSA_44);
    let (library, session) = (&user.cryptoki, user.session);
    let mechanism = context(M::ML_DSA, DETERMINISTIC, b"c");
    library.message_sign_init(session, &mechanism, private).unwrap();
    library.message_verify_init(session, &mechanism, public).unwrap();
    for message in [&b"one"[..], b"two"] {
        let signature = take(|output| library.sign_message(session, message, output)).unwrap();
        assert_eq!(user.sign(&mechanism, private, message).as_ref(), Ok(&signature));
        assert_eq!(library.verify_message(session, message, &signature), Ok(()));
        let other = library.verify_message(session, b"three", &signature);
        assert_eq!(other, Err(ReturnCode::SignatureInvalid));
    }
    let data = [5; 30];
    let inputs = ManyInputs { data: &data, spans: ManySpans::Stride { count: 3, len: 10, stride: 10 } };
    let answers = library.sign_many(session, &mechanism, private, inputs).unwrap();
    let signatures: Vec<u8> = answers.iter().flat_map(|answer| answer.unwrap().to_vec()).collect();
    assert_eq!(signatures[..2420], user.sign(&mechanism, private, &data[..10]).unwrap());
    let spans = ManySpans::Stride { count: 3, len: 2420, stride: 2420 };
    let given = ManyInputs { data: &signatures, spans };
    let verified = library.verify_many(session, &mechanism, public, inputs, given).unwrap();
    assert!(verified.iter().all(|answer| answer.is_ok()));
    let plain = Mechanism::plain(M::ML_DSA);
    let verified = library.verify_many(session, &plain, public, inputs, given).unwrap();
    assert!(verified.iter().all(|answer| answer == Err(ReturnCode::SignatureInvalid)));
}

#[test]
fn asynchronous_sessions_complete_them() {
    let user = User::new();
    let (public, private) = dsa_pair(&user, value::CKP_ML_DSA_65);
    let (kem_public, kem_private) = kem_pair(&user, value::CKP_ML_KEM_768);
    let library = &user.cryptoki;
    let session = library.open_session(SLOT, READ_WRITE | session_flags::ASYNC_SESSION).unwrap();
    let complete = |function: &str| {
        loop {
            match library.async_complete(session, function) {
                Err(ReturnCode::Pending) => std::thread::yield_now(),
                answer => return answer.unwrap(),
            }
        }
    };
    let mechanism = context(M::ML_DSA, DETERMINISTIC, b"c");
    library.sign_init(session, &mechanism, private).unwrap();
    let mut signature = vec![0; 3309];
    let signed = library.sign(session, b"m", &mut CallOutput::new(&mut signature));
    assert_eq!(signed, Err(ReturnCode::Pending));
    let signature = complete("C_Sign").bytes;
    assert_eq!(user.verify(&mechanism, public, b"m", &signature), Ok(()));
    let template = Template::new().readable();
    let (entries, kem, mut ciphertext) = (template.entries(), Mechanism::plain(M::ML_KEM), vec![0; 1088]);
    let mut output = CallOutput::new(&mut ciphertext);
    let made = library.encapsulate_key(session, &kem, kem_public, &entries, &mut output);
    assert_eq!(made, Err(ReturnCode::Pending));
    let made = complete("C_EncapsulateKey");
    assert_eq!(made.bytes.len(), 1088);
    let opened = library.decapsulate_key(session, &kem, kem_private, &entries, &made.bytes);
    assert_eq!(opened, Err(ReturnCode::Pending));
    let opened = complete("C_DecapsulateKey").object.unwrap();
    assert_eq!(user.get(opened, A::VALUE), user.get(made.object.unwrap(), A::VALUE));
    // A bad ciphertext fails when the call is completed.
    let short = library.decapsulate_key(session, &kem, kem_private, &entries, &made.bytes[1..]);
    assert_eq!(short, Err(ReturnCode::Pending));
    let short = loop {
        match library.async_complete(session, "C_DecapsulateKey") {
            Err(ReturnCode::Pending) => std::thread::yield_now(),
            answer => break answer.map(|_| ()),
        }
    };
    assert_eq!(short, Err(ReturnCode::WrappedKeyInvalid));
    let set = usize::to_ne_bytes(3);
    let pair = library.generate_key_pair(
        session,
        &Mechanism::plain(M::ML_DSA_KEY_PAIR_GEN),
        &[TemplateEntry::new(A::PARAMETER_SET, &set)],
        &[],
    );
    assert_eq!(pair, Err(ReturnCode::Pending));
    let pair = complete("C_GenerateKeyPair");
    assert_eq!(user.get(pair.object.unwrap(), A::VALUE).unwrap().len(), 2592);
}

#[test]
fn a_stored_key_works_in_another_library() {
    let user = User::new();
    let set = Template::new().number(A::PARAMETER_SET, 2).flag(A::TOKEN, true).bytes(A::LABEL, b"stored");
    let stored = Template::new().flag(A::TOKEN, true).bytes(A::LABEL, b"stored").readable();
    user.pair(M::ML_DSA_KEY_PAIR_GEN, &set, &stored).unwrap();
    let (_, seeded) = user.pair(M::ML_KEM_KEY_PAIR_GEN, &set, &stored).unwrap();
    let expanded = user.get(seeded, A::VALUE).unwrap();
    let alone = private(KeyTypeNumber::ML_KEM, 2).bytes(A::VALUE, &expanded);
    let alone = alone.flag(A::TOKEN, true).bytes(A::LABEL, b"expanded").readable();
    user.create(&alone).unwrap();
    let again = user.reopened();
    let find = |class, key_type: KeyTypeNumber, label| {
        let wanted = Template::class(class).number(A::KEY_TYPE, key_type.0).bytes(A::LABEL, label);
        again.find(&wanted)[0]
    };
    let signing = find(ObjectClass::PRIVATE_KEY, KeyTypeNumber::ML_DSA, b"stored");
    let verifying = find(ObjectClass::PUBLIC_KEY, KeyTypeNumber::ML_DSA, b"stored");
    let mechanism = Mechanism::plain(M::ML_DSA);
    let signature = again.sign(&mechanism, signing, b"m").unwrap();
    assert_eq!(again.verify(&mechanism, verifying, b"m", &signature), Ok(()));
    let public = find(ObjectClass::PUBLIC_KEY, KeyTypeNumber::ML_KEM, b"stored");
    let (ciphertext, sent) = encapsulate(&again, public, &Template::new().readable()).unwrap();
    for label in [&b"stored"[..], b"expanded"] {
        let key = find(ObjectClass::PRIVATE_KEY, KeyTypeNumber::ML_KEM, label);
        assert_eq!(again.get(key, A::VALUE), Ok(expanded.clone()));
        let received = decapsulate(&again, key, &Template::new().readable(), &ciphertext).unwrap();
        assert_eq!(again.get(received, A::VALUE), again.get(sent, A::VALUE));
    }
}
