//! The table of sessions: entries that are used again, each with a generation.

use std::fmt;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::active::{ClosedSession, Session};
use crate::constants::ReturnCode;
use crate::handle::SessionHandle;

/// The number of entries of the first chunk. Each further chunk has twice as many as the one before.
const FIRST_CHUNK: u64 = 16;
/// The number of chunks: entries have 32 bits in a handle.
const CHUNKS: usize = 28;

/// All sessions of a process.
pub(crate) struct SessionTable {
    // A chunk and an entry are made once and never move. So a look-up takes no lock and counts no reference.
    chunks: [OnceLock<EntryChunk>; CHUNKS],
    unused: Mutex<UnusedEntries>,
}

type EntryChunk = Box<[OnceLock<Box<Mutex<SessionEntry>>>]>;

#[derive(Default)]
struct UnusedEntries {
    /// The entries of closed sessions.
    closed: Vec<u32>,
    /// The number of entries that have served a session.
    used: u32,
}

#[derive(Debug, Default)]
struct SessionEntry {
    /// The number of sessions that the entry has served.
    generation: u32,
    is_open: bool,
    /// Changed in place: a new value would be moved here.
    session: Session,
}

impl SessionTable {
    /// Opens a session of a slot.
    ///
    /// # Errors
    /// [`ReturnCode::SessionCount`] after four thousand million sessions at a time.
    pub(crate) fn open(&self, slot: usize, flags: u64) -> Result<SessionHandle, ReturnCode> {
        let index = self.take_unused()?;
        let mut entry = lock(self.make_entry(index)?);
        entry.generation = entry.generation.wrapping_add(1);
        entry.is_open = true;
        (entry.session.slot, entry.session.flags) = (slot, flags);
        Ok(handle(index, entry.generation))
    }

    fn take_unused(&self) -> Result<u32, ReturnCode> {
        let mut unused = lock(&self.unused);
        if let Some(index) = unused.closed.pop() {
            return Ok(index);
        }
        let index = unused.used;
        unused.used = index.checked_add(1).ok_or(ReturnCode::SessionCount)?;
        Ok(index)
    }

    fn make_entry(&self, index: u32) -> Result<&Mutex<SessionEntry>, ReturnCode> {
        let (chunk, offset) = position(index);
        let entries = self.chunks.get(chunk).ok_or(ReturnCode::SessionCount)?;
        let entries = entries.get_or_init(|| (0..FIRST_CHUNK << chunk).map(|_| OnceLock::new()).collect());
        let entry = entries.get(offset).ok_or(ReturnCode::SessionCount)?;
        Ok(entry.get_or_init(Box::default))
    }

    /// Closes a session.
    ///
    /// # Errors
    /// [`ReturnCode::SessionHandleInvalid`].
    pub(crate) fn close(&self, session: SessionHandle) -> Result<ClosedSession, ReturnCode> {
        let (index, entry) = self.find(session)?;
        let mut entry = lock_open(entry, session)?;
        entry.is_open = false;
        let closed = entry.session.close();
        // Released before the other lock is taken, so that no thread holds both. Only then may another session get the
        // entry.
        drop(entry);
        lock(&self.unused).closed.push(index);
        Ok(closed)
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
        action(&mut lock_open(entry, session)?.session)
    }

    /// Returns the handles of all sessions of a slot.
    pub(crate) fn handles(&self, slot: usize) -> Vec<SessionHandle> {
        let used = lock(&self.unused).used;
        let open = (0..used).filter_map(|index| {
            // `open` may have reserved an entry that it has not made yet. No session is in it.
            let entry = lock(self.entry(index)?);
            let is_meant = entry.is_open && entry.session.slot == slot;
            is_meant.then(|| handle(index, entry.generation))
        });
        open.collect()
    }

    fn find(&self, session: SessionHandle) -> Result<(u32, &Mutex<SessionEntry>), ReturnCode> {
        let invalid = ReturnCode::SessionHandleInvalid;
        let index = (session.0 as u32).checked_sub(1).ok_or(invalid)?;
        Ok((index, self.entry(index).ok_or(invalid)?))
    }

    fn entry(&self, index: u32) -> Option<&Mutex<SessionEntry>> {
        let (chunk, offset) = position(index);
        self.chunks.get(chunk)?.get()?.get(offset)?.get().map(|entry| &**entry)
    }
}

impl Default for SessionTable {
    fn default() -> Self {
        Self { chunks: [const { OnceLock::new() }; CHUNKS], unused: Mutex::default() }
    }
}

impl fmt::Debug for SessionTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unused = lock(&self.unused);
        write!(f, "SessionTable({} open)", unused.used as usize - unused.closed.len())
    }
}

/// Returns the chunk of an entry, and its index there.
fn position(index: u32) -> (usize, usize) {
    // Chunk `n` begins at `FIRST_CHUNK * (2^n - 1)`.
    let shifted = u64::from(index) + FIRST_CHUNK;
    let chunk = shifted.ilog2() - FIRST_CHUNK.ilog2();
    (chunk as usize, (shifted - (FIRST_CHUNK << chunk)) as usize)
}

fn handle(index: u32, generation: u32) -> SessionHandle {
    SessionHandle(u64::from(generation) << 32 | (u64::from(index) + 1))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn lock_open(
    entry: &Mutex<SessionEntry>,
    session: SessionHandle,
) -> Result<MutexGuard<'_, SessionEntry>, ReturnCode> {
    let entry = lock(entry);
    let is_current = entry.is_open && u64::from(entry.generation) == session.0 >> 32;
    if is_current { Ok(entry) } else { Err(ReturnCode::SessionHandleInvalid) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_fill_chunks_one_after_the_other() {
        assert_eq!(position(0), (0, 0));
        assert_eq!(position(15), (0, 15));
        assert_eq!(position(16), (1, 0));
        assert_eq!(position(47), (1, 31));
        assert_eq!(position(48), (2, 0));
        let last = FIRST_CHUNK * ((1 << CHUNKS) - 1) - 1;
        assert_eq!(position(last as u32), (CHUNKS - 1, (FIRST_CHUNK << (CHUNKS - 1)) as usize - 1));
        assert_eq!(position(u32::MAX).0, CHUNKS, "a handle outside of the table");
    }

    #[test]
    fn sessions_of_many_chunks_have_handles_of_their_own() {
        let table = SessionTable::default();
        // At least three chunks.
        let count = if cfg!(miri) { 50 } else { 200 };
        let opened: Vec<_> = (0..count).map(|slot| table.open(slot, 4).unwrap()).collect();
        for (slot, session) in opened.iter().enumerate() {
            assert_eq!(table.with(*session, |found| Ok(found.slot)), Ok(slot));
            assert_eq!(table.handles(slot), [*session]);
        }
        assert_eq!(format!("{table:?}"), format!("SessionTable({count} open)"));
    }

    #[test]
    fn threads_open_use_and_close_sessions_at_once() {
        let table = SessionTable::default();
        let rounds = if cfg!(miri) { 10 } else { 500 };
        std::thread::scope(|scope| {
            for slot in 0..3 {
                let table = &table;
                scope.spawn(move || {
                    for _ in 0..rounds {
                        let session = table.open(slot, 4).unwrap();
                        assert_eq!(table.with(session, |found| Ok(found.slot)), Ok(slot));
                        table.close(session).unwrap();
                        assert!(table.with(session, |_| Ok(())).is_err(), "a closed session came back");
                    }
                });
            }
        });
        assert_eq!(format!("{table:?}"), "SessionTable(0 open)");
    }
}
