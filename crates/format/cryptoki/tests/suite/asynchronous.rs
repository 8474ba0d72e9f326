//! Asynchronous sessions, and many ciphertexts in one call.

use std::future::Future;
use std::pin::Pin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use oarlock::{Accelerator, Input, Job, SigningScheme, SubmitOptions};
use oarlock_cryptoki::{
    AsyncAnswer, AttributeType as A, CallOutput, KeyTypeNumber, ManyInputs, ManyIvs, ManySpans, Mechanism,
    MechanismParameters as P, MechanismType as M, ReturnCode, SessionHandle, mechanism_flags, session_flags,
};

use crate::common::*;

/// Sends a message for each wake.
struct Bell(Sender<()>);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        let _ = self.0.send(());
    }
}

/// Holds the thread that wakes it, between two meetings with another thread.
struct HoldingBell(Barrier);

impl Wake for HoldingBell {
    fn wake(self: Arc<Self>) {
        self.0.wait();
        self.0.wait();
    }
}

fn bell() -> (Waker, Receiver<()>) {
    let (sender, receiver) = channel();
    (Waker::from(Arc::new(Bell(sender))), receiver)
}

/// Polls until the call is complete, and parks on the waker between polls.
fn complete(
    user: &User,
    session: SessionHandle,
    function: &str,
    woken: &Receiver<()>,
) -> Result<AsyncAnswer, ReturnCode> {
    loop {
        match user.cryptoki.async_complete(session, function) {
            Err(ReturnCode::Pending) => woken.recv_timeout(Duration::from_secs(60)).unwrap(),
            answer => return answer,
        }
    }
}

#[test]
fn one_thread_has_many_signatures_in_flight() {
    let user = User::new();
    let public = Template::new().number(A::MODULUS_BITS, 2048);
    let (public, private) = user.pair(M::RSA_PKCS_KEY_PAIR_GEN, &public, &Template::new()).unwrap();
    let mechanism = Mechanism::plain(M::SHA256_RSA_PKCS);
    let (waker, woken) = bell();
    let flags = READ_ONLY | session_flags::ASYNC_SESSION;
    let sessions: Vec<_> = (0..16).map(|_| user.cryptoki.open_session(SLOT, flags).unwrap()).collect();
    let mut signatures = vec![[0; 256]; sessions.len()];
    for ((session, signature), number) in sessions.iter().zip(&mut signatures).zip(0_u8..) {
        user.cryptoki.set_waker(*session, Some(waker.clone())).unwrap();
        user.cryptoki.sign_init(*session, &mechanism, private).unwrap();
        let mut output = CallOutput::length_only();
        user.cryptoki.sign(*session, &[number], &mut output).unwrap();
        assert_eq!(output.len(), 256);
        let short = user.cryptoki.sign(*session, &[number], &mut CallOutput::new(&mut [0; 255]));
        assert_eq!(short.unwrap_err(), ReturnCode::BufferTooSmall);
        let signed = user.cryptoki.sign(*session, &[number], &mut CallOutput::new(signature));
        assert_eq!(signed.unwrap_err(), ReturnCode::Pending);
        // The operation is submitted, and with that over.
        let again = user.cryptoki.sign(*session, &[number], &mut CallOutput::new(signature));
        assert_eq!(again.unwrap_err(), ReturnCode::OperationNotInitialized);
    }
    for (session, number) in sessions.iter().zip(0_u8..) {
        let wrong = user.cryptoki.async_complete(*session, "C_Decrypt");
        assert_eq!(wrong.unwrap_err(), ReturnCode::OperationNotInitialized);
        let answer = complete(&user, *session, "C_Sign", &woken).unwrap();
        assert_eq!(user.verify(&mechanism, public, &[number], &answer.bytes), Ok(()));
        let again = user.cryptoki.async_complete(*session, "C_Sign");
        assert_eq!(again.unwrap_err(), ReturnCode::OperationNotInitialized);
    }
}

#[test]
fn pieces_and_decryptions_are_asynchronous() {
    let user = User::new();
    let flags = READ_ONLY | session_flags::ASYNC_SESSION;
    let session = user.cryptoki.open_session(SLOT, flags).unwrap();
    let (waker, woken) = bell();
    user.cryptoki.set_waker(session, Some(waker)).unwrap();
    let public = Template::new().number(A::MODULUS_BITS, 2048);
    let (public, private) = user.pair(M::RSA_PKCS_KEY_PAIR_GEN, &public, &Template::new()).unwrap();
    let mechanism = Mechanism::plain(M::SHA256_RSA_PKCS);
    user.cryptoki.sign_init(session, &mechanism, private).unwrap();
    user.cryptoki.sign_update(session, b"one ").unwrap();
    user.cryptoki.sign_update(session, b"two").unwrap();
    let mut signature = [0; 256];
    let end = user.cryptoki.sign_final(session, &mut CallOutput::new(&mut signature));
    assert_eq!(end.unwrap_err(), ReturnCode::Pending);
    let answer = complete(&user, session, "C_SignFinal", &woken).unwrap();
    assert_eq!(user.verify(&mechanism, public, b"one two", &answer.bytes), Ok(()));
    let pkcs1 = Mechanism::plain(M::RSA_PKCS);
    let ciphertext = user.encrypt(&pkcs1, public, b"a secret").unwrap();
    for (len, expected) in [(256, Ok(8)), (7, Err(ReturnCode::BufferTooSmall))] {
        user.cryptoki.decrypt_init(session, &pkcs1, private).unwrap();
        let mut plaintext = vec![0; len];
        let begun = user.cryptoki.decrypt(session, &ciphertext, &mut CallOutput::new(&mut plaintext));
        assert_eq!(begun.unwrap_err(), ReturnCode::Pending);
        let answer = complete(&user, session, "C_Decrypt", &woken);
        assert_eq!(answer.map(|answer| answer.bytes.len()), expected);
    }
}

/// An asynchronous session with a waker.
struct AsyncSession<'u> {
    user: &'u User,
    session: SessionHandle,
    woken: Receiver<()>,
}

impl<'u> AsyncSession<'u> {
    fn open(user: &'u User) -> Self {
        let session = user.cryptoki.open_session(SLOT, READ_WRITE | session_flags::ASYNC_SESSION).unwrap();
        let (waker, woken) = bell();
        user.cryptoki.set_waker(session, Some(waker)).unwrap();
        Self { user, session, woken }
    }

    /// Checks that a call is pending, and completes it.
    fn finish<T>(&self, function: &str, call: Result<T, ReturnCode>) -> Result<AsyncAnswer, ReturnCode> {
        assert_eq!(call.err(), Some(ReturnCode::Pending), "{function}");
        let answer = complete(self.user, self.session, function, &self.woken);
        let again = self.user.cryptoki.async_complete(self.session, function);
        assert_eq!(again.unwrap_err(), ReturnCode::OperationNotInitialized);
        answer
    }

    /// Makes a call with a buffer of 512 bytes, checks that it is pending, and completes it.
    fn output(
        &self,
        function: &str,
        call: impl FnOnce(&mut CallOutput<'_>) -> Result<(), ReturnCode>,
    ) -> Result<Vec<u8>, ReturnCode> {
        let mut buffer = [0; 512];
        let begun = call(&mut CallOutput::new(&mut buffer));
        self.finish(function, begun).map(|answer| answer.bytes.to_vec())
    }
}

#[test]
fn macs_and_their_verifications_are_asynchronous() {
    let user = User::new();
    let asynchronous = AsyncSession::open(&user);
    let (library, session) = (&user.cryptoki, asynchronous.session);
    let key = user.create(&Template::secret(KeyTypeNumber::AES, &[1; 16])).unwrap();
    let hmac_key = user.create(&Template::secret(KeyTypeNumber::GENERIC_SECRET, &[2; 40])).unwrap();
    for (kind, key) in [(M::AES_CMAC, key), (M::SHA256_HMAC, hmac_key), (M::SHA512_HMAC, hmac_key)] {
        let mechanism = Mechanism::plain(kind);
        library.sign_init(session, &mechanism, key).unwrap();
        let mac = asynchronous.output("C_Sign", |out| library.sign(session, b"one two", out)).unwrap();
        assert_eq!(mac, user.sign(&mechanism, key, b"one two").unwrap());
        library.verify_init(session, &mechanism, key).unwrap();
        asynchronous.finish("C_Verify", library.verify(session, b"one two", &mac)).unwrap();
        library.verify_init(session, &mechanism, key).unwrap();
        library.verify_update(session, b"one ").unwrap();
        library.verify_update(session, b"two").unwrap();
        asynchronous.finish("C_VerifyFinal", library.verify_final(session, &mac)).unwrap();
        library.verify_init(session, &mechanism, key).unwrap();
        let wrong = asynchronous.finish("C_Verify", library.verify(session, b"another", &mac));
        assert_eq!(wrong.unwrap_err(), ReturnCode::SignatureInvalid);
    }
}

#[test]
fn verifications_are_asynchronous() {
    let user = User::new();
    let asynchronous = AsyncSession::open(&user);
    let (library, session) = (&user.cryptoki, asynchronous.session);
    let public = Template::new().bytes(A::EC_PARAMS, P256);
    let (public, private) = user.pair(M::EC_KEY_PAIR_GEN, &public, &Template::new()).unwrap();
    let mechanism = Mechanism::plain(M::ECDSA_SHA256);
    let signature = user.sign(&mechanism, private, b"m").unwrap();
    for (message, expected) in [(b"m", Ok(())), (b"n", Err(ReturnCode::SignatureInvalid))] {
        library.verify_init(session, &mechanism, public).unwrap();
        let verified = asynchronous.finish("C_Verify", library.verify(session, message, &signature));
        assert_eq!(verified.map(drop), expected);
        library.verify_signature_init(session, &mechanism, public, &signature).unwrap();
        let verified = asynchronous.finish("C_VerifySignature", library.verify_signature(session, message));
        assert_eq!(verified.map(drop), expected);
        library.verify_signature_init(session, &mechanism, public, &signature).unwrap();
        library.verify_update(session, message).unwrap();
        let verified = asynchronous.finish("C_VerifySignatureFinal", library.verify_signature_final(session));
        assert_eq!(verified.map(drop), expected);
    }
}

#[test]
fn ciphers_and_digests_are_asynchronous_and_pieces_go_on() {
    let user = User::new();
    let asynchronous = AsyncSession::open(&user);
    let (library, session) = (&user.cryptoki, asynchronous.session);
    let key = user.create(&Template::secret(KeyTypeNumber::AES, &[1; 16])).unwrap();
    let iv = [9; 16];
    let data: Vec<u8> = (0..83).collect();
    for mechanism in [
        Mechanism::new(M::AES_CBC_PAD, P::Iv(&iv)),
        Mechanism::new(M::AES_CTR, P::Counter { bits: 128, block: iv }),
        Mechanism::new(M::AES_GCM, P::Gcm { iv: &iv[..12], aad: b"aad", tag_bits: 128 }),
    ] {
        let sealed = user.encrypt(&mechanism, key, &data).unwrap();
        library.encrypt_init(session, &mechanism, key).unwrap();
        let whole = asynchronous.output("C_Encrypt", |out| library.encrypt(session, &data, out)).unwrap();
        assert_eq!(whole, sealed, "{mechanism:?}");
        library.decrypt_init(session, &mechanism, key).unwrap();
        let whole = asynchronous.output("C_Decrypt", |out| library.decrypt(session, &sealed, out)).unwrap();
        assert_eq!(whole, data, "{mechanism:?}");
        library.encrypt_init(session, &mechanism, key).unwrap();
        let mut pieces = Vec::new();
        for piece in data.chunks(40) {
            let mut buffer = [0; 512];
            let mut output = CallOutput::new(&mut buffer);
            match library.encrypt_update(session, piece, &mut output) {
                // Nothing is computed yet: the end shows it.
                Ok(()) => assert_eq!(output.len(), 0),
                begun => {
                    // The operation is with the queue until then.
                    let busy = library.encrypt_update(session, piece, &mut CallOutput::new(&mut [0; 64]));
                    assert_eq!(busy.unwrap_err(), ReturnCode::OperationActive);
                    pieces.extend_from_slice(&asynchronous.finish("C_EncryptUpdate", begun).unwrap().bytes);
                }
            }
        }
        let mut buffer = [0; 512];
        let mut output = CallOutput::new(&mut buffer);
        match library.encrypt_final(session, &mut output) {
            Ok(()) => assert_eq!(output.len(), 0),
            begun => pieces.extend_from_slice(&asynchronous.finish("C_EncryptFinal", begun).unwrap().bytes),
        }
        assert_eq!(pieces, sealed, "{mechanism:?}");
        let damaged = [&sealed[..sealed.len() - 1], &[!sealed[sealed.len() - 1]]].concat();
        library.decrypt_init(session, &mechanism, key).unwrap();
        let opened = asynchronous.output("C_Decrypt", |out| library.decrypt(session, &damaged, out));
        assert_ne!(opened, Ok(data.clone()));
        let idle = library.decrypt(session, &sealed, &mut CallOutput::new(&mut [0; 512]));
        assert_eq!(idle.unwrap_err(), ReturnCode::OperationNotInitialized);
    }
    library.digest_init(session, &Mechanism::plain(M::SHA256)).unwrap();
    let digest = asynchronous.output("C_Digest", |out| library.digest(session, &data, out)).unwrap();
    user.cryptoki.digest_init(user.session, &Mechanism::plain(M::SHA256)).unwrap();
    let expected = take(|out| user.cryptoki.digest(user.session, &data, out)).unwrap();
    assert_eq!(digest, expected);
}

#[test]
fn a_piece_that_is_cancelled_does_not_come_back() {
    let user = User::new();
    let asynchronous = AsyncSession::open(&user);
    let key = user.create(&Template::secret(KeyTypeNumber::AES, &[1; 16])).unwrap();
    let mechanism = Mechanism::new(M::AES_CBC, P::Iv(&[9; 16]));
    user.cryptoki.encrypt_init(asynchronous.session, &mechanism, key).unwrap();
    let begun =
        user.cryptoki.encrypt_update(asynchronous.session, &[0; 16], &mut CallOutput::new(&mut [0; 16]));
    assert_eq!(begun.unwrap_err(), ReturnCode::Pending);
    user.cryptoki.session_cancel(asynchronous.session, mechanism_flags::ENCRYPT).unwrap();
    let none = user.cryptoki.async_complete(asynchronous.session, "C_EncryptUpdate");
    assert_eq!(none.unwrap_err(), ReturnCode::OperationNotInitialized);
    user.cryptoki.encrypt_init(asynchronous.session, &mechanism, key).unwrap();
}

#[test]
fn new_keys_are_asynchronous() {
    let user = User::new();
    let asynchronous = AsyncSession::open(&user);
    let (library, session) = (&user.cryptoki, asynchronous.session);
    let template = Template::new().number(A::VALUE_LEN, 32).readable();
    let aes = Mechanism::plain(M::AES_KEY_GEN);
    let begun = library.generate_key(session, &aes, &template.entries());
    let again = library.generate_key(session, &aes, &template.entries());
    assert_eq!(again.unwrap_err(), ReturnCode::OperationActive);
    assert!(user.find(&Template::new().number(A::KEY_TYPE, KeyTypeNumber::AES.0)).is_empty());
    let key = asynchronous.finish("C_GenerateKey", begun).unwrap().object.unwrap();
    assert_eq!(user.get(key, A::VALUE).unwrap().len(), 32);
    let public = Template::new().number(A::MODULUS_BITS, 2048);
    let rsa = Mechanism::plain(M::RSA_PKCS_KEY_PAIR_GEN);
    let begun = library.generate_key_pair(session, &rsa, &public.entries(), &[]);
    let pair = asynchronous.finish("C_GenerateKeyPair", begun).unwrap();
    let (public, private) = (pair.object.unwrap(), pair.additional_object.unwrap());
    let mechanism = Mechanism::plain(M::SHA256_RSA_PKCS);
    let signature = user.sign(&mechanism, private, b"m").unwrap();
    assert_eq!(user.verify(&mechanism, public, b"m", &signature), Ok(()));
    let template = Template::new().number(A::MODULUS_BITS, 4096);
    let begun = library.generate_key_pair(session, &rsa, &template.entries(), &[]);
    assert_eq!(begun.unwrap_err(), ReturnCode::Pending);
    library.session_cancel(session, mechanism_flags::GENERATE_KEY_PAIR).unwrap();
    let none = library.async_complete(session, "C_GenerateKeyPair");
    assert_eq!(none.unwrap_err(), ReturnCode::OperationNotInitialized);
}

#[test]
fn derived_wrapped_and_unwrapped_keys_are_asynchronous() {
    let user = User::new();
    let asynchronous = AsyncSession::open(&user);
    let (library, session) = (&user.cryptoki, asynchronous.session);
    let public = Template::new().bytes(A::EC_PARAMS, P256);
    let derive = Template::new().flag(A::DERIVE, true);
    let (peer, _) = user.pair(M::EC_KEY_PAIR_GEN, &public, &derive).unwrap();
    let (_, private) = user.pair(M::EC_KEY_PAIR_GEN, &public, &derive).unwrap();
    let point = user.get(peer, A::EC_POINT).unwrap();
    let ecdh = Mechanism::new(M::ECDH1_DERIVE, P::Ecdh { kdf: 1, shared: &[], public: &point });
    let template = Template::new().number(A::KEY_TYPE, KeyTypeNumber::GENERIC_SECRET.0).readable();
    let begun = library.derive_key(session, &ecdh, private, &template.entries());
    let derived = asynchronous.finish("C_DeriveKey", begun).unwrap().object.unwrap();
    let expected = library.derive_key(user.session, &ecdh, private, &template.entries()).unwrap();
    assert_eq!(user.get(derived, A::VALUE), user.get(expected, A::VALUE));
    let wrapping = Template::secret(KeyTypeNumber::AES, &[3; 32]).flag(A::WRAP, true).flag(A::UNWRAP, true);
    let wrapping = user.create(&wrapping).unwrap();
    let mechanism = Mechanism::plain(M::AES_KEY_WRAP);
    let wrapped = asynchronous
        .output("C_WrapKey", |out| library.wrap_key(session, &mechanism, wrapping, derived, out))
        .unwrap();
    let template = template.number(A::CLASS, oarlock_cryptoki::ObjectClass::SECRET_KEY.0);
    let begun = library.unwrap_key(session, &mechanism, wrapping, &wrapped, &template.entries());
    let unwrapped = asynchronous.finish("C_UnwrapKey", begun).unwrap().object.unwrap();
    assert_eq!(user.get(unwrapped, A::VALUE), user.get(expected, A::VALUE));
    let damaged: Vec<u8> = wrapped.iter().map(|byte| byte ^ 1).collect();
    let begun = library.unwrap_key(session, &mechanism, wrapping, &damaged, &template.entries());
    assert_eq!(asynchronous.finish("C_UnwrapKey", begun).unwrap_err(), ReturnCode::WrappedKeyInvalid);
}

#[test]
fn operations_of_asynchronous_sessions_share_batches() {
    let accelerator = Accelerator::builder().engines(["scalar"]).lazy().threads(1).build().unwrap();
    let user = User::on(accelerator.clone());
    let key = user.create(&Template::secret(KeyTypeNumber::AES, &[1; 16])).unwrap();
    let sessions: Vec<_> = (0..64).map(|_| AsyncSession::open(&user)).collect();
    let mechanism = Mechanism::new(M::AES_GCM, P::Gcm { iv: &[7; 12], aad: &[], tag_bits: 128 });
    let expected = user.encrypt(&mechanism, key, b"m").unwrap();
    let batches = || accelerator.histograms().runs.iter().map(|runs| runs.operations.count()).sum::<u64>();
    // The only worker is held until all calls wait: a worker that is awake takes them one by one.
    let bell = Arc::new(HoldingBell(Barrier::new(2)));
    let signing = oarlock::keys::generate::ed25519().unwrap();
    let job = Job::sign(SigningScheme::ED25519, &signing, Input::Message(b"m"));
    let waker = Waker::from(Arc::clone(&bell));
    let _held = loop {
        let options = SubmitOptions::default().with_never_on_caller_thread(true);
        let mut held = accelerator.submit(&job, options);
        // An answer that is there already holds nobody.
        if Pin::new(&mut held).poll(&mut Context::from_waker(&waker)).is_pending() {
            break held;
        }
    };
    bell.0.wait();
    let before = batches();
    for asynchronous in &sessions {
        user.cryptoki.encrypt_init(asynchronous.session, &mechanism, key).unwrap();
        let begun = user.cryptoki.encrypt(asynchronous.session, b"m", &mut CallOutput::new(&mut [0; 32]));
        assert_eq!(begun.unwrap_err(), ReturnCode::Pending);
    }
    bell.0.wait();
    for asynchronous in &sessions {
        let answer = complete(&user, asynchronous.session, "C_Encrypt", &asynchronous.woken).unwrap();
        assert_eq!(*answer.bytes, expected);
    }
    assert!(batches() - before < 8, "{} batches", batches() - before);
}

#[test]
fn a_cancelled_or_closed_call_is_forgotten() {
    let user = User::new();
    let flags = READ_ONLY | session_flags::ASYNC_SESSION;
    let session = user.cryptoki.open_session(SLOT, flags).unwrap();
    let public = Template::new().bytes(A::EC_PARAMS, P256);
    let (_, private) = user.pair(M::EC_KEY_PAIR_GEN, &public, &Template::new()).unwrap();
    let begin = || {
        user.cryptoki.sign_init(session, &Mechanism::plain(M::ECDSA_SHA256), private).unwrap();
        user.cryptoki.sign(session, b"m", &mut CallOutput::new(&mut [0; 64])).unwrap_err()
    };
    assert_eq!(begin(), ReturnCode::Pending);
    assert_eq!(begin(), ReturnCode::OperationActive, "one call of a function waits at a time");
    user.cryptoki.session_cancel(session, mechanism_flags::SIGN).unwrap();
    let none = user.cryptoki.async_complete(session, "C_Sign");
    assert_eq!(none.unwrap_err(), ReturnCode::OperationNotInitialized);
    assert_eq!(begin(), ReturnCode::Pending);
    user.cryptoki.close_session(session).unwrap();
    let closed = user.cryptoki.async_complete(session, "C_Sign");
    assert_eq!(closed.unwrap_err(), ReturnCode::SessionHandleInvalid);
}

#[test]
fn many_ciphertexts_are_those_of_single_calls() {
    let user = User::new();
    let key = user.create(&Template::secret(KeyTypeNumber::AES, &[1; 16])).unwrap();
    let data: Vec<u8> = (0..=255).cycle().take(48 * 100).collect();
    let spans = ManySpans::Stride { count: 100, len: 48, stride: 48 };
    let inputs = ManyInputs { data: &data, spans };
    let iv = [9; 16];
    let ivs: Vec<u8> = (0..=255).cycle().skip(7).take(16 * 100).collect();
    let gcm = P::Gcm { iv: &iv, aad: b"aad", tag_bits: 128 };
    for (mechanism, takes_one_iv) in [
        (Mechanism::new(M::AES_CBC, P::Iv(&iv)), true),
        (Mechanism::new(M::AES_CBC_PAD, P::Iv(&iv)), true),
        (Mechanism::new(M::AES_CTR, P::Counter { bits: 128, block: iv }), false),
        (Mechanism::new(M::AES_GCM, gcm), false),
    ] {
        let one = user.cryptoki.encrypt_many(user.session, &mechanism, key, inputs, ManyIvs::Mechanism);
        if takes_one_iv {
            let one = one.unwrap();
            for (answer, piece) in one.iter().zip(data.chunks(48)) {
                assert_eq!(answer.unwrap(), user.encrypt(&mechanism, key, piece).unwrap());
            }
        } else {
            assert_eq!(one.unwrap_err(), ReturnCode::MechanismParamInvalid, "an IV is not used twice");
        }
        let each = ManyIvs::Each(&ivs);
        let sealed = user.cryptoki.encrypt_many(user.session, &mechanism, key, inputs, each).unwrap();
        let pieces: Vec<Vec<u8>> = sealed.iter().map(|answer| answer.unwrap().to_vec()).collect();
        let all = pieces.concat();
        let len = pieces[0].len();
        let spans = ManySpans::Stride { count: 100, len, stride: len };
        let sealed = ManyInputs { data: &all, spans };
        let opened = user.cryptoki.decrypt_many(user.session, &mechanism, key, sealed, each).unwrap();
        for (answer, piece) in opened.iter().zip(data.chunks(48)) {
            assert_eq!(answer.unwrap(), piece, "{mechanism:?}");
        }
        let short = ManyIvs::Each(&ivs[1..]);
        let refused = user.cryptoki.encrypt_many(user.session, &mechanism, key, inputs, short);
        assert_eq!(refused.unwrap_err(), ReturnCode::MechanismParamInvalid);
    }
    let offsets = [0, 16, 15, 31, 48, 9_999];
    let uneven = ManyInputs { data: &data, spans: ManySpans::Offsets(&offsets) };
    let cbc = Mechanism::new(M::AES_CBC, P::Iv(&iv));
    let answers = user.cryptoki.encrypt_many(user.session, &cbc, key, uneven, ManyIvs::Mechanism).unwrap();
    let lens: Vec<_> = answers.iter().map(|answer| answer.map(<[u8]>::len)).collect();
    let (outside, length) = (Err(ReturnCode::ArgumentsBad), Err(ReturnCode::DataLenRange));
    assert_eq!(lens, [Ok(16), outside, Ok(16), length, outside]);
    let blocks = ManyInputs { data: &data, spans: ManySpans::Stride { count: 9, len: 16, stride: 16 } };
    let ecb = Mechanism::plain(M::AES_ECB);
    let answers = user.cryptoki.encrypt_many(user.session, &ecb, key, blocks, ManyIvs::Mechanism).unwrap();
    for (answer, piece) in answers.iter().zip(data.chunks(16)) {
        assert_eq!(answer.unwrap(), user.encrypt(&ecb, key, piece).unwrap());
    }
}
