//! `oarlock:` URIs: keys in a cryptoserver, by name. provider-storemgmt(7).

use std::ffi::{c_int, c_void};

use oarlock_ffi::text;

use super::abi::{Dispatch, Param, Table, kind, store};
use super::params::{Callback, Params};
use super::provider::Name;
use super::{answer, describe, dispatch, entry, object};
use crate::error::Failure;
use crate::reference;
use crate::work::Provider;

pub(super) static OARLOCK: Table<Dispatch> = dispatch! {
    store::OPEN => open,
    store::LOAD => load,
    store::EOF => eof,
    store::CLOSE => close,
    store::SET_CTX_PARAMS => set_params,
    store::SETTABLE_CTX_PARAMS => settable_params,
};

static SETTABLE: Table<Param> = describe! { c"expect" => kind::INTEGER };

/// A URI that is being loaded: one key, once.
struct Loader {
    provider: Provider,
    uri: String,
    is_loaded: bool,
}

entry! {
    fn open(provider: Option<&Provider>, uri: Name) -> Option<Box<Loader>>, or None; {
        let provider = provider?;
        // SAFETY: text that ends with zero, or null.
        let uri = unsafe { text(uri) };
        let known = uri.ok_or(Failure::NoKey).and_then(|uri| reference::check_uri(uri).map(|()| uri.to_owned()));
        match known {
            Ok(uri) => Some(Box::new(Loader { provider: provider.clone(), uri, is_loaded: false })),
            Err(failure) => {
                provider.core().raise(&failure);
                None
            }
        }
    }
}

entry! {
    fn load(
        loader: Option<&mut Loader>,
        callback: Option<Callback>,
        argument: *mut c_void,
        _passphrase: *const c_void,
        _passphrase_argument: *mut c_void,
    ) -> c_int, or 0;
    {
        let Some(loader) = loader else { return 0 };
        loader.is_loaded = true;
        match reference::key_at(&loader.provider, &loader.uri) {
            Ok(key) => object::give(&key, callback, argument).into(),
            Err(failure) => answer(&loader.provider, Err(failure)),
        }
    }
}

entry! {
    fn eof(loader: Option<&Loader>) -> c_int, or 1; {
        loader.is_none_or(|loader| loader.is_loaded).into()
    }
}

entry! {
    fn close(loader: Option<Box<Loader>>) -> c_int, or 0; {
        drop(loader);
        1
    }
}

entry! {
    /// What is expected changes nothing: there are only keys here.
    fn set_params(_loader: Option<&Loader>, _params: Params<'_>) -> c_int, or 0; { 1 }
}

entry! {
    fn settable_params(_provider: *const c_void) -> *const Param, or std::ptr::null(); { SETTABLE.as_ptr() }
}
