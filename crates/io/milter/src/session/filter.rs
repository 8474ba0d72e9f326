//! The traits of a filter. It is called step by step, on one connection at a time.

use std::future::{Future, ready};

use super::macros::MacroTable;
use crate::protocol::{Actions, ConnectInfo, EnvelopeAddress, MacroStage, MessageChange, SmtpReply, Steps};

/// The action of a filter for a message. At the first two steps it is for all messages of the connection.
///
/// If [`FilterWants::steps`] opted out of the reply of a step, the action is kept and sent with the next reply. An
/// action for a recipient then applies to the whole message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FilterAction {
    /// Continues. At the end of a message: delivers it.
    #[default]
    Continue,
    /// Delivers the message without asking further.
    Accept,
    /// Rejects for good. At a recipient: only that recipient.
    Reject,
    /// Rejects for now. At a recipient: only that recipient.
    Tempfail,
    /// Rejects with this text. At a recipient: only that recipient.
    Reply(SmtpReply),
    /// Accepts and discards the message.
    Discard,
    /// Ends the body. At other steps: continues.
    Skip,
}

impl FilterAction {
    /// Returns true if no further step follows.
    #[must_use]
    pub(crate) fn is_final(&self) -> bool {
        !matches!(self, Self::Continue | Self::Skip)
    }

    /// Returns true if the message or the recipient is rejected.
    #[must_use]
    pub fn refuses(&self) -> bool {
        matches!(self, Self::Reject | Self::Tempfail | Self::Reply(_))
    }
}

/// The verdict of a filter on a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilterVerdict {
    /// The changes, in this order. They do not apply if the message is rejected or discarded.
    pub changes: Vec<MessageChange>,
    /// The action for the message.
    pub action: FilterAction,
}

/// The wishes of a filter for the negotiation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilterWants {
    /// The changes that the filter may ask for.
    pub actions: Actions,
    /// The steps that the filter does not need (`NO_*`) or does not reply to (`NO_REPLY_*`), which saves the MTA from
    /// waiting for it. Also the additions [`Steps::SKIP`], [`Steps::LEADING_SPACE`] and
    /// [`Steps::REJECTED_RECIPIENTS`].
    pub steps: Steps,
    /// The names of macros, separated by spaces, by stage. They replace the MTA's configuration.
    pub macros: Vec<(MacroStage, String)>,
}

/// The negotiated options: the filter's wishes, as far as the MTA offers them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgreedOptions {
    /// The protocol version, 2 to 6.
    pub version: u32,
    /// The changes that will be made. Other changes of a verdict are left out and counted.
    pub actions: Actions,
    /// The steps that are left out and added.
    pub steps: Steps,
}

impl AgreedOptions {
    /// Returns true if header values are complete from the colon on. Otherwise the MTA has removed a space if there
    /// was one, and the original value is unknown.
    #[must_use]
    pub fn has_leading_space(&self) -> bool {
        self.steps.contains(Steps::LEADING_SPACE)
    }
}

/// The kind of socket of an MTA's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MtaSocket {
    /// TCP: the MTA can be any process that reaches the port.
    Tcp,
    /// A UNIX socket. The system has reported the user.
    Unix {
        /// The number of the user.
        uid: u32,
    },
}

impl MtaSocket {
    /// Returns true for a process of this machine whose user is known.
    #[must_use]
    pub fn is_unix(self) -> bool {
        matches!(self, Self::Unix { .. })
    }
}

/// A factory of filters.
pub trait FilterFactory: Send + Sync + 'static {
    /// The type of filter.
    type Filter: MessageFilter + Send + 'static;

    /// Returns the wishes of all filters.
    fn wants(&self) -> FilterWants;

    /// Makes a filter for one SMTP connection of an MTA that connected over `socket`.
    fn filter(&self, socket: MtaSocket) -> Self::Filter;
}

/// A filter for the messages of one SMTP connection. The default methods let everything pass.
///
/// The methods are called in their order. `header`, `body` and `recipient` are called several times, and another
/// message may follow. After a final action, except for one recipient, the rest of the message is not passed.
pub trait MessageFilter {
    /// Accepts or declines the negotiated options, before any other call. If it returns false, the connection is
    /// closed, and the MTA proceeds without the filter.
    fn accepts(&mut self, _agreed: &AgreedOptions) -> bool {
        true
    }

    /// Handles a client's connection.
    fn connect(&mut self, _connect: &ConnectInfo<'_>, _macros: &MacroTable) -> FilterAction {
        FilterAction::Continue
    }

    /// Handles HELO or EHLO.
    fn helo(&mut self, _name: &[u8], _macros: &MacroTable) -> FilterAction {
        FilterAction::Continue
    }

    /// Handles the start of a message.
    fn mail(&mut self, _from: &EnvelopeAddress<'_>, _macros: &MacroTable) -> FilterAction {
        FilterAction::Continue
    }

    /// Handles one recipient.
    fn recipient(&mut self, _to: &EnvelopeAddress<'_>, _macros: &MacroTable) -> FilterAction {
        FilterAction::Continue
    }

    /// Handles DATA.
    fn data(&mut self, _macros: &MacroTable) -> FilterAction {
        FilterAction::Continue
    }

    /// Handles one header. Its value has no line end. See [`AgreedOptions::has_leading_space`].
    fn header(&mut self, _name: &[u8], _value: &[u8]) -> FilterAction {
        FilterAction::Continue
    }

    /// Handles the end of the headers.
    fn end_of_headers(&mut self, _macros: &MacroTable) -> FilterAction {
        FilterAction::Continue
    }

    /// Handles a piece of the body, split anywhere, with CRLF at line ends.
    fn body(&mut self, _chunk: &[u8]) -> FilterAction {
        FilterAction::Continue
    }

    /// Concludes the message. The server sends progress replies meanwhile. The future is dropped if the connection is
    /// cut.
    fn end_of_message(&mut self, _macros: &MacroTable) -> impl Future<Output = FilterVerdict> + Send {
        ready(FilterVerdict::default())
    }

    /// Abandons the message in progress. It is also called if the filter's own action ended the message early, and if
    /// the connection is lost.
    fn abort(&mut self) {}

    /// Handles a command that the MTA does not know, at any time.
    fn unknown(&mut self, _command: &[u8]) -> FilterAction {
        FilterAction::Continue
    }
}
