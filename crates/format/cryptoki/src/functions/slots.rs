//! Slots and tokens.

use std::sync::atomic::Ordering;

use super::{Cryptoki, SlotDescription};
use crate::constants::{MechanismType, ReturnCode, token_flags};
use crate::handle::SessionHandle;
use crate::mechanism::{MechanismFacts, facts, mechanisms};
use crate::token::{SlotId, TokenDescription, UserType};

impl Cryptoki {
    /// `C_GetSlotList`. With `only_present`, slots without a token are left out.
    #[must_use]
    pub fn slot_list(&self, only_present: bool) -> Vec<SlotId> {
        let wanted =
            self.slots.iter().filter(|slot| !only_present || slot.settings.objects.describe().is_ok());
        wanted.map(|slot| slot.settings.id).collect()
    }

    /// `C_GetSlotInfo`.
    ///
    /// # Errors
    /// [`ReturnCode::SlotIdInvalid`].
    pub fn slot_description(&self, slot: SlotId) -> Result<SlotDescription, ReturnCode> {
        let settings = &self.slot(slot)?.1.settings;
        let mut flags = 0;
        if settings.objects.describe().is_ok() {
            flags |= token_flags::TOKEN_PRESENT;
        }
        if settings.is_removable {
            flags |= token_flags::REMOVABLE_DEVICE;
        }
        Ok(SlotDescription { description: settings.description.clone(), flags })
    }

    /// `C_GetTokenInfo`. The plugin pads the texts with blanks.
    ///
    /// # Errors
    /// [`ReturnCode::SlotIdInvalid`], [`ReturnCode::TokenNotPresent`].
    pub fn token_description(&self, slot: SlotId) -> Result<TokenDescription, ReturnCode> {
        let mut description = self.slot(slot)?.1.settings.objects.describe()?;
        description.flags |= token_flags::RNG | token_flags::ASYNC_SESSION_SUPPORTED;
        Ok(description)
    }

    /// `C_GetTokenInfo`: the numbers of open sessions, and of open sessions that are read-write.
    ///
    /// # Errors
    /// [`ReturnCode::SlotIdInvalid`].
    pub fn session_counts(&self, slot: SlotId) -> Result<(usize, usize), ReturnCode> {
        let slot = self.slot(slot)?.1;
        let counts = [&slot.open_sessions, &slot.open_read_write].map(|count| count.load(Ordering::Relaxed));
        Ok((counts[0], counts[1]))
    }

    /// `C_GetMechanismList`.
    ///
    /// # Errors
    /// [`ReturnCode::SlotIdInvalid`].
    pub fn mechanism_list(&self, slot: SlotId) -> Result<Vec<MechanismType>, ReturnCode> {
        self.slot(slot)?;
        Ok(mechanisms().iter().map(|facts| facts.kind).collect())
    }

    /// `C_GetMechanismInfo`.
    ///
    /// # Errors
    /// [`ReturnCode::SlotIdInvalid`], [`ReturnCode::MechanismInvalid`].
    pub fn mechanism_facts(&self, slot: SlotId, kind: MechanismType) -> Result<MechanismFacts, ReturnCode> {
        let is_compatible = self.slot(slot)?.1.settings.is_compatible;
        let facts = facts(kind).ok_or(ReturnCode::MechanismInvalid)?;
        Ok(MechanismFacts { flags: facts.flags_if(is_compatible), ..*facts })
    }

    /// `C_InitToken`. `label` is padded with blanks, which are not part of it.
    ///
    /// # Errors
    /// [`ReturnCode::SessionExists`], [`ReturnCode::ArgumentsBad`] for a label that is not UTF-8, and those of
    /// [`TokenObjects::init_token`](crate::TokenObjects::init_token).
    pub fn init_token(
        &self,
        slot: SlotId,
        so_pin: Option<&[u8]>,
        label: &[u8; 32],
    ) -> Result<(), ReturnCode> {
        let slot = self.slot(slot)?.1;
        if slot.open_sessions.load(Ordering::Relaxed) > 0 {
            return Err(ReturnCode::SessionExists);
        }
        let label = std::str::from_utf8(label).map_err(|_| ReturnCode::ArgumentsBad)?;
        slot.settings.objects.init_token(so_pin, label.trim_end_matches(' '))?;
        slot.objects.forget_all();
        Ok(())
    }

    /// `C_InitPIN`.
    ///
    /// # Errors
    /// [`ReturnCode::UserNotLoggedIn`] unless the security officer is logged in, and those of
    /// [`TokenObjects::init_pin`](crate::TokenObjects::init_pin).
    pub fn init_pin(&self, session: SessionHandle, pin: Option<&[u8]>) -> Result<(), ReturnCode> {
        let caller = self.caller(session)?;
        if caller.slot.login.user() != Some(UserType::SecurityOfficer) {
            return Err(ReturnCode::UserNotLoggedIn);
        }
        caller.slot.settings.objects.init_pin(pin)
    }

    /// `C_SetPIN`: the PIN of the security officer if the officer is logged in, else that of the user.
    ///
    /// # Errors
    /// [`ReturnCode::SessionReadOnly`], and those of [`TokenObjects::set_pin`](crate::TokenObjects::set_pin).
    pub fn set_pin(
        &self,
        session: SessionHandle,
        old: Option<&[u8]>,
        new: Option<&[u8]>,
    ) -> Result<(), ReturnCode> {
        let caller = self.caller(session)?;
        if !caller.is_read_write() {
            return Err(ReturnCode::SessionReadOnly);
        }
        let user = caller.slot.login.user().unwrap_or(UserType::User);
        caller.slot.settings.objects.set_pin(user, old, new)
    }
}
