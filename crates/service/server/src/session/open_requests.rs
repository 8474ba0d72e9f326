//! Requests for records that stay open.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use oarlock_wire::MessageLimits;
use oarlock_wire::append::{AppendLayout, AppendSizes, compact};
use oarlock_wire::proto::{self, Blame, Code, Fault, response};

use super::faults::{refusal, too_many_bytes};
use super::records::AppendedRecords;
use super::{ClientSession, HANDLE_BYTES, PendingResponse, PendingWork, check_accepting};
use crate::budget::HeldBytes;

/// The maximum number of open requests of a stream.
const MAX_OPEN: usize = 64;

/// The maximum number of batches of an open request that are under way. While one is computed, records gather for the
/// next, and with two no engine waits for the answer to leave.
const MAX_UNDER_WAY: usize = 2;

/// The bytes of an append that is copied, so that it does not keep the buffer of its message alive.
const MAX_COPIED_BYTES: usize = 4096;

/// The open requests of a stream, by their numbers.
#[derive(Debug, Default)]
pub(super) struct OpenRequests {
    queues: BTreeMap<u64, AppendQueue>,
}

/// The appends of an open request that have not been begun.
#[derive(Debug)]
struct AppendQueue {
    layout: Arc<AppendLayout>,
    waiting: VecDeque<WaitingAppend>,
    /// The number of records that have been begun.
    begun: u64,
    /// Shared with each batch under way.
    under_way: Arc<()>,
    _held: HeldBytes,
}

#[derive(Debug)]
struct WaitingAppend {
    message: proto::AppendRecords,
    sizes: AppendSizes,
    held: HeldBytes,
}

/// The appends that are begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BegunAppends {
    /// Those of requests that have less than the maximum under way.
    WithinMaximum,
    /// All, because another request follows: requests are begun in their order.
    All,
}

impl ClientSession {
    pub(super) fn open_records(&mut self, id: u64, open: &proto::OpenRecords) -> Result<PendingWork, Fault> {
        if self.open.queues.contains_key(&id) {
            let message = "a request for records is open under this number";
            return Err(refusal(Code::Invalid, message, Blame::Caller));
        }
        if self.open.queues.len() >= MAX_OPEN {
            let message =
                format!("{MAX_OPEN} requests for records are open on this stream, which is the maximum");
            return Err(refusal(Code::ResourceExhausted, &message, Blame::Caller));
        }
        let layout = AppendLayout::read(open, &self.service.limits.wire()).map_err(|error| error.fault())?;
        let held = HeldBytes::new(&self.client.account.bytes, HANDLE_BYTES).map_err(too_many_bytes)?;
        let queue = AppendQueue {
            layout: Arc::new(layout),
            waiting: VecDeque::new(),
            begun: 0,
            under_way: Arc::default(),
            _held: held,
        };
        self.open.queues.insert(id, queue);
        Ok(PendingWork::ready(id, response::Body::Opened(proto::Opened {})))
    }

    pub(super) fn close_records(&mut self, id: u64) -> Result<PendingWork, Fault> {
        self.open.queues.remove(&id).ok_or_else(no_request)?;
        Ok(PendingWork::ready(id, response::Body::Closed(proto::Closed {})))
    }

    /// Appends records to an open request. Returns the fault that ends the request, if there is one.
    pub(super) fn append(
        &mut self,
        id: u64,
        message: proto::AppendRecords,
        mut held: HeldBytes,
    ) -> Result<(), Fault> {
        check_accepting(&self.service)?;
        let queue = self.open.queues.get_mut(&id).ok_or_else(no_request)?;
        let limits = self.service.limits.wire();
        let sizes = queue.layout.check(&message, &limits).map_err(|error| error.fault())?;
        let message = if held.len() <= MAX_COPIED_BYTES {
            compact(&message)
        } else {
            held.resize(held.len().max(super::records::MIN_MESSAGE_BYTES)).map_err(too_many_bytes)?;
            message
        };
        queue.waiting.push_back(WaitingAppend { message, sizes, held });
        Ok(())
    }

    /// Ends an open request that has a fault. Returns the answer.
    pub(super) fn end_records(&mut self, id: u64, fault: Fault) -> PendingResponse {
        self.open.queues.remove(&id);
        self.service.metrics.rejections.count(fault.code(), 1);
        let work = PendingWork::ready(id, response::Body::Fault(fault));
        PendingResponse { work, held: Some(HeldBytes::none(&self.client.account.bytes)) }
    }

    /// Returns true if appends wait that have not been begun.
    pub(super) fn has_appends(&self) -> bool {
        self.open.queues.values().any(|queue| !queue.waiting.is_empty())
    }

    /// Begins what has been appended, each request's records as one batch, or as several if one would exceed the limits
    /// of a message.
    pub(super) fn begin_appends(&mut self, begun: BegunAppends, mut each: impl FnMut(PendingResponse)) {
        // Most streams have no open request.
        if self.open.queues.is_empty() || !self.has_appends() {
            return;
        }
        self.prepare();
        let limits = self.service.limits.wire();
        let mut batches = Vec::new();
        for (id, queue) in &mut self.open.queues {
            while !queue.waiting.is_empty() && (begun == BegunAppends::All || queue.may_begin()) {
                let mut held = HeldBytes::none(&self.client.account.bytes);
                batches.push((*id, queue.take(&limits, &mut held), held));
            }
        }
        for (id, appended, mut held) in batches {
            let number = self.service.next_request_number();
            let work = self.start_appended(id, number, appended, &mut held);
            each(PendingResponse { work, held: Some(held) });
        }
    }
}

impl AppendQueue {
    fn may_begin(&self) -> bool {
        // One reference is the queue's own.
        Arc::strong_count(&self.under_way) <= MAX_UNDER_WAY
    }

    /// Takes as many waiting appends as a batch may have, at least one. Their bytes are held by `held` from now on.
    fn take(&mut self, limits: &MessageLimits, held: &mut HeldBytes) -> AppendedRecords {
        let (mut messages, mut sizes) = (Vec::new(), AppendSizes::default());
        while let Some(next) = self.waiting.front() {
            let sum = sizes.with(next.sizes);
            if !messages.is_empty() && !sum.fit(limits) {
                break;
            }
            let Some(next) = self.waiting.pop_front() else { break };
            sizes = sum;
            messages.push(next.message);
            held.merge(next.held);
        }
        let (layout, first) = (Arc::clone(&self.layout), self.begun);
        self.begun += sizes.records as u64;
        let under_way = Arc::clone(&self.under_way);
        AppendedRecords { layout, messages, sizes, first, _under_way: under_way }
    }
}

fn no_request() -> Fault {
    let message = "no request for records is open under this number";
    refusal(Code::Invalid, message, Blame::Caller)
}
