//! The hook by which tests prove that every check can fail.

use oarlock_core::{
    BatchSize, Engine, EngineFault, EngineLocation, Jobs, OutcomeWriter, Outcomes, OutputSink, Records,
    Shape, Status, TableUsage,
};

/// An engine whose answers are right except in one lane of one shape.
///
/// One bit of the result is flipped there, or the status if there is no result.
#[derive(Debug)]
pub struct CorruptEngine<E> {
    engine: E,
    shape: Shape,
    lane: usize,
}

impl<E: Engine> CorruptEngine<E> {
    /// Damages the job at index `lane` of every run of `shape` that has as many.
    #[must_use]
    pub fn new(engine: E, shape: Shape, lane: usize) -> Self {
        Self { engine, shape, lane }
    }
}

impl<E: Engine> Engine for CorruptEngine<E> {
    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn offers(&self, shape: Shape) -> Option<BatchSize> {
        self.engine.offers(shape)
    }

    fn confirms(&self, shape: Shape) -> bool {
        self.engine.confirms(shape)
    }

    fn location(&self) -> EngineLocation {
        self.engine.location()
    }

    fn table_usage(&self) -> TableUsage {
        self.engine.table_usage()
    }

    fn wait_for_tables(&self) {
        self.engine.wait_for_tables();
    }

    fn drop_tables(&self) {
        self.engine.drop_tables();
    }

    fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
        self.engine.run(jobs, out)?;
        if jobs.shape() == self.shape && self.lane < jobs.len() {
            match jobs {
                Jobs::Operations(..) => damage_operation(self.lane, out),
                Jobs::Records(_, parts) => damage_record(self.lane, parts, out),
            }
        }
        Ok(())
    }
}

fn damage_operation(lane: usize, out: &mut Outcomes) {
    match (out.statuses()[lane], out.result_mut(lane).last_mut()) {
        (Status::Done, Some(last)) => *last ^= 1,
        (status, _) => out.set(lane, turned(status)),
    }
}

fn damage_record(mut lane: usize, parts: &[&Records<'_>], out: &mut Outcomes) {
    for (index, records) in parts.iter().enumerate() {
        if lane < records.len {
            return damage_output(lane, records, out.part_mut(index));
        }
        lane -= records.len;
    }
}

fn damage_output(record: usize, records: &Records<'_>, part: OutcomeWriter<'_>) {
    let status = &mut part.statuses[record];
    let output = match records.output.get(record) {
        Some(OutputSink::Output(span)) => span.slice_mut(part.output),
        Some(OutputSink::Slot(slot)) => {
            let len = part.slots.get(slot).map_or(0, <[u8]>::len);
            part.slots.fill(slot, len)
        }
        None => None,
    };
    match (*status, output.and_then(<[u8]>::first_mut)) {
        (Status::Done, Some(first)) => *first ^= 0x80,
        (other, _) => *status = turned(other),
    }
}

fn turned(status: Status) -> Status {
    if status == Status::Done { Status::Rejected } else { Status::Done }
}
