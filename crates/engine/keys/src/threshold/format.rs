//! The two file formats: DER within PEM. The parent module describes their content.

use der::asn1::{AnyRef, OctetStringRef, UintRef};
use der::{Decode, Encode, Reader, SliceReader, Tag, Tagged};
use oarlock_core::KeyParts;
use pem_rfc7468::LineEnding;
use zeroize::Zeroizing;

use super::check::{self, ThresholdNumbers, padded};
use super::{MAX_SHARES, Share, ThresholdKey};
use crate::asn1::{self, not_encoded, sequence};
use crate::export::{self, Protection};
use crate::{KeyError, Passphrase, import, pbes2};

const VERSION: u8 = 1;
const KEY: &str = "ThresholdKey";
const SHARE: &str = "Share of a threshold key";
const KEY_LABEL: &str = "OARLOCK RSA THRESHOLD KEY";
const SHARE_LABEL: &str = "OARLOCK RSA SHARE";
const ENCRYPTED_LABEL: &str = "OARLOCK ENCRYPTED RSA SHARE";

impl ThresholdKey {
    /// Parses the first block `OARLOCK RSA THRESHOLD KEY` of a text.
    ///
    /// # Errors
    /// [`KeyError::PemLabel`], [`KeyError::PemMalformed`], else as [`from_der`](Self::from_der).
    pub fn from_pem(text: &[u8]) -> Result<Self, KeyError> {
        Self::from_der(&import::own_pem(KEY_LABEL, text)?)
    }

    /// Parses a key in DER.
    ///
    /// # Errors
    /// [`KeyError::Der`], [`KeyError::Version`], [`KeyError::ShareCounts`], [`KeyError::ShareExponent`], those of
    /// [`rsa::public`](crate::rsa::public), and [`KeyError::NotBelow`] or [`KeyError::TooSmall`] for a verification
    /// value.
    pub fn from_der(bytes: &[u8]) -> Result<Self, KeyError> {
        let mut members = Members::from_bytes(import::bounded(bytes)?, KEY)?;
        members.version()?;
        let (n, e, threshold) = (members.integer()?, members.integer()?, members.small()?);
        let (base, mut keys) = (members.integer()?, members.inner()?);
        members.end()?;
        let mut verification = Vec::new();
        // One value beyond the maximum is enough for the error; a hostile file may have millions.
        while verification.len() <= usize::from(MAX_SHARES) && !keys.is_finished() {
            verification.push(keys.integer()?);
        }
        let key = ThresholdNumbers { n, e, threshold, base, verification }.validate()?;
        keys.end()?;
        Ok(key)
    }

    /// Returns the key as a PEM block.
    ///
    /// # Errors
    /// [`KeyError::Machine`] if it cannot be encoded. No valid key causes this error.
    pub fn to_pem(&self) -> Result<String, KeyError> {
        pem_rfc7468::encode_string(KEY_LABEL, LineEnding::LF, &self.to_der()?).map_err(not_encoded)
    }

    /// Returns the key in DER.
    ///
    /// # Errors
    /// As [`to_pem`](Self::to_pem).
    pub fn to_der(&self) -> Result<Vec<u8>, KeyError> {
        let e = self.public().rsa_public().map_or(&[][..], |public| &public.e);
        let keys = (1..=self.shares()).filter_map(|index| self.verification_key(index));
        let keys: Vec<Vec<u8>> = keys.map(asn1::integer).collect::<Result<_, _>>()?;
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        sequence(&[
            &small(VERSION)?,
            &asn1::integer(self.modulus())?,
            &asn1::integer(e)?,
            &small(self.threshold())?,
            &asn1::integer(self.verification_base())?,
            &sequence(&keys)?,
        ])
    }
}

impl Share {
    /// Parses the first block `OARLOCK RSA SHARE` of a text, or with a passphrase `OARLOCK ENCRYPTED RSA SHARE`.
    ///
    /// # Errors
    /// [`KeyError::PassphraseMissing`], [`KeyError::PemLabel`], [`KeyError::PemMalformed`], else as
    /// [`from_der`](Self::from_der) and [`from_encrypted_der`](Self::from_encrypted_der).
    pub fn from_pem(text: &[u8], passphrase: Option<&Passphrase>) -> Result<Self, KeyError> {
        match (import::own_pem(ENCRYPTED_LABEL, text), passphrase) {
            (Ok(der), Some(passphrase)) => Self::from_encrypted_der(&der, passphrase),
            (Ok(_), None) => Err(KeyError::PassphraseMissing),
            (Err(KeyError::PemLabel { .. }), _) => Self::from_der(&import::own_pem(SHARE_LABEL, text)?),
            (Err(error), _) => Err(error),
        }
    }

    /// Parses a share in DER. One exponentiation checks its secret against its verification key.
    ///
    /// # Errors
    /// As [`ThresholdKey::from_der`], and [`KeyError::ShareIndex`], [`KeyError::Length`] for the secret,
    /// [`KeyError::Inconsistent`] if the secret belongs to another share.
    pub fn from_der(bytes: &[u8]) -> Result<Self, KeyError> {
        let mut members = Members::from_bytes(import::bounded(bytes)?, SHARE)?;
        members.version()?;
        let public = ThresholdKey::from_der(members.nested()?)?;
        let (index, secret) = (members.small()?, members.octets()?);
        members.end()?;
        if secret.len() != public.modulus_len() {
            let expected = format!("{} bytes", public.modulus_len());
            return Err(KeyError::Length { what: "secret of a share", expected, found: secret.len() });
        }
        check::share(public, index, secret)
    }

    /// Decrypts and parses a share.
    ///
    /// # Errors
    /// [`KeyError::TooCostly`] before any work above the passphrase's limits, [`KeyError::Decryption`],
    /// [`KeyError::UnsupportedEncryption`], else as [`from_der`](Self::from_der).
    pub fn from_encrypted_der(bytes: &[u8], passphrase: &Passphrase) -> Result<Self, KeyError> {
        let plain = pbes2::decrypt(import::bounded(bytes)?, passphrase)?;
        // About one wrong passphrase in 256 leaves a well-formed padding. The error must not report a malformed share
        // then.
        Self::from_der(&plain).map_err(|error| match error {
            KeyError::Der { structure: SHARE, .. } => KeyError::Decryption,
            other => other,
        })
    }

    /// Returns the share, unencrypted, as a PEM block.
    ///
    /// # Errors
    /// [`KeyError::Machine`] if it cannot be encoded. No valid share causes this error.
    pub fn to_pem(&self) -> Result<Zeroizing<String>, KeyError> {
        text(SHARE_LABEL, &self.to_der()?)
    }

    /// Returns the share, unencrypted, in DER.
    ///
    /// # Errors
    /// As [`to_pem`](Self::to_pem).
    pub fn to_der(&self) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        let Some(KeyParts::ModExp(parts)) = self.key().parts() else {
            return Err(KeyError::Machine { what: "encoding a share" });
        };
        // The key drops leading zeros. The file has a fixed width, so that its length shows nothing of the secret.
        let secret = Zeroizing::new(padded(parts.exponent.expose(), self.public().modulus_len()));
        let secret = Zeroizing::new(asn1::octets(&secret)?);
        let members = [&small(VERSION)?[..], &self.public().to_der()?, &small(self.index())?, &secret];
        sequence(&members).map(Zeroizing::new)
    }

    /// Returns the share, encrypted under a passphrase, as a PEM block `OARLOCK ENCRYPTED RSA SHARE`.
    ///
    /// # Errors
    /// [`KeyError::TooCostly`] or [`KeyError::EncryptionParameter`] for `protection`, else as [`to_pem`](Self::to_pem).
    pub fn to_encrypted_pem(
        &self,
        passphrase: &Passphrase,
        protection: Protection,
    ) -> Result<Zeroizing<String>, KeyError> {
        text(ENCRYPTED_LABEL, &export::encrypted(&self.to_der()?, passphrase, protection)?)
    }
}

fn text(label: &str, der: &[u8]) -> Result<Zeroizing<String>, KeyError> {
    pem_rfc7468::encode_string(label, LineEnding::LF, der).map(Zeroizing::new).map_err(not_encoded)
}

fn small(value: u8) -> Result<Vec<u8>, KeyError> {
    value.to_der().map_err(not_encoded)
}

/// The members of a SEQUENCE, taken in order.
struct Members<'a> {
    reader: SliceReader<'a>,
    structure: &'static str,
}

impl<'a> Members<'a> {
    /// Reads DER that is one SEQUENCE and has no bytes after it.
    fn from_bytes(bytes: &'a [u8], structure: &'static str) -> Result<Self, KeyError> {
        Self::within(AnyRef::from_der(bytes).map_err(asn1::malformed(structure))?, structure)
    }

    fn within(any: AnyRef<'a>, structure: &'static str) -> Result<Self, KeyError> {
        let malformed = asn1::malformed(structure);
        any.tag().assert_eq(Tag::Sequence).map_err(&malformed)?;
        Ok(Self { reader: SliceReader::new(any.value()).map_err(&malformed)?, structure })
    }

    fn take<T: Decode<'a, Error = der::Error>>(&mut self) -> Result<T, KeyError> {
        T::decode(&mut self.reader).map_err(asn1::malformed(self.structure))
    }

    fn version(&mut self) -> Result<(), KeyError> {
        match self.small()? {
            VERSION => Ok(()),
            found => Err(KeyError::Version { structure: self.structure, expected: VERSION, found }),
        }
    }

    fn integer(&mut self) -> Result<&'a [u8], KeyError> {
        self.take::<UintRef<'a>>().map(|integer| integer.as_bytes())
    }

    fn small(&mut self) -> Result<u8, KeyError> {
        self.take()
    }

    fn octets(&mut self) -> Result<&'a [u8], KeyError> {
        self.take::<&'a OctetStringRef>().map(OctetStringRef::as_bytes)
    }

    /// Takes a member in DER with its header.
    fn nested(&mut self) -> Result<&'a [u8], KeyError> {
        self.reader.tlv_bytes().map_err(asn1::malformed(self.structure))
    }

    fn inner(&mut self) -> Result<Self, KeyError> {
        Self::within(self.take()?, self.structure)
    }

    fn is_finished(&self) -> bool {
        self.reader.is_finished()
    }

    fn end(self) -> Result<(), KeyError> {
        self.reader.finish().map_err(asn1::malformed(self.structure))
    }
}
