//! Digests of whole messages and of parts of messages.

use oarlock_core::{DigestAlg, EngineFault};

use crate::batch::{AcceptedRecord, RecordBatch, RecordTarget};
use crate::ffi::{HashState, Sha1, Sha224, Sha256, Sha384, Sha512};
use crate::op_error::OpError;

/// Digests every message of the batch.
pub(crate) fn run(alg: DigestAlg, batch: RecordBatch<'_, '_>) -> Result<(), EngineFault> {
    match alg {
        DigestAlg::Sha1 => batch.each(whole::<Sha1>),
        DigestAlg::Sha224 => batch.each(whole::<Sha224>),
        DigestAlg::Sha256 => batch.each(whole::<Sha256>),
        DigestAlg::Sha384 => batch.each(whole::<Sha384>),
        DigestAlg::Sha512 => batch.each(whole::<Sha512>),
        _ => Err(batch.refused()),
    }
}

/// Advances the chaining state of every record over its whole blocks.
pub(crate) fn run_part(alg: DigestAlg, batch: RecordBatch<'_, '_>) -> Result<(), EngineFault> {
    match alg {
        DigestAlg::Sha1 => batch.each(part::<Sha1>),
        DigestAlg::Sha224 => batch.each(part::<Sha224>),
        DigestAlg::Sha256 => batch.each(part::<Sha256>),
        DigestAlg::Sha384 => batch.each(part::<Sha384>),
        DigestAlg::Sha512 => batch.each(part::<Sha512>),
        _ => Err(batch.refused()),
    }
}

#[inline(always)]
fn whole<H: HashState>(record: AcceptedRecord<'_>, target: &mut RecordTarget<'_>) -> Result<(), OpError> {
    let output = target.output(record.output(), H::OUTPUT)?;
    let mut hash = H::new();
    hash.update(record.input());
    hash.finish(output);
    Ok(())
}

#[inline(always)]
fn part<H: HashState>(record: AcceptedRecord<'_>, target: &mut RecordTarget<'_>) -> Result<(), OpError> {
    let output = target.output(record.output(), H::STATE)?;
    H::compress(record.iv(), record.input(), output);
    Ok(())
}
