//! The functions of the standard, as methods of [`Cryptoki`].

mod access;
mod asynchronous;
mod ciphers;
mod creation;
mod digests;
mod encapsulation;
mod keys;
mod messages;
mod objects;
mod sessions;
mod signatures;
mod slots;
mod steps;
mod wrapping;

use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;

use oarlock::Accelerator;
use zeroize::Zeroizing;

use crate::handle::ObjectHandle;
use crate::session::SessionTable;
use crate::slot::{LoginState, SlotObjects};
use crate::token::SlotSettings;

/// The state of the library between `C_Initialize` and `C_Finalize`. It is safe to share between threads.
pub struct Cryptoki {
    accelerator: Accelerator,
    slots: Vec<SlotRuntime>,
    sessions: SessionTable,
}

/// A slot, its objects and its login.
struct SlotRuntime {
    settings: SlotSettings,
    objects: SlotObjects,
    login: LoginState,
    /// Held by a login or logout, so that they come one after the other.
    login_lock: Mutex<()>,
    open_sessions: AtomicUsize,
    open_read_write: AtomicUsize,
}

/// The description of a slot, `CK_SLOT_INFO`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotDescription {
    /// The description, at most 64 bytes. A longer one is cut.
    pub description: String,
    /// The flags: token present, and removable.
    pub flags: u64,
}

/// The answer of an asynchronous function, `CK_ASYNC_DATA`.
#[derive(Clone, PartialEq, Eq)]
pub struct AsyncAnswer {
    /// The bytes of the output.
    pub bytes: Zeroizing<Vec<u8>>,
    /// The new object, if the function makes one. Of a key pair, it is the public key.
    pub object: Option<ObjectHandle>,
    /// The private key of a new key pair.
    pub additional_object: Option<ObjectHandle>,
}

impl Cryptoki {
    /// Creates the state with its slots, in the order in which they are listed.
    #[must_use]
    pub fn new(accelerator: Accelerator, slots: Vec<SlotSettings>) -> Self {
        let slots = slots.into_iter().map(SlotRuntime::new).collect();
        Self { accelerator, slots, sessions: SessionTable::default() }
    }

    /// Returns the accelerator.
    #[must_use]
    pub fn accelerator(&self) -> &Accelerator {
        &self.accelerator
    }
}

impl SlotRuntime {
    fn new(settings: SlotSettings) -> Self {
        Self {
            objects: SlotObjects::new(settings.objects.clone()),
            settings,
            login: LoginState::default(),
            login_lock: Mutex::default(),
            open_sessions: AtomicUsize::new(0),
            open_read_write: AtomicUsize::new(0),
        }
    }
}

impl fmt::Debug for Cryptoki {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cryptoki({} slots)", self.slots.len())
    }
}

/// Shows the length, because the bytes may be secret.
impl fmt::Debug for AsyncAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AsyncAnswer({} bytes, {:?})", self.bytes.len(), self.object)
    }
}
