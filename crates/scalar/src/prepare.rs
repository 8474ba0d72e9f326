//! Prepared keys: cached with a key's handle, or made for one record if the key comes from a slot.

use oarlock_core::{Key, Status};

use crate::ffi::{AesDecrypt, AesEncrypt, DesKey, TdesKey};
use crate::op_error::OpError;

/// The prepared form of a symmetric key.
pub(crate) trait PrepareKey: Sized + Send + Sync + 'static {
    fn prepare(key: &[u8]) -> Result<Self, OpError>;
}

/// Returns the prepared form of `bytes`. It is cached with `key` if there is a handle, and stored in `own`, which
/// the caller drops, otherwise.
pub(crate) fn prepared_key<'a, K: PrepareKey>(
    key: Option<&'a Key>,
    bytes: &[u8],
    own: &'a mut Option<K>,
) -> Result<&'a K, OpError> {
    match key {
        Some(key) => key.prepared(|_| K::prepare(bytes)),
        None => Ok(own.insert(K::prepare(bytes)?)),
    }
}

impl PrepareKey for AesEncrypt {
    fn prepare(key: &[u8]) -> Result<Self, OpError> {
        Self::new(key).map_err(OpError::from_key_error)
    }
}

impl PrepareKey for AesDecrypt {
    fn prepare(key: &[u8]) -> Result<Self, OpError> {
        Self::new(key).map_err(OpError::from_key_error)
    }
}

impl PrepareKey for DesKey {
    fn prepare(key: &[u8]) -> Result<Self, OpError> {
        Ok(Self::new(key.try_into().map_err(|_| Status::BadKey)?))
    }
}

/// Expands three keys of 8 bytes. With two keys, the first is the third too. NIST SP 800-67 3.1.
impl PrepareKey for TdesKey {
    fn prepare(key: &[u8]) -> Result<Self, OpError> {
        match key.as_chunks() {
            ([k1, k2], []) => Ok(Self::new([k1, k2, k1])),
            ([k1, k2, k3], []) => Ok(Self::new([k1, k2, k3])),
            _ => Err(Status::BadKey.into()),
        }
    }
}
