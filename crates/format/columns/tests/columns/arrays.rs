//! Every type of array, slices, nulls, dictionaries, and malformed arrays.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, Int32Array, NullArray, StringArray};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use oarlock::DigestAlg;
use oarlock_columns::{
    ColumnCipher, ColumnError, ColumnKeys, Decryption, Encryption, MacOptions, OnError, decrypt, encrypt,
    hash, mac, parse_mac,
};

use super::common::{Values, every_type, keys, random_values, small_dictionary, values_of};

fn round_trip(keys: &ColumnKeys, array: &dyn Array, cipher: ColumnCipher) -> ArrayRef {
    let sealed = encrypt(keys, array, &Encryption::new("aes128", cipher), OnError::Raise).unwrap();
    assert_eq!(sealed.array.len(), array.len());
    decrypt(keys, &sealed.array, &Decryption::new("aes128", cipher), OnError::Raise).unwrap().array
}

#[test]
fn every_type_of_array_gives_the_same_results() {
    let keys = keys();
    let hmac = MacOptions::new("hmac", parse_mac("hmac-sha256").unwrap());
    let same_len: Values =
        random_values(1, 100, 0).into_iter().map(|value| value.map(|_| vec![b'7'; 16])).collect();
    for values in [random_values(2, 100, 40), same_len, vec![], vec![None, None], vec![Some(vec![])]] {
        let mut codes: Option<Values> = None;
        for array in every_type(&values) {
            let what = array.data_type().clone();
            for cipher in [ColumnCipher::AES128_GCM, ColumnCipher::AES128_CBC] {
                assert_eq!(values_of(&round_trip(&keys, &array, cipher)), values, "{what} {cipher}");
            }
            let found = values_of(&mac(&keys, &array, &hmac, OnError::Raise).unwrap().array);
            let nulls = found.iter().zip(&values).filter(|(code, value)| code.is_some() != value.is_some());
            assert_eq!(nulls.count(), 0, "{what}");
            assert_eq!(*codes.get_or_insert_with(|| found.clone()), found, "{what}");
        }
    }
}

#[test]
fn slices_are_read_at_their_offsets() {
    let keys = keys();
    let values = random_values(3, 300, 30);
    for array in every_type(&values) {
        let slice = array.slice(37, 111);
        assert_eq!(values_of(&round_trip(&keys, &slice, ColumnCipher::AES128_GCM)), values[37..148]);
        assert_eq!(
            values_of(&round_trip(&keys, &array.slice(5, 0), ColumnCipher::AES128_GCM)),
            Values::new()
        );
    }
}

#[test]
fn a_column_of_nulls_stays_null() {
    let nulls = NullArray::new(5);
    let hashed = hash(&keys(), &nulls, DigestAlg::Sha256, OnError::Raise).unwrap();
    assert_eq!((hashed.array.len(), hashed.array.null_count()), (5, 5));
}

#[test]
fn large_arrays_and_views_have_large_results() {
    let keys = keys();
    for array in every_type(&random_values(4, 10, 10)) {
        let hashed = hash(&keys, &array, DigestAlg::Sha1, OnError::Null).unwrap().array;
        let inner = match array.data_type() {
            DataType::Dictionary(_, inner) => (**inner).clone(),
            other => other.clone(),
        };
        let expected = match inner {
            DataType::Binary | DataType::Utf8 | DataType::FixedSizeBinary(_) => DataType::Binary,
            _ => DataType::LargeBinary,
        };
        assert_eq!(*hashed.data_type(), expected, "{inner}");
    }
}

#[test]
fn values_of_a_dictionary_that_no_row_names_are_not_computed() {
    let keys = keys();
    let cipher = ColumnCipher::AES128_GCM;
    let plain = StringArray::from(vec!["one", "two"]);
    let sealed = encrypt(&keys, &plain, &Encryption::new("aes128", cipher), OnError::Raise).unwrap().array;
    let sealed = sealed.as_binary::<i32>();
    // The entry in the middle is null, and the last one is no ciphertext.
    let entries = vec![Some(sealed.value(0)), None, Some(sealed.value(1)), Some(&b"no ciphertext"[..])];
    let entries: ArrayRef = Arc::new(BinaryArray::from(entries));
    let named = vec![Some(2), Some(1), None, Some(0), Some(2)];
    let options = Decryption::new("aes128", cipher);
    let opened = decrypt(&keys, &small_dictionary(entries.clone(), named), &options, OnError::Raise).unwrap();
    let expected = [Some("two"), None, None, Some("one"), Some("two")];
    assert_eq!(values_of(&opened.array), expected.map(|text| text.map(|text| text.as_bytes().to_vec())));
    let bad = small_dictionary(entries, vec![Some(3), Some(0), Some(3)]);
    let opened = decrypt(&keys, &bad, &options, OnError::Null).unwrap();
    assert_eq!(values_of(&opened.array), [None, Some(b"one".to_vec()), None]);
    assert_eq!(opened.rejected.total(), 2, "bad rows are counted by rows, and not by entries");
}

#[test]
fn a_column_without_bytes_is_an_error_that_names_its_type() {
    let numbers = Int32Array::from(vec![1, 2]);
    let error = hash(&keys(), &numbers, DigestAlg::Sha256, OnError::Null).unwrap_err();
    assert!(matches!(&error, ColumnError::ColumnType { found, .. } if found == "Int32"), "{error}");
    let numbers = small_dictionary(Arc::new(numbers), vec![Some(0)]);
    let error = hash(&keys(), &numbers, DigestAlg::Sha256, OnError::Null).unwrap_err();
    assert!(error.to_string().contains("expected binary"), "{error}");
}

/// Builds an array without checks, as the C interface does.
#[allow(unsafe_code)]
fn unchecked(data_type: DataType, len: usize, buffers: Vec<arrow_buffer::Buffer>) -> ArrayRef {
    let builder = ArrayData::builder(data_type).len(len).buffers(buffers);
    // SAFETY: the library reads these arrays with checks of its own, which is what the test proves.
    arrow_array::make_array(unsafe { builder.build_unchecked() })
}

#[test]
fn malformed_buffers_are_errors() {
    let bytes = || arrow_buffer::Buffer::from_vec(vec![7_u8; 8]);
    let view =
        |len: u32, buffer: u32, at: u32| u128::from(len) | u128::from(buffer) << 64 | u128::from(at) << 96;
    let views = |view| vec![arrow_buffer::Buffer::from_vec(vec![view]), bytes()];
    let offsets = |offsets: Vec<i64>| vec![arrow_buffer::Buffer::from_vec(offsets), bytes()];
    let cases = [
        (unchecked(DataType::LargeBinary, 2, offsets(vec![0, 5, 9])), "behind the end of the values"),
        (unchecked(DataType::LargeBinary, 2, offsets(vec![0, 5, 4])), "smaller than the one before"),
        (unchecked(DataType::LargeBinary, 2, offsets(vec![-1, 5, 8])), "negative"),
        (unchecked(DataType::BinaryView, 1, views(view(13, 1, 0))), "buffer that does not exist"),
        (unchecked(DataType::BinaryView, 1, views(view(13, 0, 0))), "behind the end of its buffer"),
        (unchecked(DataType::BinaryView, 1, views(view(u32::MAX, 0, u32::MAX))), "behind the end"),
    ];
    for (array, expected) in cases {
        let error = hash(&keys(), &array, DigestAlg::Sha256, OnError::Null).unwrap_err();
        assert!(matches!(error, ColumnError::Malformed { .. }), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}
