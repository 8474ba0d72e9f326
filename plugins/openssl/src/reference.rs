//! Keys that live in a cryptoserver, named by `oarlock:` URIs and by PEM files that carry one.

use oarlock::Key;
use oarlock::keys::reference::{MAX_REFERENCE_LEN, Reference};

use crate::error::Failure;
use crate::key::{Family, ProviderKey, held};
use crate::work::Provider;

/// The line that begins such a file.
pub(crate) const BEGIN: &[u8] = b"-----BEGIN OARLOCK KEY REFERENCE-----";

/// Whether a URI is one of a key.
pub(crate) fn check_uri(uri: &str) -> Result<(), Failure> {
    Ok(Reference::parse_uri(uri).map(|_| ())?)
}

/// The key at a URI. The cryptoserver is asked for its public half, which no other key under the name replaces afterwards.
pub(crate) fn key_at(provider: &Provider, uri: &str) -> Result<ProviderKey, Failure> {
    let name = Reference::parse_uri(uri)?.name;
    let info = provider.key_info(&name)?;
    of_family(held(&name, &info.public_key)?)
}

/// The longest one.
pub(crate) const MAX_LEN: usize = MAX_REFERENCE_LEN;

/// The DER of a PEM block.
pub(crate) fn der_in(pem: &[u8]) -> Result<Vec<u8>, Failure> {
    Ok(Reference::parse_pem(pem)?.to_der()?)
}

/// The key that DER names; None where it is no reference, or names a key of another family. With the public half in it the
/// cryptoserver is asked only when the key is used, and a program starts without it.
pub(crate) fn key_in(
    provider: &Provider,
    der: &[u8],
    family: Family,
) -> Result<Option<ProviderKey>, Failure> {
    // Whoever has DER of unknown kind asks every decoder.
    let Ok(reference) = Reference::parse_der(der) else { return Ok(None) };
    let key = match &reference.spki {
        Some(spki) => held(&reference.name, spki)?,
        None => held(&reference.name, &provider.key_info(&reference.name)?.public_key)?,
    };
    let key = of_family(key)?;
    Ok((key.family == family).then_some(key))
}

fn of_family(key: Key) -> Result<ProviderKey, Failure> {
    let family = Family::of(&key)
        .ok_or_else(|| Failure::Reference(format!("{:?} keys have no operation here", key.kind())))?;
    Ok(ProviderKey::new(family, Some(key)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text in the place of a reference may be a private key. OpenSSL's error queue ends in logs.
    #[test]
    fn no_text_quotes_what_is_no_reference() {
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
            let failures = [der_in(text.as_bytes()).err(), check_uri(&text).err()];
            for said in failures.into_iter().flatten().map(|failure| format!("{failure} {failure:?}")) {
                assert!(!said.contains(&body[16..28]) && !said.contains(&digits[..12]), "{said}");
            }
        }
    }
}
