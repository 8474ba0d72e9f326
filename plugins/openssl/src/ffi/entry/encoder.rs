//! ML-KEM and ML-DSA keys as files, for versions of OpenSSL without them. provider-encoder(7).
//!
//! Keys of other families leave by their numbers, which the default provider encodes.

use std::ffi::{c_char, c_int, c_void};
use std::marker::PhantomData;
use std::num::NonZeroU32;

use oarlock::keys::Passphrase;
use oarlock::keys::export::{self, Protection};
use zeroize::Zeroizing;

use super::keymgmt::FamilyMarker;
use super::{describe, dispatch, entry, report_result};
use crate::error::ProviderError;
use crate::ffi::libcrypto::abi::{OsslDispatch, OsslParam, StaticTable, encoder, kind};
use crate::ffi::libcrypto::core::CoreBio;
use crate::ffi::libcrypto::params::ParamReader;
use crate::key::{KeySelection, ProviderKey};
use crate::provider::LoadedProvider;

/// The content of a file and its form.
trait FileForm {
    const IS_PRIVATE: bool;
    const IS_PEM: bool;
}

struct PrivateDer;
struct PrivatePem;
struct PublicDer;
struct PublicPem;

impl FileForm for PrivateDer {
    const IS_PRIVATE: bool = true;
    const IS_PEM: bool = false;
}
impl FileForm for PrivatePem {
    const IS_PRIVATE: bool = true;
    const IS_PEM: bool = true;
}
impl FileForm for PublicDer {
    const IS_PRIVATE: bool = false;
    const IS_PEM: bool = false;
}
impl FileForm for PublicPem {
    const IS_PRIVATE: bool = false;
    const IS_PEM: bool = true;
}

macro_rules! encoder_table {
    ($family:ty, $form:ty) => {
        dispatch! {
            encoder::NEWCTX => newctx,
            encoder::FREECTX => freectx,
            encoder::SET_CTX_PARAMS => set_params,
            encoder::SETTABLE_CTX_PARAMS => settable_params,
            encoder::DOES_SELECTION => does_selection::<$form>,
            encoder::ENCODE => encode::<$form>,
            encoder::IMPORT_OBJECT => import_object::<$family>,
            encoder::FREE_OBJECT => free_object,
        }
    };
}

/// The encoders of one family.
pub(super) struct FamilyEncoders<F>(PhantomData<F>);

impl<F: FamilyMarker> FamilyEncoders<F> {
    pub(super) const PRIVATE_DER: StaticTable<OsslDispatch> = encoder_table!(F, PrivateDer);
    pub(super) const PRIVATE_PEM: StaticTable<OsslDispatch> = encoder_table!(F, PrivatePem);
    pub(super) const PUBLIC_DER: StaticTable<OsslDispatch> = encoder_table!(F, PublicDer);
    pub(super) const PUBLIC_PEM: StaticTable<OsslDispatch> = encoder_table!(F, PublicPem);
}

static SETTABLE: StaticTable<OsslParam> = describe! {
    c"cipher" => kind::UTF8,
    // A property query chooses the provider of the cipher. This provider has its own and ignores it.
    c"properties" => kind::UTF8,
};

/// The ciphers that a program may name. `openssl req` names the second one for every key that it makes, and gets the
/// first one, too: it is the only one here.
const CIPHERS: [&str; 2] = ["AES-256-CBC", "DES-EDE3-CBC"];

/// The cost of a passphrase: a fifth of a second. OWASP's recommendation for HMAC-SHA-256.
const ITERATIONS: NonZeroU32 = NonZeroU32::new(600_000).unwrap();

/// The maximum length of a passphrase.
const MAX_PASSPHRASE: usize = 1024;

/// `OSSL_PASSPHRASE_CALLBACK`.
type AskPassphrase =
    unsafe extern "C" fn(*mut c_char, usize, *mut usize, *const OsslParam, *mut c_void) -> c_int;

struct EncoderContext {
    provider: LoadedProvider,
    is_encrypted: bool,
}

entry! {
    fn newctx(provider: Option<&LoadedProvider>) -> Option<Box<EncoderContext>>, or None; {
        provider.map(|provider| Box::new(EncoderContext { provider: provider.clone(), is_encrypted: false }))
    }
}

entry! {
    fn freectx(encoder: Option<Box<EncoderContext>>) -> (), or (); { drop(encoder); }
}

entry! {
    fn set_params(encoder: Option<&mut EncoderContext>, params: ParamReader<'_>) -> c_int, or 0; {
        let Some(encoder) = encoder else { return 0 };
        let result = encoder.set(params);
        report_result(&encoder.provider, result)
    }
}

entry! {
    fn settable_params(_provider: *const c_void) -> *const OsslParam, or std::ptr::null(); { SETTABLE.as_ptr() }
}

entry! {
    /// A private key includes its public half. 0 asks for anything.
    fn does_selection<M: FileForm>(_provider: *const c_void, selection: c_int) -> c_int, or 0; {
        let wanted = KeySelection(selection);
        (selection == 0 || wanted.keypair() && wanted.private() == M::IS_PRIVATE).into()
    }
}

entry! {
    fn encode<M: FileForm>(
        encoder: Option<&EncoderContext>,
        stream: CoreBio,
        key: Option<&ProviderKey>,
        _numbers: *const OsslParam,
        _selection: c_int,
        ask: Option<AskPassphrase>,
        argument: *mut c_void,
    ) -> c_int, or 0;
    {
        let Some(encoder) = encoder else { return 0 };
        // SAFETY: the callback of OpenSSL, with its argument.
        let passphrase = || unsafe { passphrase(ask, argument) };
        let result = key.and_then(ProviderKey::get).ok_or(ProviderError::NoKey).and_then(|key| {
            encoder.file::<M>(&key, passphrase).map(|file| encoder.provider.core().write(stream, &file))
        });
        encoder.provider.report(result)
    }
}

entry! {
    /// Takes the key of another provider from its numbers.
    fn import_object<F: FamilyMarker>(
        encoder: Option<&EncoderContext>,
        selection: c_int,
        params: ParamReader<'_>,
    ) -> Option<Box<ProviderKey>>, or None;
    {
        let key = ProviderKey::new(&encoder?.provider, F::FAMILY, None);
        key.import(params, KeySelection(selection)).then(|| Box::new(key))
    }
}

entry! {
    fn free_object(key: Option<Box<ProviderKey>>) -> (), or (); { drop(key); }
}

impl EncoderContext {
    /// Sets the cipher of a private key.
    fn set(&mut self, params: ParamReader<'_>) -> Result<(), ProviderError> {
        let Some(cipher) = params.text(c"cipher") else { return Ok(()) };
        self.is_encrypted = !cipher.is_empty();
        if self.is_encrypted && !CIPHERS.iter().any(|known| known.eq_ignore_ascii_case(cipher)) {
            let expected = format!("{}, found {cipher}", CIPHERS[0]);
            return Err(ProviderError::Parameter { what: "cipher of the file", expected });
        }
        Ok(())
    }

    /// Returns a key as the content of a file.
    fn file<M: FileForm>(
        &self,
        key: &oarlock::Key,
        passphrase: impl FnOnce() -> Result<Passphrase, ProviderError>,
    ) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        let text = |text: Zeroizing<String>| Zeroizing::new(text.as_bytes().to_vec());
        // Every build of OpenSSL has PBKDF2. Some lack scrypt, such as those for FIPS 140.
        let protection = Protection::Pbkdf2 { iterations: ITERATIONS };
        Ok(match (M::IS_PRIVATE, self.is_encrypted, M::IS_PEM) {
            (true, true, true) => text(export::encrypted_pkcs8_pem(key, &passphrase()?, protection)?),
            (true, true, false) => export::encrypted_pkcs8_der(key, &passphrase()?, protection)?,
            (true, false, true) => text(export::private_pkcs8_pem(key)?),
            (true, false, false) => export::private_pkcs8_der(key)?,
            (false, _, true) => Zeroizing::new(export::spki_pem(key)?.into_bytes()),
            (false, _, false) => Zeroizing::new(export::spki_der(key)?),
        })
    }
}

/// Asks for a passphrase.
///
/// # Safety
/// `ask` is a callback of OpenSSL, and `argument` its argument.
unsafe fn passphrase(ask: Option<AskPassphrase>, argument: *mut c_void) -> Result<Passphrase, ProviderError> {
    let missing = || ProviderError::Parameter { what: "passphrase", expected: "one".to_owned() };
    let mut buffer = Zeroizing::new(vec![0_u8; MAX_PASSPHRASE]);
    let mut len = 0;
    let ask = ask.ok_or_else(missing)?;
    // SAFETY: as the caller promises, and a buffer of this size.
    let status =
        unsafe { ask(buffer.as_mut_ptr().cast(), buffer.len(), &mut len, std::ptr::null(), argument) };
    let given = buffer.get(..len).filter(|_| status == 1);
    Ok(Passphrase::new(given.ok_or_else(missing)?))
}
