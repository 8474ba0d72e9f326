//! Digests of whole messages and of parts of messages.

use oarlock_core::{DigestAlg, EngineFault};
use oarlock_engine_kit::hash::{
    HashState, Sha1, Sha3_224, Sha3_256, Sha3_384, Sha3_512, Sha224, Sha256, Sha384, Sha512, Sha512_224,
    Sha512_256, Shake128, Shake256,
};

use crate::batch::{AcceptedRecord, RecordBatch, RecordTarget};
use crate::op_error::OpError;

/// Digests every message of the batch.
pub(crate) fn run(alg: DigestAlg, batch: RecordBatch<'_, '_>) -> Result<(), EngineFault> {
    match alg {
        DigestAlg::Sha1 => batch.each(whole::<Sha1>),
        DigestAlg::Sha224 => batch.each(whole::<Sha224>),
        DigestAlg::Sha256 => batch.each(whole::<Sha256>),
        DigestAlg::Sha384 => batch.each(whole::<Sha384>),
        DigestAlg::Sha512 => batch.each(whole::<Sha512>),
        DigestAlg::Sha512_224 => batch.each(whole::<Sha512_224>),
        DigestAlg::Sha512_256 => batch.each(whole::<Sha512_256>),
        DigestAlg::Sha3_224 => batch.each(whole::<Sha3_224>),
        DigestAlg::Sha3_256 => batch.each(whole::<Sha3_256>),
        DigestAlg::Sha3_384 => batch.each(whole::<Sha3_384>),
        DigestAlg::Sha3_512 => batch.each(whole::<Sha3_512>),
        DigestAlg::Shake128 => batch.each(whole::<Shake128>),
        DigestAlg::Shake256 => batch.each(whole::<Shake256>),
        _ => Err(batch.refused()),
    }
}

/// Advances the chaining state of every record over its whole blocks.
pub(crate) fn run_part(alg: DigestAlg, batch: RecordBatch<'_, '_>) -> Result<(), EngineFault> {
    match alg {
        DigestAlg::Sha1 => batch.each(part::<Sha1>),
        DigestAlg::Sha224 | DigestAlg::Sha256 => batch.each(part::<Sha256>),
        DigestAlg::Sha384 | DigestAlg::Sha512 | DigestAlg::Sha512_224 | DigestAlg::Sha512_256 => {
            batch.each(part::<Sha512>)
        }
        DigestAlg::Sha3_224 => batch.each(part::<Sha3_224>),
        // Digests of one rate differ by their padding alone.
        DigestAlg::Sha3_256 | DigestAlg::Shake256 => batch.each(part::<Shake256>),
        DigestAlg::Sha3_384 => batch.each(part::<Sha3_384>),
        DigestAlg::Sha3_512 => batch.each(part::<Sha3_512>),
        DigestAlg::Shake128 => batch.each(part::<Shake128>),
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
