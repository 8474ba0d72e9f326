//! Authentication codes and hashes against single records.

use arrow_array::cast::AsArray;
use arrow_array::{BinaryArray, StringArray};
use oarlock::DigestAlg;
use oarlock_columns::{ColumnError, MacOptions, OnError, hash, mac, parse_digest, parse_mac, verify_mac};
use oarlock_keytable::BatchTask;

use super::common::{RecordParts, SingleRecord, keys, random_values, values_of};

#[test]
fn codes_and_hashes_equal_those_of_single_records() {
    let (keys, single) = (keys(), SingleRecord::new());
    let values = random_values(70, 400, 150);
    let plain: BinaryArray = values.iter().map(Option::as_deref).collect();
    let expected = |task: BatchTask, key: &str, len| -> Vec<Option<Vec<u8>>> {
        let code = |value: &Vec<u8>| {
            let parts = RecordParts { input: value, output_len: len, ..RecordParts::default() };
            single.run(task, key, &parts).unwrap()
        };
        values.iter().map(|value| value.as_ref().map(code)).collect()
    };
    for (name, key) in [
        ("hmac-sha256", "hmac"),
        ("hmac-sha1", "hmac"),
        ("hmac-sha512", "hmac"),
        ("aes128-cmac", "aes128"),
        ("tdes3-cmac", "tdes3"),
    ] {
        let alg = parse_mac(name).unwrap();
        for len in [alg.tag_len(), 4] {
            let codes = mac(&keys, &plain, &MacOptions::new(key, alg).len(len), OnError::Raise).unwrap();
            assert_eq!(
                values_of(&codes.array),
                expected(BatchTask::mac(alg), key, len),
                "{name}, {len} bytes"
            );
        }
    }
    for digest in DigestAlg::ALL {
        let name = digest.to_string();
        let alg = parse_digest(&name).unwrap();
        let hashes = hash(&keys, &plain, alg, OnError::Raise).unwrap();
        assert_eq!(
            values_of(&hashes.array),
            expected(BatchTask::digest(alg), "hmac", alg.output_len()),
            "{name}"
        );
    }
}

#[test]
fn a_code_is_compared_with_that_of_its_row() {
    let keys = keys();
    let options = MacOptions::new("hmac", parse_mac("hmac-sha256").unwrap()).len(16);
    let plain = StringArray::from(vec![Some("a"), Some("b"), Some("c"), None, Some("e"), Some("f")]);
    let codes = values_of(&mac(&keys, &plain, &options, OnError::Raise).unwrap().array);
    let code = |row: usize| codes[row].clone().unwrap();
    let mut wrong = code(1);
    wrong[15] ^= 1;
    let given =
        [Some(code(0)), Some(wrong), Some(code(2)[..15].to_vec()), Some(code(0)), None, Some(code(0))];
    let given: BinaryArray = given.iter().map(Option::as_deref).collect();
    let verdicts = verify_mac(&keys, &plain, &given, &options, OnError::Raise).unwrap().array;
    let verdicts: Vec<_> = verdicts.as_boolean().iter().collect();
    assert_eq!(verdicts, [Some(true), Some(false), Some(false), None, None, Some(false)]);

    let error = verify_mac(&keys, &plain, &given.slice(0, 2), &options, OnError::Null).unwrap_err();
    assert_eq!(error, ColumnError::Rows { what: "column of codes", expected: 6, found: 2 });
}

#[test]
fn lengths_of_codes_are_bounded() {
    let keys = keys();
    let alg = parse_mac("hmac-sha256").unwrap();
    for len in [0, 3, 33] {
        let options = MacOptions::new("hmac", alg).len(len);
        let error = mac(&keys, &StringArray::from(vec!["a"]), &options, OnError::Null).unwrap_err();
        assert_eq!(error.to_string(), format!("a code of hmac-sha256 has 4 to 32 bytes, found {len}"));
    }
}
