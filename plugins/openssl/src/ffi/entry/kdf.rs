//! Key derivations of TLS. provider-kdf(7).

use std::ffi::{c_int, c_void};

use super::{context_entries, describe, dispatch, entry};
use crate::error::ProviderError;
use crate::ffi::libcrypto::abi::{OsslDispatch, OsslParam, StaticTable, kdf, kind};
use crate::ffi::libcrypto::params::{ParamReader, ParamWriter};
use crate::kdf::{KdfContext, KdfKind, name};
use crate::provider::LoadedProvider;

/// The functions of a key derivation.
macro_rules! kdf_table {
    ($newctx:ident, $settable:ident) => {
        dispatch! {
            kdf::NEWCTX => $newctx,
            kdf::FREECTX => freectx,
            kdf::DUPCTX => dupctx,
            kdf::RESET => reset,
            kdf::DERIVE => derive,
            kdf::SET_CTX_PARAMS => set_params,
            kdf::SETTABLE_CTX_PARAMS => $settable,
            kdf::GET_CTX_PARAMS => get_params,
            kdf::GETTABLE_CTX_PARAMS => gettable_params,
        }
    };
}

pub(super) static TLS13: StaticTable<OsslDispatch> = kdf_table!(new_tls13_ctx, settable_params);
pub(super) static TLS12: StaticTable<OsslDispatch> = kdf_table!(new_tls12_ctx, settable_tls12_params);

static GETTABLE: StaticTable<OsslParam> = describe! { name::SIZE => kind::UNSIGNED };

static SETTABLE: StaticTable<OsslParam> = describe! {
    name::MODE => kind::UTF8,
    name::MODE => kind::INTEGER,
    // A property query chooses the provider of a digest. This provider has its own digests and ignores it.
    c"properties" => kind::UTF8,
    name::DIGEST => kind::UTF8,
    name::KEY => kind::OCTETS,
    name::SALT => kind::OCTETS,
    name::PREFIX => kind::OCTETS,
    name::LABEL => kind::OCTETS,
    name::DATA => kind::OCTETS,
};

static SETTABLE_TLS12: StaticTable<OsslParam> = describe! {
    c"properties" => kind::UTF8,
    name::DIGEST => kind::UTF8,
    name::SECRET => kind::OCTETS,
    name::SEED => kind::OCTETS,
};

entry! {
    fn new_tls13_ctx(provider: Option<&LoadedProvider>) -> Option<Box<KdfContext>>, or None; {
        provider.map(|provider| Box::new(KdfContext::new(provider.clone(), KdfKind::Tls13)))
    }
}

entry! {
    fn new_tls12_ctx(provider: Option<&LoadedProvider>) -> Option<Box<KdfContext>>, or None; {
        provider.map(|provider| Box::new(KdfContext::new(provider.clone(), KdfKind::Tls12)))
    }
}

context_entries!(KdfContext, gettable GETTABLE, settable SETTABLE);

entry! {
    fn settable_tls12_params(_context: *const c_void, _provider: *const c_void) -> *const OsslParam,
        or std::ptr::null();
    { SETTABLE_TLS12.as_ptr() }
}

entry! {
    fn reset(context: Option<&mut KdfContext>) -> (), or (); {
        if let Some(context) = context {
            context.reset();
        }
    }
}

entry! {
    fn derive(context: Option<&mut KdfContext>, address: *mut u8, len: usize, params: ParamReader<'_>) -> c_int, or 0; {
        let Some(context) = context else { return 0 };
        let result = if address.is_null() || len == 0 {
            let expected = "at least one byte, and a buffer for it".to_owned();
            Err(ProviderError::Parameter { what: "length of the output", expected })
        } else {
            // SAFETY: the caller's buffer has this length, and the new output does not overlap it.
            context.derive(len, params).map(|output| unsafe { oarlock_ffi::copy_out(&output, address, len) })
        };
        context.provider().report(result)
    }
}
