//! Mechanisms with the structures of their parameters.

use cryptoki_sys::{
    CK_BYTE, CK_ECDH1_DERIVE_PARAMS, CK_EDDSA_PARAMS, CK_GCM_MESSAGE_PARAMS, CK_GCM_PARAMS,
    CK_HASH_SIGN_ADDITIONAL_CONTEXT, CK_KEY_DERIVATION_STRING_DATA, CK_MECHANISM, CK_RSA_PKCS_OAEP_PARAMS,
    CK_SALSA20_CHACHA20_POLY1305_MSG_PARAMS, CK_SALSA20_CHACHA20_POLY1305_PARAMS, CK_SIGN_ADDITIONAL_CONTEXT,
    CK_ULONG,
};
use oarlock_cryptoki::{
    IvGenerator, Mechanism, MechanismParameters, MechanismType, ParameterForm, ReturnCode,
};

use super::memory::{CallerMemory, number};

/// The parameters of one message, with the pointers of the caller.
pub(super) struct MessageFields {
    pub(super) iv: (*mut CK_BYTE, CK_ULONG),
    pub(super) fixed_bits: u64,
    pub(super) generator: IvGenerator,
    pub(super) tag: (*mut CK_BYTE, CK_ULONG),
}

/// The maximum number of bytes of the IV of a message. PKCS#11 3.2 6.13.
const MAX_MESSAGE_IV: CK_ULONG = 256;

/// The number of bytes of a whole tag.
const TAG_LEN: CK_ULONG = 16;

impl<'c> CallerMemory<'c> {
    /// Returns the mechanism of an operation with many messages. The parameters of ciphers come with each message, and
    /// those of the mechanism are not read: `CK_GCM_PARAMS` is as long as `CK_GCM_MESSAGE_PARAMS`.
    ///
    /// # Errors
    /// As [`mechanism`](Self::mechanism).
    pub(super) fn message_mechanism(
        self,
        mechanism: *const CK_MECHANISM,
    ) -> Result<Mechanism<'c>, ReturnCode> {
        let CK_MECHANISM { mechanism: kind, ulParameterLen, .. } = self.read(mechanism)?;
        let kind = MechanismType(number(kind));
        let len = match ParameterForm::from_mechanism(kind) {
            Some(ParameterForm::Gcm) => size_of::<CK_GCM_MESSAGE_PARAMS>(),
            Some(ParameterForm::ChaCha20Poly1305) => size_of::<CK_SALSA20_CHACHA20_POLY1305_MSG_PARAMS>(),
            _ => return self.mechanism(mechanism),
        };
        if ulParameterLen == 0 || ulParameterLen == len as CK_ULONG {
            Ok(Mechanism::plain(kind))
        } else {
            Err(ReturnCode::MechanismParamInvalid)
        }
    }

    /// Reads the parameters of one message: `CK_GCM_MESSAGE_PARAMS` or `CK_SALSA20_CHACHA20_POLY1305_MSG_PARAMS`, which
    /// differ in their size.
    ///
    /// # Errors
    /// [`ReturnCode::MechanismParamInvalid`].
    pub(super) fn message_fields(
        self,
        parameter: *const std::ffi::c_void,
        len: CK_ULONG,
    ) -> Result<MessageFields, ReturnCode> {
        let invalid = ReturnCode::MechanismParamInvalid;
        let parameter = self.bytes(parameter.cast(), len).map_err(|_| invalid)?;
        let fields = if parameter.len() == size_of::<CK_GCM_MESSAGE_PARAMS>() {
            let gcm: CK_GCM_MESSAGE_PARAMS = self.structure(parameter)?;
            if !gcm.ulTagBits.is_multiple_of(8) {
                return Err(invalid);
            }
            MessageFields {
                iv: (gcm.pIv, gcm.ulIvLen),
                fixed_bits: number(gcm.ulIvFixedBits),
                generator: IvGenerator::try_from(number(gcm.ivGenerator))?,
                tag: (gcm.pTag, gcm.ulTagBits / 8),
            }
        } else {
            let chacha: CK_SALSA20_CHACHA20_POLY1305_MSG_PARAMS = self.structure(parameter)?;
            MessageFields {
                iv: (chacha.pNonce, chacha.ulNonceLen),
                fixed_bits: 0,
                generator: IvGenerator::None,
                tag: (chacha.pTag, TAG_LEN),
            }
        };
        let is_valid = (1..=MAX_MESSAGE_IV).contains(&fields.iv.1)
            && (1..=TAG_LEN).contains(&fields.tag.1)
            && !fields.iv.0.is_null()
            && !fields.tag.0.is_null();
        if is_valid { Ok(fields) } else { Err(invalid) }
    }

    /// Returns a mechanism.
    ///
    /// # Errors
    /// [`ReturnCode::ArgumentsBad`] for a null pointer; [`ReturnCode::MechanismInvalid`] for an unknown mechanism;
    /// [`ReturnCode::MechanismParamInvalid`] for a parameter of a wrong length, or with a null pointer and a length.
    pub(super) fn mechanism(self, mechanism: *const CK_MECHANISM) -> Result<Mechanism<'c>, ReturnCode> {
        let CK_MECHANISM { mechanism: kind, pParameter, ulParameterLen } = self.read(mechanism)?;
        let kind = MechanismType(number(kind));
        let form = ParameterForm::from_mechanism(kind).ok_or(ReturnCode::MechanismInvalid)?;
        let parameter = self
            .bytes(pParameter.cast_const().cast(), ulParameterLen)
            .map_err(|_| ReturnCode::MechanismParamInvalid)?;
        if !form.has_pointers() || (parameter.is_empty() && form.is_optional()) {
            return Mechanism::parse_flat(kind, parameter);
        }
        Ok(Mechanism::new(kind, self.pointed(form, parameter)?))
    }

    /// Reads a structure that has pointers.
    fn pointed(self, form: ParameterForm, parameter: &[u8]) -> Result<MechanismParameters<'c>, ReturnCode> {
        Ok(match form {
            ParameterForm::Gcm => {
                let gcm: CK_GCM_PARAMS = self.structure(parameter)?;
                MechanismParameters::Gcm {
                    iv: self.field(gcm.pIv, gcm.ulIvLen)?,
                    aad: self.field(gcm.pAAD, gcm.ulAADLen)?,
                    tag_bits: number(gcm.ulTagBits),
                }
            }
            ParameterForm::ChaCha20Poly1305 => {
                let chacha: CK_SALSA20_CHACHA20_POLY1305_PARAMS = self.structure(parameter)?;
                MechanismParameters::ChaCha20Poly1305 {
                    nonce: self.field(chacha.pNonce, chacha.ulNonceLen)?,
                    aad: self.field(chacha.pAAD, chacha.ulAADLen)?,
                }
            }
            ParameterForm::Oaep => {
                let oaep: CK_RSA_PKCS_OAEP_PARAMS = self.structure(parameter)?;
                MechanismParameters::Oaep {
                    hash: MechanismType(number(oaep.hashAlg)),
                    mgf: number(oaep.mgf),
                    source: number(oaep.source),
                    label: self.field(oaep.pSourceData.cast(), oaep.ulSourceDataLen)?,
                }
            }
            ParameterForm::Ecdh => {
                let ecdh: CK_ECDH1_DERIVE_PARAMS = self.structure(parameter)?;
                MechanismParameters::Ecdh {
                    kdf: number(ecdh.kdf),
                    shared: self.field(ecdh.pSharedData, ecdh.ulSharedDataLen)?,
                    public: self.field(ecdh.pPublicData, ecdh.ulPublicDataLen)?,
                }
            }
            ParameterForm::OptionalEddsa => {
                let eddsa: CK_EDDSA_PARAMS = self.structure(parameter)?;
                MechanismParameters::Eddsa {
                    is_prehashed: eddsa.phFlag != 0,
                    context: self.field(eddsa.pContextData, eddsa.ulContextDataLen)?,
                }
            }
            ParameterForm::OptionalSignContext => {
                let sign: CK_SIGN_ADDITIONAL_CONTEXT = self.structure(parameter)?;
                MechanismParameters::SignContext {
                    hedge: number(sign.hedgeVariant),
                    context: self.field(sign.pContext, sign.ulContextLen)?,
                }
            }
            ParameterForm::HashSignContext => {
                let sign: CK_HASH_SIGN_ADDITIONAL_CONTEXT = self.structure(parameter)?;
                MechanismParameters::HashSignContext {
                    hedge: number(sign.hedgeVariant),
                    context: self.field(sign.pContext, sign.ulContextLen)?,
                    hash: MechanismType(number(sign.hash)),
                }
            }
            ParameterForm::DerivationData => {
                let data: CK_KEY_DERIVATION_STRING_DATA = self.structure(parameter)?;
                MechanismParameters::DerivationData(self.field(data.pData, data.ulLen)?)
            }
            _ => return Err(ReturnCode::MechanismParamInvalid),
        })
    }

    /// Returns a structure whose length must be exact.
    fn structure<T: Copy>(self, parameter: &[u8]) -> Result<T, ReturnCode> {
        if parameter.len() != size_of::<T>() {
            return Err(ReturnCode::MechanismParamInvalid);
        }
        self.read(parameter.as_ptr().cast())
    }

    /// Returns the bytes of a field.
    fn field(self, data: *mut u8, len: CK_ULONG) -> Result<&'c [u8], ReturnCode> {
        self.bytes(data, len).map_err(|_| ReturnCode::MechanismParamInvalid)
    }
}

#[cfg(test)]
mod tests {
    use std::ptr::{null, null_mut};

    use super::*;

    fn memory<'c>() -> CallerMemory<'c> {
        // SAFETY: the tests pass pointers to what they own, null pointers, and lengths that are rejected unread.
        unsafe { CallerMemory::trust() }
    }

    fn parse<T>(kind: MechanismType, parameter: *const T, len: usize) -> Result<(), ReturnCode> {
        let mechanism = CK_MECHANISM {
            mechanism: kind.0 as CK_ULONG,
            pParameter: parameter.cast_mut().cast(),
            ulParameterLen: len as CK_ULONG,
        };
        memory().mechanism(&mechanism).map(|_| ())
    }

    #[test]
    fn a_null_iv_or_aad_with_a_length_is_an_invalid_parameter() {
        let invalid = Err(ReturnCode::MechanismParamInvalid);
        let gcm = CK_GCM_PARAMS {
            pIv: null_mut(),
            ulIvLen: 12,
            ulIvBits: 96,
            pAAD: null_mut(),
            ulAADLen: 0,
            ulTagBits: 128,
        };
        assert_eq!(parse(MechanismType::AES_GCM, &gcm, size_of_val(&gcm)), invalid);
        let mut iv = [0; 12];
        let gcm = CK_GCM_PARAMS { pIv: iv.as_mut_ptr(), ulAADLen: 1, ..gcm };
        assert_eq!(parse(MechanismType::AES_GCM, &gcm, size_of_val(&gcm)), invalid);
        let gcm = CK_GCM_PARAMS { ulAADLen: CK_ULONG::MAX, pAAD: iv.as_mut_ptr(), ..gcm };
        assert_eq!(parse(MechanismType::AES_GCM, &gcm, size_of_val(&gcm)), invalid);
        let gcm = CK_GCM_PARAMS { ulAADLen: 0, pAAD: null_mut(), ..gcm };
        assert_eq!(parse(MechanismType::AES_GCM, &gcm, size_of_val(&gcm)), Ok(()));
        assert_eq!(parse(MechanismType::AES_GCM, &gcm, size_of_val(&gcm) - 1), invalid);
        assert_eq!(parse(MechanismType::AES_GCM, &gcm, size_of_val(&gcm) + 1), invalid);
        assert_eq!(parse::<u8>(MechanismType::AES_GCM, null(), 0), invalid);
        assert_eq!(parse::<u8>(MechanismType::AES_GCM, null(), size_of_val(&gcm)), invalid);
    }

    #[test]
    fn oaep_and_ecdh_are_read_with_their_pointers() {
        let mut bytes = [4; 65];
        let oaep = CK_RSA_PKCS_OAEP_PARAMS {
            hashAlg: MechanismType::SHA256.0 as CK_ULONG,
            mgf: 2,
            source: 1,
            pSourceData: bytes.as_mut_ptr().cast(),
            ulSourceDataLen: 3,
        };
        assert_eq!(parse(MechanismType::RSA_PKCS_OAEP, &oaep, size_of_val(&oaep)), Ok(()));
        let oaep = CK_RSA_PKCS_OAEP_PARAMS { pSourceData: null_mut(), ..oaep };
        let invalid = Err(ReturnCode::MechanismParamInvalid);
        assert_eq!(parse(MechanismType::RSA_PKCS_OAEP, &oaep, size_of_val(&oaep)), invalid);
        let ecdh = CK_ECDH1_DERIVE_PARAMS {
            kdf: 1,
            ulSharedDataLen: 0,
            pSharedData: null_mut(),
            ulPublicDataLen: 65,
            pPublicData: bytes.as_mut_ptr(),
        };
        assert_eq!(parse(MechanismType::ECDH1_DERIVE, &ecdh, size_of_val(&ecdh)), Ok(()));
        let ecdh = CK_ECDH1_DERIVE_PARAMS { pPublicData: null_mut(), ..ecdh };
        assert_eq!(parse(MechanismType::ECDH1_DERIVE, &ecdh, size_of_val(&ecdh)), invalid);
    }

    #[test]
    fn flat_parameters_have_their_exact_length() {
        let iv = [0; 17];
        assert_eq!(parse(MechanismType::AES_CBC, &iv, 16), Ok(()));
        for len in [0, 15, 17] {
            let parsed = parse(MechanismType::AES_CBC, &iv, len);
            assert_eq!(parsed, Err(ReturnCode::MechanismParamInvalid), "{len}");
        }
        assert_eq!(parse(MechanismType(0x7fff_0001), &iv, 16), Err(ReturnCode::MechanismInvalid));
        assert_eq!(memory().mechanism(null()).unwrap_err(), ReturnCode::ArgumentsBad);
    }

    #[test]
    fn eddsa_needs_no_parameter() {
        assert_eq!(parse::<u8>(MechanismType::EDDSA, null(), 0), Ok(()));
        let eddsa = CK_EDDSA_PARAMS { phFlag: 0, ulContextDataLen: 0, pContextData: null_mut() };
        assert_eq!(parse(MechanismType::EDDSA, &eddsa, size_of_val(&eddsa)), Ok(()));
    }

    #[test]
    fn contexts_of_signatures_are_read_with_their_pointers() {
        assert_eq!(parse::<u8>(MechanismType::ML_DSA, null(), 0), Ok(()));
        let mut bytes = [7; 3];
        let sign =
            CK_SIGN_ADDITIONAL_CONTEXT { hedgeVariant: 2, pContext: bytes.as_mut_ptr(), ulContextLen: 3 };
        let mechanism = CK_MECHANISM {
            mechanism: MechanismType::ML_DSA.0 as CK_ULONG,
            pParameter: (&raw const sign).cast_mut().cast(),
            ulParameterLen: size_of_val(&sign) as CK_ULONG,
        };
        let read = memory().mechanism(&mechanism).unwrap();
        let MechanismParameters::SignContext { hedge: 2, context: &[7, 7, 7] } = read.parameters else {
            panic!("{read:?}")
        };
        let invalid = Err(ReturnCode::MechanismParamInvalid);
        let sign = CK_SIGN_ADDITIONAL_CONTEXT { pContext: null_mut(), ..sign };
        assert_eq!(parse(MechanismType::ML_DSA, &sign, size_of_val(&sign)), invalid);
        let hash = CK_HASH_SIGN_ADDITIONAL_CONTEXT {
            hedgeVariant: 0,
            pContext: null_mut(),
            ulContextLen: 0,
            hash: MechanismType::SHA256.0 as CK_ULONG,
        };
        assert_eq!(parse(MechanismType::HASH_ML_DSA, &hash, size_of_val(&hash)), Ok(()));
        assert_eq!(parse(MechanismType::HASH_ML_DSA, &hash, size_of_val(&sign)), invalid);
        assert_eq!(parse::<u8>(MechanismType::HASH_ML_DSA, null(), 0), invalid);
        // A mechanism that names its digest takes the shorter structure.
        assert_eq!(parse(MechanismType::HASH_ML_DSA_SHA256, &hash, size_of_val(&hash)), invalid);
    }
}
