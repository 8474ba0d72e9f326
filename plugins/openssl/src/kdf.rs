//! Key derivations of TLS: a handshake of TLS 1.3 has nineteen, and the contexts around their hashes cost more than the
//! hashes.

use std::ffi::{CStr, c_int};
use std::ops::Range;

use oarlock::DigestAlg;
use oarlock::engine_api::hash::{HashState, HmacKey, Sha1, Sha224, Sha256, Sha384, Sha512};
use oarlock::engine_api::{erase, reserve_erasing};
use zeroize::Zeroizing;

use crate::digest::NamedDigest;
use crate::error::ProviderError;
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
    /// The spans of values in `bytes`, by [`KdfValue`].
    spans: [Option<Range<usize>>; KdfValue::COUNT],
    /// All values, in one allocation for each context.
    bytes: Vec<u8>,
}

/// A parameter of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KdfValue {
    /// The input key material of TLS 1.3, or the secret of TLS 1.2.
    Key,
    /// The secret before this one.
    Salt,
    Prefix,
    Label,
    Data,
    /// The label of TLS 1.2 and its seed.
    Seed,
}

impl KdfValue {
    const COUNT: usize = 6;
    const ALL: [Self; Self::COUNT] =
        [Self::Key, Self::Salt, Self::Prefix, Self::Label, Self::Data, Self::Seed];

    fn named(name: &CStr) -> Option<Self> {
        match name.to_bytes() {
            b"key" | b"secret" => Some(Self::Key),
            b"salt" => Some(Self::Salt),
            b"prefix" => Some(Self::Prefix),
            b"label" => Some(Self::Label),
            b"data" => Some(Self::Data),
            b"seed" => Some(Self::Seed),
            _ => None,
        }
    }

    /// Returns the name of the parameter.
    fn name(self, kind: KdfKind) -> &'static CStr {
        match self {
            Self::Key if kind == KdfKind::Tls12 => name::SECRET,
            Self::Key => name::KEY,
            Self::Salt => name::SALT,
            Self::Prefix => name::PREFIX,
            Self::Label => name::LABEL,
            Self::Data => name::DATA,
            Self::Seed => name::SEED,
        }
    }
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
            match self.settings.set(params) {
                Err(failure) if failure.is_not_offered() => self.fallback = Some(self.hand_over(failure)?),
                result => result?,
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
            (None, kind) => self.settings.derive(kind, &mut output)?,
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
    /// Takes over all parameters or, after an error, none.
    fn set(&mut self, params: ParamReader<'_>) -> Result<(), ProviderError> {
        let (mut digest, mut mode) = (self.digest, self.mode);
        for (name, param) in params.iter() {
            match name.to_bytes() {
                b"digest" => digest = param.text().map(named_digest).transpose()?.or(digest),
                b"mode" => mode = param.word().map(named_mode).transpose()?.or(mode),
                _ => {}
            }
        }
        (self.digest, self.mode) = (digest, mode);
        let mut has_seed = false;
        for (name, param) in params.iter() {
            let Some((value, bytes)) = KdfValue::named(name).zip(param.octets()) else { continue };
            // Label and seed come as parts.
            if value == KdfValue::Seed && has_seed {
                let seed = Zeroizing::new([self.value(value), bytes].concat());
                self.replace(value, &seed);
            } else {
                self.replace(value, bytes);
            }
            has_seed |= value == KdfValue::Seed;
        }
        Ok(())
    }

    fn replace(&mut self, value: KdfValue, bytes: &[u8]) {
        if let Some(old) = self.spans[value as usize].take() {
            let behind = |span: &&mut Range<usize>| span.start >= old.end;
            for span in self.spans.iter_mut().flatten().filter(behind) {
                *span = span.start - old.len()..span.end - old.len();
            }
            self.bytes.drain(old);
        }
        let more = if self.bytes.capacity() == 0 { bytes.len().max(TYPICAL_VALUES) } else { bytes.len() };
        reserve_erasing(&mut self.bytes, more);
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.spans[value as usize] = Some(start..self.bytes.len());
    }

    /// Returns a value, or nothing if it was not set.
    fn value(&self, value: KdfValue) -> &[u8] {
        self.known(value).unwrap_or_default()
    }

    fn known(&self, value: KdfValue) -> Option<&[u8]> {
        self.bytes.get(self.spans[value as usize].clone()?)
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
        for value in KdfValue::ALL {
            self.known(value).iter().for_each(|bytes| _ = params.octets(value.name(kind), bytes));
        }
        params
    }

    fn derive(&self, kind: KdfKind, output: &mut [u8]) -> Result<(), ProviderError> {
        match self.digest.ok_or(ProviderError::NotInitialised)?.accelerated {
            Some(DigestAlg::Sha1) => self.derive_by::<Sha1>(kind, output),
            Some(DigestAlg::Sha224) => self.derive_by::<Sha224>(kind, output),
            Some(DigestAlg::Sha256) => self.derive_by::<Sha256>(kind, output),
            Some(DigestAlg::Sha384) => self.derive_by::<Sha384>(kind, output),
            Some(DigestAlg::Sha512) => self.derive_by::<Sha512>(kind, output),
            _ => Err(ProviderError::NotInitialised),
        }
    }

    fn derive_by<H: HashState>(&self, kind: KdfKind, output: &mut [u8]) -> Result<(), ProviderError> {
        match (kind, self.mode) {
            (KdfKind::Tls12, _) => self.pseudorandom::<H>(output),
            (KdfKind::Tls13, Some(Tls13Mode::Expand)) => {
                let secret = self.known(KdfValue::Key).ok_or(ProviderError::NoKey)?;
                self.expand::<H>(secret, self.value(KdfValue::Data), output)
            }
            (KdfKind::Tls13, Some(Tls13Mode::Extract)) => self.extract::<H>(output),
            (KdfKind::Tls13, None) => {
                let expected = "EXTRACT_ONLY or EXPAND_ONLY".to_owned();
                Err(ProviderError::Parameter { what: "mode", expected })
            }
        }
    }

    /// Derive-Secret for the label, and HKDF-Extract: RFC 8446 7.1.
    fn extract<H: HashState>(&self, output: &mut [u8]) -> Result<(), ProviderError> {
        if output.len() != H::OUTPUT {
            let expected = format!("{} bytes, as a hash has", H::OUTPUT);
            return Err(ProviderError::Parameter { what: "length of the output", expected });
        }
        let zeros = [0; MAX_HASH];
        let zeros = zeros.get(..H::OUTPUT).unwrap_or_default();
        let mut derived = Zeroizing::new([0; MAX_HASH]);
        let salt: &[u8] = match self.known(KdfValue::Salt) {
            Some(salt) => {
                let mut of_nothing = [0; MAX_HASH];
                let of_nothing = of_nothing.get_mut(..H::OUTPUT).unwrap_or_default();
                H::new().finish(of_nothing);
                let derived = derived.get_mut(..H::OUTPUT).unwrap_or_default();
                self.expand::<H>(salt, of_nothing, derived)?;
                derived
            }
            None => zeros,
        };
        HmacKey::<H>::new(salt).code(&[self.known(KdfValue::Key).unwrap_or(zeros)], output);
        Ok(())
    }

    /// HKDF-Expand-Label: RFC 8446 7.1, RFC 5869 2.3.
    fn expand<H: HashState>(
        &self,
        secret: &[u8],
        context: &[u8],
        output: &mut [u8],
    ) -> Result<(), ProviderError> {
        let [prefix, label] = [KdfValue::Prefix, KdfValue::Label].map(|value| self.value(value));
        let too_long = |what, max: usize| {
            move |_| ProviderError::Parameter { what, expected: format!("at most {max} bytes") }
        };
        let max = 255 * H::OUTPUT;
        let blocks =
            u8::try_from(output.len().div_ceil(H::OUTPUT)).map_err(too_long("length of the output", max))?;
        let [len_high, len_low] =
            u16::try_from(output.len()).map_err(too_long("length of the output", max))?.to_be_bytes();
        let label_len = u8::try_from(prefix.len() + label.len()).map_err(too_long("label", 255))?;
        let context_len = u8::try_from(context.len()).map_err(too_long("data", 255))?;
        let key = HmacKey::<H>::new(secret);
        let mut before: &[u8] = &[];
        for (counter, block) in (1..=blocks).zip(output.chunks_mut(H::OUTPUT)) {
            let head = [len_high, len_low, label_len];
            key.code(&[before, &head, prefix, label, &[context_len], context, &[counter]], block);
            before = block;
        }
        Ok(())
    }

    /// P_hash: RFC 5246 5.
    fn pseudorandom<H: HashState>(&self, output: &mut [u8]) -> Result<(), ProviderError> {
        let key = HmacKey::<H>::new(self.known(KdfValue::Key).ok_or(ProviderError::NoKey)?);
        let seed = self.value(KdfValue::Seed);
        let [mut now, mut next] = [(); 2].map(|()| Zeroizing::new([0; MAX_HASH]));
        let [now, next] = [&mut now, &mut next].map(|hash| hash.get_mut(..H::OUTPUT).unwrap_or_default());
        key.code(&[seed], now);
        for block in output.chunks_mut(H::OUTPUT) {
            key.code(&[now, seed], block);
            key.code(&[now], next);
            now.copy_from_slice(next);
        }
        Ok(())
    }
}

/// Values are secrets.
impl Drop for KdfSettings {
    fn drop(&mut self) {
        erase(&mut self.bytes);
    }
}

/// The most bytes of a hash.
const MAX_HASH: usize = 64;

/// The bytes that are reserved for the values of a derivation in TLS.
const TYPICAL_VALUES: usize = 192;

fn named_digest(name: &str) -> Result<&'static NamedDigest, ProviderError> {
    let digest = NamedDigest::named(name)?;
    // Those that HMAC takes here.
    digest.accelerated.map(|_| digest).ok_or_else(|| ProviderError::Digest(format!("{digest:?} in HMAC")))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
    }

    fn settings(key: &str) -> KdfSettings {
        let mut settings = KdfSettings::default();
        settings.digest = Some(NamedDigest::named("SHA256").unwrap());
        settings.replace(KdfValue::Key, &hex(key));
        settings
    }

    fn derived<const N: usize>(settings: &KdfSettings, kind: KdfKind) -> [u8; N] {
        let mut output = [0; N];
        settings.derive(kind, &mut output).unwrap();
        output
    }

    #[test]
    fn a_value_that_is_set_again_leaves_the_others_as_they_are() {
        let mut settings = settings("0102");
        settings.replace(KdfValue::Salt, b"salt");
        settings.replace(KdfValue::Label, b"label");
        for salt in [&b"longer salt"[..], b"s", b"", &[7; 300]] {
            settings.replace(KdfValue::Salt, salt);
            let values = [KdfValue::Key, KdfValue::Salt, KdfValue::Label].map(|value| settings.known(value));
            assert_eq!(values, [Some(&[1, 2][..]), Some(salt), Some(b"label")]);
        }
        assert_eq!(settings.known(KdfValue::Data), None);
        assert_eq!(settings.bytes.len(), 2 + 300 + 5);
    }

    /// RFC 8448 3.
    #[test]
    fn derives_the_key_schedule_of_the_example() {
        let mut early = settings(&"00".repeat(32));
        early.mode = Some(Tls13Mode::Extract);
        early.replace(KdfValue::Prefix, b"tls13 ");
        early.replace(KdfValue::Label, b"derived");
        let secret = "33ad0a1c607ec03b09e6cd9893680ce210adf300aa1f2660e1b22e10f170f92a";
        assert_eq!(derived::<32>(&early, KdfKind::Tls13)[..], hex(secret));
        // No key is as good as one of zeros.
        early.spans[KdfValue::Key as usize] = None;
        assert_eq!(derived::<32>(&early, KdfKind::Tls13)[..], hex(secret));

        let shared = "8bd4054fb55b9d63fdfbacf9f04b9f0d35e6d63f537563efd46272900f89492d";
        let mut handshake = early;
        handshake.replace(KdfValue::Key, &hex(shared));
        handshake.replace(KdfValue::Salt, &hex(secret));
        let secret = "1dc826e93606aa6fdc0aadc12f741b01046aa6b99f691ed221a9f0ca043fbeac";
        assert_eq!(derived::<32>(&handshake, KdfKind::Tls13)[..], hex(secret));
    }

    /// A vector of the TLS working group for P_SHA256.
    #[test]
    fn derives_the_output_of_the_pseudorandom_function() {
        let mut prf = settings("9bbe436ba940f017b17652849a71db35");
        let seed = [b"test label".to_vec(), hex("a0ba9f936cda311827a6f796ffd5198c")].concat();
        prf.replace(KdfValue::Seed, &seed);
        let expected = "e3f229ba727be17b8d122620557cd453c2aab21d07c3d495329b52d4e61edb5a6b301791e90d35c9c9a46b4e\
                        14baf9af0fa022f7077def17abfd3797c0564bab4fbc91666e9def9b97fce34f796789baa48082d122ee42c5\
                        a72e5a5110fff70187347b66";
        assert_eq!(derived::<100>(&prf, KdfKind::Tls12)[..], hex(expected));
    }
}
