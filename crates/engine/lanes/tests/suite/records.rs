//! Tests of records of every shape of the engine against the scalar engine, on every leaf.

use oarlock_core::*;
use oarlock_lanes::{LaneEngine, Leaf};
use oarlock_scalar::ScalarEngine;

use crate::common::{Builder, leaves, run};

/// A generator of the same pseudorandom numbers in every run (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }
}

fn shapes() -> Vec<Shape> {
    let cbc = |alg| CipherSpec { alg, mode: CipherMode::Cbc };
    let pairs = BlockCipher::ALL
        .into_iter()
        .flat_map(|from| BlockCipher::ALL.map(|to| Shape::Translate { from: cbc(from), to: cbc(to) }));
    Shape::records().into_iter().chain(pairs).collect()
}

/// Returns the length of a key. HMAC takes any length.
fn key_len(shape: Shape, random: &mut Random) -> usize {
    match shape {
        Shape::Cipher { alg, .. } => alg.key_len(),
        Shape::Aead { alg, .. } => alg.key_len(),
        Shape::Fpe { alg, .. } => alg.key_len(),
        Shape::Mac { alg } => alg.key_len().unwrap_or_else(|| 1 + random.below(150)),
        Shape::Wrap { alg, .. } => alg.key_len(),
        Shape::Translate { from, .. } => from.alg.key_len(),
        Shape::Chain { cipher, .. } => cipher.alg.key_len(),
        _ => 0,
    }
}

fn push(builder: &mut Builder, shape: Shape, len: usize, random: &mut Random) {
    let len_of_key = key_len(shape, random);
    // Some keys recur, others are new.
    let key = match random.below(3) {
        0 if !builder.key.is_empty() => builder.key[random.below(builder.key.len())],
        _ => builder.key(random.bytes(len_of_key)),
    };
    builder.key.push(key);
    let (mut second_key, mut iv_len, mut second_iv_len, mut aad_len, mut tag_len) = (key, 0, 0, 0, 0);
    let mut out = len;
    match shape {
        Shape::Cipher { alg, .. } => iv_len = alg.block_len(),
        Shape::Translate { from, to } => {
            (iv_len, second_iv_len) = (from.alg.block_len(), to.alg.block_len());
            second_key = builder.key(random.bytes(to.alg.key_len()));
        }
        Shape::Chain { cipher, mac, order, direction } => {
            iv_len = cipher.alg.block_len();
            let second_key_len = if random.below(3) == 0 { random.below(150) } else { mac.tag_len() };
            second_key = builder.key(random.bytes(second_key_len));
            if order.has_detached_tag() {
                (aad_len, tag_len) = (random.below(50), 10 + random.below(mac.tag_len() - 9));
            } else {
                aad_len = MTE_AAD_LEN;
                if direction == Direction::Encrypt {
                    out = mte_sealed_len(cipher.alg, mac, len);
                }
            }
        }
        Shape::Aead { alg: AeadAlg::ChaCha20Poly1305Ssh, .. } => (iv_len, tag_len) = (8, 16),
        Shape::Aead {
            alg: AeadAlg::ChaCha20Poly1305 | AeadAlg::Aes128GcmSiv | AeadAlg::Aes256GcmSiv,
            ..
        } => {
            (iv_len, aad_len, tag_len) = (12, random.below(50), 16);
        }
        Shape::Aead { alg: AeadAlg::Aes128Siv | AeadAlg::Aes256Siv, .. } => {
            iv_len = [0, 12, random.below(40)][random.below(3)];
            (aad_len, tag_len) = ([0, random.below(50)][random.below(2)], 16);
        }
        Shape::Aead { .. } => {
            iv_len = if random.below(2) == 0 { 12 } else { 1 + random.below(40) };
            (aad_len, tag_len) = (random.below(50), 12 + random.below(5));
        }
        Shape::Fpe { .. } => aad_len = [0, 7, random.below(50)][random.below(3)],
        Shape::Mac { alg } => out = 4 + random.below(alg.tag_len() - 3),
        Shape::Digest { alg } => out = alg.output_len(),
        Shape::DigestPart { alg } => (iv_len, out) = (alg.state_len(), alg.state_len()),
        Shape::Wrap { direction: Direction::Encrypt, .. } => out = len + 8,
        Shape::Wrap { direction: Direction::Decrypt, .. } => out = len.saturating_sub(8),
        _ => {}
    }
    builder.second_key.push(second_key);
    let (mut iv, mut input) = (random.bytes(iv_len), random.bytes(len));
    if let Shape::Fpe { .. } = shape {
        let radix = [10_u32, 10, 62, 256, 2, 65_536][random.below(6)];
        iv = radix.to_be_bytes().to_vec();
        // The bytes of one record in eight stay as they are, so they may be above the radix.
        if random.below(8) > 0 {
            input.iter_mut().for_each(|byte| *byte = (u32::from(*byte) % radix) as u8);
        }
    }
    let iv = builder.data(&iv);
    builder.iv.push(iv);
    let second_iv = builder.data(&random.bytes(second_iv_len));
    builder.second_iv.push(second_iv);
    let aad = builder.data(&random.bytes(aad_len));
    builder.aad.push(aad);
    let input = builder.data(&input);
    builder.input.push(InputSource::Data(input));
    let output = builder.reserve(out);
    builder.output.push(OutputSink::Output(output));
    let tag = match shape {
        _ if shape.is_opening() => builder.data(&random.bytes(tag_len)),
        _ => builder.reserve(tag_len),
    };
    builder.tag.push(tag);
}

fn random_records(shape: Shape, lens: &[usize], random: &mut Random) -> Records<'static> {
    let mut builder = Builder::default();
    lens.iter().for_each(|len| push(&mut builder, shape, *len, random));
    builder.records()
}

fn agree(engine: &LaneEngine, shape: Shape, records: &Records<'_>) {
    let (found, expected) =
        (run(engine, shape, records), run(&ScalarEngine::detect().unwrap(), shape, records));
    assert_eq!(found.statuses(), expected.statuses(), "{shape}");
    for index in 0..records.len {
        if let Some(OutputSink::Output(span)) = records.output.get(index) {
            let (found, expected) = (span.slice(found.bytes()), span.slice(expected.bytes()));
            assert_eq!(found, expected, "{shape}, record {index} of {}", records.len);
        }
    }
    assert_eq!(found.bytes(), expected.bytes(), "{shape}");
    for slot in 0..records.slots.len() as u32 {
        assert_eq!(found.slots(0).get(slot), expected.slots(0).get(slot), "{shape}, slot {slot}");
    }
}

fn each(test: impl Fn(&LaneEngine, Shape, &mut Random)) {
    for engine in leaves() {
        for (seed, shape) in shapes().into_iter().enumerate() {
            if engine.offers(shape).is_some() {
                test(&engine, shape, &mut Random(seed as u64));
            }
        }
    }
    for engine in pairs() {
        for (seed, shape) in Shape::chains().into_iter().enumerate() {
            if engine.offers(shape).is_some() {
                test(&engine, shape, &mut Random(seed as u64));
            }
        }
    }
}

/// Returns engines of two leaves each: a chain with AES needs one for the cipher and one for the hash.
fn pairs() -> impl Iterator<Item = LaneEngine> {
    let pairs = [
        [Leaf::Vaes512, Leaf::Avx512],
        [Leaf::Vaes256, Leaf::Avx2],
        [Leaf::Vaes256, Leaf::ShaNi],
        [Leaf::AesNi, Leaf::Avx2],
        [Leaf::AesNi, Leaf::ShaNi],
    ];
    let has_all = |pair: &[Leaf; 2]| pair.iter().all(|leaf| LaneEngine::of_leaf(*leaf).is_some());
    pairs.into_iter().filter(has_all).filter_map(|pair| LaneEngine::with_leaves(|leaf| pair.contains(&leaf)))
}

/// Every length is tested, valid or not.
#[test]
fn records_agree_with_scalar_at_every_length() {
    each(|engine, shape, random| {
        let lens: Vec<usize> = (0..=100).chain([1000, 1024, 16_384]).collect();
        agree(engine, shape, &random_records(shape, &lens, random));
    });
}

#[test]
fn records_agree_with_scalar_at_the_seams_of_a_batch() {
    each(|engine, shape, random| {
        for count in [0, 1, 7, 8, 9, 15, 16, 17, 31, 511, 512, 513, 1023] {
            agree(engine, shape, &random_records(shape, &vec![48; count], random));
        }
    });
}

#[test]
fn many_records_of_mixed_lengths_agree_with_scalar() {
    each(|engine, shape, random| {
        let short: Vec<usize> = (0..9000).map(|_| 8 * random.below(11)).collect();
        // One in seven has up to 16 KiB. AWS-LC's DES of as long ones takes most of the time.
        let long: Vec<usize> =
            (0..70).map(|at| 16 * random.below(if at % 7 == 0 { 1025 } else { 129 })).collect();
        for lens in [short, long] {
            agree(engine, shape, &random_records(shape, &lens, random));
        }
    });
}

#[test]
fn columns_of_one_value_and_of_runs_agree_with_scalar() {
    each(|engine, shape, random| {
        let mut records = random_records(shape, &[32; 40], random);
        records.key = Column::One(records.key.get(3).unwrap());
        let ivs = [records.iv.get(0).unwrap(), records.iv.get(39).unwrap()];
        let runs = match shape {
            Shape::Aead { .. } => [(40, ivs[0]), (0, ivs[1])],
            _ => [(15, ivs[0]), (25, ivs[1])],
        };
        records.iv = Column::Runs(runs.to_vec().into());
        agree(engine, shape, &records);
    });
}

/// Returns what a run of sealing made as records to open. One bit of every third ciphertext or tag is changed.
fn to_open(sealed: &Records<'_>, made: &Outcomes) -> Records<'static> {
    let mut builder = Builder { keys: sealed.keys.to_vec(), ..Builder::default() };
    for at in 0..sealed.len {
        let of_data = |span: Span| span.slice(&sealed.data).unwrap();
        let OutputSink::Output(output) = sealed.output.get(at).unwrap() else { panic!("an output") };
        let bytes_of = |span: Span| span.slice(made.bytes()).unwrap().to_vec();
        let (mut input, mut tag) = (bytes_of(output), bytes_of(sealed.tag.get(at).unwrap()));
        if at % 3 == 1 {
            let position = at * 7 % (input.len() + tag.len());
            let byte = input.iter_mut().chain(&mut tag).nth(position).unwrap();
            *byte ^= 1 << (at % 8);
        }
        builder.key.push(sealed.key.get(at).unwrap());
        let spans = [of_data(sealed.iv.get(at).unwrap()), of_data(sealed.aad.get(at).unwrap()), &input, &tag]
            .map(|bytes| builder.data(bytes));
        let [iv, aad, input, tag] = spans;
        builder.iv.push(iv);
        builder.aad.push(aad);
        builder.input.push(InputSource::Data(input));
        builder.tag.push(tag);
        let output = builder.reserve(input.len as usize);
        builder.output.push(OutputSink::Output(output));
    }
    builder.records()
}

#[test]
fn sealed_records_are_opened_and_damaged_ones_are_rejected_alone() {
    each(|engine, shape, random| {
        let Shape::Aead { alg, direction: Direction::Decrypt } = shape else { return };
        let lens: Vec<usize> =
            (4..=80).chain([500, 1023, 1024, 1028, 1029, 2052, 5000, 16_384, 16_385]).collect();
        let sealing = Shape::Aead { alg, direction: Direction::Encrypt };
        let plain = random_records(sealing, &lens, random);
        let made = run(&ScalarEngine::detect().unwrap(), sealing, &plain);
        let records = to_open(&plain, &made);
        agree(engine, shape, &records);
        let found = run(engine, shape, &records);
        for (at, status) in found.statuses().iter().enumerate() {
            let expected = if at % 3 == 1 { Status::Rejected } else { Status::Done };
            assert_eq!(*status, expected, "{shape}, record {at}");
        }
    });
}

/// Returns the same records with the bytes of each column adjacent, and `gap` bytes between inputs and between
/// outputs.
fn side_by_side(records: &Records<'_>, gap: usize) -> Records<'static> {
    let mut builder = Builder { keys: records.keys.to_vec(), ..Builder::default() };
    let all = 0..records.len;
    builder.key = records.key.cursor().take(records.len).collect();
    builder.second_key = records.second_key.cursor().take(records.len).collect();
    let mut moved = |column: &Column<'_, Span>, gap: usize| -> Vec<Span> {
        let bytes = |index| column.get(index).unwrap().slice(&records.data).unwrap_or_default();
        let mut data_span = |index| {
            let span = builder.data(bytes(index));
            builder.data(&vec![0xA5; gap]);
            span
        };
        all.clone().map(&mut data_span).collect()
    };
    let inputs = records.input.cursor().take(records.len).map(|input| match input {
        InputSource::Data(span) => span,
        InputSource::Slot(_) => Span::default(),
    });
    let input = moved(&Column::Each(inputs.collect()), gap);
    let [iv, second_iv, aad, tag] =
        [&records.iv, &records.second_iv, &records.aad, &records.tag].map(|column| moved(column, 0));
    builder.input = input.into_iter().map(InputSource::Data).collect();
    (builder.iv, builder.second_iv, builder.aad, builder.tag) = (iv, second_iv, aad, tag);
    for output in records.output.cursor().take(records.len) {
        let OutputSink::Output(span) = output else { continue };
        let output = builder.reserve(span.len as usize);
        builder.reserve(gap);
        builder.output.push(OutputSink::Output(output));
    }
    builder.records()
}

#[test]
fn records_of_equal_length_side_by_side_agree_with_scalar() {
    each(|engine, shape, random| {
        if matches!(shape, Shape::Aead { .. } | Shape::Chain { .. }) {
            return;
        }
        let mixed = [(8, 8, 0), (513, 40, 0), (1030, 64, 0), (90, 72, 0), (90, 200, 0), (90, 48, 8)];
        // From eight blocks of AES on, sixteen chains run side by side with joined keys.
        let long = [(2055, 16, 0), (16, 112, 0), (17, 128, 0), (47, 144, 16)];
        for (count, len, gap) in mixed.into_iter().chain(long) {
            let records = random_records(shape, &vec![len; count], random);
            agree(engine, shape, &side_by_side(&records, gap));
        }
    });
}

/// Results fill the output, first all texts and then all tags. Some fail and leave zeros.
#[test]
fn results_that_fill_the_output_agree_with_scalar() {
    const COUNT: usize = 1100;
    each(|engine, shape, random| {
        if matches!(shape, Shape::Chain { .. }) {
            return;
        }
        let mut records = side_by_side(&random_records(shape, &[48; COUNT], random), 0);
        let Some(OutputSink::Output(Span { len, .. })) = records.output.get(0) else { return };
        let (result_len, mut tag_len) = (len as usize, 0);
        if let Shape::Aead { direction, .. } = shape {
            let mut iv = records.iv.get(0).unwrap();
            iv.len = 12;
            (records.iv, records.aad) = (Column::One(iv), Column::One(Span::ABSENT));
            if direction == Direction::Encrypt {
                tag_len = 16;
                let first = Span::new(COUNT * result_len, tag_len).unwrap();
                records.tag = Column::Stride { first, stride: tag_len as u32 };
            }
        }
        let first = OutputSink::Output(Span::new(0, result_len).unwrap());
        records.output = Column::Stride { first, stride: len };
        records.output_len = COUNT * (result_len + tag_len);
        let mut keys: Vec<_> = records.key.cursor().take(COUNT).collect();
        (keys[7], keys[1024]) = (KeySource::Table(u32::MAX), KeySource::Slot(0));
        records.key = keys.into();
        agree(engine, shape, &records);
    });
}

/// A column that a shape does not read can hold anything, and engines must not differ.
#[test]
fn columns_that_a_shape_does_not_read_do_not_matter() {
    each(|engine, shape, random| {
        let mut records = random_records(shape, &[48; 20], random);
        let nowhere = Column::One(Span { start: u32::MAX - 9, len: 9 });
        let reads_iv = matches!(
            shape,
            Shape::Cipher { .. }
                | Shape::Translate { .. }
                | Shape::Aead { .. }
                | Shape::Fpe { .. }
                | Shape::DigestPart { .. }
        );
        if matches!(shape, Shape::Chain { .. }) {
            records.second_iv = nowhere;
            return agree(engine, shape, &records);
        }
        if !reads_iv {
            records.iv = nowhere.clone();
        }
        if !matches!(shape, Shape::Aead { .. } | Shape::Fpe { .. }) {
            records.aad = nowhere.clone();
        }
        if !matches!(shape, Shape::Aead { .. }) {
            records.tag = nowhere.clone();
        }
        if !matches!(shape, Shape::Translate { .. }) {
            (records.second_iv, records.second_key) = (nowhere, Column::One(KeySource::Table(u32::MAX)));
        }
        agree(engine, shape, &records);
        assert!(!run(engine, shape, &records).statuses().contains(&Status::Malformed), "{shape}");
    });
}

/// Records have a constant stride, with missing keys and with strides that leave the data.
#[test]
fn a_bad_record_at_a_constant_stride_fails_alone() {
    each(|engine, shape, random| {
        let mut records = random_records(shape, &[48; 600], random);
        let mut keys: Vec<_> = records.key.cursor().take(600).collect();
        (keys[0], keys[511], keys[599]) =
            (KeySource::Table(u32::MAX), KeySource::Slot(0), KeySource::Table(records.keys.len() as u32));
        records.key = keys.into();
        agree(engine, shape, &records);
        if let Column::Stride { first: InputSource::Data(first), stride } = records.input {
            let first = InputSource::Data(Span { start: first.start + 100, ..first });
            records.input = Column::Stride { first, stride };
            agree(engine, shape, &records);
        }
    });
}

/// Keys and inputs come from slots, some of them empty, and outputs go to others.
#[test]
fn slots_serve_as_keys_inputs_and_outputs() {
    each(|engine, shape, random| {
        let mut records = random_records(shape, &[64; 40], random);
        let len_of_key = records.keys[0].secret().map_or(0, |secret| secret.len());
        let mut slots = SecretSlots::with_capacities(&[200; 20]).unwrap();
        for slot in 0..10 {
            let len = if slot < 5 { len_of_key } else { 64 };
            slots.fill(slot, len).unwrap().copy_from_slice(&random.bytes(len));
        }
        let mut keys: Vec<_> = (0..40).map(|at| records.key.get(at).unwrap()).collect();
        let mut inputs: Vec<_> = (0..40).map(|at| records.input.get(at).unwrap()).collect();
        let mut outputs: Vec<_> = (0..40).map(|at| records.output.get(at).unwrap()).collect();
        for at in 0..5_u32 {
            keys[at as usize * 3] = KeySource::Slot(at);
            inputs[at as usize * 4] = InputSource::Slot(5 + at);
            outputs[at as usize * 7] = OutputSink::Slot(10 + at);
        }
        // These slots are never filled.
        (keys[38], inputs[39]) = (KeySource::Slot(12), InputSource::Slot(13));
        (keys[36], inputs[37], outputs[35]) =
            (KeySource::Slot(99), InputSource::Slot(99), OutputSink::Slot(99));
        records.slots = std::borrow::Cow::Owned(slots);
        (records.key, records.input) = (Column::Each(keys.into()), Column::Each(inputs.into()));
        records.output = Column::Each(outputs.into());
        agree(engine, shape, &records);
    });
}

/// Every kind of bad record stands between good ones.
#[test]
fn every_kind_of_bad_record_fails_alone() {
    each(|engine, shape, random| {
        let mut records = random_records(shape, &[32; 30], random);
        let mut keys: Vec<_> = (0..30).map(|at| records.key.get(at).unwrap()).collect();
        let mut ivs: Vec<_> = (0..30).map(|at| records.iv.get(at).unwrap()).collect();
        let mut inputs: Vec<_> = (0..30).map(|at| records.input.get(at).unwrap()).collect();
        let mut outputs: Vec<_> = (0..30).map(|at| records.output.get(at).unwrap()).collect();
        let short = Key::local(KeyParts::Secret(SecretBytes::new(vec![1; 3])), Fingerprint::new([0; 32]));
        let public = Key::local(KeyParts::Ed25519Public([9; 32]), Fingerprint::new([0; 32]));
        records.keys.to_mut().extend([short, public]);
        let last = records.keys.len() as u32;
        (keys[1], keys[3], keys[5]) =
            (KeySource::Table(last), KeySource::Table(last - 1), KeySource::Table(last - 2));
        (ivs[7].len, ivs[9].start) = (ivs[7].len + 1, u32::MAX - 200);
        inputs[11] = InputSource::Data(Span { start: u32::MAX - 200, len: 32 });
        inputs[13] = InputSource::Data(Span { start: 0, len: 31 });
        outputs[15] = OutputSink::Output(Span { start: u32::MAX - 200, len: 32 });
        outputs[17] = OutputSink::Output(Span { start: 0, len: 3 });
        (records.key, records.iv) = (Column::Each(keys.into()), Column::Each(ivs.into()));
        (records.input, records.output) = (Column::Each(inputs.into()), Column::Each(outputs.into()));
        agree(engine, shape, &records);
    });
}
