//! The functions that programs call, and all unsafe code.
//!
//! | module | content |
//! |---|---|
//! | `memory` | the memory of the caller: slices, structures, outputs, templates |
//! | `mechanism` | mechanisms with the structures of their parameters |
//! | `general`, `slot`, `session`, `object`, `cipher`, `digest`, `signature`, `key` | the functions of the standard |
//! | `message` | functions for many messages under one key, of version 3.0 |
//! | `asynchronous` | asynchronous functions of version 3.2, and calls that may be pending |
//! | `unsupported` | functions of the tables that this module does not have |
//! | `many` | the functions of the interface "Vendor Oarlock" |
//! | `table` | the tables of all versions, and the interfaces |
//!
//! A program passes pointers that are valid for the lengths beside them, during the call: that is the contract of
//! PKCS#11. [`memory::CallerMemory`] stands for it. It is made in one place, the macro [`functions`], and everything
//! behind it is safe code.
#![allow(unsafe_code)]

mod asynchronous;
mod cipher;
mod digest;
mod general;
mod key;
mod many;
mod mechanism;
mod memory;
mod message;
mod object;
mod session;
mod signature;
mod slot;
mod table;
mod unsupported;

use cryptoki_sys::CK_RV;
use oarlock_cryptoki::ReturnCode;

/// Defines functions that programs call. A panic ends here.
///
/// Each function has the name of the standard, is exported, and is also an item of this crate for the tables. Its body
/// returns a `Result`; `memory` is the memory of the caller. Functions of one form are made from their names.
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

    // A function with an input and an output, which is the method of the same steps.
    (output of data; $($name:ident: $method:ident),* $(,)?) => { functions! { memory: $(
        fn $name(
            session: CK_SESSION_HANDLE,
            data: *mut CK_BYTE,
            data_len: CK_ULONG,
            out: *mut CK_BYTE,
            out_len: *mut CK_ULONG,
        ) {
            library::with(|library| {
                let call = CallInSession { memory, library, session, function: stringify!($name) };
                call.ending(|| {
                    let data = memory.apart((data, data_len), out, out_len)?;
                    call.output(out, out_len, |handle, out| library.cryptoki.$method(handle, &data, out))
                })
            })
        }
    )* } };

    // A function with an output only.
    (output; $($name:ident: $method:ident),* $(,)?) => { functions! { memory: $(
        fn $name(session: CK_SESSION_HANDLE, out: *mut CK_BYTE, out_len: *mut CK_ULONG) {
            library::with(|library| {
                let call = CallInSession { memory, library, session, function: stringify!($name) };
                call.ending(|| call.output(out, out_len, |handle, out| library.cryptoki.$method(handle, out)))
            })
        }
    )* } };

    // A function with an input only.
    (data; $($name:ident: $method:ident),* $(,)?) => { functions! { memory: $(
        fn $name(session: CK_SESSION_HANDLE, data: *mut CK_BYTE, data_len: CK_ULONG) {
            library::with(|library| {
                let call = CallInSession { memory, library, session, function: stringify!($name) };
                call.ending(|| {
                    let data = memory.bytes(data, data_len)?;
                    call.plain(|handle| library.cryptoki.$method(handle, data))
                })
            })
        }
    )* } };

    // A function without arguments.
    (session; $($name:ident: $method:ident),* $(,)?) => { functions! { memory: $(
        fn $name(session: CK_SESSION_HANDLE) {
            library::with(|library| library.cryptoki.$method(session_handle(session)))
        }
    )* } };

    // A function that begins an operation under a key.
    (init; $($name:ident: $method:ident by $flag:ident),* $(,)?) => { functions! { memory: $(
        fn $name(session: CK_SESSION_HANDLE, mechanism: *mut CK_MECHANISM, key: CK_OBJECT_HANDLE) {
            begin(memory, session, mechanism, mechanism_flags::$flag, |library, mechanism| {
                library.cryptoki.$method(session_handle(session), mechanism, object_handle(key))
            })
        }
    )* } };
}
use functions;

/// Runs the body of a function and returns its `CK_RV`.
fn answer(body: impl FnOnce() -> Result<(), ReturnCode>) -> CK_RV {
    match oarlock_ffi::guard(body) {
        Some(result) => ReturnCode::value_of(&result) as CK_RV,
        None => ReturnCode::GeneralError.value() as CK_RV,
    }
}
