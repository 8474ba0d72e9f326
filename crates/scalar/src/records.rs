//! The dispatch of record batches to the module of their shape.

use oarlock_core::{EngineFault, Outcomes, Records, Shape};

use crate::batch::RecordBatch;
use crate::fault::failed;
use crate::{aead, cipher, digest, mac, translate, wrap};

/// Computes every record of every part into `out`.
pub(crate) fn run(shape: Shape, parts: &[&Records<'_>], out: &mut Outcomes) -> Result<(), EngineFault> {
    if out.parts() != parts.len() {
        return Err(failed("the outcomes do not match the records: make them with Outcomes::for_jobs"));
    }
    for (index, records) in parts.iter().enumerate() {
        let part = out.part_mut(index);
        if part.statuses.len() != records.len || part.output.len() != records.output_len {
            return Err(failed("the outcomes do not match the records: make them with Outcomes::for_jobs"));
        }
        run_part(RecordBatch::new(shape, records, part))?;
    }
    Ok(())
}

fn run_part(batch: RecordBatch<'_, '_>) -> Result<(), EngineFault> {
    match batch.shape() {
        Shape::Cipher { alg, direction, .. } => cipher::run(alg, direction, batch),
        Shape::Translate { from, to } => translate::run(from.alg, to.alg, batch),
        Shape::Aead { direction, .. } => aead::run(direction, batch),
        Shape::Mac { alg } => mac::run(alg, batch),
        Shape::Digest { alg } => digest::run(alg, batch),
        Shape::DigestPart { alg } => digest::run_part(alg, batch),
        Shape::Wrap { alg, direction } => wrap::run(alg, direction, batch),
        _ => Err(batch.refused()),
    }
}
