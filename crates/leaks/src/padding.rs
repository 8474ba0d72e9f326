//! Decryptions of good and bad paddings: whoever can tell them apart decrypts anything (Bleichenbacher 1998, Manger 2001).
//!
//! Whole schemes are timed, as callers get them: `run_all` on ciphertexts that were made by padding. Of PKCS#1 v1.5 good messages are
//! held against bad ones, which have random lengths alike, because implicit rejection gives a message too. Of OAEP, where the answer itself says
//! no, two ways of being bad are held against each other: the first byte (Manger's) and the label's hash, which a decoder meets
//! later.

use std::hint::black_box;

use oarlock::{Accelerator, DigestAlg, Input, Job, JobError, Key, Scheme};
use oarlock_core::{Jobs, OperationSet, Outcomes, SecondInput};
use oarlock_keys::import;

use crate::LeakError;
use crate::report::TimeRow;
use crate::subject::Dice;
use crate::timing::{Clock, MAX_T};
use crate::welch::{Class, Cropped, PILOT};

/// What can be looked at.
pub const NAMES: [&str; 2] = ["rsa2048-pkcs1-decrypt", "rsa2048-oaep-decrypt"];

/// Decryptions of a batch: as many as fill the lanes.
pub const BATCH: usize = 8;

/// Ciphertexts of each class.
const POOL: usize = 256;

/// Bytes of the modulus.
const LEN: usize = 256;

/// A scheme with ciphertexts of both classes.
#[derive(Debug)]
pub struct Paddings {
    name: String,
    scheme: Scheme,
    key: Key,
    accelerator: Accelerator,
    /// One of each class, side by side: both classes are drawn from all over the same memory.
    pairs: Vec<[Sealed; 2]>,
    dice: Dice,
    is_planted: bool,
}

/// A ciphertext, and after how many bytes a decoder that compares one after another would stop.
#[derive(Clone, Debug)]
struct Sealed {
    bytes: Vec<u8>,
    stops_after: usize,
}

impl Paddings {
    /// A scheme, its ciphertexts made. A planted one takes a step for every byte until the flaw.
    ///
    /// # Errors
    /// No such name, a key that cannot be read, or no accelerator.
    pub fn new(name: &str, is_planted: bool) -> Result<Self, LeakError> {
        let scheme = match NAMES.iter().position(|own| *own == name) {
            Some(0) => Scheme::RsaPkcs1Decrypt,
            Some(_) => Scheme::RsaOaepDecrypt { digest: DigestAlg::Sha256, mgf: DigestAlg::Sha256 },
            None => {
                return Err(LeakError::Unknown { found: name.to_owned(), known: NAMES.join(", ") });
            }
        };
        let key_error = |error| LeakError::Key { subject: name.to_owned(), error };
        let key = import::pem(include_bytes!("keys/rsa2048.pem"), None).map_err(key_error)?;
        let accelerator = Accelerator::builder().cross_check(0.0).threads(1).build()?;
        let mut own = Self {
            name: name.to_owned(),
            scheme,
            key,
            accelerator,
            pairs: Vec::new(),
            dice: Dice::new(0xB1E1),
            is_planted,
        };
        for _ in 0..POOL {
            let pair = [own.seal(Class::Fixed)?, own.seal(Class::Random)?];
            own.pairs.push(pair);
        }
        Ok(own)
    }

    /// Times `samples` batches, whose class is drawn anew for each. `tick` hears of every sample.
    ///
    /// # Errors
    /// A decryption of PKCS#1 v1.5 is refused, or one of OAEP is not: what was timed was not what it should be.
    pub fn measure(
        &mut self,
        samples: u64,
        clock: &mut impl Clock,
        tick: &mut dyn FnMut(),
    ) -> Result<TimeRow, LeakError> {
        let pilot = PILOT.min(samples as usize / 10);
        let mut cropped = Cropped::new(pilot);
        for _ in 0..samples + pilot as u64 {
            let class = if self.dice.below(2) == 0 { Class::Fixed } else { Class::Random };
            let drawn: Vec<usize> = (0..BATCH).map(|_| self.dice.below(self.pairs.len())).collect();
            cropped.add(class, self.sample(class, &drawn, clock)?);
            tick();
        }
        let (fixed_ns, random_ns) = cropped.means();
        let (t, samples) = (cropped.t(), cropped.count());
        let engine = if self.is_planted { "planted" } else { "schemes" };
        Ok(TimeRow {
            subject: self.name.clone(),
            engine: engine.into(),
            samples,
            fixed_ns,
            random_ns,
            t,
            leaks: t >= MAX_T,
        })
    }

    fn sample(&self, class: Class, drawn: &[usize], clock: &mut impl Clock) -> Result<u64, LeakError> {
        let place = usize::from(class == Class::Random);
        // Copied to one place, so that where a ciphertext lies is no difference.
        let sealed: Vec<Sealed> = drawn.iter().map(|at| self.pairs[*at][place].clone()).collect();
        let jobs: Vec<Job<'_>> = sealed
            .iter()
            .map(|Sealed { bytes, .. }| Job::with_scheme(self.scheme, &self.key, Input::Message(bytes), &[]))
            .collect();
        let (answers, time) = clock.time(|| {
            if self.is_planted {
                sealed.iter().for_each(|sealed| steps(sealed.stops_after));
            }
            self.accelerator.run_all(&jobs)
        });
        let is_pkcs1 = self.scheme == Scheme::RsaPkcs1Decrypt;
        let is_expected = |answer: Result<&[u8], JobError>| match answer {
            Ok(_) => is_pkcs1,
            Err(error) => !is_pkcs1 && error == JobError::Rejected,
        };
        if answers.iter().all(is_expected) {
            Ok(time)
        } else {
            Err(LeakError::Refused { subject: self.name.clone() })
        }
    }

    fn seal(&mut self, class: Class) -> Result<Sealed, LeakError> {
        let (encoded, stops_after) = match (self.scheme, class) {
            (Scheme::RsaPkcs1Decrypt, Class::Fixed) => (self.pkcs1(), LEN),
            (Scheme::RsaPkcs1Decrypt, Class::Random) => self.bad_pkcs1(),
            (_, Class::Fixed) => (self.oaep(1), 1),
            (_, Class::Random) => (self.oaep(0), 33),
        };
        Ok(Sealed { bytes: self.encrypt(&encoded)?, stops_after })
    }

    /// A good padding around a message of random length. RFC 8017 7.2.1.
    fn pkcs1(&mut self) -> Vec<u8> {
        let mut encoded = self.random();
        encoded.iter_mut().skip(2).for_each(|byte| *byte |= 1);
        encoded[..2].copy_from_slice(&[0, 2]);
        let separator = 10 + self.dice.below(LEN - 10);
        encoded[separator] = 0;
        encoded
    }

    /// A flaw of any kind: header, length of the padding, no separator.
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

    /// No good padding, but for its first byte.
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

/// What a comparison that ends early does.
fn steps(count: usize) {
    let mut value = 1_u64;
    for _ in 0..count * 4 {
        value = black_box(value * 3 % 1_000_003);
    }
    black_box(value);
}
