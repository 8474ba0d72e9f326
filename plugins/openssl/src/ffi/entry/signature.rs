//! Signatures. provider-signature(7).

use std::ffi::{CStr, c_char, c_int, c_void};
use std::marker::PhantomData;

use oarlock_ffi::{bytes, text};
use zeroize::Zeroizing;

use super::keymgmt::{
    EcFamily, Ed25519Family, FamilyMarker, MlDsa44Family, MlDsa65Family, MlDsa87Family, RsaFamily,
};
use super::{OutputBuffer, context_entries, describe, dispatch, entry};
use crate::error::ProviderError;
use crate::ffi::libcrypto::abi::{OsslDispatch, OsslParam, StaticTable, kind, signature};
use crate::ffi::libcrypto::params::{ParamReader, ParamWriter};
use crate::handover::OperationContext;
use crate::key::ProviderKey;
use crate::provider::LoadedProvider;
use crate::signature::{SignatureContext, name};

/// The functions of all signature algorithms, and others for some of them.
macro_rules! signature_table {
    ($family:ty $(, $id:path => $function:expr)* $(,)?) => {
        dispatch! {
            signature::NEWCTX => newctx::<$family>,
            signature::FREECTX => freectx,
            signature::DUPCTX => dupctx,
            signature::DIGEST_SIGN_INIT => digest_sign_init,
            signature::DIGEST_SIGN => digest_sign,
            signature::DIGEST_VERIFY_INIT => digest_verify_init,
            signature::DIGEST_VERIFY => digest_verify,
            signature::GET_CTX_PARAMS => get_params,
            signature::GETTABLE_CTX_PARAMS => gettable_params,
            signature::SET_CTX_PARAMS => set_params,
            signature::SETTABLE_CTX_PARAMS => settable_params,
            $($id => $function,)*
        }
    };
}

/// The functions of algorithms that sign a digest, which the caller or this provider computes.
macro_rules! digest_signature_table {
    ($family:ty $(, $id:path => $function:expr)* $(,)?) => {
        signature_table! {
            $family,
            signature::SIGN_INIT => sign_init,
            signature::SIGN => sign,
            signature::VERIFY_INIT => verify_init,
            signature::VERIFY => verify,
            signature::DIGEST_SIGN_UPDATE => sign_update,
            signature::DIGEST_SIGN_FINAL => digest_sign_final,
            signature::DIGEST_VERIFY_UPDATE => verify_update,
            signature::DIGEST_VERIFY_FINAL => digest_verify_final
            $(, $id => $function)*
        }
    };
}

pub(super) static RSA: StaticTable<OsslDispatch> = digest_signature_table! {
    RsaFamily,
    signature::VERIFY_RECOVER_INIT => recover_init,
    signature::VERIFY_RECOVER => recover,
};

pub(super) static ECDSA: StaticTable<OsslDispatch> = digest_signature_table!(EcFamily);

/// The functions of Ed25519, which signs whole messages. RFC 8032 5.1.
pub(super) static ED25519: StaticTable<OsslDispatch> = signature_table!(Ed25519Family);

/// The functions of ML-DSA and SLH-DSA, which sign whole messages. OpenSSL 3.4 and later also begin with a message in
/// parts.
macro_rules! message_signature_table {
    ($family:ty) => {
        signature_table! {
            $family,
            // Without these two, OpenSSL takes neither `SIGN` nor `VERIFY`. They refuse to begin.
            signature::SIGN_INIT => sign_init,
            signature::VERIFY_INIT => verify_init,
            signature::SIGN_MESSAGE_INIT => sign_message_init,
            signature::SIGN_MESSAGE_UPDATE => sign_message_update,
            signature::SIGN_MESSAGE_FINAL => sign_message_final,
            signature::SIGN => sign,
            signature::VERIFY_MESSAGE_INIT => verify_message_init,
            signature::VERIFY_MESSAGE_UPDATE => verify_message_update,
            signature::VERIFY_MESSAGE_FINAL => verify_message_final,
            signature::VERIFY => verify,
            signature::DIGEST_SIGN_UPDATE => sign_update,
            signature::DIGEST_SIGN_FINAL => digest_sign_final,
            signature::DIGEST_VERIFY_UPDATE => verify_update,
            signature::DIGEST_VERIFY_FINAL => digest_verify_final,
        }
    };
}

pub(super) static ML_DSA_44: StaticTable<OsslDispatch> = message_signature_table!(MlDsa44Family);
pub(super) static ML_DSA_65: StaticTable<OsslDispatch> = message_signature_table!(MlDsa65Family);
pub(super) static ML_DSA_87: StaticTable<OsslDispatch> = message_signature_table!(MlDsa87Family);

/// The signatures of a family that signs whole messages.
pub(super) struct FamilySignatures<F>(PhantomData<F>);

impl<F: FamilyMarker> FamilySignatures<F> {
    pub(super) const TABLE: StaticTable<OsslDispatch> = message_signature_table!(F);
}

static GETTABLE: StaticTable<OsslParam> = describe! {
    name::ALGORITHM_ID => kind::OCTETS,
    name::PAD_MODE => kind::UTF8,
    name::DIGEST => kind::UTF8,
    name::MGF1_DIGEST => kind::UTF8,
    name::SALT_LEN => kind::UTF8,
};

static SETTABLE: StaticTable<OsslParam> = describe! {
    name::DIGEST => kind::UTF8,
    // A property query chooses the provider of a digest. This provider has its own digests and ignores it.
    c"properties" => kind::UTF8,
    name::PAD_MODE => kind::UTF8,
    name::MGF1_DIGEST => kind::UTF8,
    c"mgf1-properties" => kind::UTF8,
    name::SALT_LEN => kind::UTF8,
    name::NONCE_TYPE => kind::UNSIGNED,
    name::INSTANCE => kind::UTF8,
    name::CONTEXT_STRING => kind::OCTETS,
    name::DETERMINISTIC => kind::INTEGER,
    name::MU => kind::INTEGER,
    name::MESSAGE_ENCODING => kind::INTEGER,
    name::TEST_ENTROPY => kind::OCTETS,
    name::SIGNATURE => kind::OCTETS,
};

type Context = OperationContext<SignatureContext>;
type OwnedContext = Option<Box<Context>>;
type LentContext<'a> = Option<&'a mut Context>;

entry! {
    fn newctx<F: FamilyMarker>(provider: Option<&LoadedProvider>, properties: *const c_char) -> OwnedContext, or None; {
        // SAFETY: a query that ends with zero, or null.
        let properties = (!properties.is_null()).then(|| unsafe { CStr::from_ptr(properties) }.to_owned());
        let native = SignatureContext::new(provider?.clone(), F::FAMILY, properties);
        Some(Box::new(OperationContext::new(native)))
    }
}

context_entries!(Context, gettable GETTABLE, settable SETTABLE);

entry! {
    fn sign_init(context: LentContext<'_>, key: Option<&ProviderKey>, params: ParamReader<'_>) -> c_int, or 0; {
        init(context, signature::SIGN_INIT, key, params)
    }
}

entry! {
    fn verify_init(context: LentContext<'_>, key: Option<&ProviderKey>, params: ParamReader<'_>) -> c_int, or 0; {
        init(context, signature::VERIFY_INIT, key, params)
    }
}

entry! {
    fn sign_message_init(context: LentContext<'_>, key: Option<&ProviderKey>, params: ParamReader<'_>) -> c_int, or 0; {
        init(context, signature::SIGN_MESSAGE_INIT, key, params)
    }
}

entry! {
    fn verify_message_init(context: LentContext<'_>, key: Option<&ProviderKey>, params: ParamReader<'_>) -> c_int, or 0; {
        init(context, signature::VERIFY_MESSAGE_INIT, key, params)
    }
}

entry! {
    fn recover_init(context: LentContext<'_>, key: Option<&ProviderKey>, params: ParamReader<'_>) -> c_int, or 0; {
        init(context, signature::VERIFY_RECOVER_INIT, key, params)
    }
}

entry! {
    fn digest_sign_init(
        context: LentContext<'_>,
        digest: *const c_char,
        key: Option<&ProviderKey>,
        params: ParamReader<'_>,
    ) -> c_int, or 0;
    {
        // SAFETY: a name that ends with zero, or null.
        digest_init(context, signature::DIGEST_SIGN_INIT, unsafe { text(digest) }, key, params)
    }
}

entry! {
    fn digest_verify_init(
        context: LentContext<'_>,
        digest: *const c_char,
        key: Option<&ProviderKey>,
        params: ParamReader<'_>,
    ) -> c_int, or 0;
    {
        // SAFETY: a name that ends with zero, or null.
        digest_init(context, signature::DIGEST_VERIFY_INIT, unsafe { text(digest) }, key, params)
    }
}

entry! {
    fn sign_update(context: LentContext<'_>, data: *const u8, len: usize) -> c_int, or 0; {
        // SAFETY: C lends this many bytes for the call.
        update(context, signature::DIGEST_SIGN_UPDATE, unsafe { bytes(data, len) })
    }
}

entry! {
    fn verify_update(context: LentContext<'_>, data: *const u8, len: usize) -> c_int, or 0; {
        // SAFETY: C lends this many bytes for the call.
        update(context, signature::DIGEST_VERIFY_UPDATE, unsafe { bytes(data, len) })
    }
}

entry! {
    fn sign_message_update(context: LentContext<'_>, data: *const u8, len: usize) -> c_int, or 0; {
        // SAFETY: C lends this many bytes for the call.
        update(context, signature::SIGN_MESSAGE_UPDATE, unsafe { bytes(data, len) })
    }
}

entry! {
    fn verify_message_update(context: LentContext<'_>, data: *const u8, len: usize) -> c_int, or 0; {
        // SAFETY: C lends this many bytes for the call.
        update(context, signature::VERIFY_MESSAGE_UPDATE, unsafe { bytes(data, len) })
    }
}

entry! {
    fn sign(
        context: LentContext<'_>,
        address: *mut u8,
        len: Option<&mut usize>,
        size: usize,
        digest: *const u8,
        digest_len: usize,
    ) -> c_int, or 0;
    {
        let Some(context) = context else { return 0 };
        // SAFETY: C lends this many bytes for the call.
        let digest = unsafe { bytes(digest, digest_len) };
        let output = OutputBuffer::new(address, len, size);
        context.call(
            // SAFETY: a buffer of this size.
            |native| unsafe { write_signature(native, output, |native| native.sign(digest)) },
            // SAFETY: as above.
            |fallback| unsafe { fallback.transform(signature::SIGN, output.parts(), digest) },
        )
    }
}

entry! {
    fn digest_sign(
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
            // SAFETY: a buffer of this size.
            |native| unsafe { write_signature(native, output, |native| native.sign_message(message)) },
            // SAFETY: as above.
            |fallback| unsafe { fallback.digest_sign(output.parts(), message) },
        )
    }
}

entry! {
    fn digest_sign_final(context: LentContext<'_>, address: *mut u8, len: Option<&mut usize>, size: usize) -> c_int, or 0; {
        // SAFETY: a buffer of this size.
        unsafe { finish(context, signature::DIGEST_SIGN_FINAL, OutputBuffer::new(address, len, size)) }
    }
}

entry! {
    fn sign_message_final(context: LentContext<'_>, address: *mut u8, len: Option<&mut usize>, size: usize) -> c_int, or 0; {
        // SAFETY: a buffer of this size.
        unsafe { finish(context, signature::SIGN_MESSAGE_FINAL, OutputBuffer::new(address, len, size)) }
    }
}

entry! {
    fn verify_message_final(context: LentContext<'_>) -> c_int, or 0; {
        let Some(context) = context else { return 0 };
        context.call(
            SignatureContext::finish_verify_set,
            |fallback| fallback.conclude(signature::VERIFY_MESSAGE_FINAL),
        )
    }
}

entry! {
    fn verify(context: LentContext<'_>, signature: *const u8, len: usize, digest: *const u8, digest_len: usize) -> c_int, or 0; {
        let Some(context) = context else { return 0 };
        // SAFETY: C lends this many bytes each for the call.
        let (signature, digest) = unsafe { (bytes(signature, len), bytes(digest, digest_len)) };
        context.call(
            |native| native.verify(digest, signature),
            |fallback| fallback.verify(signature::VERIFY, signature, digest),
        )
    }
}

entry! {
    fn digest_verify(
        context: LentContext<'_>,
        signature: *const u8,
        len: usize,
        message: *const u8,
        message_len: usize,
    ) -> c_int, or 0;
    {
        let Some(context) = context else { return 0 };
        // SAFETY: C lends this many bytes each for the call.
        let (signature, message) = unsafe { (bytes(signature, len), bytes(message, message_len)) };
        context.call(
            |native| native.verify_message(message, signature),
            |fallback| fallback.digest_verify(signature, message),
        )
    }
}

entry! {
    fn digest_verify_final(context: LentContext<'_>, signature: *const u8, len: usize) -> c_int, or 0; {
        let Some(context) = context else { return 0 };
        // SAFETY: C lends this many bytes for the call.
        let signature = unsafe { bytes(signature, len) };
        context.call(
            |native| native.finish_verify(signature),
            |fallback| fallback.update(signature::DIGEST_VERIFY_FINAL, signature),
        )
    }
}

entry! {
    fn recover(
        context: LentContext<'_>,
        address: *mut u8,
        len: Option<&mut usize>,
        size: usize,
        signature: *const u8,
        signature_len: usize,
    ) -> c_int, or 0;
    {
        let Some(context) = context else { return 0 };
        // SAFETY: C lends this many bytes for the call.
        let signature = unsafe { bytes(signature, signature_len) };
        let output = OutputBuffer::new(address, len, size);
        context.call(
            // SAFETY: a buffer of this size.
            |native| unsafe { write_signature(native, output, |native| native.recover(signature).map(Zeroizing::new)) },
            // SAFETY: as above.
            |fallback| unsafe { fallback.transform(signature::VERIFY_RECOVER, output.parts(), signature) },
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

/// Begins to sign or verify a message. None asks for the default digest, or for the digest of an earlier
/// initialisation: provider-signature(7).
fn digest_init(
    context: LentContext<'_>,
    operation: c_int,
    digest: Option<&str>,
    key: Option<&ProviderKey>,
    params: ParamReader<'_>,
) -> c_int {
    let Some(context) = context else { return 0 };
    context.begin(
        key,
        |native| native.digest_init(operation, digest, key, params),
        |fallback| fallback.digest_init(operation, digest, params),
    )
}

fn update(context: LentContext<'_>, operation: c_int, data: &[u8]) -> c_int {
    let Some(context) = context else { return 0 };
    context.call(|native| native.update(data).map(|()| true), |fallback| fallback.update(operation, data))
}

/// Signs the message that came in parts.
///
/// # Safety
/// As for [`OutputBuffer::write`].
unsafe fn finish(context: LentContext<'_>, operation: c_int, output: OutputBuffer) -> c_int {
    let Some(context) = context else { return 0 };
    context.call(
        // SAFETY: as the caller promises.
        |native| unsafe { write_signature(native, output, SignatureContext::finish) },
        // SAFETY: as above.
        |fallback| unsafe { fallback.finish(operation, output.parts()) },
    )
}

/// Writes the signature that `compute` makes.
///
/// # Safety
/// As for [`OutputBuffer::write`].
unsafe fn write_signature(
    native: &mut SignatureContext,
    output: OutputBuffer,
    compute: impl FnOnce(&mut SignatureContext) -> Result<Zeroizing<Vec<u8>>, ProviderError>,
) -> Result<bool, ProviderError> {
    // The maximum is known without the signature, so a call for the length alone costs nothing.
    let max_len = native.max_len()?;
    // SAFETY: as the caller promises.
    unsafe { output.write(max_len, || compute(native)) }
}
