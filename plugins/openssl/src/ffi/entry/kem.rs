//! KEMs. provider-kem(7).

use std::ffi::{c_int, c_void};

use oarlock_ffi::bytes;

use super::{OutputBuffer, describe, dispatch, entry, report_result};
use crate::error::ProviderError;
use crate::ffi::libcrypto::abi::{OsslDispatch, OsslParam, StaticTable, kem};
use crate::ffi::libcrypto::params::ParamReader;
use crate::hybrid::HybridKey;
use crate::kem::{KemContext, KemSource};
use crate::key::ProviderKey;
use crate::provider::LoadedProvider;

/// The functions of a KEM whose keys are of this type.
macro_rules! kem_table {
    ($key:ty) => {
        dispatch! {
            kem::NEWCTX => newctx,
            kem::FREECTX => freectx,
            kem::DUPCTX => dupctx,
            kem::ENCAPSULATE_INIT => encapsulate_init::<$key>,
            kem::ENCAPSULATE => encapsulate,
            kem::DECAPSULATE_INIT => decapsulate_init::<$key>,
            kem::DECAPSULATE => decapsulate,
            kem::SET_CTX_PARAMS => set_params,
            kem::SETTABLE_CTX_PARAMS => settable_params,
        }
    };
}

pub(super) static ML_KEM: StaticTable<OsslDispatch> = kem_table!(ProviderKey);
pub(super) static HYBRID: StaticTable<OsslDispatch> = kem_table!(HybridKey);

static SETTABLE: StaticTable<OsslParam> = describe! {};

type LentContext<'a> = Option<&'a mut KemContext>;

entry! {
    fn newctx(provider: Option<&LoadedProvider>) -> Option<Box<KemContext>>, or None; {
        provider.map(|provider| Box::new(KemContext::new(provider.clone())))
    }
}

entry! {
    fn freectx(context: Option<Box<KemContext>>) -> (), or (); { drop(context); }
}

entry! {
    fn dupctx(context: Option<&KemContext>) -> Option<Box<KemContext>>, or None; { context.cloned().map(Box::new) }
}

entry! {
    fn encapsulate_init<K: KemSource>(context: LentContext<'_>, key: Option<&K>, params: ParamReader<'_>) -> c_int, or 0; {
        begin(context, key, params, false)
    }
}

entry! {
    fn decapsulate_init<K: KemSource>(context: LentContext<'_>, key: Option<&K>, params: ParamReader<'_>) -> c_int, or 0; {
        begin(context, key, params, true)
    }
}

entry! {
    fn encapsulate(
        context: Option<&KemContext>,
        ciphertext: *mut u8,
        ciphertext_len: Option<&mut usize>,
        secret: *mut u8,
        secret_len: Option<&mut usize>,
    ) -> c_int, or 0;
    {
        let Some(context) = context else { return 0 };
        // SAFETY: buffers of these sizes, or null for the lengths alone: EVP_PKEY_encapsulate(3).
        let result = unsafe { write_encapsulated(context, ciphertext, ciphertext_len, secret, secret_len) };
        report_result(context.provider(), result)
    }
}

entry! {
    fn decapsulate(
        context: Option<&KemContext>,
        secret: *mut u8,
        secret_len: Option<&mut usize>,
        ciphertext: *const u8,
        ciphertext_len: usize,
    ) -> c_int, or 0;
    {
        let Some(context) = context else { return 0 };
        // SAFETY: C lends this many bytes for the call.
        let ciphertext = unsafe { bytes(ciphertext, ciphertext_len) };
        let size = secret_len.as_deref().copied().unwrap_or_default();
        let output = OutputBuffer::new(secret, secret_len, size);
        let result = context.output_lens().and_then(|(_, len)| {
            // SAFETY: a buffer of this size, or null.
            unsafe { output.write(len, || context.decapsulate(ciphertext)) }
        });
        context.provider().report(result)
    }
}

entry! {
    fn set_params(context: LentContext<'_>, params: ParamReader<'_>) -> c_int, or 0; {
        let Some(context) = context else { return 0 };
        let result = context.set(params);
        report_result(context.provider(), result)
    }
}

entry! {
    fn settable_params(_context: *const c_void, _provider: *const c_void) -> *const OsslParam, or std::ptr::null(); {
        SETTABLE.as_ptr()
    }
}

fn begin<K: KemSource>(
    context: LentContext<'_>,
    key: Option<&K>,
    params: ParamReader<'_>,
    needs_private: bool,
) -> c_int {
    let Some(context) = context else { return 0 };
    let result = context.init(key, params, needs_private);
    report_result(context.provider(), result)
}

/// Writes both results of an encapsulation, or only their lengths if there is no buffer for the ciphertext.
///
/// # Safety
/// A buffer that is not null may be written up to the length that its place states.
unsafe fn write_encapsulated(
    context: &KemContext,
    ciphertext: *mut u8,
    ciphertext_len: Option<&mut usize>,
    secret: *mut u8,
    secret_len: Option<&mut usize>,
) -> Result<(), ProviderError> {
    let (needed, secret_needed) = context.output_lens()?;
    if ciphertext.is_null() {
        // Each place is optional here: EVP_PKEY_encapsulate(3).
        [(ciphertext_len, needed), (secret_len, secret_needed)]
            .into_iter()
            .for_each(|(output, len)| output.into_iter().for_each(|output| *output = len));
        return Ok(());
    }
    let (Some(ciphertext_len), Some(secret_len)) = (ciphertext_len, secret_len) else {
        let expected = "places for both of them".to_owned();
        return Err(ProviderError::Parameter { what: "lengths of the outputs", expected });
    };
    for (available, needed) in [(*ciphertext_len, needed), (*secret_len, secret_needed)] {
        if available < needed {
            return Err(ProviderError::OutputTooSmall { needed, available });
        }
    }
    let made = context.encapsulate()?;
    for (bytes, address, len) in
        [(&made.ciphertext[..], ciphertext, ciphertext_len), (&made.secret[..], secret, secret_len)]
    {
        // SAFETY: as the caller promises; the results do not overlap the buffers.
        if !unsafe { oarlock_ffi::copy_out(bytes, address, *len) } {
            return Err(ProviderError::OutputTooSmall { needed: bytes.len(), available: *len });
        }
        *len = bytes.len();
    }
    Ok(())
}
