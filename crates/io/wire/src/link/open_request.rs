//! A request for records that stays open.

use std::collections::BTreeMap;

use prost::Message;
use tokio::sync::mpsc;

use super::{LinkError, LinkSender, LinkWaiter, ServerLink, WaiterEntry};
use crate::proto::{AppendRecords, CloseRecords, OpenRecords, RecordResults, Request, request, response};

/// A request for records to which its client appends, and whose results come in the order of appending.
///
/// Dropping it abandons the results. The server closes what is open when the stream ends, and after
/// [`close`](Self::close) before.
#[derive(Debug)]
pub struct OpenRequest<'l> {
    link: &'l ServerLink,
    id: u64,
    _entry: WaiterEntry<'l>,
    answers: mpsc::UnboundedReceiver<crate::proto::Response>,
    /// The results that came before earlier ones, by the number of their first record.
    early: BTreeMap<u64, RecordResults>,
    appended: u64,
    received: u64,
    is_closed: bool,
}

impl ServerLink {
    /// Opens a request for records that stays open.
    ///
    /// # Errors
    /// The stream ended, or the server refused the request.
    pub async fn open_records(&self, open: OpenRecords) -> Result<OpenRequest<'_>, LinkError> {
        let id = self.next_id();
        let (sender, answers) = mpsc::unbounded_channel();
        let is_taken = self.shared.enter(id, LinkWaiter::Open(sender));
        let entry = WaiterEntry { shared: &self.shared, id, is_taken };
        let request = Request { id, body: Some(request::Body::OpenRecords(open)) };
        if !is_taken || !self.send(request).await {
            return Err(self.shared.lost());
        }
        let mut opened = OpenRequest {
            link: self,
            id,
            _entry: entry,
            answers,
            early: BTreeMap::new(),
            appended: 0,
            received: 0,
            is_closed: false,
        };
        match opened.next_answer().await? {
            response::Body::Opened(_) => Ok(opened),
            _ => Err(LinkError::Unexpected("that the request is open")),
        }
    }
}

impl OpenRequest<'_> {
    /// Appends records. Waits for space if the shared memory is full: the server makes space while it answers.
    ///
    /// # Errors
    /// The stream ended. What is wrong with the append itself is an error of [`results`](Self::results).
    pub async fn append(&mut self, records: AppendRecords) -> Result<(), LinkError> {
        let count = u64::from(records.count);
        let request = Request { id: self.id, body: Some(request::Body::AppendRecords(records)) };
        let is_sent = match &self.link.requests {
            LinkSender::Queue(queue) => queue.send(request).await.is_ok(),
            LinkSender::Ring(ring) if request.encoded_len() <= ring.max_len() => {
                ring.append(&request, &self.link.shared).await
            }
            LinkSender::Ring(ring) => {
                while self.received + self.early_records() < self.appended {
                    let answer = self.next_answer().await?;
                    self.keep(answer)?;
                }
                ring.append_by_socket(request).await
            }
        };
        if !is_sent {
            return Err(self.link.shared.lost());
        }
        self.appended += count;
        Ok(())
    }

    /// Returns the next results, in the order of appending; `None` if all appended records have theirs.
    ///
    /// # Errors
    /// The stream ended, or the server has refused an append, which closes the request.
    pub async fn results(&mut self) -> Result<Option<RecordResults>, LinkError> {
        loop {
            if let Some(results) = self.early.remove(&self.received) {
                self.received += u64::from(results.count);
                return Ok(Some(results));
            }
            if self.received >= self.appended {
                return Ok(None);
            }
            let answer = self.next_answer().await?;
            self.keep(answer)?;
        }
    }

    /// Returns the number of records that were appended and whose results have not been returned.
    #[must_use]
    pub fn under_way(&self) -> u64 {
        self.appended.saturating_sub(self.received)
    }

    /// Tells the server that no further records come. Results that are missing still come.
    ///
    /// # Errors
    /// The stream ended.
    pub async fn close(&mut self) -> Result<(), LinkError> {
        if std::mem::replace(&mut self.is_closed, true) {
            return Ok(());
        }
        let request = Request { id: self.id, body: Some(request::Body::CloseRecords(CloseRecords {})) };
        let is_sent = match &self.link.requests {
            LinkSender::Queue(queue) => queue.send(request).await.is_ok(),
            LinkSender::Ring(ring) => ring.append(&request, &self.link.shared).await,
        };
        if is_sent { Ok(()) } else { Err(self.link.shared.lost()) }
    }

    fn early_records(&self) -> u64 {
        self.early.values().map(|results| u64::from(results.count)).sum()
    }

    async fn next_answer(&mut self) -> Result<response::Body, LinkError> {
        let response = self.answers.recv().await.ok_or_else(|| self.link.shared.lost())?;
        match response.body {
            Some(response::Body::Fault(fault)) => Err(LinkError::Refused(fault)),
            Some(body) => Ok(body),
            None => Err(LinkError::Unexpected("an answer")),
        }
    }

    fn keep(&mut self, answer: response::Body) -> Result<(), LinkError> {
        match answer {
            // Results without records would never be reached.
            response::Body::RecordResults(results) if results.count > 0 && results.first >= self.received => {
                self.early.insert(results.first, results);
                Ok(())
            }
            response::Body::Closed(_) if self.is_closed => Ok(()),
            _ => Err(LinkError::Unexpected("results of appended records")),
        }
    }
}
