//! The functions that programs call, and all unsafe code.
//!
//! | module | content |
//! |---|---|
//! | `memory` | the memory of the caller: slices, structures, outputs, templates |
//! | `mechanism` | mechanisms with the structures of their parameters |
//! | `general`, `slot`, `session`, `object`, `cipher`, `digest`, `signature`, `key` | the functions of the standard |
//! | `asynchronous` | asynchronous functions of version 3.2 |
//! | `unsupported` | functions of the tables that this module does not have |
//! | `many` | the functions of the interface "Vendor Oarlock" |
//! | `table` | the tables of all versions, and the interfaces |
//! | `fork_handler` | the handler that counts forks |
//!
//! A program passes pointers that are valid for the lengths beside them, during the call: that is the contract of
//! PKCS#11. [`memory::CallerMemory`] stands for it. It is made in one place, the macro [`functions`], and everything
//! behind it is safe code.
#![allow(unsafe_code)]

mod asynchronous;
mod cipher;
mod digest;
mod fork_handler;
mod general;
mod key;
mod many;
mod mechanism;
mod memory;
mod object;
mod session;
mod signature;
mod slot;
mod table;
mod unsupported;

use cryptoki_sys::CK_RV;
use oarlock_cryptoki::{CKR_OK, ReturnCode};

/// Defines functions that programs call. A panic ends here.
///
/// Each function has the name of the standard, is exported, and is also an item of this crate for the tables. Its body
/// returns a `Result`; `memory` is the memory of the caller.
macro_rules! functions {
    ($memory:ident: $($(#[$meta:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) $body:block)*) => {$(
        $(#[$meta])*
        #[allow(non_snake_case, unused_variables)]
        // SAFETY: no other library of a process has functions of these names, except other PKCS#11 modules, which
        // programs load apart from each other.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name($($arg: $type),*) -> cryptoki_sys::CK_RV {
            crate::entry::answer(|| {
                // SAFETY: the program passes pointers that are valid for the lengths beside them during the call, as
                // PKCS#11 demands.
                let $memory = unsafe { crate::entry::memory::CallerMemory::trust() };
                $body
            })
        }
    )*};
}
use functions;

/// Runs the body of a function and returns its `CK_RV`.
fn answer(body: impl FnOnce() -> Result<(), ReturnCode>) -> CK_RV {
    match oarlock_ffi::guard(body) {
        Some(Ok(())) => CKR_OK as CK_RV,
        Some(Err(code)) => code.value() as CK_RV,
        None => ReturnCode::GeneralError.value() as CK_RV,
    }
}
