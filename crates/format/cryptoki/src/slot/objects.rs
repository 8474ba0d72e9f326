//! The objects of a slot: those of the token, as an index that is replaced on a change, and those of sessions.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Instant;

use crate::attribute::AttributeSet;
use crate::constants::{AttributeType as A, ObjectClass, ReturnCode};
use crate::handle::{ObjectHandle, SessionHandle};
use crate::object::{NewObject, Object, ObjectIndex, ObjectOrigin};
use crate::token::{TokenObject, TokenObjects};

/// The time in which a use of an object may miss a change by another process.
const MAX_STALENESS_MS: u64 = 100;

/// The profiles of PKCS#11 3.2 that the library follows: baseline provider, extended provider, authentication token.
const PROFILES: [u64; 3] = [1, 2, 3];

/// The objects of one slot.
#[derive(Debug)]
pub(crate) struct SlotObjects {
    token: Arc<dyn TokenObjects>,
    /// Never changed while somebody reads it. A reader keeps its version as long as it needs it.
    index: RwLock<Arc<ObjectIndex>>,
    /// Held during a write to the token, which may wait for the disk, so that own changes come one after the other.
    /// Taken before `version`.
    writes: Mutex<()>,
    /// The version of the token's data in the index. Held while the index is replaced, and never during a write.
    version: Mutex<Option<u64>>,
    session_objects: RwLock<ObjectIndex>,
    /// The time of the last look at the version of the data, in milliseconds since `start`.
    checked_ms: AtomicU64,
    start: Instant,
}

impl SlotObjects {
    pub(crate) fn new(token: Arc<dyn TokenObjects>) -> Self {
        Self {
            token,
            index: RwLock::default(),
            writes: Mutex::default(),
            version: Mutex::default(),
            session_objects: RwLock::default(),
            checked_ms: AtomicU64::new(0),
            start: Instant::now(),
        }
    }

    pub(crate) fn token(&self) -> &dyn TokenObjects {
        &*self.token
    }

    /// Returns the objects that match a search, in the order of their handles. Changes by other processes are seen.
    pub(crate) fn find(
        &self,
        wanted: &AttributeSet,
        sees_private: bool,
    ) -> Result<Vec<ObjectHandle>, ReturnCode> {
        self.refresh()?;
        let index = self.snapshot();
        let mut found = index.find(wanted, sees_private);
        let session_objects = self.session_objects.read().unwrap_or_else(PoisonError::into_inner);
        found.extend(session_objects.find(wanted, sees_private));
        Ok(found)
    }

    /// Returns an object that is visible.
    ///
    /// # Errors
    /// [`ReturnCode::ObjectHandleInvalid`], and the errors of the token.
    pub(crate) fn get(&self, handle: ObjectHandle, sees_private: bool) -> Result<Arc<Object>, ReturnCode> {
        let object = if is_session_object(handle) {
            let objects = self.session_objects.read().unwrap_or_else(PoisonError::into_inner);
            objects.get(handle).cloned()
        } else {
            self.refresh_if_stale()?;
            let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
            index.get(handle).cloned()
        };
        let visible = object.filter(|object| sees_private || !object.is_private());
        visible.ok_or(ReturnCode::ObjectHandleInvalid)
    }

    /// Adds new objects, all on the token or all in a session, and returns their handles.
    pub(crate) fn add(
        &self,
        new: Vec<NewObject>,
        session: SessionHandle,
    ) -> Result<Vec<ObjectHandle>, ReturnCode> {
        let new: Vec<_> = new.into_iter().map(with_unique_id).collect::<Result<_, _>>()?;
        // A key pair may have one half on the token and the other in the session.
        let (token, of_session): (Vec<_>, Vec<_>) =
            new.into_iter().zip(0..).partition(|(object, _)| object.attributes.is_true(A::TOKEN));
        let mut handles: Vec<(i32, ObjectHandle)> = self.add_to_token(token)?;
        let mut objects = self.session_objects.write().unwrap_or_else(PoisonError::into_inner);
        for (object, position) in of_session {
            let handle = new_handle(true);
            objects.insert(handle, Arc::new(entity(object, ObjectOrigin::Session(session))));
            handles.push((position, handle));
        }
        // Back to the order of the call: the first handle of a pair is the public key.
        handles.sort_unstable();
        Ok(handles.into_iter().map(|(_, handle)| handle).collect())
    }

    fn add_to_token(&self, new: Vec<(NewObject, i32)>) -> Result<Vec<(i32, ObjectHandle)>, ReturnCode> {
        if new.is_empty() {
            return Ok(Vec::new());
        }
        let contents: Vec<_> = new.iter().map(|(object, _)| object.content()).collect();
        let write = self.begin_write();
        let ids = self.token.create(&contents)?;
        // `zip` below would stop early, and objects would be missing without an error.
        if ids.len() != new.len() {
            return Err(ReturnCode::DeviceError);
        }
        let mut handles = Vec::with_capacity(new.len());
        write.end(|index| {
            for ((object, position), id) in new.into_iter().zip(ids) {
                // A search during the write may have read the object, which has a handle then, and may have changed
                // since.
                let handle = match index.handle_of(id) {
                    Some(handle) => {
                        if let Some(read) = index.get(handle) {
                            read.keep_secrets(object.key, object.private_value);
                        }
                        handle
                    }
                    None => {
                        let handle = new_handle(false);
                        index.insert(handle, Arc::new(entity(object, ObjectOrigin::Token(id))));
                        handle
                    }
                };
                handles.push((position, handle));
            }
        });
        Ok(handles)
    }

    /// Replaces the attributes of an object. Returns false, and changes nothing, if the object is no longer as the
    /// caller knows it.
    pub(crate) fn update(
        &self,
        handle: ObjectHandle,
        object: &Object,
        attributes: AttributeSet,
    ) -> Result<bool, ReturnCode> {
        let changed = Arc::new(object.with_attributes(attributes));
        match object.origin {
            ObjectOrigin::BuiltIn => Err(ReturnCode::ActionProhibited),
            ObjectOrigin::Session(_) => {
                let mut objects = self.session_objects.write().unwrap_or_else(PoisonError::into_inner);
                let now = objects.get(handle).ok_or(ReturnCode::ObjectHandleInvalid)?;
                // Compared under the lock under which it is replaced, so that no change of another thread is lost.
                if now.attributes != object.attributes {
                    return Ok(false);
                }
                objects.insert(handle, changed);
                Ok(true)
            }
            ObjectOrigin::Token(id) => {
                let write = self.begin_write();
                if !self.token.update(id, &object.attributes, &changed.attributes)? {
                    // The index is older than the token.
                    *self.lock_version() = None;
                    return Ok(false);
                }
                write.end(|index| index.insert(handle, changed));
                Ok(true)
            }
        }
    }

    /// Destroys an object.
    pub(crate) fn destroy(&self, handle: ObjectHandle, object: &Object) -> Result<(), ReturnCode> {
        match object.origin {
            ObjectOrigin::BuiltIn => Err(ReturnCode::ActionProhibited),
            ObjectOrigin::Session(_) => {
                let mut objects = self.session_objects.write().unwrap_or_else(PoisonError::into_inner);
                objects.remove(handle).map(drop).ok_or(ReturnCode::ObjectHandleInvalid)
            }
            ObjectOrigin::Token(id) => {
                let write = self.begin_write();
                // The token first: if it fails, the object must stay in the index too.
                self.token.destroy(id)?;
                write.end(|index| drop(index.remove(handle)));
                Ok(())
            }
        }
    }

    /// Removes the objects of a session that was closed.
    pub(crate) fn forget_session(&self, session: SessionHandle) {
        let origin = ObjectOrigin::Session(session);
        let mut objects = self.session_objects.write().unwrap_or_else(PoisonError::into_inner);
        objects.remove_if(|object| object.origin == origin);
    }

    /// Removes the private objects of sessions, and every opened key of the token.
    pub(crate) fn forget_private(&self) {
        let mut objects = self.session_objects.write().unwrap_or_else(PoisonError::into_inner);
        objects.remove_if(Object::is_private);
        // Released before the locks of the token, which a write may hold as long as the disk needs.
        drop(objects);
        // A write that has begun would put its object into the index later, with its key.
        let _writes = self.lock_writes();
        let mut version = self.lock_version();
        let mut index = (*self.snapshot()).clone();
        index.forget_secrets(|object| object.is_private() || object.class != ObjectClass::PUBLIC_KEY);
        self.replace(index);
        // The token lists other objects after a logout, so the next look must read them.
        *version = None;
    }

    /// Removes every object from memory, as if the slot were new.
    pub(crate) fn forget_all(&self) {
        *self.session_objects.write().unwrap_or_else(PoisonError::into_inner) = ObjectIndex::default();
        let _writes = self.lock_writes();
        let mut version = self.lock_version();
        self.replace(ObjectIndex::default());
        *version = None;
    }

    /// Reads the token's objects again if their version has changed.
    pub(crate) fn refresh(&self) -> Result<(), ReturnCode> {
        self.refresh_locked(&mut self.lock_version())
    }

    /// Reads the token's objects again: a login shows others.
    pub(crate) fn reload(&self) -> Result<(), ReturnCode> {
        let mut version = self.lock_version();
        *version = None;
        self.refresh_locked(&mut version)
    }

    fn refresh_locked(&self, version: &mut Option<u64>) -> Result<(), ReturnCode> {
        // Asked before the list: after a change in between, the version is older than the list, which only costs
        // another reading.
        let current = self.token.data_version()?;
        self.checked_ms.store(self.now_ms(), Ordering::Relaxed);
        if *version == Some(current) {
            return Ok(());
        }
        let listed = self.token.list()?;
        self.replace(rebuild(&self.snapshot(), listed));
        *version = Some(current);
        Ok(())
    }

    fn refresh_if_stale(&self) -> Result<(), ReturnCode> {
        // Relaxed: a late look only delays the next one.
        let checked = self.checked_ms.load(Ordering::Relaxed);
        if self.now_ms().saturating_sub(checked) <= MAX_STALENESS_MS {
            return Ok(());
        }
        // Another thread that reads the objects now does it for all.
        let Ok(mut version) = self.version.try_lock() else { return Ok(()) };
        self.refresh_locked(&mut version)
    }

    /// Begins a write to the token. Searches go on meanwhile.
    fn begin_write(&self) -> TokenWrite<'_> {
        let writes = self.lock_writes();
        TokenWrite { before: *self.lock_version(), objects: self, _writes: writes }
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn snapshot(&self) -> Arc<ObjectIndex> {
        Arc::clone(&self.index.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change(&self, change: impl FnOnce(&mut ObjectIndex)) {
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        // Copies the index only if a search reads it at this moment: a copy for each object would make the creation of
        // many objects quadratic.
        change(Arc::make_mut(&mut index));
    }

    fn replace(&self, index: ObjectIndex) {
        let new = Arc::new(index);
        let old = std::mem::replace(&mut *self.index.write().unwrap_or_else(PoisonError::into_inner), new);
        // Dropped after the lock: it may free thousands of objects.
        drop(old);
    }

    fn lock_writes(&self) -> MutexGuard<'_, ()> {
        self.writes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_version(&self) -> MutexGuard<'_, Option<u64>> {
        self.version.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A write to the token.
struct TokenWrite<'a> {
    objects: &'a SlotObjects,
    /// The version of the index at the beginning.
    before: Option<u64>,
    _writes: MutexGuard<'a, ()>,
}

impl TokenWrite<'_> {
    /// Makes the change in the index too, so that it does not cause a reading of all objects. A change by another
    /// process at the same time is read by the next search.
    fn end(self, change: impl FnOnce(&mut ObjectIndex)) {
        let objects = self.objects;
        let mut version = objects.lock_version();
        objects.change(change);
        // One more than before means that nobody else has changed the data, and that the index is complete without a
        // reading.
        *version = match (self.before, objects.token.data_version()) {
            // Another version: a search has read the objects during the write, and maybe the change, which another
            // process may have undone since.
            (Some(before), Ok(now)) if *version == self.before && now == before.wrapping_add(1) => Some(now),
            _ => None,
        };
    }
}

/// Builds the index of what a token lists. Objects keep their handles, and keys that are open stay so.
fn rebuild(earlier: &ObjectIndex, listed: Vec<TokenObject>) -> ObjectIndex {
    let mut index = ObjectIndex::default();
    for (profile, number) in PROFILES.iter().zip(0_u64..) {
        let attributes = [
            (A::CLASS, ObjectClass::PROFILE.0.into()),
            (A::TOKEN, true.into()),
            (A::PRIVATE, false.into()),
            (A::MODIFIABLE, false.into()),
            (A::DESTROYABLE, false.into()),
            (A::COPYABLE, false.into()),
            (A::LABEL, "".into()),
            (A::PROFILE_ID, (*profile).into()),
        ];
        let object = Object::new(attributes.into_iter().collect(), ObjectOrigin::BuiltIn);
        // Even numbers that no other object gets.
        index.insert(ObjectHandle(2 * (number + 1)), Arc::new(object));
    }
    for object in listed {
        let TokenObject { id, attributes, key } = object;
        let new = Object::new(attributes, ObjectOrigin::Token(id));
        let known = earlier.handle_of(id).and_then(|handle| Some((handle, earlier.get(handle)?)));
        let (handle, new) = match (known, key) {
            // A key from a file or a server comes anew with each list, and may be another one than before.
            (Some((handle, _)), key @ Some(_)) => (handle, new.with_key(key)),
            (Some((handle, known)), None) => (handle, new.with_secrets_of(known)),
            (None, key) => (new_handle(false), new.with_key(key)),
        };
        index.insert(handle, Arc::new(new));
    }
    index
}

fn entity(new: NewObject, origin: ObjectOrigin) -> Object {
    let object = Object::new(new.attributes, origin);
    object.keep_secrets(new.key, new.private_value);
    object
}

/// Gives an object its `CKA_UNIQUE_ID`: 16 random bytes in hexadecimal.
fn with_unique_id(mut object: NewObject) -> Result<NewObject, ReturnCode> {
    let mut bytes = [0; 16];
    aws_lc_rs::rand::fill(&mut bytes).map_err(|_| ReturnCode::RandomNoRng)?;
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    object.attributes.set(A::UNIQUE_ID, text.as_str());
    Ok(object)
}

/// Returns a handle that nothing has had. Session objects have odd ones, so that a look-up knows where to look.
fn new_handle(is_session_object: bool) -> ObjectHandle {
    // Shared by all slots of the process: a handle of one slot must not name an object of another. The first numbers
    // are those of profiles.
    static NEXT: AtomicU64 = AtomicU64::new(PROFILES.len() as u64 + 1);
    ObjectHandle(2 * NEXT.fetch_add(1, Ordering::Relaxed) + u64::from(is_session_object))
}

fn is_session_object(handle: ObjectHandle) -> bool {
    handle.0 % 2 == 1
}
