//! The CPU time of a row of CSV or NDJSON, beside reading and writing the same text without cryptography.
//!
//! `cargo bench -p oarlock-records --bench rows -- [NAME] [ROWS]` prints a row for each job whose name contains NAME:
//! nanoseconds per row of the job and of the peer, and their ratio, as medians of the turns with the range. The peer
//! cuts the same text into the same chunks, finds each field of each row and writes it again. Nothing is read from or
//! written to a disk. Both run on this thread, in turns.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench that panics has failed")]

use std::fmt::Write as _;
use std::hint::black_box;

use cpu_time::ThreadTime;
use memchr::memchr2;
use oarlock::{Accelerator, AeadAlg, BlockCipher, FpeAlg, MacAlg};
use oarlock_keytable::{
    Alphabet, IvRule, KeyAlgorithm, KeyOperation, KeyPolicy, KeyTable, KeyType, TokenFormat,
};
use oarlock_records::{
    AeadColumns, ChunkError, ChunkReader, ChunkResult, ChunkWorker, Encoding, FileFormat, FilePlan, IvFrom,
    KeyFrom, KeyNames, Padding, RecordJob, RowCipher, RowOperation, SecretBuffer, TweakFrom,
};

const ROWS: usize = 1_000_000;
const TURNS: usize = 7;
const NDJSON: FileFormat = FileFormat::Ndjson;

/// A job on a text.
struct Case {
    name: &'static str,
    format: FileFormat,
    text: &'static [u8],
    job: RecordJob,
}

fn main() {
    // `cargo test` runs this program too, without this argument. Then a few rows show that it works.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let rows = arguments.iter().find_map(|argument| argument.parse().ok());
    let rows = if is_bench { rows.unwrap_or(ROWS) } else { 1_000 };
    let filter = arguments.iter().find(|argument| argument.parse::<usize>().is_err());
    let (accelerator, table) = (Accelerator::new().unwrap(), table());
    // Never freed, because a reader of chunks owns what it reads.
    let texts = texts(rows).map(|text| &*text.into_bytes().leak());
    println!("{:28}{:>24}{:>24}{:>22}", "ns per row", "job", "without cryptography", "ratio");
    for case in cases(&table, texts) {
        if filter.is_none_or(|filter| case.name.contains(filter)) {
            show(&case, &accelerator, &table, rows, if is_bench { TURNS } else { 1 });
        }
    }
}

fn show(case: &Case, accelerator: &Accelerator, table: &KeyTable, rows: usize, turns: usize) {
    let per_row = |began: ThreadTime| began.elapsed().as_nanos() as f64 / rows as f64;
    let mut output = Vec::with_capacity(4 * case.text.len());
    let mut turns: Vec<[f64; 3]> = (0..turns)
        .map(|_| {
            let began = ThreadTime::now();
            assert_eq!(run(case, accelerator, table, &mut output), rows as u64, "{}", case.name);
            let job = per_row(began);
            let began = ThreadTime::now();
            copy(case, &mut output);
            let peer = per_row(began);
            [job, peer, peer / job]
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

/// Runs a job on a whole text. Returns the number of rows that have a result.
fn run(case: &Case, accelerator: &Accelerator, table: &KeyTable, output: &mut Vec<u8>) -> u64 {
    output.clear();
    let mut reader = ChunkReader::new(Box::new(case.text), case.format);
    let plan = |chunk: &[u8]| {
        let planned = FilePlan::new(case.job.clone(), KeyNames::default(), case.format, chunk);
        Ok::<_, ChunkError>(planned.unwrap())
    };
    let (plan, _) = reader.look(plan).unwrap();
    let mut worker = ChunkWorker::new(&plan, accelerator, table);
    let (mut done, mut memory, mut rows) = (ChunkResult::default(), SecretBuffer::default(), 0);
    while let Some(chunk) = reader.next(memory).unwrap() {
        worker.run(chunk.rows(), &mut done).unwrap();
        output.extend_from_slice(&done.output);
        rows += done.rows - done.rejects.len() as u64;
        memory = chunk.into_buffer();
    }
    black_box(&output);
    rows
}

/// Reads and writes every field of a text.
fn copy(case: &Case, output: &mut Vec<u8>) {
    output.clear();
    let mut reader = ChunkReader::new(Box::new(case.text), case.format);
    let separator = if case.format == NDJSON { b':' } else { b',' };
    let (mut written, mut memory) = (SecretBuffer::default(), SecretBuffer::default());
    while let Some(chunk) = reader.next(memory).unwrap() {
        let mut rest = chunk.rows();
        written.clear();
        written.reserve(rest.len());
        while let Some(end) = memchr2(separator, b'\n', rest) {
            written.extend(&rest[..end]);
            written.push(rest[end]);
            rest = &rest[end + 1..];
        }
        output.extend_from_slice(&written);
        memory = chunk.into_buffer();
    }
    black_box(&output);
}

fn table() -> KeyTable {
    let table = KeyTable::new();
    for (name, key_type) in [("tdes", KeyType::Tdes2), ("aes", KeyType::Aes128), ("hmac", KeyType::Hmac)] {
        let secret: Vec<u8> = (0..key_type.key_len().unwrap_or(32) as u8).map(|byte| 8 * byte + 1).collect();
        table.insert(name, key_type, secret, KeyPolicy::any_data(key_type)).unwrap();
    }
    let policy = KeyPolicy::new()
        .allow([KeyOperation::Encrypt, KeyOperation::Decrypt])
        .with([KeyAlgorithm::Ff1])
        .ivs([IvRule::Random]);
    table.insert("tokens", KeyType::Aes256, vec![5; 32], policy).unwrap();
    table
}

/// Returns rows of CSV and of NDJSON with a value of 16 bytes in hexadecimal, and rows of CSV with 16 digits.
fn texts(rows: usize) -> [String; 3] {
    let (mut csv, mut json, mut digits) =
        ("id,pan,iv,key\n".to_owned(), String::new(), "id,pan,key\n".to_owned());
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 29
    };
    for id in 0..rows {
        let (high, low, iv, key) = (next(), next(), next(), next() % 1_024);
        writeln!(csv, "{id},{high:016x}{low:016x},{iv:016x},k{key}").unwrap();
        writeln!(json, "{{\"id\":{id},\"pan\":\"{high:016x}{low:016x}\",\"iv\":\"{iv:016x}\"}}").unwrap();
        writeln!(digits, "{id},{:016},k{key}", high % 10_000_000_000_000_000).unwrap();
    }
    [csv, json, digits]
}

fn cases(table: &KeyTable, [csv, json, digits]: [&'static [u8]; 3]) -> Vec<Case> {
    let key = |name: &str| KeyFrom::One(table.index(name).unwrap());
    let encrypt = |cipher, iv| RowOperation::Encrypt {
        cipher,
        iv,
        padding: Padding::None,
        aead: AeadColumns::new("tag", None),
    };
    let tdes = RowCipher::Cbc(BlockCipher::Tdes2);
    let given = || IvFrom::Column("iv".into());
    let case = |name, format, text, operation, key| Case {
        name,
        format,
        text,
        job: RecordJob::new(operation, "pan", key),
    };
    let gcm = encrypt(RowCipher::Aead(AeadAlg::Aes128Gcm), IvFrom::New("new_iv".into()));
    let code = RowOperation::Mac { alg: MacAlg::HmacSha256, len: 32 };
    let tokens = RowOperation::Tokenise {
        alg: FpeAlg::Aes256Ff1,
        format: TokenFormat::new(Alphabet::digits()),
        tweak: TweakFrom::One(b"cards.pan".to_vec()),
    };
    let mut tokenise = case("csv-tokens", FileFormat::CSV, digits, tokens, key("tokens"));
    tokenise.job.encoding = Encoding::Text;
    vec![
        case("csv-tdes2-cbc", FileFormat::CSV, csv, encrypt(tdes, given()), key("tdes")),
        case(
            "csv-tdes2-cbc-new-ivs",
            FileFormat::CSV,
            csv,
            encrypt(tdes, IvFrom::New("new_iv".into())),
            key("tdes"),
        ),
        case("csv-aes128-gcm-new-ivs", FileFormat::CSV, csv, gcm, key("aes")),
        case("csv-hmac-sha256", FileFormat::CSV, csv, code, key("hmac")),
        tokenise,
        case("ndjson-tdes2-cbc", NDJSON, json, encrypt(tdes, given()), key("tdes")),
    ]
}
