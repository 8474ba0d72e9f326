//! The slots of the settings, and the accelerator that they share.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use oarlock::{Accelerator, BuildError};
use oarlock_cryptoki::{SlotId, SlotSettings, TokenObjects};
use oarlock_ffi::print_line;
use oarlock_key_files::sealed::AgeIdentities;
use oarlock_key_files::{SecretReader, TokenFile, read_private_passphrase};

use crate::config::{KeySlotConfig, ModuleConfig, ServerSlotConfig, SlotConfig, StoreSlotConfig};
use crate::token::{KeysToken, ServerHolder, ServerToken, TokenPresence};

/// A caller waits for its answer. On an idle machine, its own thread is faster than a worker that must wake up.
const CALLER_BUDGET: Duration = Duration::from_secs(1);

/// Everything that the settings describe.
pub(crate) struct BuiltSlots {
    pub(crate) accelerator: Accelerator,
    pub(crate) slots: Vec<SlotSettings>,
    /// The slots whose tokens may come and go.
    pub(crate) removable: Vec<(SlotId, Arc<dyn TokenPresence>)>,
}

/// The reason why slots cannot be built.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SlotFault {
    #[error("slot {slot}: {reason}")]
    Slot { slot: usize, reason: String },
    #[error(transparent)]
    Accelerator(#[from] BuildError),
}

/// Builds the slots. Nothing is opened and no server is asked: tokens do that at first use.
///
/// # Errors
/// A file that a slot needs cannot be read, or there is no engine.
pub(crate) fn build(config: &ModuleConfig) -> Result<BuiltSlots, SlotFault> {
    let mut builder = Accelerator::builder()
        .config(oarlock::SchedulerConfig::default().with_caller_budget(CALLER_BUDGET))
        .lazy();
    // A privileged process takes nothing from its environment, and no file that it names.
    if !oarlock_ffi::is_privileged() {
        builder = builder.environment(true).cost_cache(oarlock::default_cost_cache());
    }
    if let Some(names) = &config.engines {
        builder = builder.engines(names.clone());
    }
    if let Some(threads) = config.threads {
        builder = builder.threads(threads);
    }
    let (mut slots, mut removable) = (Vec::new(), Vec::new());
    for (settings, number) in config.slots.iter().zip(0_usize..) {
        let id = SlotId(number as u64);
        let fault = |reason| SlotFault::Slot { slot: number, reason };
        slots.push(match settings {
            SlotConfig::Store(store) => store_slot(id, store),
            SlotConfig::Keys(keys) => keys_slot(id, keys).map_err(fault)?,
            SlotConfig::Server(server) => {
                let (slot, token, holder) = server_slot(id, server).map_err(fault)?;
                builder = builder.holder(Arc::new(holder));
                removable.push((id, token as Arc<dyn TokenPresence>));
                slot
            }
        });
    }
    Ok(BuiltSlots { accelerator: builder.build()?, slots, removable })
}

fn store_slot(id: SlotId, store: &StoreSlotConfig) -> SlotSettings {
    let default = || format!("Token file {}", store.path.display());
    let token = TokenFile::new(store.path.clone()).report_faults(|error| print_line(&error.to_string()));
    let description = store.description.clone().unwrap_or_else(default);
    let slot = slot(id, description, Arc::new(token), store.max_sessions);
    SlotSettings { is_compatible: store.compatible, ..slot }
}

fn keys_slot(id: SlotId, keys: &KeySlotConfig) -> Result<SlotSettings, String> {
    let passphrase = keys
        .passphrase_file
        .as_ref()
        .map(|path| read_private_passphrase(path).map_err(|error| format!("{}: {error}", path.display())));
    let identities = keys.identity.as_ref().map(|path| {
        AgeIdentities::read(path, SecretReader::ThisProcess)
            .map(Arc::new)
            .map_err(|error| format!("{}: {error}", path.display()))
    });
    let (passphrase, identities) = (passphrase.transpose()?, identities.transpose()?);
    let token = KeysToken::new(&keys.directory, keys.label.as_deref(), passphrase, identities);
    let default = || format!("Key files in {}", keys.directory.display());
    let description = keys.description.clone().unwrap_or_else(default);
    Ok(slot(id, description, Arc::new(token), keys.max_sessions))
}

fn server_slot(
    id: SlotId,
    server: &ServerSlotConfig,
) -> Result<(SlotSettings, Arc<ServerToken>, ServerHolder), String> {
    let endpoint = server.connection().endpoint(&server.address).map_err(|error| error.to_string())?;
    // Keys carry the name of their holder, so each slot has its own.
    let name = format!("slot-{}", id.0);
    let holder = ServerHolder::new(&name, server, endpoint.clone());
    let token = Arc::new(ServerToken::new(&name, server, endpoint));
    let default = || format!("Cryptoserver at {}", server.address);
    let description = server.description.clone().unwrap_or_else(default);
    let slot = slot(id, description, Arc::clone(&token) as _, server.max_sessions);
    Ok((SlotSettings { is_removable: true, ..slot }, token, holder))
}

fn slot(
    id: SlotId,
    description: String,
    token: Arc<dyn TokenObjects>,
    max_sessions: Option<usize>,
) -> SlotSettings {
    let slot = SlotSettings::new(id, description, token);
    let max_sessions = max_sessions.unwrap_or(slot.max_sessions);
    SlotSettings { max_sessions, ..slot }
}

impl fmt::Debug for BuiltSlots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BuiltSlots({})", self.slots.len())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn slots_have_the_order_of_the_settings_and_nothing_is_opened() {
        let text = "[[slot]]\nkind = \"store\"\npath = \"/nonexistent/token\"\ncompatible = true\n\
                    [[slot]]\nkind = \"keys\"\ndirectory = \"/nonexistent\"\nmax_sessions = 7\n\
                    [[slot]]\nkind = \"server\"\naddress = \"/nonexistent/sock\"\n";
        let built = build(&ModuleConfig::parse(Path::new("/x/pkcs11.toml"), text).unwrap()).unwrap();
        let [store, keys, server] = &built.slots[..] else { panic!() };
        assert_eq!([store.id, keys.id, server.id], [SlotId(0), SlotId(1), SlotId(2)]);
        assert!(store.is_compatible && !keys.is_compatible && server.is_removable);
        assert_eq!(keys.max_sessions, 7);
        assert_eq!(built.removable.len(), 1);
    }

    #[test]
    fn a_missing_passphrase_or_identity_names_slot_and_file() {
        let text = "[[slot]]\nkind = \"keys\"\ndirectory = \"/k\"\npassphrase_file = \"/nonexistent\"\n";
        let fault = build(&ModuleConfig::parse(Path::new("/x/pkcs11.toml"), text).unwrap()).unwrap_err();
        assert!(fault.to_string().starts_with("slot 0: /nonexistent: "), "{fault}");
        let text = text.replace("passphrase_file", "identity");
        let fault = build(&ModuleConfig::parse(Path::new("/x/pkcs11.toml"), &text).unwrap()).unwrap_err();
        assert!(fault.to_string().starts_with("slot 0: /nonexistent: "), "{fault}");
    }
}
