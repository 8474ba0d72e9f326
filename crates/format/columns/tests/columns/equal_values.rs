//! Ciphers under which equal values have equal results.

use arrow_array::{Array, BinaryArray, StringArray};
use oarlock_columns::{
    AssociatedData, ColumnCipher, ColumnIv, Decryption, Encryption, OnError, Translation, decrypt, encrypt,
    translate,
};
use oarlock_keytable::BatchTask;

use super::common::{
    RecordParts, SingleRecord, Values, every_type, keys, random_values, small_dictionary, values_of,
};

/// The ciphers with a key, and the bytes of the IV in front of a result.
const CIPHERS: [(ColumnCipher, &str); 4] = [
    (ColumnCipher::AES128_SIV, "siv128"),
    (ColumnCipher::AES256_SIV, "siv256"),
    (ColumnCipher::AES128_GCM_SIV, "gcm-siv128"),
    (ColumnCipher::AES256_GCM_SIV, "gcm-siv256"),
];

fn equal(key: &str, cipher: ColumnCipher) -> Encryption<'_> {
    Encryption::new(key, cipher).iv(ColumnIv::Zero)
}

fn array(values: &Values) -> BinaryArray {
    values.iter().map(Option::as_deref).collect()
}

/// Opens a result with one record on the scalar engine.
fn open_single(
    single: &SingleRecord,
    key: &str,
    cipher: ColumnCipher,
    sealed: &[u8],
    aad: &[u8],
) -> Option<Vec<u8>> {
    let (iv, tag, input, task) = match cipher {
        ColumnCipher::Siv(alg) => (&[][..], &sealed[..16], &sealed[16..], BatchTask::open(alg)),
        ColumnCipher::GcmSiv(alg) => {
            let tag_at = sealed.len() - 16;
            (&sealed[..12], &sealed[tag_at..], &sealed[12..tag_at], BatchTask::open(alg))
        }
        other => panic!("{other}"),
    };
    single.run(task, key, &RecordParts { iv, aad, input, tag, output_len: input.len() })
}

#[test]
fn equal_values_have_equal_results_that_open_on_the_scalar_engine() {
    let (keys, single) = (keys(), SingleRecord::new());
    for (seed, (cipher, key)) in (60..).zip(CIPHERS) {
        let mut values = random_values(seed, 700, 70);
        values.extend_from_within(..300);
        let sealed = encrypt(&keys, &array(&values), &equal(key, cipher), OnError::Raise).unwrap();
        let sealed = values_of(&sealed.array);
        assert_eq!(sealed[..300], sealed[700..], "{cipher}");
        for (row, (sealed, value)) in sealed.iter().zip(&values).enumerate() {
            let opened =
                sealed.as_ref().map(|sealed| open_single(&single, key, cipher, sealed, &[]).unwrap());
            assert_eq!(opened, *value, "{cipher}, row {row}");
        }
        let opened = decrypt(&keys, &array(&sealed), &Decryption::new(key, cipher), OnError::Raise).unwrap();
        assert_eq!(values_of(&opened.array), values);
        if let ColumnCipher::GcmSiv(_) = cipher {
            assert!(sealed.iter().flatten().all(|sealed| sealed[..12] == [0; 12]));
        } else {
            let usual = Encryption::new(key, cipher);
            let usual = encrypt(&keys, &array(&values), &usual, OnError::Raise).unwrap();
            assert_eq!(values_of(&usual.array), sealed, "no IV is usual");
        }
    }
}

#[test]
fn aes_siv_tells_no_associated_data_from_an_empty_string() {
    let keys = keys();
    let values = random_values(7, 40, 30);
    for (cipher, key) in [(ColumnCipher::AES128_SIV, "siv128"), (ColumnCipher::AES256_SIV, "siv256")] {
        let seal = |aad| {
            let options = Encryption::new(key, cipher).aad(aad);
            values_of(&encrypt(&keys, &array(&values), &options, OnError::Raise).unwrap().array)
        };
        let open = |sealed: &Values, aad| {
            let options = Decryption::new(key, cipher).aad(aad);
            decrypt(&keys, &array(sealed), &options, OnError::Null).map(|opened| values_of(&opened.array))
        };
        let (absent, empty) = (seal(AssociatedData::None), seal(AssociatedData::Constant(b"")));
        let none: Values = values.iter().map(|_| None).collect();
        assert!(absent.iter().zip(&empty).all(|(absent, empty)| absent.is_none() || absent != empty));
        assert_eq!(open(&absent, AssociatedData::None).unwrap(), values);
        assert_eq!(open(&empty, AssociatedData::Constant(b"")).unwrap(), values);
        // Builds before 0.1.0 made no difference, so what they sealed still opens.
        assert_eq!(open(&empty, AssociatedData::None).unwrap(), values);
        assert_eq!(open(&absent, AssociatedData::Constant(b"")).unwrap(), none);
        // A translation seals in the new form.
        let present = Decryption::new(key, cipher);
        let moved = translate(&keys, &array(&empty), &Translation::new(present, key, cipher), OnError::Raise);
        assert_eq!(values_of(&moved.unwrap().array), absent);
    }
}

#[test]
fn columns_of_every_type_join() {
    let keys = keys();
    let values = random_values(70, 90, 30);
    for (cipher, key) in CIPHERS {
        let expected = encrypt(&keys, &array(&values), &equal(key, cipher), OnError::Raise).unwrap();
        for column in every_type(&values) {
            let sealed = encrypt(&keys, &column, &equal(key, cipher), OnError::Raise).unwrap();
            assert_eq!(
                values_of(&sealed.array),
                values_of(&expected.array),
                "{cipher}, {}",
                column.data_type()
            );
        }
    }
}

#[test]
fn associated_data_separates_equal_values() {
    let (keys, single) = (keys(), SingleRecord::new());
    for (cipher, key) in CIPHERS {
        let values = StringArray::from(vec!["same", "same", "same"]);
        let tables = StringArray::from(vec!["a", "b", "a"]);
        let aad = AssociatedData::Column(&tables);
        let sealed = encrypt(&keys, &values, &equal(key, cipher).aad(aad), OnError::Raise).unwrap();
        let bytes = values_of(&sealed.array);
        assert!(bytes[0] != bytes[1] && bytes[0] == bytes[2], "{cipher}");
        let first = open_single(&single, key, cipher, bytes[0].as_ref().unwrap(), b"a");
        assert_eq!(first.as_deref(), Some(&b"same"[..]));
        let other = Decryption::new(key, cipher).aad(AssociatedData::Constant(b"b"));
        let opened = decrypt(&keys, &sealed.array, &other, OnError::Null).unwrap();
        assert_eq!(values_of(&opened.array), [None, Some(b"same".to_vec()), None]);
        assert_eq!(opened.rejected.to_string(), "2 rows: the tag does not verify");
    }
}

#[test]
fn one_changed_or_short_row_fails_alone() {
    let keys = keys();
    for (cipher, key) in CIPHERS {
        let values = random_values(80, 5000, 20);
        let sealed = encrypt(&keys, &array(&values), &equal(key, cipher), OnError::Raise).unwrap();
        let mut sealed = values_of(&sealed.array);
        let changed = (2500..).find(|row| sealed[*row].is_some()).unwrap();
        *sealed[changed].as_mut().unwrap().last_mut().unwrap() ^= 0x80;
        sealed.push(Some(vec![0; 15]));
        let opened = decrypt(&keys, &array(&sealed), &Decryption::new(key, cipher), OnError::Null).unwrap();
        let mut expected = values;
        expected[changed] = None;
        expected.push(None);
        assert!(values_of(&opened.array) == expected, "{cipher}");
        assert_eq!(opened.rejected.total(), 2);
    }
}

#[test]
fn distinct_values_of_a_dictionary_are_computed_once() {
    let keys = keys();
    let entries = StringArray::from(vec![Some("a"), None, Some("b")]);
    let column =
        small_dictionary(std::sync::Arc::new(entries), vec![Some(2), Some(1), None, Some(0), Some(2)]);
    for (cipher, key) in CIPHERS {
        let sealed = encrypt(&keys, &column, &equal(key, cipher), OnError::Raise).unwrap();
        assert_eq!((sealed.array.len(), sealed.array.null_count()), (5, 2));
        let opened = decrypt(&keys, &sealed.array, &Decryption::new(key, cipher), OnError::Raise).unwrap();
        let text = |text: &str| Some(text.as_bytes().to_vec());
        assert_eq!(values_of(&opened.array), [text("b"), None, None, text("a"), text("b")]);
    }
}

#[test]
fn ivs_that_do_not_fit_the_cipher_are_refused() {
    let keys = keys();
    let values = StringArray::from(vec!["a"]);
    let refused = |key, cipher, iv| {
        let options = Encryption::new(key, cipher).iv(iv);
        encrypt(&keys, &values, &options, OnError::Null).unwrap_err().to_string()
    };
    for cipher in [ColumnCipher::AES128_GCM, ColumnCipher::AES128_CBC] {
        let error = refused("aes128", cipher, ColumnIv::Zero);
        assert!(error.contains("cannot have the same IV twice"), "{error}");
    }
    let ids = StringArray::from(vec!["1"]);
    for iv in [ColumnIv::Random, ColumnIv::Derived { key: "hmac", row_ids: &ids }] {
        let error = refused("siv128", ColumnCipher::AES128_SIV, iv);
        assert!(error.contains("has no IV in columns"), "{error}");
    }
    let wrong_type = refused("aes128", ColumnCipher::AES128_SIV, ColumnIv::Usual);
    assert!(wrong_type.contains("\"aes128\" is refused"), "{wrong_type}");
}
