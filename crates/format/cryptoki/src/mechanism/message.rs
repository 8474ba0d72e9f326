//! The parameters of one message, for the functions of PKCS#11 3.0 that take many messages under one key.

use std::fmt;

use crate::constants::ReturnCode;

/// The parameters of one message: `CK_GCM_MESSAGE_PARAMS`, or `CK_SALSA20_CHACHA20_POLY1305_MSG_PARAMS`, which has no
/// generator.
pub struct MessageParameters<'a> {
    /// The IV. An encryption writes it if there is a generator.
    pub iv: &'a mut [u8],
    /// The number of leading bits of the IV that the generator leaves as they are.
    pub fixed_bits: u64,
    /// The generator of the IV. A decryption takes the IV as it is.
    pub generator: IvGenerator,
    /// The tag. An encryption writes it, and a decryption compares it.
    pub tag: &'a mut [u8],
}

/// The generator of an IV, `CK_GENERATOR_FUNCTION`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IvGenerator {
    /// `CKG_NO_GENERATE`: the caller gives the IV.
    None,
    /// `CKG_GENERATE`: the library chooses the way.
    Any,
    /// `CKG_GENERATE_COUNTER`: the bits that are not fixed count upwards, from a random start.
    Counter,
    /// `CKG_GENERATE_RANDOM`: the bits that are not fixed are random.
    Random,
}

impl TryFrom<u64> for IvGenerator {
    type Error = ReturnCode;

    fn try_from(number: u64) -> Result<Self, ReturnCode> {
        match number {
            0 => Ok(Self::None),
            1 => Ok(Self::Any),
            2 => Ok(Self::Counter),
            3 => Ok(Self::Random),
            // CKG_GENERATE_COUNTER_XOR, and what later versions add.
            _ => Err(ReturnCode::MechanismParamInvalid),
        }
    }
}

impl fmt::Debug for MessageParameters<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (iv, tag) = (self.iv.len(), self.tag.len());
        write!(f, "MessageParameters(IV of {iv} bytes by {:?}, tag of {tag} bytes)", self.generator)
    }
}
