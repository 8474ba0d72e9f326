//! What a filter is: called step by step, on one connection at a time.

use std::future::{Future, ready};

use super::macros::MacroTable;
use crate::protocol::{Actions, ConnectInfo, EnvelopeAddress, MacroStage, MessageChange, SmtpReply, Steps};

/// What is to become of a message, or at the first two steps of all messages of the connection.
///
/// At a step for which [`FilterWants::steps`] said that no reply would come, it is kept and given at the next step that has one; what was
/// said of a recipient then holds for the message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FilterAction {
    /// Go on; at the end of the message: deliver it.
    #[default]
    Continue,
    /// Deliver it without asking further.
    Accept,
    /// Refuse it for good; at a recipient, that one.
    Reject,
    /// Refuse it for now; at a recipient, that one.
    Tempfail,
    /// Refuse it with these words; at a recipient, that one.
    Reply(SmtpReply),
    /// Take it and throw it away.
    Discard,
    /// No more of the body; elsewhere: go on.
    Skip,
}

impl FilterAction {
    /// True where no step follows.
    #[must_use]
    pub fn is_final(&self) -> bool {
        !matches!(self, Self::Continue | Self::Skip)
    }

    /// True where the message, or the recipient, is refused.
    #[must_use]
    pub fn refuses(&self) -> bool {
        matches!(self, Self::Reject | Self::Tempfail | Self::Reply(_))
    }
}

/// What comes of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilterVerdict {
    /// What is done to it, in this order. A message that is refused or discarded is left as it is.
    pub changes: Vec<MessageChange>,
    /// Whether it is taken.
    pub action: FilterAction,
}

/// What a filter wants of an MTA.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilterWants {
    /// Changes that it may ask for.
    pub actions: Actions,
    /// Steps that it does not need (`NO_*`) or does not answer (`NO_REPLY_*`), so that no MTA waits for them, and additions:
    /// [`Steps::SKIP`], [`Steps::LEADING_SPACE`], [`Steps::REJECTED_RECIPIENTS`].
    pub steps: Steps,
    /// Names of macros between spaces, where those of the MTA's configuration will not do.
    pub macros: Vec<(MacroStage, String)>,
}

/// What was agreed on: what the filter wants, as far as the MTA offers it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgreedOptions {
    /// Of the protocol, 2 to 6.
    pub version: u32,
    /// Changes that will be made. Others that a verdict names are left out, and counted.
    pub actions: Actions,
    /// What is left out and added.
    pub steps: Steps,
}

impl AgreedOptions {
    /// True where header values come as they are in the message, from the colon on. Else the MTA has taken away one space, if there was
    /// one, and which of both nobody can tell.
    #[must_use]
    pub fn has_leading_space(&self) -> bool {
        self.steps.contains(Steps::LEADING_SPACE)
    }
}

/// The kind of socket over which an MTA has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MtaSocket {
    /// Over TCP: any process that reaches the port can be it.
    Tcp,
    /// Over a UNIX socket, as this user by what the system says.
    Unix {
        /// The user.
        uid: u32,
    },
}

impl MtaSocket {
    /// True for a process of this machine whose user is known.
    #[must_use]
    pub fn is_unix(self) -> bool {
        matches!(self, Self::Unix { .. })
    }
}

/// Makes filters.
pub trait FilterFactory: Send + Sync + 'static {
    /// What it makes.
    type Filter: MessageFilter + Send + 'static;

    /// What all of them want.
    fn wants(&self) -> FilterWants;

    /// A filter for one SMTP connection of an MTA that came over `socket`.
    fn filter(&self, socket: MtaSocket) -> Self::Filter;
}

/// What is done with the messages of one SMTP connection. Methods that are not written let everything pass.
///
/// Steps come in the order of the methods; `header`, `body` and `recipient` several times, and after a message the next one may begin.
/// After an action that is final (other than for one recipient) no more of that message comes.
pub trait MessageFilter {
    /// What was agreed on with the MTA, before anything else. False: hang up, and the MTA does what it does without a filter.
    fn accepts(&mut self, _agreed: &AgreedOptions) -> bool {
        true
    }

    /// A client has connected.
    fn connect(&mut self, _connect: &ConnectInfo<'_>, _macros: &MacroTable) -> FilterAction {
        FilterAction::Continue
    }

    /// HELO or EHLO.
    fn helo(&mut self, _name: &[u8], _macros: &MacroTable) -> FilterAction {
        FilterAction::Continue
    }

    /// A message begins.
    fn mail(&mut self, _from: &EnvelopeAddress<'_>, _macros: &MacroTable) -> FilterAction {
        FilterAction::Continue
    }

    /// One recipient.
    fn recipient(&mut self, _to: &EnvelopeAddress<'_>, _macros: &MacroTable) -> FilterAction {
        FilterAction::Continue
    }

    /// DATA.
    fn data(&mut self, _macros: &MacroTable) -> FilterAction {
        FilterAction::Continue
    }

    /// One header, its value without the line end. See [`AgreedOptions::has_leading_space`].
    fn header(&mut self, _name: &[u8], _value: &[u8]) -> FilterAction {
        FilterAction::Continue
    }

    /// No more headers.
    fn end_of_headers(&mut self, _macros: &MacroTable) -> FilterAction {
        FilterAction::Continue
    }

    /// A piece of the body, cut anywhere, with CRLF at line ends.
    fn body(&mut self, _chunk: &[u8]) -> FilterAction {
        FilterAction::Continue
    }

    /// The message is all there. While this takes long the MTA is asked for patience. Dropped where the connection is cut.
    fn end_of_message(&mut self, _macros: &MacroTable) -> impl Future<Output = FilterVerdict> + Send {
        ready(FilterVerdict::default())
    }

    /// The message that has begun comes to no end: what was kept of it may go. Called too where this filter's own action ended it
    /// before its time, and where the connection is lost.
    fn abort(&mut self) {}

    /// A command that the MTA does not know, at any time.
    fn unknown(&mut self, _command: &[u8]) -> FilterAction {
        FilterAction::Continue
    }
}
