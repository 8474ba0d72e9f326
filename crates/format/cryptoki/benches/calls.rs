//! The cost of calls beyond the facade: a signature by the accelerator and by `C_SignInit` and `C_Sign`, a session that
//! is opened and closed, and a search among ten thousand objects.
//!
//! Each line is the best of its rounds, in nanoseconds per call. `cargo bench -p oarlock-cryptoki`.
#![allow(missing_docs, clippy::unwrap_used, reason = "a program that may stop at the first surprise")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use oarlock::{Accelerator, Input, Job, SigningScheme, SubmitOptions};
use oarlock_cryptoki::{
    AttributeSet, AttributeType as A, AttributeValue, CallOutput, Cryptoki, ManyInputs, ManyIvs, ManySpans,
    Mechanism, MechanismParameters, MechanismType as M, MemoryToken, ObjectClass, ObjectContent,
    ObjectHandle, SessionHandle, SlotId, SlotSettings, TemplateEntry, TokenObjects, UserType,
};

const ROUNDS: usize = 20;
const P256: &[u8] = &[6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];

fn main() {
    let accelerator = Accelerator::builder().engines(["scalar"]).lazy().build().unwrap();
    let token = Arc::new(MemoryToken::initialized("bench", b"officer", b"user"));
    token.create(&(0..10_000).map(object).collect::<Vec<_>>()).unwrap();
    let slot = SlotSettings::new(SlotId(0), "bench", token);
    let cryptoki = Cryptoki::new(accelerator.clone(), vec![slot]);
    let session = cryptoki.open_session(SlotId(0), 6).unwrap();
    cryptoki.login(session, UserType::User, Some(b"user")).unwrap();

    let key = oarlock::keys::generate::ec(oarlock::Curve::P256).unwrap();
    let scheme = SigningScheme::ECDSA_P256_SHA256_FIXED;
    time("P-256 signature, accelerator", 500, || {
        let job = Job::sign(scheme, &key, Input::Message(b"a message"));
        black_box(accelerator.submit(&job, SubmitOptions::default()).wait().unwrap());
    });
    let curve = [TemplateEntry::new(A::EC_PARAMS, P256)];
    let mechanism = Mechanism::plain(M::EC_KEY_PAIR_GEN);
    let (_, private) = cryptoki.generate_key_pair(session, &mechanism, &curve, &[]).unwrap();
    let mechanism = Mechanism::plain(M::ECDSA_SHA256);
    let mut signature = [0; 64];
    time("P-256 signature, Init and Sign", 500, || {
        cryptoki.sign_init(session, &mechanism, private).unwrap();
        cryptoki.sign(session, b"a message", &mut CallOutput::new(&mut signature)).unwrap();
    });
    let mut digest = [0; 32];
    time("Init alone, and cancel", 20_000, || {
        cryptoki.sign_init(session, &mechanism, private).unwrap();
        cryptoki.session_cancel(session, 0x800).unwrap();
    });
    time("SHA-256 of 9 bytes, Init and Digest", 20_000, || {
        cryptoki.digest_init(session, &Mechanism::plain(M::SHA256)).unwrap();
        cryptoki.digest(session, b"a message", &mut CallOutput::new(&mut digest)).unwrap();
    });
    time("open and close a session", 20_000, || {
        let opened = cryptoki.open_session(SlotId(0), 4).unwrap();
        cryptoki.close_session(opened).unwrap();
    });
    for (name, kind, value) in
        [("label", A::LABEL, &b"object 5000"[..]), ("id", A::ID, &5_000_u32.to_be_bytes())]
    {
        time(&format!("find one of 10,000 by {name}"), 2_000, || {
            let mut found = [ObjectHandle(0); 2];
            cryptoki.find_objects_init(session, &[TemplateEntry::new(kind, value)]).unwrap();
            assert_eq!(cryptoki.find_objects(session, &mut found), Ok(1));
            cryptoki.find_objects_final(session).unwrap();
        });
    }
    time_tokens(&cryptoki, session);
}

/// Card-like numbers, each in a block of its own, as AES-CBC with one IV.
fn time_tokens(cryptoki: &Cryptoki, session: SessionHandle) {
    const COUNT: usize = 10_000;
    let len = 16_usize.to_ne_bytes();
    let template = [TemplateEntry::new(A::VALUE_LEN, &len)];
    let key = cryptoki.generate_key(session, &Mechanism::plain(M::AES_KEY_GEN), &template).unwrap();
    let data = vec![7; 16 * COUNT];
    let inputs = ManyInputs { data: &data, spans: ManySpans::Stride { count: COUNT, len: 16, stride: 16 } };
    let mechanism = Mechanism::new(M::AES_CBC, MechanismParameters::Iv(&[0; 16]));
    let mut best = u128::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        black_box(cryptoki.encrypt_many(session, &mechanism, key, inputs, ManyIvs::Mechanism).unwrap());
        best = best.min(start.elapsed().as_nanos() / COUNT as u128);
    }
    println!("{:40} {best:>8} ns", "AES-CBC of 16 bytes, one of 10,000");
}

fn time(name: &str, calls: usize, mut call: impl FnMut()) {
    call();
    let mut best = u128::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..calls {
            call();
        }
        best = best.min(start.elapsed().as_nanos() / calls as u128);
    }
    println!("{name:40} {best:>8} ns");
}

fn object(number: u32) -> ObjectContent {
    let attributes: AttributeSet = [
        (A::CLASS, AttributeValue::from(ObjectClass::DATA.0)),
        (A::TOKEN, true.into()),
        (A::PRIVATE, false.into()),
        (A::LABEL, format!("object {number}").as_str().into()),
        (A::ID, number.to_be_bytes()[..].into()),
    ]
    .into_iter()
    .collect();
    ObjectContent { attributes, secrets: AttributeSet::new() }
}
