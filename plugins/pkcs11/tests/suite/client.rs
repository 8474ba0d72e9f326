//! The module through a client library in Rust, which checks every structure of the C interface.

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::error::{Error, RvError};
use cryptoki::mechanism::aead::{GcmMessageParams, GcmParams, GeneratorFunction};
use cryptoki::mechanism::dsa::{HashSignAdditionalContext, HedgeType, SignAdditionalContext};
use cryptoki::mechanism::eddsa::{EddsaParams, EddsaSignatureScheme};
use cryptoki::mechanism::elliptic_curve::{EcKdf, Ecdh1DeriveParams};
use cryptoki::mechanism::rsa::{PkcsMgfType, PkcsOaepParams, PkcsOaepSource, PkcsPssParams};
use cryptoki::mechanism::{Mechanism, MechanismType, MessageParam};
use cryptoki::object::{
    Attribute, AttributeType, KeyType, MlDsaParameterSetType, MlKemParameterSetType, ObjectClass,
    ObjectHandle,
};
use cryptoki::session::{Session, UserType};
use cryptoki::slot::Slot;
use cryptoki::types::AuthPin;

use crate::common::{KEYS, SO_PIN, STORE, TestDirectory, USER_PIN, isolated, module};

fn loaded() -> (Pkcs11, Slot) {
    let client = Pkcs11::new(module()).unwrap();
    client.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)).unwrap();
    let slot = client.get_all_slots().unwrap()[0];
    (client, slot)
}

/// Makes a token with both PINs, and logs the user in.
fn store() -> (Pkcs11, Session) {
    let (client, slot) = loaded();
    client.init_token(slot, &AuthPin::new(SO_PIN.into()), "a token").unwrap();
    let session = client.open_rw_session(slot).unwrap();
    session.login(UserType::So, Some(&AuthPin::new(SO_PIN.into()))).unwrap();
    session.init_pin(&AuthPin::new(USER_PIN.into())).unwrap();
    session.logout().unwrap();
    session.login(UserType::User, Some(&AuthPin::new(USER_PIN.into()))).unwrap();
    (client, session)
}

fn find(session: &Session, class: ObjectClass, label: &str) -> ObjectHandle {
    let template = [Attribute::Class(class), Attribute::Label(label.into())];
    session.find_objects(&template).unwrap()[0]
}

fn pair(session: &Session, label: &str) -> (ObjectHandle, ObjectHandle) {
    (find(session, ObjectClass::PRIVATE_KEY, label), find(session, ObjectClass::PUBLIC_KEY, label))
}

const DATA: &[u8] = b"some data to sign";

fn pss() -> Mechanism<'static> {
    use cryptoki::types::Ulong;

    let (hash_alg, mgf, s_len) = (MechanismType::SHA256, PkcsMgfType::MGF1_SHA256, Ulong::new(32));
    Mechanism::Sha256RsaPkcsPss(PkcsPssParams { hash_alg, mgf, s_len })
}

#[test]
fn keys_of_a_directory_sign_and_verify() {
    isolated(
        "client::keys_of_a_directory_sign_and_verify",
        KEYS,
        |dir| dir.make_keys(),
        |_| {
            let (client, slot) = loaded();
            let session = client.open_ro_session(slot).unwrap();
            let eddsa = || Mechanism::Eddsa(EddsaParams::new(EddsaSignatureScheme::Ed25519));
            for (label, mechanism) in [
                ("rsa", Mechanism::Sha256RsaPkcs),
                ("rsa", pss()),
                ("p256", Mechanism::EcdsaSha256),
                ("p384", Mechanism::EcdsaSha384),
                ("ed25519", eddsa()),
            ] {
                let (private, public) = pair(&session, label);
                let signature = session.sign(&mechanism, private, DATA).unwrap();
                session.verify(&mechanism, public, DATA, &signature).unwrap();
                let wrong = session.verify(&mechanism, public, b"other data", &signature);
                assert!(
                    matches!(wrong, Err(Error::Pkcs11(RvError::SignatureInvalid, _))),
                    "{label}: {wrong:?}"
                );
            }
        },
    );
}

#[test]
fn a_directory_shows_certificates_and_is_never_written() {
    isolated(
        "client::a_directory_shows_certificates_and_is_never_written",
        KEYS,
        |dir| dir.make_keys(),
        |_| {
            let (client, slot) = loaded();
            assert!(client.get_token_info(slot).unwrap().write_protected());
            let session = client.open_ro_session(slot).unwrap();
            let certificate = find(&session, ObjectClass::CERTIFICATE, "p256");
            let (private, _) = pair(&session, "p256");
            let id = |object| session.get_attributes(object, &[AttributeType::Id]).unwrap();
            assert_eq!(id(certificate), id(private));
            let template =
                [Attribute::Class(ObjectClass::DATA), Attribute::Token(true), Attribute::Private(false)];
            let written = client.open_rw_session(slot).and_then(|session| session.create_object(&template));
            assert!(matches!(written, Err(Error::Pkcs11(RvError::TokenWriteProtected, _))), "{written:?}");
            let secret = session.get_attributes(private, &[AttributeType::Value]).unwrap();
            assert!(secret.is_empty(), "no secret value is shown");
            // Programs with a configured PIN log in.
            session.login(UserType::User, Some(&AuthPin::new("anything".into()))).unwrap();
            session.logout().unwrap();
        },
    );
}

#[test]
fn keys_of_a_directory_derive_without_a_login() {
    isolated("client::keys_of_a_directory_derive_without_a_login", KEYS, TestDirectory::make_keys, |_| {
        let (client, slot) = loaded();
        let session = client.open_ro_session(slot).unwrap();
        let (private, public) = pair(&session, "p256");
        let secret = derive(&session, private, public);
        let shown = [AttributeType::Private, AttributeType::Token];
        let shown = session.get_attributes(secret, &shown).unwrap();
        assert_eq!(shown, [Attribute::Private(false), Attribute::Token(false)]);
        let wants_private = [Attribute::Private(true), Attribute::ValueLen(16.into())];
        let made = session.generate_key(&Mechanism::AesKeyGen, &wants_private);
        assert!(matches!(made, Err(Error::Pkcs11(RvError::UserNotLoggedIn, _))), "{made:?}");
        session.login(UserType::User, Some(&AuthPin::new("anything".into()))).unwrap();
        session.generate_key(&Mechanism::AesKeyGen, &wants_private).unwrap();
    });
}

#[test]
fn a_store_keeps_generated_keys() {
    isolated(
        "client::a_store_keeps_generated_keys",
        STORE,
        |_| (),
        |_| {
            let (client, session) = store();
            let public =
                [Attribute::Token(true), Attribute::Label("k".into()), Attribute::EcParams(P256.to_vec())];
            let private = [Attribute::Token(true), Attribute::Label("k".into()), Attribute::Sensitive(true)];
            let made = session.generate_key_pair(&Mechanism::EccKeyPairGen, &public, &private).unwrap();
            let signature = session.sign(&Mechanism::EcdsaSha256, made.1, DATA).unwrap();
            session.close().unwrap();
            client.finalize().unwrap();

            let (client, slot) = loaded();
            let session = client.open_ro_session(slot).unwrap();
            assert!(session.find_objects(&[Attribute::Class(ObjectClass::PRIVATE_KEY)]).unwrap().is_empty());
            let wrong = session.login(UserType::User, Some(&AuthPin::new("wrong".into())));
            assert!(matches!(wrong, Err(Error::Pkcs11(RvError::PinIncorrect, _))), "{wrong:?}");
            session.login(UserType::User, Some(&AuthPin::new(USER_PIN.into()))).unwrap();
            let (private, public) = pair(&session, "k");
            session.verify(&Mechanism::EcdsaSha256, public, DATA, &signature).unwrap();
            let again = session.sign(&Mechanism::EcdsaSha256, private, DATA).unwrap();
            session.verify(&Mechanism::EcdsaSha256, public, DATA, &again).unwrap();
        },
    );
}

/// The object identifier of P-256 in DER.
const P256: &[u8] = &[6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];

#[test]
fn a_store_encrypts_wraps_and_derives() {
    isolated(
        "client::a_store_encrypts_wraps_and_derives",
        STORE,
        |_| (),
        |_| {
            let (_client, session) = store();
            let aes = |more: &[Attribute]| {
                let template =
                    [&[Attribute::ValueLen(32.into()), Attribute::Extractable(true)], more].concat();
                session.generate_key(&Mechanism::AesKeyGen, &template).unwrap()
            };
            let key = aes(&[Attribute::Encrypt(true), Attribute::Decrypt(true)]);
            let gcm = || {
                Mechanism::AesGcm(GcmParams::new(Box::leak(Box::new([5; 12])), b"aad", 128.into()).unwrap())
            };
            let sealed = session.encrypt(&gcm(), key, DATA).unwrap();
            assert_eq!(sealed.len(), DATA.len() + 16);
            assert_eq!(session.decrypt(&gcm(), key, &sealed).unwrap(), DATA);
            let cbc = Mechanism::AesCbcPad([7; 16]);
            let padded = session.encrypt(&cbc, key, DATA).unwrap();
            assert_eq!(session.decrypt(&cbc, key, &padded).unwrap(), DATA);

            let wrapping = aes(&[Attribute::Wrap(true), Attribute::Unwrap(true)]);
            let wrapped = session.wrap_key(&Mechanism::AesKeyWrap, wrapping, key).unwrap();
            let template = [
                Attribute::Class(ObjectClass::SECRET_KEY),
                Attribute::KeyType(KeyType::AES),
                Attribute::Decrypt(true),
            ];
            let unwrapped =
                session.unwrap_key(&Mechanism::AesKeyWrap, wrapping, &wrapped, &template).unwrap();
            assert_eq!(session.decrypt(&gcm(), unwrapped, &sealed).unwrap(), DATA);
            agree(&session);
        },
    );
}

/// Derives the same secret on both sides.
fn agree(session: &Session) {
    let make = || {
        let public = [Attribute::EcParams(P256.to_vec())];
        let private = [Attribute::Derive(true)];
        session.generate_key_pair(&Mechanism::EccKeyPairGen, &public, &private).unwrap()
    };
    let (pair, peer) = (make(), make());
    let agree = |private, public| {
        let secret = derive(session, private, public);
        session.get_attributes(secret, &[AttributeType::Value]).unwrap()
    };
    let (first, second) = (agree(pair.1, peer.0), agree(peer.1, pair.0));
    assert_eq!(first, second);
    assert!(matches!(&first[0], Attribute::Value(value) if value.len() == 32));
}

/// Derives a secret that can be read.
fn derive(session: &Session, private: ObjectHandle, public: ObjectHandle) -> ObjectHandle {
    let point = session.get_attributes(public, &[AttributeType::EcPoint]).unwrap();
    let Attribute::EcPoint(point) = &point[0] else { panic!() };
    // The bare point inside of the octet string.
    let parameters = Ecdh1DeriveParams::new(EcKdf::null(), &point[2..]);
    let template = [
        Attribute::Class(ObjectClass::SECRET_KEY),
        Attribute::KeyType(KeyType::GENERIC_SECRET),
        Attribute::Sensitive(false),
        Attribute::Extractable(true),
    ];
    session.derive_key(&Mechanism::Ecdh1Derive(parameters), private, &template).unwrap()
}

/// The token file encrypts every key under the PINs.
#[test]
fn a_key_on_the_token_needs_a_login_even_if_everybody_sees_it() {
    isolated(
        "client::a_key_on_the_token_needs_a_login_even_if_everybody_sees_it",
        STORE,
        |_| (),
        |_| {
            let (_client, session) = store();
            session.logout().unwrap();
            let make = |is_on_token| {
                let public = [Attribute::EcParams(P256.to_vec())];
                let private =
                    [Attribute::Private(false), Attribute::Token(is_on_token), Attribute::Sign(true)];
                session.generate_key_pair(&Mechanism::EccKeyPairGen, &public, &private)
            };
            let (_, private) = make(false).unwrap();
            session.sign(&Mechanism::EcdsaSha256, private, DATA).unwrap();
            let not_logged_in = |error: Error| matches!(error, Error::Pkcs11(RvError::UserNotLoggedIn, _));
            assert!(not_logged_in(make(true).unwrap_err()));
            let login = || session.login(UserType::User, Some(&AuthPin::new(USER_PIN.into()))).unwrap();
            login();
            let (_, kept) = make(true).unwrap();
            session.sign(&Mechanism::EcdsaSha256, kept, DATA).unwrap();
            session.logout().unwrap();
            let found = session
                .find_objects(&[Attribute::Class(ObjectClass::PRIVATE_KEY), Attribute::Token(true)])
                .unwrap();
            assert_eq!(found.len(), 1, "everybody sees it");
            assert!(not_logged_in(session.sign(&Mechanism::EcdsaSha256, found[0], DATA).unwrap_err()));
        },
    );
}

#[test]
fn messages_are_sealed_and_opened_with_parameters_of_their_own() {
    isolated(
        "client::messages_are_sealed_and_opened_with_parameters_of_their_own",
        STORE,
        |_| (),
        |_| {
            let (_client, session) = store();
            let template =
                [Attribute::ValueLen(16.into()), Attribute::Encrypt(true), Attribute::Decrypt(true)];
            let key = session.generate_key(&Mechanism::AesKeyGen, &template).unwrap();
            let (mut iv, mut tag) = ([7; 12], [0; 16]);
            let (mut no_iv, mut no_tag) = ([0; 12], [0; 16]);
            let generator = GeneratorFunction::NoGenerate;
            let unused = GcmMessageParams::new(&mut no_iv, 0.into(), generator, &mut no_tag).unwrap();
            session.message_encrypt_init(&Mechanism::AesGcmMessage(unused), key).unwrap();
            session.message_decrypt_init(&Mechanism::AesGcmMessage(unused), key).unwrap();
            let mut last_iv = iv;
            for generator in [GeneratorFunction::GenerateCounter, GeneratorFunction::GenerateRandom] {
                let parameters = GcmMessageParams::new(&mut iv, 32.into(), generator, &mut tag).unwrap();
                let parameters = MessageParam::AesGcmMessage(parameters);
                let sealed = session.encrypt_message(&parameters, b"aad", DATA).unwrap();
                assert_eq!((sealed.len(), &iv[..4]), (DATA.len(), &[7; 4][..]));
                assert_ne!(iv, last_iv);
                last_iv = iv;
                let single = Mechanism::AesGcm(GcmParams::new(&mut iv, b"aad", 128.into()).unwrap());
                assert_eq!(session.encrypt(&single, key, DATA).unwrap(), [&sealed[..], &tag].concat());
                let parameters = GcmMessageParams::new(&mut iv, 32.into(), generator, &mut tag).unwrap();
                let opened =
                    session.decrypt_message(&MessageParam::AesGcmMessage(parameters), b"aad", &sealed);
                assert_eq!(opened.unwrap(), DATA);
                tag[0] ^= 1;
                let parameters = GcmMessageParams::new(&mut iv, 32.into(), generator, &mut tag).unwrap();
                let opened =
                    session.decrypt_message(&MessageParam::AesGcmMessage(parameters), b"aad", &sealed);
                assert!(opened.is_err(), "a wrong tag");
            }
            session.message_encrypt_final().unwrap();
            session.message_decrypt_final().unwrap();
        },
    );
}

#[test]
fn both_sides_of_an_encapsulation_have_the_same_secret() {
    isolated(
        "client::both_sides_of_an_encapsulation_have_the_same_secret",
        STORE,
        |_| (),
        |_| {
            let (_client, session) = store();
            let p256 = vec![6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
            let ec = session.generate_key_pair(
                &Mechanism::EccKeyPairGen,
                &[Attribute::EcParams(p256), Attribute::Encapsulate(true)],
                &[Attribute::Decapsulate(true)],
            );
            let rsa = session.generate_key_pair(
                &Mechanism::RsaPkcsKeyPairGen,
                &[Attribute::ModulusBits(2048.into()), Attribute::Encapsulate(true)],
                &[Attribute::Decapsulate(true)],
            );
            let ecdh = Mechanism::Ecdh1Derive(Ecdh1DeriveParams::new(EcKdf::null(), &[]));
            let oaep = Mechanism::RsaPkcsOaep(PkcsOaepParams::new(
                cryptoki::mechanism::MechanismType::SHA256,
                PkcsMgfType::MGF1_SHA256,
                PkcsOaepSource::empty(),
            ));
            let template = [
                Attribute::Class(ObjectClass::SECRET_KEY),
                Attribute::KeyType(KeyType::GENERIC_SECRET),
                Attribute::ValueLen(32.into()),
                Attribute::Sensitive(false),
                Attribute::Extractable(true),
            ];
            for (mechanism, (public, private)) in [(ecdh, ec.unwrap()), (oaep, rsa.unwrap())] {
                let (ciphertext, sent) = session.encapsulate_key(&mechanism, public, &template).unwrap();
                let received = session.decapsulate_key(&mechanism, private, &template, &ciphertext).unwrap();
                let value = |key| session.get_attributes(key, &[AttributeType::Value]).unwrap();
                assert_eq!(value(sent), value(received));
            }
        },
    );
}

#[test]
fn oaep_decrypts_what_it_encrypted() {
    isolated(
        "client::oaep_decrypts_what_it_encrypted",
        KEYS,
        |dir| dir.make_keys(),
        |_| {
            let (client, slot) = loaded();
            let session = client.open_ro_session(slot).unwrap();
            let (private, public) = pair(&session, "rsa");
            let label = PkcsOaepSource::data_specified(b"a label");
            let oaep = Mechanism::RsaPkcsOaep(PkcsOaepParams::new(
                MechanismType::SHA256,
                PkcsMgfType::MGF1_SHA256,
                label,
            ));
            let sealed = session.encrypt(&oaep, public, DATA).unwrap();
            assert_eq!(session.decrypt(&oaep, private, &sealed).unwrap(), DATA);
        },
    );
}

#[test]
fn thirty_two_threads_share_the_module() {
    isolated(
        "client::thirty_two_threads_share_the_module",
        KEYS,
        |dir| dir.make_keys(),
        |_| {
            let (client, slot) = loaded();
            std::thread::scope(|scope| {
                for number in 0..32 {
                    let client = client.clone();
                    scope.spawn(move || {
                        let session = client.open_ro_session(slot).unwrap();
                        let (private, public) = pair(&session, "p256");
                        for round in 0..20 {
                            let data = format!("thread {number}, round {round}");
                            let signature =
                                session.sign(&Mechanism::EcdsaSha256, private, data.as_bytes()).unwrap();
                            let verified =
                                session.verify(&Mechanism::EcdsaSha256, public, data.as_bytes(), &signature);
                            verified.unwrap();
                        }
                    });
                }
            });
        },
    );
}

#[test]
fn a_token_encapsulates_by_ml_kem() {
    isolated(
        "client::a_token_encapsulates_by_ml_kem",
        STORE,
        |_| (),
        |_| {
            let (_client, session) = store();
            for set in [
                MlKemParameterSetType::ML_KEM_512,
                MlKemParameterSetType::ML_KEM_768,
                MlKemParameterSetType::ML_KEM_1024,
            ] {
                let public = [Attribute::ParameterSet(set.into()), Attribute::Encapsulate(true)];
                let private = [Attribute::Decapsulate(true)];
                let (public, private) =
                    session.generate_key_pair(&Mechanism::MlKemKeyPairGen, &public, &private).unwrap();
                let shown = session.get_attributes(public, &[AttributeType::ParameterSet]).unwrap();
                assert_eq!(shown, [Attribute::ParameterSet(set.into())]);
                let secret = [
                    Attribute::Class(ObjectClass::SECRET_KEY),
                    Attribute::KeyType(KeyType::GENERIC_SECRET),
                    Attribute::Sensitive(false),
                    Attribute::Extractable(true),
                ];
                let (ciphertext, sent) = session.encapsulate_key(&Mechanism::MlKem, public, &secret).unwrap();
                let received =
                    session.decapsulate_key(&Mechanism::MlKem, private, &secret, &ciphertext).unwrap();
                let value = |key| session.get_attributes(key, &[AttributeType::Value]).unwrap();
                assert_eq!(value(sent).len(), 1);
                assert_eq!(value(sent), value(received));
            }
        },
    );
}

#[test]
fn a_token_signs_by_ml_dsa() {
    isolated(
        "client::a_token_signs_by_ml_dsa",
        STORE,
        |_| (),
        |_| {
            let (_client, session) = store();
            let set = MlDsaParameterSetType::ML_DSA_44;
            let public = [Attribute::ParameterSet(set.into()), Attribute::Verify(true)];
            let (public, private) = session
                .generate_key_pair(&Mechanism::MlDsaKeyPairGen, &public, &[Attribute::Sign(true)])
                .unwrap();
            let context = || SignAdditionalContext::new(HedgeType::Required, Some(b"a context"));
            let plain = || SignAdditionalContext::new(HedgeType::Preferred, None);
            let digest = [9; 32];
            let named = HashSignAdditionalContext::new(
                HedgeType::DeterministicRequired,
                Some(b"a context"),
                MechanismType::SHA256,
            );
            for (mechanism, data) in [
                (Mechanism::MlDsa(context()), DATA),
                (Mechanism::MlDsa(plain()), DATA),
                (Mechanism::HashMlDsa(named), &digest),
                (Mechanism::HashMlDsaSha384(context()), DATA),
                (Mechanism::HashMlDsaSha3_224(plain()), DATA),
                (Mechanism::HashMlDsaShake128(context()), DATA),
            ] {
                let signature = session.sign(&mechanism, private, data).unwrap();
                assert_eq!(signature.len(), 2420, "{mechanism:?}");
                session.verify(&mechanism, public, data, &signature).unwrap();
                let wrong = session.verify(&mechanism, public, &[8; 32], &signature);
                assert!(matches!(wrong, Err(Error::Pkcs11(RvError::SignatureInvalid, _))), "{wrong:?}");
            }
        },
    );
}
