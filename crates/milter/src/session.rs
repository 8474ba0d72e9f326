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

pub use filter::{Action, Agreed, Filter, Filters, MtaSocket, Verdict, Wants};
pub use macros::Macros;

use crate::counters::{Counters, Outcome, count};
use crate::protocol::{
    Actions, Change, Command, EncodeError, Frame, MacroStage, OLDEST_VERSION, Options, ProtocolError, Reply,
    Steps, VERSION,
};
use step::{Place, Step};

/// One connection.
pub struct Session<F: Filters> {
    filters: Arc<F>,
    filter: F::Filter,
    socket: MtaSocket,
    counters: Arc<Counters>,
    agreed: Agreed,
    place: Place,
    macros: Macros,
    /// Said where no reply was possible, of the connection and of the message.
    kept_of_connection: Option<Action>,
    kept_of_message: Option<Action>,
    /// The filter knows of a message.
    is_begun: bool,
    /// The filter wants no more of this body.
    skips_body: bool,
}

/// What is to be done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Next {
    /// Reading goes on.
    Read,
    /// [`Session::conclude`] is to be awaited, and [`Session::deliver`] given what comes of it.
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

impl<F: Filters> Session<F> {
    /// A connection that nothing was said on.
    #[must_use]
    pub fn new(filters: Arc<F>, counters: Arc<Counters>, socket: MtaSocket) -> Self {
        Self {
            filter: filters.filter(socket),
            filters,
            socket,
            counters,
            agreed: Agreed::default(),
            place: Place::Fresh,
            macros: Macros::default(),
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
    pub fn handle(&mut self, frame: Frame<'_>, out: &mut Vec<u8>) -> Result<Next, SessionError> {
        let command = Command::read(frame)?;
        self.place.check(&command, self.agreed.steps)?;
        match command {
            Command::Negotiate(offer) => self.negotiate(&offer, out)?,
            Command::Macros { of, pairs } => {
                if let Some(stage) = MacroStage::of_command(of) {
                    self.macros.set(stage, pairs);
                }
            }
            Command::Abort => self.end_message(MacroStage::Helo),
            Command::Quit => {
                self.lost();
                return Ok(Next::Close);
            }
            Command::QuitNewConnection => self.renew()?,
            Command::EndOfMessage(chunk) => return self.end_of_message(chunk, out),
            told => self.tell(&told, out)?,
        }
        Ok(Next::Read)
    }

    /// What the filter makes of the message that [`Next::Conclude`] spoke of.
    pub async fn conclude(&mut self) -> Verdict {
        self.filter.end_of_message(&self.macros).await
    }

    /// Appends what the filter makes of a message: changes that were agreed on, and the reply, so that one write does.
    ///
    /// # Errors
    /// A change cannot be said; nothing of the verdict is appended then.
    pub fn deliver(&mut self, verdict: &Verdict, out: &mut Vec<u8>) -> Result<(), SessionError> {
        let start = out.len();
        let is_taken = !verdict.action.refuses() && verdict.action != Action::Discard;
        let changes = if is_taken { verdict.changes.as_slice() } else { &[] };
        for change in changes {
            if let Err(error) = self.put_change(change, out) {
                out.truncate(start);
                return Err(error.into());
            }
        }
        // It has come to its end: there is nothing to abort.
        self.is_begun = false;
        self.answer(Step::EndOfMessage, verdict.action.clone(), out)
    }

    /// True where no message is under way, so that hanging up costs none.
    #[must_use]
    pub fn is_between_messages(&self) -> bool {
        !matches!(self.place, Place::In(_))
    }

    /// What was agreed on.
    #[must_use]
    pub fn agreed(&self) -> &Agreed {
        &self.agreed
    }

    /// The connection is no more.
    pub fn lost(&mut self) {
        self.end_message(MacroStage::Helo);
    }

    fn negotiate(&mut self, offer: &Options, out: &mut Vec<u8>) -> Result<(), SessionError> {
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
        self.agreed = Agreed { version, actions, steps };
        self.introduce()?;
        self.place = Place::Agreed;
        Ok(Options { version, actions, steps, macros }.encode(out)?)
    }

    fn introduce(&mut self) -> Result<(), SessionError> {
        let Agreed { actions, steps, .. } = self.agreed;
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
        self.place = Place::Agreed;
        self.filter = self.filters.filter(self.socket);
        self.introduce()
    }

    /// Tells the filter of a step and answers.
    fn tell(&mut self, command: &Command<'_>, out: &mut Vec<u8>) -> Result<(), SessionError> {
        let Some(step) = self.enter(command) else { return Ok(()) };
        let action = match self.kept() {
            Some(kept) if step != Step::Unknown => kept.clone(),
            _ => self.ask(command),
        };
        self.answer(step, action, out)
    }

    /// Moves to where this command leads.
    fn enter(&mut self, command: &Command<'_>) -> Option<Step> {
        let step = match command {
            Command::Connect(_) => Step::Connect,
            Command::Helo(_) => Step::Helo,
            Command::Mail(_) => Step::Mail,
            Command::Recipient(_) => Step::Recipient,
            Command::Data => Step::Data,
            Command::Header { .. } => Step::Header,
            Command::EndOfHeaders => Step::EndOfHeaders,
            Command::Body(_) => Step::Body,
            Command::Unknown(_) => return Some(Step::Unknown),
            _ => return None,
        };
        // What begins anew ends the message before it, but its own macros have come already.
        match step {
            Step::Connect => self.macros.clear_after(MacroStage::Connect),
            Step::Helo => self.end_message(MacroStage::Helo),
            Step::Mail => self.end_message(MacroStage::Mail),
            Step::Recipient => self.macros.clear_after(MacroStage::Recipient),
            _ => {}
        }
        self.place = if step.is_of_connection() { Place::Greeted } else { Place::In(step) };
        Some(step)
    }

    fn ask(&mut self, command: &Command<'_>) -> Action {
        let (filter, macros) = (&mut self.filter, &self.macros);
        self.is_begun |= matches!(self.place, Place::In(_)) && !matches!(command, Command::Unknown(_));
        match command {
            Command::Connect(connect) => filter.connect(connect, macros),
            Command::Helo(name) => filter.helo(name, macros),
            Command::Mail(from) => filter.mail(from, macros),
            Command::Recipient(to) => filter.recipient(to, macros),
            Command::Data => filter.data(macros),
            Command::Header { name, value } => filter.header(name, value),
            Command::EndOfHeaders => filter.end_of_headers(macros),
            Command::Body(_) if self.skips_body => Action::Continue,
            Command::Body(chunk) => filter.body(chunk),
            Command::Unknown(command) => filter.unknown(command),
            _ => Action::Continue,
        }
    }

    /// The last piece of the body, then the end.
    fn end_of_message(&mut self, chunk: &[u8], out: &mut Vec<u8>) -> Result<Next, SessionError> {
        let mut action = self.kept().cloned();
        self.place = Place::In(Step::EndOfMessage);
        count(&self.counters.messages, 1);
        self.is_begun |= action.is_none();
        if action.is_none() && !chunk.is_empty() && !self.skips_body {
            action = Some(self.filter.body(chunk)).filter(Action::is_final);
        }
        match action {
            None => Ok(Next::Conclude),
            Some(action) => self.answer(Step::EndOfMessage, action, out).map(|()| Next::Read),
        }
    }

    fn kept(&self) -> Option<&Action> {
        self.kept_of_connection.as_ref().or(self.kept_of_message.as_ref())
    }

    /// Says it now, or keeps it for a step where it can be said.
    fn answer(&mut self, step: Step, action: Action, out: &mut Vec<u8>) -> Result<(), SessionError> {
        let has_reply = step == Step::EndOfMessage || !self.agreed.steps.contains(step.without_reply());
        let is_too_early = action == Action::Discard && step.is_of_connection();
        if action.is_final() && (!has_reply || is_too_early) {
            self.keep(step, action);
            return self.reply(has_reply, &Action::Continue, out);
        }
        self.skips_body |= step == Step::Body && action == Action::Skip;
        let is_skip = action == Action::Skip && step == Step::Body && self.agreed.steps.contains(Steps::SKIP);
        let said = if action == Action::Skip && !is_skip { &Action::Continue } else { &action };
        self.reply(has_reply, said, out)?;
        self.close_step(step, &action);
        Ok(())
    }

    fn keep(&mut self, step: Step, action: Action) {
        match step {
            Step::Unknown => {}
            _ if step.is_of_connection() => self.kept_of_connection = Some(action),
            _ => self.kept_of_message = Some(action),
        }
    }

    fn reply(&self, has_reply: bool, action: &Action, out: &mut Vec<u8>) -> Result<(), SessionError> {
        let reply = match action {
            _ if !has_reply => return Ok(()),
            Action::Continue => Reply::Continue,
            Action::Accept => Reply::Accept,
            Action::Reject => Reply::Reject,
            Action::Tempfail => Reply::Tempfail,
            Action::Reply(reply) => Reply::from(reply),
            Action::Discard => Reply::Discard,
            Action::Skip => Reply::Skip,
        };
        Ok(reply.encode(out)?)
    }

    /// What was said may have ended the message.
    fn close_step(&mut self, step: Step, action: &Action) {
        let is_of_recipient = step == Step::Recipient && action.refuses();
        let is_final = action.is_final() || step == Step::EndOfMessage;
        if is_final && step != Step::Unknown {
            self.counters.note(outcome_of(action));
        }
        if is_final && !is_of_recipient && (Step::Mail..=Step::EndOfMessage).contains(&step) {
            self.end_message(MacroStage::Helo);
        }
    }

    /// Between messages again: forgets macros of stages after `stage`.
    fn end_message(&mut self, stage: MacroStage) {
        if self.is_begun {
            self.is_begun = false;
            if self.place != Place::In(Step::EndOfMessage) {
                count(&self.counters.aborted_messages, 1);
            }
            self.filter.abort();
        }
        if matches!(self.place, Place::In(_)) {
            self.place = Place::Greeted;
        }
        self.kept_of_message = None;
        self.skips_body = false;
        self.macros.clear_after(stage);
    }

    fn put_change(&self, change: &Change, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if !self.agreed.actions.contains(change.needs()) {
            count(&self.counters.dropped_changes, 1);
            return Ok(());
        }
        change.encode(self.agreed.has_leading_space(), out)
    }
}

/// Returns the outcome by which an action is counted.
fn outcome_of(action: &Action) -> Outcome {
    match action {
        Action::Continue | Action::Skip => Outcome::Continue,
        Action::Accept => Outcome::Accept,
        Action::Reject => Outcome::Reject,
        Action::Tempfail => Outcome::Tempfail,
        Action::Reply(_) => Outcome::Reply,
        Action::Discard => Outcome::Discard,
    }
}

impl<F: Filters> std::fmt::Debug for Session<F> {
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
