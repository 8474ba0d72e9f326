//! Tests of the record loop: columns, parts, seams, slots, and failures that affect no other record.

use oarlock_core::*;

use crate::common::{self, One, hex, record, records, run_records, secret};

const AES_CBC: Shape =
    Shape::Cipher { alg: BlockCipher::Aes128, mode: CipherMode::Cbc, direction: Direction::Encrypt };
const UNWRAP: Shape = Shape::Wrap { alg: WrapAlg::Aes128Kw, direction: Direction::Decrypt };
const UNWRAP_PADDED: Shape = Shape::Wrap { alg: WrapAlg::Aes128Kwp, direction: Direction::Decrypt };

/// Returns every record shape, with translations between all pairs of ciphers.
fn shapes() -> Vec<Shape> {
    let cbc = |alg| CipherSpec { alg, mode: CipherMode::Cbc };
    let pairs = BlockCipher::ALL.into_iter().flat_map(|from| BlockCipher::ALL.map(|to| (from, to)));
    let translations = pairs.map(|(from, to)| Shape::Translate { from: cbc(from), to: cbc(to) });
    Shape::records().into_iter().chain(translations).collect()
}

/// Returns deterministic bytes that differ with the seed.
fn bytes(seed: usize, len: usize) -> Vec<u8> {
    let mut state = seed as u64 + 0x9E37_79B9_7F4A_7C15;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// The inputs of one record of a batch.
struct Parts {
    key: Vec<u8>,
    second_key: Vec<u8>,
    iv: Vec<u8>,
    second_iv: Vec<u8>,
    aad: Vec<u8>,
    input: Vec<u8>,
    tag: Vec<u8>,
    tag_len: usize,
    output_len: usize,
}

impl Parts {
    fn one(&self) -> One<'_> {
        One {
            key: &self.key,
            second_key: &self.second_key,
            iv: &self.iv,
            second_iv: &self.second_iv,
            aad: &self.aad,
            input: &self.input,
            tag: &self.tag,
            tag_len: self.tag_len,
            output_len: self.output_len,
        }
    }

    /// Returns valid parts for `shape`. Inputs for opening or unwrapping are sealed or wrapped first.
    fn from_shape(shape: Shape, seed: usize) -> Self {
        let (key_len, iv_len, input_len, output_len) = match shape {
            Shape::Cipher { alg, mode, .. } => {
                let len = CipherSpec { alg, mode }.granularity() * (seed % 5);
                (alg.key_len(), alg.block_len(), len, len)
            }
            Shape::Translate { from, .. } => {
                let len = 16 * (seed * 13 % 200);
                (from.alg.key_len(), from.alg.block_len(), len, len)
            }
            Shape::Aead { alg, .. } => {
                let len = alg.min_input_len() + seed * 7 % 90;
                (alg.key_len(), (1 + seed % 20).clamp(*alg.iv_lens().start(), *alg.iv_lens().end()), len, len)
            }
            Shape::Chain { cipher, mac, order, .. } => {
                let len = cipher.granularity() * (seed % 9);
                let output_len = match order {
                    ChainOrder::MacThenEncrypt => mte_sealed_len(cipher.alg, mac, len),
                    _ => len,
                };
                (cipher.alg.key_len(), cipher.alg.block_len(), len, output_len)
            }
            Shape::Fpe { alg, .. } => (alg.key_len(), 4, 7 + seed * 3 % 60, 7 + seed * 3 % 60),
            Shape::Mac { alg } => (alg.key_len().unwrap_or(seed % 150), 0, seed * 5 % 70, alg.tag_len()),
            Shape::Digest { alg } => (0, 0, seed * 31 % 300, alg.output_len()),
            Shape::DigestPart { alg } => (0, alg.state_len(), alg.block_len() * (seed % 4), alg.state_len()),
            Shape::Wrap { alg: alg @ (WrapAlg::Aes128Kw | WrapAlg::Aes256Kw), .. } => {
                (alg.key_len(), 0, 16 + 8 * (seed % 5), 24 + 8 * (seed % 5))
            }
            Shape::Wrap { alg, .. } => {
                (alg.key_len(), 0, 1 + seed % 40, (1 + seed % 40_usize).next_multiple_of(8) + 8)
            }
            _ => panic!("no record shape: {shape}"),
        };
        let (second_key_len, second_iv_len) = match shape {
            Shape::Translate { to, .. } => (to.alg.key_len(), to.alg.block_len()),
            Shape::Chain { .. } => (1 + seed * 29 % 150, 0),
            _ => (0, 0),
        };
        let (aad_len, tag_len) = match shape {
            Shape::Aead { alg: AeadAlg::ChaCha20Poly1305Ssh, .. } => (0, 16),
            Shape::Aead { alg, .. } => (seed % 33, (12 + seed % 5).max(*alg.tag_lens().start())),
            Shape::Fpe { .. } => (seed % 33, 0),
            Shape::Chain { order: ChainOrder::MacThenEncrypt, .. } => (MTE_AAD_LEN, 0),
            Shape::Chain { mac, .. } => (seed % 33, 10 + seed % (mac.tag_len() - 9)),
            _ => (0, 0),
        };
        let parts = Self {
            key: bytes(seed, key_len),
            second_key: bytes(seed + 1000, second_key_len),
            iv: bytes(seed + 2000, iv_len),
            second_iv: bytes(seed + 3000, second_iv_len),
            aad: bytes(seed + 4000, aad_len),
            input: bytes(seed + 5000, input_len),
            tag: vec![],
            tag_len,
            output_len,
        };
        parts.turned(shape)
    }

    /// Replaces the input by the result of the opposite direction, for shapes that check their input.
    fn turned(mut self, shape: Shape) -> Self {
        let encrypt = Direction::Encrypt;
        match shape {
            Shape::Aead { .. } | Shape::Chain { .. } if shape.direction() == Some(Direction::Decrypt) => {
                let sealed = record(shape.reversed().unwrap(), &self.one()).unwrap();
                let (input, tag) = sealed.split_at(self.output_len);
                (self.input, self.tag, self.tag_len) = (input.to_vec(), tag.to_vec(), 0);
            }
            Shape::Fpe { .. } => {
                // Decimal numerals.
                self.iv = vec![0, 0, 0, 10];
                self.input.iter_mut().for_each(|byte| *byte %= 10);
            }
            Shape::Wrap { alg, direction: Direction::Decrypt } => {
                self.input = record(Shape::Wrap { alg, direction: encrypt }, &self.one()).unwrap();
                self.output_len = self.input.len() - 8;
            }
            _ => {}
        }
        self
    }
}

/// Joins all `parts` into one `Records`, with one column entry per record.
fn join(parts: &[Parts]) -> Records<'static> {
    let mut joined = Records { len: parts.len(), ..Records::default() };
    let (mut keys, mut data, mut end) = (Vec::new(), Vec::new(), 0);
    let mut columns: [Vec<Span>; 5] = Default::default();
    let mut outputs = Vec::new();
    for part in parts {
        keys.extend([secret(&part.key), secret(&part.second_key)]);
        let fields = [&part.iv, &part.second_iv, &part.aad, &part.input, &part.tag];
        for (column, bytes) in columns.iter_mut().zip(fields) {
            let start = if bytes.is_empty() { 0 } else { data.len() };
            column.push(Span::new(start, bytes.len()).unwrap());
            data.extend_from_slice(bytes);
        }
        outputs.push(OutputSink::Output(Span::new(end, part.output_len).unwrap()));
        end += part.output_len;
        if part.tag_len > 0 {
            *columns[4].last_mut().unwrap() = Span::new(end, part.tag_len).unwrap();
            end += part.tag_len;
        }
    }
    let [iv, second_iv, aad, input, tag] = columns;
    let table = |at: u32| (0..parts.len() as u32).map(|i| KeySource::Table(2 * i + at)).collect::<Vec<_>>();
    joined.key = Column::Each(table(0).into());
    joined.second_key = Column::Each(table(1).into());
    joined.iv = Column::Each(iv.into());
    joined.second_iv = Column::Each(second_iv.into());
    joined.aad = Column::Each(aad.into());
    joined.input = Column::Each(input.into_iter().map(InputSource::Data).collect::<Vec<_>>().into());
    joined.tag = Column::Each(tag.into());
    joined.output = Column::Each(outputs.into());
    (joined.keys, joined.data, joined.output_len) = (keys.into(), data.into(), end);
    joined
}

#[test]
fn results_do_not_depend_on_the_batch_or_on_its_parts() {
    for shape in shapes() {
        let all: Vec<Parts> = (0..64).map(|seed| Parts::from_shape(shape, seed)).collect();
        let alone: Vec<Vec<u8>> = all.iter().map(|part| record(shape, &part.one()).unwrap()).collect();
        for size in [0, 1, 2, 7, 64] {
            let out = run_records(shape, &[&join(&all[..size])]);
            assert!(out.statuses().iter().all(|status| *status == Status::Done), "{shape}");
            assert_eq!(out.bytes(), alone[..size].concat(), "{shape}, {size} records");
        }
        let (first, none, last) = (join(&all[..5]), join(&[]), join(&all[5..]));
        let out = run_records(shape, &[&first, &none, &last]);
        assert_eq!((out.len(), out.bytes()), (64, &alone.concat()[..]), "{shape}, three parts");
    }
}

#[test]
fn columns_in_runs_read_as_columns_of_values() {
    let parts: Vec<Parts> = (0..6).map(|seed| Parts::from_shape(AES_CBC, seed)).collect();
    let mut joined = join(&parts);
    let [first, second] =
        [0, 1].map(|record| (KeySource::Table(2 * record), joined.iv.get(record as usize).unwrap()));
    joined.key = Column::Each([[first.0; 2].to_vec(), [second.0; 4].to_vec()].concat().into());
    joined.iv = Column::Each([[first.1; 2].to_vec(), [second.1; 4].to_vec()].concat().into());
    let each = run_records(AES_CBC, &[&joined]);
    joined.key = Column::Runs(vec![(2, first.0), (0, second.0), (4, second.0)].into());
    joined.iv = Column::Runs(vec![(2, first.1), (4, second.1)].into());
    assert_eq!(run_records(AES_CBC, &[&joined]).bytes(), each.bytes());
}

#[test]
fn translation_is_decryption_and_encryption() {
    for from in BlockCipher::ALL {
        for to in BlockCipher::ALL {
            let cbc = |alg| CipherSpec { alg, mode: CipherMode::Cbc };
            let shape = Shape::Translate { from: cbc(from), to: cbc(to) };
            for seed in [0, 1, 2, 77, 78, 79] {
                let parts = Parts::from_shape(shape, seed);
                let cipher = |alg, direction, key, iv, input: &[u8]| {
                    let shape = Shape::Cipher { alg, mode: CipherMode::Cbc, direction };
                    record(shape, &One { key, iv, input, output_len: input.len(), ..One::default() }).unwrap()
                };
                let plain = cipher(from, Direction::Decrypt, &parts.key, &parts.iv, &parts.input);
                let expected = cipher(to, Direction::Encrypt, &parts.second_key, &parts.second_iv, &plain);
                assert_eq!(record(shape, &parts.one()).unwrap(), expected, "{shape}, {} bytes", plain.len());
            }
        }
    }
}

#[test]
fn a_failed_record_does_not_affect_others() {
    for shape in shapes() {
        let parts: Vec<Parts> = (1..=8).map(|seed| Parts::from_shape(shape, seed)).collect();
        let good = run_records(shape, &[&join(&parts)]);
        let mut joined = join(&parts);
        let Column::Each(outputs) = &joined.output else { panic!("one value per record") };
        let mut outputs = outputs.to_vec();
        let OutputSink::Output(lost) = outputs[3] else { panic!("records write to the output") };
        outputs[3] = OutputSink::Output(Span::new(joined.output_len, 1).unwrap());
        joined.output = Column::Each(outputs.into());
        let out = run_records(shape, &[&joined]);
        let mut expected = good.bytes().to_vec();
        let tag = if shape.is_sealing() { parts[3].tag_len } else { 0 };
        expected[lost.start as usize..(lost.start + lost.len) as usize + tag].fill(0);
        assert_eq!(out.bytes(), expected, "{shape}");
        for (index, status) in out.statuses().iter().enumerate() {
            assert_eq!(*status, if index == 3 { Status::Malformed } else { Status::Done }, "{shape}");
        }
    }
}

#[test]
fn a_rejected_record_does_not_affect_others() {
    for shape in shapes() {
        let (Shape::Aead { direction: Direction::Decrypt, .. }
        | Shape::Chain { direction: Direction::Decrypt, .. }
        | Shape::Wrap { direction: Direction::Decrypt, .. }) = shape
        else {
            continue;
        };
        let mut parts: Vec<Parts> = (9..=16).map(|seed| Parts::from_shape(shape, seed)).collect();
        let good = run_records(shape, &[&join(&parts)]);
        parts[2].input[0] ^= 1;
        let out = run_records(shape, &[&join(&parts)]);
        let start: usize = parts[..2].iter().map(|part| part.output_len).sum();
        let mut expected = good.bytes().to_vec();
        expected[start..start + parts[2].output_len].fill(0);
        assert_eq!((out.statuses()[2], out.bytes()), (Status::Rejected, &expected[..]), "{shape}");
        assert_eq!(out.statuses().iter().filter(|status| **status == Status::Done).count(), 7);
    }
}

#[test]
fn a_column_that_ends_early_leaves_nothing_pending() {
    let parts: Vec<Parts> = (1..=3).map(|seed| Parts::from_shape(AES_CBC, seed)).collect();
    let mut joined = join(&parts);
    joined.key = Column::Each(vec![KeySource::Table(0); 2].into());
    let out = run_records(AES_CBC, &[&joined]);
    assert_eq!(out.statuses(), [Status::Done, Status::Done, Status::Malformed]);
}

/// Returns slots that hold these secrets, 64 bytes each.
fn slots(secrets: &[&[u8]]) -> SecretSlots {
    let mut slots = SecretSlots::with_capacities(&vec![256; secrets.len()]).unwrap();
    for (slot, secret) in (0..).zip(secrets) {
        if !secret.is_empty() {
            slots.fill(slot, secret.len()).unwrap().copy_from_slice(secret);
        }
    }
    slots
}

#[test]
fn a_key_and_an_input_from_slots_give_the_same_result_as_from_the_table() {
    for shape in shapes() {
        let parts = Parts::from_shape(shape, 3);
        if parts.key.len() > 64 || parts.second_key.len() > 64 || parts.input.len() > 64 {
            continue;
        }
        let mut one = records(&parts.one());
        one.slots = std::borrow::Cow::Owned(slots(&[&parts.key, &parts.second_key, &parts.input]));
        let expected = record(shape, &parts.one()).unwrap();
        if !parts.key.is_empty() {
            one.key = Column::One(KeySource::Slot(0));
        }
        if !parts.second_key.is_empty() {
            one.second_key = Column::One(KeySource::Slot(1));
        }
        if !parts.input.is_empty() {
            one.input = Column::One(InputSource::Slot(2));
        }
        assert_eq!(run_records(shape, &[&one]).bytes(), expected, "{shape}");
    }
}

#[test]
fn an_output_in_a_slot_is_complete() {
    for shape in shapes() {
        let parts = Parts::from_shape(shape, 4);
        if parts.output_len > 64 {
            continue;
        }
        let mut one = records(&parts.one());
        one.slots = std::borrow::Cow::Owned(slots(&[&[], &[]]));
        one.output = Column::One(OutputSink::Slot(1));
        let out = run_records(shape, &[&one]);
        let expected = record(shape, &parts.one()).unwrap();
        let is_padded = shape == UNWRAP_PADDED
            || shape == Shape::Wrap { alg: WrapAlg::Aes256Kwp, direction: Direction::Decrypt };
        let len = if is_padded { 5 } else { parts.output_len };
        assert_eq!(out.slots(0).get(1), Some(&expected[..len]), "{shape}");
        assert!(
            out.slots(0).get(0).is_none() && out.bytes()[..parts.output_len].iter().all(|byte| *byte == 0)
        );
    }
}

#[test]
fn an_empty_slot_is_a_failed_dependency() {
    let mut one = records(&Parts::from_shape(AES_CBC, 2).one());
    one.slots = std::borrow::Cow::Owned(slots(&[&[]]));
    one.key = Column::One(KeySource::Slot(0));
    assert_eq!(run_records(AES_CBC, &[&one]).statuses(), [Status::DependencyFailed]);
    one.key = Column::One(KeySource::Table(0));
    one.input = Column::One(InputSource::Slot(0));
    assert_eq!(run_records(AES_CBC, &[&one]).statuses(), [Status::DependencyFailed]);
}

/// One run unwraps a key into a slot, and a second run encrypts with it, as the facade does.
#[test]
fn an_unwrapped_key_is_used_from_its_slot() {
    let kek = hex("000102030405060708090a0b0c0d0e0f");
    let wrapped = hex("1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5");
    let mut first = records(&One { key: &kek, input: &wrapped, output_len: 16, ..One::default() });
    first.slots = std::borrow::Cow::Owned(slots(&[&[]]));
    first.output = Column::One(OutputSink::Slot(0));
    let out = run_records(UNWRAP, &[&first]);
    let parts = Parts::from_shape(AES_CBC, 3);
    let mut second = records(&parts.one());
    second.slots = std::borrow::Cow::Borrowed(out.slots(0));
    second.key = Column::One(KeySource::Slot(0));
    let key = hex("00112233445566778899aabbccddeeff");
    let expected = record(AES_CBC, &One { key: &key, ..parts.one() }).unwrap();
    assert_eq!(run_records(AES_CBC, &[&second]).bytes(), expected);
}

#[test]
fn a_rejected_result_leaves_its_slot_unfilled() {
    for shape in shapes() {
        let (Shape::Aead { direction: Direction::Decrypt, .. }
        | Shape::Chain { direction: Direction::Decrypt, .. }
        | Shape::Wrap { direction: Direction::Decrypt, .. }) = shape
        else {
            continue;
        };
        let mut parts = Parts::from_shape(shape, 5);
        parts.input[3] ^= 4;
        let mut one = records(&parts.one());
        one.slots = std::borrow::Cow::Owned(slots(&[&[]]));
        one.output = Column::One(OutputSink::Slot(0));
        let out = run_records(shape, &[&one]);
        assert_eq!((out.statuses(), out.slots(0).get(0)), (&[Status::Rejected][..], None), "{shape}");
    }
}

#[test]
fn unwrapping_reports_the_length_of_a_padded_key() {
    let parts: Vec<Parts> = (0..40).map(|seed| Parts::from_shape(UNWRAP_PADDED, seed)).collect();
    let out = run_records(UNWRAP_PADDED, &[&join(&parts)]);
    for (index, part) in parts.iter().enumerate() {
        let len = 1 + index % 40;
        let expected = (len != part.output_len).then_some(len);
        assert_eq!(out.short_len(0, index), expected);
        let start: usize = parts[..index].iter().map(|part| part.output_len).sum();
        assert!(out.bytes()[start + len..start + part.output_len].iter().all(|byte| *byte == 0));
    }
}

/// Returns the columns of `joined` with some records changed: places that do not exist, wrong lengths, and keys,
/// inputs and outputs in slots.
fn with_changes(mut joined: Records<'static>) -> Records<'static> {
    let count = joined.len;
    let mut filled = slots(&vec![&[][..]; count + 3]);
    // One slot for each key length, and a last one that nothing fills.
    for (slot, len) in [(0, 16), (1, 8)] {
        filled.fill(slot, len).unwrap().fill(7);
    }
    joined.slots = std::borrow::Cow::Owned(filled);
    let mut keys: Vec<_> = joined.key.cursor().take(count).collect();
    let mut inputs: Vec<_> = joined.input.cursor().take(count).collect();
    let mut outputs: Vec<_> = joined.output.cursor().take(count).collect();
    let mut ivs: Vec<_> = joined.iv.cursor().take(count).collect();
    let mut tags: Vec<_> = joined.tag.cursor().take(count).collect();
    for index in 0..count {
        match index % 23 {
            3 => keys[index] = KeySource::Slot(index as u32 % 3),
            4 => keys[index] = KeySource::Table(2 * count as u32),
            5 => inputs[index] = InputSource::Slot(index as u32 % 3),
            6 => inputs[index] = InputSource::Data(Span::new(joined.data.len() - 1, 2).unwrap()),
            7 => outputs[index] = OutputSink::Slot(3 + index as u32),
            8 => outputs[index] = OutputSink::Slot(count as u32 + 3),
            9 => outputs[index] = OutputSink::Output(Span::new(joined.output_len, 1).unwrap()),
            10 => ivs[index].len = 0,
            11 => ivs[index].start = u32::MAX - 1,
            12 => tags[index].len = 65,
            13 => tags[index].start = u32::MAX,
            14 => keys[index] = KeySource::Table(1),
            _ => {}
        }
    }
    joined.key = Column::Each(keys.into());
    joined.input = Column::Each(inputs.into());
    joined.output = Column::Each(outputs.into());
    joined.iv = Column::Each(ivs.into());
    joined.tag = Column::Each(tags.into());
    joined
}

/// Checks a run against a run of each record by itself, and its statuses against the check of the contract.
fn agrees_with_single_records(shape: Shape, joined: &Records<'static>) {
    let out = run_records(shape, &[joined]);
    let mut bytes = vec![0; joined.output_len];
    let mut filled = joined.slots.emptied();
    for (index, resolved) in joined.resolve(shape).enumerate() {
        let mut one = joined.borrowed();
        (one.len, one.key) = (1, Column::One(joined.key.get(index).unwrap()));
        one.second_key = Column::One(joined.second_key.get(index).unwrap());
        one.iv = Column::One(joined.iv.get(index).unwrap());
        one.second_iv = Column::One(joined.second_iv.get(index).unwrap());
        one.aad = Column::One(joined.aad.get(index).unwrap());
        one.input = Column::One(joined.input.get(index).unwrap());
        one.output = Column::One(joined.output.get(index).unwrap());
        one.tag = Column::One(joined.tag.get(index).unwrap());
        let alone = run_records(shape, &[&one]);
        let status = alone.statuses()[0];
        assert_eq!(out.statuses()[index], status, "{shape}, record {index}");
        match resolved {
            Ok(_) => assert!(matches!(status, Status::Done | Status::Rejected), "{shape}, record {index}"),
            Err(expected) => assert_eq!(status, expected, "{shape}, record {index}"),
        }
        assert_eq!(out.short_len(0, index), alone.short_len(0, 0), "{shape}, record {index}");
        let output = match one.output {
            Column::One(OutputSink::Output(span)) => Some(span),
            _ => None,
        };
        let is_sealing = shape.is_sealing();
        for span in output.into_iter().chain(one.tag.get(0).filter(|_| is_sealing)) {
            if let Some((to, from)) = span.slice_mut(&mut bytes).zip(span.slice(alone.bytes())) {
                to.copy_from_slice(from);
            }
        }
        filled.merge(alone.slots(0));
    }
    assert_eq!(out.bytes(), bytes, "{shape}");
    assert!(*out.slots(0) == filled, "{shape}");
}

#[test]
fn a_batch_with_bad_records_and_slots_agrees_with_each_record_alone() {
    for shape in shapes() {
        let parts: Vec<Parts> = (0..46).map(|seed| Parts::from_shape(shape, seed)).collect();
        agrees_with_single_records(shape, &join(&parts));
        agrees_with_single_records(shape, &with_changes(join(&parts)));
    }
}

#[test]
fn records_at_the_seams_of_windows_agree_with_each_record_alone() {
    let aead = Shape::Aead { alg: AeadAlg::Aes128Gcm, direction: Direction::Decrypt };
    let mac = Shape::Mac { alg: MacAlg::Aes128Cmac };
    for shape in [AES_CBC, aead, mac, Shape::Digest { alg: DigestAlg::Sha256 }] {
        let parts: Vec<Parts> = (0..270).map(|seed| Parts::from_shape(shape, seed)).collect();
        for count in [8, 9, 255, 256, 257] {
            agrees_with_single_records(shape, &join(&parts[..count]));
        }
        agrees_with_single_records(shape, &with_changes(join(&parts)));
    }
}

/// Records of one length side by side, with a key for each, keys in runs, and one key for all.
#[test]
fn records_at_a_constant_stride_agree_with_each_record_alone() {
    for shape in shapes() {
        // Translations are long, and every record is compared with a run of its own.
        let count = if matches!(shape, Shape::Translate { .. }) { 12 } else { 260 };
        let parts: Vec<Parts> = (0..count).map(|_| Parts::from_shape(shape, 6)).collect();
        let mut joined = join(&parts);
        joined.iv = Column::from(joined.iv.cursor().take(count).collect::<Vec<_>>());
        joined.second_iv = Column::from(joined.second_iv.cursor().take(count).collect::<Vec<_>>());
        joined.aad = Column::from(joined.aad.cursor().take(count).collect::<Vec<_>>());
        joined.input = Column::from(joined.input.cursor().take(count).collect::<Vec<_>>());
        joined.output = Column::from(joined.output.cursor().take(count).collect::<Vec<_>>());
        joined.tag = Column::from(joined.tag.cursor().take(count).collect::<Vec<_>>());
        assert!(matches!(joined.input, Column::Stride { .. }), "{shape}");
        agrees_with_single_records(shape, &joined);
        joined.key =
            Column::Runs(vec![(10, KeySource::Table(2)), (count as u32 - 10, KeySource::Table(4))].into());
        agrees_with_single_records(shape, &joined);
        joined.key = Column::One(KeySource::Table(0));
        agrees_with_single_records(shape, &joined);
        joined.output_len -= 1;
        agrees_with_single_records(shape, &joined);
    }
}

#[test]
fn outcomes_that_are_used_again_keep_no_status() {
    let parts: Vec<Parts> = (1..=12).map(|seed| Parts::from_shape(AES_CBC, seed)).collect();
    let good = join(&parts);
    let bad = Records { output_len: 1, ..good.clone() };
    for (first, second) in [(&good, &bad), (&bad, &good)] {
        let (first, second) = ([first], [second]);
        let mut out = Outcomes::for_jobs(&Jobs::Records(AES_CBC, &first));
        common::scalar().run(&Jobs::Records(AES_CBC, &first), &mut out).unwrap();
        out.reset(&Jobs::Records(AES_CBC, &second));
        common::scalar().run(&Jobs::Records(AES_CBC, &second), &mut out).unwrap();
        assert_eq!(out.statuses(), run_records(AES_CBC, &second).statuses());
    }
}
