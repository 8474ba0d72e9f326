//! `oarlock:` URIs: keys in a cryptoserver, by name. provider-storemgmt(7).

use std::ffi::{c_int, c_void};

use oarlock_ffi::text;

use super::provider::Name;
use super::{describe, dispatch, entry, object, report_result};
use crate::error::ProviderError;
use crate::ffi::libcrypto::abi::{OsslDispatch, OsslParam, StaticTable, kind, store};
use crate::ffi::libcrypto::params::{Callback, ParamReader};
use crate::provider::LoadedProvider;
use crate::reference;

pub(super) static OARLOCK: StaticTable<OsslDispatch> = dispatch! {
    store::OPEN => open,
    store::LOAD => load,
    store::EOF => eof,
    store::CLOSE => close,
    store::SET_CTX_PARAMS => set_params,
    store::SETTABLE_CTX_PARAMS => settable_params,
};

static SETTABLE: StaticTable<OsslParam> = describe! { c"expect" => kind::INTEGER };

/// A URI that is being loaded. It names one key, which is loaded once.
struct StoreLoader {
    provider: LoadedProvider,
    uri: String,
    is_loaded: bool,
}

entry! {
    fn open(provider: Option<&LoadedProvider>, uri: Name) -> Option<Box<StoreLoader>>, or None; {
        let provider = provider?;
        // SAFETY: C lends text that ends with zero, or null.
        let uri = unsafe { text(uri) };
        let checked = uri.ok_or(ProviderError::NoKey).and_then(|uri| reference::check_uri(uri).map(|()| uri.to_owned()));
        match checked {
            Ok(uri) => Some(Box::new(StoreLoader { provider: provider.clone(), uri, is_loaded: false })),
            Err(failure) => {
                provider.core().raise(&failure);
                None
            }
        }
    }
}

entry! {
    fn load(
        loader: Option<&mut StoreLoader>,
        callback: Option<Callback>,
        argument: *mut c_void,
        _passphrase: *const c_void,
        _passphrase_argument: *mut c_void,
    ) -> c_int, or 0;
    {
        let Some(loader) = loader else { return 0 };
        // Set before the attempt: programs call `load` until `eof`, after errors too. OSSL_STORE_open(3).
        loader.is_loaded = true;
        match reference::load_uri(&loader.provider, &loader.uri) {
            Ok(key) => object::pass_key(&key, callback, argument).into(),
            Err(failure) => report_result(&loader.provider, Err(failure)),
        }
    }
}

entry! {
    // A panic is the end too, for the same reason.
    fn eof(loader: Option<&StoreLoader>) -> c_int, or 1; {
        loader.is_none_or(|loader| loader.is_loaded).into()
    }
}

entry! {
    fn close(loader: Option<Box<StoreLoader>>) -> c_int, or 0; {
        drop(loader);
        1
    }
}

entry! {
    /// Ignores the expected type of object: this store has only keys.
    fn set_params(_loader: Option<&StoreLoader>, _params: ParamReader<'_>) -> c_int, or 0; { 1 }
}

entry! {
    fn settable_params(_provider: *const c_void) -> *const OsslParam, or std::ptr::null(); { SETTABLE.as_ptr() }
}
