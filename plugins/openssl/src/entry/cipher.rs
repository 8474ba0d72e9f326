//! RSA decryption and encryption. provider-asym_cipher(7).

use std::ffi::{c_int, c_void};

use oarlock_ffi::bytes;
use zeroize::Zeroizing;

use super::abi::{Dispatch, Param, Table, asym_cipher, kind};
use super::params::{Params, Wanted};
use super::{answer, describe, dispatch, entry, put};
use crate::cipher::{Cipher, name};
use crate::key::ProviderKey;
use crate::work::Provider;

pub(super) static RSA: Table<Dispatch> = dispatch! {
    asym_cipher::NEWCTX => newctx,
    asym_cipher::FREECTX => freectx,
    asym_cipher::DUPCTX => dupctx,
    asym_cipher::ENCRYPT_INIT => init,
    asym_cipher::ENCRYPT => encrypt,
    asym_cipher::DECRYPT_INIT => init,
    asym_cipher::DECRYPT => decrypt,
    asym_cipher::GET_CTX_PARAMS => get_params,
    asym_cipher::GETTABLE_CTX_PARAMS => gettable_params,
    asym_cipher::SET_CTX_PARAMS => set_params,
    asym_cipher::SETTABLE_CTX_PARAMS => settable_params,
};

static GETTABLE: Table<Param> = describe! {
    name::PAD_MODE => kind::UTF8,
    name::OAEP_DIGEST => kind::UTF8,
    name::MGF1_DIGEST => kind::UTF8,
    name::OAEP_LABEL => kind::OCTETS,
};

static SETTABLE: Table<Param> = describe! {
    name::PAD_MODE => kind::UTF8,
    name::OAEP_DIGEST => kind::UTF8,
    c"digest-props" => kind::UTF8,
    name::MGF1_DIGEST => kind::UTF8,
    c"mgf1-digest-props" => kind::UTF8,
    name::OAEP_LABEL => kind::OCTETS,
    name::TLS_CLIENT_VERSION => kind::UNSIGNED,
    name::TLS_NEGOTIATED_VERSION => kind::UNSIGNED,
    name::IMPLICIT_REJECTION => kind::UNSIGNED,
};

type Given = Option<Box<Cipher>>;
type Lent<'a> = Option<&'a mut Cipher>;

entry! {
    fn newctx(provider: Option<&Provider>) -> Given, or None; {
        provider.map(|provider| Box::new(Cipher::new(provider.clone())))
    }
}

entry! {
    fn freectx(context: Given) -> (), or (); { drop(context); }
}

entry! {
    fn dupctx(context: Option<&Cipher>) -> Given, or None; {
        context.map(|context| Box::new(context.clone()))
    }
}

entry! {
    fn init(context: Lent<'_>, key: Option<&ProviderKey>, params: Params<'_>) -> c_int, or 0; {
        let Some(context) = context else { return 0 };
        let result = context.init(key, params);
        answer(context.provider(), result)
    }
}

entry! {
    fn encrypt(
        context: Lent<'_>,
        place: *mut u8,
        len: Option<&mut usize>,
        room: usize,
        message: *const u8,
        message_len: usize,
    ) -> c_int, or 0;
    {
        let Some(context) = context else { return 0 };
        // SAFETY: so many bytes, lent for the call.
        let message = unsafe { bytes(message, message_len) };
        let result = context.modulus_len().and_then(|max| {
            // SAFETY: a place as large as is stated.
            unsafe { put(place, len, room, max, || context.encrypt(message).map(Zeroizing::new)) }
        });
        answer(context.provider(), result)
    }
}

entry! {
    fn decrypt(
        context: Lent<'_>,
        place: *mut u8,
        len: Option<&mut usize>,
        room: usize,
        ciphertext: *const u8,
        ciphertext_len: usize,
    ) -> c_int, or 0;
    {
        let Some(context) = context else { return 0 };
        // SAFETY: so many bytes, lent for the call.
        let ciphertext = unsafe { bytes(ciphertext, ciphertext_len) };
        let result = context.max_message_len().and_then(|max| {
            // SAFETY: a place as large as is stated.
            unsafe { put(place, len, room, max, || context.decrypt(ciphertext)) }
        });
        answer(context.provider(), result)
    }
}

entry! {
    fn get_params(context: Option<&Cipher>, wanted: Wanted<'_>) -> c_int, or 0; {
        let mut wanted = wanted;
        context.is_some_and(|context| context.get(&mut wanted)).into()
    }
}

entry! {
    fn gettable_params(_context: *const c_void, _provider: *const c_void) -> *const Param, or std::ptr::null(); {
        GETTABLE.as_ptr()
    }
}

entry! {
    fn set_params(context: Lent<'_>, params: Params<'_>) -> c_int, or 0; {
        let Some(context) = context else { return 0 };
        let result = context.set(params);
        answer(context.provider(), result)
    }
}

entry! {
    fn settable_params(_context: *const c_void, _provider: *const c_void) -> *const Param, or std::ptr::null(); {
        SETTABLE.as_ptr()
    }
}
