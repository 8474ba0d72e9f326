//! Batch seams: wherever a group of lanes begins or ends, and wherever one bad job sits, the others are as ever.

use oarlock::selftest::{sample_operations, sample_records};
use oarlock_core::{
    BatchSize, BlockCipher, CipherMode, CipherSpec, Column, DigestAlg, Engine, InputSource, Jobs, NonceInput,
    Operation, Outcomes, Records, SecondInput, Shape, Span, Status,
};

use crate::record_cases::{Given, read};
use crate::{FileReport, Report};

/// Bytes of a sample record: not a multiple of any vector.
const RECORD_LEN: usize = 40;

pub(crate) fn run(engine: &dyn Engine, referee: &dyn Engine) -> Report {
    let mut report = Report::default();
    for shape in shapes() {
        let mut file = FileReport::new(format!("seams {shape}"));
        match (engine.offers(shape), referee.offers(shape)) {
            (None, _) => file.skip("not offered", 1),
            (_, None) => file.skip("the referee does not offer it", 1),
            (Some(lanes), Some(own)) => {
                let found = match shape.is_record() {
                    true => records(engine, referee, shape, lanes, &mut file),
                    false => operations(engine, referee, shape, (lanes, own), &mut file),
                };
                file.failures.extend(found.err());
            }
        }
        report.files.push(file);
    }
    report
}

/// Every named shape, an odd RSA size and translations from and to every cipher.
pub(crate) fn shapes() -> Vec<Shape> {
    let specs = BlockCipher::ALL.map(|alg| CipherSpec { alg, mode: CipherMode::Cbc });
    let translations = (0..specs.len()).flat_map(|at| {
        [at, at + 1].map(|to| Shape::Translate { from: specs[at], to: specs[to % specs.len()] })
    });
    let odd = [Shape::RsaPrivate { bits: 1031 }, Shape::RsaPrivate { bits: 1536 }];
    [Shape::public_key(), Shape::records(), odd.to_vec()].concat().into_iter().chain(translations).collect()
}

/// 0, 1, L-1, L, L+1 and 2L-1 jobs, as far as the engine takes them.
fn counts(lanes: BatchSize) -> Vec<usize> {
    let best = lanes.preferred.max(1);
    let mut counts = vec![0, 1, best - 1, best, best + 1, 2 * best - 1];
    counts.retain(|count| *count <= lanes.max);
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// Every place of a short batch; of a long one its ends, the seams of 8 and 64 lanes, and others far apart.
fn places(count: usize) -> impl Iterator<Item = usize> {
    let near = |place: usize, at: usize| place.abs_diff(at) <= 1;
    (0..count).filter(move |place| {
        count <= 40
            || *place == 0
            || place + 1 == count
            || near(*place, 8)
            || near(*place, 64)
            || place % 61 == 0
    })
}

fn operations(
    engine: &dyn Engine,
    referee: &dyn Engine,
    shape: Shape,
    (lanes, own): (BatchSize, BatchSize),
    file: &mut FileReport,
) -> Result<(), String> {
    let max = counts(lanes).last().copied().unwrap_or(1);
    let set = sample_operations(shape, max.max(2)).map_err(|failure| failure.to_string())?;
    let good: Vec<Operation<'_>> = set.iter().map(reproducible).collect();
    let flawed = Flawed::of(good[0]);
    let known = run_operations(referee, shape, &good, own.max)?;
    let bad = run_operations(referee, shape, &[flawed.operation(good[0])], own.max)?.remove(0);
    if flawed.must_fail(shape) && bad.status == Status::Done {
        return Err("the referee accepts the bad job".into());
    }
    for count in counts(lanes) {
        for place in places(count).map(Some).chain([None]) {
            let mut jobs = good[..count].to_vec();
            let mut expected = known[..count].to_vec();
            if let Some(place) = place {
                jobs[place] = flawed.operation(good[0]);
                expected[place] = bad.clone();
            }
            let found = run_operations(engine, shape, &jobs, lanes.max)?;
            file.count(same(&expected, &found).map_err(|at| {
                format!("{count} jobs, the bad one at {place:?}: job {at} is not as the referee has it")
            }));
        }
    }
    Ok(())
}

/// ECDSA results can be compared where the nonce is RFC 6979's.
pub(crate) fn reproducible(operation: Operation<'_>) -> Operation<'_> {
    match operation.extra {
        SecondInput::NonceInput(_) => Operation {
            extra: SecondInput::NonceInput(NonceInput::Deterministic(DigestAlg::Sha256)),
            ..operation
        },
        _ => operation,
    }
}

/// The inputs of a bad job: an integer above every modulus, a signature with a flipped bit.
struct Flawed {
    input: Vec<u8>,
    signature: Vec<u8>,
}

impl Flawed {
    fn of(operation: Operation<'_>) -> Self {
        let mut signature = match operation.extra {
            SecondInput::Signature(signature) => signature.to_vec(),
            _ => Vec::new(),
        };
        signature.iter_mut().skip(5).take(1).for_each(|byte| *byte ^= 0x10);
        let is_signed = !signature.is_empty();
        let input = if is_signed { operation.input.to_vec() } else { vec![0xFF; operation.input.len()] };
        Self { input, signature }
    }

    fn operation<'a>(&'a self, like: Operation<'a>) -> Operation<'a> {
        let extra = match like.extra {
            SecondInput::Signature(_) => SecondInput::Signature(&self.signature),
            other => other,
        };
        Operation { input: &self.input, extra, ..like }
    }

    /// Any input can be signed, and any u-coordinate multiplied: there the flawed job is but another one.
    fn must_fail(&self, shape: Shape) -> bool {
        !matches!(shape, Shape::EcdsaSign { .. } | Shape::Ed25519Sign | Shape::X25519)
    }
}

/// Status and result of every operation, in runs of at most `max`.
pub(crate) fn run_operations(
    engine: &dyn Engine,
    shape: Shape,
    operations: &[Operation<'_>],
    max: usize,
) -> Result<Vec<Given>, String> {
    let mut given = Vec::with_capacity(operations.len());
    let empty: [&[Operation<'_>]; 1] = [&[]];
    let parts =
        operations.chunks(max.max(1)).chain(empty.into_iter().take(usize::from(operations.is_empty())));
    for part in parts {
        let jobs = Jobs::Operations(shape, part);
        let mut outcomes = Outcomes::for_jobs(&jobs);
        engine.run(&jobs, &mut outcomes).map_err(|fault| fault.to_string())?;
        given.extend(outcomes.statuses().iter().enumerate().map(|(lane, status)| Given {
            status: *status,
            output: if *status == Status::Done { outcomes.result(lane).to_vec() } else { Vec::new() },
            tag: Vec::new(),
        }));
    }
    Ok(given)
}

fn records(
    engine: &dyn Engine,
    referee: &dyn Engine,
    shape: Shape,
    lanes: BatchSize,
    file: &mut FileReport,
) -> Result<(), String> {
    for count in counts(lanes) {
        let good =
            sample_records(referee, shape, count, RECORD_LEN).map_err(|failure| failure.to_string())?;
        let known = run_records(referee, shape, &good)?;
        if known.iter().any(|given| given.status != Status::Done) {
            return Err("the referee refuses a sample".into());
        }
        for place in places(count).map(Some).chain([None]) {
            let mut jobs = good.clone();
            let mut expected = known.clone();
            if let Some(place) = place {
                spoil(&mut jobs, place);
                expected[place] = Given { status: Status::Malformed, output: Vec::new(), tag: Vec::new() };
            }
            let found = run_records(engine, shape, &jobs)?;
            file.count(same(&expected, &found).map_err(|at| {
                format!("{count} records, the bad one at {place:?}: record {at} is not as the referee has it")
            }));
        }
    }
    Ok(())
}

/// Points a record's input behind the data.
fn spoil(records: &mut Records<'static>, place: usize) {
    if let Column::Each(inputs) = &mut records.input {
        inputs.to_mut()[place] = InputSource::Data(Span { start: u32::MAX - 64, len: RECORD_LEN as u32 });
    }
}

/// Status, output and tag of every record of one run.
pub(crate) fn run_records(
    engine: &dyn Engine,
    shape: Shape,
    records: &Records<'static>,
) -> Result<Vec<Given>, String> {
    let parts = [records];
    let jobs = Jobs::Records(shape, &parts);
    let mut outcomes = Outcomes::for_jobs(&jobs);
    engine.run(&jobs, &mut outcomes).map_err(|fault| fault.to_string())?;
    Ok(read(shape, records, outcomes))
}

/// Err: the first index at which two runs differ.
pub(crate) fn same(expected: &[Given], found: &[Given]) -> Result<(), usize> {
    if expected.len() != found.len() {
        return Err(expected.len().min(found.len()));
    }
    expected.iter().zip(found).position(|(expected, found)| expected != found).map_or(Ok(()), Err)
}
