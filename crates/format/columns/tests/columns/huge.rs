//! Columns of more than four gibibytes, of which few pages exist.

use std::sync::Arc;

use arrow_array::{Array, BinaryViewArray, LargeBinaryArray};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use oarlock::DigestAlg;
use oarlock_columns::{ColumnCipher, Decryption, Encryption, OnError, decrypt, encrypt, hash};

use super::common::{keys, values_of};

/// Zeros that the system gives no memory until they are read or written.
fn untouched(len: usize) -> Vec<u8> {
    vec![0; len]
}

#[test]
fn offsets_beyond_four_gibibytes_are_read_in_place() {
    let far = (5_usize << 30) as i64;
    let mut bytes = untouched(far as usize + 64);
    bytes[far as usize..far as usize + 3].copy_from_slice(b"abc");
    // The long row in the middle is null, so nobody reads it.
    let offsets = OffsetBuffer::new(ScalarBuffer::from(vec![0, 3, far, far + 3, far + 64]));
    let nulls = vec![true, false, true, true].into();
    let array = LargeBinaryArray::new(offsets, Buffer::from_vec(bytes), Some(nulls));
    let keys = keys();
    let short = hash(&keys, &array.slice(2, 2), DigestAlg::Sha256, OnError::Raise).unwrap();
    let whole = hash(&keys, &array, DigestAlg::Sha256, OnError::Raise).unwrap();
    assert_eq!(values_of(&whole.array)[2..], values_of(&short.array));
    let sealed =
        encrypt(&keys, &array, &Encryption::new("aes128", ColumnCipher::AES128_GCM), OnError::Raise).unwrap();
    let options = Decryption::new("aes128", ColumnCipher::AES128_GCM);
    let opened = decrypt(&keys, &sealed.array, &options, OnError::Raise).unwrap();
    assert_eq!(values_of(&opened.array)[2].as_deref(), Some(&b"abc"[..]));
    assert!(opened.array.is_null(1));
}

#[test]
fn a_value_longer_than_a_batch_takes_is_a_bad_row() {
    let long = 3_u32 << 30;
    let buffer = Buffer::from_vec(untouched(long as usize));
    let views = ScalarBuffer::from(vec![u128::from(long), u128::from(13_u32)]);
    let array = BinaryViewArray::new(views, Arc::from(vec![buffer]), None);
    let hashed = hash(&keys(), &array, DigestAlg::Sha1, OnError::Null).unwrap();
    assert_eq!(hashed.rejected.to_string(), "1 row: the value is too long");
    assert!(hashed.array.is_null(0) && hashed.array.is_valid(1));
}
