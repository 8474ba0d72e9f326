//! X25519 and ECDH. provider-keyexch(7).

use std::ffi::{c_int, c_void};

use super::keymgmt::{EcFamily, FamilyMarker, X25519Family};
use super::{OutputBuffer, context_entries, describe, dispatch, entry};
use crate::exchange::{ExchangeContext, name};
use crate::ffi::libcrypto::abi::{OsslDispatch, OsslParam, StaticTable, keyexch, kind};
use crate::ffi::libcrypto::params::{ParamReader, ParamWriter};
use crate::handover::OperationContext;
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

type Context = OperationContext<ExchangeContext>;
type LentContext<'a> = Option<&'a mut Context>;

entry! {
    fn newctx<F: FamilyMarker>(provider: Option<&LoadedProvider>) -> Option<Box<Context>>, or None; {
        provider.map(|provider| Box::new(OperationContext::new(ExchangeContext::new(provider.clone(), F::FAMILY))))
    }
}

context_entries!(Context, gettable GETTABLE, settable SETTABLE);

entry! {
    fn init(context: LentContext<'_>, key: Option<&ProviderKey>, params: ParamReader<'_>) -> c_int, or 0; {
        let Some(context) = context else { return 0 };
        context.begin(key, |native| native.init(key, params), |fallback| fallback.init(keyexch::INIT, params))
    }
}

entry! {
    fn set_peer(context: LentContext<'_>, key: Option<&ProviderKey>) -> c_int, or 0; {
        let Some(context) = context else { return 0 };
        context.call(
            |native| native.set_peer(key).map(|()| true),
            |fallback| key.and_then(ProviderKey::to_fallback).map_or(0, |peer| fallback.set_peer(&peer)),
        )
    }
}

entry! {
    fn derive(context: LentContext<'_>, address: *mut u8, len: Option<&mut usize>, size: usize) -> c_int, or 0; {
        let Some(context) = context else { return 0 };
        let output = OutputBuffer::new(address, len, size);
        context.call(
            |native| {
                let needed = native.output_len((!address.is_null()).then_some(size))?;
                // SAFETY: a buffer of this size.
                unsafe { output.write(needed, || native.derive(needed)) }
            },
            // SAFETY: a buffer of this size.
            |fallback| unsafe { fallback.finish(keyexch::DERIVE, output.parts()) },
        )
    }
}
