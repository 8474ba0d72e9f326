//! The known answers of the public-key shapes, read from the data files.

pub(super) mod hash_based;
mod lattice;

use oarlock_core::{Curve, DigestAlg, Key, NonceInput, Operation, RsaExponent, SecondInput, Shape, Status};
use oarlock_keys::{raw, rsa};

use super::SelfTestFailure;
use super::text::{bad_key, bytes, number, tagged};

/// One operation and what it must give.
pub(super) struct KnownOperation {
    pub(super) key: Key,
    pub(super) input: Vec<u8>,
    pub(super) extra: KnownSecondInput,
    pub(super) expected: KnownResult,
}

pub(super) enum KnownSecondInput {
    None,
    Signature(Vec<u8>),
    Deterministic(DigestAlg),
    Hedged([u8; 32]),
}

pub(super) enum KnownResult {
    Output(Vec<u8>),
    Status(Status),
}

/// Every case of a shape, the bad ones spread among the good.
pub(super) fn cases(shape: Shape) -> Result<Vec<KnownOperation>, SelfTestFailure> {
    let (good, bad): (Vec<KnownOperation>, Vec<KnownOperation>) = match shape {
        Shape::RsaPrivate { bits } => rsa_private(rsa_file(bits, shape)?)?,
        Shape::RsaPublic { bits, exponent } => rsa_public(rsa_file(bits, shape)?, exponent)?,
        Shape::ModExp { bits, exponent_bits } => mod_exp(rsa_file(bits, shape)?, exponent_bits)?,
        Shape::EcdsaSign { curve } => ecdsa_sign(curve, ec_file(curve, shape)?)?,
        Shape::EcdsaVerify { curve } => ecdsa_verify(curve, ec_file(curve, shape)?)?,
        Shape::Ed25519Sign => ed25519_sign()?,
        Shape::Ed25519Verify => ed25519_verify()?,
        Shape::X25519 => x25519()?,
        Shape::Ecdh { curve } => ecdh(curve)?,
        Shape::MlKemKeygen { set } => lattice::ml_kem_keygen(set)?,
        Shape::MlKemEncaps { set } => lattice::ml_kem_encaps(set)?,
        Shape::MlKemDecaps { set } => lattice::ml_kem_decaps(set)?,
        Shape::MlDsaSign { set } => lattice::ml_dsa_sign(set)?,
        Shape::MlDsaVerify { set } => lattice::ml_dsa_verify(set)?,
        Shape::SlhDsaKeygen { set } => hash_based::keygen(set)?,
        Shape::SlhDsaVerify { set } => hash_based::verify(set)?,
        Shape::HssVerify => hash_based::stateful("hss", raw::hss_public)?,
        Shape::XmssVerify => hash_based::stateful("xmss", raw::xmss_public)?,
        _ => return Err(SelfTestFailure::NoVectors { shape }),
    }
    .into_iter()
    .partition(KnownOperation::is_good);
    if good.is_empty() {
        return Err(SelfTestFailure::NoVectors { shape });
    }
    Ok(mix(good, bad))
}

/// Two good ones, a bad one, and so on; what is left of either at the end.
fn mix(good: Vec<KnownOperation>, bad: Vec<KnownOperation>) -> Vec<KnownOperation> {
    let (mut good, mut bad) = (good.into_iter(), bad.into_iter());
    let mut mixed = Vec::new();
    loop {
        let before = mixed.len();
        mixed.extend(good.by_ref().take(2));
        mixed.extend(bad.next());
        if mixed.len() == before {
            return mixed;
        }
    }
}

impl KnownOperation {
    /// Returns the case as an operation of its shape.
    pub(super) fn operation(&self, shape: Shape) -> Result<Operation<'_>, SelfTestFailure> {
        let extra = match &self.extra {
            KnownSecondInput::None => SecondInput::None,
            KnownSecondInput::Signature(signature) => SecondInput::Signature(signature),
            KnownSecondInput::Deterministic(digest) => {
                SecondInput::NonceInput(NonceInput::Deterministic(*digest))
            }
            KnownSecondInput::Hedged(random) => SecondInput::NonceInput(NonceInput::Hedged(random)),
        };
        self.operation_with(shape, extra)
    }

    /// Returns an operation with the key and the input of the case, and another second input.
    pub(super) fn operation_with<'a>(
        &'a self,
        shape: Shape,
        extra: SecondInput<'a>,
    ) -> Result<Operation<'a>, SelfTestFailure> {
        Operation::new(shape, &self.key, &self.input, extra)
            .map_err(|error| SelfTestFailure::Vectors { what: error.to_string() })
    }

    /// True if the job is done and not refused.
    pub(super) fn is_good(&self) -> bool {
        matches!(self.expected, KnownResult::Output(_) | KnownResult::Status(Status::Done))
    }

    fn plain(key: &Key, input: Vec<u8>, expected: KnownResult) -> Self {
        Self { key: key.clone(), input, extra: KnownSecondInput::None, expected }
    }

    fn signed(key: &Key, input: Vec<u8>, signature: Vec<u8>, status: Status) -> Self {
        let extra = KnownSecondInput::Signature(signature);
        Self { key: key.clone(), input, extra, expected: KnownResult::Status(status) }
    }
}

/// The file of a size; 1031 has bits beyond whole bytes.
fn rsa_file(bits: u16, shape: Shape) -> Result<&'static str, SelfTestFailure> {
    match bits {
        1024 => Ok(include_str!("data/rsa1024.txt")),
        1031 => Ok(include_str!("data/rsa1031.txt")),
        1536 => Ok(include_str!("data/rsa1536.txt")),
        2048 => Ok(include_str!("data/rsa2048.txt")),
        3072 => Ok(include_str!("data/rsa3072.txt")),
        4096 => Ok(include_str!("data/rsa4096.txt")),
        _ => Err(SelfTestFailure::NoVectors { shape }),
    }
}

fn rsa_private(file: &'static str) -> Result<Vec<KnownOperation>, SelfTestFailure> {
    let numbers = tagged(file, "key");
    let keys = numbers.iter().map(|words| rsa_private_key(words)).collect::<Result<Vec<_>, _>>()?;
    let mut cases = Vec::new();
    for words in tagged(file, "pair") {
        let expected = KnownResult::Output(bytes(&words, 2)?);
        cases.push(KnownOperation::plain(&keys[number(&words, 0)?], bytes(&words, 1)?, expected));
    }
    for words in tagged(file, "high") {
        let expected = KnownResult::Status(Status::OutOfRange);
        cases.push(KnownOperation::plain(&keys[number(&words, 0)?], bytes(&words, 1)?, expected));
    }
    Ok(cases)
}

fn rsa_private_key(words: &[&str]) -> Result<Key, SelfTestFailure> {
    let numbers = (0..8).map(|index| bytes(words, index)).collect::<Result<Vec<_>, _>>()?;
    let [n, e, d, p, q, dp, dq, qinv] = [0, 1, 2, 3, 4, 5, 6, 7].map(|index| &numbers[index][..]);
    rsa::private(&rsa::PrivateNumbers { n, e, d, p, q, dp, dq, qinv }).map_err(bad_key)
}

fn rsa_public(file: &'static str, exponent: RsaExponent) -> Result<Vec<KnownOperation>, SelfTestFailure> {
    let mut keys = Vec::new();
    for words in tagged(file, "key") {
        keys.push(rsa::public(&bytes(&words, 0)?, &bytes(&words, 1)?).map_err(bad_key)?);
    }
    let is_wanted = |key: &Key| key.rsa_public().is_some_and(|public| public.exponent() == exponent);
    let mut cases = Vec::new();
    for words in tagged(file, "pair") {
        let key = &keys[number(&words, 0)?];
        if is_wanted(key) {
            cases.push(KnownOperation::plain(key, bytes(&words, 2)?, KnownResult::Output(bytes(&words, 1)?)));
        }
    }
    for words in tagged(file, "high") {
        let key = &keys[number(&words, 0)?];
        if is_wanted(key) {
            cases.push(KnownOperation::plain(
                key,
                bytes(&words, 1)?,
                KnownResult::Status(Status::OutOfRange),
            ));
        }
    }
    Ok(cases)
}

fn mod_exp(file: &'static str, exponent_bits: u16) -> Result<Vec<KnownOperation>, SelfTestFailure> {
    let moduli = tagged(file, "key").iter().map(|words| bytes(words, 0)).collect::<Result<Vec<_>, _>>()?;
    let mut cases = Vec::new();
    for words in tagged(file, "modexp") {
        let exponent = bytes(&words, 1)?;
        if exponent.len() * 8 > usize::from(exponent_bits) + 7 {
            continue;
        }
        let modulus = &moduli[number(&words, 0)?];
        let key = rsa::mod_exp(modulus, &exponent, exponent_bits).map_err(bad_key)?;
        cases.push(KnownOperation::plain(&key, bytes(&words, 2)?, KnownResult::Output(bytes(&words, 3)?)));
        // One base that is not below the modulus is enough: the check does not depend on the exponent.
        if cases.len() == 1 {
            cases.push(KnownOperation::plain(&key, modulus.clone(), KnownResult::Status(Status::OutOfRange)));
        }
    }
    Ok(cases)
}

fn ec_file(curve: Curve, shape: Shape) -> Result<&'static str, SelfTestFailure> {
    match curve {
        Curve::P256 => Ok(include_str!("data/p256.txt")),
        Curve::P384 => Ok(include_str!("data/p384.txt")),
        _ => Err(SelfTestFailure::NoVectors { shape }),
    }
}

fn ecdsa_sign(curve: Curve, file: &'static str) -> Result<Vec<KnownOperation>, SelfTestFailure> {
    let mut keys = Vec::new();
    for words in tagged(file, "key") {
        keys.push(raw::ec_private(curve, &bytes(&words, 0)?).map_err(bad_key)?);
    }
    let mut cases = Vec::new();
    for words in tagged(file, "det") {
        let digest = digest_named(words[1])?;
        cases.push(KnownOperation {
            key: keys[number(&words, 0)?].clone(),
            input: bytes(&words, 2)?,
            extra: KnownSecondInput::Deterministic(digest),
            expected: KnownResult::Output(bytes(&words, 3)?),
        });
    }
    Ok(cases)
}

fn ecdsa_verify(curve: Curve, file: &'static str) -> Result<Vec<KnownOperation>, SelfTestFailure> {
    let mut keys = Vec::new();
    for words in tagged(file, "key") {
        keys.push(raw::ec_public(curve, &bytes(&words, 1)?).map_err(bad_key)?);
    }
    let mut cases = Vec::new();
    for (tag, at, status) in
        [("det", 2, Status::Done), ("valid", 1, Status::Done), ("bad", 1, Status::Rejected)]
    {
        for words in tagged(file, tag) {
            let key = &keys[number(&words, 0)?];
            cases.push(KnownOperation::signed(key, bytes(&words, at)?, bytes(&words, at + 1)?, status));
        }
    }
    Ok(cases)
}

fn digest_named(name: &str) -> Result<DigestAlg, SelfTestFailure> {
    let found = DigestAlg::ALL.into_iter().find(|digest| digest.to_string() == name);
    found.ok_or_else(|| SelfTestFailure::Vectors { what: format!("digest {name}") })
}

const ED25519: &str = include_str!("data/ed25519.txt");

fn ed25519_sign() -> Result<Vec<KnownOperation>, SelfTestFailure> {
    let mut cases = Vec::new();
    for words in tagged(ED25519, "good") {
        let key = raw::ed25519_private(&bytes(&words, 0)?).map_err(bad_key)?;
        cases.push(KnownOperation::plain(&key, bytes(&words, 2)?, KnownResult::Output(bytes(&words, 3)?)));
    }
    Ok(cases)
}

fn ed25519_verify() -> Result<Vec<KnownOperation>, SelfTestFailure> {
    let mut cases = Vec::new();
    for (tag, at, status) in [("good", 1, Status::Done), ("bad", 0, Status::Rejected)] {
        for words in tagged(ED25519, tag) {
            let key = raw::ed25519_public(&bytes(&words, at)?).map_err(bad_key)?;
            cases.push(KnownOperation::signed(&key, bytes(&words, at + 1)?, bytes(&words, at + 2)?, status));
        }
    }
    Ok(cases)
}

fn x25519() -> Result<Vec<KnownOperation>, SelfTestFailure> {
    let mut cases = Vec::new();
    for words in tagged(include_str!("data/x25519.txt"), "dh") {
        let key = raw::x25519_private(&bytes(&words, 0)?).map_err(bad_key)?;
        cases.push(KnownOperation::plain(&key, bytes(&words, 1)?, KnownResult::Output(bytes(&words, 2)?)));
    }
    Ok(cases)
}

const ECDH: &str = include_str!("data/ecdh.txt");

fn ecdh(curve: Curve) -> Result<Vec<KnownOperation>, SelfTestFailure> {
    let key = |words: &[&str]| raw::ec_private(curve, &bytes(words, 0)?).map_err(bad_key);
    let mut cases = Vec::new();
    for words in tagged(ECDH, &curve.to_string()) {
        let expected = KnownResult::Output(bytes(&words, 2)?);
        cases.push(KnownOperation::plain(&key(&words)?, bytes(&words, 1)?, expected));
    }
    for words in tagged(ECDH, &format!("{curve}-bad")) {
        let expected = KnownResult::Status(Status::OutOfRange);
        cases.push(KnownOperation::plain(&key(&words)?, bytes(&words, 1)?, expected));
    }
    Ok(cases)
}
