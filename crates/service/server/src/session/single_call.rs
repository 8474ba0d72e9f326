//! The session of a single call. Its keys stay as they are until its end, even if the files change meanwhile.

use std::sync::Arc;

use oarlock_wire::proto::{self, Blame, Code, Fault, RecordResults, Request, open_key, request, response};

use super::{ClientSession, HeldAnswer, refusal};
use crate::budget::HeldBytes;
use crate::call::GrpcCall;
use crate::clients::KnownClient;
use crate::service::SharedService;

/// A call that opens its keys by name and makes one request under them. Grants, limits, the audit log and metrics see
/// the same operations as in a stream.
pub(crate) struct SingleCall {
    session: ClientSession,
    call: Arc<GrpcCall>,
    next_handle: u32,
}

impl SingleCall {
    pub(crate) fn new(service: &Arc<SharedService>, client: KnownClient, call: Arc<GrpcCall>) -> Self {
        let session = ClientSession { is_one_call: true, ..ClientSession::new(Arc::clone(service), client) };
        Self { session, call, next_handle: 0 }
    }

    /// Opens a resident key under the next handle, from 0.
    pub(crate) async fn open_key(&mut self, name: String) -> Result<(), Fault> {
        let handle = self.next_handle;
        self.next_handle += 1;
        let source = Some(open_key::Source::Resident(name));
        let body = request::Body::OpenKey(proto::OpenKey { handle, source, ..proto::OpenKey::default() });
        match self.answer(body).await? {
            response::Body::Key(_) => Ok(()),
            _ => Err(no_answer()),
        }
    }

    /// Runs a batch of records.
    pub(crate) async fn run_records(&mut self, records: proto::Records) -> Result<RecordResults, Fault> {
        match self.answer(request::Body::Records(records)).await? {
            response::Body::RecordResults(results) => Ok(results),
            _ => Err(no_answer()),
        }
    }

    /// Answers a request. The bytes of its answer are held until the call has ended.
    pub(crate) async fn answer(&mut self, body: request::Body) -> Result<response::Body, Fault> {
        // The request itself is held by its call.
        let held = HeldBytes::none(&self.session.client.account.bytes);
        let HeldAnswer { response, held } =
            self.session.start(Request { id: 0, body: Some(body) }, held).await;
        self.call.keep(held);
        match response.body {
            Some(response::Body::Fault(fault)) => Err(fault),
            Some(body) => Ok(body),
            None => Err(no_answer()),
        }
    }
}

/// Returns the fault of an answer of another kind than the request's.
pub(crate) fn no_answer() -> Fault {
    refusal(Code::Failed, "the server has no answer", Blame::Machine)
}
