//! `ASYNC_JOB`: a fibre pauses while its operation is done elsewhere, and is resumed when a descriptor is readable.
//! ASYNC_start_job(3), ASYNC_WAIT_CTX_new(3).
//!
//! A paused fibre may never be resumed: its connection was torn down. Nothing on its stack is dropped then, so what a paused
//! operation owns lives in the wait context, which the application frees: the operation is cancelled there and its descriptor closed.

use std::ffi::{CStr, c_int, c_void};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use oarlock_ffi::{Alarm, Event, Gate, guard};
use rustix::event::{PollFd, PollFlags, poll};
use zeroize::Zeroizing;

use super::core::Core;
use crate::config::Mode;
use crate::error::Failure;
use crate::work::{Flight, Provider};

/// OpenSSL's functions for jobs, where the library that loaded this provider exports them.
pub(crate) struct Waits(Option<Functions>);

#[derive(Clone, Copy)]
struct Functions {
    current_job: unsafe extern "C" fn() -> *mut c_void,
    wait_ctx: unsafe extern "C" fn(*mut c_void) -> *mut c_void,
    pause: unsafe extern "C" fn() -> c_int,
    set_fd: unsafe extern "C" fn(*mut c_void, *const c_void, c_int, *mut c_void, Cleanup) -> c_int,
    get_fd: unsafe extern "C" fn(*mut c_void, *const c_void, *mut c_int, *mut *mut c_void) -> c_int,
}

type Cleanup = extern "C" fn(*mut c_void, *const c_void, c_int, *mut c_void);

/// A fibre that this code runs on.
pub(crate) struct Fibre<'p> {
    functions: Functions,
    provider: &'p Provider,
    /// `ASYNC_WAIT_CTX`.
    context: *mut c_void,
}

/// What a wait context keeps for this provider: one descriptor for its whole life, and the operation in flight. Event loops keep
/// tables by descriptor, so it is never closed and opened anew between operations.
struct Slot {
    event: Arc<Event>,
    /// Where connections are waited for as well.
    outside: Option<Outside>,
    flight: Mutex<Option<Flight>>,
}

/// What a connection to the cryptoserver is waited for with. The gate is the descriptor then.
struct Outside {
    gate: Gate,
    /// For when no answer comes.
    alarm: Alarm,
}

/// Their addresses are the keys of descriptors in a wait context, one for each mode.
static KEYS: [u8; 2] = [0; 2];

impl Waits {
    /// Looks for the functions in the library that the core's functions are of, so that several libraries in one process are not mixed.
    pub(crate) fn find(core: &Core) -> Self {
        let Some(object) = Object::of(core.some_function) else { return Self(None) };
        let all = [
            c"ASYNC_get_current_job",
            c"ASYNC_get_wait_ctx",
            c"ASYNC_pause_job",
            c"ASYNC_WAIT_CTX_set_wait_fd",
            c"ASYNC_WAIT_CTX_get_fd",
        ]
        .map(|name| object.function(name));
        if all.contains(&std::ptr::null_mut()) {
            return Self(None);
        }
        // SAFETY: functions of these types, in this order: `openssl/async.h`.
        Self(Some(unsafe { std::mem::transmute::<[*mut c_void; 5], Functions>(all) }))
    }

    /// The fibre that this thread is on; None outside of jobs.
    pub(crate) fn current<'p>(&self, provider: &'p Provider) -> Option<Fibre<'p>> {
        let functions = self.0?;
        // SAFETY: may be called anywhere; null outside of jobs.
        let job = unsafe { (functions.current_job)() };
        if job.is_null() {
            return None;
        }
        // SAFETY: the job that runs this code.
        let context = unsafe { (functions.wait_ctx)(job) };
        (!context.is_null()).then_some(Fibre { functions, provider, context })
    }
}

/// A loaded library, or the program itself where it has the library within and exports its functions.
struct Object {
    handle: *mut c_void,
    base: *mut c_void,
}

impl Object {
    /// The one that an address is in.
    fn of(address: *const c_void) -> Option<Self> {
        let (base, file) = place_of(address)?;
        // SAFETY: the name is that of a loaded object; it is not loaded anew.
        let mut handle = unsafe { libc::dlopen(file, libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        if handle.is_null() {
            // SAFETY: null stands for the program and what it was linked with.
            handle = unsafe { libc::dlopen(std::ptr::null(), libc::RTLD_LAZY) };
        }
        (!handle.is_null()).then_some(Self { handle, base })
    }

    /// Null where it has none of this name: one of another object is not meant.
    fn function(&self, name: &CStr) -> *mut c_void {
        // SAFETY: a handle of `dlopen`, and a name that ends with zero.
        let found = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        let is_own = !found.is_null() && place_of(found).is_some_and(|(base, _)| base == self.base);
        if is_own { found } else { std::ptr::null_mut() }
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        // The library stays loaded as long as its provider: the handle was only for the look.
        // SAFETY: of `dlopen`, given back once.
        unsafe { libc::dlclose(self.handle) };
    }
}

/// Where the object that an address is in begins, and the name of its file.
fn place_of(address: *const c_void) -> Option<(*mut c_void, *const std::ffi::c_char)> {
    let mut about = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address may be asked about; the place is one for the answer.
    let is_known = unsafe { libc::dladdr(address, about.as_mut_ptr()) } != 0;
    // SAFETY: all zeros is a value of this type, and the call fills it in where it succeeds.
    let about = unsafe { about.assume_init() };
    (is_known && !about.dli_fname.is_null()).then_some((about.dli_fbase, about.dli_fname))
}

impl Fibre<'_> {
    /// Pauses until the operation has ended. Without a descriptor it blocks, and says so once.
    pub(crate) fn finish(&self, flight: Flight) -> Result<Zeroizing<Vec<u8>>, Failure> {
        let slot = match self.known() {
            Some(slot) => {
                slot.begin(flight, self.provider.patience());
                slot
            }
            None => match self.begin(flight) {
                Ok(slot) => slot,
                Err(ended) => return ended,
            },
        };
        let mut idle_resumes = 0;
        loop {
            if let Some(answer) = slot.poll() {
                return answer;
            }
            // A job that may not pause, or is resumed over and over, waits instead of spinning.
            if idle_resumes > MAX_IDLE_RESUMES {
                slot.block();
            }
            idle_resumes += 1;
            self.pause();
        }
    }

    /// The first operation of a connection that has to pause, and has paused once. What ends before needs no descriptor, and must not
    /// have one: an application hears of descriptors when a job pauses, and closes those that it has never heard of wrongly (HAProxy).
    fn begin(&self, flight: Flight) -> Result<&Slot, Result<Zeroizing<Vec<u8>>, Failure>> {
        let slot = match Slot::new(self.provider.mode() == Mode::Service) {
            Ok(slot) => Box::new(slot),
            Err(error) => {
                self.provider.say_blocking(&error);
                return Err(flight.wait());
            }
        };
        slot.begin(flight, self.provider.patience());
        if let Some(answer) = slot.poll() {
            return Err(answer);
        }
        let slot = self.register(slot)?;
        self.pause();
        Ok(slot)
    }

    /// What the wait context keeps for this provider.
    fn known(&self) -> Option<&Slot> {
        let (mut fd, mut data) = (-1, std::ptr::null_mut());
        // SAFETY: this job's wait context, and places for the answers.
        let is_known = unsafe { (self.functions.get_fd)(self.context, self.key(), &mut fd, &mut data) } == 1;
        // SAFETY: put there by `register`, and dropped with the context, after which its job is not resumed.
        is_known.then(|| unsafe { data.cast::<Slot>().as_ref() }).flatten()
    }

    fn register(&self, slot: Box<Slot>) -> Result<&Slot, Result<Zeroizing<Vec<u8>>, Failure>> {
        let fd = slot.fd().as_raw_fd();
        let data = Box::into_raw(slot);
        // SAFETY: this job's wait context; `forget` takes the slot back when the context is freed.
        if unsafe { (self.functions.set_fd)(self.context, self.key(), fd, data.cast(), forget) } == 1 {
            // SAFETY: of `Box::into_raw`, as long as the context lives.
            return Ok(unsafe { &*data });
        }
        // SAFETY: of `Box::into_raw` above, and given to nobody.
        let slot = unsafe { Box::from_raw(data) };
        self.provider.say_blocking(&std::io::ErrorKind::OutOfMemory.into());
        let flight = slot.lock().take();
        Err(flight.map_or_else(|| Err(oarlock::JobError::Cancelled.into()), Flight::wait))
    }

    /// Providers with different settings wait for different things.
    fn key(&self) -> *const c_void {
        (&raw const KEYS[usize::from(self.provider.mode() == Mode::Service)]).cast()
    }

    fn pause(&self) {
        // SAFETY: on the fibre of a job, with nothing borrowed that another fibre of this thread could change.
        unsafe { (self.functions.pause)() };
    }
}

/// After so many resumes without an answer a fibre blocks.
const MAX_IDLE_RESUMES: u32 = 16;

/// Called when a wait context is freed: ends what is in flight and closes the descriptor.
extern "C" fn forget(_context: *mut c_void, _key: *const c_void, _fd: c_int, data: *mut c_void) {
    let _ = guard(|| {
        // SAFETY: of `Box::into_raw` in `Fibre::register`; a context forgets its descriptors once.
        drop(unsafe { Box::from_raw(data.cast::<Slot>()) });
    });
}

impl Slot {
    fn new(is_outside: bool) -> std::io::Result<Self> {
        let event = Arc::new(Event::new()?);
        let outside = is_outside.then(|| Outside::new(&event)).transpose()?;
        Ok(Self { event, outside, flight: Mutex::new(None) })
    }

    fn fd(&self) -> BorrowedFd<'_> {
        match &self.outside {
            Some(outside) => outside.gate.as_fd(),
            None => self.event.as_fd(),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Flight>> {
        self.flight.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, flight: Flight, patience: Duration) {
        if let (Flight::Service(_), Some(outside)) = (&flight, &self.outside) {
            // A little later than the flight itself gives up, so that it has.
            outside.alarm.set(patience + Duration::from_millis(1));
        }
        *self.lock() = Some(flight);
    }

    /// The answer; where there is none yet, the descriptor becomes readable with it.
    fn poll(&self) -> Option<Result<Zeroizing<Vec<u8>>, Failure>> {
        // Before the look, so that no signal behind it is lost.
        self.event.reset();
        let mut place = self.lock();
        let flight = place.as_mut()?;
        if let (Flight::Service(pending), Some(outside)) = (&*flight, &self.outside) {
            outside.gate.leave(&**pending);
        }
        let mut answer = flight.poll(&self.event);
        if let (None, Flight::Service(pending), Some(outside)) = (&answer, &*flight, &self.outside) {
            // It may be another connection than before.
            answer = outside.gate.watch(&**pending).err().map(|error| Err(error.into()));
        }
        if answer.is_some() {
            *place = None;
            if let Some(outside) = &self.outside {
                outside.alarm.clear();
            }
        }
        answer
    }

    fn block(&self) {
        // Interrupted by a signal, the look comes early: no harm.
        let _ = poll(&mut [PollFd::from_borrowed_fd(self.fd(), PollFlags::IN)], None);
    }
}

impl Outside {
    fn new(event: &Event) -> std::io::Result<Self> {
        let outside = Self { gate: Gate::new()?, alarm: Alarm::new()? };
        outside.gate.watch(event)?;
        outside.gate.watch(&outside.alarm)?;
        Ok(outside)
    }
}
