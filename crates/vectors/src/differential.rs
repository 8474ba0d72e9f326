//! Random inputs, good and bad: an engine gives what the referee gives.

use oarlock::selftest::sample_operations;
use oarlock_core::{
    AeadAlg, BatchSize, Direction, Engine, Key, MacAlg, NonceInput, Operation, SecondInput, Shape, Status,
    WrapAlg,
};

use crate::dice::Dice;
use crate::operation_case::OperationCase;
use crate::record_cases::{RecordCase, columns};
use crate::seams::{run_operations, run_records, same, shapes};
use crate::{FileReport, Report};

/// Random operations of a shape, as far as they do not take long on the referee.
const OPERATIONS: usize = 200;
const SLOW_OPERATIONS: usize = 12;
/// Random records of a shape.
const RECORDS: usize = 600;

pub(crate) fn run(engine: &dyn Engine, referee: &dyn Engine) -> Report {
    let mut report = Report::default();
    for shape in shapes() {
        let mut file = FileReport::new(format!("random {shape}"));
        match (engine.offers(shape), referee.offers(shape)) {
            (None, _) => file.skip("not offered", 1),
            (_, None) => file.skip("the referee does not offer it", 1),
            (Some(lanes), Some(own)) => {
                let both = Both { engine, referee, lanes, own };
                let found = if shape.is_record() { both.records(shape) } else { both.operations(shape) };
                match found {
                    Ok(passed) => file.passed += passed,
                    Err(what) => file.failures.push(what),
                }
            }
        }
        report.files.push(file);
    }
    report
}

struct Both<'e> {
    engine: &'e dyn Engine,
    referee: &'e dyn Engine,
    lanes: BatchSize,
    own: BatchSize,
}

impl Both<'_> {
    fn operations(&self, shape: Shape) -> Result<usize, String> {
        let count = match shape {
            Shape::RsaPrivate { .. } | Shape::ModExp { .. } => SLOW_OPERATIONS,
            _ => OPERATIONS,
        };
        let mut dice = Dice::new(0x0A12_10C4);
        let inputs = match shape {
            Shape::EcdsaVerify { curve } => self.signed(Shape::EcdsaSign { curve }, count, &mut dice)?,
            Shape::Ed25519Verify => self.signed(Shape::Ed25519Sign, count, &mut dice)?,
            _ => unsigned(shape, count, &mut dice)?,
        };
        let jobs: Vec<Operation<'_>> = inputs.iter().map(|random| random.operation(shape)).collect();
        let expected = run_operations(self.referee, shape, &jobs, self.own.max)?;
        let found = run_operations(self.engine, shape, &jobs, self.lanes.max)?;
        same(&expected, &found).map_err(|at| format!("operation {at} is not as the referee has it"))?;
        if let Shape::EcdsaSign { curve } = shape {
            self.hedged(Shape::EcdsaVerify { curve }, shape, &inputs)?;
        }
        let done = expected.iter().filter(|given| given.status == Status::Done).count();
        if done == 0 { Err("no random operation was good".into()) } else { Ok(count) }
    }

    /// Signatures by the referee, one in three spoilt in signature or input.
    fn signed(&self, signing: Shape, count: usize, dice: &mut Dice) -> Result<Vec<OperationCase>, String> {
        let mut inputs = unsigned(signing, count, dice)?;
        let jobs: Vec<Operation<'_>> = inputs.iter().map(|random| random.operation(signing)).collect();
        let signed = run_operations(self.referee, signing, &jobs, self.own.max)?;
        for (random, given) in inputs.iter_mut().zip(signed) {
            random.signature = given.output;
            let spoilt = match dice.below(6) {
                0 => &mut random.signature,
                1 => &mut random.input,
                _ => continue,
            };
            let at = dice.below(spoilt.len());
            if let Some(byte) = spoilt.get_mut(at) {
                *byte ^= 1 << dice.below(8);
            }
        }
        Ok(inputs)
    }

    /// Signatures with random nonces verify with the referee.
    fn hedged(&self, verifying: Shape, signing: Shape, inputs: &[OperationCase]) -> Result<(), String> {
        let hedged = inputs.iter().map(|random| Operation {
            extra: SecondInput::NonceInput(NonceInput::Hedged(&random.nonce)),
            ..random.operation(signing)
        });
        let signed = run_operations(self.engine, signing, &hedged.collect::<Vec<_>>(), self.lanes.max)?;
        let verifications = inputs.iter().zip(&signed).map(|(random, given)| Operation {
            extra: SecondInput::Signature(&given.output),
            ..random.operation(signing)
        });
        let answers =
            run_operations(self.referee, verifying, &verifications.collect::<Vec<_>>(), self.own.max)?;
        match answers.iter().position(|given| given.status != Status::Done) {
            Some(at) => Err(format!("the hedged signature {at} does not verify")),
            None => Ok(()),
        }
    }

    fn records(&self, shape: Shape) -> Result<usize, String> {
        let mut dice = Dice::new(0x0A12_10C5);
        let count = RECORDS.max(2 * self.lanes.preferred + 1).min(self.lanes.max).min(self.own.max);
        let mut cases: Vec<RecordCase> = (0..count).map(|_| random_record(shape, &mut dice)).collect();
        self.seal(shape, &mut cases, &mut dice)?;
        let records = columns(&cases)?;
        let expected = run_records(self.referee, shape, &records)?;
        let found = run_records(self.engine, shape, &records)?;
        same(&expected, &found).map_err(|at| format!("record {at} is not as the referee has it"))?;
        let done = expected.iter().filter(|given| given.status == Status::Done).count();
        if done * 2 < count {
            Err("less than half of the random records were good".into())
        } else {
            Ok(count)
        }
    }

    /// Where records are opened or unwrapped, lets the referee seal or wrap them first; one in eight is spoilt.
    fn seal(&self, shape: Shape, cases: &mut [RecordCase], dice: &mut Dice) -> Result<(), String> {
        let making = match shape {
            Shape::Aead { alg, direction: Direction::Decrypt } => {
                Shape::Aead { alg, direction: Direction::Encrypt }
            }
            Shape::Wrap { alg, direction: Direction::Decrypt } => {
                Shape::Wrap { alg, direction: Direction::Encrypt }
            }
            _ => return Ok(()),
        };
        let made = run_records(self.referee, making, &columns(cases)?)?;
        for (case, given) in cases.iter_mut().zip(made) {
            case.place_len =
                given.output.len() - if given.tag.is_empty() { given.output.len().min(8) } else { 0 };
            (case.input, case.given_tag, case.made_tag_len) = (given.output, given.tag, 0);
            if dice.one_in(8) {
                let spoilt = if dice.one_in(2) && !case.given_tag.is_empty() {
                    &mut case.given_tag
                } else {
                    &mut case.input
                };
                let at = dice.below(spoilt.len());
                if let Some(byte) = spoilt.get_mut(at) {
                    *byte ^= 1 << dice.below(8);
                }
            }
        }
        Ok(())
    }
}

/// Keys of the samples over random inputs; one RSA integer in eight may be above the modulus.
fn unsigned(shape: Shape, count: usize, dice: &mut Dice) -> Result<Vec<OperationCase>, String> {
    let set = sample_operations(shape, 24).map_err(|failure| failure.to_string())?;
    let keys: Vec<Key> = set.iter().map(|operation| operation.key.clone()).collect();
    let random = |_| {
        let key = keys[dice.below(keys.len())].clone();
        let len = shape.input_len().unwrap_or_else(|| dice.below(300));
        let mut input = dice.bytes(len);
        if matches!(shape, Shape::RsaPrivate { .. } | Shape::RsaPublic { .. } | Shape::ModExp { .. }) {
            let is_small = !dice.one_in(8);
            input.iter_mut().take(if is_small { 1 } else { 0 }).for_each(|byte| *byte = 0);
        }
        let mut nonce = [0; 32];
        nonce.copy_from_slice(&dice.bytes(32));
        OperationCase { key, input, signature: Vec::new(), nonce }
    };
    Ok((0..count).map(random).collect())
}

/// A record whose lengths fit in seven of eight cases. For opening and unwrapping: as it is sealed or wrapped.
fn random_record(shape: Shape, dice: &mut Dice) -> RecordCase {
    let len = [dice.below(17), dice.below(80), dice.below(700)][dice.below(3)];
    let mut case = match shape {
        Shape::Cipher { alg, .. } => {
            let len = len.next_multiple_of(alg.block_len());
            let (key, iv) = (dice.bytes(alg.key_len()), dice.bytes(alg.block_len()));
            RecordCase { key, iv, input: dice.bytes(len), place_len: len, ..RecordCase::default() }
        }
        Shape::Translate { from, to } => {
            let len = len.next_multiple_of(from.alg.block_len().max(to.alg.block_len()));
            RecordCase {
                key: dice.bytes(from.alg.key_len()),
                second_key: dice.bytes(to.alg.key_len()),
                iv: dice.bytes(from.alg.block_len()),
                second_iv: dice.bytes(to.alg.block_len()),
                input: dice.bytes(len),
                place_len: len,
                ..RecordCase::default()
            }
        }
        Shape::Aead { alg, .. } => random_aead(alg, len, dice),
        Shape::Mac { alg } => random_mac(alg, len, dice),
        Shape::Digest { alg } => {
            RecordCase { input: dice.bytes(len), place_len: alg.output_len(), ..RecordCase::default() }
        }
        Shape::DigestPart { alg } => RecordCase {
            iv: dice.bytes(alg.state_len()),
            input: dice.bytes(len.next_multiple_of(alg.block_len())),
            place_len: alg.state_len(),
            ..RecordCase::default()
        },
        Shape::Wrap { alg, .. } => random_wrap(alg, len, dice),
        _ => RecordCase::default(),
    };
    if dice.one_in(8) {
        case.place_len += 1;
    }
    case
}

fn random_aead(alg: AeadAlg, len: usize, dice: &mut Dice) -> RecordCase {
    let iv_len = if dice.one_in(3) { 1 + dice.below(40) } else { 12 };
    let (aad_len, tag_len) = (dice.below(50), 12 + dice.below(5));
    RecordCase {
        key: dice.bytes(alg.key_len()),
        iv: dice.bytes(iv_len),
        aad: dice.bytes(aad_len),
        input: dice.bytes(len),
        place_len: len,
        made_tag_len: tag_len,
        ..RecordCase::default()
    }
}

fn random_mac(alg: MacAlg, len: usize, dice: &mut Dice) -> RecordCase {
    let key_len = alg.key_len().unwrap_or_else(|| 1 + dice.below(150));
    let tag_len = if dice.one_in(2) { alg.tag_len() } else { 4 + dice.below(alg.tag_len() - 3) };
    RecordCase {
        key: dice.bytes(key_len),
        input: dice.bytes(len),
        place_len: tag_len,
        ..RecordCase::default()
    }
}

fn random_wrap(alg: WrapAlg, len: usize, dice: &mut Dice) -> RecordCase {
    let len = match alg {
        WrapAlg::Aes128Kw | WrapAlg::Aes256Kw => len.next_multiple_of(8).max(16),
        _ => len.max(1),
    };
    let (key, input) = (dice.bytes(alg.key_len()), dice.bytes(len));
    RecordCase { key, input, place_len: len.next_multiple_of(8) + 8, ..RecordCase::default() }
}
