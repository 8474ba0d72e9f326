//! Sequences of PKCS#11 calls: nothing panics, a call for the length and a short buffer change nothing, what is
//! encrypted is decrypted, and no secret value of a sensitive key comes out.
#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use oarlock::Accelerator;
use oarlock_cryptoki::{
    AttributeQuery, AttributeType as A, CallOutput, Cryptoki, IvGenerator, KeyTypeNumber, ManyInputs,
    ManyIvs, ManySpans, Mechanism, MechanismParameters as P, MechanismType as M, MemoryToken,
    MessageParameters, ObjectClass, ObjectHandle, ReturnCode, SessionHandle, SlotId, SlotSettings,
    TemplateEntry, UserType,
};
use oarlock_fuzz::Bytes;

static ACCELERATOR: LazyLock<Accelerator> =
    LazyLock::new(|| Accelerator::builder().engines(["scalar"]).lazy().build().expect("the scalar engine"));

/// More calls find no other states.
const MAX_CALLS: usize = 64;

const MECHANISMS: [M; 22] = [
    M::AES_ECB,
    M::AES_CBC,
    M::AES_CBC_PAD,
    M::AES_CTR,
    M::AES_GCM,
    M::AES_CMAC,
    M::AES_CMAC_GENERAL,
    M::AES_KEY_WRAP,
    M::AES_KEY_WRAP_KWP,
    M::SHA256_HMAC,
    M::SHA512_HMAC_GENERAL,
    M::CHACHA20_POLY1305,
    M::SHA256,
    M::GENERIC_SECRET_KEY_GEN,
    M::XOR_BASE_AND_DATA,
    M::EDDSA,
    M::SHA3_256,
    M::ECDH1_DERIVE,
    M::ML_KEM,
    M::ML_DSA,
    M::HASH_ML_DSA,
    M::HASH_ML_DSA_SHAKE256,
];

/// The functions that may be pending in an asynchronous session.
const FUNCTIONS: [&str; 18] = [
    "C_Encrypt",
    "C_EncryptUpdate",
    "C_EncryptFinal",
    "C_Decrypt",
    "C_DecryptUpdate",
    "C_DecryptFinal",
    "C_Digest",
    "C_Sign",
    "C_SignFinal",
    "C_Verify",
    "C_GenerateKey",
    "C_GenerateKeyPair",
    "C_WrapKey",
    "C_UnwrapKey",
    "C_DeriveKey",
    "C_EncapsulateKey",
    "C_DecapsulateKey",
    "C_Nothing",
];

const ATTRIBUTES: [A; 24] = [
    A::CLASS,
    A::TOKEN,
    A::PRIVATE,
    A::LABEL,
    A::VALUE,
    A::KEY_TYPE,
    A::ID,
    A::SENSITIVE,
    A::ENCRYPT,
    A::DECRYPT,
    A::WRAP,
    A::UNWRAP,
    A::SIGN,
    A::VALUE_LEN,
    A::EXTRACTABLE,
    A::MODIFIABLE,
    A::LOCAL,
    A::NEVER_EXTRACTABLE,
    A::ALLOWED_MECHANISMS,
    A::MODULUS,
    A::ENCAPSULATE,
    A::DECAPSULATE,
    A::PARAMETER_SET,
    A::SEED,
];

/// The library and what the calls have made.
struct Caller {
    cryptoki: Cryptoki,
    sessions: Vec<SessionHandle>,
    objects: Vec<ObjectHandle>,
}

fuzz_target!(|data: &[u8]| {
    let mut bytes = Bytes::new(data);
    let token = Arc::new(MemoryToken::initialized("fuzz", b"officer", b"user"));
    let slot = SlotSettings::new(SlotId(0), "fuzz", token);
    let cryptoki = Cryptoki::new(ACCELERATOR.clone(), vec![slot]);
    let session = cryptoki.open_session(SlotId(0), 6).expect("a session");
    cryptoki.login(session, UserType::User, Some(b"user")).expect("the PIN");
    let mut caller = Caller { cryptoki, sessions: vec![session], objects: vec![ObjectHandle(0)] };
    for _ in 0..MAX_CALLS {
        if bytes.is_empty() {
            break;
        }
        call(&mut caller, &mut bytes);
    }
    caller.cryptoki.close_everything();
});

fn call(caller: &mut Caller, bytes: &mut Bytes<'_>) {
    let session = caller.sessions[bytes.below(caller.sessions.len())];
    let object = caller.objects[bytes.below(caller.objects.len())];
    let library = &caller.cryptoki;
    let input: Vec<u8> = (0..bytes.below(70)).map(|index| index as u8).collect();
    let parameters = parameters(bytes, &input, object);
    let mechanism = Mechanism::new(MECHANISMS[bytes.below(MECHANISMS.len())], parameters);
    let template = template(bytes);
    let mut entries: Vec<_> = template.iter().map(|(kind, value)| TemplateEntry::new(*kind, value)).collect();
    let nested = entries.clone();
    if bytes.below(8) == 0 {
        let kinds = [A::WRAP_TEMPLATE, A::UNWRAP_TEMPLATE, A::DERIVE_TEMPLATE];
        entries.push(TemplateEntry::nested(kinds[bytes.below(3)], &nested));
    }
    let made = match bytes.below(44) {
        0 => library.create_object(session, &entries).ok(),
        1 => library.copy_object(session, object, &entries).ok(),
        2 => library.generate_key(session, &mechanism, &entries).ok(),
        3 => library.derive_key(session, &mechanism, object, &entries).ok(),
        4 => library.unwrap_key(session, &mechanism, object, &input, &entries).ok(),
        5 => {
            let pair = library.generate_key_pair(
                session,
                &Mechanism::plain(M::EC_EDWARDS_KEY_PAIR_GEN),
                &[],
                &entries,
            );
            pair.ok().map(|(_, private)| private)
        }
        6 => {
            // A key pair that encapsulates.
            let pair = if bytes.below(2) == 0 {
                let (public, private) = ([1], [1]);
                library.generate_key_pair(
                    session,
                    &Mechanism::plain(M::EC_MONTGOMERY_KEY_PAIR_GEN),
                    &[TemplateEntry::new(A::ENCAPSULATE, &public)],
                    &[TemplateEntry::new(A::DECAPSULATE, &private)],
                )
            } else {
                lattice_pair(library, session, bytes)
            };
            if let Ok((public, private)) = pair {
                caller.objects.extend([public, private]);
            }
            None
        }
        7 => library.decapsulate_key(session, &mechanism, object, &entries, &input).ok(),
        8 => {
            let mut made = None;
            take(|output| {
                made = library.encapsulate_key(session, &mechanism, object, &entries, output)?;
                Ok(())
            });
            made
        }
        9 => {
            let function = FUNCTIONS[bytes.below(FUNCTIONS.len())];
            library.async_complete(session, function).ok().and_then(|answer| answer.object)
        }
        10 => {
            message_call(library, session, bytes, &input);
            None
        }
        11 => {
            many_call(library, session, object, &mechanism, bytes, &input);
            None
        }
        number => {
            other_call(caller, number - 6, session, object, &mechanism, &input, &entries);
            None
        }
    };
    if let Some(object) = made {
        check_object(&caller.cryptoki, session, object);
        caller.objects.push(object);
    }
}

/// A key pair of ML-KEM or ML-DSA, of a parameter set that may not exist.
fn lattice_pair(
    library: &Cryptoki,
    session: SessionHandle,
    bytes: &mut Bytes<'_>,
) -> Result<(ObjectHandle, ObjectHandle), ReturnCode> {
    let kinds = [M::ML_KEM_KEY_PAIR_GEN, M::ML_DSA_KEY_PAIR_GEN];
    let (mechanism, set) = (Mechanism::plain(kinds[bytes.below(2)]), number(bytes.below(5) as u64));
    let pair =
        library.generate_key_pair(session, &mechanism, &[TemplateEntry::new(A::PARAMETER_SET, &set)], &[]);
    assert!(pair.is_err() || (1..=3).contains(&set[0]), "{pair:?} with the parameter set {}", set[0]);
    pair
}

fn other_call(
    caller: &mut Caller,
    number: usize,
    session: SessionHandle,
    object: ObjectHandle,
    mechanism: &Mechanism<'_>,
    input: &[u8],
    entries: &[TemplateEntry<'_>],
) {
    let library = &caller.cryptoki;
    match number {
        6 => drop(library.encrypt_init(session, mechanism, object)),
        7 => drop(library.decrypt_init(session, mechanism, object)),
        8 => drop(library.sign_init(session, mechanism, object)),
        9 => drop(library.verify_init(session, mechanism, object)),
        10 => drop(library.digest_init(session, mechanism)),
        11 => take(|output| library.encrypt(session, input, output)),
        12 => take(|output| library.encrypt_update(session, input, output)),
        13 => take(|output| library.encrypt_final(session, output)),
        14 => take(|output| library.decrypt(session, input, output)),
        15 => take(|output| library.decrypt_update(session, input, output)),
        16 => take(|output| library.decrypt_final(session, output)),
        17 => take(|output| library.sign(session, input, output)),
        18 => drop(library.sign_update(session, input)),
        19 => take(|output| library.sign_final(session, output)),
        20 => drop(library.verify(session, input, input)),
        21 => take(|output| library.digest(session, input, output)),
        22 => drop(library.digest_key(session, object)),
        23 => take(|output| library.wrap_key(session, mechanism, object, object, output)),
        24 => drop(library.set_attribute_value(session, object, entries)),
        25 => drop(library.destroy_object(session, object)),
        26 => {
            let mut found = [ObjectHandle(0); 3];
            let _ = library.find_objects_init(session, entries);
            let _ = library.find_objects(session, &mut found);
            let _ = library.find_objects_final(session);
        }
        27 => {
            // Some may write, and some are asynchronous.
            if let Ok(opened) = library.open_session(SlotId(0), 4 + (input.len() as u64 & 10)) {
                caller.sessions.push(opened);
            }
        }
        28 => drop(library.message_encrypt_init(session, &Mechanism::plain(mechanism.kind), object)),
        29 => drop(library.message_decrypt_init(session, &Mechanism::plain(mechanism.kind), object)),
        30 => drop(library.message_sign_init(session, mechanism, object)),
        31 => drop(library.message_verify_init(session, mechanism, object)),
        32 => take(|output| library.sign_message(session, input, output)),
        33 => drop(library.sign_message_begin(session)),
        34 => drop(library.sign_message_next(session, input, None)),
        35 => take(|output| library.sign_message_next(session, input, Some(output))),
        36 if session != caller.sessions[0] => drop(library.close_session(session)),
        _ => drop(library.session_cancel(session, u64::MAX)),
    }
}

/// A message of a cipher, whole or in pieces.
fn message_call(library: &Cryptoki, session: SessionHandle, bytes: &mut Bytes<'_>, input: &[u8]) {
    let generators = [IvGenerator::None, IvGenerator::Any, IvGenerator::Counter, IvGenerator::Random];
    let (mut iv, mut tag) = (vec![7; [12, 12, 0, 16][bytes.below(4)]], vec![0; 16 - bytes.below(5)]);
    let (fixed_bits, generator) = (bytes.below(100) as u64, generators[bytes.below(4)]);
    let is_last = bytes.below(2) == 0;
    let mut message = MessageParameters { iv: &mut iv, fixed_bits, generator, tag: &mut tag };
    match bytes.below(6) {
        0 => take(|output| library.encrypt_message(session, &mut message, b"aad", input, output)),
        1 => take(|output| library.decrypt_message(session, &mut message, b"aad", input, output)),
        2 => drop(library.encrypt_message_begin(session, &mut message, input)),
        3 => drop(library.decrypt_message_begin(session, &mut message, input)),
        4 => take(|output| library.encrypt_message_next(session, &mut message, input, is_last, output)),
        _ => take(|output| library.decrypt_message_next(session, &mut message, input, is_last, output)),
    }
}

/// Many inputs at any places: each has one answer.
fn many_call(
    library: &Cryptoki,
    session: SessionHandle,
    key: ObjectHandle,
    mechanism: &Mechanism<'_>,
    bytes: &mut Bytes<'_>,
    input: &[u8],
) {
    let offsets: Vec<u64> = (0..1 + bytes.below(6)).map(|_| bytes.below(80) as u64).collect();
    let inputs = ManyInputs { data: input, spans: ManySpans::Offsets(&offsets) };
    let ivs = vec![3; 12 * inputs.len()];
    let ivs = if bytes.below(2) == 0 { ManyIvs::Mechanism } else { ManyIvs::Each(&ivs) };
    let answers = match bytes.below(4) {
        0 => library.encrypt_many(session, mechanism, key, inputs, ivs),
        1 => library.decrypt_many(session, mechanism, key, inputs, ivs),
        2 => library.sign_many(session, mechanism, key, inputs),
        _ => library.verify_many(session, mechanism, key, inputs, inputs),
    };
    if let Ok(answers) = answers {
        assert_eq!(answers.len(), inputs.len());
    }
}

/// Asks for the length, tries one byte too few, and then takes the output.
fn take(mut call: impl FnMut(&mut CallOutput<'_>) -> Result<(), ReturnCode>) {
    let mut output = CallOutput::length_only();
    if call(&mut output).is_err() {
        return;
    }
    let max = output.len();
    let mut buffer = vec![0; max];
    if max > 0 {
        let mut output = CallOutput::new(&mut buffer[..max - 1]);
        match call(&mut output) {
            Err(ReturnCode::BufferTooSmall) => assert!(output.len() >= max),
            Ok(()) => return assert!(output.len() < max),
            Err(_) => return,
        }
    }
    let answer = call(&mut CallOutput::new(&mut buffer));
    assert_ne!(answer, Err(ReturnCode::OperationNotInitialized), "a short buffer ended the operation");
    assert_ne!(answer, Err(ReturnCode::BufferTooSmall), "the length was not enough");
}

/// The laws that hold for every object at any time.
fn check_object(library: &Cryptoki, session: SessionHandle, object: ObjectHandle) {
    let flag = |kind| {
        let mut value = [0; 1];
        let answer =
            library.get_attribute_value(session, object, &mut [AttributeQuery::new(kind, &mut value)]);
        answer.map(|()| value == [1])
    };
    let (Ok(is_sensitive), Ok(is_extractable)) = (flag(A::SENSITIVE), flag(A::EXTRACTABLE)) else { return };
    let value = library.get_attribute_value(session, object, &mut [AttributeQuery::length_only(A::VALUE)]);
    assert_eq!(value.is_ok(), !is_sensitive && is_extractable, "{value:?}");
    let seed = library.get_attribute_value(session, object, &mut [AttributeQuery::length_only(A::SEED)]);
    assert!(seed.is_err() || (!is_sensitive && is_extractable));
    assert!(is_sensitive || flag(A::ALWAYS_SENSITIVE) != Ok(true));
    assert!(!is_extractable || flag(A::NEVER_EXTRACTABLE) != Ok(true));
    let wraps = flag(A::WRAP) == Ok(true) || flag(A::UNWRAP) == Ok(true);
    let does_more =
        [A::ENCRYPT, A::DECRYPT, A::SIGN, A::VERIFY, A::DERIVE].map(|kind| flag(kind) == Ok(true));
    assert!(!(wraps && does_more.contains(&true)), "a key that wraps does nothing else");
}

fn parameters<'a>(bytes: &mut Bytes<'_>, input: &'a [u8], object: ObjectHandle) -> P<'a> {
    match bytes.below(11) {
        0 => P::None,
        1 => P::Iv(&[7; 16]),
        2 => P::Number(bytes.below(80) as u64),
        3 => P::Counter { bits: bytes.below(130) as u64, block: [0xFF; 16] },
        4 => P::Gcm { iv: input, aad: input, tag_bits: 8 * bytes.below(20) as u64 },
        5 => P::ChaCha20Poly1305 { nonce: input, aad: input },
        6 => P::DerivationData(input),
        7 => P::Ecdh {
            kdf: bytes.below(10) as u64,
            shared: &[],
            public: if input.len() < 32 { &[] } else { input },
        },
        8 => P::SignContext { hedge: bytes.below(4) as u64, context: input },
        9 => P::HashSignContext {
            hedge: bytes.below(4) as u64,
            context: input,
            hash: [M::SHA256, M::SHA3_512, M::ML_DSA][bytes.below(3)],
        },
        _ => P::KeyHandle(object.0),
    }
}

fn template(bytes: &mut Bytes<'_>) -> Vec<(A, Vec<u8>)> {
    let mut entries: Vec<(A, Vec<u8>)> = Vec::new();
    if bytes.below(2) == 0 {
        // A good start: a secret key, which random attributes hardly ever describe.
        entries.push((A::CLASS, number(ObjectClass::SECRET_KEY.0)));
        let types = [KeyTypeNumber::AES, KeyTypeNumber::GENERIC_SECRET, KeyTypeNumber::CHACHA20];
        entries.push((A::KEY_TYPE, number(types[bytes.below(types.len())].0)));
        entries.push((A::VALUE, vec![7; [16, 32, 5][bytes.below(3)]]));
    }
    for _ in 0..bytes.below(5) {
        let kind = ATTRIBUTES[bytes.below(ATTRIBUTES.len())];
        let value = match bytes.below(4) {
            0 => vec![0],
            1 => vec![1],
            2 => number(bytes.below(40) as u64),
            _ => vec![9; bytes.below(20)],
        };
        entries.push((kind, value));
    }
    entries
}

fn number(value: u64) -> Vec<u8> {
    (value as usize).to_ne_bytes().to_vec()
}
