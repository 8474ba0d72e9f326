//! A mechanism as a caller names it: a type and parameters without pointers.

use std::fmt;

use super::table;
use crate::constants::{MechanismType, ReturnCode};

/// A mechanism with its parameters, `CK_MECHANISM` with slices in place of pointers.
#[derive(Clone, Copy)]
pub struct Mechanism<'a> {
    /// The type.
    pub kind: MechanismType,
    /// The parameters that belong to the type.
    pub parameters: MechanismParameters<'a>,
}

/// The parameters of a mechanism. The `CK_ULONG` fields are as the caller gave them, and are checked at use.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum MechanismParameters<'a> {
    /// No parameter.
    None,
    /// An IV of CBC, or of key wrapping with an initial value.
    Iv(&'a [u8]),
    /// A length: `CK_MAC_GENERAL_PARAMS`.
    Number(u64),
    /// `CK_AES_CTR_PARAMS`.
    Counter {
        /// The number of low bits that count.
        bits: u64,
        /// The first counter block.
        block: [u8; 16],
    },
    /// `CK_GCM_PARAMS`.
    Gcm {
        /// The IV as the caller gives it.
        iv: &'a [u8],
        /// The associated data.
        aad: &'a [u8],
        /// The length of the tag in bits.
        tag_bits: u64,
    },
    /// `CK_SALSA20_CHACHA20_POLY1305_PARAMS`.
    ChaCha20Poly1305 {
        /// The nonce as the caller gives it.
        nonce: &'a [u8],
        /// The associated data.
        aad: &'a [u8],
    },
    /// `CK_RSA_PKCS_PSS_PARAMS`.
    Pss {
        /// The mechanism of the digest.
        hash: MechanismType,
        /// The mask generator, `CKG_*`.
        mgf: u64,
        /// The length of the salt in bytes.
        salt_len: u64,
    },
    /// `CK_RSA_PKCS_OAEP_PARAMS`.
    Oaep {
        /// The mechanism of the digest.
        hash: MechanismType,
        /// The mask generator, `CKG_*`.
        mgf: u64,
        /// The source of the label, `CKZ_*`, or 0 for an empty label.
        source: u64,
        /// The label, empty for none.
        label: &'a [u8],
    },
    /// `CK_ECDH1_DERIVE_PARAMS`.
    Ecdh {
        /// The key derivation function, `CKD_*`.
        kdf: u64,
        /// The shared information of the key derivation function.
        shared: &'a [u8],
        /// The public point of the peer.
        public: &'a [u8],
    },
    /// `CK_EDDSA_PARAMS`.
    Eddsa {
        /// True if the input is the digest of the message.
        is_prehashed: bool,
        /// The context, empty for none.
        context: &'a [u8],
    },
    /// `CK_SIGN_ADDITIONAL_CONTEXT`.
    SignContext {
        /// The source of the randomness, `CKH_*`.
        hedge: u64,
        /// The context, empty for none.
        context: &'a [u8],
    },
    /// `CK_HASH_SIGN_ADDITIONAL_CONTEXT`.
    HashSignContext {
        /// The source of the randomness, `CKH_*`.
        hedge: u64,
        /// The context, empty for none.
        context: &'a [u8],
        /// The mechanism of the digest.
        hash: MechanismType,
    },
    /// `CK_KEY_DERIVATION_STRING_DATA`.
    DerivationData(&'a [u8]),
    /// A handle of a key: the second key of `CKM_CONCATENATE_BASE_AND_KEY`.
    KeyHandle(u64),
}

/// The structure that the parameter of a mechanism is in the C interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterForm {
    /// The mechanism takes no parameter.
    None,
    /// Bare bytes of this length.
    Iv {
        /// The length in bytes.
        len: usize,
    },
    /// Bare bytes of this length, or none.
    OptionalIv {
        /// The length in bytes.
        len: usize,
    },
    /// A `CK_ULONG`.
    Number,
    /// `CK_AES_CTR_PARAMS`.
    Counter,
    /// `CK_GCM_PARAMS`.
    Gcm,
    /// `CK_SALSA20_CHACHA20_POLY1305_PARAMS`.
    ChaCha20Poly1305,
    /// `CK_RSA_PKCS_PSS_PARAMS`.
    Pss,
    /// `CK_RSA_PKCS_OAEP_PARAMS`.
    Oaep,
    /// `CK_ECDH1_DERIVE_PARAMS`.
    Ecdh,
    /// `CK_EDDSA_PARAMS`, or none.
    OptionalEddsa,
    /// `CK_SIGN_ADDITIONAL_CONTEXT`, or none.
    OptionalSignContext,
    /// `CK_HASH_SIGN_ADDITIONAL_CONTEXT`.
    HashSignContext,
    /// `CK_KEY_DERIVATION_STRING_DATA`.
    DerivationData,
    /// A `CK_OBJECT_HANDLE`.
    KeyHandle,
}

/// The width of a `CK_ULONG` in bytes.
const ULONG: usize = size_of::<usize>();

impl<'a> Mechanism<'a> {
    /// Creates a mechanism without parameters.
    #[must_use]
    pub fn plain(kind: MechanismType) -> Self {
        Self { kind, parameters: MechanismParameters::None }
    }

    /// Creates a mechanism with parameters.
    #[must_use]
    pub fn new(kind: MechanismType, parameters: MechanismParameters<'a>) -> Self {
        Self { kind, parameters }
    }

    /// Creates a mechanism whose parameter is one flat piece of memory, without pointers in it.
    ///
    /// `bytes` are the memory of the parameter: `pParameter` and `ulParameterLen`. A mechanism whose structure has
    /// pointers ([`ParameterForm::has_pointers`]) is read by the caller.
    ///
    /// # Errors
    /// [`ReturnCode::MechanismInvalid`] for an unknown type; [`ReturnCode::MechanismParamInvalid`] for a wrong length,
    /// and for a structure with pointers.
    pub fn parse_flat(kind: MechanismType, bytes: &'a [u8]) -> Result<Self, ReturnCode> {
        let form = ParameterForm::from_mechanism(kind).ok_or(ReturnCode::MechanismInvalid)?;
        let invalid = ReturnCode::MechanismParamInvalid;
        let parameters = match (form, bytes.len()) {
            (ParameterForm::None, 0) => MechanismParameters::None,
            (form, 0) if form.is_optional() => MechanismParameters::None,
            (ParameterForm::Iv { len } | ParameterForm::OptionalIv { len }, found) if found == len => {
                MechanismParameters::Iv(bytes)
            }
            (ParameterForm::Number, ULONG) => MechanismParameters::Number(ulong(bytes, 0).ok_or(invalid)?),
            (ParameterForm::KeyHandle, ULONG) => {
                MechanismParameters::KeyHandle(ulong(bytes, 0).ok_or(invalid)?)
            }
            // The structure has no padding: a CK_ULONG and sixteen bytes.
            (ParameterForm::Counter, found) if found == ULONG + 16 => MechanismParameters::Counter {
                bits: ulong(bytes, 0).ok_or(invalid)?,
                block: bytes.get(ULONG..).and_then(|block| block.try_into().ok()).ok_or(invalid)?,
            },
            (ParameterForm::Pss, found) if found == 3 * ULONG => MechanismParameters::Pss {
                hash: MechanismType(ulong(bytes, 0).ok_or(invalid)?),
                mgf: ulong(bytes, 1).ok_or(invalid)?,
                salt_len: ulong(bytes, 2).ok_or(invalid)?,
            },
            _ => return Err(invalid),
        };
        Ok(Self { kind, parameters })
    }
}

impl ParameterForm {
    /// Returns the form of the parameter of a mechanism, or `None` if the mechanism is unknown.
    #[must_use]
    pub fn from_mechanism(kind: MechanismType) -> Option<Self> {
        table::facts(kind).map(|facts| facts.form)
    }

    /// True if the structure has pointers, so that a plugin must read it itself.
    #[must_use]
    pub fn has_pointers(self) -> bool {
        matches!(
            self,
            Self::Gcm
                | Self::ChaCha20Poly1305
                | Self::Oaep
                | Self::Ecdh
                | Self::OptionalEddsa
                | Self::OptionalSignContext
                | Self::HashSignContext
                | Self::DerivationData
        )
    }

    /// True if the mechanism takes a parameter and also none.
    #[must_use]
    pub fn is_optional(self) -> bool {
        matches!(self, Self::OptionalIv { .. } | Self::OptionalEddsa | Self::OptionalSignContext)
    }
}

/// Returns the `CK_ULONG` at `index`.
fn ulong(bytes: &[u8], index: usize) -> Option<u64> {
    // Copied out of bytes and not read through a pointer, so the structure may lie at any address.
    let field = bytes.get(index * ULONG..(index + 1) * ULONG)?;
    Some(usize::from_ne_bytes(field.try_into().ok()?) as u64)
}

impl fmt::Debug for Mechanism<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mechanism({}, {:?})", self.kind, self.parameters)
    }
}

/// Shows no bytes: derivation data may be secret.
impl fmt::Debug for MechanismParameters<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Iv(iv) => write!(f, "Iv({} bytes)", iv.len()),
            Self::Number(number) => write!(f, "Number({number})"),
            Self::Counter { bits, .. } => write!(f, "Counter({bits} bits)"),
            Self::Gcm { iv, aad, tag_bits } => {
                write!(f, "Gcm(IV of {} bytes, {} bytes, tag of {tag_bits} bits)", iv.len(), aad.len())
            }
            Self::ChaCha20Poly1305 { nonce, aad } => {
                write!(f, "ChaCha20Poly1305(nonce of {} bytes, {} bytes)", nonce.len(), aad.len())
            }
            Self::Pss { hash, mgf, salt_len } => {
                write!(f, "Pss({hash}, CKG {mgf}, salt of {salt_len} bytes)")
            }
            Self::Oaep { hash, mgf, .. } => write!(f, "Oaep({hash}, CKG {mgf})"),
            Self::Ecdh { kdf, public, .. } => write!(f, "Ecdh(CKD {kdf}, point of {} bytes)", public.len()),
            Self::Eddsa { is_prehashed, .. } => write!(f, "Eddsa(prehashed: {is_prehashed})"),
            Self::SignContext { hedge, context } => {
                write!(f, "SignContext(CKH {hedge}, {} bytes)", context.len())
            }
            Self::HashSignContext { hedge, context, hash } => {
                write!(f, "HashSignContext(CKH {hedge}, {} bytes, {hash})", context.len())
            }
            Self::DerivationData(data) => write!(f, "DerivationData({} bytes)", data.len()),
            Self::KeyHandle(handle) => write!(f, "KeyHandle({handle})"),
        }
    }
}
