//! One connection as a state machine without I/O: what an MTA sends goes in, what a filter answers comes out.
//!
//! | file | what it holds |
//! |---|---|
//! | `session` | the state machine |
//! | `filter` | what a filter is, wants and says |
//! | `step` | which command may follow which |
//! | `macros` | names and values that an MTA sends beside its commands |
//!
//! A connection carries the messages of one SMTP connection, and after `SMFIC_QUIT_NC` those of the next, with a new filter.

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

/// One connection.
pub struct MilterSession<F: FilterFactory> {
    filters: Arc<F>,
    filter: F::Filter,
    socket: MtaSocket,
    counters: Arc<MilterCounters>,
    agreed: AgreedOptions,
    place: SessionPhase,
    macros: MacroTable,
    /// Said where no reply was possible, of the connection and of the message.
    kept_of_connection: Option<FilterAction>,
    kept_of_message: Option<FilterAction>,
    /// The filter knows of a message.
    is_begun: bool,
    /// The filter wants no more of this body.
    skips_body: bool,
}

/// What is to be done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum NextStep {
    /// Reading goes on.
    Read,
    /// [`MilterSession::conclude`] is to be awaited, and [`MilterSession::deliver`] given what comes of it.
    Conclude,
    /// The MTA is done.
    Close,
}

/// Why a connection cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The MTA broke the protocol.
    #[error("the MTA: {0}")]
    Protocol(#[from] ProtocolError),
    /// The filter wants to say what cannot be said.
    #[error("the filter: {0}")]
    Filter(#[from] EncodeError),
    /// The filter wants more than this MTA offers.
    #[error("the filter does without this MTA, which agreed to {actions:?} and {steps:?}")]
    Declined {
        /// As agreed.
        actions: Actions,
        /// As agreed.
        steps: Steps,
    },
}

impl<F: FilterFactory> MilterSession<F> {
    /// A connection that nothing was said on.
    #[must_use]
    pub fn new(filters: Arc<F>, counters: Arc<MilterCounters>, socket: MtaSocket) -> Self {
        Self {
            filter: filters.filter(socket),
            filters,
            socket,
            counters,
            agreed: AgreedOptions::default(),
            place: SessionPhase::Fresh,
            macros: MacroTable::default(),
            kept_of_connection: None,
            kept_of_message: None,
            is_begun: false,
            skips_body: false,
        }
    }

    /// Takes a frame in and appends what is to be answered, if anything.
    ///
    /// # Errors
    /// The connection cannot go on: [`Self::lost`] is to be called, and what was appended for this frame need not be sent.
    pub fn handle(&mut self, frame: MilterFrame<'_>, out: &mut Vec<u8>) -> Result<NextStep, SessionError> {
        let command = MilterCommand::read(frame)?;
        self.place.check(&command, self.agreed.steps)?;
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
            told => self.tell(&told, out)?,
        }
        Ok(NextStep::Read)
    }

    /// What the filter makes of the message that [`NextStep::Conclude`] spoke of.
    pub async fn conclude(&mut self) -> FilterVerdict {
        self.filter.end_of_message(&self.macros).await
    }

    /// Appends what the filter makes of a message: changes that were agreed on, and the reply, so that one write does.
    ///
    /// # Errors
    /// A change cannot be said; nothing of the verdict is appended then.
    pub fn deliver(&mut self, verdict: &FilterVerdict, out: &mut Vec<u8>) -> Result<(), SessionError> {
        let start = out.len();
        let is_taken = !verdict.action.refuses() && verdict.action != FilterAction::Discard;
        let changes = if is_taken { verdict.changes.as_slice() } else { &[] };
        for change in changes {
            if let Err(error) = self.put_change(change, out) {
                out.truncate(start);
                return Err(error.into());
            }
        }
        // It has come to its end: there is nothing to abort.
        self.is_begun = false;
        self.answer(SessionStep::EndOfMessage, verdict.action.clone(), out)
    }

    /// True where no message is under way, so that hanging up costs none.
    #[must_use]
    pub fn is_between_messages(&self) -> bool {
        !matches!(self.place, SessionPhase::In(_))
    }

    /// What was agreed on.
    #[must_use]
    pub fn agreed(&self) -> &AgreedOptions {
        &self.agreed
    }

    /// The connection is no more.
    pub fn lost(&mut self) {
        self.end_message(MacroStage::Helo);
    }

    fn negotiate(&mut self, offer: &NegotiationOptions, out: &mut Vec<u8>) -> Result<(), SessionError> {
        if offer.version < OLDEST_VERSION {
            return Err(ProtocolError::Version(offer.version).into());
        }
        let wants = self.filters.wants();
        // Who offers nothing means what there was before there was anything to offer, as libmilter has it.
        let offered_actions = if offer.actions == Actions::NONE { Actions::VERSION_1 } else { offer.actions };
        let offered_steps = if offer.steps == Steps::NONE { Steps::VERSION_1 } else { offer.steps };
        let sets_macros = !wants.macros.is_empty() && offered_actions.contains(Actions::SET_MACROS);
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
        self.place = SessionPhase::Agreed;
        Ok(NegotiationOptions { version, actions, steps, macros }.encode(out)?)
    }

    fn introduce(&mut self) -> Result<(), SessionError> {
        let AgreedOptions { actions, steps, .. } = self.agreed;
        match self.filter.accepts(&self.agreed) {
            true => Ok(()),
            false => Err(SessionError::Declined { actions, steps }),
        }
    }

    /// Another client, and nothing of the one before.
    fn renew(&mut self) -> Result<(), SessionError> {
        self.lost();
        self.macros.clear();
        self.kept_of_connection = None;
        self.place = SessionPhase::Agreed;
        self.filter = self.filters.filter(self.socket);
        self.introduce()
    }

    /// Tells the filter of a step and answers.
    fn tell(&mut self, command: &MilterCommand<'_>, out: &mut Vec<u8>) -> Result<(), SessionError> {
        let Some(step) = self.enter(command) else { return Ok(()) };
        let action = match self.kept() {
            Some(kept) if step != SessionStep::Unknown => kept.clone(),
            _ => self.ask(command),
        };
        self.answer(step, action, out)
    }

    /// Moves to where this command leads.
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
        // What begins anew ends the message before it, but its own macros have come already.
        match step {
            SessionStep::Connect => self.macros.clear_after(MacroStage::Connect),
            SessionStep::Helo => self.end_message(MacroStage::Helo),
            SessionStep::Mail => self.end_message(MacroStage::Mail),
            SessionStep::Recipient => self.macros.clear_after(MacroStage::Recipient),
            _ => {}
        }
        self.place = if step.is_of_connection() { SessionPhase::Greeted } else { SessionPhase::In(step) };
        Some(step)
    }

    fn ask(&mut self, command: &MilterCommand<'_>) -> FilterAction {
        let (filter, macros) = (&mut self.filter, &self.macros);
        self.is_begun |=
            matches!(self.place, SessionPhase::In(_)) && !matches!(command, MilterCommand::Unknown(_));
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

    /// The last piece of the body, then the end.
    fn end_of_message(&mut self, chunk: &[u8], out: &mut Vec<u8>) -> Result<NextStep, SessionError> {
        let mut action = self.kept().cloned();
        self.place = SessionPhase::In(SessionStep::EndOfMessage);
        count(&self.counters.messages, 1);
        self.is_begun |= action.is_none();
        if action.is_none() && !chunk.is_empty() && !self.skips_body {
            action = Some(self.filter.body(chunk)).filter(FilterAction::is_final);
        }
        match action {
            None => Ok(NextStep::Conclude),
            Some(action) => self.answer(SessionStep::EndOfMessage, action, out).map(|()| NextStep::Read),
        }
    }

    fn kept(&self) -> Option<&FilterAction> {
        self.kept_of_connection.as_ref().or(self.kept_of_message.as_ref())
    }

    /// Says it now, or keeps it for a step where it can be said.
    fn answer(
        &mut self,
        step: SessionStep,
        action: FilterAction,
        out: &mut Vec<u8>,
    ) -> Result<(), SessionError> {
        let has_reply =
            step == SessionStep::EndOfMessage || !self.agreed.steps.contains(step.without_reply());
        let is_too_early = action == FilterAction::Discard && step.is_of_connection();
        if action.is_final() && (!has_reply || is_too_early) {
            self.keep(step, action);
            return self.reply(has_reply, &FilterAction::Continue, out);
        }
        self.skips_body |= step == SessionStep::Body && action == FilterAction::Skip;
        let is_skip = action == FilterAction::Skip
            && step == SessionStep::Body
            && self.agreed.steps.contains(Steps::SKIP);
        let said = if action == FilterAction::Skip && !is_skip { &FilterAction::Continue } else { &action };
        self.reply(has_reply, said, out)?;
        self.close_step(step, &action);
        Ok(())
    }

    fn keep(&mut self, step: SessionStep, action: FilterAction) {
        match step {
            SessionStep::Unknown => {}
            _ if step.is_of_connection() => self.kept_of_connection = Some(action),
            _ => self.kept_of_message = Some(action),
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

    /// What was said may have ended the message.
    fn close_step(&mut self, step: SessionStep, action: &FilterAction) {
        let is_of_recipient = step == SessionStep::Recipient && action.refuses();
        let is_final = action.is_final() || step == SessionStep::EndOfMessage;
        if is_final && step != SessionStep::Unknown {
            self.counters.note(outcome_of(action));
        }
        if is_final && !is_of_recipient && (SessionStep::Mail..=SessionStep::EndOfMessage).contains(&step) {
            self.end_message(MacroStage::Helo);
        }
    }

    /// Between messages again: forgets macros of stages after `stage`.
    fn end_message(&mut self, stage: MacroStage) {
        if self.is_begun {
            self.is_begun = false;
            if self.place != SessionPhase::In(SessionStep::EndOfMessage) {
                count(&self.counters.aborted_messages, 1);
            }
            self.filter.abort();
        }
        if matches!(self.place, SessionPhase::In(_)) {
            self.place = SessionPhase::Greeted;
        }
        self.kept_of_message = None;
        self.skips_body = false;
        self.macros.clear_after(stage);
    }

    fn put_change(&self, change: &MessageChange, out: &mut Vec<u8>) -> Result<(), EncodeError> {
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
        let Self { agreed, place, macros, .. } = self;
        out.debug_struct("Session")
            .field("agreed", agreed)
            .field("place", place)
            .field("macros", macros)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
