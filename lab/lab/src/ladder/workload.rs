//! Keys and operations under them, like those of the paper's customer.

use std::borrow::Cow;

use oarlock::engine_api::{Engine, Jobs};
use oarlock::keys::generate;
use oarlock::{BlockCipher, CipherMode, Direction, KeySource, Outcomes, Shape, Span, Status};
use oarlock::{Key, Records};
use oarlock_keytable::{
    BatchTask, IvRule, KeyAlgorithm, KeyOperation, KeyPolicy, KeyTable, KeyType, KeyWrap,
};
use oarlock_measure::random::SplitMix64;

use super::LadderError;
use super::args::{LadderCipher, OpLengths};
use super::columns::BatchColumns;

/// The length of a block and of an IV in bytes.
pub(super) const BLOCK: usize = 8;
/// The length of a check value in bytes.
pub(super) const CHECK: usize = 3;
/// The wrapping of keys: under a triple-DES key, as in the paper.
pub(super) const WRAP: KeyWrap = KeyWrap::LegacyCbc(BlockCipher::Tdes3);
/// The name of the master key in key tables.
pub(super) const MASTER: &str = "master";
/// The number of operations in a row under one key, if keys come in runs.
const RUN: usize = 64;

/// The keys of all operations, plain and wrapped.
#[derive(Debug)]
pub(super) struct KeyRing {
    pub(super) cipher: LadderCipher,
    /// The key that wraps the others.
    pub(super) master: Key,
    pub(super) keys: Vec<Key>,
    pub(super) wrapped: Vec<WrappedCardKey>,
}

/// A wrapped key.
#[derive(Clone, Debug)]
pub(super) struct WrappedCardKey {
    pub(super) bytes: Vec<u8>,
    pub(super) check_value: [u8; CHECK],
}

/// One operation: spans lie in the data of its workload.
#[derive(Clone, Copy, Debug)]
pub(super) struct LadderOp {
    pub(super) direction: Direction,
    pub(super) key: u32,
    pub(super) iv: Span,
    pub(super) input: Span,
}

/// The property that the operations of a batch have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyOrder {
    /// A random key, IV and direction each time.
    Random,
    /// One key, encryption, IVs of zero: experiment 3.
    OneKey,
    /// Random, with one direction.
    OneDirection,
    /// Random, with keys in runs.
    BatchRuns,
    /// Random, then sorted by direction, length and key.
    Sorted,
}

/// A batch of operations, and the referee's results.
#[derive(Debug)]
pub(super) struct Workload {
    pub(super) ops: Vec<LadderOp>,
    /// All IVs, then all inputs.
    pub(super) data: Vec<u8>,
    /// The results, side by side.
    pub(super) expected: Vec<u8>,
}

impl KeyRing {
    pub(super) fn new(referee: &dyn Engine, cipher: LadderCipher, count: usize) -> Result<Self, LadderError> {
        let alg = cipher.alg();
        let keys: Vec<Key> = (0..count).map(|_| generate::secret(alg.key_len())).collect::<Result<_, _>>()?;
        let master = generate::secret(BlockCipher::Tdes3.key_len())?;
        let in_clear: Vec<u8> = keys.iter().flat_map(secret).copied().collect();
        let wrapped = cbc_of_zero_iv(
            referee,
            BlockCipher::Tdes3,
            std::slice::from_ref(&master),
            &in_clear,
            alg.key_len(),
        )?;
        let checks = cbc_of_zero_iv(referee, alg, &keys, &vec![0; BLOCK * count], BLOCK)?;
        let pairs = wrapped.chunks(alg.key_len()).zip(checks.chunks(BLOCK));
        let wrapped = pairs.map(|(bytes, check)| WrappedCardKey {
            bytes: bytes.to_vec(),
            check_value: [check[0], check[1], check[2]],
        });
        Ok(Self { cipher, master, wrapped: wrapped.collect(), keys })
    }

    /// Makes a table with only the master key. Returns it with the master key's index.
    pub(super) fn master_table(&self) -> Result<(KeyTable, u32), LadderError> {
        let table = KeyTable::new();
        let key_type = self.cipher.key_type();
        let card_key = KeyPolicy::new()
            .allow([KeyOperation::Encrypt, KeyOperation::Decrypt])
            .with([KeyAlgorithm::Cbc])
            .ivs([IvRule::Callers]);
        let policy = KeyPolicy::unwrapping(KeyAlgorithm::LegacyCbc, key_type, card_key);
        let master = table.insert(MASTER, KeyType::Tdes3, secret(&self.master), policy)?;
        Ok((table, master.index))
    }

    /// Makes a table of all keys, each at its own index.
    pub(super) fn table(&self) -> Result<KeyTable, LadderError> {
        let table = KeyTable::new();
        let key_type = self.cipher.key_type();
        for (index, key) in self.keys.iter().enumerate() {
            table.insert(format!("key {index}"), key_type, secret(key), KeyPolicy::any_data(key_type))?;
        }
        Ok(table)
    }

    pub(super) fn task(&self, direction: Direction) -> BatchTask {
        task(self.cipher.alg(), direction)
    }
}

pub(super) fn task(alg: BlockCipher, direction: Direction) -> BatchTask {
    match direction {
        Direction::Encrypt => BatchTask::encrypt(alg),
        Direction::Decrypt => BatchTask::decrypt(alg),
    }
}

pub(super) fn cbc_shape(alg: BlockCipher, direction: Direction) -> Shape {
    Shape::Cipher { alg, mode: CipherMode::Cbc, direction }
}

fn secret(key: &Key) -> &[u8] {
    key.secret().map_or(&[], |secret| secret.expose())
}

impl Workload {
    /// Makes `count` operations. They are the same at every run, except for the keys.
    pub(super) fn new(
        ring: &KeyRing,
        referee: &dyn Engine,
        order: KeyOrder,
        lengths: OpLengths,
        count: usize,
    ) -> Result<Self, LadderError> {
        let mut random = SplitMix64::new(0x1ADD_E500);
        let mut ops = Vec::with_capacity(count);
        let mut end = BLOCK * count;
        for index in 0..count {
            let len = match lengths {
                OpLengths::Uniform => BLOCK * (1 + below(&mut random, 10)),
                OpLengths::Fixed => 40,
            };
            ops.push(LadderOp {
                direction: [Direction::Encrypt, Direction::Decrypt][below(&mut random, 2)],
                key: below(&mut random, ring.keys.len()) as u32,
                iv: Span::new(BLOCK * index, BLOCK).ok_or(LadderError::TooLarge)?,
                input: Span::new(end, len).ok_or(LadderError::TooLarge)?,
            });
            end += len;
        }
        let mut data = random.bytes(end);
        order.arrange(&mut ops, &mut data);
        let expected = compute(referee, ring.cipher.alg(), &ring.keys, &data, &ops)?;
        Ok(Self { ops, data, expected })
    }

    pub(super) fn bytes(&self, span: Span) -> &[u8] {
        &self.data[span.range()]
    }

    /// Returns the operations as columns, with keys by their index in the table.
    pub(super) fn columns(&self, ring: &KeyRing) -> Result<BatchColumns, LadderError> {
        let mut columns = BatchColumns::default();
        for op in &self.ops {
            columns.push(ring.task(op.direction), KeySource::Table(op.key), op.iv, op.input)?;
        }
        Ok(columns)
    }
}

impl KeyOrder {
    fn arrange(self, ops: &mut [LadderOp], data: &mut [u8]) {
        let first_of_run = |index: usize| index - index % RUN;
        match self {
            Self::Random => {}
            Self::OneKey => {
                ops.iter_mut().for_each(|op| (op.key, op.direction) = (0, Direction::Encrypt));
                data[..BLOCK * ops.len()].fill(0);
            }
            Self::OneDirection => ops.iter_mut().for_each(|op| op.direction = Direction::Encrypt),
            Self::BatchRuns => (0..ops.len()).for_each(|index| ops[index].key = ops[first_of_run(index)].key),
            Self::Sorted => {
                ops.sort_by_key(|op| (op.direction == Direction::Decrypt, op.input.len, op.key));
            }
        }
    }
}

fn below(random: &mut SplitMix64, bound: usize) -> usize {
    (random.next_u64() % bound as u64) as usize
}

/// Computes operations on a bare engine: one run for each direction. Results are in the order of the operations.
pub(super) fn compute(
    engine: &dyn Engine,
    alg: BlockCipher,
    keys: &[Key],
    data: &[u8],
    ops: &[LadderOp],
) -> Result<Vec<u8>, LadderError> {
    let [encrypted, decrypted] = Direction::ALL.map(|direction| {
        let chosen = ops.iter().filter(|op| op.direction == direction);
        run(engine, cbc_shape(alg, direction), keys, data, chosen)
    });
    let (encrypted, decrypted) = (encrypted?, decrypted?);
    let (mut encrypted, mut decrypted) = (&encrypted[..], &decrypted[..]);
    let mut results = Vec::with_capacity(encrypted.len() + decrypted.len());
    for op in ops {
        let from = match op.direction {
            Direction::Encrypt => &mut encrypted,
            Direction::Decrypt => &mut decrypted,
        };
        let (piece, rest) = from.split_at(op.input.len as usize);
        results.extend_from_slice(piece);
        *from = rest;
    }
    Ok(results)
}

fn run<'a>(
    engine: &dyn Engine,
    shape: Shape,
    keys: &[Key],
    data: &[u8],
    ops: impl Iterator<Item = &'a LadderOp>,
) -> Result<Vec<u8>, LadderError> {
    let mut columns = BatchColumns::default();
    for op in ops {
        columns.push(BatchTask::Do(shape), KeySource::Table(op.key), op.iv, op.input)?;
    }
    let records = Records { keys: Cow::Borrowed(keys), ..columns.batch(data).records };
    let parts = [&records];
    let jobs = Jobs::Records(shape, &parts);
    let mut outcomes = Outcomes::for_jobs(&jobs);
    engine.run(&jobs, &mut outcomes)?;
    match outcomes.statuses().iter().position(|status| *status != Status::Done) {
        None => Ok(outcomes.bytes().to_vec()),
        Some(record) => Err(LadderError::Refused { record, status: outcomes.statuses()[record] }),
    }
}

/// Encrypts pieces of `len` bytes with an IV of zero, each under the key of the same index or under the only key.
fn cbc_of_zero_iv(
    engine: &dyn Engine,
    alg: BlockCipher,
    keys: &[Key],
    pieces: &[u8],
    len: usize,
) -> Result<Vec<u8>, LadderError> {
    let data = [&[0; BLOCK], pieces].concat();
    let op = |index: usize| {
        Some(LadderOp {
            direction: Direction::Encrypt,
            key: if keys.len() == 1 { 0 } else { index as u32 },
            iv: Span::new(0, BLOCK)?,
            input: Span::new(BLOCK + index * len, len)?,
        })
    };
    let ops: Option<Vec<LadderOp>> = (0..pieces.len() / len).map(op).collect();
    compute(engine, alg, keys, &data, &ops.ok_or(LadderError::TooLarge)?)
}

#[cfg(test)]
mod tests {
    use oarlock::Accelerator;

    use super::*;

    fn scalar() -> Accelerator {
        Accelerator::builder().engines(["scalar"]).lazy().build().unwrap()
    }

    #[test]
    fn orders_are_what_they_say() {
        let accelerator = scalar();
        let ring = KeyRing::new(accelerator.diagnostics().referee(), LadderCipher::Des, 5).unwrap();
        let make = |order| {
            Workload::new(&ring, accelerator.diagnostics().referee(), order, OpLengths::Uniform, 200).unwrap()
        };
        let random = make(KeyOrder::Random);
        assert!(random.ops.iter().any(|op| op.direction == Direction::Decrypt));
        assert!(random.ops.iter().all(|op| (8..=80).contains(&op.input.len) && op.input.len % 8 == 0));
        let sorted = make(KeyOrder::Sorted);
        assert!(sorted.ops.is_sorted_by_key(|op| (op.direction == Direction::Decrypt, op.input.len, op.key)));
        assert_eq!(sorted.expected.len(), random.expected.len());
        assert!(make(KeyOrder::OneDirection).ops.iter().all(|op| op.direction == Direction::Encrypt));
        let one_key = make(KeyOrder::OneKey);
        assert!(one_key.ops.iter().all(|op| op.key == 0 && one_key.bytes(op.iv) == [0; BLOCK]));
        let runs = make(KeyOrder::BatchRuns);
        assert!(runs.ops.chunks(RUN).all(|run| run.iter().all(|op| op.key == run[0].key)));
    }

    #[test]
    fn wrapped_keys_unwrap_to_themselves() {
        let accelerator = scalar();
        for cipher in [LadderCipher::Des, LadderCipher::Tdes] {
            let ring = KeyRing::new(accelerator.diagnostics().referee(), cipher, 3).unwrap();
            let (table, _) = ring.master_table().unwrap();
            for (index, wrapped) in ring.wrapped.iter().enumerate() {
                let wrapped = oarlock_keytable::WrappedKey {
                    wrap: WRAP,
                    key_type: cipher.key_type(),
                    bytes: &wrapped.bytes,
                    check_value: &wrapped.check_value,
                };
                table.unwrap_key(&accelerator, MASTER, format!("key {index}"), wrapped).unwrap();
            }
            let workload = Workload::new(
                &ring,
                accelerator.diagnostics().referee(),
                KeyOrder::Random,
                OpLengths::Fixed,
                20,
            )
            .unwrap();
            let mut columns = BatchColumns::default();
            for op in &workload.ops {
                // The master key has index 0.
                let key = KeySource::Table(op.key + 1);
                columns.push(ring.task(op.direction), key, op.iv, op.input).unwrap();
            }
            let outcome = table.run(&accelerator, &columns.batch(&workload.data)).unwrap();
            assert_eq!(outcome.output(), workload.expected);
        }
    }
}
