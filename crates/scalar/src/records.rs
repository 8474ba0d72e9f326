//! The loop over records, and where their output goes.

use oarlock_core::{EngineFault, Outcomes, PartMut, Record, Records, Shape, Sink, Slots, Span, Status};
use zeroize::Zeroize;

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
        mut compute: impl FnMut(&Record<'_>, &mut Target<'_>) -> Result<(), Trouble>,
    ) -> Result<(), EngineFault> {
        let PartMut { statuses, output, slots, short } = self.part;
        let mut target = Target { index: 0, output, slots, short };
        let mut records = self.records.resolve(self.shape);
        for (index, status) in (0..).zip(statuses) {
            target.index = index;
            // A column that ends early leaves the records past its end without a meaning.
            let done = records
                .next()
                .unwrap_or(Err(Status::Malformed))
                .map_err(Trouble::Job)
                .and_then(|record| compute(&record, &mut target).inspect_err(|_| target.wipe(&record)));
            *status = match done {
                Ok(()) => Status::Done,
                Err(trouble) => trouble.status()?,
            };
        }
        Ok(())
    }
}

/// Where one record's results go.
pub(crate) struct Target<'a> {
    index: u32,
    output: &'a mut [u8],
    slots: &'a mut Slots,
    short: &'a mut Vec<(u32, u32)>,
}

impl Target<'_> {
    /// The place of a result of `len` bytes: all of a span of the output, so much of a slot.
    pub(crate) fn place(&mut self, sink: Sink, len: usize) -> Result<&mut [u8], Status> {
        match sink {
            Sink::Output(span) => span.of_mut(self.output).ok_or(Status::Malformed),
            Sink::Slot(slot) => self.slots.fill(slot, len).ok_or(Status::Malformed),
        }
    }

    /// Writes a result, of which a shorter span takes the leading bytes.
    pub(crate) fn write(&mut self, sink: Sink, result: &[u8]) -> Result<(), Trouble> {
        let place = self.place(sink, result.len())?;
        place.iter_mut().zip(result).for_each(|(to, from)| *to = *from);
        Ok(())
    }

    /// Writes a detached tag.
    pub(crate) fn write_tag(&mut self, span: Span, tag: &[u8]) -> Result<(), Trouble> {
        let place = span.of_mut(self.output).ok_or(Status::Malformed)?;
        place.iter_mut().zip(tag).for_each(|(to, from)| *to = *from);
        Ok(())
    }

    /// Ends a result that turned out to have `len` bytes of its place; the rest has been zeroed.
    pub(crate) fn shorten(&mut self, sink: Sink, len: usize) -> Result<(), Trouble> {
        match sink {
            Sink::Slot(slot) => self.slots.fill(slot, len).map(|_| ()).ok_or(Status::Malformed)?,
            Sink::Output(span) if (len as u64) < u64::from(span.len) => {
                // unreachable because a length below that of the span fits as that one does
                self.short.push((self.index, u32::try_from(len).unwrap_or(span.len)));
            }
            Sink::Output(_) => {}
        }
        Ok(())
    }

    fn wipe(&mut self, record: &Record<'_>) {
        match record.output {
            Sink::Slot(slot) => self.slots.clear(slot),
            Sink::Output(span) => span.of_mut(self.output).into_iter().for_each(Zeroize::zeroize),
        }
    }
}
