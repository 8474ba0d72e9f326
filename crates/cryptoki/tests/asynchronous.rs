//! Asynchronous sessions, and many ciphertexts in one call.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that panics has failed")]

mod common;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Wake, Waker};
use std::time::Duration;

use common::*;
use oarlock_cryptoki::{
    AsyncAnswer, AttributeType as A, CallOutput, KeyTypeNumber, ManyInputs, ManyIvs, ManySpans, Mechanism,
    MechanismParameters as P, MechanismType as M, ReturnCode, SessionHandle, mechanism_flags, session_flags,
};

/// Sends a message for each wake.
struct Bell(Sender<()>);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        let _ = self.0.send(());
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
fn pieces_and_decryptions_are_asynchronous_and_macs_are_not() {
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
    let key = user.create(&Template::secret(KeyTypeNumber::AES, &[1; 16])).unwrap();
    user.cryptoki.sign_init(session, &Mechanism::plain(M::AES_CMAC), key).unwrap();
    user.cryptoki.sign(session, b"m", &mut CallOutput::new(&mut [0; 16])).unwrap();
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
