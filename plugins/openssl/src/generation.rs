//! New keys: what is asked of them, and making them.

use oarlock::Curve;
use oarlock::keys::generate;

use crate::entry::params::Params;
use crate::error::Failure;
use crate::key::{Family, ProviderKey, Selection, curve_named, name};
use crate::work::Provider;

/// What is asked of a new key.
pub(crate) struct Generation {
    pub(crate) provider: Provider,
    family: Family,
    selection: Selection,
    /// Of an RSA modulus.
    bits: u16,
    curve: Option<Curve>,
}

/// Lengths of RSA keys that are made here.
const MADE: [u16; 5] = [1024, 2048, 3072, 4096, 8192];

/// What OpenSSL makes where nothing is said.
const DEFAULT_BITS: u16 = 2048;

impl Generation {
    pub(crate) fn new(provider: Provider, family: Family, selection: Selection) -> Self {
        Self { provider, family, selection, bits: DEFAULT_BITS, curve: None }
    }

    /// Takes wishes in; those that mean nothing for this kind of key are left alone.
    pub(crate) fn set(&mut self, params: Params<'_>) -> Result<(), Failure> {
        if params.has(c"dhkem-ikm") {
            return Err(Failure::Unsupported { what: "generation from input keying material".to_owned() });
        }
        match self.family {
            Family::Rsa => self.set_rsa(params),
            Family::Ec => match params.text(name::GROUP) {
                Some(group) => {
                    let unknown = || Failure::Unsupported { what: format!("group {group}") };
                    self.curve = Some(curve_named(group).ok_or_else(unknown)?);
                    Ok(())
                }
                None => Ok(()),
            },
            Family::X25519 => match params.text(name::GROUP) {
                Some(group) if !group.eq_ignore_ascii_case("x25519") => {
                    Err(Failure::Parameter { what: "group", expected: format!("x25519, found {group}") })
                }
                _ => Ok(()),
            },
            Family::Ed25519 => Ok(()),
        }
    }

    fn set_rsa(&mut self, params: Params<'_>) -> Result<(), Failure> {
        if let Some(bits) = params.number(name::BITS) {
            let other = || Failure::Unsupported { what: format!("a new RSA key of {bits} bits") };
            self.bits = MADE.into_iter().find(|made| i64::from(*made) == bits).ok_or_else(other)?;
        }
        if let Some(primes) = params.number(name::PRIMES).filter(|primes| *primes != 2) {
            return Err(Failure::Unsupported { what: format!("an RSA key of {primes} primes") });
        }
        let is_usual = |e: &[u8]| e.iter().skip_while(|byte| **byte == 0).eq(&[1, 0, 1]);
        match params.integer(name::E) {
            Some(e) if !is_usual(&e) => Err(Failure::Unsupported {
                what: "a new RSA key with another exponent than 65537".to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// Takes the parameters of another key. False where it is of another kind.
    pub(crate) fn take_template(&mut self, key: &ProviderKey) -> bool {
        self.curve = key.curve().or(self.curve);
        key.family == self.family
    }

    /// A new key; only its parameters where no key is selected.
    pub(crate) fn make(&self) -> Result<ProviderKey, Failure> {
        let no_curve = || Failure::Parameter { what: "group", expected: "one".to_owned() };
        if !self.selection.keypair() {
            return match self.family {
                Family::Ec => Ok(ProviderKey::of_curve(self.curve.ok_or_else(no_curve)?)),
                family => Ok(ProviderKey::new(family, None)),
            };
        }
        let key = match self.family {
            // It looks for primes on a stack of its own: the one of a fibre is short.
            Family::Rsa => std::thread::scope(|scope| {
                let made = scope.spawn(|| generate::rsa(self.bits)).join();
                made.map_err(|_| Failure::Accelerator("a panic in the generation of a key".to_owned()))
            })??,
            Family::Ec => generate::ec(self.curve.ok_or_else(no_curve)?)?,
            Family::Ed25519 => generate::ed25519()?,
            Family::X25519 => generate::x25519()?,
        };
        Ok(ProviderKey::new(self.family, Some(key)))
    }
}
