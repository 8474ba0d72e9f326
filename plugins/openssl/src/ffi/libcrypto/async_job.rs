//! `ASYNC_JOB`: a fibre pauses while its operation is pending, and the application resumes it when a descriptor is
//! readable. ASYNC_start_job(3), ASYNC_WAIT_CTX_new(3).
//!
//! A paused fibre may never be resumed, because its connection was closed. Nothing on its stack is dropped then. So the
//! wait context, which the application frees, owns everything that a paused operation has: freeing it cancels the
//! operation and closes the descriptor.

use std::ffi::{CStr, c_int, c_void};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use oarlock_ffi::{EventDescriptor, TimerDescriptor, WatchDescriptor, guard, print_line};
use rustix::event::{PollFd, PollFlags, poll};

use super::core::CoreHandle;
use crate::error::ProviderError;
use crate::pending::{ComputedOutput, PendingOperation};

type OperationResult = Result<ComputedOutput, ProviderError>;

/// The functions for jobs of the library that loaded this provider, if it exports them, and the provider's settings.
pub(crate) struct AsyncJobs {
    functions: Option<AsyncFunctions>,
    /// True if jobs pause for a cryptoserver too. Otherwise they block.
    is_service: bool,
    /// The time that an answer of the cryptoserver may take.
    patience: Duration,
    is_blocking_reported: AtomicBool,
}

/// The functions of `openssl/async.h`, in the order of [`FUNCTION_NAMES`]. An array of addresses becomes this
/// structure, so the order of its fields must be that of C.
#[repr(C)]
#[derive(Clone, Copy)]
struct AsyncFunctions {
    current_job: unsafe extern "C" fn() -> *mut c_void,
    wait_ctx: unsafe extern "C" fn(*mut c_void) -> *mut c_void,
    pause: unsafe extern "C" fn() -> c_int,
    set_fd: unsafe extern "C" fn(*mut c_void, *const c_void, c_int, *mut c_void, CleanupFunction) -> c_int,
    get_fd: unsafe extern "C" fn(*mut c_void, *const c_void, *mut c_int, *mut *mut c_void) -> c_int,
}

type CleanupFunction = unsafe extern "C" fn(*mut c_void, *const c_void, c_int, *mut c_void);

const FUNCTION_NAMES: [&CStr; 5] = [
    c"ASYNC_get_current_job",
    c"ASYNC_get_wait_ctx",
    c"ASYNC_pause_job",
    c"ASYNC_WAIT_CTX_set_wait_fd",
    c"ASYNC_WAIT_CTX_get_fd",
];

/// The fibre that the calling thread runs on.
pub(crate) struct JobFibre<'p> {
    jobs: &'p AsyncJobs,
    functions: AsyncFunctions,
    /// `ASYNC_WAIT_CTX`.
    context: *mut c_void,
}

/// The content of a wait context: one descriptor for its whole life, and the pending operation. Event loops
/// keep tables by descriptor, so the descriptor is not closed and opened again between operations, and programs such as
/// `openssl speed` wait for one only.
struct WaitSlot {
    event: Arc<EventDescriptor>,
    /// Present if operations may wait for a connection to the cryptoserver.
    service: Option<ServiceWait>,
    pending: Mutex<Option<PendingOperation>>,
}

/// The descriptors that wait for a connection to the cryptoserver. The slot's descriptor is `watch` then.
struct ServiceWait {
    watch: WatchDescriptor,
    /// Wakes the fibre if no answer comes.
    timer: TimerDescriptor,
}

/// The addresses of these bytes are the keys of descriptors in a wait context, one for each kind of slot.
static KEYS: [u8; 2] = [0; 2];

impl AsyncJobs {
    /// Looks for the functions in the library that the core's functions belong to. A process may have loaded several
    /// libraries, and functions of one must not meet jobs of another.
    pub(crate) fn find(core: &CoreHandle, is_service: bool, patience: Duration) -> Self {
        let functions = LoadedObject::containing(core.some_function)
            .map(|object| FUNCTION_NAMES.map(|name| object.function(name)))
            .filter(|all| !all.contains(&std::ptr::null_mut()))
            // SAFETY: functions of these types, in the order of the fields, which `repr(C)` keeps: `openssl/async.h`.
            .map(|all| unsafe { std::mem::transmute::<[*mut c_void; 5], AsyncFunctions>(all) });
        Self { functions, is_service, patience, is_blocking_reported: AtomicBool::new(false) }
    }

    /// Returns the fibre that this thread runs on, or None outside of jobs.
    pub(crate) fn current(&self) -> Option<JobFibre<'_>> {
        let functions = self.functions?;
        // SAFETY: may be called anywhere; null outside of jobs.
        let job = unsafe { (functions.current_job)() };
        if job.is_null() {
            return None;
        }
        // SAFETY: the job that runs this code.
        let context = unsafe { (functions.wait_ctx)(job) };
        (!context.is_null()).then_some(JobFibre { jobs: self, functions, context })
    }

    /// Warns once that jobs block, because there is no descriptor to wait for.
    fn report_blocking(&self, reason: &std::io::Error) {
        // Relaxed is enough: the flag guards no other memory.
        if !self.is_blocking_reported.swap(true, Ordering::Relaxed) {
            print_line(&format!("jobs block instead of pausing: no descriptor to wait for: {reason}"));
        }
    }
}

/// A loaded library, or the program itself if the library is linked into it.
struct LoadedObject {
    handle: *mut c_void,
    base: *mut c_void,
}

impl LoadedObject {
    /// Finds the object that contains an address.
    fn containing(address: *const c_void) -> Option<Self> {
        let (base, file) = object_of_address(address)?;
        // SAFETY: the name is that of a loaded object; it is not loaded again.
        let mut handle = unsafe { libc::dlopen(file, libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        if handle.is_null() {
            // SAFETY: null stands for the program and the libraries that it was linked with.
            handle = unsafe { libc::dlopen(std::ptr::null(), libc::RTLD_LAZY) };
        }
        (!handle.is_null()).then_some(Self { handle, base })
    }

    /// Returns the address of a function, or null if the object itself has no function of this name. `dlsym` also
    /// searches the object's dependencies, whose functions belong to another library.
    fn function(&self, name: &CStr) -> *mut c_void {
        // SAFETY: a handle of `dlopen`, and a name that ends with zero.
        let found = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        // A process may have a second libcrypto, linked by another library. Its jobs are not those of ours.
        let is_own = !found.is_null() && object_of_address(found).is_some_and(|(base, _)| base == self.base);
        if is_own { found } else { std::ptr::null_mut() }
    }
}

impl Drop for LoadedObject {
    fn drop(&mut self) {
        // The library outlives its provider, so its functions stay valid without this handle.
        // SAFETY: of `dlopen`, given back once.
        unsafe { libc::dlclose(self.handle) };
    }
}

/// Returns the base address and the file name of the object that contains an address.
fn object_of_address(address: *const c_void) -> Option<(*mut c_void, *const std::ffi::c_char)> {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: `dladdr` accepts any address, and the second argument points at a structure of its type.
    let is_known = unsafe { libc::dladdr(address, info.as_mut_ptr()) } != 0;
    // SAFETY: all zeros is a value of this type, and the call fills it in if it succeeds.
    let info = unsafe { info.assume_init() };
    (is_known && !info.dli_fname.is_null()).then_some((info.dli_fbase, info.dli_fname))
}

impl JobFibre<'_> {
    /// Pauses until the operation has ended. Without a descriptor it blocks and prints a warning once.
    pub(crate) fn finish(&self, pending: PendingOperation) -> OperationResult {
        if matches!(pending, PendingOperation::Service(_)) && !self.jobs.is_service {
            return pending.wait();
        }
        let slot = match self.registered_slot() {
            Some(slot) => {
                slot.begin(pending, self.jobs.patience);
                slot
            }
            None => match self.begin_first(pending) {
                Ok(slot) => slot,
                Err(result) => return result,
            },
        };
        let mut idle_resumes = 0;
        loop {
            if let Some(result) = slot.poll() {
                return result;
            }
            // A job that may not pause, or that is resumed again and again, waits here instead of spinning.
            if idle_resumes > MAX_IDLE_RESUMES {
                slot.block();
            }
            idle_resumes += 1;
            self.pause();
        }
    }

    /// Begins the first operation of a connection and pauses once. An operation that ends before the pause must not
    /// register a descriptor: applications learn of descriptors when a job pauses, and HAProxy mishandles those that it
    /// learns of later.
    fn begin_first(&self, pending: PendingOperation) -> Result<&WaitSlot, OperationResult> {
        let slot = match WaitSlot::new(self.jobs.is_service) {
            Ok(slot) => Box::new(slot),
            Err(error) => {
                self.jobs.report_blocking(&error);
                return Err(pending.wait());
            }
        };
        slot.begin(pending, self.jobs.patience);
        if let Some(result) = slot.poll() {
            return Err(result);
        }
        let slot = self.register(slot)?;
        self.pause();
        Ok(slot)
    }

    /// Returns the slot that an earlier operation registered in the wait context.
    fn registered_slot(&self) -> Option<&WaitSlot> {
        let (mut fd, mut data) = (-1, std::ptr::null_mut());
        let key = self.key();
        // SAFETY: this job's wait context, and places for the answers.
        let is_known = unsafe { (self.functions.get_fd)(self.context, key, &mut fd, &mut data) } == 1;
        // SAFETY: put there by `register`, and dropped with the context, after which its job is not resumed.
        is_known.then(|| unsafe { data.cast::<WaitSlot>().as_ref() }).flatten()
    }

    fn register(&self, slot: Box<WaitSlot>) -> Result<&WaitSlot, OperationResult> {
        let fd = slot.fd().as_raw_fd();
        let data = Box::into_raw(slot);
        let key = self.key();
        // SAFETY: this job's wait context; `drop_slot` takes the slot back when the context is freed.
        if unsafe { (self.functions.set_fd)(self.context, key, fd, data.cast(), drop_slot) } == 1 {
            // SAFETY: of `Box::into_raw`, as long as the context lives.
            return Ok(unsafe { &*data });
        }
        // SAFETY: of `Box::into_raw` above, and given to nobody.
        let slot = unsafe { Box::from_raw(data) };
        self.jobs.report_blocking(&std::io::ErrorKind::OutOfMemory.into());
        let pending = slot.lock().take();
        Err(pending.map_or_else(|| Err(oarlock::JobError::Cancelled.into()), PendingOperation::wait))
    }

    /// Returns the key of this provider's descriptor. Providers with other settings wait for other descriptors.
    fn key(&self) -> *const c_void {
        (&raw const KEYS[usize::from(self.jobs.is_service)]).cast()
    }

    fn pause(&self) {
        // No lock is held here: another fibre of this thread could wait for it for ever. Inside ASYNC_block_pause(3)
        // the call returns at once, which `finish` counts.
        // SAFETY: on the fibre of a job, with nothing borrowed that another fibre of this thread could change.
        unsafe { (self.functions.pause)() };
    }
}

/// A fibre blocks after so many resumes without an answer.
const MAX_IDLE_RESUMES: u32 = 16;

/// Drops the slot of a wait context that is freed: cancels the pending operation and closes the descriptor.
unsafe extern "C" fn drop_slot(_context: *mut c_void, _key: *const c_void, _fd: c_int, data: *mut c_void) {
    let _ = guard(|| {
        // SAFETY: of `Box::into_raw` in `JobFibre::register`; a context cleans up each descriptor once.
        drop(unsafe { Box::from_raw(data.cast::<WaitSlot>()) });
    });
}

impl WaitSlot {
    fn new(is_service: bool) -> std::io::Result<Self> {
        let event = Arc::new(EventDescriptor::new()?);
        let service = is_service.then(|| ServiceWait::new(&event)).transpose()?;
        Ok(Self { event, service, pending: Mutex::new(None) })
    }

    fn fd(&self) -> BorrowedFd<'_> {
        match &self.service {
            Some(service) => service.watch.as_fd(),
            None => self.event.as_fd(),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<PendingOperation>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, pending: PendingOperation, patience: Duration) {
        if let (PendingOperation::Service(_), Some(service)) = (&pending, &self.service) {
            // The operation gives up after `patience`. The timer expires a little later, so that it finds the
            // operation ended.
            service.timer.set(patience + Duration::from_millis(1));
        }
        *self.lock() = Some(pending);
    }

    /// Returns the result if it is there. Otherwise the descriptor becomes readable with it.
    fn poll(&self) -> Option<OperationResult> {
        // The reset comes before the look: a signal that arrives after the look stays visible.
        self.event.reset();
        let mut slot = self.lock();
        let pending = slot.as_mut()?;
        if let (PendingOperation::Service(pending), Some(service)) = (&*pending, &self.service) {
            service.watch.unwatch(&**pending);
        }
        let mut result = pending.poll(&self.event);
        if let (None, PendingOperation::Service(pending), Some(service)) = (&result, &*pending, &self.service)
        {
            // A retried operation may use another connection than before.
            result = service.watch.watch(&**pending).err().map(|error| Err(error.into()));
        }
        if result.is_some() {
            // The descriptor stays registered. A timer that is left set would wake the next operation of the connection.
            *slot = None;
            if let Some(service) = &self.service {
                service.timer.clear();
            }
        }
        result
    }

    fn block(&self) {
        // A signal may end the wait early. The caller polls again in any case.
        let _ = poll(&mut [PollFd::from_borrowed_fd(self.fd(), PollFlags::IN)], None);
    }
}

impl ServiceWait {
    fn new(event: &EventDescriptor) -> std::io::Result<Self> {
        let service = Self { watch: WatchDescriptor::new()?, timer: TimerDescriptor::new()? };
        service.watch.watch(event)?;
        service.watch.watch(&service.timer)?;
        Ok(service)
    }
}
