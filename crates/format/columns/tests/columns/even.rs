//! Values of one length, which share a description, beside the same values among others, which have one each.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, UInt32Type};
use arrow_array::{Array, ArrayRef, BinaryArray, DictionaryArray, StringArray};
use oarlock::{DigestAlg, FpeAlg};
use oarlock_columns::{
    AssociatedData, ColumnCipher, ColumnIv, ColumnKeys, ColumnResult, Decryption, Encryption, MacOptions,
    OnError, RowFault, TokenOptions, decrypt, detokenise, encrypt, hash, mac, parse_mac, tokenise,
};
use oarlock_keytable::{Alphabet, TokenFormat};

use super::common::{Values, every_type, held_keys, keys, values_of};

/// The lengths of columns around those at which a chunk begins or ends.
const ROWS: [usize; 11] = [1, 2, 511, 512, 513, 1023, 8191, 8192, 8193, 8704, 16_385];

type EvenOperation<'a> = (&'static str, Box<dyn Fn(&dyn Array) -> ColumnResult + 'a>);

/// Returns digits of `len` bytes, with nulls in the rows that `is_null` names.
fn values(rows: usize, len: usize, is_null: impl Fn(usize) -> bool) -> Values {
    (0..rows).map(|row| (!is_null(row)).then(|| format!("{row:0len$}").into_bytes())).collect()
}

fn binary(values: &Values) -> BinaryArray {
    values.iter().map(Option::as_deref).collect()
}

fn text(values: &Values) -> StringArray {
    let text =
        |value: &Option<Vec<u8>>| value.as_ref().map(|bytes| String::from_utf8(bytes.clone()).unwrap());
    values.iter().map(text).collect()
}

/// Returns the same values, each with a longer one behind it, so that no two neighbours have one length.
fn spread(values: &Values) -> Values {
    let longer = Some(vec![b'1'; 31]);
    values.iter().flat_map(|value| [value.clone(), longer.clone()]).collect()
}

/// Returns operations whose results follow from the values.
fn operations(keys: &ColumnKeys) -> Vec<EvenOperation<'_>> {
    let seal = |key, cipher, iv, aad| {
        let options = Encryption::new(key, cipher).iv(iv).aad(aad);
        move |array: &dyn Array| encrypt(keys, array, &options, OnError::Null).unwrap()
    };
    let (usual, zero, none) = (ColumnIv::Usual, ColumnIv::Zero, AssociatedData::None);
    let (siv, gcm_siv) = (ColumnCipher::AES128_SIV, ColumnCipher::AES128_GCM_SIV);
    let code = MacOptions::new("hmac", parse_mac("hmac-sha256").unwrap()).len(20);
    vec![
        ("siv", Box::new(seal("siv128", siv, usual, none))),
        ("siv, data", Box::new(seal("siv128", siv, usual, AssociatedData::Constant(b"cards")))),
        ("siv, empty data", Box::new(seal("siv128", siv, usual, AssociatedData::Constant(b"")))),
        ("gcm-siv", Box::new(seal("gcm-siv128", gcm_siv, zero, none))),
        ("gcm-siv, data", Box::new(seal("gcm-siv128", gcm_siv, zero, AssociatedData::Constant(b"cards")))),
        ("hmac", Box::new(move |array| mac(keys, array, &code, OnError::Null).unwrap())),
        ("sha256", Box::new(move |array| hash(keys, array, DigestAlg::Sha256, OnError::Null).unwrap())),
    ]
}

fn check(name: &str, run: &dyn Fn(&dyn Array) -> ColumnResult, values: &Values) {
    let even = values_of(&run(&binary(values)).array);
    let each = values_of(&run(&binary(&spread(values))).array);
    let each: Values = each.into_iter().step_by(2).collect();
    assert!(even == each, "{name}, {} rows", values.len());
    assert_eq!(
        even.iter().filter(|value| value.is_none()).count(),
        values.iter().filter(|v| v.is_none()).count()
    );
}

#[test]
fn values_of_one_length_have_the_results_that_they_have_among_others() {
    let keys = keys();
    for rows in ROWS {
        for (name, run) in operations(&keys) {
            check(name, &run, &values(rows, 16, |_| false));
        }
    }
}

#[test]
fn results_without_nulls_have_no_bitmap() {
    let keys = keys();
    for (name, run) in operations(&keys) {
        for values in [values(600, 16, |_| false), spread(&values(600, 16, |_| false))] {
            assert!(run(&binary(&values)).array.nulls().is_none(), "{name}");
        }
    }
}

#[test]
fn nulls_may_lie_at_every_seam() {
    let keys = keys();
    let operations = operations(&keys);
    let seams = [0, 1, 510, 511, 512, 513, 8190, 8191, 8192, 8193, 8703, 8704];
    let nulls: [&dyn Fn(usize) -> bool; 6] = [
        &|row| seams.contains(&row),
        &|row| row < 600,
        &|row| row >= 8000,
        &|row| row % 2 == 0,
        &|row| row % 97 == 5,
        &|row| (500..8300).contains(&row),
    ];
    for is_null in nulls {
        for (name, run) in &operations {
            check(name, run, &values(8705, 16, is_null));
        }
    }
    for seam in seams {
        check("one null", &operations[0].1, &values(8705, 16, |row| row == seam));
        check("one value", &operations[0].1, &values(8705, 16, |row| row != seam));
    }
}

#[test]
fn values_of_every_length_are_taken_from_every_type_of_array() {
    let keys = keys();
    // Of 12 bytes a value lies within its view.
    for len in [4, 12, 13, 16, 40] {
        for is_null in [|_| false, |row| row == 300] {
            let values = values(1200, len, is_null);
            for array in every_type(&values) {
                for (name, run) in operations(&keys) {
                    let (found, expected) = (run(&array).array, run(&binary(&values)).array);
                    assert!(
                        values_of(&found) == values_of(&expected),
                        "{name}, {len}, {}",
                        array.data_type()
                    );
                    let (found, expected) =
                        (run(&array.slice(7, 1100)), run(&binary(&values[7..1107].to_vec())));
                    assert!(values_of(&found.array) == values_of(&expected.array), "{name}, {len}");
                }
            }
        }
    }
    let empty: Values = vec![Some(Vec::new()); 1000];
    for (name, run) in operations(&keys) {
        check(name, &run, &empty);
    }
}

#[test]
fn random_ivs_differ_and_values_come_back() {
    let (keys, (held, _)) = (keys(), held_keys());
    for keys in [&keys, &held] {
        for cipher in [ColumnCipher::AES128_GCM, ColumnCipher::AES128_CBC, ColumnCipher::AES256_GCM] {
            let key = if cipher == ColumnCipher::AES256_GCM { "aes256" } else { "aes128" };
            for aad in [AssociatedData::None, AssociatedData::Constant(b"cards")] {
                if cipher == ColumnCipher::AES128_CBC && !matches!(aad, AssociatedData::None) {
                    continue;
                }
                for len in [0, 1, 15, 16, 33] {
                    let values = values(9000, len.max(4), |row| row % 1000 == 3);
                    let options = Encryption::new(key, cipher).aad(aad);
                    let sealed = encrypt(keys, &binary(&values), &options, OnError::Raise).unwrap().array;
                    let mut ivs: Vec<_> = values_of(&sealed)
                        .into_iter()
                        .flatten()
                        .map(|row| row[..cipher.iv_len()].to_vec())
                        .collect();
                    ivs.sort_unstable();
                    assert!(ivs.windows(2).all(|pair| pair[0] != pair[1]), "{cipher}");
                    let options = Decryption::new(key, cipher).aad(aad);
                    let opened = decrypt(keys, &sealed, &options, OnError::Raise).unwrap().array;
                    assert!(values_of(&opened) == values, "{cipher}");
                }
            }
        }
    }
}

#[test]
fn one_bad_row_among_rows_of_one_length_fails_alone() {
    let keys = keys();
    let plain = values(10_000, 16, |row| row == 17);
    for (key, cipher, fault) in [
        ("aes128", ColumnCipher::AES128_GCM, RowFault::Unverified),
        ("siv128", ColumnCipher::AES128_SIV, RowFault::Unverified),
        ("gcm-siv128", ColumnCipher::AES128_GCM_SIV, RowFault::Unverified),
    ] {
        let sealed = encrypt(&keys, &binary(&plain), &Encryption::new(key, cipher), OnError::Raise).unwrap();
        let mut rows = values_of(&sealed.array);
        for bad in [0, 18, 8191, 8192, 9999] {
            rows[bad].as_mut().unwrap()[20] ^= 1;
        }
        let opened = decrypt(&keys, &binary(&rows), &Decryption::new(key, cipher), OnError::Null).unwrap();
        assert_eq!(opened.rejected.iter().collect::<Vec<_>>(), [(fault, 5)], "{cipher}");
        let mut expected = plain.clone();
        for bad in [0, 18, 8191, 8192, 9999] {
            expected[bad] = None;
        }
        assert!(values_of(&opened.array) == expected, "{cipher}");
    }
    // All rows have a length that no result has.
    let short = values(1000, 5, |row| row == 2);
    let options = Decryption::new("aes128", ColumnCipher::AES128_GCM);
    let opened = decrypt(&keys, &binary(&short), &options, OnError::Null).unwrap();
    assert_eq!(opened.rejected.iter().collect::<Vec<_>>(), [(RowFault::Length, 999)]);
    assert_eq!(opened.array.null_count(), 1000);
}

#[test]
fn tokens_of_one_length_are_those_of_single_texts() {
    let keys = keys();
    let digits = Alphabet::digits;
    let hex: Alphabet = "hex".parse().unwrap();
    let formats = [
        TokenFormat::new(digits()),
        TokenFormat::new(digits()).keep_first(4).keep_last(3),
        TokenFormat::new(digits()).keep_first(6).with_luhn().unwrap(),
        TokenFormat::new(hex),
        TokenFormat::new(Alphabet::new("0123456789\u{e9}").unwrap()),
    ];
    for format in &formats {
        for tweak in [AssociatedData::None, AssociatedData::Constant(b"cards.pan")] {
            let options = TokenOptions::new("tokens128", FpeAlg::Aes128Ff1, format).tweak(tweak);
            let mut plain = values(9000, 16, |row| row % 512 == 9);
            // Rows that no format takes: one character of another alphabet, one of two bytes, and one text too short.
            for (row, bad) in [(3, "0000000000000#03"), (8500, "000000000000\u{fc}01"), (600, "00000")] {
                plain[row] = Some(bad.as_bytes().to_vec());
            }
            let made = tokenise(&keys, &text(&plain), &options, OnError::Null).unwrap();
            let each = tokenise(&keys, &text(&spread(&plain)), &options, OnError::Null).unwrap();
            let each: Vec<_> = each.array.as_string::<i32>().iter().step_by(2).collect();
            assert!(made.array.as_string::<i32>().iter().eq(each), "{format:?}");
            let back = detokenise(&keys, &made.array, &options, OnError::Raise).unwrap();
            let texts = text(&plain);
            for (row, text) in back.array.as_string::<i32>().iter().enumerate() {
                assert!(text.is_none_or(|text| text == texts.value(row)), "{format:?}, row {row}");
            }
        }
    }
}

#[test]
fn a_dictionary_of_values_of_one_length_is_read_by_its_keys() {
    let keys = keys();
    let values = values(2000, 16, |_| false);
    let entries: ArrayRef = Arc::new(binary(&values));
    let names: Vec<i32> = (0..3000).map(|row| (row * 7) % 2000).collect();
    let named = DictionaryArray::<Int32Type>::new(names.clone().into(), entries.clone());
    let rows: Values = names.iter().map(|name| values[*name as usize].clone()).collect();
    for (name, run) in operations(&keys) {
        assert!(values_of(&run(&named).array) == values_of(&run(&binary(&rows)).array), "{name}");
    }
    let in_order = DictionaryArray::<UInt32Type>::new((0..2000).collect::<Vec<u32>>().into(), entries);
    let options = Encryption::new("aes128", ColumnCipher::AES128_GCM);
    let sealed = encrypt(&keys, &in_order, &options, OnError::Raise).unwrap().array;
    let options = Decryption::new("aes128", ColumnCipher::AES128_GCM);
    assert!(values_of(&decrypt(&keys, &sealed, &options, OnError::Raise).unwrap().array) == values);
}

#[test]
fn ten_million_rows_have_the_results_of_their_parts() {
    const ROWS: usize = 10_000_000;
    let keys = keys();
    let numbers: Vec<u8> = (0..ROWS as u64).flat_map(u64::to_be_bytes).collect();
    let offsets: Vec<i32> = (0..=ROWS as i32).map(|row| 8 * row).collect();
    let offsets = arrow_buffer::OffsetBuffer::new(offsets.into());
    let column = BinaryArray::new(offsets, arrow_buffer::Buffer::from_vec(numbers), None);
    let hashed = hash(&keys, &column, DigestAlg::Sha256, OnError::Raise).unwrap().array;
    assert_eq!((hashed.len(), hashed.null_count()), (ROWS, 0));
    for first in [0, 4_999_999, ROWS - 10] {
        let part = hash(&keys, &column.slice(first, 10), DigestAlg::Sha256, OnError::Raise).unwrap().array;
        assert!(part.as_binary::<i32>().iter().eq(hashed.slice(first, 10).as_binary::<i32>().iter()));
    }
}
