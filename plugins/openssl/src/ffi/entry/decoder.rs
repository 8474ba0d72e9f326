//! Files with keys: references to keys in a cryptoserver, for programs that only read PEM files; and ML-KEM and ML-DSA
//! keys, which OpenSSL before 3.5 does not read. provider-decoder(7).

use std::ffi::{c_int, c_void};

use std::marker::PhantomData;

use oarlock::Key;
use oarlock::keys::{KeyError, import};

use super::keymgmt::{EcFamily, Ed25519Family, FamilyMarker, RsaFamily};
use super::{dispatch, entry, object, report_result};
use crate::ffi::libcrypto::abi::{OsslDispatch, StaticTable, decoder};
use crate::ffi::libcrypto::core::{CoreBio, CoreHandle};
use crate::ffi::libcrypto::params::Callback;
use crate::key::{KeyFamily, KeySelection, ProviderKey};
use crate::provider::LoadedProvider;
use crate::reference;
use zeroize::Zeroizing;

/// The decoder from PEM to DER. The decoders of the families read its output.
pub(super) static DER: StaticTable<OsslDispatch> = dispatch! {
    decoder::NEWCTX => new_pem_ctx,
    decoder::FREECTX => free_pem_ctx,
    decoder::DECODE => decode_pem,
};

/// The functions of a decoder for one family of keys.
macro_rules! decoder_table {
    ($family:ty) => {
        dispatch! {
            decoder::NEWCTX => newctx::<$family>,
            decoder::FREECTX => freectx,
            decoder::DOES_SELECTION => has_private,
            decoder::DECODE => decode,
        }
    };
}

pub(super) static RSA: StaticTable<OsslDispatch> = decoder_table!(RsaFamily);
pub(super) static EC: StaticTable<OsslDispatch> = decoder_table!(EcFamily);
pub(super) static ED25519: StaticTable<OsslDispatch> = decoder_table!(Ed25519Family);

/// The decoders of an ML-KEM or ML-DSA family.
pub(super) struct FamilyDecoders<F>(PhantomData<F>);

impl<F: FamilyMarker> FamilyDecoders<F> {
    pub(super) const REFERENCE: StaticTable<OsslDispatch> = decoder_table!(F);
    pub(super) const PRIVATE: StaticTable<OsslDispatch> = dispatch! {
        decoder::NEWCTX => newctx::<F>,
        decoder::FREECTX => freectx,
        decoder::DOES_SELECTION => has_private,
        decoder::DECODE => decode_private,
    };
    pub(super) const PUBLIC: StaticTable<OsslDispatch> = dispatch! {
        decoder::NEWCTX => newctx::<F>,
        decoder::FREECTX => freectx,
        decoder::DOES_SELECTION => has_public_alone,
        decoder::DECODE => decode_public,
    };
}

/// The maximum length of a key in DER. One of ML-DSA-87 with all that OpenSSL may write has 7.5 KB.
const MAX_KEY: usize = 16 << 10;

/// The maximum number of lines in a PEM block.
const MAX_LINES: usize = 1024;

struct DecoderContext {
    provider: LoadedProvider,
    family: KeyFamily,
}

entry! {
    fn newctx<F: FamilyMarker>(provider: Option<&LoadedProvider>) -> Option<Box<DecoderContext>>, or None; {
        provider.map(|provider| Box::new(DecoderContext { provider: provider.clone(), family: F::FAMILY }))
    }
}

entry! {
    fn freectx(decoder: Option<Box<DecoderContext>>) -> (), or (); { drop(decoder); }
}

entry! {
    fn new_pem_ctx(provider: Option<&LoadedProvider>) -> Option<Box<LoadedProvider>>, or None; {
        provider.map(|provider| Box::new(provider.clone()))
    }
}

entry! {
    fn free_pem_ctx(provider: Option<Box<LoadedProvider>>) -> (), or (); { drop(provider); }
}

entry! {
    /// Reads one PEM block. 1 means that the block is for another decoder.
    fn decode_pem(
        provider: Option<&LoadedProvider>,
        stream: CoreBio,
        _selection: c_int,
        callback: Option<Callback>,
        argument: *mut c_void,
        _passphrase: *const c_void,
        _passphrase_argument: *mut c_void,
    ) -> c_int, or 0;
    {
        let Some(provider) = provider else { return 0 };
        // 1 without a call of the callback lets OpenSSL try the next decoder. 0 would end the decoding:
        // provider-decoder(7).
        let Some(block) = pem_block(provider.core(), stream) else { return 1 };
        match reference::pem_to_der(&block) {
            Ok(der) => object::pass_der(&der, callback, argument).into(),
            Err(failure) => report_result(provider, Err(failure)),
        }
    }
}

entry! {
    /// Reads a reference in DER. 1 means that it is for another decoder: no reference, or one to a key of another
    /// family.
    fn decode(
        decoder: Option<&DecoderContext>,
        stream: CoreBio,
        _selection: c_int,
        callback: Option<Callback>,
        argument: *mut c_void,
        _passphrase: *const c_void,
        _passphrase_argument: *mut c_void,
    ) -> c_int, or 0;
    {
        let Some(decoder) = decoder else { return 0 };
        let Some(der) = decoder.provider.core().rest(stream, reference::MAX_LEN) else { return 1 };
        // The callback copies the key before it returns, so the key may live on this stack frame.
        match reference::load_der(&decoder.provider, &der, decoder.family) {
            Ok(Some(key)) => object::pass_key(&key, callback, argument).into(),
            Ok(None) => 1,
            Err(failure) => report_result(&decoder.provider, Err(failure)),
        }
    }
}

entry! {
    /// Selects private keys; 0 asks for anything. A reference is a private key as well: for each certificate that a
    /// peer sends, OpenSSL before 3.2 makes several contexts of every decoder that public keys select.
    fn has_private(_provider: *const c_void, selection: c_int) -> c_int, or 0; {
        (selection == 0 || KeySelection(selection).private()).into()
    }
}

entry! {
    fn has_public_alone(_provider: *const c_void, selection: c_int) -> c_int, or 0; {
        let selected = KeySelection(selection);
        (selection == 0 || selected.keypair() && !selected.private()).into()
    }
}

entry! {
    /// Reads PKCS#8. 1 means that it is for another decoder.
    fn decode_private(
        decoder: Option<&DecoderContext>,
        stream: CoreBio,
        _selection: c_int,
        callback: Option<Callback>,
        argument: *mut c_void,
        _passphrase: *const c_void,
        _passphrase_argument: *mut c_void,
    ) -> c_int, or 0;
    {
        decoder.map_or(0, |decoder| decoder.pass_file(stream, import::pkcs8_der, callback, argument))
    }
}

entry! {
    /// Reads SubjectPublicKeyInfo. 1 means that it is for another decoder.
    fn decode_public(
        decoder: Option<&DecoderContext>,
        stream: CoreBio,
        _selection: c_int,
        callback: Option<Callback>,
        argument: *mut c_void,
        _passphrase: *const c_void,
        _passphrase_argument: *mut c_void,
    ) -> c_int, or 0;
    {
        decoder.map_or(0, |decoder| decoder.pass_file(stream, import::spki_der, callback, argument))
    }
}

impl DecoderContext {
    /// Passes on the key of this family that a file contains.
    fn pass_file(
        &self,
        stream: CoreBio,
        read: fn(&[u8]) -> Result<Key, KeyError>,
        callback: Option<Callback>,
        argument: *mut c_void,
    ) -> c_int {
        let Some(der) = self.provider.core().rest(stream, MAX_KEY).map(Zeroizing::new) else { return 1 };
        // OpenSSL tries the decoders of all families. Only that of the right one should read the key and report errors.
        let head = der.get(..der.len().min(MAX_HEAD)).unwrap_or_default();
        let is_named = |oid: &[u8]| head.windows(oid.len()).any(|found| found == oid);
        if !self.family.oid().is_some_and(is_named) {
            return 1;
        }
        match self.provider.off_fibre(|| read(&der)) {
            Ok(Ok(key)) if KeyFamily::of_key(&key) == Some(self.family) => {
                // The callback copies the key before it returns.
                let key = ProviderKey::new(&self.provider, self.family, Some(key));
                object::pass_key(&key, callback, argument).into()
            }
            Ok(Ok(_)) => 1,
            Ok(Err(failure)) => {
                // Another provider may read what this one does not.
                self.provider.core().raise(&failure.into());
                1
            }
            Err(failure) => report_result(&self.provider, Err(failure)),
        }
    }
}

/// The object identifier of a key's algorithm stands within so many bytes.
const MAX_HEAD: usize = 32;

/// Reads the next PEM block and returns it if it is a reference to a key. The stream ends up behind the block, so that
/// another decoder can read on.
fn pem_block(core: &CoreHandle, stream: CoreBio) -> Option<Vec<u8>> {
    let is_begin = |line: &[u8]| line.starts_with(b"-----BEGIN ");
    // Lines before the first block are free text: RFC 7468 section 2.
    let begin = std::iter::from_fn(|| core.line(stream)).find(|line| is_begin(line))?;
    let is_reference = begin.starts_with(reference::BEGIN);
    let mut block = begin;
    // A stream without an end line must not fill the memory.
    for _ in 0..MAX_LINES {
        let line = core.line(stream)?;
        let is_end = line.starts_with(b"-----END ");
        block.extend(line);
        if is_end {
            return is_reference.then_some(block);
        }
    }
    None
}
