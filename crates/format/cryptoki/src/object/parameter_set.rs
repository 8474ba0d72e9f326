//! Keys of ML-KEM, ML-DSA and SLH-DSA: their parameter sets and their values. PKCS#11 3.2 6.67 to 6.69.

use oarlock::keys::{export, raw};
use oarlock::{Key, KeyKind, MlDsaSet, MlKemSet, SecretBytes, SlhDsaSet};

use super::fault::from_key_error;
use crate::constants::{KeyTypeNumber, ReturnCode, parameter_values as value};
use crate::deep_stack::on_deep_stack;

/// A parameter set, `CKA_PARAMETER_SET` of a key of a known type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParameterSet {
    MlKem(MlKemSet),
    MlDsa(MlDsaSet),
    SlhDsa(SlhDsaSet),
}

/// The numbers of the sets of SLH-DSA.
const SLH_DSA: [(u64, SlhDsaSet); 12] = [
    (value::CKP_SLH_DSA_SHA2_128S, SlhDsaSet::Sha2_128s),
    (value::CKP_SLH_DSA_SHAKE_128S, SlhDsaSet::Shake128s),
    (value::CKP_SLH_DSA_SHA2_128F, SlhDsaSet::Sha2_128f),
    (value::CKP_SLH_DSA_SHAKE_128F, SlhDsaSet::Shake128f),
    (value::CKP_SLH_DSA_SHA2_192S, SlhDsaSet::Sha2_192s),
    (value::CKP_SLH_DSA_SHAKE_192S, SlhDsaSet::Shake192s),
    (value::CKP_SLH_DSA_SHA2_192F, SlhDsaSet::Sha2_192f),
    (value::CKP_SLH_DSA_SHAKE_192F, SlhDsaSet::Shake192f),
    (value::CKP_SLH_DSA_SHA2_256S, SlhDsaSet::Sha2_256s),
    (value::CKP_SLH_DSA_SHAKE_256S, SlhDsaSet::Shake256s),
    (value::CKP_SLH_DSA_SHA2_256F, SlhDsaSet::Sha2_256f),
    (value::CKP_SLH_DSA_SHAKE_256F, SlhDsaSet::Shake256f),
];

impl ParameterSet {
    /// Reads the attribute of a key of this type.
    ///
    /// # Errors
    /// [`ReturnCode::TemplateIncomplete`] without a number, [`ReturnCode::AttributeValueInvalid`] for one that is no
    /// parameter set of the type.
    pub(crate) fn read(key_type: KeyTypeNumber, number: Option<u64>) -> Result<Self, ReturnCode> {
        // Sets of different types have the same numbers, so the key type says which are meant.
        let set = match (key_type, number.ok_or(ReturnCode::TemplateIncomplete)?) {
            (KeyTypeNumber::ML_KEM, value::CKP_ML_KEM_512) => Self::MlKem(MlKemSet::MlKem512),
            (KeyTypeNumber::ML_KEM, value::CKP_ML_KEM_768) => Self::MlKem(MlKemSet::MlKem768),
            (KeyTypeNumber::ML_KEM, value::CKP_ML_KEM_1024) => Self::MlKem(MlKemSet::MlKem1024),
            (KeyTypeNumber::ML_DSA, value::CKP_ML_DSA_44) => Self::MlDsa(MlDsaSet::MlDsa44),
            (KeyTypeNumber::ML_DSA, value::CKP_ML_DSA_65) => Self::MlDsa(MlDsaSet::MlDsa65),
            (KeyTypeNumber::ML_DSA, value::CKP_ML_DSA_87) => Self::MlDsa(MlDsaSet::MlDsa87),
            (KeyTypeNumber::SLH_DSA, number) => {
                let known = SLH_DSA.iter().find(|(known, _)| *known == number);
                Self::SlhDsa(known.ok_or(ReturnCode::AttributeValueInvalid)?.1)
            }
            _ => return Err(ReturnCode::AttributeValueInvalid),
        };
        Ok(set)
    }

    /// Returns the parameter set of a key, or `None` for a key of another kind.
    pub(crate) fn from_key(key: &Key) -> Option<Self> {
        match key.kind() {
            KeyKind::MlKemPrivate(set) | KeyKind::MlKemPublic(set) => Some(Self::MlKem(set)),
            KeyKind::MlDsaPrivate(set) | KeyKind::MlDsaPublic(set) => Some(Self::MlDsa(set)),
            KeyKind::SlhDsaPrivate(set) | KeyKind::SlhDsaPublic(set) => Some(Self::SlhDsa(set)),
            _ => None,
        }
    }

    /// Returns the number of the attribute, or `None` for a set that has none.
    pub(crate) fn number(self) -> Option<u64> {
        Some(match self {
            Self::MlKem(MlKemSet::MlKem512) => value::CKP_ML_KEM_512,
            Self::MlKem(MlKemSet::MlKem768) => value::CKP_ML_KEM_768,
            Self::MlKem(MlKemSet::MlKem1024) => value::CKP_ML_KEM_1024,
            Self::MlDsa(MlDsaSet::MlDsa44) => value::CKP_ML_DSA_44,
            Self::MlDsa(MlDsaSet::MlDsa65) => value::CKP_ML_DSA_65,
            Self::MlDsa(MlDsaSet::MlDsa87) => value::CKP_ML_DSA_87,
            Self::SlhDsa(set) => {
                return SLH_DSA.iter().find(|(_, known)| *known == set).map(|(number, _)| *number);
            }
            _ => return None,
        })
    }

    pub(crate) fn key_type(self) -> KeyTypeNumber {
        match self {
            Self::MlKem(_) => KeyTypeNumber::ML_KEM,
            Self::MlDsa(_) => KeyTypeNumber::ML_DSA,
            Self::SlhDsa(_) => KeyTypeNumber::SLH_DSA,
        }
    }

    /// Makes a public key of `CKA_VALUE`.
    pub(super) fn import_public(self, value: &[u8]) -> Result<Key, ReturnCode> {
        let made = match self {
            Self::MlKem(set) => raw::ml_kem_public(set, value),
            Self::MlDsa(set) => raw::ml_dsa_public(set, value),
            Self::SlhDsa(set) => raw::slh_dsa_public(set, value),
        };
        made.map_err(from_key_error)
    }

    /// Makes a private key of `CKA_SEED`, which keys of SLH-DSA do not have.
    pub(super) fn import_seed(self, seed: &[u8]) -> Result<Key, ReturnCode> {
        let made = on_deep_stack(|| match self {
            Self::MlKem(set) => Some(raw::ml_kem_seed(set, seed)),
            Self::MlDsa(set) => Some(raw::ml_dsa_seed(set, seed)),
            Self::SlhDsa(_) => None,
        });
        made?.ok_or(ReturnCode::AttributeTypeInvalid)?.map_err(from_key_error)
    }

    /// Makes a private key of `CKA_VALUE`: its expanded form, or the four parts of an SLH-DSA key.
    pub(super) fn import_value(self, value: &[u8]) -> Result<Key, ReturnCode> {
        let made = on_deep_stack(|| match self {
            Self::MlKem(set) => raw::ml_kem_expanded(set, value),
            Self::MlDsa(set) => raw::ml_dsa_expanded(set, value),
            Self::SlhDsa(set) => raw::slh_dsa_private(set, value),
        });
        made?.map_err(from_key_error)
    }
}

/// Returns the expanded form of a private key.
pub(super) fn expanded_form(key: &Key) -> Result<SecretBytes, ReturnCode> {
    on_deep_stack(|| export::expanded(key))?.map_err(from_key_error)
}

/// Returns the public key, also of a private key, or `None` for a key of another kind.
pub(super) fn public_value(key: &Key) -> Option<&[u8]> {
    let kem = key.ml_kem_public().map(|(_, public)| public);
    let dsa = || key.ml_dsa_public().map(|(_, public)| public);
    kem.or_else(dsa).or_else(|| key.slh_dsa_public().map(|(_, public)| public))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_set_is_read_as_it_is_written() {
        let kem = MlKemSet::ALL.map(ParameterSet::MlKem);
        let dsa = MlDsaSet::ALL.map(ParameterSet::MlDsa);
        for (set, number) in kem.into_iter().zip(1..).chain(dsa.into_iter().zip(1..)) {
            assert_eq!(set.number(), Some(number));
            assert_eq!(ParameterSet::read(set.key_type(), Some(number)), Ok(set));
        }
        for set in SlhDsaSet::ALL.map(ParameterSet::SlhDsa) {
            assert_eq!(ParameterSet::read(KeyTypeNumber::SLH_DSA, set.number()), Ok(set));
        }
    }

    #[test]
    fn other_numbers_and_other_key_types_have_no_parameter_set() {
        for number in [0, 13, u64::MAX] {
            let read = ParameterSet::read(KeyTypeNumber::SLH_DSA, Some(number));
            assert_eq!(read, Err(ReturnCode::AttributeValueInvalid), "{number}");
        }
        for number in [0, 4, u64::MAX] {
            for key_type in [KeyTypeNumber::ML_KEM, KeyTypeNumber::ML_DSA] {
                let read = ParameterSet::read(key_type, Some(number));
                assert_eq!(read, Err(ReturnCode::AttributeValueInvalid), "{key_type} {number}");
            }
        }
        let rsa = ParameterSet::read(KeyTypeNumber::RSA, Some(1));
        assert_eq!(rsa, Err(ReturnCode::AttributeValueInvalid));
        let missing = ParameterSet::read(KeyTypeNumber::ML_KEM, None);
        assert_eq!(missing, Err(ReturnCode::TemplateIncomplete));
    }
}
