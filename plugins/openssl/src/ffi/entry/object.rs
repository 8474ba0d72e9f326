//! Keys that stores and decoders pass to OpenSSL. provider-object(7).

use std::ffi::c_void;

use crate::ffi::libcrypto::abi::OBJECT_PKEY;
use crate::ffi::libcrypto::params::{Callback, ParamList};
use crate::key::ProviderKey;

/// Passes a key to the callback of a store or decoder. OpenSSL has the key manager of the family load it: the reference
/// is the key's address, which is valid during the call. False if the callback fails.
pub(super) fn pass_key(key: &ProviderKey, callback: Option<Callback>, argument: *mut c_void) -> bool {
    // OpenSSL copies the bytes of the address. The pointer comes back from an integer, so its provenance is exposed.
    let address = std::ptr::from_ref(key).expose_provenance();
    let mut params = ParamList::default();
    params.number(c"type", OBJECT_PKEY).text(c"data-type", key.family.name());
    params.octets(c"reference", &address.to_ne_bytes());
    params.pass_to(callback, argument)
}

/// The name of a reference's DER between the decoder that finds it and the decoders that read it.
pub(super) const STRUCTURE: &str = "oarlock-reference";

/// Passes the DER of a reference to the next decoders. False if none of them accepts it.
pub(super) fn pass_der(der: &[u8], callback: Option<Callback>, argument: *mut c_void) -> bool {
    let mut params = ParamList::default();
    params.number(c"type", OBJECT_PKEY).text(c"data-structure", STRUCTURE).octets(c"data", der);
    params.pass_to(callback, argument)
}

/// Returns a copy of the key behind a reference of [`pass_key`].
///
/// # Safety
/// `reference` is null or comes from [`pass_key`], whose call has not returned yet.
pub(super) unsafe fn load_key(reference: *const c_void, len: usize) -> Option<ProviderKey> {
    if reference.is_null() || len != size_of::<*const ProviderKey>() {
        return None;
    }
    // SAFETY: the reference has the size of an address, and its key lives as long as the call.
    let key = unsafe {
        std::ptr::with_exposed_provenance::<ProviderKey>(reference.cast::<usize>().read_unaligned()).as_ref()
    };
    key.cloned()
}
