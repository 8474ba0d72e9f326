//! `oarlock records` with Arrow files as its users run it: round trips, kinds of columns, bad rows, bad files, peers.

use std::collections::HashMap;
use std::fs;
use std::io::{Cursor, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use crate::program::{code, command, oarlock, records_in, run_records_in, stderr};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, UInt32Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, DictionaryArray, FixedSizeBinaryArray, Int64Array,
    LargeBinaryArray, LargeStringArray, RecordBatch, RecordBatchWriter, StringArray, StringViewArray,
    new_null_array,
};
use arrow_ipc::CompressionType;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{DataType, Field, Schema};
use tempfile::TempDir;

const GCM: &str = "--column pan --cipher aes128-gcm --key-file key";
const SIV: &str = "--column pan --cipher aes128-siv --key-file wide";

/// A directory with keys and the files of a test.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        let wide = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
        for (name, hex) in [("key", &wide[..32]), ("other", &wide[32..]), ("wide", wide)] {
            fs::write(folder.path(name), hex).unwrap();
            fs::set_permissions(folder.path(name), fs::Permissions::from_mode(0o600)).unwrap();
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str, batches: &[RecordBatch]) {
        self.put_with(name, &batches[0].schema(), batches, IpcWriteOptions::default());
    }

    /// Writes a stream if the name ends in `.arrows`, and else a file.
    fn put_with(&self, name: &str, schema: &Schema, batches: &[RecordBatch], options: IpcWriteOptions) {
        fn write(mut writer: impl RecordBatchWriter, batches: &[RecordBatch]) {
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.close().unwrap();
        }
        let file = fs::File::create(self.path(name)).unwrap();
        match name.ends_with(".arrows") {
            true => write(StreamWriter::try_new_with_options(file, schema, options).unwrap(), batches),
            false => write(FileWriter::try_new_with_options(file, schema, options).unwrap(), batches),
        }
    }

    fn get(&self, name: &str) -> Vec<RecordBatch> {
        read(&fs::read(self.path(name)).unwrap())
    }

    /// Runs `oarlock records WORDS` in the directory.
    fn records(&self, words: &str) -> Output {
        records_in(self.0.path(), words)
    }

    fn ok(&self, words: &str) {
        run_records_in(self.0.path(), words);
    }

    /// Runs a command that must fail without an output, and returns its message.
    fn fails(&self, words: &str) -> String {
        let output = self.records(&format!("{words} -o out.arrow"));
        assert_eq!(code(&output), 2, "{words}: {}", stderr(&output));
        assert!(output.stdout.is_empty() && !self.path("out.arrow").exists(), "{words}");
        stderr(&output)
    }

    /// Runs a command with these bytes on stdin, and returns those on stdout.
    fn pipe(&self, words: &str, input: &[u8]) -> Vec<u8> {
        let words: Vec<&str> = ["records"].into_iter().chain(words.split(' ')).collect();
        let mut command = command(&words);
        command.current_dir(self.0.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        child.wait_with_output().unwrap().stdout
    }
}

fn read(bytes: &[u8]) -> Vec<RecordBatch> {
    match bytes.starts_with(b"ARROW1") {
        true => FileReader::try_new(Cursor::new(bytes), None).unwrap().map(Result::unwrap).collect(),
        false => StreamReader::try_new(Cursor::new(bytes), None).unwrap().map(Result::unwrap).collect(),
    }
}

fn pan(row: usize) -> Option<String> {
    (row % 7 != 3).then(|| format!("4111{:012}", row * 31))
}

/// Returns a batch with this column of values.
fn batch_of(values: ArrayRef) -> RecordBatch {
    let ids = Arc::new((0..values.len() as i64).map(Some).collect::<Int64Array>()) as ArrayRef;
    RecordBatch::try_from_iter_with_nullable([("id", ids, true), ("pan", values, true)]).unwrap()
}

/// Returns batches of card numbers, some of them null.
fn cards(rows: &[usize]) -> Vec<RecordBatch> {
    let batch = |rows: &usize| batch_of(Arc::new((0..*rows).map(pan).collect::<StringArray>()));
    rows.iter().map(batch).collect()
}

#[test]
fn files_and_streams_come_back_on_any_number_of_threads() {
    let folder = Folder::new();
    // Rows for three threads in the first batch.
    let batches = cards(&[25_000, 0, 11]);
    // A name that says nothing, too: the first bytes do.
    for name in ["in.arrow", "in.arrows", "in.feather", "in"] {
        folder.put(name, &batches);
        for threads in [1, 3] {
            folder.ok(&format!("encrypt {name} -o sealed.arrow {GCM} --threads {threads}"));
            let sealed = folder.get("sealed.arrow");
            assert_eq!(sealed.len(), batches.len());
            for (sealed, batch) in sealed.iter().zip(&batches) {
                assert_eq!(sealed.column(0), batch.column(0));
                assert_eq!(sealed.column(1).null_count(), batch.column(1).null_count());
                // IV, ciphertext and tag.
                let values = sealed.column(1).as_binary::<i32>();
                assert!(values.iter().flatten().all(|value| value.len() == 12 + 16 + 16));
            }
            let options = format!("{GCM} --encoding text --threads {threads}");
            folder.ok(&format!("decrypt sealed.arrow -o back.arrows {options}"));
            assert!(folder.get("back.arrows") == batches, "{name} on {threads} threads");
        }
    }
    let output = folder.records(&format!("--json encrypt in.arrow -o sealed.arrow {GCM}"));
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let counts = ["rows", "done", "rejected"].map(|name| summary[name].as_u64().unwrap());
    assert_eq!(counts, [25_011, 25_011, 0]);
    let len = |name: &str| fs::metadata(folder.path(name)).unwrap().len();
    assert_eq!(summary["bytes_in"].as_u64(), Some(len("in.arrow")));
    assert_eq!(summary["bytes_out"].as_u64(), Some(len("sealed.arrow")));
}

#[test]
fn stdin_and_stdout_carry_streams() {
    let folder = Folder::new();
    let batches = cards(&[5, 6]);
    folder.put("in.arrows", &batches);
    let sealed = folder.pipe(&format!("encrypt {GCM}"), &fs::read(folder.path("in.arrows")).unwrap());
    let opened = folder.pipe(&format!("decrypt --encoding text {GCM}"), &sealed);
    assert!(read(&opened) == batches);
    folder.put("in.arrow", &batches);
    let file = fs::read(folder.path("in.arrow")).unwrap();
    assert!(folder.pipe(&format!("encrypt --format arrow {GCM}"), &file).is_empty());
}

#[test]
fn results_are_those_of_the_same_rows_as_csv() {
    let folder = Folder::new();
    let rows: Vec<String> = (0..100).filter_map(pan).collect();
    folder.put("in.arrow", &[batch_of(Arc::new(StringArray::from(rows.clone())))]);
    fs::write(folder.path("in.csv"), format!("pan\n{}\n", rows.join("\n"))).unwrap();
    let column = |name: &str, index: usize| folder.get(name)[0].column(index).clone();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let lines = |name: &str| -> Vec<String> {
        fs::read_to_string(folder.path(name)).unwrap().lines().skip(1).map(str::to_owned).collect()
    };
    let both = |words: &str| {
        folder.ok(&format!("{words} --encoding text in.csv -o out.csv"));
        folder.ok(&format!("{words} in.arrow -o out.arrow"));
    };
    both("mac --column pan --mac aes128-cmac --key-file key --length 8");
    let codes = column("out.arrow", 2);
    let codes = codes.as_binary::<i32>().iter().flatten().map(hex);
    assert!(rows.iter().zip(codes).map(|(pan, code)| format!("{pan},{code}")).eq(lines("out.csv")));

    both("tokenise --column pan --cipher aes128-ff1 --key-file key --keep-first 4 --tweak cards.pan");
    assert!(column("out.arrow", 1).as_string::<i32>().iter().flatten().eq(lines("out.csv")));

    // Tag and ciphertext are two columns of a CSV, and one value of an Arrow file.
    both(&format!("encrypt {SIV}"));
    let sealed = column("out.arrow", 1);
    let sealed = sealed.as_binary::<i32>().iter().flatten();
    assert!(sealed.map(|value| format!("{},{}", hex(&value[16..]), hex(&value[..16]))).eq(lines("out.csv")));

    folder.ok(&format!("encrypt {GCM} --encoding text in.csv -o out.csv"));
    let bytes = |hex: &str| -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
    };
    let joined = lines("out.csv").into_iter().map(|line| {
        let [value, iv, tag] = line.split(',').map(bytes).collect::<Vec<_>>().try_into().unwrap();
        Some([iv, value, tag].concat())
    });
    folder.put("sealed.arrow", &[batch_of(Arc::new(joined.collect::<BinaryArray>()))]);
    folder.ok(&format!("decrypt sealed.arrow -o back.arrow {GCM} --encoding text"));
    assert!(folder.get("back.arrow") == folder.get("in.arrow"));
}

#[test]
fn every_kind_of_column_has_the_same_results() {
    let folder = Folder::new();
    let rows: Vec<Option<String>> = (0..60).map(|row| pan(row % 9)).collect();
    let (texts, bytes) =
        (|| rows.iter().map(Option::as_deref), || rows.iter().map(|row| row.as_deref().map(str::as_bytes)));
    let long = |row: &Option<String>| row.as_ref().map(|text| format!("a value beside the view {text}"));
    let fixed = FixedSizeBinaryArray::try_from_sparse_iter_with_size(bytes(), 16).unwrap();
    let sliced = texts().take(3).chain(texts()).collect::<StringArray>().slice(3, 60);
    let kinds: [(&str, ArrayRef); 9] = [
        ("string", Arc::new(texts().collect::<StringArray>())),
        ("binary", Arc::new(bytes().collect::<BinaryArray>())),
        ("sliced", Arc::new(sliced)),
        ("fixed", Arc::new(fixed)),
        ("large", Arc::new(texts().collect::<LargeStringArray>())),
        ("large binary", Arc::new(bytes().collect::<LargeBinaryArray>())),
        ("view", Arc::new(texts().collect::<StringViewArray>())),
        ("dictionary", Arc::new(texts().collect::<DictionaryArray<Int8Type>>())),
        ("wide dictionary", Arc::new(texts().collect::<DictionaryArray<UInt32Type>>())),
    ];
    let sealed_by = |values: &ArrayRef, name: &str, options| {
        let batch = batch_of(values.clone());
        folder.put_with(name, &batch.schema(), &[batch], options);
        folder.ok(&format!("encrypt {name} -o out.arrow {SIV}"));
        folder.get("out.arrow")[0].column(1).clone()
    };
    let expected = sealed_by(&kinds[0].1, "in.arrow", IpcWriteOptions::default());
    let expected: Vec<_> =
        expected.as_binary::<i32>().iter().map(|value| value.map(<[u8]>::to_vec)).collect();
    assert_eq!(expected.iter().flatten().count(), rows.iter().flatten().count());
    for (kind, values) in &kinds {
        for name in ["in.arrow", "in.arrows"] {
            for options in [IpcWriteOptions::default(), lz4()] {
                let found = sealed_by(values, name, options);
                let is_large = matches!(found.data_type(), DataType::LargeBinary);
                assert_eq!(is_large, kind.contains("large") || *kind == "view", "{kind}");
                let found: Vec<_> = match is_large {
                    true => found.as_binary::<i64>().iter().map(|value| value.map(<[u8]>::to_vec)).collect(),
                    false => found.as_binary::<i32>().iter().map(|value| value.map(<[u8]>::to_vec)).collect(),
                };
                assert_eq!(found, expected, "{kind} in {name}");
            }
        }
    }
    let longer: Vec<Option<String>> = rows.iter().map(long).collect();
    let views = Arc::new(longer.iter().map(Option::as_deref).collect::<BinaryViewArray>()) as ArrayRef;
    let texts = Arc::new(longer.iter().map(Option::as_deref).collect::<StringArray>()) as ArrayRef;
    let views = sealed_by(&views, "in.arrow", lz4());
    let texts = sealed_by(&texts, "in.arrow", lz4());
    assert!(views.as_binary::<i64>().iter().eq(texts.as_binary::<i32>().iter()));
    let nulls = sealed_by(&new_null_array(&DataType::Null, 60), "in.arrow", lz4());
    assert_eq!((nulls.len(), nulls.null_count()), (60, 60));
}

fn lz4() -> IpcWriteOptions {
    IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME)).unwrap()
}

#[test]
fn other_columns_and_metadata_stay() {
    let folder = Folder::new();
    let kinds = ["visa", "visa", "other"].map(Some);
    let grows = |kinds: &[&'static str]| -> ArrayRef {
        Arc::new(kinds.iter().copied().collect::<DictionaryArray<Int8Type>>())
    };
    let extension = [("ARROW:extension:name", "example.pan"), ("unit", "card")];
    let map = |pairs: &[(&str, &str)]| -> HashMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    };
    let pan = Field::new("pan", DataType::Utf8, true).with_metadata(map(&extension));
    let kind = Field::new("kind", grows(&[]).data_type().clone(), false);
    let metadata = map(&[("owner", "payments")]);
    let schema = Arc::new(Schema::new_with_metadata(vec![kind, pan], metadata.clone()));
    let values = Arc::new(StringArray::from(kinds.to_vec())) as ArrayRef;
    let batch = |kinds: &[&'static str]| {
        RecordBatch::try_new(schema.clone(), vec![grows(kinds), values.clone()]).unwrap()
    };
    // The second batch adds to the dictionary of the first, and the third has another one.
    let (first, second) = (batch(&["a", "b", "a"]), batch(&["a", "b", "c"]));
    folder.put("in.arrows", &[first.clone(), second.clone(), batch(&["x", "y", "x"])]);
    folder.ok(&format!("encrypt in.arrows -o out.arrows {SIV}"));
    let found = folder.get("out.arrows");
    assert_eq!(found[0].schema().metadata(), &metadata);
    assert_eq!(found[0].schema().field(1).metadata(), &map(&[("unit", "card")]));
    assert!(found[2].column(0) == &grows(&["x", "y", "x"]));
    let said = folder.fails(&format!("encrypt in.arrows {SIV}"));
    assert!(said.contains("in.arrows, batch 2: a file cannot replace the dictionary"), "{said}");
    folder.put("in.arrows", &[first, second]);
    folder.ok(&format!("encrypt in.arrows -o out.arrow {SIV} --into sealed"));
    let found = folder.get("out.arrow");
    assert!(found[1].column(0) == &grows(&["a", "b", "c"]) && found[1].column(1) == &values);
    assert_eq!(found[1].schema().field(2).name(), "sealed");

    let mut bytes = fs::File::create(folder.path("in.arrow")).unwrap();
    let mut writer = FileWriter::try_new(&mut bytes, &schema).unwrap();
    writer.write_metadata("footer", "kept");
    writer.finish().unwrap();
    let encrypted = folder.records(&format!("encrypt in.arrow -o out.arrow {SIV}"));
    assert_eq!(code(&encrypted), 0);
    assert_eq!(stderr(&encrypted), "oarlock: in.arrow: nothing was changed: the file has no rows\n");
    let reader = FileReader::try_new(fs::File::open(folder.path("out.arrow")).unwrap(), None).unwrap();
    assert_eq!(reader.num_batches(), 0);
    assert_eq!(reader.custom_metadata()["footer"], "kept");
    assert_eq!(reader.schema().field(1).data_type(), &DataType::Binary);
}

#[test]
fn translation_works_for_all_ciphers() {
    let folder = Folder::new();
    let batches = cards(&[20]);
    folder.put("in.arrow", &batches);
    for cipher in ["aes128-gcm", "aes128-cbc", "aes128-gcm-siv"] {
        let of = |key: &str| format!("--column pan --cipher {cipher} --key-file {key}");
        folder.ok(&format!("encrypt in.arrow -o sealed.arrow {}", of("key")));
        folder.ok(&format!("translate sealed.arrow -o moved.arrow {} --to-key-file other", of("key")));
        folder.ok(&format!("decrypt moved.arrow -o back.arrow {} --encoding text", of("other")));
        assert!(folder.get("back.arrow") == batches, "{cipher}");
    }
    let tokens = "--column pan --cipher aes128-ff1 --key-file key --tweak-column pan";
    let said = folder.records(&format!("tokenise in.arrow -o tokens.arrow {tokens} --into token"));
    assert_eq!(code(&said), 0, "{}", stderr(&said));
}

#[test]
fn bad_rows_are_left_out_and_listed() {
    let folder = Folder::new();
    folder.put("in.arrow", &cards(&[10, 10]));
    folder.ok(&format!("encrypt in.arrow -o sealed.arrow {GCM}"));
    let damaged = folder.get("sealed.arrow").into_iter().map(|batch| {
        let values = batch.column(1).as_binary::<i32>().iter().enumerate();
        let damage = |(row, value): (usize, Option<&[u8]>)| match row {
            4 => Some(b"short".to_vec()),
            5 => value.map(|value| [&value[1..], b"x"].concat()),
            _ => value.map(<[u8]>::to_vec),
        };
        let values: BinaryArray = values.map(damage).collect();
        RecordBatch::try_new(batch.schema(), vec![batch.column(0).clone(), Arc::new(values)]).unwrap()
    });
    folder.put("damaged.arrow", &damaged.collect::<Vec<_>>());
    let decrypt = format!("decrypt damaged.arrow -o back.arrow {GCM} --encoding text");
    let output = folder.records(&format!("{decrypt} --rejects rejects"));
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    assert!(stderr(&output).contains("4 of 20 rows rejected"), "{}", stderr(&output));
    let rejects = fs::read_to_string(folder.path("rejects")).unwrap();
    let lines: Vec<&str> = rejects.lines().collect();
    assert_eq!(lines[0], "row,reason");
    assert!(lines[1].starts_with("4,\"the value is too short, or"), "{rejects}");
    assert_eq!(lines[2], "5,\"the tag does not verify\"");
    assert!(lines[3].starts_with("14,") && lines[4].starts_with("15,") && lines.len() == 5, "{rejects}");
    let back = folder.get("back.arrow");
    let ids = back[1].column(0).as_primitive::<arrow_array::types::Int64Type>();
    assert_eq!(ids.values()[..], [0, 1, 2, 3, 6, 7, 8, 9]);
    assert_eq!(back[1].column(1).as_string::<i32>().value(4), pan(6).unwrap());

    let output = folder.records(&decrypt);
    assert!(stderr(&output).contains("row 5: the tag does not verify"), "{}", stderr(&output));
    // A key stream over other bytes is no text.
    let noise: Vec<Option<&[u8]>> = vec![Some(b"\xff\xfe"), Some(b"text")];
    folder.put("noise.arrow", &[batch_of(Arc::new(BinaryArray::from(noise)))]);
    folder.ok(&format!("encrypt noise.arrow -o sealed.arrow {GCM}"));
    let output = folder.records(&format!("decrypt sealed.arrow -o back.arrow {GCM} --encoding text"));
    assert!(stderr(&output).contains("row 0: the value is not UTF-8 text"), "{}", stderr(&output));
    assert_eq!(folder.get("back.arrow")[0].column(1).as_string::<i32>().value(0), "text");
}

#[test]
fn options_that_do_not_suit_arrow_are_refused() {
    let folder = Folder::new();
    folder.put("in.arrow", &cards(&[3]));
    for option in [
        "--iv-column other",
        "--tag-column other",
        "--iv key",
        "--iv column",
        "--padding none",
        "--encoding hex",
        "--encoding base64",
        "--delimiter ;",
        "--no-header",
        "--reject-rows --rejects rejects",
    ] {
        let said = folder.fails(&format!("encrypt in.arrow {GCM} {option}"));
        let name = option.split(' ').next().unwrap();
        assert!(said.contains(name) && said.contains("does not suit Arrow files"), "{option}: {said}");
    }
    let said = folder.fails(&format!("decrypt in.arrow {GCM} --drop-iv"));
    assert!(said.contains("--drop-iv does not suit Arrow files"), "{said}");
    let said = folder.fails("encrypt in.arrow --column name --cipher aes128-gcm --key-file key");
    assert!(said.contains("in.arrow: there is no column \"name\": expected one of id, pan"), "{said}");
    let said = folder.fails("encrypt in.arrow --column id --cipher aes128-gcm --key-file key");
    assert!(said.contains("in.arrow: the column has the type Int64: expected binary"), "{said}");
    let said = folder.fails(&format!("encrypt in.arrow {GCM} --aad-column id"));
    assert!(said.contains("the associated data has the type Int64"), "{said}");
    let twice = batch_of(Arc::new(StringArray::from(vec!["a"])));
    let field = Field::new("pan", DataType::Int64, true);
    let schema = Schema::new(vec![field, twice.schema().field(1).clone()]);
    folder.put("in.arrow", &[RecordBatch::try_new(Arc::new(schema), twice.columns().to_vec()).unwrap()]);
    let said = folder.fails(&format!("encrypt in.arrow {GCM}"));
    assert!(said.contains("in.arrow: there are 2 columns \"pan\": expected one"), "{said}");
}

#[test]
fn a_damaged_file_leaves_the_old_output_alone() {
    let folder = Folder::new();
    for name in ["in.arrow", "in.arrows"] {
        folder.put(name, &cards(&[300, 300]));
        let bytes = fs::read(folder.path(name)).unwrap();
        fs::write(folder.path("old"), "old").unwrap();
        for len in [0, 6, 100, bytes.len() / 4, bytes.len() - 30] {
            fs::write(folder.path("cut.arrow"), &bytes[..len]).unwrap();
            let output = folder.records(&format!("encrypt cut.arrow -o old {GCM}"));
            let said = stderr(&output);
            assert_eq!(code(&output), 2, "{len}: {said}");
            assert!(said.contains("cut.arrow") && !said.contains("panicked"), "{len}: {said}");
            assert_eq!(fs::read_to_string(folder.path("old")).unwrap(), "old");
        }
        fs::write(folder.path("cut.arrows"), &bytes[..bytes.len() - bytes.len() / 3]).unwrap();
        let said = folder.fails(&format!("encrypt cut.arrows {GCM}"));
        let batch_named = if name == "in.arrow" { "" } else { ", batch 1" };
        assert!(said.contains(&format!("cut.arrows{batch_named}: it is truncated")), "{said}");
    }
    let batches = cards(&[300]);
    folder.put_with("in.arrow", &batches[0].schema(), &batches, lz4());
    let mut bytes = fs::read(folder.path("in.arrow")).unwrap();
    let magic = bytes.windows(4).position(|window| window == [0x04, 0x22, 0x4d, 0x18]).unwrap();
    bytes[magic] ^= 1;
    fs::write(folder.path("in.arrow"), bytes).unwrap();
    let said = folder.fails(&format!("encrypt in.arrow {GCM}"));
    assert!(said.contains("in.arrow, batch 0: the lengths, positions and types in it"), "{said}");
    // A length before compression that no memory holds. Files are checked when they are opened.
    for (name, batch_named) in [("in.arrow", ""), ("in.arrows", ", batch 0")] {
        folder.put_with(name, &batches[0].schema(), &batches, lz4());
        let mut bytes = fs::read(folder.path(name)).unwrap();
        let magic = bytes.windows(4).position(|window| window == [0x04, 0x22, 0x4d, 0x18]).unwrap();
        bytes[magic - 8..magic].copy_from_slice(&(1_i64 << 60).to_le_bytes());
        fs::write(folder.path(name), bytes).unwrap();
        let said = folder.fails(&format!("encrypt {name} {GCM}"));
        assert!(
            said.contains(&format!("{name}{batch_named}: the lengths, positions and types in it")),
            "{said}"
        );
    }
    let said = folder.fails(&format!("encrypt key --format arrow {GCM}"));
    assert!(said.contains("key: expected Arrow IPC"), "{said}");
    let entries = fs::read_dir(folder.0.path()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.filter(|name| name.starts_with(".oarlock")).count(), 0);
}

#[test]
fn the_help_names_the_endings_of_arrow_files() {
    let output = oarlock(&["records", "encrypt", "--help"]);
    assert!(String::from_utf8(output.stdout).unwrap().contains(".feather"));
}

/// Returns the Python of the tests of the module `oarlock`, which has pyarrow. Prints SKIPPED if there is none.
fn python() -> Option<PathBuf> {
    // target/PROFILE/deps/TEST
    let target = std::env::current_exe().unwrap().ancestors().nth(3).unwrap().to_path_buf();
    let python = target.join("python/venv/bin/python");
    let asked = Command::new(&python).args(["-c", "import pyarrow"]).stderr(Stdio::null()).status();
    if asked.is_ok_and(|status| status.success()) {
        return Some(python);
    }
    println!("SKIPPED: no pyarrow in {}: the tests of plugins/python install it", python.display());
    None
}

#[test]
fn pyarrow_reads_and_writes_the_same_files() {
    let Some(python) = python() else { return };
    let folder = Folder::new();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peer/arrow_files.py");
    let mut command = Command::new(python);
    command.arg(script).arg(env!("CARGO_BIN_EXE_oarlock")).current_dir(folder.0.path());
    let output = command.env("XDG_CACHE_HOME", folder.0.path()).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "50 files came back\n");
}
