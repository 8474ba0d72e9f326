//! The CPU time of a row of 16 bytes, from an array of Arrow to an array of Arrow, beside its bare kernel.
//!
//! `cargo bench -p oarlock-columns --bench columns -- [NAME] [ROWS]` prints a row for each operation whose name
//! contains NAME: nanoseconds per row here and in the kernel, and their ratio, as medians of the turns with the range.
//! The kernel is the engine's own run over the same records, all in one batch, at constant strides and with the memory
//! of the turn before. Both run on this thread, in turns.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench that panics has failed")]

use std::hint::black_box;

use arrow_array::{Array, ArrayRef, BinaryArray, StringArray};
use cpu_time::ThreadTime;
use oarlock::engine_api::{Engine, Jobs};
use oarlock::{
    Accelerator, AeadAlg, BlockCipher, CipherMode, Column, DigestAlg, Direction, FpeAlg, InputSource, MacAlg,
    Outcomes, OutputSink, Records, Shape, Span, Status, keys,
};
use oarlock_columns::{
    AssociatedData, ColumnCipher, ColumnIv, ColumnKeys, Decryption, Encryption, MacOptions, OnError,
    TokenOptions, decrypt, encrypt, hash, mac, tokenise,
};
use oarlock_keytable::{
    Alphabet, IvRule, KeyAlgorithm, KeyOperation, KeyPolicy, KeyTable, KeyType, TokenFormat,
};
use oarlock_lanes::LaneEngine;

const ROWS: usize = 1_000_000;
const TURNS: usize = 9;
const LEN: usize = 16;
const TWEAK: &[u8] = b"cards.pan";

/// An operation on a column, and its records for the engine.
struct Case<'a> {
    name: &'static str,
    column: Box<dyn Fn() -> ArrayRef + 'a>,
    kernel: KernelRun,
    /// True if both have the same results.
    is_deterministic: bool,
}

/// Records of the engine, in one batch.
struct KernelRun {
    shape: Shape,
    records: Records<'static>,
    outcomes: Outcomes,
}

/// The places of a record's parts in its bytes of the data and of the output.
#[derive(Default)]
struct Layout {
    iv: Option<Column<'static, Span>>,
    aad: Option<Span>,
    input: (Span, u32),
    output: (Span, u32),
    tag: Option<(Span, u32)>,
}

fn main() {
    // `cargo test` runs this program too, without this argument. Then a few rows show that it works.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let rows = arguments.iter().find_map(|argument| argument.parse().ok());
    let rows = if is_bench { rows.unwrap_or(ROWS) } else { 3_000 };
    let filter = arguments.iter().find(|argument| argument.parse::<usize>().is_err());
    let Some(engine) = LaneEngine::detect() else {
        return eprintln!("SKIPPED: this processor has no lanes");
    };
    let keys = ColumnKeys::new(Accelerator::new().unwrap(), table());
    let texts: Vec<String> = (0..rows).map(|row| format!("{row:016}")).collect();
    let values = BinaryArray::from_iter_values(&texts);
    let digits = StringArray::from_iter_values(&texts);
    println!("{:28}{:>24}{:>24}{:>22}", "ns per row", "column", "kernel", "ratio");
    for case in cases(&keys, &values, &digits) {
        if filter.is_none_or(|filter| case.name.contains(filter)) {
            // A turn of few rows is short, so there are more of them.
            show(case, &engine, rows, if is_bench { TURNS * (ROWS / rows).clamp(1, 10) } else { 1 });
        }
    }
}

fn show(mut case: Case<'_>, engine: &LaneEngine, rows: usize, turns: usize) {
    let made = (case.column)();
    case.kernel.run(engine);
    assert_eq!(made.null_count(), 0, "{}", case.name);
    assert!(case.kernel.outcomes.statuses().iter().all(|status| *status == Status::Done), "{}", case.name);
    if case.is_deterministic {
        let data = made.to_data();
        assert_eq!(data.buffers()[1].as_slice(), case.kernel.outcomes.bytes(), "{}", case.name);
    }
    drop(made);
    let per_row = |began: ThreadTime| began.elapsed().as_nanos() as f64 / rows as f64;
    let mut turns: Vec<[f64; 3]> = (0..turns)
        .map(|_| {
            let began = ThreadTime::now();
            black_box((case.column)());
            let column = per_row(began);
            let began = ThreadTime::now();
            case.kernel.run(engine);
            let kernel = per_row(began);
            [column, kernel, kernel / column]
        })
        .collect();
    print!("{:28}", case.name);
    for (figure, width, digits) in [(0, 24, 1), (1, 24, 1), (2, 22, 2)] {
        turns.sort_by(|a, b| a[figure].total_cmp(&b[figure]));
        let [min, median, max] = [0, turns.len() / 2, turns.len() - 1].map(|turn| turns[turn][figure]);
        let text = format!("{median:.digits$} ({min:.digits$}-{max:.digits$})");
        print!("{text:>width$}");
    }
    println!();
}

impl KernelRun {
    fn new(shape: Shape, key: Option<&[u8]>, data: Vec<u8>, rows: usize, layout: Layout) -> Self {
        let key = key.map(|key| keys::raw::secret(key.to_vec()).unwrap());
        let stride = |(first, stride)| Column::Stride { first, stride };
        let records = Records {
            len: rows,
            keys: key.into_iter().collect::<Vec<_>>().into(),
            data: data.into(),
            output_len: layout.output.1 as usize * rows,
            iv: layout.iv.unwrap_or(Column::One(Span::default())),
            aad: Column::One(layout.aad.unwrap_or(Span::ABSENT)),
            input: Column::Stride { first: InputSource::Data(layout.input.0), stride: layout.input.1 },
            output: Column::Stride { first: OutputSink::Output(layout.output.0), stride: layout.output.1 },
            tag: layout.tag.map_or(Column::One(Span::default()), stride),
            ..Records::default()
        };
        let parts = [&records];
        let outcomes = Outcomes::for_jobs(&Jobs::Records(shape, &parts));
        Self { shape, records, outcomes }
    }

    fn run(&mut self, engine: &LaneEngine) {
        engine.run(&Jobs::Records(self.shape, &[&self.records]), &mut self.outcomes).unwrap();
    }
}

fn secret(byte: u8, len: usize) -> Vec<u8> {
    vec![byte; len]
}

fn table() -> KeyTable {
    let table = KeyTable::new();
    for (name, key_type, byte) in
        [("aes", KeyType::Aes128, 1), ("siv", KeyType::Aes128Siv, 2), ("hmac", KeyType::Hmac, 3)]
    {
        let len = key_type.key_len().unwrap_or(32);
        table.insert(name, key_type, secret(byte, len), KeyPolicy::any_data(key_type)).unwrap();
    }
    for (name, key_type, algorithm, byte) in [
        ("gcm-siv", KeyType::Aes128, KeyAlgorithm::GcmSiv, 4),
        ("tokens", KeyType::Aes256, KeyAlgorithm::Ff1, 5),
    ] {
        let policy = KeyPolicy::new()
            .allow([KeyOperation::Encrypt, KeyOperation::Decrypt])
            .with([algorithm])
            .ivs([IvRule::Random, IvRule::Zero]);
        table.insert(name, key_type, secret(byte, key_type.key_len().unwrap()), policy).unwrap();
    }
    table
}

fn span(start: usize, len: usize) -> Span {
    Span::new(start, len).unwrap()
}

fn cases<'a>(keys: &'a ColumnKeys, values: &'a BinaryArray, digits: &'a StringArray) -> Vec<Case<'a>> {
    let mut cases = ciphers(keys, values);
    cases.extend(siv_ciphers(keys, values));
    cases.extend(digests(keys, values));
    cases.extend(tokens(keys, digits));
    cases
}

fn seal(alg: AeadAlg) -> Shape {
    Shape::Aead { alg, direction: Direction::Encrypt }
}

fn ciphers<'a>(keys: &'a ColumnKeys, values: &'a BinaryArray) -> Vec<Case<'a>> {
    let (rows, bytes) = (values.len(), values.value_data());
    let gcm = ColumnCipher::AES128_GCM;
    let sealed = encrypt(keys, values, &Encryption::new("aes", gcm), OnError::Raise).unwrap().array;
    let sealed_bytes = sealed.to_data().buffers()[1].to_vec();
    let key = secret(1, 16);
    let gcm_encrypt = KernelRun::new(
        seal(AeadAlg::Aes128Gcm),
        Some(&key),
        [&vec![9; 12 * rows], bytes].concat(),
        rows,
        Layout {
            iv: Some(Column::Stride { first: span(0, 12), stride: 12 }),
            input: (span(12 * rows, LEN), 16),
            output: (span(12, LEN), 44),
            tag: Some((span(28, 16), 44)),
            ..Layout::default()
        },
    );
    let gcm_decrypt = KernelRun::new(
        Shape::Aead { alg: AeadAlg::Aes128Gcm, direction: Direction::Decrypt },
        Some(&key),
        sealed_bytes,
        rows,
        Layout {
            iv: Some(Column::Stride { first: span(0, 12), stride: 44 }),
            input: (span(12, LEN), 44),
            output: (span(0, LEN), 16),
            tag: Some((span(28, 16), 44)),
            ..Layout::default()
        },
    );
    let padded = bytes.chunks(LEN).flat_map(|value| [value, &[16; 16]].concat());
    let cbc = KernelRun::new(
        Shape::Cipher { alg: BlockCipher::Aes128, mode: CipherMode::Cbc, direction: Direction::Encrypt },
        Some(&key),
        std::iter::repeat_n(9, 16 * rows).chain(padded).collect(),
        rows,
        Layout {
            iv: Some(Column::Stride { first: span(0, 16), stride: 16 }),
            input: (span(16 * rows, 32), 32),
            output: (span(16, 32), 48),
            ..Layout::default()
        },
    );
    let encrypted =
        move |cipher| encrypt(keys, values, &Encryption::new("aes", cipher), OnError::Raise).unwrap().array;
    let decryption = Decryption::new("aes", gcm);
    vec![
        Case {
            name: "aes128-gcm-encrypt",
            column: Box::new(move || encrypted(gcm)),
            kernel: gcm_encrypt,
            is_deterministic: false,
        },
        Case {
            name: "aes128-gcm-decrypt",
            column: Box::new(move || decrypt(keys, &sealed, &decryption, OnError::Raise).unwrap().array),
            kernel: gcm_decrypt,
            is_deterministic: true,
        },
        Case {
            name: "aes128-cbc-encrypt",
            column: Box::new(move || encrypted(ColumnCipher::AES128_CBC)),
            kernel: cbc,
            is_deterministic: false,
        },
    ]
}

fn siv_ciphers<'a>(keys: &'a ColumnKeys, values: &'a BinaryArray) -> Vec<Case<'a>> {
    let (rows, bytes) = (values.len(), values.value_data());
    let siv = KernelRun::new(
        seal(AeadAlg::Aes128Siv),
        Some(&secret(2, 32)),
        bytes.to_vec(),
        rows,
        Layout {
            input: (span(0, LEN), 16),
            output: (span(16, LEN), 32),
            tag: Some((span(0, 16), 32)),
            ..Layout::default()
        },
    );
    let gcm_siv = KernelRun::new(
        seal(AeadAlg::Aes128GcmSiv),
        Some(&secret(4, 16)),
        [&[0; 12], bytes].concat(),
        rows,
        Layout {
            iv: Some(Column::One(span(0, 12))),
            input: (span(12, LEN), 16),
            output: (span(12, LEN), 44),
            tag: Some((span(28, 16), 44)),
            ..Layout::default()
        },
    );
    let encrypted =
        move |options: &Encryption<'_>| encrypt(keys, values, options, OnError::Raise).unwrap().array;
    let zero = Encryption::new("gcm-siv", ColumnCipher::AES128_GCM_SIV).iv(ColumnIv::Zero);
    vec![
        Case {
            name: "aes128-siv-encrypt",
            column: Box::new(move || encrypted(&Encryption::new("siv", ColumnCipher::AES128_SIV))),
            kernel: siv,
            is_deterministic: true,
        },
        Case {
            name: "aes128-gcm-siv-encrypt",
            column: Box::new(move || encrypted(&zero)),
            kernel: gcm_siv,
            is_deterministic: true,
        },
    ]
}

fn digests<'a>(keys: &'a ColumnKeys, values: &'a BinaryArray) -> Vec<Case<'a>> {
    let (rows, bytes) = (values.len(), values.value_data());
    let kernel = |shape, key| {
        let layout = Layout { input: (span(0, LEN), 16), output: (span(0, 32), 32), ..Layout::default() };
        KernelRun::new(shape, key, bytes.to_vec(), rows, layout)
    };
    let options = MacOptions::new("hmac", MacAlg::HmacSha256);
    vec![
        Case {
            name: "hmac-sha256",
            column: Box::new(move || mac(keys, values, &options, OnError::Raise).unwrap().array),
            kernel: kernel(Shape::Mac { alg: MacAlg::HmacSha256 }, Some(&secret(3, 32))),
            is_deterministic: true,
        },
        Case {
            name: "sha256",
            column: Box::new(move || hash(keys, values, DigestAlg::Sha256, OnError::Raise).unwrap().array),
            kernel: kernel(Shape::Digest { alg: DigestAlg::Sha256 }, None),
            is_deterministic: true,
        },
    ]
}

fn tokens<'a>(keys: &'a ColumnKeys, digits: &'a StringArray) -> Vec<Case<'a>> {
    let rows = digits.len();
    let format = TokenFormat::new(Alphabet::digits());
    let head = [&format.radix_bytes()[..], TWEAK].concat();
    let numerals = digits.value_data().iter().map(|digit| digit - b'0');
    let kernel = KernelRun::new(
        Shape::Fpe { alg: FpeAlg::Aes256Ff1, direction: Direction::Encrypt },
        Some(&secret(5, 32)),
        head.iter().copied().chain(numerals).collect(),
        rows,
        Layout {
            iv: Some(Column::One(span(0, 4))),
            aad: Some(span(4, TWEAK.len())),
            input: (span(head.len(), LEN), 16),
            output: (span(0, LEN), 16),
            ..Layout::default()
        },
    );
    let tokens = move || {
        let options =
            TokenOptions::new("tokens", FpeAlg::Aes256Ff1, &format).tweak(AssociatedData::Constant(TWEAK));
        tokenise(keys, digits, &options, OnError::Raise).unwrap().array
    };
    vec![Case { name: "aes256-ff1-16-digits", column: Box::new(tokens), kernel, is_deterministic: false }]
}
