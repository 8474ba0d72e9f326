//! Slots and tokens.

use super::{Cryptoki, SlotDescription};
use crate::constants::{MechanismType, ReturnCode};
use crate::mechanism::MechanismFacts;
use crate::session::SessionHandle;
use crate::token::{SlotId, TokenDescription};

impl Cryptoki {
    /// `C_GetSlotList`. With `only_present`, slots without a token are left out.
    pub fn slot_list(&self, _only_present: bool) -> Vec<SlotId> {
        Vec::new()
    }

    /// `C_GetSlotInfo`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn slot_description(&self, _slot: SlotId) -> Result<SlotDescription, ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_GetTokenInfo`. The plugin pads the texts with blanks.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn token_description(&self, _slot: SlotId) -> Result<TokenDescription, ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_GetTokenInfo`: the numbers of open sessions, and of open sessions that are read-write.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn session_counts(&self, _slot: SlotId) -> Result<(usize, usize), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_GetMechanismList`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn mechanism_list(&self, _slot: SlotId) -> Result<Vec<MechanismType>, ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_GetMechanismInfo`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn mechanism_facts(&self, _slot: SlotId, _kind: MechanismType) -> Result<MechanismFacts, ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_InitToken`. `label` is padded with blanks, which are not part of it.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn init_token(
        &self,
        _slot: SlotId,
        _so_pin: Option<&[u8]>,
        _label: &[u8; 32],
    ) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_InitPIN`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn init_pin(&self, _session: SessionHandle, _pin: Option<&[u8]>) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_SetPIN`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn set_pin(
        &self,
        _session: SessionHandle,
        _old: Option<&[u8]>,
        _new: Option<&[u8]>,
    ) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }
}
