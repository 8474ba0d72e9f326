//! Openings of TLS records in CBC mode with paddings of chosen length. An attacker who can distinguish them decrypts
//! any message (AlFardan and Paterson, "Lucky Thirteen", 2013).
//!
//! Every record has a well-formed padding and a wrong MAC, so that all are rejected. The fixed class has the shortest
//! padding, and the random class one of the longest. An implementation that hashes the fragment only takes four blocks
//! fewer for the second class.

use std::borrow::Cow;
use std::hint::black_box;

use oarlock::Accelerator;
use oarlock_core::{
    ChainOrder, Column, Direction, Engine, Fingerprint, InputSource, Jobs, Key, KeyParts, KeySource,
    MTE_AAD_LEN, Outcomes, OutputSink, Records, Shape, Span, Status,
};

use crate::LeakError;
use crate::report::TimeRow;
use crate::subject::TestRandom;
use crate::timing::{SampleClock, row};
use crate::welch::{CroppedTests, PILOT, SampleClass};

/// The names of the subjects.
pub const NAMES: [&str; 3] = [
    "aes128-cbc-hmac-sha1-mte-decrypt",
    "aes128-cbc-hmac-sha256-mte-decrypt",
    "tdes3-cbc-hmac-sha1-mte-decrypt",
];

/// The number of records in a batch.
pub const BATCH: usize = 32;

/// The number of ciphertexts of each class.
const POOL: usize = 256;

/// The length of a ciphertext: room for the longest padding and a MAC.
const LEN: usize = 320;

/// The room for an IV.
const IV: usize = 16;

/// A shape with ciphertexts of both classes.
#[derive(Debug)]
pub struct TlsSubject {
    name: String,
    shape: Shape,
    /// The cipher key and the MAC key.
    keys: [Key; 2],
    /// The IV and the associated data that all records share, and room for the ciphertexts of a batch.
    data: Vec<u8>,
    /// Pairs with a ciphertext of each class. Both classes are drawn from the same range of memory.
    pairs: Vec<[PaddedRecord; 2]>,
    dice: TestRandom,
    is_planted: bool,
}

/// A ciphertext, and the number of padding bytes in it.
#[derive(Clone, Debug)]
struct PaddedRecord {
    bytes: Vec<u8>,
    padding_len: usize,
}

impl TlsSubject {
    /// Makes a subject with its ciphertexts. A planted leak takes a step for every byte of the padding.
    ///
    /// # Errors
    /// The name is unknown, or there is no accelerator.
    pub fn new(name: &str, is_planted: bool) -> Result<Self, LeakError> {
        let unknown = || LeakError::Unknown { found: name.to_owned(), known: NAMES.join(", ") };
        let is_ours = |shape: &Shape| NAMES.contains(&name) && shape.to_string() == name;
        let shape = Shape::chains().into_iter().find(is_ours).ok_or_else(unknown)?;
        let Shape::Chain { cipher, mac, .. } = shape else { return Err(unknown()) };
        let mut dice = TestRandom::new(0x7150);
        let lens = [cipher.alg.key_len(), mac.tag_len()];
        let keys = lens.map(|len| {
            Key::local(KeyParts::Secret(dice.bytes(len).into()), Fingerprint::new([len as u8; 32]))
        });
        let data = dice.bytes(IV + MTE_AAD_LEN + BATCH * LEN);
        let mut subject =
            Self { name: name.to_owned(), shape, keys, data, pairs: Vec::new(), dice, is_planted };
        // AWS-LC alone makes the ciphertexts.
        let accelerator = Accelerator::builder().engines(["scalar"]).build()?;
        for _ in 0..POOL {
            let long = 240 + subject.dice.below(16);
            let pair = [subject.seal(&accelerator, 1)?, subject.seal(&accelerator, long)?];
            subject.pairs.push(pair);
        }
        Ok(subject)
    }

    /// Returns the shape.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the bytes of both keys. The padding is as secret as they are, because it is decrypted with them.
    pub fn secrets(&self) -> impl Iterator<Item = &[u8]> {
        self.keys.iter().filter_map(Key::secret).map(|secret| secret.expose())
    }

    /// Times `samples` batches on an engine, with a random class for each. `tick` is called after every sample.
    ///
    /// # Errors
    /// A record is not rejected. The time was not that of the operation.
    pub fn measure(
        &mut self,
        engine: &dyn Engine,
        samples: u64,
        clock: &mut impl SampleClock,
        tick: &mut dyn FnMut(),
    ) -> Result<TimeRow, LeakError> {
        let pilot = PILOT.min(samples as usize / 10);
        let mut cropped = CroppedTests::new(pilot);
        let mut out = Outcomes::default();
        for _ in 0..samples + pilot as u64 {
            // A random order, so that a drift of the clock or the temperature hits both classes alike.
            let class = if self.dice.below(2) == 0 { SampleClass::Fixed } else { SampleClass::Random };
            cropped.add(class, self.sample(engine, class, &mut out, clock)?);
            tick();
        }
        let leaf = engine.leaf(self.shape).map_or_else(|| engine.name(), |leaf| leaf.name);
        let leaf = if self.is_planted { "planted" } else { leaf };
        Ok(row(&self.name, leaf.into(), &[cropped]))
    }

    /// Opens one batch of a class and returns its time.
    ///
    /// # Errors
    /// A record is not rejected, or the engine fails.
    pub fn sample(
        &mut self,
        engine: &dyn Engine,
        class: SampleClass,
        out: &mut Outcomes,
        clock: &mut impl SampleClock,
    ) -> Result<u64, LeakError> {
        let column = usize::from(class == SampleClass::Random);
        let mut padding_lens = [0; BATCH];
        for (at, padding_len) in padding_lens.iter_mut().enumerate() {
            // All batches lie at one place, so that the classes do not differ by addresses.
            let drawn = &self.pairs[self.dice.below(self.pairs.len())][column];
            let start = IV + MTE_AAD_LEN + at * LEN;
            self.data[start..start + LEN].copy_from_slice(&drawn.bytes);
            *padding_len = drawn.padding_len;
        }
        let records = self.records();
        let parts = [&records];
        let jobs = Jobs::Records(self.shape, &parts);
        out.reset(&jobs);
        let (done, time) = clock.time(|| {
            if self.is_planted {
                padding_lens.iter().for_each(|len| take_steps(*len));
            }
            engine.run(&jobs, out)
        });
        done?;
        if out.statuses().iter().all(|status| *status == Status::Rejected) {
            Ok(time)
        } else {
            Err(LeakError::Refused { subject: self.name.clone() })
        }
    }

    fn records(&self) -> Records<'_> {
        let Shape::Chain { cipher, .. } = self.shape else { return Records::default() };
        let span = |start, len| Span::new(start, len).unwrap_or_default();
        Records {
            len: BATCH,
            keys: Cow::Borrowed(&self.keys),
            data: Cow::Borrowed(&self.data),
            output_len: BATCH * LEN,
            key: Column::One(KeySource::Table(0)),
            second_key: Column::One(KeySource::Table(1)),
            iv: Column::One(span(0, cipher.alg.block_len())),
            aad: Column::One(span(IV, MTE_AAD_LEN)),
            input: Column::Stride {
                first: InputSource::Data(span(IV + MTE_AAD_LEN, LEN)),
                stride: LEN as u32,
            },
            output: Column::Stride { first: OutputSink::Output(span(0, LEN)), stride: LEN as u32 },
            ..Records::default()
        }
    }

    /// Encrypts random bytes with a padding of some length, its last byte included.
    fn seal(&mut self, accelerator: &Accelerator, padding_len: usize) -> Result<PaddedRecord, LeakError> {
        let Shape::Chain { cipher, order: ChainOrder::MacThenEncrypt, .. } = self.shape else {
            return Err(LeakError::Refused { subject: self.name.clone() });
        };
        let shape = Shape::Cipher { alg: cipher.alg, mode: cipher.mode, direction: Direction::Encrypt };
        let mut plain = self.dice.bytes(LEN);
        plain[LEN - padding_len..].fill(padding_len as u8 - 1);
        let start = IV + MTE_AAD_LEN;
        self.data[start..start + LEN].copy_from_slice(&plain);
        let one = Records { len: 1, output_len: LEN, ..self.records() };
        let refused = |_| LeakError::Refused { subject: self.name.clone() };
        let bytes = accelerator.records().run(shape, &one).map_err(refused)?.bytes().to_vec();
        Ok(PaddedRecord { bytes, padding_len })
    }
}

/// Takes the time of a check that ends with the padding.
fn take_steps(count: usize) {
    let mut value = 1_u64;
    for _ in 0..count {
        // Opaque to the optimiser, which would otherwise compute the loop at once.
        value = black_box(value * 3 % 1_000_003);
    }
    black_box(value);
}
