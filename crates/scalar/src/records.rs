//! The loop over records, and where their output goes.

use oarlock_core::{
    EngineFault, Outcomes, OutputSink, PartMut, Records, ResolvedRecord, Shape, Span, Status,
};

use crate::engine::{NAME, failed};
use crate::trouble::Trouble;
use crate::{aead, cipher, digest, mac, translate, wrap};

/// Computes every record of every part into `out`.
pub(crate) fn run(shape: Shape, parts: &[&Records<'_>], out: &mut Outcomes) -> Result<(), EngineFault> {
    if out.parts() != parts.len() {
        return Err(failed("the outcomes were not made for these records"));
    }
    for (index, records) in parts.iter().enumerate() {
        let part = out.part_mut(index);
        if part.statuses.len() != records.len || part.output.len() != records.output_len {
            return Err(failed("the outcomes were not made for these records"));
        }
        run_part(Batch { shape, records, part })?;
    }
    Ok(())
}

fn run_part(batch: Batch<'_, '_>) -> Result<(), EngineFault> {
    match batch.shape {
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

/// One part of a run.
pub(crate) struct Batch<'a, 'r> {
    pub(crate) shape: Shape,
    records: &'a Records<'r>,
    part: PartMut<'a>,
}

impl Batch<'_, '_> {
    /// The fault for a shape that has no arm here.
    pub(crate) fn refused(&self) -> EngineFault {
        EngineFault::NotOffered { engine: NAME, shape: self.shape }
    }

    /// Computes every record; what fails leaves zeros and disturbs no other.
    pub(crate) fn each(
        self,
        mut compute: impl FnMut(&ResolvedRecord<'_>, &mut Target<'_>) -> Result<(), Trouble>,
    ) -> Result<(), EngineFault> {
        let mut target = Target { index: 0, part: self.part };
        let mut records = self.records.resolve(self.shape);
        for index in 0..target.part.statuses.len() {
            target.index = index;
            // A column that ends early leaves the records past its end without a meaning.
            let record = records.next().unwrap_or(Err(Status::Malformed));
            let done = record.map_err(Trouble::Job).and_then(|record| {
                compute(&record, &mut target).inspect_err(|_| target.part.wipe(record.output))
            });
            target.part.statuses[index] = match done {
                Ok(()) => Status::Done,
                Err(trouble) => trouble.status()?,
            };
        }
        Ok(())
    }
}

/// Where one record's results go.
pub(crate) struct Target<'a> {
    index: usize,
    part: PartMut<'a>,
}

impl Target<'_> {
    /// As [`PartMut::place`].
    pub(crate) fn place(&mut self, sink: OutputSink, len: usize) -> Result<&mut [u8], Status> {
        self.part.place(sink, len)
    }

    /// As [`PartMut::write`].
    pub(crate) fn write(&mut self, sink: OutputSink, result: &[u8]) -> Result<(), Trouble> {
        Ok(self.part.write(sink, result)?)
    }

    /// As [`PartMut::write_tag`].
    pub(crate) fn write_tag(&mut self, span: Span, tag: &[u8]) -> Result<(), Trouble> {
        Ok(self.part.write_tag(span, tag)?)
    }

    /// As [`PartMut::shorten`].
    pub(crate) fn shorten(&mut self, sink: OutputSink, len: usize) -> Result<(), Trouble> {
        Ok(self.part.shorten(self.index, sink, len)?)
    }
}
