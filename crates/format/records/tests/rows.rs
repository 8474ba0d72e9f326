//! Tests of whole files on the scalar engine: results, unchanged bytes and rejected rows.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::sync::LazyLock;

use oarlock::Accelerator;
use oarlock::{AeadAlg, BlockCipher, FpeAlg, MacAlg};
use oarlock_keytable::{Alphabet, KeyPolicy, KeyTable, KeyType, TokenFormat};
use oarlock_records::{
    AeadColumns, ChunkResult, ChunkWorker, Encoding, FileFormat, FilePlan, IvFrom, KeyFrom, KeyNames,
    Padding, PlanError, RecordJob, RowCipher, RowFileFault, RowOperation, SecretBuffer, TweakFrom,
};

static ACCELERATOR: LazyLock<Accelerator> =
    LazyLock::new(|| Accelerator::builder().engines(["scalar"]).lazy().build().unwrap());

/// Runs a file. Returns the output and the file of rejected rows.
fn run(job: &RecordJob, format: FileFormat, table: &KeyTable, file: &str) -> (String, String) {
    let (plan, header) = FilePlan::new(job.clone(), KeyNames::default(), format, file.as_bytes()).unwrap();
    let mut done = ChunkResult::default();
    ChunkWorker::new(&plan, &ACCELERATOR, table).run(&file.as_bytes()[header..], &mut done).unwrap();
    let (mut output, mut rejects) = (SecretBuffer::default(), SecretBuffer::default());
    output.extend(plan.head());
    output.extend(&done.output);
    done.rejects.iter().for_each(|reject| plan.push_reject(2, reject, &mut rejects));
    assert_eq!(done.lines, file.as_bytes()[header..].iter().filter(|byte| **byte == b'\n').count() as u64);
    let text = |buffer: SecretBuffer| String::from_utf8(buffer.to_vec()).unwrap();
    (text(output), text(rejects))
}

fn table(key_type: KeyType, hex: &str) -> KeyTable {
    let mut key = SecretBuffer::default();
    Encoding::Hex.decode(hex.as_bytes(), &mut key).unwrap();
    let table = KeyTable::new();
    table.insert("key", key_type, &key[..], KeyPolicy::any_data(key_type)).unwrap();
    table
}

fn job(operation: RowOperation) -> RecordJob {
    RecordJob::new(operation, "v", KeyFrom::One(0))
}

fn with(mut job: RecordJob, change: impl FnOnce(&mut RecordJob)) -> RecordJob {
    change(&mut job);
    job
}

fn column(name: &str) -> IvFrom {
    IvFrom::Column(name.into())
}

fn encrypt(cipher: RowCipher, iv: IvFrom, padding: Padding) -> RecordJob {
    job(RowOperation::Encrypt { cipher, iv, padding, aead: aead() })
}

fn decrypt(cipher: RowCipher, iv: IvFrom, padding: Padding) -> RecordJob {
    job(RowOperation::Decrypt { cipher, iv, padding, aead: aead() })
}

fn aead() -> AeadColumns {
    AeadColumns::new("tag", None)
}

const AES128: RowCipher = RowCipher::Cbc(BlockCipher::Aes128);
const NIST_KEY: &str = "2b7e151628aed2a6abf7158809cf4f3c";

/// SP 800-38A F.2.1 and F.2.2.
#[test]
fn the_vectors_of_cbc_in_both_formats() {
    let table = table(KeyType::Aes128, NIST_KEY);
    let (iv, plain) = ("000102030405060708090a0b0c0d0e0f", "6bc1bee22e409f96e93d7e117393172a");
    let cipher = "7649abac8119b246cee98e9b12e9197d";
    type File<'f> = &'f dyn Fn(&str) -> String;
    let forms: [(FileFormat, File<'_>); 2] = [
        (FileFormat::CSV, &|v| format!("id,v,iv\n\"a,\"\"b\",{v},{iv}\r\n")),
        (FileFormat::Ndjson, &|v| format!("{{ \"id\" : [1, {{}}], \"v\":\"{v}\",\"iv\": \"{iv}\" }}\r\n")),
    ];
    for (format, file) in forms {
        let encrypted = run(&encrypt(AES128, column("iv"), Padding::None), format, &table, &file(plain));
        assert_eq!(encrypted, (file(cipher), String::new()), "all else keeps its bytes");
        let decrypted = run(&decrypt(AES128, column("iv"), Padding::None), format, &table, &file(cipher));
        assert_eq!(decrypted, (file(plain), String::new()));
    }
}

/// McGrew and Viega, The Galois/Counter Mode of Operation, appendix B, test case 2.
#[test]
fn the_vector_of_gcm_and_tags_that_do_not_verify() {
    let table = table(KeyType::Aes128, "00000000000000000000000000000000");
    let (zeros, iv) = ("00000000000000000000000000000000", "000000000000000000000000");
    let (sealed, tag) = ("0388dace60b6a392f328c2b971b2fe78", "ab6e47d42cec13bdf53a67b21257bddf");
    let cipher = RowCipher::Aead(AeadAlg::Aes128Gcm);
    let done = run(
        &encrypt(cipher, column("iv"), Padding::None),
        FileFormat::CSV,
        &table,
        &format!("v,iv\n{zeros},{iv}\n"),
    );
    assert_eq!(done.0, format!("v,iv,tag\n{sealed},{iv},{tag}\n"));
    let damaged = tag.replace("ab6e", "ab6f");
    let file = format!("v,iv,tag\n{sealed},{iv},{damaged}\n{sealed},{iv},{tag}\n{sealed},{iv},{tag}00\n");
    let done = run(&decrypt(cipher, column("iv"), Padding::None), FileFormat::CSV, &table, &file);
    assert_eq!(done.0, format!("v,iv,tag\n{zeros},{iv},{tag}\n"));
    let rejects: Vec<&str> = done.1.lines().collect();
    assert!(rejects[0].starts_with("2,\"verification failed"), "{rejects:?}");
    assert!(rejects[1].starts_with("4,\"a length does not fit"), "{rejects:?}");
}

/// RFC 4493 section 4, and RFC 4231 4.2.
#[test]
fn the_vectors_of_macs() {
    let mac = |alg, len| with(job(RowOperation::Mac { alg, len }), |job| job.into = Some("mac".into()));
    let aes = table(KeyType::Aes128, NIST_KEY);
    let file = "v\n\n6bc1bee22e409f96e93d7e117393172a\n";
    let done = run(&mac(MacAlg::Aes128Cmac, 16), FileFormat::CSV, &aes, file);
    assert_eq!(
        done.0,
        "v,mac\n,bb1d6929e95937287fa37d129b756746\n\
         6bc1bee22e409f96e93d7e117393172a,070a16b46b4d4144f79bdd9dd04a287c\n"
    );
    let hmac = table(KeyType::Hmac, &"0b".repeat(20));
    let done = run(&mac(MacAlg::HmacSha256, 8), FileFormat::Ndjson, &hmac, "{\"v\":\"4869205468657265\"}");
    assert_eq!(done.0, "{\"v\":\"4869205468657265\",\"mac\":\"b0344c61d8db3853\"}");
}

#[test]
fn new_ivs_are_written_and_padded_values_come_back() {
    let table = table(KeyType::Tdes2, "0123456789abcdeffedcba9876543210");
    let cipher = RowCipher::Cbc(BlockCipher::Tdes2);
    let files = [
        (FileFormat::CSV, "v,iv\n,\n00,\n\"0011223344556677\",old\n"),
        (FileFormat::CSV, "n,v\n1,\n2,00\n3,001122334455667788\n"),
        (
            FileFormat::Ndjson,
            "{\"v\":\"\"}\n{\"iv\":null,\"v\":\"00\"}\n{\"v\":\"\\u0030\\u0031\",\"iv\":\"\"}\n",
        ),
    ];
    for (format, file) in files {
        for encoding in Encoding::ALL {
            let file = match encoding {
                Encoding::Hex | Encoding::Text => file.to_owned(),
                Encoding::Base64 => file
                    .replace("001122334455667788", "ABEiM0RVZneI")
                    .replace("0011223344556677", "ABEiM0RVZnc=")
                    .replace("00\n", "AA==\n")
                    .replace("00\"", "AA==\"")
                    .replace("00,", "AA==,")
                    .replace("\\u0030\\u0031", "\\u0041Q=="),
            };
            let encoded = |job| with(job, |job| job.encoding = encoding);
            let new = encoded(encrypt(cipher, IvFrom::New("iv".into()), Padding::Pkcs7));
            let (encrypted, rejects) = run(&new, format, &table, &file);
            assert_eq!((encrypted.lines().count(), rejects.as_str()), (file.lines().count(), ""));
            assert_ne!(run(&new, format, &table, &file).0, encrypted, "IVs are random");
            let old = encoded(decrypt(cipher, column("iv"), Padding::Pkcs7));
            let (decrypted, rejects) = run(&old, format, &table, &encrypted);
            assert_eq!(rejects, "");
            assert_eq!(
                values(format, &decrypted),
                values(format, &file.replace("\\u0041", "A").replace("\\u0030\\u0031", "01"))
            );
        }
    }
}

/// The column `v` of each row.
fn values(format: FileFormat, file: &str) -> Vec<String> {
    if format == FileFormat::Ndjson {
        let value = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["v"].clone();
        return file.lines().map(|line| value(line).as_str().unwrap().to_owned()).collect();
    }
    let index = file.lines().next().unwrap().split(',').position(|name| name == "v").unwrap();
    file.lines().map(|line| line.split(',').nth(index).unwrap().to_owned()).collect()
}

#[test]
fn translation_changes_key_and_iv() {
    let table = table(KeyType::Tdes2, "0123456789abcdeffedcba9876543210");
    let aes = KeyType::Aes128;
    table.insert("other", aes, &[7; 16][..], KeyPolicy::any_data(aes)).unwrap();
    let tdes = RowCipher::Cbc(BlockCipher::Tdes2);
    let file = "v,iv\n00112233445566778899aabbccddeeff,0000000000000001\n00112233445566778899aabbccddee,0000000000000001\n";
    let (encrypted, rejects) =
        run(&encrypt(tdes, column("iv"), Padding::Pkcs7), FileFormat::CSV, &table, file);
    assert_eq!(rejects, "");
    let translate = job(RowOperation::Translate {
        from: BlockCipher::Tdes2,
        iv: column("iv"),
        to: BlockCipher::Aes128,
        to_key: KeyFrom::One(1),
        to_iv: IvFrom::New("iv".into()),
    });
    let (translated, rejects) = run(&translate, FileFormat::CSV, &table, &encrypted);
    // 24 bytes are whole blocks of DES, not of AES.
    assert!(rejects.starts_with("2,") && rejects.contains("a multiple of 16 bytes"), "{rejects}");
    let back = with(decrypt(AES128, column("iv"), Padding::None), |job| job.key = KeyFrom::One(1));
    let (plain, _) = run(&back, FileFormat::CSV, &table, &translated);
    assert!(plain.lines().nth(1).unwrap().starts_with("00112233445566778899aabbccddee01,"), "{plain}");
    assert_ne!(translated.lines().nth(1), encrypted.lines().nth(2));
}

#[test]
fn one_bad_row_fails_alone_and_says_why_without_its_content() {
    let table = table(KeyType::Aes128, NIST_KEY);
    let secret = "6bc1bee22e409f96e93d7e117393172a";
    let csv = format!(
        "id,v\n1,{secret}\n2\n3,{secret}00\n4,{secret}x\n\"5\"x,{secret}\n\"6\n\",{secret}\n7,{secret},7\n8,\"{}\n{secret}\"\n9,{secret}\n",
        &secret[..6]
    );
    let job = encrypt(AES128, IvFrom::Zero, Padding::None);
    let (output, rejects) = run(&job, FileFormat::CSV, &table, &csv);
    let ids: Vec<&str> = output.lines().map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(ids, ["id", "1", "\"6", "\"", "9"]);
    let expected = [
        "3,\"expected 2 columns, found 1\"",
        "4,\"a length does not fit: input, IV, tag or place of the output; expected a multiple of 16 bytes, an IV of 16\"",
        "5,\"\"\"v\"\" is not in the encoding of the file\"",
        "6,\"something follows a closing quote\"",
        "9,\"expected 2 columns, found 3\"",
        "10,\"\"\"v\"\" is not in the encoding of the file\"",
    ];
    assert_eq!(rejects.lines().collect::<Vec<_>>(), expected);

    let lines = [
        format!("{{\"v\":\"{secret}\"}}"),
        format!("{{\"v\":\"{secret}\""),
        format!("[\"{secret}\"]"),
        format!("{{\"w\":\"{secret}\"}}"),
        format!("{{\"v\":\"{secret}\",\"v\":\"{secret}\"}}"),
        format!("{{\"v\":[\"{secret}\"]}}"),
        format!("{{\"v\":\"{secret}\"}} {secret}"),
        " ".into(),
        "{\"v\":\"6b\\u000zc1\"}".into(),
        format!("{{\"v\":\"{secret}\",\"\\u0076\":1}}"),
    ];
    let (output, rejects) = run(&job, FileFormat::Ndjson, &table, &(lines.join("\n") + "\n"));
    assert_eq!(output.lines().count(), 1);
    assert!(!rejects.contains(&secret[..6]), "{rejects}");
    let lines: Vec<serde_json::Value> =
        rejects.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        lines.iter().map(|line| line["line"].as_u64().unwrap()).collect::<Vec<_>>(),
        (3..=11).collect::<Vec<_>>()
    );
    let said =
        ["not one JSON", "not one JSON", "no field \"v\"", "two fields", "is not a string", "not one JSON"];
    for (line, said) in lines.iter().zip(said) {
        assert!(line["reason"].as_str().unwrap().contains(said), "{line}");
    }
}

#[test]
fn wrong_padding_is_one_reason_and_gives_nothing() {
    let table = table(KeyType::Aes128, NIST_KEY);
    let plain = |last: &str| format!("v\n{}{last}\n", "11".repeat(14));
    for last in ["1100", "1111", "0102", "11ff", "0203"] {
        let (encrypted, _) =
            run(&encrypt(AES128, IvFrom::Zero, Padding::None), FileFormat::CSV, &table, &plain(last));
        let (output, rejects) =
            run(&decrypt(AES128, IvFrom::Zero, Padding::Pkcs7), FileFormat::CSV, &table, &encrypted);
        assert_eq!(output, "v\n");
        assert!(rejects.starts_with("2,\"no padding: "), "{rejects}");
    }
    let (_, rejects) = run(&decrypt(AES128, IvFrom::Zero, Padding::Pkcs7), FileFormat::CSV, &table, "v\n\n");
    assert!(rejects.starts_with("2,\"no padding: "), "{rejects}");
}

#[test]
fn the_end_of_a_file_tells_truncation() {
    let table = table(KeyType::Aes128, NIST_KEY);
    let job = encrypt(AES128, IvFrom::Zero, Padding::None);
    let value = "6bc1bee22e409f96e93d7e117393172a";
    let is_truncated = |format, file: &str| {
        let (plan, header) =
            FilePlan::new(job.clone(), KeyNames::default(), format, file.as_bytes()).unwrap();
        let mut done = ChunkResult::default();
        ChunkWorker::new(&plan, &ACCELERATOR, &table).run(&file.as_bytes()[header..], &mut done).unwrap();
        done.file_fault == Some(RowFileFault::Truncated)
    };
    let csv = format!("id,v\n1,{value}\n2,{value}");
    assert!(!is_truncated(FileFormat::CSV, &csv) && !is_truncated(FileFormat::CSV, &format!("{csv}\n")));
    for len in "id,v\n1,".len() + value.len() + 2..csv.len() {
        assert!(is_truncated(FileFormat::CSV, &csv[..len]) || csv[..len].ends_with(','), "{:?}", &csv[..len]);
    }
    assert!(
        is_truncated(FileFormat::CSV, "id,v\n1,\"6b")
            && is_truncated(FileFormat::CSV, "id,v\n1,\"6b\n2,00\n")
    );
    let json = format!("{{\"v\":\"{value}\"}}");
    for len in 1..json.len() {
        assert!(is_truncated(FileFormat::Ndjson, &json[..len]));
    }
    assert!(
        !is_truncated(FileFormat::Ndjson, &json)
            && !is_truncated(FileFormat::Ndjson, &(json[..9].to_owned() + "\n"))
    );
}

#[test]
fn columns_that_are_not_there_or_twice_are_told_at_once() {
    let fault = |job: &RecordJob, format, file: &str| {
        FilePlan::new(job.clone(), KeyNames::default(), format, file.as_bytes()).unwrap_err()
    };
    let zero = encrypt(AES128, IvFrom::Zero, Padding::None);
    let numbered = FileFormat::Csv { delimiter: b';', has_header: false };
    let cases = [
        (fault(&zero, FileFormat::CSV, ""), "the file is empty"),
        (fault(&zero, FileFormat::CSV, "\u{feff}"), "the file is empty"),
        (fault(&zero, FileFormat::CSV, "a,b\n"), "no column \"v\": the file has \"a\", \"b\""),
        (fault(&zero, FileFormat::CSV, "v,v\n"), "two columns are named \"v\""),
        (fault(&zero, FileFormat::CSV, "\"v\"x\n"), "something follows a closing quote"),
        (fault(&zero, numbered, "a;b\n"), "no column \"v\": the file has \"1\", \"2\""),
        (
            fault(
                &with(encrypt(AES128, IvFrom::New("iv".into()), Padding::None), |job| {
                    job.into = Some("iv".into());
                }),
                FileFormat::CSV,
                "v\n",
            ),
            "two results",
        ),
        (
            fault(
                &encrypt(RowCipher::Aead(AeadAlg::Aes128Gcm), IvFrom::Zero, Padding::None),
                FileFormat::CSV,
                "v\n",
            ),
            "another IV",
        ),
        (
            fault(
                &encrypt(RowCipher::Aead(AeadAlg::Aes128Gcm), column("iv"), Padding::Pkcs7),
                FileFormat::CSV,
                "v\n",
            ),
            "padding is for CBC only",
        ),
        (
            fault(&decrypt(AES128, IvFrom::New("iv".into()), Padding::None), FileFormat::CSV, "v\n"),
            "cannot make its IV",
        ),
        (
            fault(&job(RowOperation::Mac { alg: MacAlg::HmacSha1, len: 21 }), FileFormat::CSV, "v\n"),
            "a MAC of hmac-sha1 has 4 to 20 bytes, found 21",
        ),
    ];
    for (error, said) in cases {
        assert!(error.to_string().contains(said), "{error}");
    }
    let numbered_job = with(zero, |job| job.value = "2".into());
    let plan = FilePlan::new(numbered_job, KeyNames::default(), numbered, b"a;b\n");
    assert!(matches!(plan, Ok((plan, 0)) if plan.head().is_empty()));
    assert!(matches!(PlanError::NoHeader.to_string().as_str(), "the file is empty: expected a header"));
}

/// Files with quotes, empty fields, both ends of lines and every kind of letter come back byte for byte.
#[test]
fn text_comes_back_byte_for_byte() {
    let table = table(KeyType::Aes128, NIST_KEY);
    let csv = [
        "n,v\n1,4111111111111111\n2,378282246310005\n3,\"a, \"\"b\"\"\"\n4,Zoë 🦀\n5,\n6,\"\"\n7,\"\"\"\"\n8,a\"b\n9,\"a\nb\"\n",
        "v,n\r\n\r\n4111111111111111,\"1\"\r\n\"a\r\nb\",2\r\n\r\n\r\n\"a\rb\",3\r\n,4\r\n\r\n",
        "\u{feff}\n\nv,n\n\n",
        "\u{feff}v\n1\n\"2\"\n",
    ];
    for (cipher, padding) in
        [(AES128, Padding::Pkcs7), (RowCipher::Aead(oarlock::AeadAlg::Aes128Gcm), Padding::None)]
    {
        let textual = |job| with(job, |job| (job.encoding, job.drops_ivs) = (Encoding::Text, true));
        let seal = textual(encrypt(cipher, IvFrom::New("iv".into()), padding));
        let open = textual(decrypt(cipher, column("iv"), padding));
        for file in csv {
            let (sealed, rejects) = run(&seal, FileFormat::CSV, &table, file);
            assert_eq!(rejects, "");
            let head = sealed.lines().find(|line| line.contains('v'));
            assert!(head.unwrap().contains("iv") && !sealed.contains("4111111111111111"));
            assert_eq!(run(&open, FileFormat::CSV, &table, &sealed), (file.to_owned(), String::new()));
        }
        let json = "{\"n\": 1, \"v\" : \"4111 \u{e9}\\\"\"}\n{\"v\":\"\",\"n\":[\"x\"]}\r\n";
        let (sealed, rejects) = run(&seal, FileFormat::Ndjson, &table, json);
        assert_eq!(rejects, "");
        assert_eq!(run(&open, FileFormat::Ndjson, &table, &sealed), (json.to_owned(), String::new()));
    }
}

/// A line end that is not read would hide rows. Inside of quotes and strings it is text.
#[test]
fn other_line_ends_than_lf_and_crlf_are_faults_of_the_file() {
    let table = table(KeyType::Aes128, NIST_KEY);
    let job = with(encrypt(AES128, IvFrom::Zero, Padding::Pkcs7), |job| job.encoding = Encoding::Text);
    let run = |format, file: &str| -> Result<Option<(u64, String)>, PlanError> {
        let (plan, header) = FilePlan::new(job.clone(), KeyNames::default(), format, file.as_bytes())?;
        let mut done = ChunkResult::default();
        ChunkWorker::new(&plan, &ACCELERATOR, &table).run(&file.as_bytes()[header..], &mut done).unwrap();
        assert!(done.file_fault.is_none() || (done.output.is_empty() && done.rows == 0), "{file:?}");
        let fault = done.file_fault.filter(|fault| *fault == RowFileFault::LineEnd);
        Ok(fault.map(|_| (done.rejects[0].line, plan.reason(&done.rejects[0]))))
    };
    let numbered = FileFormat::Csv { delimiter: b',', has_header: false };
    for file in ["v,n\r1,2\r", "n,v\r1,2\r", "v\u{85}1\u{85}", "v,n\r1,2\n", "\u{feff}v\r\r\n1\n", "v\r"] {
        for format in [FileFormat::CSV, numbered] {
            let error = run(format, file).unwrap_err();
            assert!(matches!(error, PlanError::Text(_)), "{file:?}: {error}");
            assert!(error.to_string().starts_with("line 1 ends with "), "{error}");
        }
    }
    for (format, file, line) in [
        (FileFormat::CSV, "v,n\n1,2\n3,4\r5,6\n", 1),
        (FileFormat::CSV, "v,n\n1,2\r\n3,4\r", 1),
        (FileFormat::CSV, "v,n\n\"1\"\u{85}\"2\",3\n", 0),
        (FileFormat::CSV, "v,n\n\"a\nb\",2\r\r\n", 1),
        (FileFormat::Ndjson, "{\"v\":\"1\"}\r{\"v\":\"2\"}\r", 0),
        (FileFormat::Ndjson, "{\"v\":\"1\"}\n{\"v\":\"2\"}\u{85}{\"v\":\"3\"}\n", 1),
        (FileFormat::Ndjson, "{\"v\":\"\\\"\"}\u{85}\n", 0),
    ] {
        let (found, reason) = run(format, file).unwrap().unwrap();
        assert_eq!(found, line, "{file:?}");
        assert!(reason.starts_with("the line ends with ") && reason.ends_with(" converts it"), "{reason}");
    }
    for (format, file) in [
        (FileFormat::CSV, "\"v\",\"a\rb\"\r\n\"1\u{85}\",\"\r\"\r\n"),
        (FileFormat::Ndjson, "{\"v\":\"1\u{85}\\\"\u{85}\"}\r\n{\"v\":\"\u{85}\"}"),
    ] {
        assert_eq!(run(format, file), Ok(None), "{file:?}");
    }
    for header in ["v,a\u{2028}b\n", "v,a\0b\n", "v,a\u{b}b\n", "v,a\u{1e}b\n"] {
        let error = run(FileFormat::CSV, header).unwrap_err().to_string();
        assert!(
            error.starts_with("malformed header: the name of column 2 contains the character U+"),
            "{error}"
        );
    }
    let latin = FilePlan::new(job.clone(), KeyNames::default(), FileFormat::CSV, b"v,n\x851,2\x85");
    assert!(latin.unwrap_err().to_string().ends_with("contains the byte 85: expected text without it"));
    for utf16 in [&b"\xFF\xFEv\0\n\0"[..], b"v\0\n\0", b"\0{\0\""] {
        for format in [FileFormat::CSV, FileFormat::Ndjson] {
            let error = FilePlan::new(job.clone(), KeyNames::default(), format, utf16).unwrap_err();
            assert!(error.to_string().starts_with("text in UTF-16: `iconv"), "{error}");
        }
    }
}

#[test]
fn empty_lines_are_copied_if_a_row_has_more_than_one_value() {
    let table = table(KeyType::Aes128, NIST_KEY);
    let (iv, value) = ("000102030405060708090a0b0c0d0e0f", "6bc1bee22e409f96e93d7e117393172a");
    let job = encrypt(AES128, column("iv"), Padding::None);
    let sealed = "7649abac8119b246cee98e9b12e9197d";
    let rows = |value: &str| format!("\n\r\nv,iv\n\n{value},{iv}\n\n\r\n{value},{iv}\n\n");
    assert_eq!(run(&job, FileFormat::CSV, &table, &rows(value)), (rows(sealed), String::new()));
    // A rejected row takes no empty line with it.
    let (output, rejects) = run(&job, FileFormat::CSV, &table, &format!("v,iv\n\n1\n\n{value},{iv}\n"));
    assert_eq!(output, format!("v,iv\n\n\n{sealed},{iv}\n"));
    assert!(rejects.starts_with("3,\"expected 2 columns, found 1\""), "{rejects}");
    let (output, _) = run(&job, FileFormat::CSV, &table, "v,iv\n1\n\n\n");
    assert_eq!(output, "v,iv\n\n\n");
    let rows = |value: &str| format!("\n{{\"v\":\"{value}\",\"iv\":\"{iv}\"}}\n\r\n\n");
    assert_eq!(run(&job, FileFormat::Ndjson, &table, &rows(value)), (rows(sealed), String::new()));
}

/// Columns of IVs and tags may stand anywhere, and are left out with their commas.
#[test]
fn columns_are_left_out_wherever_they_stand() {
    let table = table(KeyType::Aes128, NIST_KEY);
    let (iv, value) = ("000102030405060708090a0b0c0d0e0f", "7649abac8119b246cee98e9b12e9197d");
    let plain = "6bc1bee22e409f96e93d7e117393172a";
    let open = with(decrypt(AES128, column("iv"), Padding::None), |job| job.drops_ivs = true);
    for (format, file, expected) in [
        (
            FileFormat::CSV,
            format!("iv,v\n{iv},{value}\n\"{iv}\",{value}\n"),
            format!("v\n{plain}\n{plain}\n"),
        ),
        (FileFormat::CSV, format!("n,iv,v\n1,\"{iv}\",{value}\n"), format!("n,v\n1,{plain}\n")),
        (
            FileFormat::Ndjson,
            format!("{{ \"iv\" : \"{iv}\" , \"v\":\"{value}\"}}\n"),
            format!("{{ \"v\":\"{plain}\"}}\n"),
        ),
        (
            FileFormat::Ndjson,
            format!("{{\"a\\\"b\":1, \"iv\":\"{iv}\", \"v\":\"{value}\"}}\n"),
            format!("{{\"a\\\"b\":1, \"v\":\"{plain}\"}}\n"),
        ),
    ] {
        assert_eq!(run(&open, format, &table, &file), (expected, String::new()));
    }
}

fn tokens(format: TokenFormat, tweak: TweakFrom, is_back: bool) -> RecordJob {
    let alg = FpeAlg::Aes128Ff1;
    job(match is_back {
        false => RowOperation::Tokenise { alg, format, tweak },
        true => RowOperation::Detokenise { alg, format, tweak },
    })
}

/// The samples 1 to 3 of NIST for FF1.
#[test]
fn the_samples_of_tokens_in_both_formats() {
    let table = table(KeyType::Aes128, "2b7e151628aed2a6abf7158809cf4f3c");
    let lower_alphanumeric = "chars:0123456789abcdefghijklmnopqrstuvwxyz";
    for (alphabet, tweak, value, token) in [
        ("digits", "", "0123456789", "2433477484"),
        ("digits", "9876543210", "0123456789", "6124200773"),
        (lower_alphanumeric, "7777pqrs777", "0123456789abcdefghi", "a9tv40mll9kdu509eum"),
    ] {
        let format = TokenFormat::new(alphabet.parse().unwrap());
        let one = TweakFrom::One(tweak.as_bytes().to_vec());
        let csv = |v: &str| format!("id,v,t\n1,{v},{tweak}\n2,\"{v}\",{tweak}\n");
        let json = |v: &str| format!("{{\"v\":\"{v}\",\"t\":\"{tweak}\",\"n\":1}}\n");
        for tweak in [one, TweakFrom::Column("t".into())] {
            for (is_back, from, to) in [(false, value, token), (true, token, value)] {
                let job = tokens(format.clone(), tweak.clone(), is_back);
                assert_eq!(run(&job, FileFormat::CSV, &table, &csv(from)), (csv(to), String::new()));
                assert_eq!(run(&job, FileFormat::Ndjson, &table, &json(from)), (json(to), String::new()));
            }
        }
    }
}

#[test]
fn values_of_another_format_are_rejected_with_the_reason() {
    let table = table(KeyType::Aes128, NIST_KEY);
    let format = TokenFormat::new(Alphabet::digits()).keep_first(6).with_luhn().unwrap();
    let job = tokens(format.clone(), TweakFrom::One(Vec::new()), false);
    let file = "v\n4111111111111111\n411111111111111x\n4111111111111112\n411111111111\n5555555555554444\n";
    let (done, rejects) = run(&job, FileFormat::CSV, &table, file);
    let lines: Vec<&str> = rejects.lines().collect();
    assert!(lines[0].starts_with("3,\"character 16 is not in the alphabet"), "{rejects}");
    assert!(lines[1].starts_with("4,\"the digits have no valid check sum"), "{rejects}");
    assert!(lines[2].starts_with("5,\"12 characters: expected 13 or more"), "{rejects}");
    assert_eq!(lines.len(), 3);
    let tokens_of: Vec<&str> = done.lines().skip(1).collect();
    assert!(tokens_of[0].starts_with("411111") && tokens_of[1].starts_with("555555"), "{done}");
    let back = tokens(format, TweakFrom::One(Vec::new()), true);
    let restored = run(&back, FileFormat::CSV, &table, &done).0;
    assert_eq!(restored, "v\n4111111111111111\n5555555555554444\n");
    // The token of one tweak is no token of another.
    let other = tokens(TokenFormat::new(Alphabet::digits()), TweakFrom::One(b"other".to_vec()), false);
    let plain = tokens(TokenFormat::new(Alphabet::digits()), TweakFrom::One(Vec::new()), false);
    let of = |job: &RecordJob| run(job, FileFormat::CSV, &table, "v\n4111111111111111\n").0;
    assert_ne!(of(&other), of(&plain));
}

#[test]
fn equal_values_join_under_siv() {
    let table = table(KeyType::Aes128Siv, "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
    let cipher = RowCipher::Aead(AeadAlg::Aes128Siv);
    let aad = || AeadColumns::new("tag", Some("aad".into()));
    let seal = job(RowOperation::Encrypt { cipher, iv: IvFrom::Zero, padding: Padding::None, aead: aad() });
    // RFC 5297 A.1, twice, and another value.
    let ad = "101112131415161718191a1b1c1d1e1f2021222324252627";
    let file =
        format!("v,aad\n112233445566778899aabbccddee,{ad}\n112233445566778899aabbccddee,{ad}\n11,{ad}\n");
    let (done, rejects) = run(&seal, FileFormat::CSV, &table, &file);
    assert_eq!(rejects, "");
    let known = format!("40c02b9690c4dc04daef7f6afe5c,{ad},85632d07c6e8f37f950acd320a2ecc93");
    let lines: Vec<&str> = done.lines().collect();
    assert_eq!((lines[0], lines[1], lines[2]), ("v,aad,tag", &*known, &*known));
    let open = with(
        job(RowOperation::Decrypt { cipher, iv: IvFrom::Zero, padding: Padding::None, aead: aad() }),
        |job| {
            job.drops_ivs = true;
        },
    );
    assert_eq!(run(&open, FileFormat::CSV, &table, &done).0, file);
    let damaged = done.replacen("85632d", "85632c", 1);
    let (opened, rejects) = run(&open, FileFormat::CSV, &table, &damaged);
    assert_eq!(opened.lines().count(), 3);
    assert!(rejects.starts_with("2,\"verification failed"), "{rejects}");
}
