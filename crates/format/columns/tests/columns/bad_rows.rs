//! Bad rows, and keys that are refused.

use arrow_array::cast::AsArray;
use arrow_array::{Array, BinaryArray, StringArray};
use oarlock::Blame;
use oarlock_columns::{
    ColumnCipher, ColumnError, Decryption, Encryption, OnError, RowFault, decrypt, encrypt, struct_type,
};

use super::common::{Values, keys, random_values, values_of};

const GCM: ColumnCipher = ColumnCipher::AES128_GCM;

fn sealed(rows: usize) -> (Values, Values) {
    let values = random_values(60, rows, 24);
    let plain: BinaryArray = values.iter().map(Option::as_deref).collect();
    let sealed = encrypt(&keys(), &plain, &Encryption::new("aes128", GCM), OnError::Raise).unwrap();
    (values, values_of(&sealed.array))
}

fn array(values: &Values) -> BinaryArray {
    values.iter().map(Option::as_deref).collect()
}

#[test]
fn one_bad_tag_among_many_rows_fails_alone() {
    let (mut values, mut sealed) = sealed(100_000);
    let row = (70_000..).find(|row| sealed[*row].is_some()).unwrap();
    *sealed[row].as_mut().unwrap().last_mut().unwrap() ^= 0x80;
    let options = Decryption::new("aes128", GCM);
    let opened = decrypt(&keys(), &array(&sealed), &options, OnError::Null).unwrap();
    let faults: Vec<_> = opened.rejected.iter().collect();
    assert_eq!(faults, [(RowFault::Unverified, 1)]);
    values[row] = None;
    assert!(values_of(&opened.array) == values);

    let error = decrypt(&keys(), &array(&sealed), &options, OnError::Raise).unwrap_err();
    assert_eq!(error, ColumnError::BadRow { row, fault: RowFault::Unverified, count: 1 });
    assert_eq!(error.blame(), Blame::Peer);
    assert_eq!(error.to_string(), format!("row {row}: the tag does not verify (1 bad row)"));
}

#[test]
fn every_part_of_a_row_is_authenticated() {
    let (_, sealed) = sealed(20);
    let first = sealed.iter().flatten().next().unwrap();
    let changed = (0..first.len()).map(|at| {
        let mut row = first.clone();
        row[at] ^= 1;
        Some(row)
    });
    let changed: Values = changed.collect();
    let opened = decrypt(&keys(), &array(&changed), &Decryption::new("aes128", GCM), OnError::Null).unwrap();
    assert_eq!(opened.rejected.total(), first.len());
    assert_eq!(opened.array.null_count(), first.len());
}

#[test]
fn a_struct_holds_the_value_or_the_reason() {
    let (values, mut sealed) = sealed(10);
    sealed.push(Some(vec![1; 28]));
    sealed.push(Some(vec![1; 27]));
    let opened = decrypt(&keys(), &array(&sealed), &Decryption::new("aes128", GCM), OnError::Struct).unwrap();
    let pair = opened.array.as_struct();
    assert_eq!(*pair.data_type(), struct_type(pair.column(0).data_type()));
    assert_eq!(values_of(pair.column(0))[..10], values);
    let errors: Vec<_> = pair.column(1).as_string::<i32>().iter().collect();
    assert_eq!(errors[..10], [None; 10]);
    assert_eq!(errors[10], Some("the tag does not verify"));
    assert_eq!(errors[11], Some("the value is too short, or it is not whole blocks"));
    assert_eq!(opened.rejected.total(), 2);
}

#[test]
fn wrong_paddings_and_lengths_of_cbc_are_bad_rows() {
    let keys = keys();
    let cipher = ColumnCipher::AES128_CBC;
    let plain = StringArray::from(vec!["fifteen bytes.."; 64]);
    let sealed = encrypt(&keys, &plain, &Encryption::new("aes128", cipher), OnError::Raise).unwrap();
    let mut sealed = values_of(&sealed.array);
    // The last byte of the IV changes the last byte of the block, which is the length of the padding.
    sealed[9].as_mut().unwrap()[15] ^= 0xf0;
    sealed[10].as_mut().unwrap().pop();
    sealed[11].as_mut().unwrap().truncate(16);
    sealed[12] = Some(vec![]);
    let opened = decrypt(&keys, &array(&sealed), &Decryption::new("aes128", cipher), OnError::Null).unwrap();
    let faults: Vec<_> = opened.rejected.iter().collect();
    assert_eq!(faults, [(RowFault::Length, 3), (RowFault::Padding, 1)]);
    assert_eq!(opened.array.null_count(), 4);
}

#[test]
fn keys_are_refused_as_a_whole() {
    let keys = keys();
    let plain = StringArray::from(vec!["a"; 3]);
    let seal =
        |key, cipher| encrypt(&keys, &plain, &Encryption::new(key, cipher), OnError::Null).unwrap_err();
    assert_eq!(seal("nobody", GCM), ColumnError::UnknownKey { name: "nobody".into() });
    for (key, cipher, reason) in [
        ("open-only", GCM, "policy forbids"),
        ("hmac", GCM, "another type"),
        ("aes256", GCM, "another type"),
        ("random-only", ColumnCipher::AES128_CBC, "forbids the operation"),
    ] {
        let error = seal(key, cipher);
        assert!(matches!(&error, ColumnError::KeyRefused { name, .. } if name == key), "{error}");
        assert!(error.to_string().contains(reason), "{error}");
        assert_eq!(error.blame(), Blame::Caller);
    }
    // A policy with random IVs only takes none of the caller's, and derived ones are the caller's.
    let ids = StringArray::from(vec!["1", "2", "3"]);
    let iv = oarlock_columns::ColumnIv::Derived { key: "hmac", row_ids: &ids };
    let error =
        encrypt(&keys, &plain, &Encryption::new("random-only", GCM).iv(iv), OnError::Null).unwrap_err();
    assert!(error.to_string().contains("forbids an IV from this source"), "{error}");
}
