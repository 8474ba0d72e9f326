//! A token whose calls a test can count and hold up.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use oarlock_cryptoki::{
    AttributeSet, MemoryToken, ObjectContent, ReturnCode, TokenDescription, TokenObject, TokenObjectId,
    TokenObjects, UserType,
};

use super::{SO_PIN, USER_PIN};

/// A token that counts the secrets that it opens, and whose next creation can be held up.
#[derive(Debug)]
pub(crate) struct WatchedToken {
    token: MemoryToken,
    opened: AtomicUsize,
    pause: Mutex<Option<Pause>>,
}

/// The moment at which a creation waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PauseMoment {
    /// Before the objects are on the token: the wait for a disk.
    BeforeWrite,
    /// After others can see them.
    AfterWrite,
}

#[derive(Debug)]
struct Pause {
    moment: PauseMoment,
    begun: Sender<()>,
    released: Receiver<()>,
}

/// A creation that waits.
pub(crate) struct HeldCreation {
    begun: Receiver<()>,
    release: Sender<()>,
}

/// The time after which a test has failed that waits for a creation.
const DEADLINE: Duration = Duration::from_secs(60);

impl WatchedToken {
    pub(crate) fn new() -> Self {
        let token = MemoryToken::initialized("a token", SO_PIN, USER_PIN);
        Self { token, opened: AtomicUsize::new(0), pause: Mutex::default() }
    }

    /// Returns the number of times that secrets were opened.
    pub(crate) fn opened(&self) -> usize {
        self.opened.load(Ordering::Acquire)
    }

    /// Holds the next creation up.
    pub(crate) fn hold_creation(&self, moment: PauseMoment) -> HeldCreation {
        let (begun, release) = (channel(), channel());
        *self.pause.lock().unwrap() = Some(Pause { moment, begun: begun.0, released: release.1 });
        HeldCreation { begun: begun.1, release: release.0 }
    }

    fn wait_if(&self, moment: PauseMoment) {
        let pause = self.pause.lock().unwrap().take_if(|pause| pause.moment == moment);
        if let Some(pause) = pause {
            pause.begun.send(()).unwrap();
            pause.released.recv_timeout(DEADLINE).expect("the test continues");
        }
    }
}

impl HeldCreation {
    /// Waits until the creation waits.
    pub(crate) fn await_begin(&self) {
        self.begun.recv_timeout(DEADLINE).expect("the creation begins");
    }

    pub(crate) fn release(&self) {
        self.release.send(()).unwrap();
    }
}

impl TokenObjects for WatchedToken {
    fn describe(&self) -> Result<TokenDescription, ReturnCode> {
        self.token.describe()
    }

    fn data_version(&self) -> Result<u64, ReturnCode> {
        self.token.data_version()
    }

    fn list(&self) -> Result<Vec<TokenObject>, ReturnCode> {
        self.token.list()
    }

    fn open_secrets(&self, id: TokenObjectId) -> Result<AttributeSet, ReturnCode> {
        self.opened.fetch_add(1, Ordering::AcqRel);
        // Time for another thread to come here, if none keeps it out.
        (0..100).for_each(|_| std::thread::yield_now());
        self.token.open_secrets(id)
    }

    fn create(&self, objects: &[ObjectContent]) -> Result<Vec<TokenObjectId>, ReturnCode> {
        self.wait_if(PauseMoment::BeforeWrite);
        let created = self.token.create(objects);
        self.wait_if(PauseMoment::AfterWrite);
        created
    }

    fn update(
        &self,
        id: TokenObjectId,
        known: &AttributeSet,
        attributes: &AttributeSet,
    ) -> Result<bool, ReturnCode> {
        self.token.update(id, known, attributes)
    }

    fn destroy(&self, id: TokenObjectId) -> Result<(), ReturnCode> {
        self.token.destroy(id)
    }

    fn login(&self, user: UserType, pin: Option<&[u8]>) -> Result<(), ReturnCode> {
        self.token.login(user, pin)
    }

    fn logout(&self) -> Result<(), ReturnCode> {
        self.token.logout()
    }

    fn init_token(&self, so_pin: Option<&[u8]>, label: &str) -> Result<(), ReturnCode> {
        self.token.init_token(so_pin, label)
    }

    fn init_pin(&self, pin: Option<&[u8]>) -> Result<(), ReturnCode> {
        self.token.init_pin(pin)
    }

    fn set_pin(&self, user: UserType, old: Option<&[u8]>, new: Option<&[u8]>) -> Result<(), ReturnCode> {
        self.token.set_pin(user, old, new)
    }
}
