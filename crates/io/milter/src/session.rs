//! One connection as a state machine without I/O. It takes the MTA's commands and writes the filter's replies.
//!
//! | file | content |
//! |---|---|
//! | `session` | the state machine |
//! | `filter` | the filter's traits, wishes and verdicts |
//! | `step` | the order of commands |
//! | `macros` | the macros that an MTA sends with its commands |
//!
//! A connection carries the messages of one SMTP connection. After `SMFIC_QUIT_NC` it carries those of the next one,
//! with a new filter.

mod filter;
mod macros;
mod step;

use std::sync::Arc;

pub use filter::{
    AgreedOptions, FilterAction, FilterFactory, FilterVerdict, FilterWants, MessageFilter, MtaSocket,
};
pub use macros::MacroTable;

use crate::counters::{CountedOutcome, MilterCounters, count};
use crate::protocol::{
    Actions, EncodeError, FilterReply, MacroStage, MessageChange, MilterCommand, MilterFrame,
    NegotiationOptions, OLDEST_VERSION, ProtocolError, Steps, VERSION,
};
use step::{SessionPhase, SessionStep};

/// The session of one connection.
pub struct MilterSession<F: FilterFactory> {
    filters: Arc<F>,
    filter: F::Filter,
    socket: MtaSocket,
    counters: Arc<MilterCounters>,
    agreed: AgreedOptions,
    phase: SessionPhase,
    macros: MacroTable,
    /// Actions that could not be sent yet, for the connection and for the message.
    held_for_connection: Option<FilterAction>,
    held_for_message: Option<FilterAction>,
    /// True if the filter has seen the start of a message.
    is_begun: bool,
    /// True if the filter needs no more of this body.
    skips_body: bool,
}

/// The next step of the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum NextStep {
    /// Read more frames.
    Read,
    /// Await [`MilterSession::conclude`] and pass the verdict to [`MilterSession::deliver`].
    Conclude,
    /// Close the connection: the MTA has ended it.
    Close,
}

/// The reason why a connection cannot continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The MTA broke the protocol.
    #[error("the MTA: {0}")]
    Protocol(#[from] ProtocolError),
    /// The filter's answer cannot be encoded.
    #[error("the filter: {0}")]
    Filter(#[from] EncodeError),
    /// The filter needs more than this MTA offers.
    #[error("the filter declined this MTA, which offers only {actions:?} and {steps:?}")]
    Declined {
        /// The negotiated actions.
        actions: Actions,
        /// The negotiated steps.
        steps: Steps,
    },
}

impl<F: FilterFactory> MilterSession<F> {
    /// Makes the session of a new connection.
    #[must_use]
    pub fn new(filters: Arc<F>, counters: Arc<MilterCounters>, socket: MtaSocket) -> Self {
        Self {
            filter: filters.filter(socket),
            filters,
            socket,
            counters,
            agreed: AgreedOptions::default(),
            phase: SessionPhase::Fresh,
            macros: MacroTable::default(),
            held_for_connection: None,
            held_for_message: None,
            is_begun: false,
            skips_body: false,
        }
    }

    /// Handles a frame and appends the reply, if there is one.
    ///
    /// # Errors
    /// The connection cannot continue. Call [`Self::lost`]. The bytes that were appended for this frame need not be
    /// sent.
    pub fn handle(&mut self, frame: MilterFrame<'_>, out: &mut Vec<u8>) -> Result<NextStep, SessionError> {
        let command = MilterCommand::read(frame)?;
        self.phase.check(&command, self.agreed.steps)?;
        match command {
            MilterCommand::Negotiate(offer) => self.negotiate(&offer, out)?,
            MilterCommand::Macros { of, pairs } => {
                if let Some(stage) = MacroStage::of_command(of) {
                    self.macros.set(stage, pairs);
                }
            }
            MilterCommand::Abort => self.end_message(MacroStage::Helo),
            MilterCommand::Quit => {
                self.lost();
                return Ok(NextStep::Close);
            }
            MilterCommand::QuitNewConnection => self.renew()?,
            MilterCommand::EndOfMessage(chunk) => return self.end_of_message(chunk, out),
            step => self.pass_step(&step, out)?,
        }
        Ok(NextStep::Read)
    }

    /// Returns the filter's verdict after [`NextStep::Conclude`].
    pub async fn conclude(&mut self) -> FilterVerdict {
        self.filter.end_of_message(&self.macros).await
    }

    /// Appends the verdict: the negotiated changes and the reply, so that one write sends both.
    ///
    /// # Errors
    /// A change cannot be encoded. Nothing of the verdict is appended.
    pub fn deliver(&mut self, verdict: &FilterVerdict, out: &mut Vec<u8>) -> Result<(), SessionError> {
        let start = out.len();
        // MTAs ignore changes of a rejected message. Sending them would only cost time.
        let is_taken = !verdict.action.refuses() && verdict.action != FilterAction::Discard;
        let changes = if is_taken { verdict.changes.as_slice() } else { &[] };
        for change in changes {
            if let Err(error) = self.encode_change(change, out) {
                out.truncate(start);
                return Err(error.into());
            }
        }
        // The message has reached its end and must not count as aborted.
        self.is_begun = false;
        self.answer(SessionStep::EndOfMessage, verdict.action.clone(), out)
    }

    /// Returns true if no message is in progress, so that closing the connection loses none.
    #[must_use]
    pub fn is_between_messages(&self) -> bool {
        !matches!(self.phase, SessionPhase::In(_))
    }

    /// Ends the session because the connection is closed.
    pub fn lost(&mut self) {
        self.end_message(MacroStage::Helo);
    }

    fn negotiate(&mut self, offer: &NegotiationOptions, out: &mut Vec<u8>) -> Result<(), SessionError> {
        if offer.version < OLDEST_VERSION {
            return Err(ProtocolError::Version(offer.version).into());
        }
        let wants = self.filters.wants();
        // libmilter treats an empty offer as the options of version 1.
        let offered_actions = if offer.actions == Actions::NONE { Actions::VERSION_1 } else { offer.actions };
        let offered_steps = if offer.steps == Steps::NONE { Steps::VERSION_1 } else { offer.steps };
        let sets_macros = !wants.macros.is_empty() && offered_actions.contains(Actions::SET_MACROS);
        // SET_MACROS is set only together with a list of macros, as Postfix expects.
        let mut actions = wants.actions & offered_actions & !Actions::SET_MACROS;
        let mut macros = Vec::new();
        if sets_macros {
            actions = actions | Actions::SET_MACROS;
            macros = wants.macros.into_iter().map(|(stage, names)| (stage, names.into_bytes())).collect();
        }
        let steps = wants.steps & offered_steps;
        let version = offer.version.min(VERSION);
        self.agreed = AgreedOptions { version, actions, steps };
        self.introduce()?;
        self.phase = SessionPhase::Agreed;
        Ok(NegotiationOptions { version, actions, steps, macros }.encode(out)?)
    }

    fn introduce(&mut self) -> Result<(), SessionError> {
        let AgreedOptions { actions, steps, .. } = self.agreed;
        match self.filter.accepts(&self.agreed) {
            true => Ok(()),
            false => Err(SessionError::Declined { actions, steps }),
        }
    }

    /// Starts again for another client.
    fn renew(&mut self) -> Result<(), SessionError> {
        self.lost();
        self.macros.clear();
        self.held_for_connection = None;
        self.phase = SessionPhase::Agreed;
        self.filter = self.filters.filter(self.socket);
        self.introduce()
    }

    /// Passes a step to the filter and replies.
    fn pass_step(&mut self, command: &MilterCommand<'_>, out: &mut Vec<u8>) -> Result<(), SessionError> {
        let Some(step) = self.enter(command) else { return Ok(()) };
        let action = match self.held() {
            // An unknown command says nothing about the message, so that a held action must not answer it.
            Some(held) if step != SessionStep::Unknown => held.clone(),
            _ => self.call_filter(command),
        };
        self.answer(step, action, out)
    }

    /// Moves to the phase of this command.
    fn enter(&mut self, command: &MilterCommand<'_>) -> Option<SessionStep> {
        let step = match command {
            MilterCommand::Connect(_) => SessionStep::Connect,
            MilterCommand::Helo(_) => SessionStep::Helo,
            MilterCommand::Mail(_) => SessionStep::Mail,
            MilterCommand::Recipient(_) => SessionStep::Recipient,
            MilterCommand::Data => SessionStep::Data,
            MilterCommand::Header { .. } => SessionStep::Header,
            MilterCommand::EndOfHeaders => SessionStep::EndOfHeaders,
            MilterCommand::Body(_) => SessionStep::Body,
            MilterCommand::Unknown(_) => return Some(SessionStep::Unknown),
            _ => return None,
        };
        // A new message ends the one before it. The macros of the new one have arrived already and must stay.
        match step {
            SessionStep::Connect => self.macros.clear_after(MacroStage::Connect),
            SessionStep::Helo => self.end_message(MacroStage::Helo),
            SessionStep::Mail => self.end_message(MacroStage::Mail),
            SessionStep::Recipient => self.macros.clear_after(MacroStage::Recipient),
            _ => {}
        }
        self.phase = if step.is_of_connection() { SessionPhase::Greeted } else { SessionPhase::In(step) };
        Some(step)
    }

    fn call_filter(&mut self, command: &MilterCommand<'_>) -> FilterAction {
        let (filter, macros) = (&mut self.filter, &self.macros);
        self.is_begun |=
            matches!(self.phase, SessionPhase::In(_)) && !matches!(command, MilterCommand::Unknown(_));
        match command {
            MilterCommand::Connect(connect) => filter.connect(connect, macros),
            MilterCommand::Helo(name) => filter.helo(name, macros),
            MilterCommand::Mail(from) => filter.mail(from, macros),
            MilterCommand::Recipient(to) => filter.recipient(to, macros),
            MilterCommand::Data => filter.data(macros),
            MilterCommand::Header { name, value } => filter.header(name, value),
            MilterCommand::EndOfHeaders => filter.end_of_headers(macros),
            MilterCommand::Body(_) if self.skips_body => FilterAction::Continue,
            MilterCommand::Body(chunk) => filter.body(chunk),
            MilterCommand::Unknown(command) => filter.unknown(command),
            _ => FilterAction::Continue,
        }
    }

    /// Passes the last piece of the body, then starts the conclusion.
    fn end_of_message(&mut self, chunk: &[u8], out: &mut Vec<u8>) -> Result<NextStep, SessionError> {
        let mut action = self.held().cloned();
        self.phase = SessionPhase::In(SessionStep::EndOfMessage);
        count(&self.counters.messages, 1);
        // Without body and headers this call is the first that the filter sees of the message.
        self.is_begun |= action.is_none();
        if action.is_none() && !chunk.is_empty() && !self.skips_body {
            action = Some(self.filter.body(chunk)).filter(FilterAction::is_final);
        }
        match action {
            None => Ok(NextStep::Conclude),
            Some(action) => self.answer(SessionStep::EndOfMessage, action, out).map(|()| NextStep::Read),
        }
    }

    fn held(&self) -> Option<&FilterAction> {
        self.held_for_connection.as_ref().or(self.held_for_message.as_ref())
    }

    /// Sends an action now, or keeps it for a later step that has a reply.
    fn answer(
        &mut self,
        step: SessionStep,
        action: FilterAction,
        out: &mut Vec<u8>,
    ) -> Result<(), SessionError> {
        let has_reply =
            step == SessionStep::EndOfMessage || !self.agreed.steps.contains(step.without_reply());
        // MTAs accept DISCARD only for a message.
        let is_too_early = action == FilterAction::Discard && step.is_of_connection();
        if action.is_final() && (!has_reply || is_too_early) {
            self.hold(step, action);
            return self.reply(has_reply, &FilterAction::Continue, out);
        }
        self.skips_body |= step == SessionStep::Body && action == FilterAction::Skip;
        // SKIP may only be sent if it was negotiated, and only for the body.
        let is_skip = action == FilterAction::Skip
            && step == SessionStep::Body
            && self.agreed.steps.contains(Steps::SKIP);
        let said = if action == FilterAction::Skip && !is_skip { &FilterAction::Continue } else { &action };
        self.reply(has_reply, said, out)?;
        self.close_step(step, &action);
        Ok(())
    }

    fn hold(&mut self, step: SessionStep, action: FilterAction) {
        match step {
            SessionStep::Unknown => {}
            _ if step.is_of_connection() => self.held_for_connection = Some(action),
            _ => self.held_for_message = Some(action),
        }
    }

    fn reply(&self, has_reply: bool, action: &FilterAction, out: &mut Vec<u8>) -> Result<(), SessionError> {
        let reply = match action {
            _ if !has_reply => return Ok(()),
            FilterAction::Continue => FilterReply::Continue,
            FilterAction::Accept => FilterReply::Accept,
            FilterAction::Reject => FilterReply::Reject,
            FilterAction::Tempfail => FilterReply::Tempfail,
            FilterAction::Reply(reply) => FilterReply::from(reply),
            FilterAction::Discard => FilterReply::Discard,
            FilterAction::Skip => FilterReply::Skip,
        };
        Ok(reply.encode(out)?)
    }

    /// Ends the message if the action was final.
    fn close_step(&mut self, step: SessionStep, action: &FilterAction) {
        let is_of_recipient = step == SessionStep::Recipient && action.refuses();
        let is_final = action.is_final() || step == SessionStep::EndOfMessage;
        if is_final && step != SessionStep::Unknown {
            self.counters.count_outcome(outcome_of(action));
        }
        if is_final && !is_of_recipient && (SessionStep::Mail..=SessionStep::EndOfMessage).contains(&step) {
            self.end_message(MacroStage::Helo);
        }
    }

    /// Returns to the phase between messages. Macros of stages after `stage` are forgotten.
    fn end_message(&mut self, stage: MacroStage) {
        if self.is_begun {
            self.is_begun = false;
            // A message that reached its end was counted there already.
            if self.phase != SessionPhase::In(SessionStep::EndOfMessage) {
                count(&self.counters.aborted_messages, 1);
            }
            self.filter.abort();
        }
        if matches!(self.phase, SessionPhase::In(_)) {
            self.phase = SessionPhase::Greeted;
        }
        self.held_for_message = None;
        self.skips_body = false;
        self.macros.clear_after(stage);
    }

    fn encode_change(&self, change: &MessageChange, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if !self.agreed.actions.contains(change.needs()) {
            count(&self.counters.dropped_changes, 1);
            return Ok(());
        }
        change.encode(self.agreed.has_leading_space(), out)
    }
}

/// Returns the outcome by which an action is counted.
fn outcome_of(action: &FilterAction) -> CountedOutcome {
    match action {
        FilterAction::Continue | FilterAction::Skip => CountedOutcome::Continue,
        FilterAction::Accept => CountedOutcome::Accept,
        FilterAction::Reject => CountedOutcome::Reject,
        FilterAction::Tempfail => CountedOutcome::Tempfail,
        FilterAction::Reply(_) => CountedOutcome::Reply,
        FilterAction::Discard => CountedOutcome::Discard,
    }
}

impl<F: FilterFactory> std::fmt::Debug for MilterSession<F> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { agreed, phase, macros, .. } = self;
        out.debug_struct("Session")
            .field("agreed", agreed)
            .field("phase", phase)
            .field("macros", macros)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
