//! X25519 and ECDH. provider-keyexch(7).

use std::ffi::{c_int, c_void};

use super::keymgmt::{EcFamily, FamilyMarker, X25519Family};
use super::{OutputBuffer, context_entries, describe, dispatch, entry, report_result};
use crate::exchange::{ExchangeContext, name};
use crate::ffi::libcrypto::abi::{OsslDispatch, OsslParam, StaticTable, keyexch, kind};
use crate::ffi::libcrypto::params::{ParamReader, ParamWriter};
use crate::key::ProviderKey;
use crate::provider::LoadedProvider;

pub(super) static X25519: StaticTable<OsslDispatch> = dispatch! {
    keyexch::NEWCTX => newctx::<X25519Family>,
    keyexch::FREECTX => freectx,
    keyexch::DUPCTX => dupctx,
    keyexch::INIT => init,
    keyexch::SET_PEER => set_peer,
    keyexch::DERIVE => derive,
};

pub(super) static ECDH: StaticTable<OsslDispatch> = dispatch! {
    keyexch::NEWCTX => newctx::<EcFamily>,
    keyexch::FREECTX => freectx,
    keyexch::DUPCTX => dupctx,
    keyexch::INIT => init,
    keyexch::SET_PEER => set_peer,
    keyexch::DERIVE => derive,
    keyexch::SET_CTX_PARAMS => set_params,
    keyexch::SETTABLE_CTX_PARAMS => settable_params,
    keyexch::GET_CTX_PARAMS => get_params,
    keyexch::GETTABLE_CTX_PARAMS => gettable_params,
};

// The shared information is not here: OpenSSL asks for a pointer to it, and this list has no such type.
static GETTABLE: StaticTable<OsslParam> = describe! {
    name::COFACTOR_MODE => kind::INTEGER,
    name::KDF_TYPE => kind::UTF8,
    name::KDF_DIGEST => kind::UTF8,
    name::KDF_LEN => kind::UNSIGNED,
};

static SETTABLE: StaticTable<OsslParam> = describe! {
    name::COFACTOR_MODE => kind::INTEGER,
    name::KDF_TYPE => kind::UTF8,
    name::KDF_DIGEST => kind::UTF8,
    // A property query chooses the provider of a digest. This provider has its own digests and ignores it.
    c"kdf-digest-props" => kind::UTF8,
    name::KDF_LEN => kind::UNSIGNED,
    name::KDF_UKM => kind::OCTETS,
};

type LentContext<'a> = Option<&'a mut ExchangeContext>;

entry! {
    fn newctx<F: FamilyMarker>(provider: Option<&LoadedProvider>) -> Option<Box<ExchangeContext>>, or None; {
        provider.map(|provider| Box::new(ExchangeContext::new(provider.clone(), F::FAMILY)))
    }
}

context_entries!(ExchangeContext, gettable GETTABLE, settable SETTABLE);

entry! {
    fn init(context: LentContext<'_>, key: Option<&ProviderKey>, params: ParamReader<'_>) -> c_int, or 0; {
        let Some(context) = context else { return 0 };
        let result = context.init(key, params);
        report_result(context.provider(), result)
    }
}

entry! {
    fn set_peer(context: LentContext<'_>, key: Option<&ProviderKey>) -> c_int, or 0; {
        let Some(context) = context else { return 0 };
        let result = context.set_peer(key);
        report_result(context.provider(), result)
    }
}

entry! {
    fn derive(context: LentContext<'_>, address: *mut u8, len: Option<&mut usize>, size: usize) -> c_int, or 0; {
        let Some(context) = context else { return 0 };
        let result = context.output_len((!address.is_null()).then_some(size)).and_then(|needed| {
            // SAFETY: a buffer of this size.
            unsafe { OutputBuffer { address, len, size }.write(needed, || context.derive(needed)) }
        });
        report_result(context.provider(), result)
    }
}

entry! {
    fn get_params(context: Option<&ExchangeContext>, wanted: ParamWriter<'_>) -> c_int, or 0; {
        let mut wanted = wanted;
        context.is_some_and(|context| context.get(&mut wanted)).into()
    }
}

entry! {
    fn set_params(context: LentContext<'_>, params: ParamReader<'_>) -> c_int, or 0; {
        let Some(context) = context else { return 0 };
        let result = context.set(params);
        report_result(context.provider(), result)
    }
}
