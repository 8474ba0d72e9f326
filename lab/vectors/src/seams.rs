//! Batch seams: the good jobs of a batch succeed wherever a group of lanes ends, and wherever a bad job is.

use oarlock::engine_api::selftest::{sample_operations, sample_records};
use oarlock_core::{
    BatchSize, BlockCipher, CipherMode, CipherSpec, Column, DigestAlg, Engine, InputSource, JobError, Jobs,
    NonceInput, Operation, Outcomes, Records, SecondInput, Shape, Span, Status,
};

use crate::record_cases::{RecordResult, read_results};
use crate::{FileReport, SuiteReport};

/// The length of a sample record in bytes: not a multiple of any vector.
const RECORD_LEN: usize = 40;

pub(crate) fn run(engine: &dyn Engine, referee: &dyn Engine) -> SuiteReport {
    let mut report = SuiteReport::default();
    for shape in shapes() {
        let mut file = FileReport::new(format!("seams {shape}"));
        match (engine.offers(shape), referee.offers(shape)) {
            (None, _) => file.skip("not offered", 1),
            (_, None) => file.skip("the referee does not offer it", 1),
            (Some(size), Some(referee_size)) => {
                let found = match shape.is_record() {
                    true => records(engine, referee, shape, size, &mut file),
                    false => operations(engine, referee, shape, (size, referee_size), &mut file),
                };
                file.failures.extend(found.err());
            }
        }
        report.files.push(file);
    }
    report
}

/// Returns every named shape but those of slow sets, odd RSA sizes, and translations from and to every cipher.
pub(crate) fn shapes() -> Vec<Shape> {
    let specs = BlockCipher::ALL.map(|alg| CipherSpec { alg, mode: CipherMode::Cbc });
    let translations = (0..specs.len()).flat_map(|at| {
        [at, at + 1].map(|to| Shape::Translate { from: specs[at], to: specs[to % specs.len()] })
    });
    let odd = [Shape::RsaPrivate { bits: 1031 }, Shape::RsaPrivate { bits: 1536 }];
    let named = Shape::public_key().into_iter().filter(|shape| is_quick(*shape));
    named.chain(Shape::records()).chain(odd).chain(translations).collect()
}

/// True unless a signature of the shape's set of SLH-DSA takes more than some ten milliseconds. Slow sets are the same
/// code with other numbers, and published signatures prove them.
pub(crate) fn is_quick(shape: Shape) -> bool {
    let (Shape::SlhDsaKeygen { set } | Shape::SlhDsaSign { set } | Shape::SlhDsaVerify { set }) = shape
    else {
        return true;
    };
    // A permutation of Keccak takes as long as some eight compressions of SHA-256.
    set.signing_hashes() * if set.is_shake() { 8 } else { 1 } < 1_000_000
}

/// Returns the tested numbers of jobs: 0, 1, L-1, L, L+1 and 2L-1, up to the engine's limit.
fn job_counts(size: BatchSize) -> Vec<usize> {
    let lanes = size.preferred.max(1);
    let mut counts = vec![0, 1, lanes - 1, lanes, lanes + 1, 2 * lanes - 1];
    counts.retain(|count| *count <= size.max);
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// Returns the positions of the bad job: all of a short batch; of a long one its ends, the seams of 8 and 64 lanes, and
/// others far apart. `max_short` is the longest short batch.
fn positions(count: usize, max_short: usize) -> impl Iterator<Item = usize> {
    let near = |position: usize, seam: usize| position.abs_diff(seam) <= 1;
    (0..count).filter(move |position| {
        count <= max_short
            || *position == 0
            || position + 1 == count
            || near(*position, 8)
            || near(*position, 64)
            || position % 61 == 0
    })
}

/// The longest batch in which every job was bad once.
const MAX_SHORT: usize = 40;

/// Returns the longest batch of a shape's jobs in which every job is bad once. Powers of more than 1024 bits take long,
/// and their code is that of shorter ones.
fn max_short(shape: Shape) -> usize {
    match shape {
        Shape::RsaPrivate { bits } | Shape::ModExp { bits, .. } if bits > 1024 => 0,
        _ => MAX_SHORT,
    }
}

fn operations(
    engine: &dyn Engine,
    referee: &dyn Engine,
    shape: Shape,
    (size, referee_size): (BatchSize, BatchSize),
    file: &mut FileReport,
) -> Result<(), String> {
    let max = job_counts(size).last().copied().unwrap_or(1);
    let set = sample_operations(shape, max.max(2)).map_err(|failure| failure.to_string())?;
    let good: Vec<Operation<'_>> = set
        .iter()
        .map(|sample| Operation::new(shape, sample.key, sample.input, with_fixed_nonce(shape, sample.extra)))
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())?;
    let flawed = FlawedInputs::of_operation(good[0]);
    let flawed_job = flawed.operation(shape, good[0]).map_err(|error| error.to_string())?;
    let known = run_operations(referee, shape, &good, referee_size.max)?;
    let bad = run_operations(referee, shape, &[flawed_job], referee_size.max)?.remove(0);
    if flawed.must_fail(shape) && bad.status == Status::Done {
        return Err("the referee accepts the bad job".into());
    }
    for count in job_counts(size) {
        for position in positions(count, max_short(shape)).map(Some).chain([None]) {
            let mut jobs = good[..count].to_vec();
            let mut expected = known[..count].to_vec();
            if let Some(position) = position {
                jobs[position] = flawed_job;
                expected[position] = bad.clone();
            }
            let found = run_operations(engine, shape, &jobs, size.max)?;
            file.count(compare_results(&expected, &found).map_err(|at| {
                format!("{count} jobs, bad job at {position:?}: job {at} differs from the referee")
            }));
        }
    }
    Ok(())
}

/// Makes ECDSA use the nonce of RFC 6979, so that results can be compared. ML-DSA uses the random bytes as they are.
pub(crate) fn with_fixed_nonce(shape: Shape, extra: SecondInput<'_>) -> SecondInput<'_> {
    match (shape, extra) {
        (Shape::EcdsaSign { .. }, SecondInput::NonceInput(_)) => {
            SecondInput::NonceInput(NonceInput::Deterministic(DigestAlg::Sha256))
        }
        _ => extra,
    }
}

/// The inputs of a bad job: an integer above every modulus, a signature with a flipped bit.
struct FlawedInputs {
    input: Vec<u8>,
    signature: Vec<u8>,
}

impl FlawedInputs {
    fn of_operation(operation: Operation<'_>) -> Self {
        let mut signature = match operation.extra {
            SecondInput::Signature(signature) => signature.to_vec(),
            _ => Vec::new(),
        };
        signature.iter_mut().skip(5).take(1).for_each(|byte| *byte ^= 0x10);
        let is_signed = !signature.is_empty();
        let input = if is_signed { operation.input.to_vec() } else { vec![0xFF; operation.input.len()] };
        Self { input, signature }
    }

    fn operation<'a>(&'a self, shape: Shape, like: Operation<'a>) -> Result<Operation<'a>, JobError> {
        let extra = match like.extra {
            SecondInput::Signature(_) => SecondInput::Signature(&self.signature),
            other => other,
        };
        Operation::new(shape, like.key, &self.input, extra)
    }

    /// True if the flawed job must fail. A signature accepts any input, X25519 any u-coordinate, and ML-KEM any
    /// ciphertext and random bytes. ECDH refuses bytes that are no point.
    fn must_fail(&self, shape: Shape) -> bool {
        !matches!(
            shape,
            Shape::EcdsaSign { .. }
                | Shape::Ed25519Sign
                | Shape::X25519
                | Shape::MlKemKeygen { .. }
                | Shape::MlKemEncaps { .. }
                | Shape::MlKemDecaps { .. }
                | Shape::MlDsaSign { .. }
                | Shape::SlhDsaKeygen { .. }
                | Shape::SlhDsaSign { .. }
        )
    }
}

/// Runs operations in batches of at most `max`, and returns the status and result of each.
pub(crate) fn run_operations(
    engine: &dyn Engine,
    shape: Shape,
    operations: &[Operation<'_>],
    max: usize,
) -> Result<Vec<RecordResult>, String> {
    let mut results = Vec::with_capacity(operations.len());
    let empty: [&[Operation<'_>]; 1] = [&[]];
    let parts =
        operations.chunks(max.max(1)).chain(empty.into_iter().take(usize::from(operations.is_empty())));
    for part in parts {
        let jobs = Jobs::Operations(shape, part);
        let mut outcomes = Outcomes::for_jobs(&jobs);
        engine.run(&jobs, &mut outcomes).map_err(|fault| fault.to_string())?;
        results.extend(outcomes.statuses().iter().enumerate().map(|(lane, status)| RecordResult {
            status: *status,
            output: if *status == Status::Done { outcomes.result(lane).to_vec() } else { Vec::new() },
            tag: Vec::new(),
        }));
    }
    Ok(results)
}

fn records(
    engine: &dyn Engine,
    referee: &dyn Engine,
    shape: Shape,
    size: BatchSize,
    file: &mut FileReport,
) -> Result<(), String> {
    for count in job_counts(size) {
        let good =
            sample_records(referee, shape, count, RECORD_LEN).map_err(|failure| failure.to_string())?;
        let known = run_records(referee, shape, &good)?;
        if known.iter().any(|result| result.status != Status::Done) {
            return Err("the referee rejects a sample".into());
        }
        for position in positions(count, MAX_SHORT).map(Some).chain([None]) {
            let mut jobs = good.clone();
            let mut expected = known.clone();
            if let Some(position) = position {
                make_malformed(&mut jobs, position);
                expected[position] =
                    RecordResult { status: Status::Malformed, output: Vec::new(), tag: Vec::new() };
            }
            let found = run_records(engine, shape, &jobs)?;
            file.count(compare_results(&expected, &found).map_err(|at| {
                format!("{count} records, bad record at {position:?}: record {at} differs from the referee")
            }));
        }
    }
    Ok(())
}

/// Makes a record malformed: its input lies behind the data.
fn make_malformed(records: &mut Records<'static>, position: usize) {
    if let Column::Each(inputs) = &mut records.input {
        inputs.to_mut()[position] = InputSource::Data(Span { start: u32::MAX - 64, len: RECORD_LEN as u32 });
    }
}

/// Runs records in one batch, and returns the status, output and tag of each.
pub(crate) fn run_records(
    engine: &dyn Engine,
    shape: Shape,
    records: &Records<'static>,
) -> Result<Vec<RecordResult>, String> {
    let parts = [records];
    let jobs = Jobs::Records(shape, &parts);
    let mut outcomes = Outcomes::for_jobs(&jobs);
    engine.run(&jobs, &mut outcomes).map_err(|fault| fault.to_string())?;
    Ok(read_results(shape, records, outcomes))
}

/// Compares two runs.
///
/// # Errors
/// The first index at which they differ.
pub(crate) fn compare_results(expected: &[RecordResult], found: &[RecordResult]) -> Result<(), usize> {
    if expected.len() != found.len() {
        return Err(expected.len().min(found.len()));
    }
    expected.iter().zip(found).position(|(expected, found)| expected != found).map_or(Ok(()), Err)
}
