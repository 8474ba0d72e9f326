//! A token that shows the keys of a cryptoserver. Its operations are the server's.

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use oarlock::keys::held;
use oarlock_cryptoki::{
    AttributeSet, ReturnCode, TokenDescription, TokenObject, TokenObjectId, TokenObjects,
};
use oarlock_ffi::print_line;
use oarlock_wire::Endpoint;
use oarlock_wire::proto::KeyInfo;

use super::TokenPresence;
use super::key_objects::{PrivateUses, ShownKey, show};
use super::keys::serial_number;
use super::read_only::{self, NewShownObject, ShownObjects, never_written};
use super::server_listing::list_keys;
use super::server_secret::show_secret;
use crate::config::ServerSlotConfig;

/// The time between two questions to the server.
const REREAD: Duration = Duration::from_secs(1);

/// A token that shows the keys of a cryptoserver.
pub(crate) struct ServerToken {
    /// The name of the holder, which the keys carry.
    holder: String,
    label: String,
    serial_number: String,
    endpoint: Endpoint,
    patience: Duration,
    // Held for a look or a replacement, and never during a question to the server.
    state: Mutex<ServerState>,
    /// The number of times that the server came or went.
    changes: AtomicU64,
}

#[derive(Default)]
struct ServerState {
    shown: ShownObjects,
    asked_at: Option<Instant>,
    /// `None` before the first question.
    is_present: Option<bool>,
}

impl ServerToken {
    /// Makes a token, which asks the server at first use.
    pub(crate) fn new(holder: &str, server: &ServerSlotConfig, endpoint: Endpoint) -> Self {
        Self {
            holder: holder.to_owned(),
            label: server.label.clone().unwrap_or_else(|| "cryptoserver".to_owned()),
            serial_number: serial_number(Path::new(&server.address)),
            endpoint,
            patience: server.patience(),
            state: Mutex::default(),
            changes: AtomicU64::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, ServerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the server again if the last question was a while ago.
    fn refresh(&self) {
        let mut state = self.lock();
        let is_fresh = state.asked_at.is_some_and(|at| at.elapsed() < REREAD);
        if is_fresh && state.is_present.is_some() {
            return;
        }
        state.asked_at = Some(Instant::now());
        drop(state);
        let listed = list_keys(&self.endpoint, self.patience);
        let mut state = self.lock();
        let is_present = listed.is_ok();
        let was_present = state.is_present.replace(is_present);
        if was_present.is_some_and(|was_present| was_present != is_present) {
            self.changes.fetch_add(1, Ordering::AcqRel);
        }
        match listed {
            Ok(keys) => state.shown.replace(self.objects(&keys)),
            // Once per outage.
            Err(fault) if was_present != Some(false) => print_line(&fault.to_string()),
            Err(_) => {}
        }
    }

    fn present(&self) -> Result<MutexGuard<'_, ServerState>, ReturnCode> {
        self.refresh();
        let state = self.lock();
        if state.is_present == Some(true) { Ok(state) } else { Err(ReturnCode::TokenNotPresent) }
    }

    /// Returns the objects of the keys that PKCS#11 can show. The share of a key makes partial signatures, which no
    /// mechanism has.
    fn objects(&self, keys: &[KeyInfo]) -> Vec<NewShownObject> {
        let mut objects = Vec::new();
        for info in keys.iter().filter(|info| info.share_index == 0) {
            if info.public_key.is_empty() {
                objects.extend(show_secret(info, &self.holder));
                continue;
            }
            let Ok(key) = held::from_spki(&info.public_key, &self.holder, &info.name) else { continue };
            let uses = granted_uses(&info.allowed);
            let certificates: Vec<_> = info.certificates.iter().map(|der| der.to_vec()).collect();
            let shown = ShownKey { name: &info.name, key: &key, uses, certificates: &certificates };
            show(&shown, &mut objects);
        }
        objects
    }
}

impl TokenObjects for ServerToken {
    fn describe(&self) -> Result<TokenDescription, ReturnCode> {
        drop(self.present()?);
        Ok(read_only::description(&self.label, "cryptoserver", self.serial_number.clone()))
    }

    fn data_version(&self) -> Result<u64, ReturnCode> {
        Ok(self.present()?.shown.version())
    }

    fn list(&self) -> Result<Vec<TokenObject>, ReturnCode> {
        Ok(self.present()?.shown.list())
    }

    fn open_secrets(&self, id: TokenObjectId) -> Result<AttributeSet, ReturnCode> {
        self.present()?.shown.open_secrets(id)
    }

    never_written!();
}

impl TokenPresence for ServerToken {
    fn changes(&self) -> u64 {
        self.refresh();
        self.changes.load(Ordering::Acquire)
    }
}

/// Returns the uses that the patterns of a grant allow. A pattern allows a use if it fits one of its operations.
fn granted_uses(allowed: &[String]) -> PrivateUses {
    let fits = |names: &[&str]| allowed.iter().any(|pattern| names.iter().any(|name| may_fit(pattern, name)));
    PrivateUses {
        sign: fits(&["-sign"]),
        decrypt: fits(&["-decrypt"]),
        derive: fits(&["x25519", "ecdh-p256", "ecdh-p384"]),
        decapsulate: fits(&["-decaps"]),
    }
}

/// True if a pattern fits a name, or some name that ends so. The server decides about each operation itself, so that
/// an attribute that allows too much costs an error and nothing else.
fn may_fit(pattern: &str, end: &str) -> bool {
    let tail = pattern.rsplit('*').next().unwrap_or_default();
    let has_star = pattern.contains('*');
    tail.ends_with(end) || (has_star && end.ends_with(tail))
}

impl fmt::Debug for ServerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServerToken({})", self.endpoint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_become_uses() {
        let uses = |patterns: &[&str]| {
            let allowed: Vec<_> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
            let PrivateUses { sign, decrypt, derive, decapsulate } = granted_uses(&allowed);
            (sign, decrypt, derive, decapsulate)
        };
        assert_eq!(uses(&["*"]), (true, true, true, true));
        assert_eq!(uses(&["rsa-*-sign"]), (true, false, false, false));
        assert_eq!(uses(&["rsa-pkcs1-sha256-sign", "x25519"]), (true, false, true, false));
        assert_eq!(uses(&["rsa-oaep-*-decrypt"]), (false, true, false, false));
        assert_eq!(uses(&["ml-kem-*-decaps"]), (false, false, false, true));
        assert_eq!(uses(&["ml-dsa-65-sign"]), (true, false, false, false));
        assert_eq!(uses(&["ecdsa-p256-sha256-verify"]), (false, false, false, false));
        assert_eq!(uses(&[]), (false, false, false, false));
    }

    #[test]
    fn a_server_that_is_away_is_an_empty_slot() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("no.sock");
        let server: ServerSlotConfig =
            toml::from_str(&format!("address = {:?}\npatience_ms = 500\n", socket.display().to_string()))
                .unwrap();
        let endpoint = Endpoint::unix(socket);
        let token = ServerToken::new("server", &server, endpoint);
        assert_eq!(token.describe().unwrap_err(), ReturnCode::TokenNotPresent);
        assert_eq!(token.data_version(), Err(ReturnCode::TokenNotPresent));
        assert_eq!(TokenPresence::changes(&token), 0);
    }
}
