//! The table of sessions: entries that are used again, each with a generation.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use super::active::Session;
use crate::constants::ReturnCode;
use crate::handle::SessionHandle;

/// All sessions of a process.
#[derive(Debug, Default)]
pub(crate) struct SessionTable {
    // Grows only while a session is opened, so that look-ups share the lock.
    entries: RwLock<Vec<Arc<Mutex<SessionEntry>>>>,
    free: Mutex<Vec<u32>>,
}

#[derive(Debug, Default)]
struct SessionEntry {
    /// The number of sessions that the entry has served.
    generation: u32,
    session: Option<Session>,
}

impl SessionTable {
    /// Opens a session.
    ///
    /// # Errors
    /// [`ReturnCode::SessionCount`] after four thousand million sessions at a time.
    pub(crate) fn open(&self, session: Session) -> Result<SessionHandle, ReturnCode> {
        let free = lock(&self.free).pop();
        let index = match free {
            Some(index) => index,
            None => self.grow()?,
        };
        let entry = self.entry(index).ok_or(ReturnCode::GeneralError)?;
        let mut entry = lock(&entry);
        entry.generation = entry.generation.wrapping_add(1);
        entry.session = Some(session);
        Ok(handle(index, entry.generation))
    }

    fn grow(&self) -> Result<u32, ReturnCode> {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        let index = u32::try_from(entries.len()).map_err(|_| ReturnCode::SessionCount)?;
        entries.push(Arc::default());
        Ok(index)
    }

    /// Closes a session and returns it.
    ///
    /// # Errors
    /// [`ReturnCode::SessionHandleInvalid`].
    pub(crate) fn close(&self, session: SessionHandle) -> Result<Session, ReturnCode> {
        let (index, entry) = self.find(session)?;
        let closed = lock_valid(&entry, session)?.session.take();
        lock(&self.free).push(index);
        closed.ok_or(ReturnCode::SessionHandleInvalid)
    }

    /// Runs something short on a session, under its lock.
    ///
    /// # Errors
    /// [`ReturnCode::SessionHandleInvalid`], and the error of `action`.
    pub(crate) fn with<T>(
        &self,
        session: SessionHandle,
        action: impl FnOnce(&mut Session) -> Result<T, ReturnCode>,
    ) -> Result<T, ReturnCode> {
        let (_, entry) = self.find(session)?;
        let mut entry = lock_valid(&entry, session)?;
        action(entry.session.as_mut().ok_or(ReturnCode::SessionHandleInvalid)?)
    }

    /// Returns the handles of all sessions of a slot.
    pub(crate) fn handles(&self, slot: usize) -> Vec<SessionHandle> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner).clone();
        let open = entries.iter().zip(0_u32..).filter_map(|(entry, index)| {
            let entry = lock(entry);
            entry.session.as_ref().filter(|session| session.slot == slot)?;
            Some(handle(index, entry.generation))
        });
        open.collect()
    }

    fn find(&self, session: SessionHandle) -> Result<(u32, Arc<Mutex<SessionEntry>>), ReturnCode> {
        let invalid = ReturnCode::SessionHandleInvalid;
        let index = (session.0 as u32).checked_sub(1).ok_or(invalid)?;
        Ok((index, self.entry(index).ok_or(invalid)?))
    }

    fn entry(&self, index: u32) -> Option<Arc<Mutex<SessionEntry>>> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        entries.get(index as usize).cloned()
    }
}

fn handle(index: u32, generation: u32) -> SessionHandle {
    SessionHandle(u64::from(generation) << 32 | u64::from(index + 1))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn lock_valid(
    entry: &Mutex<SessionEntry>,
    session: SessionHandle,
) -> Result<MutexGuard<'_, SessionEntry>, ReturnCode> {
    let entry = lock(entry);
    let is_current = u64::from(entry.generation) == session.0 >> 32 && entry.session.is_some();
    if is_current { Ok(entry) } else { Err(ReturnCode::SessionHandleInvalid) }
}
