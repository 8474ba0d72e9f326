//! Signatures. provider-signature(7).

use std::ffi::{c_char, c_int, c_void};

use oarlock_ffi::{bytes, text};
use zeroize::Zeroizing;

use super::abi::{Dispatch, Param, Table, kind, signature};
use super::keymgmt::{Ec, Ed25519, OfFamily, Rsa};
use super::params::{Params, Wanted};
use super::{answer, answer_bool, describe, dispatch, entry, put};
use crate::error::Failure;
use crate::key::ProviderKey;
use crate::signature::{Signature, name};
use crate::work::Provider;

pub(super) static RSA: Table<Dispatch> = dispatch! {
    signature::NEWCTX => newctx::<Rsa>,
    signature::FREECTX => freectx,
    signature::DUPCTX => dupctx,
    signature::SIGN_INIT => init,
    signature::SIGN => sign,
    signature::VERIFY_INIT => init,
    signature::VERIFY => verify,
    signature::VERIFY_RECOVER_INIT => init,
    signature::VERIFY_RECOVER => recover,
    signature::DIGEST_SIGN_INIT => digest_init,
    signature::DIGEST_SIGN_UPDATE => update,
    signature::DIGEST_SIGN_FINAL => digest_sign_final,
    signature::DIGEST_SIGN => digest_sign,
    signature::DIGEST_VERIFY_INIT => digest_init,
    signature::DIGEST_VERIFY_UPDATE => update,
    signature::DIGEST_VERIFY_FINAL => digest_verify_final,
    signature::DIGEST_VERIFY => digest_verify,
    signature::GET_CTX_PARAMS => get_params,
    signature::GETTABLE_CTX_PARAMS => gettable_params,
    signature::SET_CTX_PARAMS => set_params,
    signature::SETTABLE_CTX_PARAMS => settable_params,
};

pub(super) static ECDSA: Table<Dispatch> = dispatch! {
    signature::NEWCTX => newctx::<Ec>,
    signature::FREECTX => freectx,
    signature::DUPCTX => dupctx,
    signature::SIGN_INIT => init,
    signature::SIGN => sign,
    signature::VERIFY_INIT => init,
    signature::VERIFY => verify,
    signature::DIGEST_SIGN_INIT => digest_init,
    signature::DIGEST_SIGN_UPDATE => update,
    signature::DIGEST_SIGN_FINAL => digest_sign_final,
    signature::DIGEST_SIGN => digest_sign,
    signature::DIGEST_VERIFY_INIT => digest_init,
    signature::DIGEST_VERIFY_UPDATE => update,
    signature::DIGEST_VERIFY_FINAL => digest_verify_final,
    signature::DIGEST_VERIFY => digest_verify,
    signature::GET_CTX_PARAMS => get_params,
    signature::GETTABLE_CTX_PARAMS => gettable_params,
    signature::SET_CTX_PARAMS => set_params,
    signature::SETTABLE_CTX_PARAMS => settable_params,
};

pub(super) static ED25519: Table<Dispatch> = dispatch! {
    signature::NEWCTX => newctx::<Ed25519>,
    signature::FREECTX => freectx,
    signature::DUPCTX => dupctx,
    signature::DIGEST_SIGN_INIT => digest_init,
    signature::DIGEST_SIGN => digest_sign,
    signature::DIGEST_VERIFY_INIT => digest_init,
    signature::DIGEST_VERIFY => digest_verify,
    signature::GET_CTX_PARAMS => get_params,
    signature::GETTABLE_CTX_PARAMS => gettable_params,
    signature::SET_CTX_PARAMS => set_params,
    signature::SETTABLE_CTX_PARAMS => settable_params,
};

static GETTABLE: Table<Param> = describe! {
    name::ALGORITHM_ID => kind::OCTETS,
    name::PAD_MODE => kind::UTF8,
    name::DIGEST => kind::UTF8,
    name::MGF1_DIGEST => kind::UTF8,
    name::SALT_LEN => kind::UTF8,
};

static SETTABLE: Table<Param> = describe! {
    name::DIGEST => kind::UTF8,
    c"properties" => kind::UTF8,
    name::PAD_MODE => kind::UTF8,
    name::MGF1_DIGEST => kind::UTF8,
    c"mgf1-properties" => kind::UTF8,
    name::SALT_LEN => kind::UTF8,
    name::NONCE_TYPE => kind::UNSIGNED,
    name::INSTANCE => kind::UTF8,
    name::CONTEXT_STRING => kind::OCTETS,
};

type Given = Option<Box<Signature>>;
type Lent<'a> = Option<&'a mut Signature>;

entry! {
    fn newctx<F: OfFamily>(provider: Option<&Provider>, _properties: *const c_char) -> Given, or None; {
        provider.map(|provider| Box::new(Signature::new(provider.clone(), F::FAMILY)))
    }
}

entry! {
    fn freectx(context: Given) -> (), or (); { drop(context); }
}

entry! {
    fn dupctx(context: Option<&Signature>) -> Given, or None; {
        context.map(|context| Box::new(context.clone()))
    }
}

entry! {
    fn init(context: Lent<'_>, key: Option<&ProviderKey>, params: Params<'_>) -> c_int, or 0; {
        with(context, |context| context.init(key, params))
    }
}

entry! {
    fn digest_init(
        context: Lent<'_>,
        digest: *const c_char,
        key: Option<&ProviderKey>,
        params: Params<'_>,
    ) -> c_int, or 0;
    {
        // SAFETY: a name that ends with zero, or null.
        let digest = unsafe { text(digest) };
        with(context, |context| context.digest_init(digest, key, params))
    }
}

entry! {
    fn update(context: Lent<'_>, data: *const u8, len: usize) -> c_int, or 0; {
        // SAFETY: so many bytes, lent for the call.
        let data = unsafe { bytes(data, len) };
        with(context, |context| context.update(data))
    }
}

entry! {
    fn sign(
        context: Lent<'_>,
        place: *mut u8,
        len: Option<&mut usize>,
        room: usize,
        digest: *const u8,
        digest_len: usize,
    ) -> c_int, or 0;
    {
        // SAFETY: so many bytes, lent for the call.
        let digest = unsafe { bytes(digest, digest_len) };
        // SAFETY: a place as large as is stated.
        unsafe { signed(context, (place, len, room), |context| context.sign(digest)) }
    }
}

entry! {
    fn digest_sign(
        context: Lent<'_>,
        place: *mut u8,
        len: Option<&mut usize>,
        room: usize,
        message: *const u8,
        message_len: usize,
    ) -> c_int, or 0;
    {
        // SAFETY: so many bytes, lent for the call.
        let message = unsafe { bytes(message, message_len) };
        // SAFETY: a place as large as is stated.
        unsafe { signed(context, (place, len, room), |context| context.sign_message(message)) }
    }
}

entry! {
    fn digest_sign_final(context: Lent<'_>, place: *mut u8, len: Option<&mut usize>, room: usize) -> c_int, or 0; {
        // SAFETY: a place as large as is stated.
        unsafe { signed(context, (place, len, room), Signature::finish) }
    }
}

entry! {
    fn verify(context: Lent<'_>, signature: *const u8, len: usize, digest: *const u8, digest_len: usize) -> c_int, or 0; {
        // SAFETY: so many bytes each, lent for the call.
        let (signature, digest) = unsafe { (bytes(signature, len), bytes(digest, digest_len)) };
        verified(context, |context| context.verify(digest, signature))
    }
}

entry! {
    fn digest_verify(
        context: Lent<'_>,
        signature: *const u8,
        len: usize,
        message: *const u8,
        message_len: usize,
    ) -> c_int, or 0;
    {
        // SAFETY: so many bytes each, lent for the call.
        let (signature, message) = unsafe { (bytes(signature, len), bytes(message, message_len)) };
        verified(context, |context| context.verify_message(message, signature))
    }
}

entry! {
    fn digest_verify_final(context: Lent<'_>, signature: *const u8, len: usize) -> c_int, or 0; {
        // SAFETY: so many bytes, lent for the call.
        let signature = unsafe { bytes(signature, len) };
        verified(context, |context| context.finish_verify(signature))
    }
}

entry! {
    fn recover(
        context: Lent<'_>,
        place: *mut u8,
        len: Option<&mut usize>,
        room: usize,
        signature: *const u8,
        signature_len: usize,
    ) -> c_int, or 0;
    {
        // SAFETY: so many bytes, lent for the call.
        let signature = unsafe { bytes(signature, signature_len) };
        // SAFETY: a place as large as is stated.
        unsafe { signed(context, (place, len, room), |context| context.recover(signature).map(Zeroizing::new)) }
    }
}

entry! {
    fn get_params(context: Option<&Signature>, wanted: Wanted<'_>) -> c_int, or 0; {
        let mut wanted = wanted;
        context.map_or(0, |context| answer_bool(context.provider(), context.get(&mut wanted)))
    }
}

entry! {
    fn gettable_params(_context: *const c_void, _provider: *const c_void) -> *const Param, or std::ptr::null(); {
        GETTABLE.as_ptr()
    }
}

entry! {
    fn set_params(context: Lent<'_>, params: Params<'_>) -> c_int, or 0; {
        with(context, |context| context.set(params))
    }
}

entry! {
    fn settable_params(_context: *const c_void, _provider: *const c_void) -> *const Param, or std::ptr::null(); {
        SETTABLE.as_ptr()
    }
}

fn with(context: Lent<'_>, act: impl FnOnce(&mut Signature) -> Result<(), Failure>) -> c_int {
    let Some(context) = context else { return 0 };
    let result = act(context);
    answer(context.provider(), result)
}

fn verified(context: Lent<'_>, act: impl FnOnce(&mut Signature) -> Result<bool, Failure>) -> c_int {
    let Some(context) = context else { return 0 };
    let result = act(context);
    answer_bool(context.provider(), result)
}

/// # Safety
/// As [`put`].
unsafe fn signed(
    context: Lent<'_>,
    (place, len, room): (*mut u8, Option<&mut usize>, usize),
    make: impl FnOnce(&mut Signature) -> Result<Zeroizing<Vec<u8>>, Failure>,
) -> c_int {
    let Some(context) = context else { return 0 };
    let result = context.max_len().and_then(|max| {
        // SAFETY: as the caller promises.
        unsafe { put(place, len, room, max, || make(context)) }
    });
    answer(context.provider(), result)
}
