//! The dispatch of record batches to the module of their shape.

use oarlock_core::{CipherSpec, EngineFault, Outcomes, Records, Shape, Status};
use oarlock_engine_kit::RecordPart;

use crate::batch::RecordBatch;
use crate::fault::engine_failure;
use crate::{aead, chain, cipher, digest, fpe, mac, translate, wrap};

/// Computes every record of every part into `out`.
pub(crate) fn run(shape: Shape, parts: &[&Records<'_>], out: &mut Outcomes) -> Result<(), EngineFault> {
    const MISMATCH: &str = "the outcomes do not match the records: make them with Outcomes::for_jobs";
    if out.parts() != parts.len() {
        return Err(engine_failure(MISMATCH));
    }
    for (index, records) in parts.iter().enumerate() {
        let out = out.part_mut(index);
        // The index of an accepted record has 32 bits.
        let is_countable = u32::try_from(records.len).is_ok();
        if !is_countable || out.statuses.len() != records.len || out.output.len() != records.output_len {
            return Err(engine_failure(MISMATCH));
        }
        // If a column ends early, the records past its end have no meaning.
        let covered = records.covered();
        out.statuses[covered..].fill(Status::Malformed);
        let shortened;
        let records = if covered == records.len {
            *records
        } else {
            shortened = Records { len: covered, ..records.borrowed() };
            &shortened
        };
        let part = RecordPart::without_key_bytes(shape, records);
        run_part(RecordBatch::new(shape, &part, out))?;
    }
    Ok(())
}

fn run_part(batch: RecordBatch<'_, '_>) -> Result<(), EngineFault> {
    match batch.shape() {
        Shape::Cipher { alg, mode, direction } => cipher::run(CipherSpec { alg, mode }, direction, batch),
        Shape::Chain { cipher, mac, order, direction } => chain::run(cipher, mac, order, direction, batch),
        Shape::Translate { from, to } => translate::run(from.alg, to.alg, batch),
        Shape::Aead { alg, direction } => aead::run(alg, direction, batch),
        Shape::Fpe { direction, .. } => fpe::run(direction, batch),
        Shape::Mac { alg } => mac::run(alg, batch),
        Shape::Digest { alg } => digest::run(alg, batch),
        Shape::DigestPart { alg } => digest::run_part(alg, batch),
        Shape::Wrap { alg, direction } => wrap::run(alg, direction, batch),
        _ => Err(batch.refused()),
    }
}
