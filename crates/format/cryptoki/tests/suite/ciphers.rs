//! Encryption and decryption: published vectors, pieces, lengths and parameters.

use oarlock_cryptoki::{
    AttributeType as A, CallOutput, KeyTypeNumber, Mechanism, MechanismParameters as P, MechanismType as M,
    ObjectHandle, ReturnCode, parameter_values as value,
};

use crate::common::*;

/// NIST SP 800-38A, appendix F.
const KEY: &str = "2b7e151628aed2a6abf7158809cf4f3c";
const PLAINTEXT: &str = "6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51
    30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710";
const IV: &str = "000102030405060708090a0b0c0d0e0f";

fn aes(user: &User, value: &[u8]) -> ObjectHandle {
    user.create(&Template::secret(KeyTypeNumber::AES, value)).unwrap()
}

/// Encrypts and decrypts in one step and in pieces of every length, and compares with the vector.
fn check_vector(mechanism: &Mechanism<'_>, key: &str, plaintext: &str, ciphertext: &str) {
    let user = User::new();
    let key = aes(&user, &hex(key));
    let (plaintext, ciphertext) = (hex(plaintext), hex(ciphertext));
    assert_eq!(user.encrypt(mechanism, key, &plaintext).unwrap(), ciphertext);
    assert_eq!(user.decrypt(mechanism, key, &ciphertext).unwrap(), plaintext);
    let (library, session) = (&user.cryptoki, user.session);
    for len in [1, 5, 15, 16, 17, 31, 32, 33, 64] {
        library.encrypt_init(session, mechanism, key).unwrap();
        let mut out = Vec::new();
        for piece in plaintext.chunks(len) {
            out.extend(take(|output| library.encrypt_update(session, piece, output)).unwrap());
        }
        out.extend(take(|output| library.encrypt_final(session, output)).unwrap());
        assert_eq!(out, ciphertext, "pieces of {len}");
        library.decrypt_init(session, mechanism, key).unwrap();
        let mut out = Vec::new();
        for piece in ciphertext.chunks(len) {
            out.extend(take(|output| library.decrypt_update(session, piece, output)).unwrap());
        }
        out.extend(take(|output| library.decrypt_final(session, output)).unwrap());
        assert_eq!(out, plaintext, "pieces of {len}");
        let after = library.decrypt_final(session, &mut CallOutput::length_only());
        // Ended by the call before, unless that only asked for an empty output.
        assert!(matches!(after, Err(ReturnCode::OperationNotInitialized) | Ok(())));
        library.session_cancel(session, 0x300).unwrap();
    }
}

#[test]
fn ecb_matches_sp_800_38a_f_1_1() {
    let ciphertext = "3ad77bb40d7a3660a89ecaf32466ef97 f5d3d58503b9699de785895a96fdbaaf
        43b1cd7f598ece23881b00e3ed030688 7b0c785e27e8ad3f8223207104725dd4";
    check_vector(&Mechanism::plain(M::AES_ECB), KEY, PLAINTEXT, ciphertext);
}

#[test]
fn cbc_matches_sp_800_38a_f_2_1() {
    let ciphertext = "7649abac8119b246cee98e9b12e9197d 5086cb9b507219ee95db113a917678b2
        73bed6b8e3c1743b7116e69e22229516 3ff1caa1681fac09120eca307586e1a7";
    let iv = hex(IV);
    check_vector(&Mechanism::new(M::AES_CBC, P::Iv(&iv)), KEY, PLAINTEXT, ciphertext);
}

#[test]
fn ctr_matches_sp_800_38a_f_5_5() {
    let key = "603deb1015ca71be2b73aef0857d7781 1f352c073b6108d72d9810a30914dff4";
    let ciphertext = "601ec313775789a5b7a7f504bbf3d228 f443e3ca4d62b59aca84e990cacaf5c5
        2b0930daa23de94ce87017ba2d84988d dfc9c58db67aada613c2dd08457941a6";
    let block = hex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff").try_into().unwrap();
    for bits in [32, 64, 128] {
        check_vector(&Mechanism::new(M::AES_CTR, P::Counter { bits, block }), key, PLAINTEXT, ciphertext);
    }
}

#[test]
fn a_counter_that_would_repeat_is_refused() {
    let user = User::new();
    let key = aes(&user, &[1; 16]);
    let mut block = [0; 16];
    block[15] = 0xFE;
    let eight = Mechanism::new(M::AES_CTR, P::Counter { bits: 8, block });
    assert_eq!(user.encrypt(&eight, key, &[0; 32]).unwrap().len(), 32);
    assert_eq!(user.encrypt(&eight, key, &[0; 33]).unwrap_err(), ReturnCode::DataLenRange);
    for bits in [0, 129, u64::MAX] {
        let mechanism = Mechanism::new(M::AES_CTR, P::Counter { bits, block });
        let init = user.cryptoki.encrypt_init(user.session, &mechanism, key);
        assert_eq!(init.unwrap_err(), ReturnCode::MechanismParamInvalid);
    }
}

#[test]
fn gcm_in_pieces_gives_the_plaintext_only_at_the_end() {
    let user = User::new();
    let key = aes(&user, &[1; 32]);
    let mechanism = Mechanism::new(M::AES_GCM, P::Gcm { iv: &[2; 12], aad: b"aad", tag_bits: 96 });
    let sealed = user.encrypt(&mechanism, key, b"a message of some bytes").unwrap();
    assert_eq!(sealed.len(), 23 + 12);
    let (library, session) = (&user.cryptoki, user.session);
    let open = |sealed: &[u8]| {
        library.decrypt_init(session, &mechanism, key).unwrap();
        for piece in sealed.chunks(7) {
            assert!(take(|output| library.decrypt_update(session, piece, output)).unwrap().is_empty());
        }
        take(|output| library.decrypt_final(session, output))
    };
    assert_eq!(open(&sealed).unwrap(), b"a message of some bytes");
    for index in 0..sealed.len() {
        let mut bad = sealed.clone();
        bad[index] ^= 1;
        assert_eq!(open(&bad).unwrap_err(), ReturnCode::AeadDecryptFailed);
    }
    assert_eq!(open(&sealed[..11]).unwrap_err(), ReturnCode::EncryptedDataLenRange);
}

#[test]
fn pieces_of_gcm_beyond_the_limit_end_the_operation() {
    let user = User::new();
    let key = aes(&user, &[1; 32]);
    let mechanism = Mechanism::new(M::AES_GCM, P::Gcm { iv: &[2; 12], aad: b"aad", tag_bits: 96 });
    let (library, session) = (&user.cryptoki, user.session);
    // Nobody writes to it, so it needs no memory.
    let long = vec![0; 1 << 30];
    let update = |piece: &[u8]| {
        let mut none = CallOutput::new(&mut []);
        library.decrypt_update(session, piece, &mut none).map(|()| none.len())
    };
    library.decrypt_init(session, &mechanism, key).unwrap();
    assert_eq!(update(&long[..20]), Ok(0));
    assert_eq!(update(&long), Err(ReturnCode::EncryptedDataLenRange));
    assert_eq!(update(&long[..20]), Err(ReturnCode::OperationNotInitialized));
    library.encrypt_init(session, &mechanism, key).unwrap();
    let mut none = CallOutput::new(&mut []);
    library.encrypt_update(session, &long[..1], &mut none).unwrap();
    assert_eq!(library.encrypt_update(session, &long, &mut none), Err(ReturnCode::DataLenRange));
    let ended = library.encrypt_final(session, &mut none);
    assert_eq!(ended, Err(ReturnCode::OperationNotInitialized));
}

#[test]
fn parameters_that_do_not_fit_are_refused() {
    let user = User::new();
    let key = aes(&user, &[1; 16]);
    let init = |kind, parameters| {
        user.cryptoki.encrypt_init(user.session, &Mechanism::new(kind, parameters), key).unwrap_err()
    };
    let gcm = |iv, tag_bits| P::Gcm { iv, aad: &[], tag_bits };
    for (kind, parameters) in [
        (M::AES_CBC, P::None),
        (M::AES_CBC, P::Iv(&[0; 15])),
        (M::AES_CBC_PAD, P::Iv(&[0; 17])),
        (M::AES_ECB, P::Iv(&[0; 16])),
        (M::AES_GCM, gcm(&[], 128)),
        (M::AES_GCM, gcm(&[0; 12], 0)),
        (M::AES_GCM, gcm(&[0; 12], 127)),
        (M::AES_GCM, gcm(&[0; 12], 136)),
        (M::AES_GCM, gcm(&[0; 12], u64::MAX)),
        (M::AES_KEY_WRAP, P::Iv(&[0; 8])),
        (M::AES_KEY_WRAP_KWP, P::Iv(&[0xA6; 4])),
    ] {
        assert_eq!(init(kind, parameters), ReturnCode::MechanismParamInvalid, "{kind} {parameters:?}");
    }
    assert_eq!(init(M::AES_CMAC, P::None), ReturnCode::MechanismInvalid);
    assert_eq!(init(M(0x1082_0000), P::None), ReturnCode::MechanismInvalid);
    assert_eq!(init(M::RSA_PKCS, P::None), ReturnCode::KeyTypeInconsistent);
}

#[test]
fn lengths_that_do_not_fit_end_the_operation() {
    let user = User::new();
    let key = aes(&user, &[1; 16]);
    let cbc = Mechanism::new(M::AES_CBC, P::Iv(&[0; 16]));
    assert_eq!(user.encrypt(&cbc, key, &[0; 15]).unwrap_err(), ReturnCode::DataLenRange);
    assert_eq!(user.decrypt(&cbc, key, &[0; 17]).unwrap_err(), ReturnCode::EncryptedDataLenRange);
    let padded = Mechanism::new(M::AES_CBC_PAD, P::Iv(&[0; 16]));
    assert_eq!(user.decrypt(&padded, key, &[]).unwrap_err(), ReturnCode::EncryptedDataLenRange);
    let (library, session) = (&user.cryptoki, user.session);
    library.encrypt_init(session, &cbc, key).unwrap();
    assert_eq!(take(|output| library.encrypt_update(session, &[0; 17], output)).unwrap().len(), 16);
    let mixed = library.encrypt(session, &[0; 16], &mut CallOutput::new(&mut [0; 16]));
    assert_eq!(mixed.unwrap_err(), ReturnCode::OperationActive);
    let ended = library.encrypt_final(session, &mut CallOutput::new(&mut [0; 16]));
    assert_eq!(ended.unwrap_err(), ReturnCode::OperationNotInitialized);
    library.encrypt_init(session, &cbc, key).unwrap();
    assert_eq!(take(|output| library.encrypt_update(session, &[0; 17], output)).unwrap().len(), 16);
    let end = library.encrypt_final(session, &mut CallOutput::new(&mut [0; 16]));
    assert_eq!(end.unwrap_err(), ReturnCode::DataLenRange);
    let after = library.encrypt_final(session, &mut CallOutput::new(&mut [0; 16]));
    assert_eq!(after.unwrap_err(), ReturnCode::OperationNotInitialized);
}

#[test]
fn a_key_without_the_use_does_not_encrypt() {
    let user = User::new();
    let template = Template::secret(KeyTypeNumber::AES, &[1; 16]).flag(A::ENCRYPT, false);
    let key = user.create(&template).unwrap();
    let ecb = Mechanism::plain(M::AES_ECB);
    let init = user.cryptoki.encrypt_init(user.session, &ecb, key);
    assert_eq!(init.unwrap_err(), ReturnCode::KeyFunctionNotPermitted);
    user.cryptoki.decrypt_init(user.session, &ecb, key).unwrap();
}

#[test]
fn rsa_encrypts_for_its_own_decryption() {
    let user = User::new();
    let public = Template::new().number(A::MODULUS_BITS, 2048);
    let (public, private) = user.pair(M::RSA_PKCS_KEY_PAIR_GEN, &public, &Template::new()).unwrap();
    let oaep = |hash, mgf, label| P::Oaep { hash, mgf, source: value::CKZ_DATA_SPECIFIED, label };
    for mechanism in [
        Mechanism::plain(M::RSA_PKCS),
        Mechanism::new(M::RSA_PKCS_OAEP, oaep(M::SHA_1, value::CKG_MGF1_SHA1, &[])),
        Mechanism::new(M::RSA_PKCS_OAEP, oaep(M::SHA256, value::CKG_MGF1_SHA256, b"label")),
        Mechanism::new(M::RSA_PKCS_OAEP, oaep(M::SHA384, value::CKG_MGF1_SHA224, &[])),
    ] {
        for message in [&b""[..], b"a message", &[0xFF; 62]] {
            let ciphertext = user.encrypt(&mechanism, public, message).unwrap();
            assert_ne!(user.encrypt(&mechanism, public, message).unwrap(), ciphertext, "padding is random");
            assert_eq!(user.decrypt(&mechanism, private, &ciphertext).unwrap(), message, "{mechanism:?}");
        }
        let long = user.encrypt(&mechanism, public, &[1; 246]);
        assert_eq!(long.unwrap_err(), ReturnCode::DataLenRange, "{mechanism:?}");
        let short = user.decrypt(&mechanism, private, &[1; 255]);
        assert_eq!(short.unwrap_err(), ReturnCode::EncryptedDataLenRange);
    }
    let unknown = Mechanism::new(M::RSA_PKCS_OAEP, oaep(M::AES_CBC, value::CKG_MGF1_SHA1, &[]));
    let init = user.cryptoki.encrypt_init(user.session, &unknown, public);
    assert_eq!(init.unwrap_err(), ReturnCode::MechanismParamInvalid);
    let raw = Mechanism::plain(M::RSA_X_509);
    let ciphertext = user.encrypt(&raw, public, &[7; 255]).unwrap();
    assert_eq!(user.decrypt(&raw, private, &ciphertext).unwrap(), [&[0][..], &[7; 255]].concat());
    assert_eq!(user.encrypt(&raw, public, &[0xFF; 256]).unwrap_err(), ReturnCode::DataInvalid);
}

#[test]
fn a_buffer_for_the_plaintext_alone_is_enough() {
    let user = User::new();
    let key = aes(&user, &[1; 16]);
    let mechanism = Mechanism::new(M::AES_CBC_PAD, P::Iv(&[0; 16]));
    let ciphertext = user.encrypt(&mechanism, key, b"short").unwrap();
    user.cryptoki.decrypt_init(user.session, &mechanism, key).unwrap();
    let mut four = [0; 4];
    let mut output = CallOutput::new(&mut four);
    let short = user.cryptoki.decrypt(user.session, &ciphertext, &mut output);
    assert_eq!((short, output.len()), (Err(ReturnCode::BufferTooSmall), 5));
    let mut five = [0; 5];
    user.cryptoki.decrypt(user.session, &ciphertext, &mut CallOutput::new(&mut five)).unwrap();
    assert_eq!(&five, b"short");
}

#[test]
fn a_digest_beside_a_cipher_sees_the_plaintext() {
    let user = User::new();
    let key = aes(&user, &[1; 16]);
    let (library, session) = (&user.cryptoki, user.session);
    let ctr = Mechanism::new(M::AES_CTR, P::Counter { bits: 64, block: [0; 16] });
    let sha = Mechanism::plain(M::SHA256);
    let none = library.digest_encrypt_update(session, b"a", &mut CallOutput::length_only());
    assert_eq!(none.unwrap_err(), ReturnCode::OperationNotInitialized);
    library.digest_init(session, &sha).unwrap();
    library.encrypt_init(session, &ctr, key).unwrap();
    let ciphertext = take(|output| library.digest_encrypt_update(session, b"abc", output)).unwrap();
    let digest = take(|output| library.digest_final(session, output)).unwrap();
    assert_eq!(digest[..4], [0xba, 0x78, 0x16, 0xbf]);
    library.digest_init(session, &sha).unwrap();
    library.decrypt_init(session, &ctr, key).unwrap();
    let plaintext = take(|output| library.decrypt_digest_update(session, &ciphertext, output)).unwrap();
    assert_eq!(plaintext, b"abc");
    assert_eq!(take(|output| library.digest_final(session, output)).unwrap(), digest);
}

/// The examples of NIST for FIPS 180-4 and FIPS 202 with the message "abc".
#[test]
fn digests_of_sha512_t_and_sha3_are_those_of_the_standards() {
    let user = User::new();
    for (kind, expected) in [
        (M::SHA512_224, "4634270f707b6a54daae7530460842e20e37ed265ceee9a43e8924aa"),
        (M::SHA512_256, "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
        (M::SHA3_224, "e642824c3f8cf24ad09234ee7d3c766fc9a3a5168d0c94ad73b46fdf"),
        (M::SHA3_256, "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"),
        (
            M::SHA3_384,
            "ec01498288516fc926459f58e2c6ad8df9b473cb0fc08c25\
             96da7cf0e49be4b298d88cea927ac7f539f1edf228376d25",
        ),
        (
            M::SHA3_512,
            "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e\
             10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0",
        ),
    ] {
        let (library, session) = (&user.cryptoki, user.session);
        library.digest_init(session, &Mechanism::plain(kind)).unwrap();
        assert_eq!(take(|output| library.digest(session, b"abc", output)).unwrap(), hex(expected));
        library.digest_init(session, &Mechanism::plain(kind)).unwrap();
        library.digest_update(session, b"a").unwrap();
        library.digest_update(session, b"bc").unwrap();
        assert_eq!(take(|output| library.digest_final(session, output)).unwrap(), hex(expected));
    }
}
