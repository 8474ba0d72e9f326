//! Decryptions of valid and invalid paddings. An attacker who can distinguish them decrypts any message (Bleichenbacher
//! 1998, Manger 2001).
//!
//! The times are those of whole schemes, as callers use them: `run_all` on ciphertexts with chosen paddings. PKCS#1
//! v1.5 compares valid with invalid paddings. Both return messages of random length, because implicit rejection returns
//! a message too. OAEP reports an invalid padding, so that two kinds of invalid paddings are compared: a wrong first
//! byte (Manger's attack), and a wrong hash of the label, which a decoder reads later.
//!
//! ML-KEM compares ciphertexts that were made for the key with damaged ones. Both give a secret.

use std::hint::black_box;

use oarlock::{Accelerator, DigestAlg, Input, Job, JobError, Key, MlKemSet, Scheme};
use oarlock_core::{Jobs, OperationSet, Outcomes, SecondInput};
use oarlock_keys::{generate, import};

use crate::LeakError;
use crate::report::TimeRow;
use crate::subject::TestRandom;
use crate::timing::{SampleClock, row};
use crate::welch::{CroppedTests, PILOT, SampleClass};

/// The names of the subjects.
pub const NAMES: [&str; 5] = [
    "rsa2048-pkcs1-decrypt",
    "rsa2048-oaep-decrypt",
    "ml-kem-512-decaps",
    "ml-kem-768-decaps",
    "ml-kem-1024-decaps",
];

/// The number of decryptions in a batch, which fills the lanes.
pub const BATCH: usize = 8;

/// The number of ciphertexts of each class.
const POOL: usize = 256;

/// The length of the modulus in bytes.
const LEN: usize = 256;

/// A scheme with ciphertexts of both classes.
#[derive(Debug)]
pub struct PaddingSubject {
    name: String,
    scheme: Scheme,
    key: Key,
    accelerator: Accelerator,
    /// Pairs with a ciphertext of each class. Both classes are drawn from the same range of memory.
    pairs: Vec<[SealedCase; 2]>,
    dice: TestRandom,
    is_planted: bool,
}

/// A ciphertext, and the number of bytes after which a decoder that compares byte by byte would stop.
#[derive(Clone, Debug)]
struct SealedCase {
    bytes: Vec<u8>,
    stops_after: usize,
}

impl PaddingSubject {
    /// Makes a scheme with its ciphertexts. A planted leak takes a step for every byte before the flaw.
    ///
    /// # Errors
    /// The name is unknown, the key cannot be read, or there is no accelerator.
    pub fn new(name: &str, is_planted: bool) -> Result<Self, LeakError> {
        let scheme = match NAMES.iter().position(|known| *known == name) {
            Some(0) => Scheme::RsaPkcs1Decrypt,
            Some(at @ 2..) => Scheme::MlKemDecaps { set: MlKemSet::ALL[at - 2] },
            Some(_) => Scheme::RsaOaepDecrypt { digest: DigestAlg::Sha256, mgf: DigestAlg::Sha256 },
            None => {
                return Err(LeakError::Unknown { found: name.to_owned(), known: NAMES.join(", ") });
            }
        };
        let key_error = |error| LeakError::Key { subject: name.to_owned(), error };
        let key = match scheme {
            Scheme::MlKemDecaps { set } => generate::ml_kem(set),
            _ => import::pem(include_bytes!("keys/rsa2048.pem"), None),
        };
        let key = key.map_err(key_error)?;
        // A cross-check at random times would hide small differences.
        let accelerator = Accelerator::builder().cross_check(0.0).threads(1).lazy().build()?;
        let mut subject = Self {
            name: name.to_owned(),
            scheme,
            key,
            accelerator,
            pairs: Vec::new(),
            dice: TestRandom::new(0xB1E1),
            is_planted,
        };
        for _ in 0..POOL {
            let pair = [subject.seal(SampleClass::Fixed)?, subject.seal(SampleClass::Random)?];
            subject.pairs.push(pair);
        }
        Ok(subject)
    }

    /// Times `samples` batches, with a random class for each. `tick` is called after every sample.
    ///
    /// # Errors
    /// A decryption of PKCS#1 v1.5 is rejected, or a decryption of OAEP is not. The time was not that of the operation.
    pub fn measure(
        &mut self,
        samples: u64,
        clock: &mut impl SampleClock,
        tick: &mut dyn FnMut(),
    ) -> Result<TimeRow, LeakError> {
        let pilot = PILOT.min(samples as usize / 10);
        let mut cropped = CroppedTests::new(pilot);
        for _ in 0..samples + pilot as u64 {
            // A random order, so that a drift of the clock or the temperature hits both classes alike.
            let class = if self.dice.below(2) == 0 { SampleClass::Fixed } else { SampleClass::Random };
            let drawn: Vec<usize> = (0..BATCH).map(|_| self.dice.below(self.pairs.len())).collect();
            cropped.add(class, self.sample(class, &drawn, clock)?);
            tick();
        }
        let leaf = if self.is_planted { "planted" } else { "schemes" };
        Ok(row(&self.name, leaf.into(), &[cropped]))
    }

    fn sample(
        &self,
        class: SampleClass,
        drawn: &[usize],
        clock: &mut impl SampleClock,
    ) -> Result<u64, LeakError> {
        let column = usize::from(class == SampleClass::Random);
        // The copies lie side by side, so that the classes do not differ by the addresses of ciphertexts.
        let sealed: Vec<SealedCase> = drawn.iter().map(|at| self.pairs[*at][column].clone()).collect();
        let jobs: Vec<Job<'_>> = sealed
            .iter()
            .map(|SealedCase { bytes, .. }| {
                Job::with_scheme(self.scheme, &self.key, Input::Message(bytes), &[])
            })
            .collect();
        let (answers, time) = clock.time(|| {
            if self.is_planted {
                sealed.iter().for_each(|sealed| take_steps(sealed.stops_after));
            }
            self.accelerator.run_all(&jobs)
        });
        // Implicit rejection answers every ciphertext of PKCS#1 v1.5 and ML-KEM. No padding of OAEP here is valid.
        let is_answered = !matches!(self.scheme, Scheme::RsaOaepDecrypt { .. });
        let is_expected = |answer: Result<&[u8], JobError>| match answer {
            Ok(_) => is_answered,
            Err(error) => !is_answered && error == JobError::Rejected,
        };
        if answers.iter().all(is_expected) {
            Ok(time)
        } else {
            Err(LeakError::Refused { subject: self.name.clone() })
        }
    }

    fn seal(&mut self, class: SampleClass) -> Result<SealedCase, LeakError> {
        if let Scheme::MlKemDecaps { set } = self.scheme {
            return self.encapsulate(set, class);
        }
        let (encoded, stops_after) = match (self.scheme, class) {
            (Scheme::RsaPkcs1Decrypt, SampleClass::Fixed) => (self.pkcs1(), LEN),
            (Scheme::RsaPkcs1Decrypt, SampleClass::Random) => self.bad_pkcs1(),
            (_, SampleClass::Fixed) => (self.oaep(1), 1),
            // The first byte, and the 32 bytes of the seed.
            (_, SampleClass::Random) => (self.oaep(0), 33),
        };
        Ok(SealedCase { bytes: self.encrypt(&encoded)?, stops_after })
    }

    /// Makes a ciphertext, with one damaged bit in the random class.
    fn encapsulate(&mut self, set: MlKemSet, class: SampleClass) -> Result<SealedCase, LeakError> {
        let made = self.accelerator.run_all(&[Job::encapsulate(&self.key)]);
        let made = made.get(0).map_err(|_| LeakError::Refused { subject: self.name.clone() })?;
        let mut bytes = made[..set.ciphertext_len()].to_vec();
        let mut stops_after = bytes.len();
        if class == SampleClass::Random {
            stops_after = self.dice.below(bytes.len());
            bytes[stops_after] ^= 1 << self.dice.below(8);
        }
        Ok(SealedCase { bytes, stops_after })
    }

    /// Makes a valid padding around a message of random length. RFC 8017 7.2.1.
    fn pkcs1(&mut self) -> Vec<u8> {
        let mut encoded = self.random();
        // Padding bytes are not zero: the first zero is the separator.
        encoded.iter_mut().skip(2).for_each(|byte| *byte |= 1);
        encoded[..2].copy_from_slice(&[0, 2]);
        // Two header bytes and eight bytes of padding come first.
        let separator = 10 + self.dice.below(LEN - 10);
        encoded[separator] = 0;
        encoded
    }

    /// Makes an invalid padding: wrong header, short padding, or no separator.
    fn bad_pkcs1(&mut self) -> (Vec<u8>, usize) {
        let mut encoded = self.pkcs1();
        match self.dice.below(4) {
            0 => {
                encoded[0] = 1;
                (encoded, 0)
            }
            1 => {
                encoded[1] = 1;
                (encoded, 1)
            }
            2 => {
                let early = 2 + self.dice.below(8);
                encoded[early] = 0;
                (encoded, early)
            }
            _ => {
                encoded.iter_mut().skip(2).for_each(|byte| *byte |= 1);
                (encoded, LEN)
            }
        }
    }

    /// Makes an invalid OAEP padding with this first byte.
    fn oaep(&mut self, first: u8) -> Vec<u8> {
        let mut encoded = self.random();
        encoded[0] = first;
        encoded
    }

    fn random(&mut self) -> Vec<u8> {
        (0..LEN).map(|_| self.dice.next() as u8).collect()
    }

    fn encrypt(&self, encoded: &[u8]) -> Result<Vec<u8>, LeakError> {
        let refused = || LeakError::Refused { subject: self.name.clone() };
        // The raw public operation: schemes would pad the encoded message again.
        let shape = self.key.rsa_public_shape().ok_or_else(refused)?;
        let mut set = OperationSet::new(shape);
        set.push(&self.key, encoded, SecondInput::None).map_err(|_| refused())?;
        let operations: Vec<_> = set.iter().collect();
        let jobs = Jobs::Operations(shape, &operations);
        let mut out = Outcomes::default();
        out.reset(&jobs);
        self.accelerator.diagnostics().referee().run(&jobs, &mut out)?;
        Ok(out.result(0).to_vec())
    }
}

/// Takes the time of a comparison that ends early.
fn take_steps(count: usize) {
    let mut value = 1_u64;
    for _ in 0..count * 4 {
        // Opaque to the optimiser, which would otherwise compute the loop at once.
        value = black_box(value * 3 % 1_000_003);
    }
    black_box(value);
}
