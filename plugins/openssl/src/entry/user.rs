//! Users by name, as the C library knows them.

use std::ffi::CString;

/// The number of a user; None where there is none of this name.
pub(crate) fn uid_of(name: &str) -> Option<u32> {
    let name = CString::new(name).ok()?;
    let mut entry = std::mem::MaybeUninit::<libc::passwd>::uninit();
    let mut texts = vec![0; 16 * 1024];
    let mut found = std::ptr::null_mut();
    // SAFETY: a name that ends with zero, and places of the sizes that are stated.
    let status = unsafe {
        libc::getpwnam_r(name.as_ptr(), entry.as_mut_ptr(), texts.as_mut_ptr(), texts.len(), &mut found)
    };
    if status != 0 || found.is_null() {
        return None;
    }
    // SAFETY: the call succeeded and has filled the entry.
    Some(unsafe { entry.assume_init() }.pw_uid)
}
