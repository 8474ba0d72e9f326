//! X25519. provider-keyexch(7).

use std::ffi::c_int;

use oarlock::{Job, Key};

use super::{OutputBuffer, dispatch, entry, report_result};
use crate::error::ProviderError;
use crate::ffi::libcrypto::abi::{OsslDispatch, StaticTable, keyexch};
use crate::ffi::libcrypto::params::ParamReader;
use crate::key::{KeyFamily, ProviderKey};
use crate::provider::LoadedProvider;

pub(super) static X25519: StaticTable<OsslDispatch> = dispatch! {
    keyexch::NEWCTX => newctx,
    keyexch::FREECTX => freectx,
    keyexch::DUPCTX => dupctx,
    keyexch::INIT => init,
    keyexch::SET_PEER => set_peer,
    keyexch::DERIVE => derive,
};

/// The number of bytes in a shared secret. RFC 7748 6.1.
const SECRET_LEN: usize = 32;

#[derive(Clone)]
struct ExchangeContext {
    provider: LoadedProvider,
    key: Option<Key>,
    peer: Option<[u8; 32]>,
}

entry! {
    fn newctx(provider: Option<&LoadedProvider>) -> Option<Box<ExchangeContext>>, or None; {
        provider.map(|provider| Box::new(ExchangeContext { provider: provider.clone(), key: None, peer: None }))
    }
}

entry! {
    fn freectx(context: Option<Box<ExchangeContext>>) -> (), or (); { drop(context); }
}

entry! {
    fn dupctx(context: Option<&ExchangeContext>) -> Option<Box<ExchangeContext>>, or None; {
        context.map(|context| Box::new(context.clone()))
    }
}

entry! {
    fn init(context: Option<&mut ExchangeContext>, key: Option<&ProviderKey>, _params: ParamReader<'_>) -> c_int, or 0; {
        let Some(context) = context else { return 0 };
        context.key = x25519_key(key);
        let result = context.key.as_ref().map(|_| ()).ok_or(ProviderError::NoKey);
        report_result(&context.provider, result)
    }
}

entry! {
    fn set_peer(context: Option<&mut ExchangeContext>, key: Option<&ProviderKey>) -> c_int, or 0; {
        let Some(context) = context else { return 0 };
        context.peer = x25519_key(key).and_then(|key| key.x25519_public().copied());
        let result = context.peer.map(|_| ()).ok_or(ProviderError::NoKey);
        report_result(&context.provider, result)
    }
}

entry! {
    fn derive(context: Option<&mut ExchangeContext>, address: *mut u8, len: Option<&mut usize>, size: usize) -> c_int, or 0; {
        let Some(context) = context else { return 0 };
        // A peer's point of small order is an error of the engine: RFC 7748 6.1.
        let agree = || match (&context.key, &context.peer) {
            (Some(key), Some(peer)) => context.provider.run(&Job::agree(key, peer)),
            _ => Err(ProviderError::NoKey),
        };
        // SAFETY: a buffer of this size.
        let result = unsafe { OutputBuffer { address, len, size }.write(SECRET_LEN, agree) };
        report_result(&context.provider, result)
    }
}

fn x25519_key(key: Option<&ProviderKey>) -> Option<Key> {
    key.filter(|key| key.family == KeyFamily::X25519)?.get()
}
