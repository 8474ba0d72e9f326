//! Long exponentiations on the accelerator, many of one shape at once, so that lanes fill.

use oarlock_core::{JobError, Key, OperationSet, SecondInput, Shape};
use oarlock_dispatch::{Results, SubmitOptions, Ticket};
use oarlock_keys::threshold::ThresholdKey;

use super::ThresholdError;
use crate::{Accelerator, keys};

/// Exponentiations of one shape, not yet done.
pub(super) struct PowerBatch {
    key: ThresholdKey,
    exponent_bits: u16,
    set: OperationSet,
}

/// The index of a power among its results.
#[derive(Clone, Copy)]
pub(super) struct PowerIndex(usize);

/// Powers that are done, or why one is not.
pub(super) struct FinishedPowers(Results);

impl PowerBatch {
    /// Creates a batch modulo the key's n, with exponents of at most `exponent_bits` bits.
    pub(super) fn new(key: &ThresholdKey, exponent_bits: u16) -> Self {
        let shape = Shape::ModExp { bits: key.modulus_bits(), exponent_bits };
        Self { key: key.clone(), exponent_bits, set: OperationSet::new(shape) }
    }

    /// A key for an exponent of this shape, big-endian and not zero.
    pub(super) fn exponent(&self, exponent: &[u8]) -> Result<Key, ThresholdError> {
        // An exponent takes as many steps as the shape has bits, so the time shows nothing of a secret one.
        Ok(keys::rsa::mod_exp(self.key.modulus(), exponent, self.exponent_bits)?)
    }

    /// `base^exponent`; the base at n's width and below n.
    pub(super) fn add(&mut self, base: &[u8], exponent: &Key) -> Result<PowerIndex, ThresholdError> {
        self.set.push(exponent, base, SecondInput::None)?;
        Ok(PowerIndex(self.set.len() - 1))
    }

    /// Through the queue.
    pub(super) fn submit(
        self,
        accelerator: &Accelerator,
        options: SubmitOptions,
    ) -> Result<Ticket, JobError> {
        accelerator.raw().submit(self.set, options)
    }

    /// On this thread.
    pub(super) fn run(&self, accelerator: &Accelerator) -> FinishedPowers {
        FinishedPowers(accelerator.raw().run(&self.set))
    }
}

impl From<Results> for FinishedPowers {
    fn from(results: Results) -> Self {
        Self(results)
    }
}

impl FinishedPowers {
    /// A power at n's width.
    pub(super) fn get(&self, index: PowerIndex) -> Result<&[u8], JobError> {
        self.0.get(index.0)
    }
}
