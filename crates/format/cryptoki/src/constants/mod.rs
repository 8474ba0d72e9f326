//! The numbers of PKCS#11 3.2, each group as a type of its own.

mod attribute_type;
mod mechanism_type;
mod numbers;
mod object_class;
mod return_code;
#[cfg(test)]
mod tests;

pub use self::attribute_type::AttributeType;
pub use self::mechanism_type::MechanismType;
pub use self::object_class::{KeyTypeNumber, ObjectClass};
pub use self::return_code::ReturnCode;

/// `CK_UNAVAILABLE_INFORMATION`: the value of a number that is not known.
pub(crate) const CK_UNAVAILABLE_INFORMATION: u64 = u64::MAX;

/// The flags of sessions, `CKF_*` of `C_OpenSession` and `CK_SESSION_INFO`.
pub mod session_flags {
    /// `CKF_RW_SESSION`.
    pub const RW_SESSION: u64 = 2;
    /// `CKF_SERIAL_SESSION`, which every caller sets.
    pub const SERIAL_SESSION: u64 = 4;
    /// `CKF_ASYNC_SESSION` of PKCS#11 3.2.
    pub const ASYNC_SESSION: u64 = 8;
}

/// The flags of slots and tokens, `CKF_*` of `CK_SLOT_INFO` and `CK_TOKEN_INFO`.
pub mod token_flags {
    /// `CKF_TOKEN_PRESENT` of a slot.
    pub const TOKEN_PRESENT: u64 = 1;
    /// `CKF_REMOVABLE_DEVICE` of a slot.
    pub const REMOVABLE_DEVICE: u64 = 2;
    /// `CKF_RNG`.
    pub const RNG: u64 = 1;
    /// `CKF_WRITE_PROTECTED`.
    pub const WRITE_PROTECTED: u64 = 2;
    /// `CKF_LOGIN_REQUIRED`.
    pub const LOGIN_REQUIRED: u64 = 4;
    /// `CKF_USER_PIN_INITIALIZED`.
    pub const USER_PIN_INITIALIZED: u64 = 8;
    /// `CKF_TOKEN_INITIALIZED`.
    pub const TOKEN_INITIALIZED: u64 = 0x400;
    /// `CKF_USER_PIN_COUNT_LOW`.
    pub const USER_PIN_COUNT_LOW: u64 = 0x1_0000;
    /// `CKF_USER_PIN_FINAL_TRY`.
    pub const USER_PIN_FINAL_TRY: u64 = 0x2_0000;
    /// `CKF_USER_PIN_LOCKED`.
    pub const USER_PIN_LOCKED: u64 = 0x4_0000;
    /// `CKF_SO_PIN_COUNT_LOW`.
    pub const SO_PIN_COUNT_LOW: u64 = 0x10_0000;
    /// `CKF_SO_PIN_FINAL_TRY`.
    pub const SO_PIN_FINAL_TRY: u64 = 0x20_0000;
    /// `CKF_SO_PIN_LOCKED`.
    pub const SO_PIN_LOCKED: u64 = 0x40_0000;
    /// `CKF_ASYNC_SESSION_SUPPORTED` of PKCS#11 3.2.
    pub const ASYNC_SESSION_SUPPORTED: u64 = 0x400_0000;
}

/// The flags of mechanisms, `CKF_*` of `CK_MECHANISM_INFO`.
pub mod mechanism_flags {
    /// `CKF_MESSAGE_ENCRYPT` of PKCS#11 3.0.
    pub const MESSAGE_ENCRYPT: u64 = 2;
    /// `CKF_MESSAGE_DECRYPT`.
    pub const MESSAGE_DECRYPT: u64 = 4;
    /// `CKF_MESSAGE_SIGN`.
    pub const MESSAGE_SIGN: u64 = 8;
    /// `CKF_MESSAGE_VERIFY`.
    pub const MESSAGE_VERIFY: u64 = 0x10;
    /// `CKF_MULTI_MESSAGE`: a message may come in pieces.
    pub const MULTI_MESSAGE: u64 = 0x20;
    /// `CKF_ENCRYPT`.
    pub const ENCRYPT: u64 = 0x100;
    /// `CKF_DECRYPT`.
    pub const DECRYPT: u64 = 0x200;
    /// `CKF_DIGEST`.
    pub const DIGEST: u64 = 0x400;
    /// `CKF_SIGN`.
    pub const SIGN: u64 = 0x800;
    /// `CKF_VERIFY`.
    pub const VERIFY: u64 = 0x2000;
    /// `CKF_GENERATE`.
    pub const GENERATE: u64 = 0x8000;
    /// `CKF_GENERATE_KEY_PAIR`.
    pub const GENERATE_KEY_PAIR: u64 = 0x1_0000;
    /// `CKF_WRAP`.
    pub const WRAP: u64 = 0x2_0000;
    /// `CKF_UNWRAP`.
    pub const UNWRAP: u64 = 0x4_0000;
    /// `CKF_DERIVE`.
    pub const DERIVE: u64 = 0x8_0000;
    /// `CKF_ENCAPSULATE` of PKCS#11 3.2.
    pub const ENCAPSULATE: u64 = 0x1000_0000;
    /// `CKF_DECAPSULATE`.
    pub const DECAPSULATE: u64 = 0x2000_0000;
    /// `CKF_EC_F_P`, `CKF_EC_OID` and `CKF_EC_UNCOMPRESS`: named prime curves with uncompressed points.
    pub const NAMED_PRIME_CURVES: u64 = 0x10_0000 | 0x80_0000 | 0x100_0000;
}

/// The numbers in parameters of mechanisms, and those of `CKA_PARAMETER_SET`.
pub mod parameter_values {
    /// `CKD_NULL`: the shared secret itself.
    pub const CKD_NULL: u64 = 1;
    /// `CKD_SHA1_KDF`: ANSI X9.63 with SHA-1.
    pub const CKD_SHA1_KDF: u64 = 2;
    /// `CKD_SHA224_KDF`.
    pub const CKD_SHA224_KDF: u64 = 5;
    /// `CKD_SHA256_KDF`.
    pub const CKD_SHA256_KDF: u64 = 6;
    /// `CKD_SHA384_KDF`.
    pub const CKD_SHA384_KDF: u64 = 7;
    /// `CKD_SHA512_KDF`.
    pub const CKD_SHA512_KDF: u64 = 8;
    /// `CKG_MGF1_SHA1`.
    pub const CKG_MGF1_SHA1: u64 = 1;
    /// `CKG_MGF1_SHA256`.
    pub const CKG_MGF1_SHA256: u64 = 2;
    /// `CKG_MGF1_SHA384`.
    pub const CKG_MGF1_SHA384: u64 = 3;
    /// `CKG_MGF1_SHA512`.
    pub const CKG_MGF1_SHA512: u64 = 4;
    /// `CKG_MGF1_SHA224`.
    pub const CKG_MGF1_SHA224: u64 = 5;
    /// `CKZ_DATA_SPECIFIED`: the label of OAEP is given.
    pub const CKZ_DATA_SPECIFIED: u64 = 1;
    /// `CKH_HEDGE_PREFERRED`: the library chooses between a hedged and a deterministic signature.
    pub const CKH_HEDGE_PREFERRED: u64 = 0;
    /// `CKH_HEDGE_REQUIRED`.
    pub const CKH_HEDGE_REQUIRED: u64 = 1;
    /// `CKH_DETERMINISTIC_REQUIRED`.
    pub const CKH_DETERMINISTIC_REQUIRED: u64 = 2;
    /// `CKP_ML_KEM_512`.
    pub const CKP_ML_KEM_512: u64 = 1;
    /// `CKP_ML_KEM_768`.
    pub const CKP_ML_KEM_768: u64 = 2;
    /// `CKP_ML_KEM_1024`.
    pub const CKP_ML_KEM_1024: u64 = 3;
    /// `CKP_ML_DSA_44`.
    pub const CKP_ML_DSA_44: u64 = 1;
    /// `CKP_ML_DSA_65`.
    pub const CKP_ML_DSA_65: u64 = 2;
    /// `CKP_ML_DSA_87`.
    pub const CKP_ML_DSA_87: u64 = 3;
    /// `CKP_SLH_DSA_SHA2_128S`.
    pub const CKP_SLH_DSA_SHA2_128S: u64 = 1;
    /// `CKP_SLH_DSA_SHAKE_128S`.
    pub const CKP_SLH_DSA_SHAKE_128S: u64 = 2;
    /// `CKP_SLH_DSA_SHA2_128F`.
    pub const CKP_SLH_DSA_SHA2_128F: u64 = 3;
    /// `CKP_SLH_DSA_SHAKE_128F`.
    pub const CKP_SLH_DSA_SHAKE_128F: u64 = 4;
    /// `CKP_SLH_DSA_SHA2_192S`.
    pub const CKP_SLH_DSA_SHA2_192S: u64 = 5;
    /// `CKP_SLH_DSA_SHAKE_192S`.
    pub const CKP_SLH_DSA_SHAKE_192S: u64 = 6;
    /// `CKP_SLH_DSA_SHA2_192F`.
    pub const CKP_SLH_DSA_SHA2_192F: u64 = 7;
    /// `CKP_SLH_DSA_SHAKE_192F`.
    pub const CKP_SLH_DSA_SHAKE_192F: u64 = 8;
    /// `CKP_SLH_DSA_SHA2_256S`.
    pub const CKP_SLH_DSA_SHA2_256S: u64 = 9;
    /// `CKP_SLH_DSA_SHAKE_256S`.
    pub const CKP_SLH_DSA_SHAKE_256S: u64 = 10;
    /// `CKP_SLH_DSA_SHA2_256F`.
    pub const CKP_SLH_DSA_SHA2_256F: u64 = 11;
    /// `CKP_SLH_DSA_SHAKE_256F`.
    pub const CKP_SLH_DSA_SHAKE_256F: u64 = 12;
}
