//! Key derivations of TLS: a handshake of TLS 1.3 has nineteen, and the contexts around their hashes cost more than the
//! hashes.

use std::ffi::c_int;

use aws_lc_rs::hmac;
use oarlock::DigestAlg;
use zeroize::Zeroizing;

use crate::digest::NamedDigest;
use crate::error::ProviderError;
use crate::ffi::libcrypto::abi::OsslParam;
use crate::ffi::libcrypto::fallback::{FallbackContext, KDF};
use crate::ffi::libcrypto::params::{ParamList, ParamReader, ParamWord, ParamWriter};
use crate::provider::LoadedProvider;

/// Names of parameters: `core_names.h`.
pub(crate) mod name {
    use std::ffi::CStr;
    pub(crate) const DIGEST: &CStr = c"digest";
    pub(crate) const MODE: &CStr = c"mode";
    pub(crate) const KEY: &CStr = c"key";
    pub(crate) const SALT: &CStr = c"salt";
    pub(crate) const PREFIX: &CStr = c"prefix";
    pub(crate) const LABEL: &CStr = c"label";
    pub(crate) const DATA: &CStr = c"data";
    pub(crate) const SECRET: &CStr = c"secret";
    pub(crate) const SEED: &CStr = c"seed";
    pub(crate) const SIZE: &CStr = c"size";
}

/// A key derivation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KdfKind {
    /// The key schedule of TLS 1.3: RFC 8446 7.1.
    Tls13,
    /// The pseudorandom function of TLS 1.2: RFC 5246 5.
    Tls12,
}

/// A context of a key derivation.
pub(crate) struct KdfContext {
    provider: LoadedProvider,
    kind: KdfKind,
    settings: KdfSettings,
    /// The fallback's context, from the moment on that asks for what is not offered here.
    fallback: Option<FallbackContext>,
}

#[derive(Clone, Default)]
struct KdfSettings {
    digest: Option<&'static NamedDigest>,
    mode: Option<Tls13Mode>,
    /// The input key material of TLS 1.3, or the secret of TLS 1.2.
    key: Option<Zeroizing<Vec<u8>>>,
    /// The secret before this one.
    salt: Option<Zeroizing<Vec<u8>>>,
    prefix: Option<Vec<u8>>,
    label: Option<Vec<u8>>,
    data: Option<Vec<u8>>,
    /// The label of TLS 1.2 and its seed.
    seed: Option<Zeroizing<Vec<u8>>>,
}

/// A step of the key schedule of TLS 1.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tls13Mode {
    /// Derive-Secret for the label, and HKDF-Extract.
    Extract,
    /// HKDF-Expand-Label.
    Expand,
}

impl KdfKind {
    fn name(self) -> &'static str {
        match self {
            Self::Tls13 => "TLS13-KDF",
            Self::Tls12 => "TLS1-PRF",
        }
    }
}

impl KdfContext {
    pub(crate) fn new(provider: LoadedProvider, kind: KdfKind) -> Self {
        Self { provider, kind, settings: KdfSettings::default(), fallback: None }
    }

    pub(crate) fn provider(&self) -> &LoadedProvider {
        &self.provider
    }

    /// Forgets all parameters.
    pub(crate) fn reset(&mut self) {
        (self.settings, self.fallback) = (KdfSettings::default(), None);
    }

    /// Copies the context. None if the fallback cannot.
    pub(crate) fn duplicate(&self) -> Option<Self> {
        let fallback = match &self.fallback {
            Some(context) => Some(context.duplicate()?),
            None => None,
        };
        Some(Self {
            provider: self.provider.clone(),
            kind: self.kind,
            settings: self.settings.clone(),
            fallback,
        })
    }

    /// Sets parameters.
    pub(crate) fn set(&mut self, params: ParamReader<'_>) -> c_int {
        let result = self.try_set(params);
        self.provider.report(result)
    }

    /// Writes the parameters that are asked for.
    pub(crate) fn get(&self, mut wanted: ParamWriter<'_>) -> c_int {
        self.provider.report(self.try_get(&mut wanted))
    }

    /// Sets all parameters or, after an error, none. Unknown parameters are ignored.
    fn try_set(&mut self, params: ParamReader<'_>) -> Result<bool, ProviderError> {
        if self.fallback.is_none() {
            match KdfSettings::read(params) {
                Err(failure) if failure.is_not_offered() => self.fallback = Some(self.hand_over(failure)?),
                settings => self.settings.replace_by(settings?),
            }
        }
        Ok(self.fallback.as_mut().is_none_or(|fallback| fallback.set(params) == 1))
    }

    fn try_get(&self, wanted: &mut ParamWriter<'_>) -> Result<bool, ProviderError> {
        if let Some(fallback) = &self.fallback {
            return Ok(fallback.get(wanted) == 1);
        }
        let is_extraction = self.settings.mode == Some(Tls13Mode::Extract);
        let len = match self.settings.digest.filter(|_| is_extraction) {
            Some(digest) => digest.len(),
            None if is_extraction => return Err(ProviderError::NotInitialised),
            None => usize::MAX,
        };
        Ok(wanted.integer(name::SIZE, &len.to_be_bytes()))
    }

    /// Derives a key of `len` bytes.
    pub(crate) fn derive(
        &mut self,
        len: usize,
        params: ParamReader<'_>,
    ) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        if !self.try_set(params)? {
            return Err(ProviderError::Fallback);
        }
        let mut output = Zeroizing::new(vec![0; len]);
        match (&mut self.fallback, self.kind) {
            (Some(fallback), _) => {
                if fallback.derive(&mut output) != 1 {
                    return Err(ProviderError::Fallback);
                }
            }
            (None, KdfKind::Tls13) => self.settings.derive_tls13(&mut output)?,
            (None, KdfKind::Tls12) => self.settings.derive_tls12(&mut output)?,
        }
        Ok(output)
    }

    /// Returns the fallback's context in the state of this one, or why there is none.
    fn hand_over(&self, failure: ProviderError) -> Result<FallbackContext, ProviderError> {
        let Some(provider) = self.provider.fallback() else { return Err(failure) };
        let mut fallback =
            FallbackContext::without_key(&KDF, self.kind.name(), provider).ok_or(ProviderError::Fallback)?;
        let mut params = self.settings.to_params(self.kind);
        // OpenSSL refuses parameters without a mode, even if there are none.
        if params.is_empty() || params.with(|params| fallback.set(params)) == 1 {
            Ok(fallback)
        } else {
            Err(ProviderError::Fallback)
        }
    }
}

impl KdfSettings {
    fn read(params: ParamReader<'_>) -> Result<Self, ProviderError> {
        let mut read = Self::default();
        let secret = |param: &OsslParam| param.octets().map(|secret| Zeroizing::new(secret.to_vec()));
        let bytes = |param: &OsslParam| param.octets().map(<[u8]>::to_vec);
        for (name, param) in params.iter() {
            match name.to_bytes() {
                b"digest" => read.digest = param.text().map(named_digest).transpose()?,
                b"mode" => read.mode = param.word().map(named_mode).transpose()?,
                b"key" | b"secret" => read.key = secret(param),
                b"salt" => read.salt = secret(param),
                b"prefix" => read.prefix = bytes(param),
                b"label" => read.label = bytes(param),
                b"data" => read.data = bytes(param),
                // Label and seed come as parts.
                b"seed" => {
                    let before = read.seed.take().unwrap_or_default();
                    read.seed = Some([&before, param.octets().unwrap_or_default()].concat().into());
                }
                _ => {}
            }
        }
        Ok(read)
    }

    /// Takes over what the new settings have.
    fn replace_by(&mut self, new: Self) {
        fn replace<T>(old: &mut Option<T>, new: Option<T>) {
            if new.is_some() {
                *old = new;
            }
        }
        replace(&mut self.digest, new.digest);
        replace(&mut self.mode, new.mode);
        replace(&mut self.key, new.key);
        replace(&mut self.salt, new.salt);
        replace(&mut self.prefix, new.prefix);
        replace(&mut self.label, new.label);
        replace(&mut self.data, new.data);
        replace(&mut self.seed, new.seed);
    }

    /// Returns the parameters that make another context the same.
    fn to_params(&self, kind: KdfKind) -> ParamList {
        let mut params = ParamList::default();
        if let Some(digest) = self.digest {
            params.text(name::DIGEST, digest.canonical.to_str().unwrap_or_default());
        }
        match self.mode {
            Some(Tls13Mode::Extract) => params.text(name::MODE, "EXTRACT_ONLY"),
            Some(Tls13Mode::Expand) => params.text(name::MODE, "EXPAND_ONLY"),
            None => &mut params,
        };
        let key = if kind == KdfKind::Tls13 { name::KEY } else { name::SECRET };
        for (name, secret) in [(key, &self.key), (name::SALT, &self.salt), (name::SEED, &self.seed)] {
            secret.iter().for_each(|secret| _ = params.octets(name, secret));
        }
        for (name, value) in
            [(name::PREFIX, &self.prefix), (name::LABEL, &self.label), (name::DATA, &self.data)]
        {
            value.iter().for_each(|value| _ = params.octets(name, value));
        }
        params
    }

    /// RFC 8446 7.1.
    fn derive_tls13(&self, output: &mut [u8]) -> Result<(), ProviderError> {
        let digest = self.digest.ok_or(ProviderError::NotInitialised)?;
        let zeros = [0; MAX_HASH];
        let zeros = zeros.get(..digest.len()).unwrap_or_default();
        let key = self.key.as_ref().map(|key| &***key);
        match self.mode {
            Some(Tls13Mode::Expand) => self.expand(
                digest,
                key.ok_or(ProviderError::NoKey)?,
                self.data.as_deref().unwrap_or_default(),
                output,
            ),
            Some(Tls13Mode::Extract) if output.len() == digest.len() => {
                let mut derived = Zeroizing::new([0; MAX_HASH]);
                let derived = derived.get_mut(..digest.len()).unwrap_or_default();
                let salt: &[u8] = match &self.salt {
                    Some(salt) => {
                        let of_nothing = digest.hasher().finish();
                        self.expand(digest, salt, of_nothing.as_ref(), derived)?;
                        derived
                    }
                    None => zeros,
                };
                code(&hmac::Key::new(hmac_of(digest)?, salt), key.unwrap_or(zeros), output)
            }
            Some(Tls13Mode::Extract) => {
                let expected = format!("{} bytes, as a hash has", digest.len());
                Err(ProviderError::Parameter { what: "length of the output", expected })
            }
            None => {
                let expected = "EXTRACT_ONLY or EXPAND_ONLY".to_owned();
                Err(ProviderError::Parameter { what: "mode", expected })
            }
        }
    }

    /// HKDF-Expand-Label: RFC 8446 7.1, RFC 5869 2.3.
    fn expand(
        &self,
        digest: &NamedDigest,
        secret: &[u8],
        context: &[u8],
        output: &mut [u8],
    ) -> Result<(), ProviderError> {
        let [prefix, label] = [&self.prefix, &self.label].map(|part| part.as_deref().unwrap_or_default());
        let (label_len, len) = (prefix.len() + label.len(), output.len());
        let too_long = |what, max: usize| {
            move |_| ProviderError::Parameter { what, expected: format!("at most {max} bytes") }
        };
        let max = 255 * digest.len();
        let blocks =
            u8::try_from(len.div_ceil(digest.len())).map_err(too_long("length of the output", max))?;
        let len_bytes = u16::try_from(len).map_err(too_long("length of the output", max))?.to_be_bytes();
        let label_len_byte = u8::try_from(label_len).map_err(too_long("label", 255))?;
        let context_len_byte = u8::try_from(context.len()).map_err(too_long("data", 255))?;
        let key = hmac::Key::new(hmac_of(digest)?, secret);
        // The block before, the label, and a counter. Reserved at once: a vector that grows leaves copies behind.
        let mut input = Zeroizing::new(Vec::with_capacity(digest.len() + label_len + context.len() + 5));
        for (counter, block) in (1..=blocks).zip(output.chunks_mut(digest.len())) {
            input.extend_from_slice(&len_bytes);
            input.push(label_len_byte);
            input.extend_from_slice(prefix);
            input.extend_from_slice(label);
            input.push(context_len_byte);
            input.extend_from_slice(context);
            input.push(counter);
            code(&key, &input, block)?;
            input.clear();
            input.extend_from_slice(block);
        }
        Ok(())
    }

    /// P_hash: RFC 5246 5.
    fn derive_tls12(&self, output: &mut [u8]) -> Result<(), ProviderError> {
        let digest = self.digest.ok_or(ProviderError::NotInitialised)?;
        let secret = self.key.as_ref().ok_or(ProviderError::NoKey)?;
        let key = hmac::Key::new(hmac_of(digest)?, secret);
        let seed = self.seed.as_ref().map_or(&[][..], |seed| seed);
        let mut input = Zeroizing::new(Vec::with_capacity(digest.len() + seed.len()));
        input.resize(digest.len(), 0);
        code(&key, seed, &mut input)?;
        for block in output.chunks_mut(digest.len()) {
            let mut next = Zeroizing::new([0; MAX_HASH]);
            let next = next.get_mut(..digest.len()).unwrap_or_default();
            code(&key, &input, next)?;
            input.extend_from_slice(seed);
            code(&key, &input, block)?;
            input.clear();
            input.extend_from_slice(next);
        }
        Ok(())
    }
}

/// The most bytes of a hash.
const MAX_HASH: usize = 64;

fn named_digest(name: &str) -> Result<&'static NamedDigest, ProviderError> {
    let digest = NamedDigest::named(name)?;
    hmac_of(digest).map(|_| digest)
}

fn named_mode(mode: ParamWord<'_>) -> Result<Tls13Mode, ProviderError> {
    match mode {
        ParamWord::Number(1) | ParamWord::Text("EXTRACT_ONLY") => Ok(Tls13Mode::Extract),
        ParamWord::Number(2) | ParamWord::Text("EXPAND_ONLY") => Ok(Tls13Mode::Expand),
        _ => {
            let expected = format!("EXTRACT_ONLY or EXPAND_ONLY, found {mode}");
            Err(ProviderError::Parameter { what: "mode", expected })
        }
    }
}

/// Returns the HMAC of a digest.
fn hmac_of(digest: &NamedDigest) -> Result<hmac::Algorithm, ProviderError> {
    match digest.accelerated {
        Some(DigestAlg::Sha1) => Ok(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY),
        Some(DigestAlg::Sha224) => Ok(hmac::HMAC_SHA224),
        Some(DigestAlg::Sha256) => Ok(hmac::HMAC_SHA256),
        Some(DigestAlg::Sha384) => Ok(hmac::HMAC_SHA384),
        Some(DigestAlg::Sha512) => Ok(hmac::HMAC_SHA512),
        _ => Err(ProviderError::Digest(format!("{digest:?} in HMAC"))),
    }
}

/// Computes an HMAC and writes as much of it as the output takes.
fn code(key: &hmac::Key, data: &[u8], output: &mut [u8]) -> Result<(), ProviderError> {
    let mut all = Zeroizing::new([0; MAX_HASH]);
    let failed = |_| ProviderError::Unsupported { what: "HMAC".to_owned() };
    let all = hmac::sign_to_buffer(key, data, &mut *all).map_err(failed)?;
    all.iter().zip(output).for_each(|(byte, target)| *target = *byte);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
    }

    fn settings(key: &str) -> KdfSettings {
        let digest = Some(NamedDigest::named("SHA256").unwrap());
        KdfSettings { digest, key: Some(hex(key).into()), ..KdfSettings::default() }
    }

    fn tls13(settings: &KdfSettings) -> Vec<u8> {
        let mut output = [0; 32];
        settings.derive_tls13(&mut output).unwrap();
        output.to_vec()
    }

    /// RFC 8448 3.
    #[test]
    fn derives_the_key_schedule_of_the_example() {
        let zeros = "00".repeat(32);
        let mut early = settings(&zeros);
        (early.mode, early.prefix, early.label) =
            (Some(Tls13Mode::Extract), Some(b"tls13 ".to_vec()), Some(b"derived".to_vec()));
        let secret = "33ad0a1c607ec03b09e6cd9893680ce210adf300aa1f2660e1b22e10f170f92a";
        assert_eq!(tls13(&early), hex(secret));
        // No key is as good as one of zeros.
        assert_eq!(tls13(&KdfSettings { key: None, ..early.clone() }), hex(secret));

        let shared = "8bd4054fb55b9d63fdfbacf9f04b9f0d35e6d63f537563efd46272900f89492d";
        let handshake =
            KdfSettings { key: Some(hex(shared).into()), salt: Some(hex(secret).into()), ..early };
        let secret = "1dc826e93606aa6fdc0aadc12f741b01046aa6b99f691ed221a9f0ca043fbeac";
        assert_eq!(tls13(&handshake), hex(secret));
    }

    /// A vector of the TLS working group for P_SHA256.
    #[test]
    fn derives_the_output_of_the_pseudorandom_function() {
        let mut prf = settings("9bbe436ba940f017b17652849a71db35");
        let seed = [b"test label".to_vec(), hex("a0ba9f936cda311827a6f796ffd5198c")].concat();
        prf.seed = Some(seed.into());
        let mut output = [0; 100];
        prf.derive_tls12(&mut output).unwrap();
        let expected = "e3f229ba727be17b8d122620557cd453c2aab21d07c3d495329b52d4e61edb5a6b301791e90d35c9c9a46b4e\
                        14baf9af0fa022f7077def17abfd3797c0564bab4fbc91666e9def9b97fce34f796789baa48082d122ee42c5\
                        a72e5a5110fff70187347b66";
        assert_eq!(output.to_vec(), hex(expected));
    }
}
