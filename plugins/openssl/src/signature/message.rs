//! The parameters of ML-DSA and SLH-DSA signatures, by the names of OpenSSL 3.5.

use std::ffi::CStr;

use oarlock::{Input, Key, KeyKind, MlDsaSet, MlDsaVariant, NonceRule, Scheme};

use crate::error::ProviderError;
use crate::ffi::libcrypto::params::{ParamList, ParamReader};
use crate::signature::name::{CONTEXT_STRING, DETERMINISTIC, MESSAGE_ENCODING, MU, SIGNATURE, TEST_ENTROPY};

/// The parameters of a context of ML-DSA or SLH-DSA.
#[derive(Clone, Default)]
pub(super) struct MessageSettings {
    context: Vec<u8>,
    is_deterministic: bool,
    /// True if the caller passes the message representative mu in place of the message.
    is_mu: bool,
    pub(super) signature: Vec<u8>,
}

impl MessageSettings {
    /// Sets all parameters or, after an error, none.
    pub(super) fn set(&mut self, params: ParamReader<'_>) -> Result<(), ProviderError> {
        let mut new = self.clone();
        if params.has(TEST_ENTROPY) {
            return Err(ProviderError::Unsupported { what: "a signature from given bytes".to_owned() });
        }
        if flag(params, MESSAGE_ENCODING)? == Some(false) {
            return Err(ProviderError::Unsupported { what: "a signature of an encoded message".to_owned() });
        }
        if let Some(context) = params.octets(CONTEXT_STRING) {
            if context.len() > MlDsaSet::MAX_CONTEXT_LEN {
                let expected =
                    format!("at most {} bytes, found {}", MlDsaSet::MAX_CONTEXT_LEN, context.len());
                return Err(ProviderError::Parameter { what: "context-string", expected });
            }
            new.context = context.to_vec();
        }
        new.is_deterministic = flag(params, DETERMINISTIC)?.unwrap_or(new.is_deterministic);
        new.is_mu = flag(params, MU)?.unwrap_or(new.is_mu);
        if let Some(signature) = params.octets(SIGNATURE) {
            new.signature = signature.to_vec();
        }
        *self = new;
        Ok(())
    }

    /// Forgets what OpenSSL forgets when an operation begins.
    pub(super) fn begin(&mut self) {
        self.is_mu = false;
    }

    /// Returns the parameters that make another context the same.
    pub(super) fn to_params(&self) -> ParamList {
        let mut params = ParamList::default();
        if !self.context.is_empty() {
            params.octets(CONTEXT_STRING, &self.context);
        }
        params.number(DETERMINISTIC, self.is_deterministic.into()).number(MU, self.is_mu.into());
        if !self.signature.is_empty() {
            params.octets(SIGNATURE, &self.signature);
        }
        params
    }

    pub(super) fn takes_mu(&self) -> bool {
        self.is_mu
    }

    /// Returns the context of the job. A given mu contains it already.
    pub(super) fn context(&self) -> &[u8] {
        if self.is_mu { &[] } else { &self.context }
    }

    /// Selects the scheme that signs a message or mu.
    pub(super) fn signing_scheme<'a>(
        &self,
        key: &Key,
        message: &'a [u8],
    ) -> Result<(Scheme, Input<'a>), ProviderError> {
        let nonce = if self.is_deterministic { NonceRule::Deterministic } else { NonceRule::Hedged };
        let set = match key.kind() {
            KeyKind::MlDsaPrivate(set) | KeyKind::MlDsaPublic(set) => set,
            KeyKind::SlhDsaPrivate(_) | KeyKind::SlhDsaPublic(_) if self.is_mu => {
                let expected = "0: SLH-DSA signs the message itself".to_owned();
                return Err(ProviderError::Parameter { what: "mu", expected });
            }
            KeyKind::SlhDsaPrivate(set) | KeyKind::SlhDsaPublic(set) => {
                return Ok((Scheme::SlhDsaSign { set, pre_hash: None, nonce }, Input::Message(message)));
            }
            _ => return Err(ProviderError::NoKey),
        };
        Ok(match self.is_mu {
            true => {
                (Scheme::MlDsaSign { set, variant: MlDsaVariant::ExternalMu, nonce }, Input::Digest(message))
            }
            false => (Scheme::MlDsaSign { set, variant: MlDsaVariant::Pure, nonce }, Input::Message(message)),
        })
    }
}

/// Returns a parameter that is 0 or 1.
fn flag(params: ParamReader<'_>, name: &'static CStr) -> Result<Option<bool>, ProviderError> {
    match params.number(name) {
        None if params.has(name) => Err(wrong_flag(name, "another type")),
        None => Ok(None),
        Some(0) => Ok(Some(false)),
        Some(1) => Ok(Some(true)),
        Some(number) => Err(wrong_flag(name, &number.to_string())),
    }
}

fn wrong_flag(name: &'static CStr, found: &str) -> ProviderError {
    let what = name.to_str().unwrap_or_default();
    ProviderError::Parameter { what, expected: format!("0 or 1, found {found}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(settings: &mut MessageSettings, fill: impl FnOnce(&mut ParamList)) -> Result<(), ProviderError> {
        let mut params = ParamList::default();
        fill(&mut params);
        params.with(|params| settings.set(params))
    }

    #[test]
    fn wrong_parameters_change_nothing_and_what_is_not_offered_says_so() {
        let mut settings = MessageSettings::default();
        set(&mut settings, |params| {
            params.octets(CONTEXT_STRING, &[7; 255]).number(DETERMINISTIC, 1).number(MESSAGE_ENCODING, 1);
        })
        .unwrap();
        let refused: [fn(&mut ParamList); 3] = [
            |params| _ = params.octets(CONTEXT_STRING, &[8; 256]).number(MU, 1),
            |params| _ = params.number(DETERMINISTIC, 0).number(MU, 2),
            |params| _ = params.text(MU, "1"),
        ];
        for fill in refused {
            assert!(!set(&mut settings, fill).unwrap_err().is_not_offered());
        }
        let not_offered: [fn(&mut ParamList); 2] = [
            |params| _ = params.number(MESSAGE_ENCODING, 0),
            |params| _ = params.octets(TEST_ENTROPY, &[0; 32]),
        ];
        for fill in not_offered {
            assert!(set(&mut settings, fill).unwrap_err().is_not_offered());
        }
        assert_eq!(
            (settings.context(), settings.is_deterministic, settings.is_mu),
            (&[7; 255][..], true, false)
        );
        set(&mut settings, |params| _ = params.number(MU, 1)).unwrap();
        assert!(settings.context().is_empty());
        settings.begin();
        assert_eq!(settings.context().len(), 255);
    }
}
