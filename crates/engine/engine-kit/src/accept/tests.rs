//! Tests of the acceptance against [`Records::resolve`], which checks one record after the other.

use std::borrow::Cow;

use oarlock_core::{
    AeadAlg, BlockCipher, ChainOrder, CipherMode, CipherSpec, Column, ColumnValue, DigestAlg, Direction,
    Fingerprint, Jobs, KeyParts, MTE_AAD_LEN, MacAlg, Outcomes, ResolvedRecord, SecretSlots, mte_sealed_len,
};

use super::*;

/// A generator of the same pseudorandom numbers in every run (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((word ^ (word >> 31)) % bound as u64) as usize
    }

    fn is_one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }
}

fn shapes() -> Vec<Shape> {
    let cbc = |alg| CipherSpec { alg, mode: CipherMode::Cbc };
    let translation = Shape::Translate { from: cbc(BlockCipher::Des), to: cbc(BlockCipher::Aes256) };
    Shape::records().into_iter().chain([translation]).collect()
}

/// Returns a length that a cipher takes.
fn cipher_len(spec: CipherSpec, random: &mut Random) -> usize {
    match spec.mode {
        CipherMode::Ctr => random.below(70),
        _ => spec.alg.block_len() * random.below(5),
    }
}

/// Returns the length of valid associated data.
fn aad_len(shape: Shape) -> usize {
    match shape {
        Shape::Chain { order: ChainOrder::MacThenEncrypt, .. } => MTE_AAD_LEN,
        Shape::Aead { alg: AeadAlg::ChaCha20Poly1305Ssh, .. } => 0,
        _ => 5,
    }
}

/// The lengths of a valid record: key, second key, IV, second IV, input, output, tag.
fn lens(shape: Shape, random: &mut Random) -> [usize; 7] {
    let blocks = random.below(5);
    match shape {
        Shape::Cipher { alg, mode, .. } => {
            let len = cipher_len(CipherSpec { alg, mode }, random);
            [alg.key_len(), 0, alg.block_len(), 0, len, len, 0]
        }
        Shape::Translate { from, to } => {
            let len = 16 * blocks;
            [from.alg.key_len(), to.alg.key_len(), from.alg.block_len(), to.alg.block_len(), len, len, 0]
        }
        Shape::Aead { alg, .. } => {
            let len = alg.min_input_len() + random.below(70);
            let iv_len = alg.iv_lens().start()
                + random.below(alg.iv_lens().end().min(&20) + 1 - alg.iv_lens().start());
            let tag_len = alg.tag_lens().start() + random.below(alg.tag_lens().count());
            [AeadAlg::key_len(alg), 0, iv_len, 0, len, len, tag_len]
        }
        Shape::Chain { cipher, mac, order: ChainOrder::MacThenEncrypt, direction } => {
            let fragment = random.below(70);
            let sealed = mte_sealed_len(cipher.alg, mac, fragment);
            let input = if direction == Direction::Encrypt { fragment } else { sealed };
            [cipher.alg.key_len(), random.below(80), cipher.alg.block_len(), 0, input, sealed, 0]
        }
        Shape::Chain { cipher, mac, .. } => {
            let (len, tag_len) = (cipher_len(cipher, random), 10 + random.below(mac.tag_len() - 9));
            [cipher.alg.key_len(), random.below(80), cipher.alg.block_len(), 0, len, len, tag_len]
        }
        Shape::Fpe { alg, .. } => {
            let len = 2 + random.below(40);
            [alg.key_len(), 0, 4, 0, len, len, 0]
        }
        Shape::Mac { alg } => {
            let tag_len = 4 + random.below(alg.tag_len() - 3);
            [alg.key_len().unwrap_or_else(|| random.below(80)), 0, 0, 0, random.below(70), tag_len, 0]
        }
        Shape::Digest { alg } => [0, 0, 0, 0, random.below(150), alg.output_len(), 0],
        Shape::DigestPart { alg } => [0, 0, alg.state_len(), 0, alg.block_len() * blocks, alg.state_len(), 0],
        Shape::Wrap { alg, direction } => {
            let (short, long) = (16 + 8 * blocks, 24 + 8 * blocks);
            let (from, to) = if direction == Direction::Encrypt { (short, long) } else { (long, short) };
            [alg.key_len(), 0, 0, 0, from, to, 0]
        }
        _ => [0; 7],
    }
}

/// The kinds of batches: how often records, places and keys are bad, and which slots they use.
#[derive(Clone, Copy)]
struct Mix {
    one_bad_in: usize,
    has_slots: bool,
    /// True if there are too many keys for a pass over all of them.
    has_many_keys: bool,
    has_bad_keys: bool,
}

/// Returns records with one value for each, some of them bad.
fn random_records(shape: Shape, count: usize, mix: Mix, random: &mut Random) -> Records<'static> {
    let (mut keys, mut data_len, mut output_len) = (Vec::new(), 0, 0);
    let capacities = [0, 8, 16, 24, 32, 64, 150];
    let mut slots = SecretSlots::with_capacities(&capacities).unwrap();
    // Slot 5 stays unfilled.
    for slot in [1, 2, 3, 4, 6] {
        slots.fill(slot, capacities[slot as usize] as usize).unwrap();
    }
    let mut columns: [Vec<Span>; 4] = Default::default();
    let (mut key, mut second_key, mut input, mut output) = (vec![], vec![], vec![], vec![]);
    for _ in 0..count {
        let mut chosen = lens(shape, random);
        if random.is_one_in(mix.one_bad_in) {
            let len = &mut chosen[if mix.has_bad_keys { random.below(7) } else { 2 + random.below(5) }];
            // Most wrong lengths are off by one, the others are any.
            *len = [*len + 1, len.saturating_sub(1), 11, 17, random.below(40)][random.below(5)];
        }
        let [key_len, second_key_len, iv, second_iv, input_len, output_len_of, tag] = chosen;
        let mut next_span = |end: &mut usize, len: usize| {
            let start = *end;
            *end += len;
            let is_lost = random.is_one_in(8 * mix.one_bad_in);
            Span::new(if is_lost { 1 << 20 } else { start }, len).unwrap()
        };
        let spans = [iv, second_iv, aad_len(shape)].map(|len| next_span(&mut data_len, len));
        let from = next_span(&mut data_len, input_len);
        let to = next_span(&mut output_len, output_len_of);
        let is_sealing = shape.is_sealing();
        let tag = next_span(if is_sealing { &mut output_len } else { &mut data_len }, tag);
        columns.iter_mut().zip(spans.into_iter().chain([tag])).for_each(|(column, span)| column.push(span));
        let mut slot = |value: u32| (mix.has_slots && random.is_one_in(5)).then_some(value);
        let (slot_key, slot_input, slot_output) = (slot(3), slot(6), slot(4));
        let mut table = |len: usize| {
            let copies = if mix.has_many_keys { 3 } else { usize::from(random.is_one_in(10)) };
            let find = |keys: &[Key]| {
                keys.iter().rposition(|key| key.secret().is_some_and(|secret| secret.len() == len))
            };
            let copies = copies.max(usize::from(find(&keys).is_none()));
            let new = || Key::local(KeyParts::Secret(vec![0; len].into()), Fingerprint::new([0; 32]));
            keys.extend(std::iter::repeat_with(new).take(copies));
            match mix.has_bad_keys && random.is_one_in(mix.one_bad_in) {
                // One past the end at times.
                true => KeySource::Table(random.below(keys.len() + 1) as u32),
                false => KeySource::Table(find(&keys).unwrap() as u32),
            }
        };
        let first = table(key_len);
        let has_second_key = matches!(shape, Shape::Translate { .. } | Shape::Chain { .. });
        let second = if has_second_key { table(second_key_len) } else { KeySource::Table(9) };
        key.push(slot_key.map_or(first, KeySource::Slot));
        second_key.push(second);
        input.push(slot_input.map_or(InputSource::Data(from), |slot| InputSource::Slot(slot - from.len % 2)));
        output.push(slot_output.map_or(OutputSink::Output(to), |slot| OutputSink::Slot(slot + to.len % 3)));
    }
    let mut data = vec![0; data_len];
    if matches!(shape, Shape::Fpe { .. }) {
        let radix = [2, 10, 300, 1 << 16][random.below(4)];
        for iv in &columns[0] {
            let iv_bytes = iv.slice_mut(&mut data).unwrap_or_default();
            iv_bytes.iter_mut().zip(u32::to_be_bytes(radix)).for_each(|(byte, value)| *byte = value);
        }
    }
    let [iv, second_iv, aad, tag] = columns.map(|column| Column::Each(column.into()));
    Records {
        len: count,
        keys: keys.into(),
        data: data.into(),
        output_len,
        slots: Cow::Owned(slots),
        key: Column::Each(key.into()),
        second_key: Column::Each(second_key.into()),
        iv,
        second_iv,
        aad,
        input: Column::Each(input.into()),
        output: Column::Each(output.into()),
        tag,
    }
}

/// Returns the same column in another form: as runs, or one value or stride for all records.
fn reshaped<T: ColumnValue>(column: &Column<'static, T>, stride: u32, form: usize) -> Column<'static, T> {
    let Column::Each(values) = column else { panic!("one value for each record") };
    let Some(first) = values.first().copied() else { return column.clone() };
    match form {
        0 => Column::Runs(values.iter().map(|value| (1, *value)).collect()),
        1 => Column::One(first),
        2 => Column::Stride { first, stride },
        _ => column.clone(),
    }
}

/// Checks that windows of `size` records give the records and statuses of [`Records::resolve`].
fn agree(shape: Shape, records: &Records<'_>, size: usize) {
    let expected: Vec<_> = records.resolve(shape).collect();
    let parts = [records];
    let mut outcomes = Outcomes::for_jobs(&Jobs::Records(shape, &parts));
    let mut out = outcomes.part_mut(0);
    let mut ordered = OrderedRecords::default();
    for part in [RecordPart::new(shape, records), RecordPart::without_key_bytes(shape, records)] {
        let mut seen = vec![false; records.len];
        for first in (0..records.len).step_by(size) {
            let window = first..records.len.min(first + size);
            out.begin_window(window.clone());
            part.accept(window, &mut ordered, &mut out, StepRule::blocks(16, 0), |_, _| {});
            let accepted = ordered.longest_first();
            let steps: Vec<_> = accepted.iter().map(|record| record.len / 16).collect();
            assert!(steps.is_sorted_by(|one, next| one >= next), "{shape}: longest first");
            for record in accepted {
                seen[record.index as usize] = true;
                is_same(shape, &part, *record, expected[record.index as usize].as_ref().unwrap());
            }
        }
        for (index, (expected, is_seen)) in expected.iter().zip(&seen).enumerate() {
            let status = expected.as_ref().err().copied();
            assert_eq!(*is_seen, status.is_none(), "{shape}, record {index}");
            assert_eq!(out.statuses[index], status.unwrap_or(Status::Pending), "{shape}, record {index}");
            let alone = part.accept_one(index as u32);
            assert_eq!(alone.err(), status, "{shape}, record {index}");
            if let (Ok(alone), Ok(expected)) = (alone, expected) {
                is_same(shape, &part, alone, expected);
            }
        }
    }
}

/// Checks that an accepted record has the values that [`Records::resolve`] returns.
fn is_same(shape: Shape, part: &RecordPart<'_>, record: RecordRef, expected: &ResolvedRecord<'_>) {
    let bytes = |span: Span| span.slice(part.data()).unwrap_or_default();
    assert_eq!(part.input(&record, 0).as_ptr_range(), expected.input.as_ptr_range(), "{shape}: input");
    assert_eq!((part.output(record), record.len as usize), (expected.output, expected.input.len()));
    if !matches!(shape, Shape::Digest { .. } | Shape::DigestPart { .. }) {
        assert_eq!(part.key_bytes(record).as_ptr(), expected.key_bytes.as_ptr(), "{shape}: key");
    }
    match shape {
        Shape::Cipher { .. } | Shape::DigestPart { .. } | Shape::Translate { .. } => {
            assert_eq!(part.data()[record.iv as usize..].as_ptr(), expected.iv.as_ptr(), "{shape}: IV");
        }
        Shape::Aead { .. } | Shape::Chain { .. } | Shape::Fpe { .. } => {
            assert_eq!(bytes(part.iv_span(record)).as_ptr_range(), expected.iv.as_ptr_range());
            assert_eq!(bytes(part.aad_span(record)).as_ptr_range(), expected.aad.as_ptr_range());
            if shape.is_opening() {
                assert_eq!(bytes(part.tag_span(record)), expected.expected_tag);
            }
            assert_eq!(part.tag_span(record), expected.tag);
        }
        _ => {}
    }
    if matches!(shape, Shape::Translate { .. }) {
        assert_eq!(bytes(part.second_iv_span(record)).as_ptr(), expected.second_iv.as_ptr());
    }
    if matches!(shape, Shape::Translate { .. } | Shape::Chain { .. }) {
        assert_eq!(part.second_key_bytes(record).as_ptr(), expected.second_key_bytes.as_ptr());
    }
}

fn each_mix(test: impl Fn(Shape, Mix, &mut Random)) {
    let all =
        [4, 40, 1_000_000].into_iter().flat_map(|one_bad_in| (0..8).map(move |flags| (one_bad_in, flags)));
    // Miri takes hours for all of them.
    let (step, mixes) = if cfg!(miri) { (80, vec![(4, 7)]) } else { (1, all.collect()) };
    for (seed, shape) in (1..).zip(shapes()).step_by(step) {
        for (one_bad_in, flags) in &mixes {
            let [has_slots, has_many_keys, has_bad_keys] = [1, 2, 4].map(|flag| flags & flag > 0);
            let mix = Mix { one_bad_in: *one_bad_in, has_slots, has_many_keys, has_bad_keys };
            test(shape, mix, &mut Random(seed));
        }
    }
}

#[test]
fn windows_accept_what_the_check_of_each_record_accepts() {
    each_mix(|shape, mix, random| {
        for (count, size) in [(0, 1), (1, 1), (2, 4), (50, 7), (50, 64)] {
            agree(shape, &random_records(shape, count, mix, random), size);
        }
    });
}

#[test]
fn columns_of_every_form_accept_what_the_check_of_each_record_accepts() {
    each_mix(|shape, mix, random| {
        for _ in 0..8 {
            let mut records = random_records(shape, 30, mix, random);
            let mut form = || random.below(5);
            records.key = reshaped(&records.key, 1, form());
            records.second_key = reshaped(&records.second_key, 1, form());
            records.iv = reshaped(&records.iv, 16, form());
            records.second_iv = reshaped(&records.second_iv, 16, form());
            records.aad = reshaped(&records.aad, 5, form());
            records.input = reshaped(&records.input, 16, form());
            records.output = reshaped(&records.output, 16, form());
            records.tag = reshaped(&records.tag, 16, form());
            agree(shape, &records, 8);
        }
    });
}

/// Returns records of 16 bytes side by side, which is the fastest form.
fn side_by_side(count: usize) -> Records<'static> {
    let first = Span { start: 0, len: 16 };
    let moved = Span { start: 16, len: 16 };
    Records {
        len: count,
        keys: vec![Key::local(KeyParts::Secret(vec![0; 16].into()), Fingerprint::new([0; 32])); 2].into(),
        data: vec![0; 32 * count].into(),
        output_len: 16 * count,
        key: Column::Each((0..count).map(|at| KeySource::Table(at as u32 % 2)).collect::<Vec<_>>().into()),
        iv: Column::Stride { first, stride: 32 },
        input: Column::Stride { first: InputSource::Data(moved), stride: 32 },
        output: Column::Stride { first: OutputSink::Output(first), stride: 16 },
        ..Records::default()
    }
}

const AES_CBC: Shape =
    Shape::Cipher { alg: BlockCipher::Aes128, mode: CipherMode::Cbc, direction: Direction::Encrypt };

#[test]
fn results_side_by_side_fill_the_output() {
    let records = side_by_side(20);
    let fills = |records: &Records<'_>| RecordPart::new(AES_CBC, records).fills_output();
    let span = Span::new(0, 16).unwrap();
    let first = |start| OutputSink::Output(span.moved(start));
    let with = |start, stride, output_len| Records {
        output: Column::Stride { first: first(start), stride },
        output_len,
        ..records.clone()
    };
    assert!(fills(&with(0, 16, 320)));
    // A gap before, between and behind the results.
    assert!(!fills(&with(16, 16, 336)) && !fills(&with(0, 17, 339)) && !fills(&with(0, 16, 321)));
    assert!(!fills(&Records { output: Column::Each(vec![first(0); 20].into()), ..with(0, 16, 320) }));
}

#[test]
fn records_side_by_side_have_strides() {
    let records = side_by_side(20);
    let part = RecordPart::new(AES_CBC, &records);
    assert!(part.equal_len().is_some() && !part.is_empty() && !part.has_slots());
    agree(AES_CBC, &records, 6);
    let accepted: Vec<_> = (0..20).map(|index| part.accept_one(index).unwrap()).collect();
    let strides = |records: &[RecordRef]| {
        part.strides(records).map(|strides| (strides.input, strides.output, strides.iv))
    };
    for len in [1, 4, 8, 20] {
        assert_eq!(strides(&accepted[..len]), Some((32, 16, 32)));
    }
    let apart = [accepted[0], accepted[2]];
    assert_eq!((strides(&[]), strides(&apart)), (None, None));
}

#[test]
fn a_bad_record_side_by_side_with_others_fails_alone() {
    let status = |change: fn(&mut Records<'static>)| {
        let mut records = side_by_side(5);
        change(&mut records);
        agree(AES_CBC, &records, 2);
        records.resolve(AES_CBC).map(|record| record.err()).collect::<Vec<_>>()
    };
    let malformed = Some(Status::Malformed);
    assert_eq!(status(|records| records.output_len -= 1), [None, None, None, None, malformed]);
    assert_eq!(status(|records| records.data.to_mut().truncate(130)), [None, None, None, None, malformed]);
    let lost = status(|records| {
        let mut keys: Vec<_> = records.key.cursor().take(5).collect();
        keys[2] = KeySource::Table(2);
        records.key = Column::Each(keys.into());
    });
    assert_eq!(lost, [None, None, malformed, None, None]);
    let slot = status(|records| records.key = Column::One(KeySource::Slot(0)));
    assert_eq!(slot, [Some(Status::DependencyFailed); 5]);
}

#[test]
fn keys_of_other_lengths_in_the_table_do_not_matter() {
    let long = Key::local(KeyParts::Secret(vec![0; 32].into()), Fingerprint::new([0; 32]));
    let mut records = side_by_side(20);
    records.keys.to_mut().push(long);
    let bad_key = Column::Each((0..20).map(|at| KeySource::Table(at % 3)).collect::<Vec<_>>().into());
    for key in
        [records.key.clone(), Column::One(KeySource::Table(1)), Column::One(KeySource::Table(2)), bad_key]
    {
        records.key = key;
        for is_strided in [true, false] {
            if !is_strided {
                records.input = Column::Each(records.input.cursor().take(20).collect());
                records.output = Column::Each(records.output.cursor().take(20).collect());
            }
            agree(AES_CBC, &records, 6);
        }
        records = Records { key: records.key, keys: records.keys, ..side_by_side(20) };
    }
}

#[test]
fn only_covered_records_are_counted() {
    let mut records = side_by_side(5);
    assert_eq!(records.covered(), 5);
    records.tag = Column::Runs(vec![(1, Span::default()), (0, Span::default()), (2, Span::default())].into());
    assert_eq!(records.covered(), 3);
    records.second_key = Column::Each(vec![KeySource::Table(0); 2].into());
    assert_eq!(records.covered(), 2);
    records.aad = Column::Stride { first: Span { start: u32::MAX, len: 0 }, stride: 1 };
    assert_eq!(records.covered(), 1);
    records.output = Column::Each(Vec::new().into());
    assert_eq!((records.covered(), records.is_complete()), (0, false));
}

#[test]
fn digests_ignore_keys_and_macs_take_shorter_tags() {
    let mix = Mix { one_bad_in: 1_000_000, has_slots: false, has_many_keys: false, has_bad_keys: false };
    let mut random = Random(7);
    let digest = Shape::Digest { alg: DigestAlg::Sha256 };
    let mut records = random_records(digest, 9, mix, &mut random);
    records.keys = Vec::new().into();
    agree(digest, &records, 9);
    let mac = Shape::Mac { alg: MacAlg::HmacSha256 };
    let mut records = random_records(mac, 9, mix, &mut random);
    records.output = Column::One(OutputSink::Output(Span { start: 0, len: 3 }));
    agree(mac, &records, 9);
}
