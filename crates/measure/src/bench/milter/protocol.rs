//! The milter protocol as the bench needs it. A service above this crate speaks it, so whoever runs the bench provides it.

use std::fmt::Debug;

/// A mail filter's protocol.
pub trait FilterProtocol {
    /// An MTA's connection to a filter.
    type Session: MtaSession;
    /// A filter of this process. It ends when it is dropped.
    type Acceptor;

    /// Starts a filter on a thread of its own, at a port of localhost that the system chooses. It has everything sent to it, as
    /// a filter that verifies, and accepts it. Returns the address with the filter.
    ///
    /// # Errors
    /// The reason why the filter does not listen.
    fn start_acceptor(&self) -> Result<(String, Self::Acceptor), String>;

    /// Connects as an MTA to the filter at an address, negotiates and greets.
    ///
    /// # Errors
    /// The reason why the filter cannot be used.
    fn connect(&self, address: &str) -> impl Future<Output = Result<Self::Session, String>>;
}

/// An MTA's connection to a filter.
pub trait MtaSession: Send + 'static {
    /// The filter's answer to a message.
    type Answer: FilterAnswer;

    /// Sends a message and returns the answer.
    ///
    /// # Errors
    /// The reason why there is no answer.
    fn send(&mut self, message: &MtaMessage) -> impl Future<Output = Result<Self::Answer, String>> + Send;
}

/// A filter's answer to a message.
pub trait FilterAnswer: Debug {
    /// True if the message may pass.
    fn is_accepted(&self) -> bool;

    /// True if the filter inserts a header field of this name whose value contains `part`.
    fn inserts(&self, name: &[u8], part: &[u8]) -> bool;
}

/// A message as a filter gets it.
#[derive(Debug)]
pub struct MtaMessage {
    /// Names, and values from the colon on, with LF in folded lines.
    pub headers: Vec<(Vec<u8>, Vec<u8>)>,
    /// The body, with CRLF.
    pub body: Vec<u8>,
    /// True if the client that sends the message has authenticated itself, so that the filter signs.
    pub is_authenticated: bool,
}

/// A filter that runs already.
#[derive(Clone, Debug)]
pub struct ExternalFilter {
    /// Its address, as `inet:PORT@HOST` or `unix:PATH`.
    pub address: String,
    /// The number of its process, whose CPU time is counted.
    pub process: Option<u32>,
}
