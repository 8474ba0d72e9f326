//! Keys handed over by stores and decoders. provider-object(7).

use std::ffi::c_void;

use super::abi::OBJECT_PKEY;
use super::params::{Callback, Made};
use crate::key::ProviderKey;

/// Gives a key to the callback of a store or decoder, which has it loaded by the key manager of its family: the reference that it
/// gets is the key's address, good for the call. False where nobody wanted it.
pub(super) fn give(key: &ProviderKey, callback: Option<Callback>, argument: *mut c_void) -> bool {
    let address = std::ptr::from_ref(key).expose_provenance();
    let mut made = Made::default();
    made.number(c"type", OBJECT_PKEY).text(c"data-type", key.family.name());
    made.octets(c"reference", &address.to_ne_bytes());
    made.give(callback, argument)
}

/// What the DER of a reference is called between the decoder that finds it and those that read it.
pub(super) const STRUCTURE: &str = "oarlock-reference";

/// Gives the DER of a reference to the decoders behind. False where none of them had a use for it.
pub(super) fn give_der(der: &[u8], callback: Option<Callback>, argument: *mut c_void) -> bool {
    let mut made = Made::default();
    made.number(c"type", OBJECT_PKEY).text(c"data-structure", STRUCTURE).octets(c"data", der);
    made.give(callback, argument)
}

/// The key that a reference of [`give`] is for.
///
/// # Safety
/// `reference` is null or one of [`give`], in the call that it was made for.
pub(super) unsafe fn take(reference: *const c_void, len: usize) -> Option<ProviderKey> {
    if reference.is_null() || len != size_of::<*const ProviderKey>() {
        return None;
    }
    // SAFETY: so many bytes, which are the address of a key that lives as long as the call.
    let key = unsafe {
        std::ptr::with_exposed_provenance::<ProviderKey>(reference.cast::<usize>().read_unaligned()).as_ref()
    };
    key.cloned()
}
