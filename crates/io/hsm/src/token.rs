//! A token: found in its module, with its mechanisms and its login.

use std::sync::{Mutex, PoisonError};

use cryptoki::context::{Function, Pkcs11};
use cryptoki::error::{Error, RvError};
use cryptoki::mechanism::MechanismType;
use cryptoki::session::{Session, SessionState, UserType};
use cryptoki::slot::{Slot, TokenInfo};
use cryptoki::types::RawAuthPin;
use oarlock_key_files::read_private;
use zeroize::Zeroizing;

use crate::fault::CallFault;
use crate::module::load_module;
use crate::settings::HsmSettings;
use crate::{HsmError, Pkcs11Uri};

/// The maximum size of a PIN file. PINs have up to 255 bytes.
const MAX_PIN_BYTES: usize = 4096;

/// A token that was found: one life of the device between two connections.
#[derive(Debug)]
pub(crate) struct TokenConnection {
    module: Pkcs11,
    slot: Slot,
    /// The token for messages.
    pub(crate) name: String,
    about: TokenInfo,
    /// The mechanisms that the token offers.
    pub(crate) mechanisms: Vec<MechanismType>,
    /// The maximum number of sessions that the token allows this process, if it tells.
    pub(crate) max_sessions: Option<usize>,
}

/// The PIN that the token refused, and the lock that lets one thread log in at a time: several threads would try a
/// wrong PIN several times.
#[derive(Default)]
pub(crate) struct LoginRecord(Mutex<Option<Zeroizing<Vec<u8>>>>);

impl std::fmt::Debug for LoginRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LoginRecord")
    }
}

impl TokenConnection {
    /// Loads the module and finds the token.
    pub(crate) fn open(settings: &HsmSettings) -> Result<Self, HsmError> {
        let module = load_module(&settings.module)?;
        let name = settings.token_name();
        let failed = |error: Error| HsmError::Failed { code: error.to_string() };
        let (slot, about) = find_token(&module, settings)?;
        if !about.token_initialized() {
            return Err(HsmError::TokenEmpty { token: name });
        }
        let mechanisms = module.get_mechanism_list(slot).map_err(failed)?;
        let max_sessions = Option::<u64>::from(about.max_session_count());
        // Some modules report 0 and mean that they do not tell.
        let max_sessions =
            max_sessions.filter(|max| *max > 0).map(|max| usize::try_from(max).unwrap_or(usize::MAX));
        Ok(Self { module, slot, name, about, mechanisms, max_sessions })
    }

    /// True if a URI names this token.
    pub(crate) fn is_named_by(&self, uri: &Pkcs11Uri) -> bool {
        let about = &self.about;
        let texts = [
            (&uri.token, about.label()),
            (&uri.serial, about.serial_number()),
            (&uri.manufacturer, about.manufacturer_id()),
            (&uri.model, about.model()),
        ];
        texts.iter().all(|(wanted, found)| wanted.as_ref().is_none_or(|wanted| wanted == found))
            && uri.slot_id.is_none_or(|wanted| wanted == self.slot.id())
    }

    /// Opens a session and logs in.
    pub(crate) fn open_session(
        &self,
        settings: &HsmSettings,
        logins: &LoginRecord,
    ) -> Result<Session, CallFault> {
        let session = self.module.open_ro_session(self.slot)?;
        self.ensure_login(&session, settings, logins)?;
        Ok(session)
    }

    /// Logs in, unless the process is logged in already. A login is valid in all sessions of a process.
    pub(crate) fn ensure_login(
        &self,
        session: &Session,
        settings: &HsmSettings,
        logins: &LoginRecord,
    ) -> Result<(), CallFault> {
        match session.get_session_info()?.session_state() {
            SessionState::RoUser | SessionState::RwUser => Ok(()),
            _ => self.log_in(session, settings, logins),
        }
    }

    /// Returns true if the token needs a login and the session has none.
    pub(crate) fn has_lost_login(&self, session: &Session) -> Result<bool, CallFault> {
        let state = session.get_session_info()?.session_state();
        let is_logged_in = matches!(state, SessionState::RoUser | SessionState::RwUser);
        Ok(self.about.login_required() && !is_logged_in)
    }

    /// Logs in, unless the token needs no login.
    pub(crate) fn log_in(
        &self,
        session: &Session,
        settings: &HsmSettings,
        logins: &LoginRecord,
    ) -> Result<(), CallFault> {
        // A thread that hangs in C_Login keeps this lock. Those that wait for it are abandoned like it is.
        let mut refused = logins.0.lock().unwrap_or_else(PoisonError::into_inner);
        let about = self.module.get_token_info(self.slot)?;
        if !about.login_required() {
            return Ok(());
        }
        self.check_pin_flags(&about)?;
        let pin = match &settings.pin_file {
            Some(_) => Some(read_pin(settings)?),
            None if about.protected_authentication_path() => None,
            None => return Err(HsmError::NoPin { token: self.name.clone() }.into()),
        };
        if let (Some(pin), Some(refused)) = (&pin, &*refused)
            && pin == refused
        {
            let code = "as before".to_owned();
            return Err(HsmError::WrongPin { token: self.name.clone(), code }.into());
        }
        let answer = match &pin {
            Some(pin) => session.login_with_raw(UserType::User, &RawAuthPin::new(Box::new(pin.to_vec()))),
            None => session.login(UserType::User, None),
        };
        match answer {
            Ok(()) | Err(Error::Pkcs11(RvError::UserAlreadyLoggedIn, Function::Login)) => {
                *refused = None;
                Ok(())
            }
            Err(error) => {
                let fault = self.login_fault(error);
                if is_refusal(&fault) {
                    *refused = pin;
                }
                Err(fault)
            }
        }
    }

    fn check_pin_flags(&self, about: &TokenInfo) -> Result<(), HsmError> {
        let token = self.name.clone();
        if about.user_pin_locked() {
            return Err(HsmError::PinLocked { token });
        }
        if !about.user_pin_initialized() {
            return Err(HsmError::PinUnset { token });
        }
        // The PIN may be right. But if it is not, the token locks, and only a person can decide to risk that.
        if about.user_pin_final_try() {
            return Err(HsmError::PinFinalTry { token });
        }
        Ok(())
    }

    fn login_fault(&self, error: Error) -> CallFault {
        let token = self.name.clone();
        let code = error.to_string();
        match error {
            Error::Pkcs11(RvError::PinIncorrect | RvError::PinInvalid | RvError::PinLenRange, _) => {
                HsmError::WrongPin { token, code }.into()
            }
            Error::Pkcs11(RvError::PinLocked, _) => HsmError::PinLocked { token }.into(),
            Error::Pkcs11(RvError::PinExpired, _) => HsmError::PinExpired { token }.into(),
            Error::Pkcs11(RvError::UserPinNotInitialized, _) => HsmError::PinUnset { token }.into(),
            error => error.into(),
        }
    }
}

/// True if the token saw the PIN and refused it.
fn is_refusal(fault: &CallFault) -> bool {
    let CallFault::Final(error) = fault else { return false };
    matches!(error, HsmError::WrongPin { .. } | HsmError::PinLocked { .. } | HsmError::PinExpired { .. })
}

/// Reads the first line of the PIN file. It is read for each login and forgotten after it.
fn read_pin(settings: &HsmSettings) -> Result<Zeroizing<Vec<u8>>, HsmError> {
    let path = settings.pin_file.clone().unwrap_or_default();
    let fault = |reason: String| HsmError::PinFile { path: path.clone(), reason };
    let text = read_private(&path, MAX_PIN_BYTES).map_err(|error| fault(error.to_string()))?;
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.is_empty() {
        return Err(fault("expected a PIN in the first line".to_owned()));
    }
    Ok(Zeroizing::new(line.to_vec()))
}

/// Returns the slot of the token that the settings name.
fn find_token(module: &Pkcs11, settings: &HsmSettings) -> Result<(Slot, TokenInfo), HsmError> {
    let failed = |error: Error| HsmError::Failed { code: error.to_string() };
    // This refreshes the module's list of slots too. PKCS#11 C_GetSlotList.
    let slots = module.get_slots_with_token().map_err(failed)?;
    // A token that was removed meanwhile, or that the module cannot read, is not the wanted one.
    let tokens = slots.into_iter().filter_map(|slot| Some((slot, module.get_token_info(slot).ok()?)));
    let tokens: Vec<(Slot, TokenInfo)> = tokens.collect();
    let is_wanted = |(slot, about): &&(Slot, TokenInfo)| match &settings.token {
        Some(label) => about.label() == label,
        None => Some(slot.id()) == settings.slot,
    };
    let matching: Vec<&(Slot, TokenInfo)> = tokens.iter().filter(is_wanted).collect();
    match matching[..] {
        [(slot, about)] => Ok((*slot, about.clone())),
        [] => Err(HsmError::NoToken {
            module: settings.module.clone(),
            wanted: settings.token_name(),
            found: token_list(&tokens),
        }),
        _ => {
            let slots: Vec<String> = matching.iter().map(|(slot, _)| slot.id().to_string()).collect();
            let label = settings.token.clone().unwrap_or_default();
            Err(HsmError::SeveralTokens { label, found: matching.len(), slots: slots.join(", ") })
        }
    }
}

fn token_list(tokens: &[(Slot, TokenInfo)]) -> String {
    // More than a few make an unreadable line.
    let shown =
        tokens.iter().take(8).map(|(slot, about)| format!("{:?} in slot {}", about.label(), slot.id()));
    let shown: Vec<String> = shown.collect();
    if shown.is_empty() { "no token".to_owned() } else { shown.join(", ") }
}
