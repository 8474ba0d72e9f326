//! Workloads to time engines with, made from the keys and inputs of the known answers.

use oarlock_core::{
    AeadAlg, ChainOrder, CipherSpec, Column, Direction, Engine, InputSource, Jobs, Key, KeySource,
    MAX_FF1_NUMERALS, MAX_MTE_FRAGMENT, MTE_AAD_LEN, NonceInput, OperationSet, Outcomes, OutputSink, Records,
    SecondInput, Shape, Span, mte_sealed_len,
};
use oarlock_keys::raw;

use super::SelfTestFailure;
use super::cases::{KnownOperation, cases, hash_based};
use super::text::bad_key;

/// The number of keys that sample records use by turns.
const KEYS: usize = 64;

/// `count` good operations of a public-key shape under several keys, with random-like nonces if it has some.
///
/// # Errors
/// [`SelfTestFailure::NoVectors`]; see [`representative`](super::representative).
pub fn sample_operations(shape: Shape, count: usize) -> Result<OperationSet, SelfTestFailure> {
    if let Shape::SlhDsaKeygen { set } | Shape::SlhDsaSign { set } | Shape::SlhDsaVerify { set } = shape {
        return hash_based::samples(shape, set, count);
    }
    let cases: Vec<KnownOperation> = cases(shape)?.into_iter().filter(KnownOperation::is_good).collect();
    let mut set = OperationSet::new(shape);
    for (index, case) in cases.iter().cycle().take(count).enumerate() {
        let nonce = [index as u8; 32];
        let operation = case.operation(shape)?;
        let extra = match operation.extra {
            SecondInput::NonceInput(_) => SecondInput::NonceInput(NonceInput::Hedged(&nonce)),
            other => other,
        };
        set.push(operation.key, operation.input, extra)
            .map_err(|error| SelfTestFailure::Vectors { what: error.to_string() })?;
    }
    Ok(set)
}

/// Makes `count` good records of about `len` bytes each, rounded up to a length that the shape takes.
///
/// Each record has an IV of its own, and the keys are used by turns. `maker` seals or wraps the inputs of opening and
/// unwrapping shapes.
///
/// # Errors
/// [`SelfTestFailure::Fault`] or [`SelfTestFailure::NotOffered`] of `maker`; [`SelfTestFailure::Vectors`] over 4 GiB.
pub fn sample_records(
    maker: &dyn Engine,
    shape: Shape,
    count: usize,
    len: usize,
) -> Result<Records<'static>, SelfTestFailure> {
    if !shape.is_record() {
        return Err(SelfTestFailure::NoVectors { shape });
    }
    match (shape, shape.direction()) {
        (Shape::Aead { alg, .. }, Some(Direction::Decrypt)) => {
            let sealing = Shape::Aead { alg, direction: Direction::Encrypt };
            made(maker, sealing, &plain_records(sealing, count, len)?)
        }
        (Shape::Chain { cipher, mac, order, .. }, Some(Direction::Decrypt)) => {
            let sealing = Shape::Chain { cipher, mac, order, direction: Direction::Encrypt };
            made(maker, sealing, &plain_records(sealing, count, len)?)
        }
        (Shape::Wrap { alg, .. }, Some(Direction::Decrypt)) => {
            let wrapping = Shape::Wrap { alg, direction: Direction::Encrypt };
            made(maker, wrapping, &plain_records(wrapping, count, len)?)
        }
        _ => plain_records(shape, count, len),
    }
}

/// Lengths that the columns of one record take.
struct RecordSizes {
    key: usize,
    second_key: usize,
    iv: usize,
    second_iv: usize,
    aad: usize,
    input: usize,
    output: usize,
    tag: usize,
}

fn sizes(shape: Shape, len: usize) -> RecordSizes {
    let none =
        RecordSizes { key: 0, second_key: 0, iv: 0, second_iv: 0, aad: 0, input: len, output: 0, tag: 0 };
    match shape {
        Shape::Cipher { alg, mode, .. } => {
            let len = len.next_multiple_of(CipherSpec { alg, mode }.granularity());
            RecordSizes { key: alg.key_len(), iv: alg.block_len(), input: len, output: len, ..none }
        }
        Shape::Translate { from, to } => {
            let (first, second) = (from.alg.block_len(), to.alg.block_len());
            let len = len.next_multiple_of(first.max(second));
            let (key, second_key) = (from.alg.key_len(), to.alg.key_len());
            RecordSizes { key, second_key, iv: first, second_iv: second, input: len, output: len, ..none }
        }
        Shape::Aead { alg, .. } => {
            let len = len.max(alg.min_input_len());
            // The associated data of TLS 1.2. SSH has none.
            let aad = if alg == AeadAlg::ChaCha20Poly1305Ssh { 0 } else { 13 };
            let iv = alg.usual_iv_len();
            RecordSizes { key: alg.key_len(), iv, aad, input: len, output: len, tag: 16, ..none }
        }
        Shape::Chain { cipher, mac, order, .. } => {
            let (key, iv, second_key) = (cipher.alg.key_len(), cipher.alg.block_len(), mac.tag_len());
            let sealed = RecordSizes { key, iv, second_key, aad: MTE_AAD_LEN, ..none };
            match order.has_detached_tag() {
                true => {
                    let len = len.next_multiple_of(cipher.granularity());
                    RecordSizes { input: len, output: len, tag: mac.tag_len(), ..sealed }
                }
                false => {
                    let len = len.min(MAX_MTE_FRAGMENT);
                    RecordSizes { input: len, output: mte_sealed_len(cipher.alg, mac, len), ..sealed }
                }
            }
        }
        Shape::Fpe { alg, .. } => {
            let len = len.clamp(FPE_NUMERALS, MAX_FF1_NUMERALS);
            RecordSizes { key: alg.key_len(), iv: FPE_RADIX.len(), aad: 7, input: len, output: len, ..none }
        }
        Shape::Mac { alg } => RecordSizes { key: alg.key_len().unwrap_or(32), output: alg.tag_len(), ..none },
        Shape::Digest { alg } => RecordSizes { output: alg.output_len(), ..none },
        Shape::DigestPart { alg } => {
            let input = len.next_multiple_of(alg.block_len());
            RecordSizes { iv: alg.state_len(), input, output: alg.state_len(), ..none }
        }
        Shape::Wrap { alg, .. } => {
            // RFC 3394 section 2: at least two half-blocks.
            let input = len.max(16).next_multiple_of(8);
            RecordSizes { key: alg.key_len(), input, output: input + 8, ..none }
        }
        _ => none,
    }
}

/// Records whose inputs need no engine to make.
fn plain_records(shape: Shape, count: usize, len: usize) -> Result<Records<'static>, SelfTestFailure> {
    let sizes = sizes(shape, len);
    let mut layout = SampleLayout::default();
    let mut records = Records { len: count, ..Records::default() };
    let (mut iv, mut second_iv, mut aad) = (Vec::new(), Vec::new(), Vec::new());
    let (mut input, mut output, mut tag) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..count {
        iv.push(layout.input(sizes.iv)?);
        second_iv.push(layout.input(sizes.second_iv)?);
        aad.push(layout.input(sizes.aad)?);
        input.push(InputSource::Data(layout.input(sizes.input)?));
        output.push(OutputSink::Output(layout.output(sizes.output)?));
        tag.push(layout.output(sizes.tag)?);
    }
    let keys = (0..KEYS as u32).map(|n| key_source(n, sizes.key));
    let second_keys = (0..KEYS as u32).map(|n| key_source(n + KEYS as u32, sizes.second_key));
    records.key = Column::Each(keys.cycle().take(count).collect());
    records.second_key = Column::Each(second_keys.cycle().take(count).collect());
    records.keys = keys_of(&sizes)?.into();
    (records.iv, records.second_iv, records.aad) =
        (Column::Each(iv.into()), Column::Each(second_iv.into()), Column::Each(aad.into()));
    (records.input, records.output, records.tag) =
        (Column::Each(input.into()), Column::Each(output.into()), Column::Each(tag.into()));
    let mut data = bytes(layout.input_len, 7);
    if matches!(shape, Shape::Fpe { .. }) {
        make_decimal(&mut data, &records);
    }
    records.data = data.into();
    records.output_len = layout.output_len;
    Ok(records)
}

/// The radix of samples, as the IV column has it.
const FPE_RADIX: [u8; 4] = [0, 0, 0, 10];

/// The smallest number of numerals of samples, that of card numbers.
const FPE_NUMERALS: usize = 16;

/// Makes all IVs the radix, and all inputs numerals.
fn make_decimal(data: &mut [u8], records: &Records<'_>) {
    for index in 0..records.len {
        if let Some(radix) = records.iv.get(index).and_then(|span: Span| span.slice_mut(data)) {
            radix.copy_from_slice(&FPE_RADIX);
        }
        if let Some(InputSource::Data(span)) = records.input.get(index)
            && let Some(numerals) = span.slice_mut(data)
        {
            numerals.iter_mut().for_each(|byte| *byte %= FPE_RADIX[3]);
        }
    }
}

fn key_source(index: u32, len: usize) -> KeySource {
    KeySource::Table(if len == 0 { 0 } else { index })
}

fn keys_of(sizes: &RecordSizes) -> Result<Vec<Key>, SelfTestFailure> {
    let mut keys = Vec::new();
    for len in [sizes.key, sizes.second_key] {
        for n in 0..KEYS {
            if len > 0 {
                keys.push(raw::secret(bytes(len, n)).map_err(bad_key)?);
            }
        }
    }
    Ok(keys)
}

/// Makes the records that undo `records` of a sealing or wrapping shape. Data, outputs and tags become the inputs.
fn made(
    maker: &dyn Engine,
    shape: Shape,
    records: &Records<'static>,
) -> Result<Records<'static>, SelfTestFailure> {
    let max = maker.offers(shape).map(|lanes| lanes.max);
    if max.is_none_or(|max| max < records.len) {
        return Err(SelfTestFailure::NotOffered { engine: maker.name(), shape });
    }
    let parts = [records];
    let jobs = Jobs::Records(shape, &parts);
    let mut outcomes = Outcomes::for_jobs(&jobs);
    maker.run(&jobs, &mut outcomes)?;
    let offset = records.data.len();
    let shifted = |span: Span| Span::new(offset + span.start as usize, span.len as usize);
    // A TLS record in CBC mode is opened with its MAC and its padding.
    let opens_padding = matches!(shape, Shape::Chain { order: ChainOrder::MacThenEncrypt, .. });
    let mut undoing = records.clone();
    undoing.data = [&records.data[..], outcomes.bytes()].concat().into();
    let (mut input, mut output, mut tag) = (Vec::new(), Vec::new(), Vec::new());
    for index in 0..records.len {
        let (Some(OutputSink::Output(made)), Some(made_tag), Some(InputSource::Data(given))) =
            (records.output.get(index), records.tag.get(index), records.input.get(index))
        else {
            return Err(SelfTestFailure::NoVectors { shape });
        };
        input.push(InputSource::Data(shifted(made).ok_or_else(too_long)?));
        tag.push(shifted(made_tag).ok_or_else(too_long)?);
        output.push(OutputSink::Output(if opens_padding { made } else { given }));
    }
    undoing.output_len = if opens_padding { records.output_len } else { offset };
    (undoing.input, undoing.output, undoing.tag) =
        (Column::Each(input.into()), Column::Each(output.into()), Column::Each(tag.into()));
    // Key wraps and TLS records in CBC mode have no tag: their integrity check lies inside of the output.
    if opens_padding || matches!(shape, Shape::Wrap { .. }) {
        undoing.tag = Column::One(Span::default());
    }
    Ok(undoing)
}

/// Hands out spans in data and output.
#[derive(Default)]
struct SampleLayout {
    input_len: usize,
    output_len: usize,
}

impl SampleLayout {
    fn input(&mut self, len: usize) -> Result<Span, SelfTestFailure> {
        let span = Span::new(self.input_len, len).ok_or_else(too_long)?;
        self.input_len += len;
        Ok(span)
    }

    fn output(&mut self, len: usize) -> Result<Span, SelfTestFailure> {
        let span = Span::new(self.output_len, len).ok_or_else(too_long)?;
        self.output_len += len;
        Ok(span)
    }
}

fn too_long() -> SelfTestFailure {
    SelfTestFailure::Vectors { what: "a sample of more than 4 GiB".into() }
}

/// Bytes without a short period, the same at every call.
fn bytes(len: usize, seed: usize) -> Vec<u8> {
    let mut state = seed as u64 ^ 0x9E37_79B9_7F4A_7C15;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // The high bits of a congruential generator have the longest period.
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(len).collect()
}
