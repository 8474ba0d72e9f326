//! Proof of the public-key shapes.

use oarlock_core::{
    BatchSize, Curve, Engine, Jobs, NonceInput, Operation, Outcomes, SecondInput, Shape, Status,
};

use super::cases::{KnownOperation, KnownResult, cases};
use super::{Difference, SelfTestFailure, SelfTestProof, batch_len, compare, nothing_left};

/// The number of cases that always run, even on an engine of one lane. Private RSA at 4096 bits costs a millisecond
/// each.
const MIN_SLOW_CASES: usize = 5;

/// Compares every lane of batches that pass through every case and end with full lanes.
pub(super) fn prove(
    engine: &dyn Engine,
    lanes: BatchSize,
    shape: Shape,
) -> Result<SelfTestProof, SelfTestFailure> {
    let cases = cases(shape)?;
    let min = match shape {
        Shape::RsaPrivate { .. } | Shape::ModExp { .. } => MIN_SLOW_CASES.min(cases.len()),
        _ => cases.len(),
    };
    let batch = batch_len(lanes, min);
    // The last batch is full too, because a wrong lane may show only when its neighbours work.
    let jobs = min.next_multiple_of(batch);
    for first in (0..jobs).step_by(batch) {
        let chosen: Vec<&KnownOperation> =
            cases.iter().cycle().skip(first % cases.len()).take(batch).collect();
        let operations: Vec<Operation<'_>> =
            chosen.iter().map(|case| case.operation(shape)).collect::<Result<_, _>>()?;
        let outcomes = run(engine, shape, &operations)?;
        for (lane, case) in chosen.iter().enumerate() {
            case.check(&outcomes, lane).map_err(|difference| SelfTestFailure::Wrong {
                engine: engine.name(),
                shape,
                lane,
                difference,
            })?;
        }
    }
    Ok(SelfTestProof { jobs })
}

/// Signs with random nonces. Every signature must verify with the referee, and no two may share r.
pub(super) fn prove_hedged(
    engine: &dyn Engine,
    referee: &dyn Engine,
    lanes: BatchSize,
    curve: Curve,
) -> Result<SelfTestProof, SelfTestFailure> {
    let (sign, verify) = (Shape::EcdsaSign { curve }, Shape::EcdsaVerify { curve });
    let cases = cases(sign)?;
    // A hedged signature has no known answer. With fixed different nonces, equal r betray an engine that
    // ignores them.
    let nonces: Vec<[u8; 32]> = (0..=u8::MAX).map(|n| [n ^ 0xA5; 32]).collect();
    let chosen: Vec<&KnownOperation> = cases.iter().cycle().take(batch_len(lanes, 4)).collect();
    let hedged: Vec<Operation<'_>> = chosen
        .iter()
        .zip(nonces.iter().cycle())
        .map(|(case, nonce)| case.operation_with(sign, SecondInput::NonceInput(NonceInput::Hedged(nonce))))
        .collect::<Result<_, _>>()?;
    let signed = run(engine, sign, &hedged)?;
    let wrong =
        |lane, difference| SelfTestFailure::Wrong { engine: engine.name(), shape: sign, lane, difference };
    let mut seen = std::collections::HashSet::new();
    for lane in 0..chosen.len() {
        status_is(Status::Done, &signed, lane).map_err(|difference| wrong(lane, difference))?;
        // After 256 lanes the nonces come again, and with them the keys and digests may.
        if lane < nonces.len() && !seen.insert(&signed.result(lane)[..curve.scalar_len()]) {
            return Err(wrong(lane, Difference::NonceReused));
        }
    }
    let signatures: Vec<Operation<'_>> = chosen
        .iter()
        .enumerate()
        .map(|(lane, case)| case.operation_with(verify, SecondInput::Signature(signed.result(lane))))
        .collect::<Result<_, _>>()?;
    let verified = run_all(referee, verify, &signatures)?;
    match verified.iter().position(|status| *status != Status::Done) {
        Some(lane) => Err(wrong(lane, Difference::DoesNotVerify)),
        None => Ok(SelfTestProof { jobs: chosen.len() }),
    }
}

fn run(engine: &dyn Engine, shape: Shape, operations: &[Operation<'_>]) -> Result<Outcomes, SelfTestFailure> {
    let jobs = Jobs::Operations(shape, operations);
    let mut outcomes = Outcomes::for_jobs(&jobs);
    engine.run(&jobs, &mut outcomes)?;
    Ok(outcomes)
}

/// Statuses of operations that may be more than the engine takes at once.
fn run_all(
    engine: &dyn Engine,
    shape: Shape,
    operations: &[Operation<'_>],
) -> Result<Vec<Status>, SelfTestFailure> {
    let Some(lanes) = engine.offers(shape) else {
        return Err(SelfTestFailure::NotOffered { engine: engine.name(), shape });
    };
    let mut statuses = Vec::with_capacity(operations.len());
    for part in operations.chunks(lanes.max.max(1)) {
        statuses.extend_from_slice(run(engine, shape, part)?.statuses());
    }
    Ok(statuses)
}

impl KnownOperation {
    fn check(&self, outcomes: &Outcomes, lane: usize) -> Result<(), Difference> {
        match &self.expected {
            KnownResult::Status(status) => {
                status_is(*status, outcomes, lane)?;
                nothing_left(outcomes.result(lane))
            }
            KnownResult::Output(output) => {
                status_is(Status::Done, outcomes, lane)?;
                compare("the result", output, outcomes.result(lane))
            }
        }
    }
}

fn status_is(expected: Status, outcomes: &Outcomes, lane: usize) -> Result<(), Difference> {
    match outcomes.statuses().get(lane).copied().unwrap_or_default() {
        found if found == expected => Ok(()),
        found => Err(Difference::Status { expected, found }),
    }
}
