//! Signatures. provider-signature(7).

use std::ffi::{c_char, c_int, c_void};

use oarlock_ffi::{bytes, text};
use zeroize::Zeroizing;

use super::keymgmt::{EcFamily, Ed25519Family, FamilyMarker, RsaFamily};
use super::{OutputBuffer, context_entries, describe, dispatch, entry, report_answer, report_result};
use crate::error::ProviderError;
use crate::ffi::libcrypto::abi::{OsslDispatch, OsslParam, StaticTable, kind, signature};
use crate::ffi::libcrypto::params::{ParamReader, ParamWriter};
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
            signature::DIGEST_SIGN_INIT => digest_init,
            signature::DIGEST_SIGN => digest_sign,
            signature::DIGEST_VERIFY_INIT => digest_init,
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
            signature::SIGN_INIT => init,
            signature::SIGN => sign,
            signature::VERIFY_INIT => init,
            signature::VERIFY => verify,
            signature::DIGEST_SIGN_UPDATE => update,
            signature::DIGEST_SIGN_FINAL => digest_sign_final,
            signature::DIGEST_VERIFY_UPDATE => update,
            signature::DIGEST_VERIFY_FINAL => digest_verify_final
            $(, $id => $function)*
        }
    };
}

pub(super) static RSA: StaticTable<OsslDispatch> = digest_signature_table! {
    RsaFamily,
    signature::VERIFY_RECOVER_INIT => init,
    signature::VERIFY_RECOVER => recover,
};

pub(super) static ECDSA: StaticTable<OsslDispatch> = digest_signature_table!(EcFamily);

/// The functions of Ed25519, which signs whole messages. RFC 8032 5.1.
pub(super) static ED25519: StaticTable<OsslDispatch> = signature_table!(Ed25519Family);

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
};

type OwnedContext = Option<Box<SignatureContext>>;
type LentContext<'a> = Option<&'a mut SignatureContext>;

entry! {
    fn newctx<F: FamilyMarker>(provider: Option<&LoadedProvider>, _properties: *const c_char) -> OwnedContext, or None; {
        provider.map(|provider| Box::new(SignatureContext::new(provider.clone(), F::FAMILY)))
    }
}

context_entries!(SignatureContext, gettable GETTABLE, settable SETTABLE);

entry! {
    fn init(context: LentContext<'_>, key: Option<&ProviderKey>, params: ParamReader<'_>) -> c_int, or 0; {
        run_with(context, |context| context.init(key, params))
    }
}

entry! {
    fn digest_init(
        context: LentContext<'_>,
        digest: *const c_char,
        key: Option<&ProviderKey>,
        params: ParamReader<'_>,
    ) -> c_int, or 0;
    {
        // Null asks for the default digest, or for the digest of an earlier initialisation: provider-signature(7).
        // SAFETY: a name that ends with zero, or null.
        let digest = unsafe { text(digest) };
        run_with(context, |context| context.digest_init(digest, key, params))
    }
}

entry! {
    fn update(context: LentContext<'_>, data: *const u8, len: usize) -> c_int, or 0; {
        // SAFETY: C lends this many bytes for the call.
        let data = unsafe { bytes(data, len) };
        run_with(context, |context| context.update(data))
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
        // SAFETY: C lends this many bytes for the call.
        let digest = unsafe { bytes(digest, digest_len) };
        let output = OutputBuffer { address, len, size };
        // SAFETY: a buffer of this size.
        unsafe { write_signature(context, output, |context| context.sign(digest)) }
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
        // SAFETY: C lends this many bytes for the call.
        let message = unsafe { bytes(message, message_len) };
        let output = OutputBuffer { address, len, size };
        // SAFETY: a buffer of this size.
        unsafe { write_signature(context, output, |context| context.sign_message(message)) }
    }
}

entry! {
    fn digest_sign_final(context: LentContext<'_>, address: *mut u8, len: Option<&mut usize>, size: usize) -> c_int, or 0; {
        let output = OutputBuffer { address, len, size };
        // SAFETY: a buffer of this size.
        unsafe { write_signature(context, output, SignatureContext::finish) }
    }
}

entry! {
    fn verify(context: LentContext<'_>, signature: *const u8, len: usize, digest: *const u8, digest_len: usize) -> c_int, or 0; {
        // SAFETY: C lends this many bytes each for the call.
        let (signature, digest) = unsafe { (bytes(signature, len), bytes(digest, digest_len)) };
        answer_with(context, |context| context.verify(digest, signature))
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
        // SAFETY: C lends this many bytes each for the call.
        let (signature, message) = unsafe { (bytes(signature, len), bytes(message, message_len)) };
        answer_with(context, |context| context.verify_message(message, signature))
    }
}

entry! {
    fn digest_verify_final(context: LentContext<'_>, signature: *const u8, len: usize) -> c_int, or 0; {
        // SAFETY: C lends this many bytes for the call.
        let signature = unsafe { bytes(signature, len) };
        answer_with(context, |context| context.finish_verify(signature))
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
        // SAFETY: C lends this many bytes for the call.
        let signature = unsafe { bytes(signature, signature_len) };
        let output = OutputBuffer { address, len, size };
        // SAFETY: a buffer of this size.
        unsafe { write_signature(context, output, |context| context.recover(signature).map(Zeroizing::new)) }
    }
}

entry! {
    fn get_params(context: Option<&SignatureContext>, wanted: ParamWriter<'_>) -> c_int, or 0; {
        let mut wanted = wanted;
        context.map_or(0, |context| report_answer(context.provider(), context.get(&mut wanted)))
    }
}

entry! {
    fn set_params(context: LentContext<'_>, params: ParamReader<'_>) -> c_int, or 0; {
        run_with(context, |context| context.set(params))
    }
}

fn run_with(
    context: LentContext<'_>,
    action: impl FnOnce(&mut SignatureContext) -> Result<(), ProviderError>,
) -> c_int {
    let Some(context) = context else { return 0 };
    let result = action(context);
    report_result(context.provider(), result)
}

fn answer_with(
    context: LentContext<'_>,
    action: impl FnOnce(&mut SignatureContext) -> Result<bool, ProviderError>,
) -> c_int {
    let Some(context) = context else { return 0 };
    let result = action(context);
    report_answer(context.provider(), result)
}

/// Writes the signature that `compute` makes.
///
/// # Safety
/// As for [`OutputBuffer::write`].
unsafe fn write_signature(
    context: LentContext<'_>,
    output: OutputBuffer<'_>,
    compute: impl FnOnce(&mut SignatureContext) -> Result<Zeroizing<Vec<u8>>, ProviderError>,
) -> c_int {
    let Some(context) = context else { return 0 };
    // The maximum is known without the signature, so a call for the length alone costs nothing.
    let result = context.max_len().and_then(|max_len| {
        // SAFETY: as the caller promises.
        unsafe { output.write(max_len, || compute(context)) }
    });
    report_result(context.provider(), result)
}
