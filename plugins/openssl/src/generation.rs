//! New keys.

use std::ffi::{CStr, c_void};

use oarlock::keys::{generate, raw};
use oarlock::{Curve, Key, MlDsaSet, MlKemSet};
use zeroize::Zeroizing;

use crate::error::ProviderError;
use crate::ffi::libcrypto::fallback::FallbackGeneration;
use crate::ffi::libcrypto::params::{ParamList, ParamReader};
use crate::key::{KeyFamily, KeySelection, ProviderKey, curve_by_name, group_name, name};
use crate::provider::LoadedProvider;

/// The parameters of a new key.
pub(crate) struct KeyGeneration {
    pub(crate) provider: LoadedProvider,
    family: KeyFamily,
    selection: KeySelection,
    /// The length of an RSA modulus.
    bits: u16,
    curve: Option<Curve>,
    /// The given seed of an ML-KEM or ML-DSA key.
    seed: Option<Zeroizing<Vec<u8>>>,
    /// The generation at the fallback, after a parameter that is not offered here.
    fallback: Option<FallbackGeneration>,
}

/// The supported lengths of new RSA keys.
const GENERATED_BITS: [u16; 5] = [1024, 2048, 3072, 4096, 8192];

/// The default length in OpenSSL.
const DEFAULT_BITS: u16 = 2048;

/// The parameters of new keys that do not change what is generated here.
const NEUTRAL: [&CStr; 2] = [name::GROUP, c"properties"];

impl KeyGeneration {
    /// Begins to generate a key.
    pub(crate) fn begin(
        provider: &LoadedProvider,
        family: KeyFamily,
        selection: KeySelection,
        params: ParamReader<'_>,
    ) -> Result<Self, ProviderError> {
        let (provider, bits) = (provider.clone(), DEFAULT_BITS);
        let mut generation =
            Self { provider, family, selection, bits, curve: None, seed: None, fallback: None };
        generation.set(params)?;
        Ok(generation)
    }

    /// Sets parameters. The fallback generates the key if a parameter is not offered here.
    pub(crate) fn set(&mut self, params: ParamReader<'_>) -> Result<(), ProviderError> {
        if self.fallback.is_none() {
            let (bits, curve) = (self.bits, self.curve);
            match self.set_own(params) {
                Err(error) if error.is_not_offered() => {
                    (self.bits, self.curve) = (bits, curve);
                    self.hand_over(error)?;
                }
                result => return result,
            }
        }
        let is_set = self.fallback.as_mut().is_some_and(|fallback| fallback.set(params));
        if is_set { Ok(()) } else { Err(ProviderError::Fallback) }
    }

    fn set_own(&mut self, params: ParamReader<'_>) -> Result<(), ProviderError> {
        if self.family == KeyFamily::Rsa {
            return self.set_rsa(params);
        }
        if let Some(len) = self.seed_len() {
            return self.set_seed(params, len);
        }
        if params.has_other_than(&NEUTRAL) {
            return Err(ProviderError::Unsupported { what: "a parameter of the new key".to_owned() });
        }
        match (self.family, params.text(name::GROUP)) {
            (KeyFamily::Ec, Some(group)) => {
                let unknown = || ProviderError::Unsupported { what: format!("group {group}") };
                self.curve = Some(curve_by_name(group).ok_or_else(unknown)?);
                Ok(())
            }
            (KeyFamily::X25519, Some(group)) if !group.eq_ignore_ascii_case("x25519") => {
                Err(ProviderError::Parameter { what: "group", expected: format!("x25519, found {group}") })
            }
            _ => Ok(()),
        }
    }

    /// Returns the length of the seed that makes a key, for families that have one.
    fn seed_len(&self) -> Option<usize> {
        match self.family {
            KeyFamily::MlKem(_) => Some(MlKemSet::SEED_LEN),
            KeyFamily::MlDsa(_) => Some(MlDsaSet::SEED_LEN),
            // SK.seed, SK.prf and PK.seed.
            KeyFamily::SlhDsa(set) => Some(3 * set.n()),
            _ => None,
        }
    }

    fn set_seed(&mut self, params: ParamReader<'_>, len: usize) -> Result<(), ProviderError> {
        if params.has_other_than(&[name::SEED, c"properties"]) {
            return Err(ProviderError::Unsupported { what: "a parameter of the new key".to_owned() });
        }
        match params.octets(name::SEED) {
            Some(seed) if seed.len() != len => {
                let expected = format!("{len} bytes, found {}", seed.len());
                Err(ProviderError::Parameter { what: "seed", expected })
            }
            Some(seed) => {
                self.seed = Some(Zeroizing::new(seed.to_vec()));
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Begins the same generation at the fallback. The error is returned if there is none.
    fn hand_over(&mut self, error: ProviderError) -> Result<(), ProviderError> {
        let Some(fallback) = self.provider.fallback() else { return Err(error) };
        let mut params = ParamList::default();
        if self.family == KeyFamily::Rsa {
            params.integer(name::BITS, &self.bits.to_be_bytes());
        }
        if let Some(curve) = self.curve {
            params.text(name::GROUP, group_name(curve).to_str().unwrap_or_default());
        }
        if let Some(seed) = &self.seed {
            params.octets(name::SEED, seed);
        }
        let (family, selection) = (self.family.name(), self.selection.0);
        self.fallback = params.with(|params| FallbackGeneration::new(fallback, family, selection, params));
        if self.fallback.is_some() { Ok(()) } else { Err(ProviderError::Fallback) }
    }

    fn set_rsa(&mut self, params: ParamReader<'_>) -> Result<(), ProviderError> {
        if params.has_other_than(&[name::BITS, name::PRIMES, name::E, c"properties"]) {
            return Err(ProviderError::Unsupported { what: "a parameter of the new key".to_owned() });
        }
        if let Some(bits) = params.number(name::BITS) {
            let other = || ProviderError::Unsupported { what: format!("a new RSA key of {bits} bits") };
            self.bits =
                GENERATED_BITS.into_iter().find(|known| i64::from(*known) == bits).ok_or_else(other)?;
        }
        if let Some(primes) = params.number(name::PRIMES).filter(|primes| *primes != 2) {
            return Err(ProviderError::Unsupported { what: format!("an RSA key of {primes} primes") });
        }
        let is_usual = |e: &[u8]| e.iter().skip_while(|byte| **byte == 0).eq(&[1, 0, 1]);
        match params.integer(name::E) {
            Some(e) if !is_usual(&e) => Err(ProviderError::Unsupported {
                what: "a new RSA key with another exponent than 65537".to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// Copies the parameters of another key. False if it belongs to another family.
    pub(crate) fn take_template(&mut self, key: &ProviderKey) -> bool {
        if key.family != self.family {
            return false;
        }
        if self.fallback.is_none() && !key.is_foreign() {
            // TLS generates its own key share from the parameters of the peer's key.
            self.curve = key.curve().or(self.curve);
            return true;
        }
        if self.fallback.is_none() && self.hand_over(ProviderError::Fallback).is_err() {
            return false;
        }
        let template = key.to_fallback();
        self.fallback.as_mut().zip(template).is_some_and(|(fallback, key)| fallback.take_template(&key))
    }

    /// Generates a key, or only its parameters if no key is selected. `report` and `argument` are the callback of
    /// OpenSSL for reports of progress, which the fallback calls.
    pub(crate) fn generate(
        &mut self,
        report: *const c_void,
        argument: *mut c_void,
    ) -> Result<ProviderKey, ProviderError> {
        if let Some(fallback) = &mut self.fallback {
            let key = fallback.generate(report, argument).ok_or(ProviderError::Fallback)?;
            return Ok(ProviderKey::of_foreign(&self.provider, self.family, key));
        }
        let no_curve =
            || ProviderError::Parameter { what: "group", expected: "the name of a curve".to_owned() };
        if !self.selection.keypair() {
            return match self.family {
                KeyFamily::Ec => Ok(ProviderKey::of_curve(&self.provider, self.curve.ok_or_else(no_curve)?)),
                family => Ok(ProviderKey::new(&self.provider, family, None)),
            };
        }
        let key = match self.family {
            KeyFamily::Rsa => self.provider.off_fibre(|| generate::rsa(self.bits))??,
            KeyFamily::Ec => generate::ec(self.curve.ok_or_else(no_curve)?)?,
            KeyFamily::Ed25519 => generate::ed25519()?,
            KeyFamily::X25519 => generate::x25519()?,
            KeyFamily::MlKem(_) | KeyFamily::MlDsa(_) | KeyFamily::SlhDsa(_) => self.generate_seeded()?,
        };
        Ok(ProviderKey::new(&self.provider, self.family, Some(key)))
    }

    fn generate_seeded(&self) -> Result<Key, ProviderError> {
        let (family, seed) = (self.family, self.seed.as_deref());
        let made = self.provider.off_fibre(|| match (family, seed) {
            (KeyFamily::MlKem(set), None) => Some(generate::ml_kem(set)),
            (KeyFamily::MlKem(set), Some(seed)) => Some(raw::ml_kem_seed(set, seed)),
            (KeyFamily::MlDsa(set), None) => Some(generate::ml_dsa(set)),
            (KeyFamily::MlDsa(set), Some(seed)) => Some(raw::ml_dsa_seed(set, seed)),
            (KeyFamily::SlhDsa(set), None) => Some(generate::slh_dsa(set)),
            (KeyFamily::SlhDsa(set), Some(seed)) => Some(raw::slh_dsa_seeds(set, seed)),
            _ => None,
        })?;
        Ok(made.ok_or(ProviderError::NoKey)??)
    }
}
