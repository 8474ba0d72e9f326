//! Short records for `oarlock speed`: each with its own IV and data, under keys in random order.

use std::sync::Arc;

use oarlock::engine_api::{Engine, Jobs};
use oarlock::keys::generate;
use oarlock::{Accelerator, ChainOrder, Key, MTE_AAD_LEN, Records, Shape, mte_sealed_len};
use oarlock::{Column, InputSource, KeySource, Outcomes, OutputSink, SecretBytes, Span};

use super::error::SpeedError;
use super::measure::SpeedContender;
use crate::operation::NamedOperation;
use crate::peer::{ByteColumn, PeerAlgorithm, PeerError, PeerTask};
use crate::random::SplitMix64;

/// Records of one operation, shared by the threads that work on them.
#[derive(Clone)]
pub(crate) struct RecordWork {
    op: String,
    pub(crate) shape: Shape,
    pub(crate) records: Arc<Records<'static>>,
    layout: RecordLayout,
}

/// The layout of the records: all IVs, then all inputs; all outputs, then all tags.
#[derive(Clone, Copy, Debug)]
struct RecordLayout {
    count: usize,
    iv: usize,
    aad: usize,
    input: usize,
    output: usize,
    tag: usize,
}

/// Bytes of key, IV, associated data, output and tag of a record of `len` bytes.
fn sizes(shape: Shape, len: usize) -> Option<(usize, RecordLayout)> {
    let layout = RecordLayout { count: 0, iv: 0, aad: 0, input: len, output: len, tag: 0 };
    Some(match shape {
        Shape::Cipher { alg, .. } => (alg.key_len(), RecordLayout { iv: alg.block_len(), ..layout }),
        Shape::Aead { alg, .. } => {
            (alg.key_len(), RecordLayout { iv: alg.usual_iv_len(), tag: TAG_LEN, ..layout })
        }
        Shape::Fpe { alg, .. } => (alg.key_len(), RecordLayout { iv: RADIX.len(), aad: TWEAK_LEN, ..layout }),
        Shape::Chain { cipher, mac, order: ChainOrder::MacThenEncrypt, .. } => {
            let (iv, output) = (cipher.alg.block_len(), mte_sealed_len(cipher.alg, mac, len));
            (cipher.alg.key_len(), RecordLayout { iv, aad: MTE_AAD_LEN, output, ..layout })
        }
        Shape::Mac { alg } => (alg.key_len().unwrap_or(32), RecordLayout { output: alg.tag_len(), ..layout }),
        Shape::Digest { alg } => (0, RecordLayout { output: alg.output_len(), ..layout }),
        _ => return None,
    })
}

/// The length of a whole tag of an AEAD. NIST SP 800-38D 5.2.1.2 and RFC 8439 2.8.
const TAG_LEN: usize = 16;

/// The radix of FF1, as the IV column has it.
const RADIX: [u8; 4] = [0, 0, 0, 10];

/// The length of a tweak, such as the name of a column.
const TWEAK_LEN: usize = 7;

/// The version of TLS 1.0. RFC 2246 6.2.1.
const TLS_1_0: [u8; 2] = [3, 1];

/// The MAC keys of chains, which follow the cipher keys.
const MAC_KEYS: usize = 64;

impl RecordWork {
    /// Makes `count` records under `keys` keys in random order. None for public-key operations.
    pub(crate) fn new(
        operation: NamedOperation,
        count: usize,
        keys: usize,
    ) -> Option<Result<Self, SpeedError>> {
        let (shape, len) = operation.record()?;
        let (key_len, layout) = sizes(shape, len)?;
        Some(Self::build(operation.to_string(), shape, key_len, RecordLayout { count, ..layout }, keys))
    }

    fn build(
        op: String,
        shape: Shape,
        key_len: usize,
        layout: RecordLayout,
        keys: usize,
    ) -> Result<Self, SpeedError> {
        let keys = if key_len == 0 { 0 } else { keys };
        let mut lens = vec![key_len; keys];
        if let Shape::Chain { mac, .. } = shape {
            lens.extend([mac.tag_len(); MAC_KEYS]);
        }
        let made = lens.into_iter().map(generate::secret).collect::<Result<Vec<Key>, _>>();
        let made = made.map_err(|error| SpeedError::Key { op: op.clone(), error })?;
        let too_large = || SpeedError::TooLarge { op: op.clone(), count: layout.count, len: layout.input };
        let mut records = layout.records(made, keys).ok_or_else(too_large)?;
        if let Shape::Fpe { .. } = shape {
            // One radix for all, as `oarlock records` has it. The peer reads its own copies.
            records.iv = Column::One(Span { start: 0, len: RADIX.len() as u32 });
            let (radixes, numerals) = records.data.to_mut().split_at_mut(layout.count * layout.iv);
            radixes.as_chunks_mut().0.fill(RADIX);
            numerals.iter_mut().for_each(|byte| *byte %= RADIX[3]);
        }
        Ok(Self { op, shape, records: Arc::new(records), layout })
    }

    /// Returns the number of different keys.
    pub(crate) fn keys(&self) -> usize {
        self.records.keys.len()
    }

    /// Bytes of one record.
    pub(crate) fn input_len(&self) -> usize {
        self.layout.input
    }

    /// Returns the same work for libcrypto.
    pub(crate) fn task(&self) -> Result<PeerTask, PeerError> {
        let refused = || PeerError::Task { expected: "work for libcrypto".into(), found: self.op.clone() };
        let algorithm = PeerAlgorithm::of_operation(&self.op).ok_or_else(refused)?;
        let records = &*self.records;
        let key_of = records.key.cursor().take(records.len).map(|source| match source {
            KeySource::Table(index) | KeySource::Slot(index) => index,
        });
        let raw = |key: &Key| key.secret().map(|secret| secret.expose().to_vec()).unwrap_or_default();
        let layout = self.layout;
        // The MAC keys of chains are at the end, and extras in the task.
        let mac_keys = if matches!(self.shape, Shape::Chain { .. }) { MAC_KEYS } else { 0 };
        Ok(PeerTask {
            algorithm,
            keys: records.keys.iter().take(records.keys.len() - mac_keys).map(raw).collect::<ByteColumn>(),
            key_of: if records.keys.is_empty() { Vec::new() } else { key_of.collect() },
            inputs: layout.slices(&records.data, layout.count * layout.iv, layout.input),
            extras: self.extras(),
        })
    }

    /// Returns the IVs of the records, each followed by associated data and the second key if the shape has one.
    fn extras(&self) -> ByteColumn {
        let RecordLayout { count, iv, aad, input, .. } = self.layout;
        if iv == 0 {
            return ByteColumn::default();
        }
        let (records, data) = (&*self.records, &self.records.data);
        let second_key = |index| match (self.shape, records.second_key.get(index)) {
            (Shape::Chain { .. }, Some(KeySource::Table(key))) => records.keys[key as usize].secret(),
            _ => None,
        };
        let one = |index: usize| {
            let header = count * (iv + input) + index * aad;
            let second_key = second_key(index).map(SecretBytes::expose).unwrap_or_default();
            [&data[index * iv..(index + 1) * iv], &data[header..header + aad], second_key].concat()
        };
        (0..count).map(one).collect()
    }

    /// Returns Oarlock's results in libcrypto's form: output, then tag.
    pub(crate) fn results(&self, accelerator: &Accelerator) -> Result<Vec<Vec<u8>>, SpeedError> {
        let outcomes =
            accelerator.records().run(self.shape, &self.records).map_err(|error| self.failure(error))?;
        let RecordLayout { count, output, tag, .. } = self.layout;
        let bytes = outcomes.bytes();
        let one = |index: usize| {
            let tag_start = count * output + index * tag;
            [&bytes[index * output..(index + 1) * output], &bytes[tag_start..tag_start + tag]].concat()
        };
        Ok((0..count).map(one).collect())
    }

    fn failure(&self, error: oarlock::JobError) -> SpeedError {
        SpeedError::Job { op: self.op.clone(), error }
    }
}

impl RecordLayout {
    /// Makes records under the first `first_keys` of `keys`. The others are second keys.
    fn records(self, keys: Vec<Key>, first_keys: usize) -> Option<Records<'static>> {
        let Self { count, iv, aad, input, output, tag } = self;
        let first = |start: usize, len: usize| {
            // Later spans are computed from the first, so the end of the last one is checked here.
            Span::new(start + count * len, 0)?;
            Span::new(start, len)
        };
        let mut random = SplitMix64::new(0x0A51_0C4B);
        let mut data = random.bytes(count * (iv + input + aad));
        // TLS 1.0 has no IV in its records. libcrypto encrypts those of later versions with it.
        for header in data[count * (iv + input)..].chunks_exact_mut(MTE_AAD_LEN) {
            header[MTE_AAD_LEN - TLS_1_0.len()..].copy_from_slice(&TLS_1_0);
        }
        let key_of: Vec<KeySource> = (0..count)
            .map(|_| KeySource::Table((random.next_u64() % first_keys.max(1) as u64) as u32))
            .collect();
        let second = |index: usize| KeySource::Table((first_keys + index % (keys.len() - first_keys)) as u32);
        let second_key = match keys.len() > first_keys {
            true => Column::Each((0..count).map(second).collect()),
            false => Column::One(KeySource::Table(0)),
        };
        Some(Records {
            len: count,
            keys: keys.into(),
            data: data.into(),
            output_len: count * (output + tag),
            key: Column::Each(key_of.into()),
            second_key,
            aad: side_by_side(first(count * (iv + input), aad)?, aad),
            iv: side_by_side(first(0, iv)?, iv),
            input: side_by_side(InputSource::Data(first(count * iv, input)?), input),
            output: side_by_side(OutputSink::Output(first(0, output)?), output),
            tag: side_by_side(first(count * output, tag)?, tag),
            ..Records::default()
        })
    }

    fn slices(self, data: &[u8], start: usize, len: usize) -> ByteColumn {
        (0..self.count).map(|index| &data[start + index * len..start + (index + 1) * len]).collect()
    }
}

fn side_by_side<T: Copy>(first: T, len: usize) -> Column<'static, T> {
    Column::Stride { first, stride: len as u32 }
}

/// The accelerator over a whole set of records per batch.
pub(crate) struct AcceleratorRecords<'a> {
    pub(crate) accelerator: &'a Accelerator,
    pub(crate) work: RecordWork,
    pub(crate) outcomes: Outcomes,
}

impl SpeedContender for AcceleratorRecords<'_> {
    fn run(&mut self) -> Result<usize, SpeedError> {
        let Self { accelerator, work, outcomes } = self;
        let ran = accelerator.records().run_into(work.shape, &work.records, outcomes);
        ran.map_err(|error| work.failure(error))?;
        Ok(outcomes.len())
    }
}

/// An engine called bare over a whole set of records per batch.
pub(crate) struct BareRecords<'a> {
    pub(crate) engine: &'a dyn Engine,
    pub(crate) work: RecordWork,
    pub(crate) outcomes: Outcomes,
}

impl SpeedContender for BareRecords<'_> {
    fn run(&mut self) -> Result<usize, SpeedError> {
        let parts = [&*self.work.records];
        let jobs = Jobs::Records(self.work.shape, &parts);
        self.outcomes.reset(&jobs);
        let ran = self.engine.run(&jobs, &mut self.outcomes);
        ran.map_err(|error| SpeedError::Bare { op: self.work.op.clone(), error })?;
        Ok(jobs.len())
    }
}
