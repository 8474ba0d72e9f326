//! New keys.

use oarlock::Curve;
use oarlock::keys::generate;

use crate::error::ProviderError;
use crate::ffi::libcrypto::params::ParamReader;
use crate::key::{KeyFamily, KeySelection, ProviderKey, curve_by_name, name};
use crate::provider::{LoadedProvider, with_large_stack};

/// The parameters of a new key.
pub(crate) struct KeyGeneration {
    pub(crate) provider: LoadedProvider,
    family: KeyFamily,
    selection: KeySelection,
    /// The length of an RSA modulus.
    bits: u16,
    curve: Option<Curve>,
}

/// The supported lengths of new RSA keys.
const GENERATED_BITS: [u16; 5] = [1024, 2048, 3072, 4096, 8192];

/// The default length in OpenSSL.
const DEFAULT_BITS: u16 = 2048;

impl KeyGeneration {
    pub(crate) fn new(provider: LoadedProvider, family: KeyFamily, selection: KeySelection) -> Self {
        Self { provider, family, selection, bits: DEFAULT_BITS, curve: None }
    }

    /// Sets parameters. Parameters of other families are ignored.
    pub(crate) fn set(&mut self, params: ParamReader<'_>) -> Result<(), ProviderError> {
        if params.has(c"dhkem-ikm") {
            return Err(ProviderError::Unsupported {
                what: "generation from input keying material".to_owned(),
            });
        }
        match self.family {
            KeyFamily::Rsa => self.set_rsa(params),
            KeyFamily::Ec => match params.text(name::GROUP) {
                Some(group) => {
                    let unknown = || ProviderError::Unsupported { what: format!("group {group}") };
                    self.curve = Some(curve_by_name(group).ok_or_else(unknown)?);
                    Ok(())
                }
                None => Ok(()),
            },
            KeyFamily::X25519 => match params.text(name::GROUP) {
                Some(group) if !group.eq_ignore_ascii_case("x25519") => Err(ProviderError::Parameter {
                    what: "group",
                    expected: format!("x25519, found {group}"),
                }),
                _ => Ok(()),
            },
            KeyFamily::Ed25519 => Ok(()),
        }
    }

    fn set_rsa(&mut self, params: ParamReader<'_>) -> Result<(), ProviderError> {
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
        // TLS generates its own key share from the parameters of the peer's key.
        self.curve = key.curve().or(self.curve);
        key.family == self.family
    }

    /// Generates a key, or only its parameters if no key is selected.
    pub(crate) fn generate(&self) -> Result<ProviderKey, ProviderError> {
        let no_curve = || ProviderError::Parameter { what: "group", expected: "P-256 or P-384".to_owned() };
        if !self.selection.keypair() {
            return match self.family {
                KeyFamily::Ec => Ok(ProviderKey::of_curve(self.curve.ok_or_else(no_curve)?)),
                family => Ok(ProviderKey::new(family, None)),
            };
        }
        let key = match self.family {
            KeyFamily::Rsa => with_large_stack(self.provider.is_fibre(), || generate::rsa(self.bits))??,
            KeyFamily::Ec => generate::ec(self.curve.ok_or_else(no_curve)?)?,
            KeyFamily::Ed25519 => generate::ed25519()?,
            KeyFamily::X25519 => generate::x25519()?,
        };
        Ok(ProviderKey::new(self.family, Some(key)))
    }
}
