//! The functions that OpenSSL calls, each behind [`entry!`]. The crate's only unsafe code.
//!
//! Types say who owns what: `Option<&T>` and `Option<&mut T>` are lent for the call and may be null, `Option<Box<T>>` is given away.
//! OpenSSL passes to a function what another function of the same table returned: provider(7).
#![allow(unsafe_code)]

mod abi;
pub(crate) mod async_job;
mod cipher;
pub(crate) mod core;
mod decoder;
mod exchange;
mod keymgmt;
mod object;
pub(crate) mod params;
mod provider;
mod signature;
mod store;

use std::ffi::c_int;

use crate::error::Failure;
use crate::work::Provider;

/// A function that OpenSSL calls. Panics end here and become `failed`.
macro_rules! entry {
    ($(#[$meta:meta])* fn $name:ident $(<$param:ident: $bound:path>)? ($($arg:ident: $type:ty),* $(,)?) -> $out:ty, or $failed:expr; $body:block) => {
        $(#[$meta])*
        extern "C" fn $name $(<$param: $bound>)? ($($arg: $type),*) -> $out {
            oarlock_ffi::guard(|| -> $out { $body }).unwrap_or($failed)
        }
    };
}
use entry;

/// A table of functions by number.
macro_rules! dispatch {
    ($($id:path => $function:expr),* $(,)?) => {
        crate::entry::abi::Table(&[
            $(crate::entry::abi::Dispatch::new($id, $function as *const ()),)*
            crate::entry::abi::Dispatch::END,
        ])
    };
}
use dispatch;

/// A table of parameters by name and type.
macro_rules! describe {
    ($($name:expr => $kind:expr),* $(,)?) => {
        crate::entry::abi::Table(&[
            $(crate::entry::abi::Param::describe($name, $kind),)*
            crate::entry::abi::Param::END,
        ])
    };
}
use describe;

/// OpenSSL's yes and no; a failure goes to the error queue.
fn answer(provider: &Provider, result: Result<(), Failure>) -> c_int {
    answer_bool(provider, result.map(|()| true))
}

/// As [`answer`], for questions: no is no failure.
fn answer_bool(provider: &Provider, result: Result<bool, Failure>) -> c_int {
    result.map_or_else(
        |failure| {
            provider.core().raise(&failure);
            0
        },
        c_int::from,
    )
}

/// Gives an output to a caller that says how much room there is, or asks how much is needed by giving no place.
///
/// A place that could be too small is refused before anything is computed, whatever the output's length turns out to be, as OpenSSL
/// does. Otherwise a place shorter than an RSA modulus would show the length of a decrypted message by success or failure, and with
/// it whether the padding was good.
///
/// # Safety
/// Where `place` is not null, `room` bytes may be written there.
unsafe fn put(
    place: *mut u8,
    len: Option<&mut usize>,
    room: usize,
    max: usize,
    make: impl FnOnce() -> Result<zeroize::Zeroizing<Vec<u8>>, Failure>,
) -> Result<(), Failure> {
    let Some(len) = len else {
        return Err(Failure::Parameter {
            what: "length of the output",
            expected: "a place for it".to_owned(),
        });
    };
    if place.is_null() {
        *len = max;
        return Ok(());
    }
    if room < max {
        return Err(Failure::Room { needed: max, room });
    }
    let output = make()?;
    // SAFETY: as the caller promises; what was made here does not lie there.
    if !unsafe { oarlock_ffi::copy_out(&output, place, room) } {
        return Err(Failure::Room { needed: output.len(), room });
    }
    *len = output.len();
    Ok(())
}
