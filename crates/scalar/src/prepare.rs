//! Prepared keys: kept with a key's handle, or made for one record where the key comes from a slot.

use oarlock_core::{Key, Status};

use crate::ffi::{AesDecrypt, AesEncrypt, DesKey, TdesKey};
use crate::op_error::OpError;

/// What a symmetric key becomes before use.
pub(crate) trait PrepareKey: Sized + Send + Sync + 'static {
    fn prepare(key: &[u8]) -> Result<Self, OpError>;
}

/// The prepared form of `bytes`: kept with `key` where there is a handle, else in `own`, which the caller drops.
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

/// Three keys of 8 bytes, or two, of which the first serves again as the third. NIST SP 800-67 3.1.
impl PrepareKey for TdesKey {
    fn prepare(key: &[u8]) -> Result<Self, OpError> {
        match key.as_chunks() {
            ([k1, k2], []) => Ok(Self::new([k1, k2, k1])),
            ([k1, k2, k3], []) => Ok(Self::new([k1, k2, k3])),
            _ => Err(Status::BadKey.into()),
        }
    }
}
