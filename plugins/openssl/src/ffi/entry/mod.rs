//! The functions that OpenSSL calls, each behind [`entry!`].
//!
//! Types state ownership. `Option<&T>` and `Option<&mut T>` are lent for the call and may be null; `Option<Box<T>>`
//! passes ownership. OpenSSL passes to a function what another function of the same table returned: provider(7).

mod cipher;
mod decoder;
mod encoder;
mod exchange;
mod hybrid;
mod kdf;
mod kem;
mod keymgmt;
mod object;
mod provider;
mod signature;
mod slh_dsa;
mod store;

use std::ffi::c_int;

use crate::error::ProviderError;
use crate::provider::LoadedProvider;

/// Defines a function that OpenSSL calls. A panic ends here, and the function returns `failed`.
///
/// The function is `unsafe`: it trusts its caller for every pointer, so that only C may call it.
macro_rules! entry {
    ($(#[$meta:meta])* fn $name:ident $(<$param:ident: $bound:path>)? ($($arg:ident: $type:ty),* $(,)?) -> $out:ty, or $failed:expr; $body:block) => {
        $(#[$meta])*
        unsafe extern "C" fn $name $(<$param: $bound>)? ($($arg: $type),*) -> $out {
            oarlock_ffi::guard(|| -> $out { $body }).unwrap_or($failed)
        }
    };
}
use entry;

/// Defines the functions that free and copy a context, and those of its parameters.
macro_rules! context_entries {
    ($context:ty, gettable $gettable:expr, settable $settable:expr) => {
        entry! {
            fn freectx(context: Option<Box<$context>>) -> (), or (); { drop(context); }
        }

        entry! {
            fn dupctx(context: Option<&$context>) -> Option<Box<$context>>, or None; {
                context?.duplicate().map(Box::new)
            }
        }

        entry! {
            fn get_params(context: Option<&$context>, wanted: ParamWriter<'_>) -> c_int, or 0; {
                context.map_or(0, |context| context.get(wanted))
            }
        }

        entry! {
            fn set_params(context: Option<&mut $context>, params: ParamReader<'_>) -> c_int, or 0; {
                context.map_or(0, |context| context.set(params))
            }
        }

        entry! {
            fn gettable_params(_context: *const c_void, _provider: *const c_void) -> *const OsslParam,
                or std::ptr::null();
            { $gettable.as_ptr() }
        }

        entry! {
            fn settable_params(_context: *const c_void, _provider: *const c_void) -> *const OsslParam,
                or std::ptr::null();
            { $settable.as_ptr() }
        }
    };
}
use context_entries;

/// A table of functions by number.
macro_rules! dispatch {
    ($($id:path => $function:expr),* $(,)?) => {
        crate::ffi::libcrypto::abi::StaticTable(&[
            $(crate::ffi::libcrypto::abi::OsslDispatch::new($id, $function as *const ()),)*
            crate::ffi::libcrypto::abi::OsslDispatch::END,
        ])
    };
}
use dispatch;

/// A table of parameters by name and type.
macro_rules! describe {
    ($($name:expr => $kind:expr),* $(,)?) => {
        crate::ffi::libcrypto::abi::StaticTable(&[
            $(crate::ffi::libcrypto::abi::OsslParam::describe($name, $kind),)*
            crate::ffi::libcrypto::abi::OsslParam::END,
        ])
    };
}
use describe;

/// Returns OpenSSL's 1 or 0. An error goes to the error queue.
fn report_result(provider: &LoadedProvider, result: Result<(), ProviderError>) -> c_int {
    provider.report(result.map(|()| true))
}

/// A buffer of C for an output: its address, a place for the output's length, and the size of the buffer.
///
/// A null address asks only for the length.
#[derive(Clone, Copy)]
struct OutputBuffer {
    address: *mut u8,
    len: *mut usize,
    size: usize,
}

impl OutputBuffer {
    fn new(address: *mut u8, len: Option<&mut usize>, size: usize) -> Self {
        Self { address, len: len.map_or(std::ptr::null_mut(), std::ptr::from_mut), size }
    }

    /// Returns the buffer as the fallback takes it.
    fn parts(self) -> (*mut u8, *mut usize, usize) {
        (self.address, self.len, self.size)
    }

    /// Computes an output of at most `max_len` bytes and writes it.
    ///
    /// A buffer that could be too small is rejected before anything is computed, for every length of the output
    /// turns out to be. OpenSSL does the same. Otherwise a buffer shorter than an RSA modulus would reveal the length
    /// of a decrypted message by success or failure, and with it whether the padding was valid.
    ///
    /// # Safety
    /// If `address` is not null, `size` bytes may be written there. `len` is null or a place for a length.
    unsafe fn write(
        self,
        max_len: usize,
        compute: impl FnOnce() -> Result<zeroize::Zeroizing<Vec<u8>>, ProviderError>,
    ) -> Result<bool, ProviderError> {
        // SAFETY: as the caller promises.
        let Some(len) = (unsafe { self.len.as_mut() }) else {
            return Err(ProviderError::Parameter {
                what: "length of the output",
                expected: "a place for it".to_owned(),
            });
        };
        if self.address.is_null() {
            // The same operation is called again with a buffer: EVP_DigestSignFinal(3). So nothing is computed yet, and
            // the context keeps its state.
            *len = max_len;
            return Ok(true);
        }
        if self.size < max_len {
            return Err(ProviderError::OutputTooSmall { needed: max_len, available: self.size });
        }
        let output = compute()?;
        // `max_len` bounds every output. The size is checked again, because C has no other defence.
        // SAFETY: as the caller promises; the new output does not overlap the buffer.
        if !unsafe { oarlock_ffi::copy_out(&output, self.address, self.size) } {
            return Err(ProviderError::OutputTooSmall { needed: output.len(), available: self.size });
        }
        *len = output.len();
        Ok(true)
    }
}
