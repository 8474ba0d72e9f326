//! Keys that live in a cryptoserver. An `oarlock:` URI or a PEM file names them.

use oarlock::Key;
use oarlock::keys::reference::{MAX_REFERENCE_LEN, Reference};

use crate::error::ProviderError;
use crate::key::{KeyFamily, ProviderKey, held_key};
use crate::provider::LoadedProvider;

/// The first line of such a PEM file.
pub(crate) const BEGIN: &[u8] = b"-----BEGIN OARLOCK KEY REFERENCE-----";

/// Checks that a URI names a key.
pub(crate) fn check_uri(uri: &str) -> Result<(), ProviderError> {
    Ok(Reference::parse_uri(uri).map(|_| ())?)
}

/// Loads the key at a URI. The cryptoserver sends its public half, and a later key of the same name does not replace
/// it.
pub(crate) fn load_uri(provider: &LoadedProvider, uri: &str) -> Result<ProviderKey, ProviderError> {
    let name = Reference::parse_uri(uri)?.name;
    let info = provider.key_info(&name)?;
    provider_key(provider, held_key(&name, &info.public_key)?)
}

/// The maximum length of a reference in DER.
pub(crate) const MAX_LEN: usize = MAX_REFERENCE_LEN;

/// Converts a PEM block to DER.
pub(crate) fn pem_to_der(pem: &[u8]) -> Result<Vec<u8>, ProviderError> {
    Ok(Reference::parse_pem(pem)?.to_der()?)
}

/// Loads the key that DER names, or None if the DER is not a reference or names a key of another family.
///
/// A reference with the public half needs the cryptoserver only when the key is used, so that a program starts without
/// it.
pub(crate) fn load_der(
    provider: &LoadedProvider,
    der: &[u8],
    family: KeyFamily,
) -> Result<Option<ProviderKey>, ProviderError> {
    // OpenSSL tries every decoder on DER of an unknown type, so that this is not an error.
    let Ok(reference) = Reference::parse_der(der) else { return Ok(None) };
    let key = match &reference.spki {
        Some(spki) => held_key(&reference.name, spki)?,
        None => held_key(&reference.name, &provider.key_info(&reference.name)?.public_key)?,
    };
    let key = provider_key(provider, key)?;
    Ok((key.family == family).then_some(key))
}

fn provider_key(provider: &LoadedProvider, key: Key) -> Result<ProviderKey, ProviderError> {
    let family = KeyFamily::of_key(&key).ok_or_else(|| {
        ProviderError::Reference(format!("{:?} keys are not offered by oarlock", key.kind()))
    })?;
    Ok(ProviderKey::new(provider, family, Some(key)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text in place of a reference may be a private key, and OpenSSL's error queue ends up in logs.
    #[test]
    fn no_error_quotes_text_that_is_not_a_reference() {
        let body = "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g";
        let digits = "9D61B19DEFFD5A60BA844AF492EC2CC44449C5697B326919703BAC031CAE7F60";
        for text in [
            format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n"),
            format!("-----BEGIN PRIVATE KEY-----{body}-----END PRIVATE KEY-----"),
            format!("-----BEGIN OARLOCK KEY REFERENCE-----\n{body}\n-----END OARLOCK KEY REFERENCE-----\n"),
            format!("-----BEGIN OARLOCK KEY REFERENCE-----\n{body}"),
            format!("-----BEGIN {digits}-----\n{body}\n-----END {digits}-----\n"),
            format!("oarlock:{body}%"),
            body.to_owned(),
        ] {
            let failures = [pem_to_der(text.as_bytes()).err(), check_uri(&text).err()];
            for said in failures.into_iter().flatten().map(|failure| format!("{failure} {failure:?}")) {
                assert!(!said.contains(&body[16..28]) && !said.contains(&digits[..12]), "{said}");
            }
        }
    }
}
