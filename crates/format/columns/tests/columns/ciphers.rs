//! Ciphers against single records on the scalar engine.

use std::sync::atomic::Ordering;

use arrow_array::{Array, BinaryArray, StringArray, UInt8Array};
use oarlock::{AeadAlg, BlockCipher};
use oarlock_columns::{
    AssociatedData, ColumnCipher, ColumnError, ColumnIv, Decryption, Encryption, OnError, Translation,
    decrypt, encrypt, translate,
};
use oarlock_keytable::BatchTask;

use super::common::{RecordParts, SingleRecord, Values, held_keys, keys, random_values, values_of};

fn array(values: &Values) -> BinaryArray {
    values.iter().map(Option::as_deref).collect()
}

/// Decrypts a result with one record on the scalar engine.
fn open_single(single: &SingleRecord, key: &str, cipher: ColumnCipher, sealed: &[u8], aad: &[u8]) -> Vec<u8> {
    let (iv, rest) = sealed.split_at(cipher.iv_len());
    match cipher {
        ColumnCipher::Gcm(alg) | ColumnCipher::GcmSiv(alg) => {
            let (input, tag) = rest.split_at(rest.len() - 16);
            let parts = RecordParts { iv, aad, input, tag, output_len: input.len() };
            single.run(BatchTask::open(alg), key, &parts).unwrap()
        }
        ColumnCipher::Cbc(alg) => {
            let parts = RecordParts { iv, input: rest, output_len: rest.len(), ..RecordParts::default() };
            let mut padded = single.run(BatchTask::decrypt(alg), key, &parts).unwrap();
            let padding = *padded.last().unwrap();
            assert!((1..=alg.block_len()).contains(&usize::from(padding)));
            let len = padded.len() - usize::from(padding);
            assert!(padded[len..].iter().all(|byte| *byte == padding));
            padded.truncate(len);
            padded
        }
        other => panic!("{other}"),
    }
}

/// The ciphers with random IVs.
const CIPHERS: [(ColumnCipher, &str); 7] = [
    (ColumnCipher::AES128_GCM, "aes128"),
    (ColumnCipher::AES256_GCM, "aes256"),
    (ColumnCipher::AES128_GCM_SIV, "gcm-siv128"),
    (ColumnCipher::AES256_GCM_SIV, "gcm-siv256"),
    (ColumnCipher::AES128_CBC, "aes128"),
    (ColumnCipher::AES256_CBC, "aes256"),
    (ColumnCipher::Cbc(BlockCipher::Tdes3), "tdes3"),
];

#[test]
fn encryptions_open_on_the_scalar_engine_one_by_one() {
    let (keys, single) = (keys(), SingleRecord::new());
    for (seed, (cipher, key)) in (10..).zip(CIPHERS) {
        // Longer than a chunk of values, so that chunks meet.
        let values = random_values(seed, 1500, 70);
        let sealed = encrypt(&keys, &array(&values), &Encryption::new(key, cipher), OnError::Raise).unwrap();
        let sealed = values_of(&sealed.array);
        for (row, (sealed, value)) in sealed.iter().zip(&values).enumerate() {
            let opened = sealed.as_ref().map(|sealed| open_single(&single, key, cipher, sealed, &[]));
            assert_eq!(opened, *value, "{cipher}, row {row}");
        }
        let distinct: std::collections::HashSet<_> =
            sealed.iter().flatten().map(|sealed| sealed[..cipher.iv_len()].to_vec()).collect();
        assert_eq!(distinct.len(), values.iter().flatten().count(), "every IV is new");
        let opened = decrypt(&keys, &array(&sealed), &Decryption::new(key, cipher), OnError::Raise).unwrap();
        assert_eq!(values_of(&opened.array), values);
    }
}

#[test]
fn associated_data_belongs_to_its_row() {
    let (keys, single) = (keys(), SingleRecord::new());
    let (values, rows) = (random_values(20, 400, 30), 400);
    let aads: Values =
        random_values(21, rows, 20).into_iter().map(|aad| Some(aad.unwrap_or_default())).collect();
    let (plain, aad_array) = (array(&values), array(&aads));
    let cipher = ColumnCipher::AES128_GCM;
    for (aad, is_column) in
        [(AssociatedData::Column(&aad_array), true), (AssociatedData::Constant(b"cards.pan"), false)]
    {
        let options = Encryption::new("aes128", cipher).aad(aad);
        let sealed = encrypt(&keys, &plain, &options, OnError::Raise).unwrap().array;
        for (row, sealed) in values_of(&sealed).iter().enumerate() {
            let row_aad = if is_column { aads[row].as_deref().unwrap() } else { b"cards.pan" };
            let opened =
                sealed.as_ref().map(|sealed| open_single(&single, "aes128", cipher, sealed, row_aad));
            assert_eq!(opened, values[row]);
        }
        let options = Decryption::new("aes128", cipher);
        let opened = decrypt(&keys, &sealed, &options.aad(aad), OnError::Raise).unwrap();
        assert_eq!(values_of(&opened.array), values);
        let without = decrypt(&keys, &sealed, &options, OnError::Null).unwrap();
        let empty = values
            .iter()
            .zip(&aads)
            .filter(|(value, aad)| value.is_some() && is_column && aad.as_ref().is_some_and(Vec::is_empty));
        let rows = values.iter().flatten().count() - empty.count();
        assert_eq!(without.rejected.total(), rows);
    }
}

#[test]
fn a_null_of_associated_data_is_a_bad_row_unless_the_value_is_null_too() {
    let keys = keys();
    let values = StringArray::from(vec![Some("a"), None, Some("c")]);
    let aads = StringArray::from(vec![None, None, Some("C")]);
    let options = Encryption::new("aes128", ColumnCipher::AES128_GCM).aad(AssociatedData::Column(&aads));
    let sealed = encrypt(&keys, &values, &options, OnError::Null).unwrap();
    assert_eq!(sealed.rejected.to_string(), "1 row: the associated data is null");
    assert_eq!(
        (sealed.array.is_null(0), sealed.array.is_null(1), sealed.array.is_valid(2)),
        (true, true, true)
    );
}

fn derive<'a>(cipher: ColumnCipher, ids: &'a dyn Array) -> Encryption<'a> {
    let key = if matches!(cipher, ColumnCipher::Gcm(AeadAlg::Aes256Gcm)) { "aes256" } else { "aes128" };
    Encryption::new(key, cipher).iv(ColumnIv::Derived { key: "hmac", row_ids: ids })
}

#[test]
fn derived_ivs_depend_on_the_row_the_value_and_the_associated_data() {
    let keys = keys();
    for cipher in [ColumnCipher::AES128_GCM, ColumnCipher::AES128_CBC] {
        let values = random_values(30, 300, 40);
        let ids: Values = (0..300_u32).map(|id| Some(id.to_be_bytes().to_vec())).collect();
        let (values, ids) = (array(&values), array(&ids));
        let sealed = |values: &BinaryArray, ids: &BinaryArray| {
            let sealed = encrypt(&keys, values, &derive(cipher, ids), OnError::Raise).unwrap();
            values_of(&sealed.array)
        };
        let once = sealed(&values, &ids);
        assert_eq!(once, sealed(&values, &ids), "the same rows have the same bytes");
        let slice = sealed(&values.slice(100, 50), &ids.slice(100, 50));
        assert_eq!(once[100..150], slice, "wherever they stand");
        let opened =
            decrypt(&keys, &array(&once), &Decryption::new("aes128", cipher), OnError::Raise).unwrap();
        assert_eq!(values_of(&opened.array), values_of(&values));
    }
    // Rows whose parts run into each other have different IVs.
    let rows = [("1", "", "2a"), ("12", "", "a"), ("1", "2", "a"), ("", "12", "a"), ("", "1", "2a")];
    let column = |part: fn(&(&'static str, &'static str, &'static str)) -> &'static str| {
        StringArray::from(rows.iter().map(part).collect::<Vec<_>>())
    };
    let (ids, aads, values) = (column(|row| row.0), column(|row| row.1), column(|row| row.2));
    let options = derive(ColumnCipher::AES128_GCM, &ids).aad(AssociatedData::Column(&aads));
    let sealed = values_of(&encrypt(&keys, &values, &options, OnError::Raise).unwrap().array);
    let ivs: std::collections::HashSet<_> =
        sealed.iter().flatten().map(|sealed| sealed[..12].to_vec()).collect();
    assert_eq!(ivs.len(), rows.len());
}

#[test]
fn a_derived_iv_is_the_documented_code() {
    let (keys, single) = (keys(), SingleRecord::new());
    let (values, ids) = (StringArray::from(vec!["4111"]), StringArray::from(vec!["row 7"]));
    let options = derive(ColumnCipher::AES128_GCM, &ids).aad(AssociatedData::Constant(b"cards"));
    let sealed = values_of(&encrypt(&keys, &values, &options, OnError::Raise).unwrap().array);
    let message = [&5_u64.to_be_bytes()[..], b"row 7", &5_u64.to_be_bytes(), b"cards", b"4111"].concat();
    let parts = RecordParts { input: &message, output_len: 32, ..RecordParts::default() };
    let code = single.run(BatchTask::mac(oarlock::MacAlg::HmacSha256), "hmac", &parts).unwrap();
    assert_eq!(sealed[0].as_ref().unwrap()[..12], code[..12]);
}

#[test]
fn a_null_row_id_is_a_bad_row_and_row_ids_need_bytes() {
    let keys = keys();
    let values = StringArray::from(vec![Some("a"), Some("b"), None]);
    let ids = StringArray::from(vec![Some("1"), None, None]);
    let sealed = encrypt(&keys, &values, &derive(ColumnCipher::AES128_GCM, &ids), OnError::Null).unwrap();
    assert_eq!(sealed.rejected.to_string(), "1 row: the row id is null");
    let numbers = UInt8Array::from(vec![1, 2, 3]);
    let error =
        encrypt(&keys, &values, &derive(ColumnCipher::AES128_GCM, &numbers), OnError::Null).unwrap_err();
    assert!(error.to_string().contains("row id has the type UInt8"), "{error}");
    let short = StringArray::from(vec!["1"]);
    let error =
        encrypt(&keys, &values, &derive(ColumnCipher::AES128_GCM, &short), OnError::Null).unwrap_err();
    assert_eq!(error, ColumnError::Rows { what: "row id", expected: 3, found: 1 });
}

#[test]
fn translations_change_the_key_and_show_no_plaintext() {
    let keys = keys();
    for (cipher, from, to_cipher, to) in [
        (ColumnCipher::AES128_GCM, "aes128", ColumnCipher::AES256_GCM, "aes256"),
        (ColumnCipher::AES128_CBC, "aes128", ColumnCipher::AES256_CBC, "aes256"),
        (ColumnCipher::AES128_GCM, "aes128", ColumnCipher::AES128_GCM, "other128"),
        (ColumnCipher::AES128_GCM, "aes128", ColumnCipher::AES256_SIV, "siv256"),
        (ColumnCipher::AES128_SIV, "siv128", ColumnCipher::AES128_GCM, "aes128"),
        (ColumnCipher::AES128_SIV, "siv128", ColumnCipher::AES256_SIV, "siv256"),
        (ColumnCipher::AES128_GCM_SIV, "aes128", ColumnCipher::AES128_SIV, "siv128"),
    ] {
        let values = random_values(40, 700, 50);
        let sealed = encrypt(&keys, &array(&values), &Encryption::new(from, cipher), OnError::Raise).unwrap();
        let options = Translation::new(Decryption::new(from, cipher), to, to_cipher);
        let translated = translate(&keys, &sealed.array, &options, OnError::Raise).unwrap();
        let opened =
            decrypt(&keys, &translated.array, &Decryption::new(to, to_cipher), OnError::Raise).unwrap();
        assert_eq!(values_of(&opened.array), values, "{cipher} to {to_cipher}");
    }
}

#[test]
fn a_bad_row_of_a_translation_fails_alone() {
    let keys = keys();
    let cipher = ColumnCipher::AES128_GCM;
    let plain = StringArray::from(vec!["a", "b", ""]);
    let sealed = encrypt(&keys, &plain, &Encryption::new("aes128", cipher), OnError::Raise).unwrap();
    let mut sealed = values_of(&sealed.array);
    sealed[0].as_mut().unwrap()[3] ^= 1;
    sealed.push(Some(vec![0; 27]));
    let options = Translation::new(Decryption::new("aes128", cipher), "other128", cipher);
    let translated = translate(&keys, &array(&sealed), &options, OnError::Null).unwrap();
    let opened =
        decrypt(&keys, &translated.array, &Decryption::new("other128", cipher), OnError::Raise).unwrap();
    assert_eq!(values_of(&opened.array), [None, Some(b"b".to_vec()), Some(vec![]), None]);
    assert_eq!(translated.rejected.total(), 2);
}

#[test]
fn keys_that_only_translate_neither_encrypt_nor_decrypt() {
    let keys = keys();
    let cipher = ColumnCipher::AES128_GCM;
    let plain = StringArray::from(vec!["a"]);
    let refused = encrypt(&keys, &plain, &Encryption::new("from", cipher), OnError::Null).unwrap_err();
    assert!(matches!(refused, ColumnError::KeyRefused { .. }), "{refused}");
    let sealed = encrypt(&keys, &plain, &Encryption::new("aes128", cipher), OnError::Raise).unwrap();
    let into = Translation::new(Decryption::new("aes128", cipher), "to", cipher);
    let translated = translate(&keys, &sealed.array, &into, OnError::Raise).unwrap();
    let refused =
        decrypt(&keys, &translated.array, &Decryption::new("to", cipher), OnError::Null).unwrap_err();
    assert!(matches!(refused, ColumnError::KeyRefused { .. }), "{refused}");
    let between = Translation::new(Decryption::new("from", cipher), "to", cipher);
    let bad = translate(&keys, &sealed.array, &between, OnError::Null).unwrap();
    assert_eq!(bad.rejected.to_string(), "1 row: the tag does not verify");
}

#[test]
fn modes_are_not_translated_into_each_other() {
    let keys = keys();
    let options = Translation::new(
        Decryption::new("aes128", ColumnCipher::AES128_CBC),
        "aes128",
        ColumnCipher::AES128_GCM,
    );
    let error = translate(&keys, &StringArray::from(vec!["a"]), &options, OnError::Null).unwrap_err();
    assert!(error.to_string().contains("Decrypt the column and encrypt it again"), "{error}");
    let options = Decryption::new("aes128", ColumnCipher::AES128_CBC).aad(AssociatedData::Constant(b"x"));
    let error = decrypt(&keys, &StringArray::from(vec!["a"]), &options, OnError::Null).unwrap_err();
    assert!(error.to_string().contains("no associated data"), "{error}");
}

#[test]
fn long_associated_data_is_cut_into_batches_too() {
    let (keys, holder) = held_keys();
    let values: Values = (0..64).map(|row| Some(vec![row])).collect();
    let aads: Values = (0..64).map(|row| Some(vec![row; 200 << 10])).collect();
    let (plain, aads) = (array(&values), array(&aads));
    let aad = AssociatedData::Column(&aads);
    let ids: Values = (0..64_u8).map(|row| Some(vec![row])).collect();
    let ids = array(&ids);
    for options in
        [Encryption::new("aes128", ColumnCipher::AES128_GCM), derive(ColumnCipher::AES128_GCM, &ids)]
    {
        let sealed = encrypt(&keys, &plain, &options.aad(aad), OnError::Raise).unwrap();
        let options = Decryption::new("aes128", ColumnCipher::AES128_GCM).aad(aad);
        let opened = decrypt(&keys, &sealed.array, &options, OnError::Raise).unwrap();
        assert_eq!(values_of(&opened.array), values);
    }
    let largest = holder.largest.load(Ordering::Relaxed);
    assert!(largest > 200 << 10 && largest < 2 * (2 << 20), "{largest} bytes in one batch");
}

#[test]
fn limits_cut_a_column_into_batches() {
    // More rows than one batch takes, and values that fill a batch alone.
    let keys = keys();
    let (max_rows, max_bytes) = (8192, 1 << 20);
    let mut values = random_values(50, 2 * max_rows + 7, 3);
    values[5] = Some(vec![1; max_bytes + 1]);
    values[6] = Some(vec![2; max_bytes - 1]);
    let cipher = ColumnCipher::AES128_GCM;
    let sealed = encrypt(&keys, &array(&values), &Encryption::new("aes128", cipher), OnError::Raise).unwrap();
    let opened = decrypt(&keys, &sealed.array, &Decryption::new("aes128", cipher), OnError::Raise).unwrap();
    assert!(values_of(&opened.array) == values);
}
