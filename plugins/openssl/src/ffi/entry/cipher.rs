//! RSA decryption and encryption. provider-asym_cipher(7).

use std::ffi::{c_int, c_void};

use oarlock_ffi::bytes;
use zeroize::Zeroizing;

use super::{OutputBuffer, context_entries, describe, dispatch, entry};
use crate::cipher::{CipherContext, name};
use crate::ffi::libcrypto::abi::{OsslDispatch, OsslParam, StaticTable, asym_cipher, kind};
use crate::ffi::libcrypto::params::{ParamReader, ParamWriter};
use crate::handover::OperationContext;
use crate::key::ProviderKey;
use crate::provider::LoadedProvider;

pub(super) static RSA: StaticTable<OsslDispatch> = dispatch! {
    asym_cipher::NEWCTX => newctx,
    asym_cipher::FREECTX => freectx,
    asym_cipher::DUPCTX => dupctx,
    asym_cipher::ENCRYPT_INIT => encrypt_init,
    asym_cipher::ENCRYPT => encrypt,
    asym_cipher::DECRYPT_INIT => decrypt_init,
    asym_cipher::DECRYPT => decrypt,
    asym_cipher::GET_CTX_PARAMS => get_params,
    asym_cipher::GETTABLE_CTX_PARAMS => gettable_params,
    asym_cipher::SET_CTX_PARAMS => set_params,
    asym_cipher::SETTABLE_CTX_PARAMS => settable_params,
};

static GETTABLE: StaticTable<OsslParam> = describe! {
    name::PAD_MODE => kind::UTF8,
    name::OAEP_DIGEST => kind::UTF8,
    name::MGF1_DIGEST => kind::UTF8,
    name::OAEP_LABEL => kind::OCTETS,
};

static SETTABLE: StaticTable<OsslParam> = describe! {
    name::PAD_MODE => kind::UTF8,
    name::OAEP_DIGEST => kind::UTF8,
    // A property query chooses the provider of a digest. This provider has its own digests and ignores it.
    c"digest-props" => kind::UTF8,
    name::MGF1_DIGEST => kind::UTF8,
    c"mgf1-digest-props" => kind::UTF8,
    name::OAEP_LABEL => kind::OCTETS,
    // libssl sets both versions before it decrypts a premaster secret: provider-asym_cipher(7).
    name::TLS_CLIENT_VERSION => kind::UNSIGNED,
    name::TLS_NEGOTIATED_VERSION => kind::UNSIGNED,
    name::IMPLICIT_REJECTION => kind::UNSIGNED,
};

type Context = OperationContext<CipherContext>;
type OwnedContext = Option<Box<Context>>;
type LentContext<'a> = Option<&'a mut Context>;

entry! {
    fn newctx(provider: Option<&LoadedProvider>) -> OwnedContext, or None; {
        provider.map(|provider| Box::new(OperationContext::new(CipherContext::new(provider.clone()))))
    }
}

context_entries!(Context, gettable GETTABLE, settable SETTABLE);

entry! {
    fn encrypt_init(context: LentContext<'_>, key: Option<&ProviderKey>, params: ParamReader<'_>) -> c_int, or 0; {
        init(context, asym_cipher::ENCRYPT_INIT, key, params)
    }
}

entry! {
    fn decrypt_init(context: LentContext<'_>, key: Option<&ProviderKey>, params: ParamReader<'_>) -> c_int, or 0; {
        init(context, asym_cipher::DECRYPT_INIT, key, params)
    }
}

entry! {
    fn encrypt(
        context: LentContext<'_>,
        address: *mut u8,
        len: Option<&mut usize>,
        size: usize,
        message: *const u8,
        message_len: usize,
    ) -> c_int, or 0;
    {
        let Some(context) = context else { return 0 };
        // SAFETY: C lends this many bytes for the call.
        let message = unsafe { bytes(message, message_len) };
        let output = OutputBuffer::new(address, len, size);
        context.call(
            |native| {
                let max = native.modulus_len()?;
                // SAFETY: a buffer of this size.
                unsafe { output.write(max, || native.encrypt(message).map(Zeroizing::new)) }
            },
            // SAFETY: a buffer of this size.
            |fallback| unsafe { fallback.transform(asym_cipher::ENCRYPT, output.parts(), message) },
        )
    }
}

entry! {
    fn decrypt(
        context: LentContext<'_>,
        address: *mut u8,
        len: Option<&mut usize>,
        size: usize,
        ciphertext: *const u8,
        ciphertext_len: usize,
    ) -> c_int, or 0;
    {
        let Some(context) = context else { return 0 };
        // SAFETY: C lends this many bytes for the call.
        let ciphertext = unsafe { bytes(ciphertext, ciphertext_len) };
        let output = OutputBuffer::new(address, len, size);
        context.call(
            |native| {
                // The maximum, and not the length of this message, decides whether a buffer is large enough: see
                // `write`.
                let max = native.max_message_len()?;
                // SAFETY: a buffer of this size.
                unsafe { output.write(max, || native.decrypt(ciphertext)) }
            },
            // SAFETY: a buffer of this size.
            |fallback| unsafe { fallback.transform(asym_cipher::DECRYPT, output.parts(), ciphertext) },
        )
    }
}

fn init(
    context: LentContext<'_>,
    operation: c_int,
    key: Option<&ProviderKey>,
    params: ParamReader<'_>,
) -> c_int {
    let Some(context) = context else { return 0 };
    context.begin(
        key,
        |native| native.init(operation, key, params),
        |fallback| fallback.init(operation, params),
    )
}
