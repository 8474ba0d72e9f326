//! Many messages under one key: ciphers with generated IVs, and signatures.

use oarlock_cryptoki::{
    AttributeType as A, CallOutput, IvGenerator, KeyTypeNumber, Mechanism, MechanismParameters as P,
    MechanismType as M, MessageParameters, ReturnCode, mechanism_flags,
};

use crate::common::*;

fn parameters<'a>(iv: &'a mut [u8], generator: IvGenerator, tag: &'a mut [u8]) -> MessageParameters<'a> {
    MessageParameters { iv, fixed_bits: 32, generator, tag }
}

#[test]
fn messages_are_sealed_under_generated_ivs_and_opened() {
    let user = User::new();
    let (library, session) = (&user.cryptoki, user.session);
    let key = user.create(&Template::secret(KeyTypeNumber::AES, &[1; 16])).unwrap();
    let gcm = Mechanism::plain(M::AES_GCM);
    library.message_encrypt_init(session, &gcm, key).unwrap();
    library.message_decrypt_init(session, &gcm, key).unwrap();
    let mut seen: Vec<[u8; 12]> = Vec::new();
    for generator in [IvGenerator::Any, IvGenerator::Counter, IvGenerator::Counter, IvGenerator::Random] {
        let (mut iv, mut tag) = ([7; 12], [0; 16]);
        let mut message = parameters(&mut iv, generator, &mut tag);
        let mut sealed = [0; 20];
        let mut output = CallOutput::new(&mut sealed);
        library.encrypt_message(session, &mut message, b"aad", &[9; 20], &mut output).unwrap();
        assert_eq!(output.len(), 20);
        assert_eq!(iv[..4], [7; 4], "fixed bits stay");
        assert!(!seen.contains(&iv));
        seen.push(iv);
        // The same as one operation by itself.
        let single = Mechanism::new(M::AES_GCM, P::Gcm { iv: &iv, aad: b"aad", tag_bits: 128 });
        assert_eq!(user.encrypt(&single, key, &[9; 20]).unwrap(), [&sealed[..], &tag].concat());
        let mut opened = [0; 20];
        let mut message = parameters(&mut iv, generator, &mut tag);
        let mut output = CallOutput::new(&mut opened);
        library.decrypt_message(session, &mut message, b"aad", &sealed, &mut output).unwrap();
        assert_eq!(opened, [9; 20]);
        // A bad message fails alone.
        tag[0] ^= 1;
        let mut message = parameters(&mut iv, generator, &mut tag);
        let bad = library.decrypt_message(
            session,
            &mut message,
            b"aad",
            &sealed,
            &mut CallOutput::new(&mut opened),
        );
        assert_eq!(bad, Err(ReturnCode::AeadDecryptFailed));
    }
    assert_eq!(library.message_encrypt_final(session), Ok(()));
    assert_eq!(library.message_encrypt_final(session), Err(ReturnCode::OperationNotInitialized));
    assert_eq!(library.message_decrypt_final(session), Ok(()));
}

#[test]
fn a_message_in_pieces_is_the_whole_message() {
    let user = User::new();
    let (library, session) = (&user.cryptoki, user.session);
    let key = user.create(&Template::secret(KeyTypeNumber::CHACHA20, &[1; 32])).unwrap();
    let chacha = Mechanism::plain(M::CHACHA20_POLY1305);
    let (mut iv, mut tag) = ([7; 12], [0; 16]);
    let single = Mechanism::new(M::CHACHA20_POLY1305, P::ChaCha20Poly1305 { nonce: &[7; 12], aad: b"aad" });
    let expected = user.encrypt(&single, key, b"one two").unwrap();
    library.message_encrypt_init(session, &chacha, key).unwrap();
    let mut message = parameters(&mut iv, IvGenerator::None, &mut tag);
    let early =
        library.encrypt_message_next(session, &mut message, b"one", false, &mut CallOutput::length_only());
    assert_eq!(early, Err(ReturnCode::OperationNotInitialized));
    library.encrypt_message_begin(session, &mut message, b"aad").unwrap();
    assert_eq!(
        library.encrypt_message_begin(session, &mut message, b"aad"),
        Err(ReturnCode::OperationActive)
    );
    let whole =
        library.encrypt_message(session, &mut message, b"aad", b"x", &mut CallOutput::new(&mut [0; 1]));
    assert_eq!(whole, Err(ReturnCode::OperationActive));
    let mut nothing = CallOutput::new(&mut []);
    library.encrypt_message_next(session, &mut message, b"one ", false, &mut nothing).unwrap();
    assert_eq!(nothing.len(), 0);
    let sealed =
        take(|output| library.encrypt_message_next(session, &mut message, b"two", true, output)).unwrap();
    assert_eq!([&sealed[..], message.tag].concat(), expected);
    library.message_decrypt_init(session, &chacha, key).unwrap();
    library.decrypt_message_begin(session, &mut message, b"aad").unwrap();
    let (first, last) = sealed.split_at(2);
    library.decrypt_message_next(session, &mut message, first, false, &mut CallOutput::new(&mut [])).unwrap();
    let opened =
        take(|output| library.decrypt_message_next(session, &mut message, last, true, output)).unwrap();
    assert_eq!(opened, b"one two");
}

#[test]
fn a_message_beyond_the_limit_ends_and_the_next_one_begins() {
    let user = User::new();
    let (library, session) = (&user.cryptoki, user.session);
    let key = user.create(&Template::secret(KeyTypeNumber::AES, &[1; 16])).unwrap();
    let (mut iv, mut tag) = ([7; 12], [0; 16]);
    let mut message = parameters(&mut iv, IvGenerator::None, &mut tag);
    // Nobody writes to it, so it needs no memory.
    let long = vec![0; 1 << 30];
    library.message_decrypt_init(session, &Mechanism::plain(M::AES_GCM), key).unwrap();
    library.decrypt_message_begin(session, &mut message, b"aad").unwrap();
    let mut next = |piece: &[u8]| {
        library.decrypt_message_next(session, &mut message, piece, false, &mut CallOutput::new(&mut []))
    };
    assert_eq!(next(&long[..5]), Ok(()));
    assert_eq!(next(&long), Err(ReturnCode::EncryptedDataLenRange));
    assert_eq!(next(&long[..5]), Err(ReturnCode::OperationNotInitialized));
    assert_eq!(library.decrypt_message_begin(session, &mut message, b"aad"), Ok(()));
}

#[test]
fn bad_parameters_of_a_message_are_rejected() {
    let user = User::new();
    let (library, session) = (&user.cryptoki, user.session);
    let key = user.create(&Template::secret(KeyTypeNumber::AES, &[1; 16])).unwrap();
    let gcm = P::Gcm { iv: &[0; 12], aad: &[], tag_bits: 128 };
    let with_parameter = library.message_encrypt_init(session, &Mechanism::new(M::AES_GCM, gcm), key);
    assert_eq!(with_parameter, Err(ReturnCode::MechanismParamInvalid));
    let cbc = Mechanism::plain(M::AES_CBC);
    assert_eq!(library.message_encrypt_init(session, &cbc, key), Err(ReturnCode::MechanismInvalid));
    library.message_encrypt_init(session, &Mechanism::plain(M::AES_GCM), key).unwrap();
    let again = library.message_encrypt_init(session, &Mechanism::plain(M::AES_GCM), key);
    assert_eq!(again, Err(ReturnCode::OperationActive));
    for (iv_len, fixed_bits, generator, tag_len) in [
        (0, 0, IvGenerator::None, 16),
        (12, 0, IvGenerator::None, 17),
        (12, 0, IvGenerator::None, 3),
        (12, 97, IvGenerator::Random, 16),
        (12, 40, IvGenerator::Counter, 16),
    ] {
        let (mut iv, mut tag) = (vec![0; iv_len], vec![0; tag_len]);
        let mut message = MessageParameters { iv: &mut iv, fixed_bits, generator, tag: &mut tag };
        let sealed =
            library.encrypt_message(session, &mut message, &[], b"m", &mut CallOutput::new(&mut [0; 1]));
        assert_eq!(sealed, Err(ReturnCode::MechanismParamInvalid));
    }
    library.session_cancel(session, mechanism_flags::MESSAGE_ENCRYPT).unwrap();
    assert_eq!(library.message_encrypt_final(session), Err(ReturnCode::OperationNotInitialized));
    let closed = Template::secret(KeyTypeNumber::AES, &[1; 16]).flag(A::ENCRYPT, false);
    let closed = user.create(&closed).unwrap();
    let forbidden = library.message_encrypt_init(session, &Mechanism::plain(M::AES_GCM), closed);
    assert_eq!(forbidden, Err(ReturnCode::KeyFunctionNotPermitted));
}

#[test]
fn messages_are_signed_and_verified_whole_and_in_pieces() {
    let user = User::new();
    let (library, session) = (&user.cryptoki, user.session);
    let public = Template::new().bytes(A::EC_PARAMS, P256);
    let (public, private) = user.pair(M::EC_KEY_PAIR_GEN, &public, &Template::new()).unwrap();
    let mechanism = Mechanism::plain(M::ECDSA_SHA256);
    library.message_sign_init(session, &mechanism, private).unwrap();
    library.message_verify_init(session, &mechanism, public).unwrap();
    for _ in 0..2 {
        let whole = take(|output| library.sign_message(session, b"one two", output)).unwrap();
        assert_eq!(user.verify(&mechanism, public, b"one two", &whole), Ok(()));
        library.sign_message_begin(session).unwrap();
        library.sign_message_next(session, b"one ", None).unwrap();
        let pieces = take(|output| library.sign_message_next(session, b"two", Some(output))).unwrap();
        assert_eq!(library.verify_message(session, b"one two", &pieces), Ok(()));
        assert_eq!(library.verify_message(session, b"one", &pieces), Err(ReturnCode::SignatureInvalid));
        library.verify_message_begin(session).unwrap();
        let whole_now = library.verify_message(session, b"one two", &whole);
        assert_eq!(whole_now, Err(ReturnCode::OperationActive));
        library.verify_message_next(session, b"one ", None).unwrap();
        assert_eq!(library.verify_message_next(session, b"two", Some(&whole)), Ok(()));
        let over = library.verify_message_next(session, b"two", None);
        assert_eq!(over, Err(ReturnCode::OperationNotInitialized));
    }
    assert_eq!(library.message_sign_final(session), Ok(()));
    assert_eq!(library.message_verify_final(session), Ok(()));
    let signed = library.sign_message(session, b"m", &mut CallOutput::new(&mut [0; 64]));
    assert_eq!(signed, Err(ReturnCode::OperationNotInitialized));
}

#[test]
fn a_key_that_wants_the_pin_each_time_is_not_for_many_messages() {
    let user = User::new();
    let public = Template::new().bytes(A::EC_PARAMS, P256);
    let private = Template::new().flag(A::ALWAYS_AUTHENTICATE, true);
    let (_, private) = user.pair(M::EC_KEY_PAIR_GEN, &public, &private).unwrap();
    let begun = user.cryptoki.message_sign_init(user.session, &Mechanism::plain(M::ECDSA_SHA256), private);
    assert_eq!(begun, Err(ReturnCode::KeyFunctionNotPermitted));
}
