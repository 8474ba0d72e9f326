//! Random inputs, good and bad: an engine returns the same results as the referee.

use oarlock::engine_api::selftest::sample_operations;
use oarlock_core::{
    AeadAlg, BatchSize, ChainOrder, CipherSpec, Direction, Engine, FpeAlg, Key, MAX_FF1_NUMERALS,
    MTE_AAD_LEN, MacAlg, MlDsaSet, MlKemSet, NonceInput, Operation, SecondInput, Shape, Status, WrapAlg,
    mte_sealed_len,
};
use oarlock_keys::{KeyError, raw};

use crate::dice::SplitMix;
use crate::operation_case::OperationCase;
use crate::record_cases::{RecordCase, to_records};
use crate::seams::{compare_results, run_operations, run_records, shapes};
use crate::{FileReport, SuiteReport};

/// The number of random operations of a shape.
const OPERATIONS: usize = 200;
/// The number for shapes that take long on the referee.
const SLOW_OPERATIONS: usize = 12;
/// The number for SLH-DSA, which takes up to 100 milliseconds.
const LONG_OPERATIONS: usize = 4;
/// The number of random records of a shape.
const RECORDS: usize = 600;

/// The random records of a chain. There are many chains, and records of their ciphers and MACs are compared anyway.
const CHAIN_RECORDS: usize = 70;

pub(crate) fn run(engine: &dyn Engine, referee: &dyn Engine) -> SuiteReport {
    let mut report = SuiteReport::default();
    for shape in shapes() {
        let mut file = FileReport::new(format!("random {shape}"));
        match (engine.offers(shape), referee.offers(shape)) {
            (None, _) => file.skip("not offered", 1),
            (_, None) => file.skip("the referee does not offer it", 1),
            (Some(size), Some(referee_size)) => {
                let both = EnginePair { engine, referee, size, referee_size };
                let mut dice = SplitMix::new(0x0A12_10C4);
                let found = match shape.is_record() {
                    true => both.records(shape),
                    false => both.operations(shape, &mut dice),
                };
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

/// Compares at least `count` random operations of one shape.
///
/// # Errors
/// The first difference, or the reason why nothing can be compared.
pub fn compare_random_operations(
    engine: &dyn Engine,
    referee: &dyn Engine,
    shape: Shape,
    count: usize,
) -> Result<(), String> {
    let size_of = |engine: &dyn Engine| {
        engine.offers(shape).ok_or_else(|| format!("{} does not offer {shape}", engine.name()))
    };
    let both = EnginePair { engine, referee, size: size_of(engine)?, referee_size: size_of(referee)? };
    let (mut compared, mut dice) = (0, SplitMix::new(0x0A12_10C6));
    while compared < count {
        compared += both.operations(shape, &mut dice)?;
    }
    Ok(())
}

struct EnginePair<'e> {
    engine: &'e dyn Engine,
    referee: &'e dyn Engine,
    size: BatchSize,
    referee_size: BatchSize,
}

impl EnginePair<'_> {
    fn operations(&self, shape: Shape, dice: &mut SplitMix) -> Result<usize, String> {
        let count = match shape {
            Shape::RsaPrivate { .. } | Shape::ModExp { .. } | Shape::HssVerify | Shape::XmssVerify => {
                SLOW_OPERATIONS
            }
            Shape::SlhDsaKeygen { .. } | Shape::SlhDsaSign { .. } | Shape::SlhDsaVerify { .. } => {
                LONG_OPERATIONS
            }
            _ => OPERATIONS,
        };
        let inputs = match shape {
            Shape::EcdsaVerify { curve } => {
                self.signed_cases(shape, Shape::EcdsaSign { curve }, count, dice)?
            }
            Shape::Ed25519Verify => self.signed_cases(shape, Shape::Ed25519Sign, count, dice)?,
            Shape::MlDsaVerify { set } => self.signed_cases(shape, Shape::MlDsaSign { set }, count, dice)?,
            Shape::SlhDsaVerify { set } => {
                self.signed_cases(shape, Shape::SlhDsaSign { set }, count, dice)?
            }
            Shape::MlKemDecaps { set } => self.encapsulated_cases(set, count, dice)?,
            Shape::HssVerify | Shape::XmssVerify => known_cases(shape, count, dice)?,
            _ => unsigned_cases(shape, count, dice)?,
        };
        let jobs = OperationCase::operations(&inputs, shape).map_err(|error| error.to_string())?;
        let expected = run_operations(self.referee, shape, &jobs, self.referee_size.max)?;
        let found = run_operations(self.engine, shape, &jobs, self.size.max)?;
        compare_results(&expected, &found)
            .map_err(|at| format!("operation {at} differs from the referee"))?;
        if let Shape::EcdsaSign { curve } = shape {
            self.check_hedged(Shape::EcdsaVerify { curve }, shape, &inputs)?;
        }
        let done = expected.iter().filter(|result| result.status == Status::Done).count();
        if done == 0 { Err("no random operation was good".into()) } else { Ok(count) }
    }

    /// Makes signatures with the referee. One in three has a flipped bit in signature or input.
    fn signed_cases(
        &self,
        verifying: Shape,
        signing: Shape,
        count: usize,
        dice: &mut SplitMix,
    ) -> Result<Vec<OperationCase>, String> {
        let mut inputs = unsigned_cases(signing, count, dice)?;
        let jobs = OperationCase::operations(&inputs, signing).map_err(|error| error.to_string())?;
        let signed = run_operations(self.referee, signing, &jobs, self.referee_size.max)?;
        for (random, result) in inputs.iter_mut().zip(signed) {
            random.set_signature(result.output, verifying);
            flip_one_in_three(random, dice);
        }
        Ok(inputs)
    }

    /// Makes ciphertexts with the referee. One in three has a flipped bit.
    fn encapsulated_cases(
        &self,
        set: MlKemSet,
        count: usize,
        dice: &mut SplitMix,
    ) -> Result<Vec<OperationCase>, String> {
        let mut inputs = unsigned_cases(Shape::MlKemDecaps { set }, count, dice)?;
        let shape = Shape::MlKemEncaps { set };
        let random: Vec<Vec<u8>> = inputs.iter().map(|_| dice.bytes(MlKemSet::RANDOM_LEN)).collect();
        let jobs = inputs
            .iter()
            .zip(&random)
            .map(|(case, random)| Operation::new(shape, &case.key, random, SecondInput::None));
        let jobs = jobs.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
        let made = run_operations(self.referee, shape, &jobs, self.referee_size.max)?;
        for (case, result) in inputs.iter_mut().zip(made) {
            let ciphertext = result.output.get(..set.ciphertext_len());
            case.input = ciphertext.ok_or("the referee does not encapsulate")?.to_vec();
            if dice.one_in(3) {
                let at = dice.below(case.input.len());
                case.input[at] ^= 1 << dice.below(8);
            }
        }
        Ok(inputs)
    }

    /// Checks that the referee verifies signatures with random nonces.
    fn check_hedged(&self, verifying: Shape, signing: Shape, inputs: &[OperationCase]) -> Result<(), String> {
        let hedged = inputs.iter().map(|random| {
            let nonce = SecondInput::NonceInput(NonceInput::Hedged(&random.nonce));
            Operation::new(signing, &random.key, &random.input, nonce)
        });
        let hedged = hedged.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
        let signed = run_operations(self.engine, signing, &hedged, self.size.max)?;
        let verifications = inputs.iter().zip(&signed).map(|(random, result)| {
            Operation::new(verifying, &random.key, &random.input, SecondInput::Signature(&result.output))
        });
        let verifications = verifications
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| format!("a hedged signature was not made: {error}"))?;
        let answers = run_operations(self.referee, verifying, &verifications, self.referee_size.max)?;
        match answers.iter().position(|result| result.status != Status::Done) {
            Some(at) => Err(format!("the hedged signature {at} does not verify")),
            None => Ok(()),
        }
    }

    fn records(&self, shape: Shape) -> Result<usize, String> {
        let mut dice = SplitMix::new(0x0A12_10C5);
        let wanted = match shape {
            Shape::Chain { .. } => CHAIN_RECORDS,
            _ => RECORDS.max(2 * self.size.preferred + 1),
        };
        let count = wanted.min(self.size.max).min(self.referee_size.max);
        let mut cases: Vec<RecordCase> = (0..count).map(|_| random_record(shape, &mut dice)).collect();
        self.seal_first(shape, &mut cases, &mut dice)?;
        let records = to_records(&cases)?;
        let expected = run_records(self.referee, shape, &records)?;
        let found = run_records(self.engine, shape, &records)?;
        compare_results(&expected, &found).map_err(|at| format!("record {at} differs from the referee"))?;
        let done = expected.iter().filter(|result| result.status == Status::Done).count();
        if done * 2 < count {
            Err("less than half of the random records were good".into())
        } else {
            Ok(count)
        }
    }

    /// Seals or wraps records with the referee, if the shape opens or unwraps them. One in eight gets a flipped bit.
    fn seal_first(&self, shape: Shape, cases: &mut [RecordCase], dice: &mut SplitMix) -> Result<(), String> {
        let making = match (shape, shape.direction()) {
            (Shape::Aead { .. } | Shape::Wrap { .. } | Shape::Chain { .. }, Some(Direction::Decrypt)) => {
                shape.reversed().unwrap_or(shape)
            }
            _ => return Ok(()),
        };

        let sealed = run_records(self.referee, making, &to_records(cases)?)?;
        for (case, result) in cases.iter_mut().zip(sealed) {
            let is_wrap = matches!(shape, Shape::Wrap { .. });
            case.output_len = result.output.len() - if is_wrap { result.output.len().min(8) } else { 0 };
            (case.input, case.expected_tag, case.new_tag_len) = (result.output, result.tag, 0);
            // AES-SIV also opens without associated data what was sealed with an empty string of it.
            case.lacks_aad |= case.aad.is_empty() && dice.one_in(4);
            if dice.one_in(8) {
                let flipped = if dice.one_in(2) && !case.expected_tag.is_empty() {
                    &mut case.expected_tag
                } else {
                    &mut case.input
                };
                let at = dice.below(flipped.len());
                if let Some(byte) = flipped.get_mut(at) {
                    *byte ^= 1 << dice.below(8);
                }
            }
        }
        Ok(())
    }
}

/// Makes keys of a shape: random ones where they take microseconds, and those of the samples.
fn keys(shape: Shape, dice: &mut SplitMix) -> Result<Vec<Key>, String> {
    const KEYS: usize = 24;
    let made: Result<Vec<Key>, KeyError> = match shape {
        Shape::MlKemKeygen { set } | Shape::MlKemEncaps { set } | Shape::MlKemDecaps { set } => {
            (0..KEYS).map(|_| raw::ml_kem_seed(set, &dice.bytes(MlKemSet::SEED_LEN))).collect()
        }
        Shape::MlDsaSign { set } => {
            (0..KEYS).map(|_| raw::ml_dsa_seed(set, &dice.bytes(MlDsaSet::SEED_LEN))).collect()
        }
        _ => {
            let samples = sample_operations(shape, KEYS).map_err(|failure| failure.to_string())?;
            Ok(samples.iter().map(|operation| operation.key.clone()).collect())
        }
    };
    made.map_err(|error| error.to_string())
}

/// Flips a bit of one case in three, in signature or input.
fn flip_one_in_three(case: &mut OperationCase, dice: &mut SplitMix) {
    let flipped = match dice.below(6) {
        0 => &mut case.signature,
        1 => &mut case.input,
        _ => return,
    };
    let at = dice.below(flipped.len());
    if let Some(byte) = flipped.get_mut(at) {
        *byte ^= 1 << dice.below(8);
    }
}

/// Returns the samples of a scheme by which nobody here signs. One in three has a flipped bit.
fn known_cases(shape: Shape, count: usize, dice: &mut SplitMix) -> Result<Vec<OperationCase>, String> {
    let set = sample_operations(shape, count).map_err(|failure| failure.to_string())?;
    let cases = set.iter().map(|operation| {
        let signature = match operation.extra {
            SecondInput::Signature(signature) => signature.to_vec(),
            _ => Vec::new(),
        };
        let (key, input) = (operation.key.clone(), operation.input.to_vec());
        let mut case = OperationCase { key, input, signature, nonce: [0; 32] };
        flip_one_in_three(&mut case, dice);
        case
    });
    Ok(cases.collect())
}

/// Combines keys with random inputs. One RSA integer in eight may be above the modulus, and one peer of
/// ECDH in eight is no point.
fn unsigned_cases(shape: Shape, count: usize, dice: &mut SplitMix) -> Result<Vec<OperationCase>, String> {
    let keys = keys(shape, dice)?;
    let random = |_| {
        let key = keys[dice.below(keys.len())].clone();
        let len = shape.input_len().unwrap_or_else(|| dice.below(300));
        let mut input = dice.bytes(len);
        if matches!(shape, Shape::RsaPrivate { .. } | Shape::RsaPublic { .. } | Shape::ModExp { .. }) {
            let is_small = !dice.one_in(8);
            input.iter_mut().take(if is_small { 1 } else { 0 }).for_each(|byte| *byte = 0);
        }
        if let Shape::Ecdh { curve } = shape {
            // Random bytes are never a point: the point of a random key is one.
            let other = raw::ec_private(curve, &dice.bytes(curve.scalar_len()));
            let point = other.as_ref().ok().and_then(|key| Some(key.ec_public()?.1));
            if let Some(point) = point.filter(|_| !dice.one_in(8)) {
                input = point.to_vec();
            }
        }
        let mut nonce = [0; 32];
        nonce.copy_from_slice(&dice.bytes(32));
        OperationCase { key, input, signature: Vec::new(), nonce }
    };
    Ok((0..count).map(random).collect())
}

/// Makes a record whose lengths fit in seven of eight cases. Shapes that open or unwrap get the input of sealing or
/// wrapping.
fn random_record(shape: Shape, dice: &mut SplitMix) -> RecordCase {
    let len = [dice.below(17), dice.below(80), dice.below(700)][dice.below(3)];
    let mut case = match shape {
        Shape::Cipher { alg, mode, .. } => {
            let len = len.next_multiple_of(CipherSpec { alg, mode }.granularity());
            let (key, iv) = (dice.bytes(alg.key_len()), dice.bytes(alg.block_len()));
            RecordCase { key, iv, input: dice.bytes(len), output_len: len, ..RecordCase::default() }
        }
        Shape::Translate { from, to } => {
            let len = len.next_multiple_of(from.alg.block_len().max(to.alg.block_len()));
            RecordCase {
                key: dice.bytes(from.alg.key_len()),
                second_key: dice.bytes(to.alg.key_len()),
                iv: dice.bytes(from.alg.block_len()),
                second_iv: dice.bytes(to.alg.block_len()),
                input: dice.bytes(len),
                output_len: len,
                ..RecordCase::default()
            }
        }
        Shape::Aead { alg, .. } => random_aead(alg, len, dice),
        Shape::Fpe { alg, .. } => random_fpe(alg, len, dice),
        Shape::Mac { alg } => random_mac(alg, len, dice),
        Shape::Chain { cipher, mac, order, .. } => random_chain(cipher, mac, order, len, dice),
        Shape::Digest { alg } => {
            RecordCase { input: dice.bytes(len), output_len: alg.output_len(), ..RecordCase::default() }
        }
        Shape::DigestPart { alg } => RecordCase {
            iv: dice.bytes(alg.state_len()),
            input: dice.bytes(len.next_multiple_of(alg.block_len())),
            output_len: alg.state_len(),
            ..RecordCase::default()
        },
        Shape::Wrap { alg, .. } => random_wrap(alg, len, dice),
        _ => RecordCase::default(),
    };
    if dice.one_in(8) {
        case.output_len += 1;
    }
    case
}

fn random_aead(alg: AeadAlg, len: usize, dice: &mut SplitMix) -> RecordCase {
    let (mut iv_len, mut aad_len, mut tag_len, mut len) = (alg.usual_iv_len(), dice.below(50), 16, len);
    match alg {
        AeadAlg::ChaCha20Poly1305Ssh => (aad_len, len) = (0, len + alg.min_input_len()),
        AeadAlg::ChaCha20Poly1305 | AeadAlg::Aes128GcmSiv | AeadAlg::Aes256GcmSiv => {}
        _ if alg.is_siv() => {
            iv_len = [0, 0, 12, dice.below(40)][dice.below(4)];
            aad_len = [0, aad_len, dice.below(17)][dice.below(3)];
        }
        _ => {
            iv_len = if dice.one_in(3) { 1 + dice.below(40) } else { 12 };
            tag_len = 12 + dice.below(5);
        }
    }
    RecordCase {
        key: dice.bytes(alg.key_len()),
        iv: dice.bytes(iv_len),
        aad: dice.bytes(aad_len),
        lacks_aad: aad_len == 0 && dice.one_in(2),
        input: dice.bytes(len),
        output_len: len,
        new_tag_len: tag_len,
        ..RecordCase::default()
    }
}

/// Makes numerals of a radix that is drawn too. One record in eight has a numeral that is not below it.
fn random_fpe(alg: FpeAlg, len: usize, dice: &mut SplitMix) -> RecordCase {
    let radix = [10, 10, 10, 36, 62, 2, 256, 257, 65_535, 65_536][dice.below(10)];
    let numeral_bytes = if radix <= 256 { 1 } else { 2 };
    // Seven bits have 100 texts.
    let numerals = if dice.one_in(2) { 16 } else { len.clamp(7, MAX_FF1_NUMERALS) };
    let mut input = Vec::new();
    for _ in 0..numerals {
        let numeral = if dice.one_in(8 * numerals) { radix } else { dice.below(radix) };
        // A numeral of 256 or 65,536 has no form of its own.
        let bytes = (numeral.min(if numeral_bytes == 1 { 255 } else { 65_535 }) as u16).to_be_bytes();
        input.extend(&bytes[2 - numeral_bytes..]);
    }
    let tweak_len = [0, dice.below(12), dice.below(40)][dice.below(3)];
    RecordCase {
        key: dice.bytes(alg.key_len()),
        iv: (radix as u32).to_be_bytes().to_vec(),
        aad: dice.bytes(tweak_len),
        output_len: input.len(),
        input,
        ..RecordCase::default()
    }
}

fn random_chain(
    cipher: CipherSpec,
    mac: MacAlg,
    order: ChainOrder,
    len: usize,
    dice: &mut SplitMix,
) -> RecordCase {
    let is_detached = order.has_detached_tag();
    let len = if is_detached { len.next_multiple_of(cipher.granularity()) } else { len };
    let second_key_len = if dice.one_in(4) { 1 + dice.below(150) } else { mac.tag_len() };
    let (aad_len, tag_len) =
        (if is_detached { dice.below(50) } else { MTE_AAD_LEN }, 10 + dice.below(mac.tag_len() - 9));
    RecordCase {
        key: dice.bytes(cipher.alg.key_len()),
        second_key: dice.bytes(second_key_len),
        iv: dice.bytes(cipher.alg.block_len()),
        aad: dice.bytes(aad_len),
        input: dice.bytes(len),
        output_len: if is_detached { len } else { mte_sealed_len(cipher.alg, mac, len) },
        new_tag_len: if is_detached { tag_len } else { 0 },
        ..RecordCase::default()
    }
}

fn random_mac(alg: MacAlg, len: usize, dice: &mut SplitMix) -> RecordCase {
    let key_len = alg.key_len().unwrap_or_else(|| 1 + dice.below(150));
    let tag_len = if dice.one_in(2) { alg.tag_len() } else { 4 + dice.below(alg.tag_len() - 3) };
    RecordCase {
        key: dice.bytes(key_len),
        input: dice.bytes(len),
        output_len: tag_len,
        ..RecordCase::default()
    }
}

fn random_wrap(alg: WrapAlg, len: usize, dice: &mut SplitMix) -> RecordCase {
    let len = match alg {
        WrapAlg::Aes128Kw | WrapAlg::Aes256Kw => len.next_multiple_of(8).max(16),
        _ => len.max(1),
    };
    let (key, input) = (dice.bytes(alg.key_len()), dice.bytes(len));
    RecordCase { key, input, output_len: len.next_multiple_of(8) + 8, ..RecordCase::default() }
}
