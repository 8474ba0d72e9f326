//! The subjects that may leak: shapes with a secret, and batches under one fixed secret or under random secrets.
//!
//! Both classes differ only in the value of the secret: they have the same public inputs, and fresh keys for every
//! batch, made in the same order from the same sizes. A pool of handles would have other addresses for each class,
//! which the time shows.

use oarlock_core::{
    AeadAlg, BlockCipher, CipherMode, Column, Curve, Direction, Engine, Fingerprint, InputSource, Jobs, Key,
    KeyParts, KeySource, LatticePrivate, LatticePrivateParts, MacAlg, ModExpParts, NonceInput, Operation,
    Outcomes, OutputSink, Records, RsaPrivateParts, SecondInput, SecretBytes, Shape, SlhDsaSet, Span, Status,
    X25519PrivateParts,
};
use oarlock_engine_kit::slh_dsa::{self, PortableSteps};
use oarlock_keys::{KeyError, generate, import, raw};

use crate::welch::SampleClass;
use crate::{LeakError, lattice};

/// The number of operations in a batch, or fewer if they fill the lanes.
const LANES: usize = 8;

/// The number of records in a batch, and the bytes of each: whole blocks of every cipher.
const RECORDS: usize = 64;
const RECORD_LEN: usize = 48;

/// The ending of the names of subjects with long records, which engines may compute in another way, and their bytes.
const LONG: &str = "-long";
const LONG_RECORD_LEN: usize = 192;

/// The number of secrets to draw from, because each is expensive to make.
const POOL: usize = 256;
const RSA_POOL: usize = 16;
const SLH_DSA_POOL: usize = 32;

/// Published keys. AWS-LC generates no keys of 1024 bits, and takes minutes for the others under Valgrind.
const RSA_KEYS: [&str; 4] = [
    include_str!("keys/rsa1024.pem"),
    include_str!("keys/rsa2048.pem"),
    include_str!("keys/rsa3072.pem"),
    include_str!("keys/rsa4096.pem"),
];

/// A shape with its secrets.
#[derive(Clone, Debug)]
pub struct Subject {
    name: String,
    shape: Shape,
    /// Pairs of the fixed secret and a random secret. Both classes are drawn from the same range of memory.
    pairs: Vec<[SecretCase; 2]>,
    input: Vec<u8>,
    dice: TestRandom,
}

#[derive(Clone, Debug)]
struct SecretCase {
    parts: KeyParts,
    /// The bytes that hedge a nonce, or from which an encapsulation is made.
    hedge: [u8; 32],
}

/// The jobs of one class.
#[derive(Debug)]
pub struct SecretBatch {
    shape: Shape,
    keys: Vec<Key>,
    hedges: Vec<[u8; 32]>,
    input: Vec<u8>,
}

impl Subject {
    /// Returns the names of all subjects that `engine` offers. RSA is limited to `max_bits`.
    #[must_use]
    pub fn names(engine: &dyn Engine, max_bits: u16) -> Vec<String> {
        let is_short = |shape: &Shape| match shape {
            Shape::RsaPrivate { bits } => *bits <= max_bits,
            _ => true,
        };
        let kinds =
            kinds().into_iter().filter(|(_, shape)| is_short(shape) && engine.offers(*shape).is_some());
        kinds.map(|(name, _)| name).collect()
    }

    /// Makes a subject with its secrets.
    ///
    /// # Errors
    /// The name is unknown, or a key cannot be made.
    pub fn new(name: &str) -> Result<Self, LeakError> {
        Self::make(name, POOL)
    }

    /// Makes a subject without random keys, for checks that ignore values. Both classes differ in the bytes that hedge
    /// nonces.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_one_key(name: &str) -> Result<Self, LeakError> {
        Self::make(name, 0)
    }

    fn make(name: &str, pool: usize) -> Result<Self, LeakError> {
        let known = || kinds().into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(", ");
        let unknown = || LeakError::Unknown { found: name.to_owned(), known: known() };
        let (name, shape) = kinds().into_iter().find(|(known, _)| known == name).ok_or_else(unknown)?;
        let made = make(shape, pool).map_err(|error| LeakError::Key { subject: name.clone(), error })?;
        let (fixed, random) = made;
        let pairs = random.iter().map(|random| [fixed.clone(), random.clone()]).collect();
        let input = input(&name, shape);
        Ok(Self { name, shape, pairs, input, dice: TestRandom::new(0x1EAF) })
    }

    /// Returns the same secrets with random numbers of their own.
    #[must_use]
    pub fn for_thread(&self, number: usize) -> Self {
        Self { dice: TestRandom::new(0x1EAF + number as u64), ..self.clone() }
    }

    /// Returns a generator that decides classes.
    pub fn coin(&mut self) -> TestRandom {
        TestRandom::new(self.dice.next())
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the shape.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Makes a fresh batch of a class with `count` jobs.
    pub fn batch(&mut self, class: SampleClass, count: usize) -> SecretBatch {
        let mut batch = SecretBatch {
            shape: self.shape,
            keys: Vec::new(),
            hedges: Vec::new(),
            input: self.input.clone(),
        };
        for _ in 0..count {
            // Both classes draw, so that they do not differ by drawing.
            let drawn = &self.pairs[self.dice.below(self.pairs.len())];
            let hedge = self.dice.hedge();
            let (secret, hedge) = match class {
                SampleClass::Fixed if self.varies_with_hedge() => (&drawn[0], hedge),
                SampleClass::Fixed => (&drawn[0], drawn[0].hedge),
                SampleClass::Random => (&drawn[1], hedge),
            };
            // Fresh for each batch: an engine that keeps tables by fingerprint would skip work for a known key.
            let mut fingerprint = [0; 32];
            fingerprint[..8].copy_from_slice(&self.dice.next().to_ne_bytes());
            batch.keys.push(Key::local(secret.parts.clone(), Fingerprint::new(fingerprint)));
            batch.hedges.push(hedge);
        }
        batch
    }

    /// True if the time of a job depends on its hedge, which may be seen: the attempts to sign with ML-DSA, and the
    /// lengths of the chains of SLH-DSA. With fixed bytes these would be fixed, too.
    fn varies_with_hedge(&self) -> bool {
        matches!(self.shape, Shape::MlDsaSign { .. } | Shape::SlhDsaSign { .. })
    }

    /// Draws the hedges of a batch anew if its time depends on them. Otherwise all samples of a batch would be one
    /// sample, counted often, and Welch's t too large.
    pub fn draw_hedges(&mut self, batch: &mut SecretBatch) {
        if self.varies_with_hedge() {
            batch.hedges.iter_mut().for_each(|hedge| *hedge = self.dice.hedge());
        }
    }

    /// Makes a batch that fills the engine's lanes.
    pub fn full_batch(&mut self, class: SampleClass, engine: &dyn Engine) -> SecretBatch {
        let count = match engine.leaf(self.shape) {
            _ if self.shape.is_record() => RECORDS,
            _ if self.shape.is_long() => 1,
            Some(leaf) => leaf.width.clamp(1, LANES),
            None => LANES,
        };
        self.batch(class, count)
    }
}

impl SecretBatch {
    /// Lends the jobs.
    pub fn with_jobs<T>(&self, take: impl FnOnce(&Jobs<'_>) -> T) -> T {
        if self.shape.is_record() {
            let records = self.records();
            return take(&Jobs::Records(self.shape, &[&records]));
        }
        let extra = |hedge| match self.shape {
            Shape::EcdsaSign { .. } | Shape::MlDsaSign { .. } | Shape::SlhDsaSign { .. } => {
                SecondInput::NonceInput(NonceInput::Hedged(hedge))
            }
            _ => SecondInput::None,
        };
        // The random bytes of an encapsulation are its input.
        let is_random = matches!(self.shape, Shape::MlKemEncaps { .. });
        let inputs = self.hedges.iter().map(|hedge| if is_random { &hedge[..] } else { &self.input[..] });
        let lanes = self.keys.iter().zip(inputs).zip(&self.hedges);
        let operation = |((key, input), hedge)| Operation::new(self.shape, key, input, extra(hedge)).ok();
        // unreachable because the subject made keys and input for its shape
        let operations: Vec<Operation<'_>> = lanes.map_while(operation).collect();
        take(&Jobs::Operations(self.shape, &operations))
    }

    /// Returns one record per key. All have the same input, whose first bytes are the IV.
    fn records(&self) -> Records<'_> {
        let (iv_len, output_len, tag_len) = record_lens(self.shape, self.input.len());
        let span = |start, len| Span::new(start, len).unwrap_or_default();
        let starts = || (0..self.keys.len()).map(|at| at * (output_len + tag_len));
        Records {
            len: self.keys.len(),
            keys: self.keys.as_slice().into(),
            data: self.input.as_slice().into(),
            output_len: self.keys.len() * (output_len + tag_len),
            key: Column::Each((0..self.keys.len()).map(|at| KeySource::Table(at as u32)).collect()),
            iv: Column::One(span(0, iv_len)),
            input: Column::One(InputSource::Data(span(0, self.input.len()))),
            output: Column::Each(starts().map(|at| OutputSink::Output(span(at, output_len))).collect()),
            tag: Column::Each(starts().map(|at| span(at + output_len, tag_len)).collect()),
            ..Records::default()
        }
    }

    /// Runs the batch. True if every job succeeded.
    ///
    /// # Errors
    /// The engine's fault.
    pub fn run(&self, engine: &dyn Engine, out: &mut Outcomes) -> Result<bool, LeakError> {
        self.with_jobs(|jobs| {
            out.reset(jobs);
            engine.run(jobs, out)
        })?;
        Ok(out.statuses().iter().all(|status| *status == Status::Done))
    }

    /// Returns all secrets of the batch.
    pub fn secrets(&self) -> impl Iterator<Item = &[u8]> {
        let parts = self.keys.iter().filter_map(Key::parts).flat_map(secret_parts);
        parts.chain(self.hedges.iter().map(|hedge| &hedge[..]))
    }
}

fn secret_parts(parts: &KeyParts) -> Vec<&[u8]> {
    let whole = match parts {
        KeyParts::RsaPrivate(RsaPrivateParts { d, p, q, dp, dq, qinv, .. }) => vec![d, p, q, dp, dq, qinv],
        KeyParts::ModExp(parts) => vec![&parts.exponent],
        KeyParts::EcPrivate(parts) => vec![&parts.scalar],
        KeyParts::Ed25519Private(parts) => vec![&parts.seed],
        KeyParts::X25519Private(parts) => vec![&parts.scalar],
        KeyParts::Secret(secret) => vec![secret],
        KeyParts::MlKemPrivate(LatticePrivateParts { private, .. }) => vec![lattice_secret(private)],
        KeyParts::MlDsaPrivate(LatticePrivateParts { private, .. }) => vec![lattice_secret(private)],
        // PK.seed and PK.root follow.
        KeyParts::SlhDsaPrivate(set, private) => return vec![&private.expose()[..2 * set.n()]],
        _ => Vec::new(),
    };
    whole.into_iter().map(SecretBytes::expose).collect()
}

fn lattice_secret(private: &LatticePrivate) -> &SecretBytes {
    match private {
        LatticePrivate::Seed(secret) | LatticePrivate::Expanded(secret) => secret,
    }
}

/// The bits of the exponent of a long modulus. The length is public, and only sets the number of equal steps.
const EXPONENT_BITS: u16 = 64;

/// Returns names and shapes. Long records of AES have names of their own, because engines may put their round keys side
/// by side, or hash with powers of a key; the base point of X25519 has one, because engines may have a table for it.
fn kinds() -> Vec<(String, Shape)> {
    let secret = |shape: &Shape| {
        matches!(
            shape,
            Shape::RsaPrivate { .. }
                | Shape::ModExp { .. }
                | Shape::EcdsaSign { .. }
                | Shape::Ed25519Sign
                | Shape::X25519
                | Shape::Ecdh { .. }
                | Shape::MlKemKeygen { .. }
                | Shape::MlKemEncaps { .. }
                | Shape::MlKemDecaps { .. }
                | Shape::MlDsaSign { .. }
        ) || is_short_slh_dsa(*shape)
    };
    let shortened = |shape| match shape {
        Shape::ModExp { bits: bits @ 1025.., .. } => Shape::ModExp { bits, exponent_bits: EXPONENT_BITS },
        shape => shape,
    };
    let shapes = Shape::public_key().into_iter().map(defined).filter(secret).map(shortened);
    let keyed = Shape::records().into_iter().filter(|shape| record_key_len(*shape).is_some());
    let usual = shapes.chain(keyed).map(|shape| (shape.to_string(), shape));
    let long = [
        Shape::Cipher { alg: BlockCipher::Aes128, mode: CipherMode::Cbc, direction: Direction::Encrypt },
        Shape::Mac { alg: MacAlg::Aes256Cmac },
        Shape::Aead { alg: AeadAlg::Aes128GcmSiv, direction: Direction::Encrypt },
    ];
    let long = long.into_iter().map(|shape| (format!("{shape}{LONG}"), shape));
    usual.chain(long).chain([("x25519-base".into(), Shape::X25519)]).collect()
}

/// True for fast signing with SLH-DSA. The sets with small signatures take the same steps, for twenty times as long.
fn is_short_slh_dsa(shape: Shape) -> bool {
    match shape {
        Shape::SlhDsaKeygen { set } | Shape::SlhDsaSign { set } => set.layers() > 8,
        _ => false,
    }
}

/// Returns the same shape. Valgrind takes parameter sets for uninitialised where the compiler makes several of one
/// load.
fn defined(shape: Shape) -> Shape {
    #[cfg(feature = "valgrind")]
    return oarlock_lanes::leak_check::revealed(shape);
    #[cfg(not(feature = "valgrind"))]
    shape
}

/// Returns the length of a record's key in bytes. None if the shape has no key, or if it opens or unwraps, which
/// rejects random input.
fn record_key_len(shape: Shape) -> Option<usize> {
    match shape {
        Shape::Cipher { alg, .. } => Some(alg.key_len()),
        Shape::Aead { alg, direction: Direction::Encrypt } => Some(alg.key_len()),
        Shape::Fpe { alg, .. } => Some(alg.key_len()),
        Shape::Mac { alg } => Some(alg.key_len().unwrap_or(32)),
        _ => None,
    }
}

/// Returns the lengths of a record's IV, output and tag in bytes.
fn record_lens(shape: Shape, input_len: usize) -> (usize, usize, usize) {
    match shape {
        Shape::Cipher { alg, .. } => (alg.block_len(), input_len, 0),
        Shape::Aead { alg, .. } => (alg.usual_iv_len(), input_len, 16),
        Shape::Fpe { .. } => (FPE_RADIX.len(), input_len, 0),
        Shape::Mac { alg } => (0, alg.tag_len(), 0),
        _ => (12, input_len, 16),
    }
}

/// Makes the fixed secret, with few set bits if it can be chosen, and `pool` random secrets. Without a pool, the fixed
/// secret stands for them.
fn make(shape: Shape, pool: usize) -> Result<(SecretCase, Vec<SecretCase>), KeyError> {
    let several = |make: fn() -> Result<Key, KeyError>, count| (0..count).map(move |_| parts(&make()?));
    let parts: Vec<KeyParts> = match shape {
        Shape::RsaPrivate { bits } => {
            let published = rsa_keys(bits)?;
            let wanted = if published.len() > 1 { 0 } else { pool.min(RSA_POOL) };
            let more = (0..wanted).map(|_| generate::rsa(bits));
            let keys = published.into_iter().take(pool + 1).map(Ok).chain(more);
            keys.map(|key| parts(&key?)).collect::<Result<_, _>>()?
        }
        Shape::ModExp { bits, exponent_bits } => exponents(bits, exponent_bits, pool)?,
        Shape::EcdsaSign { curve } | Shape::Ecdh { curve } => {
            let more = (0..pool).map(|_| parts(&generate::ec(curve)?));
            std::iter::once(one(curve)).chain(more).collect::<Result<_, _>>()?
        }
        Shape::MlKemKeygen { set } => lattice::ml_kem_seeds(set, pool),
        Shape::MlKemEncaps { set } => lattice::ml_kem_public(set, pool)?,
        Shape::MlKemDecaps { set } => lattice::ml_kem(set, pool)?,
        Shape::MlDsaSign { set } => lattice::ml_dsa(set, pool)?,
        Shape::SlhDsaKeygen { set } | Shape::SlhDsaSign { set } => slh_dsa(set, pool)?,
        Shape::Ed25519Sign => several(generate::ed25519, pool + 1).collect::<Result<_, _>>()?,
        _ => match record_key_len(shape) {
            Some(len) => symmetric(len, pool),
            None => scalars(pool),
        },
    };
    let mut secrets = parts.into_iter().map(|parts| SecretCase { parts, hedge: [0; 32] });
    let fixed = secrets.next().ok_or(NOT_MADE)?;
    let random: Vec<SecretCase> = secrets.collect();
    Ok((fixed.clone(), if random.is_empty() { vec![fixed] } else { random }))
}

/// Makes keys with the same PK.seed. The secret seeds of the first are zero.
fn slh_dsa(set: SlhDsaSet, pool: usize) -> Result<Vec<KeyParts>, KeyError> {
    let n = set.n();
    let mut dice = TestRandom::new(0x51BD);
    let key = |index: usize| {
        let mut private = if index == 0 { vec![0; 2 * n] } else { dice.bytes(2 * n) };
        private.extend(vec![0x5E; n]);
        let steps = PortableSteps::new(set, [&private[2 * n..]]);
        let root = slh_dsa::root(&steps, set, &private[..n], &|| false).map_err(|_| NOT_MADE)?;
        private.extend(root);
        Ok(KeyParts::SlhDsaPrivate(set, SecretBytes::new(private)))
    };
    (0..=pool.min(SLH_DSA_POOL)).map(key).collect()
}

fn parts(key: &Key) -> Result<KeyParts, KeyError> {
    key.parts().cloned().ok_or(NOT_MADE)
}

const NOT_MADE: KeyError = KeyError::Machine { what: "making a secret" };

fn rsa_keys(bits: u16) -> Result<Vec<Key>, KeyError> {
    const END: &str = "-----END RSA PRIVATE KEY-----\n";
    let each = RSA_KEYS.iter().flat_map(|text| text.split_inclusive(END));
    let keys = each.map(|pem| import::pem(pem.as_bytes(), None)).collect::<Result<Vec<Key>, _>>()?;
    Ok(keys.into_iter().filter(|key| key.serves(Shape::RsaPrivate { bits })).collect())
}

/// Makes the key of scalar 1.
fn one(curve: Curve) -> Result<KeyParts, KeyError> {
    let mut scalar = vec![0; curve.scalar_len()];
    scalar[curve.scalar_len() - 1] = 1;
    parts(&raw::ec_private(curve, &scalar)?)
}

/// Makes exponents of full length for one modulus. The first has a single bit.
fn exponents(bits: u16, exponent_bits: u16, pool: usize) -> Result<Vec<KeyParts>, KeyError> {
    let n =
        rsa_keys(bits)?.first().and_then(Key::rsa_public).map(|public| public.n.clone()).ok_or(NOT_MADE)?;
    let len = usize::from(exponent_bits).div_ceil(8);
    let mut dice = TestRandom::new(0xE4B0);
    let exponent = |index: usize| {
        // The top bit is set, so that all exponents have the same public length.
        let mut exponent = if index == 0 { vec![0; len] } else { dice.bytes(len) };
        exponent[0] |= 0x80;
        KeyParts::ModExp(ModExpParts { n: n.clone(), exponent: SecretBytes::new(exponent), exponent_bits })
    };
    Ok((0..=pool).map(exponent).collect())
}

/// Makes scalars. The first is zero, which clamping turns into 2^254. Key agreement does not use the public keys.
fn scalars(pool: usize) -> Vec<KeyParts> {
    let mut dice = TestRandom::new(0x2551);
    let scalar = |index: usize| {
        let bytes = if index == 0 { vec![0; 32] } else { dice.bytes(32) };
        KeyParts::X25519Private(X25519PrivateParts { scalar: SecretBytes::new(bytes), public: [9; 32] })
    };
    (0..=pool).map(scalar).collect()
}

/// Makes symmetric keys. The first is zero.
fn symmetric(len: usize, pool: usize) -> Vec<KeyParts> {
    let mut dice = TestRandom::new(0x5EC2);
    let key = |index| if index == 0 { vec![0; len] } else { dice.bytes(len) };
    (0..=pool).map(key).map(|bytes| KeyParts::Secret(SecretBytes::new(bytes))).collect()
}

/// The radix of FF1, as the IV column has it.
const FPE_RADIX: [u8; 4] = [0, 0, 1, 0];

/// Makes the public input: an integer below every modulus, a digest, a message, or a peer's key.
fn input(name: &str, shape: Shape) -> Vec<u8> {
    let len = match shape.is_record() {
        true if name.ends_with(LONG) => LONG_RECORD_LEN,
        true => RECORD_LEN,
        false => 32,
    };
    let mut input = TestRandom::new(0x1417).bytes(shape.input_len().unwrap_or(len));
    match shape {
        // Below every modulus of this length.
        Shape::RsaPrivate { .. } | Shape::ModExp { .. } => input[0] = 0,
        Shape::X25519 if name.ends_with("base") => {
            input.fill(0);
            input[0] = 9;
        }
        Shape::Ecdh { curve } => return peer_point(curve),
        // Bytes are numerals below 256.
        Shape::Fpe { .. } => input[..FPE_RADIX.len()].copy_from_slice(&FPE_RADIX),
        _ => {}
    }
    input
}

/// Returns the point of a peer: that of a fixed scalar below the order, or zeros, which the engine refuses, if there is
/// none.
fn peer_point(curve: Curve) -> Vec<u8> {
    let key = raw::ec_private(curve, &vec![0x17; curve.scalar_len()]);
    let point = key.as_ref().ok().and_then(|key| Some(key.ec_public()?.1.to_vec()));
    point.unwrap_or_else(|| vec![0; curve.point_len()])
}

/// The generator SplitMix64 (Steele, Lea and Flood 2014).
#[derive(Clone, Debug)]
pub struct TestRandom(u64);

impl TestRandom {
    /// Makes a generator. The same seed gives the same numbers.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next 64 bits.
    #[expect(clippy::should_implement_trait, reason = "it never ends")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }

    fn hedge(&mut self) -> [u8; 32] {
        std::array::from_fn(|_| self.next() as u8)
    }
}
