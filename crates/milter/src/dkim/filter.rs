//! The filter: collects a message's header, streams its body through hashes, and decides at the end.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use oarlock_dkim::{BodyHasher, BodyNeed, Header, MessageError, body_needs};
use tracing::info;

use super::author::Author;
use super::collect::{Collected, author};
use super::outcome::{Fault, Outcome};
use super::report::Report;
use super::service::{Shared, UnderWay};
use super::table::{Line, SigningTable, State};
use super::{sign, verify};
use crate::counters::count;
use crate::protocol::{Actions, Change, Connect, Envelope, Family, MacroStage, Steps};
use crate::session::{Action, Agreed, Filter, Filters, Macros, Verdict, Wants};

/// Makes filters that sign and verify.
#[derive(Debug)]
pub struct DkimFilters(pub(super) Arc<Shared>);

/// One connection of an MTA's.
#[derive(Debug)]
pub struct DkimFilter {
    shared: Arc<Shared>,
    has_leading_space: bool,
    /// The client is of an internal network.
    is_internal: bool,
    message: Message,
}

/// One message.
#[derive(Debug, Default)]
struct Message {
    collected: Collected,
    plan: Plan,
    bodies: Bodies,
    now_s: u64,
    under_way: Option<UnderWay>,
}

/// What is hashed as it comes: nothing of a body is kept.
#[derive(Debug, Default)]
pub(super) struct Bodies {
    /// For signatures, made or verified.
    pub(super) signatures: Vec<BodyHasher>,
    /// For a seal.
    pub(super) seal: Vec<BodyHasher>,
}

/// What is done with a message.
#[derive(Debug, Default)]
enum Plan {
    /// Neither signed nor verified.
    #[default]
    Pass,
    Sign {
        table: Arc<SigningTable>,
        author: Author,
    },
    Verify,
    /// Its header is none.
    Malformed(MessageError),
    /// It was to be signed, and has so many `From` fields.
    Authors(usize),
}

impl Filters for DkimFilters {
    type Filter = DkimFilter;

    fn wants(&self) -> Wants {
        // Bodies and ends of headers are answered, so that what is not needed is not sent.
        let steps = Steps::NO_HELO
            | Steps::NO_RECIPIENT
            | Steps::NO_DATA
            | Steps::NO_UNKNOWN
            | Steps::NO_REPLY_CONNECT
            | Steps::NO_REPLY_MAIL
            | Steps::NO_REPLY_HEADER
            | Steps::SKIP
            | Steps::LEADING_SPACE;
        let macros = [
            (MacroStage::Mail, "i {auth_authen} {auth_type}"),
            (MacroStage::EndOfHeaders, "i"),
            (MacroStage::EndOfMessage, "i"),
        ];
        Wants {
            actions: Actions::ADD_HEADERS
                | Actions::CHANGE_HEADERS
                | Actions::QUARANTINE
                | Actions::SET_MACROS,
            steps,
            macros: macros.map(|(stage, names)| (stage, names.to_owned())).into(),
        }
    }

    fn filter(&self) -> DkimFilter {
        let shared = Arc::clone(&self.0);
        DkimFilter { shared, has_leading_space: false, is_internal: false, message: Message::default() }
    }
}

impl Filter for DkimFilter {
    fn accepts(&mut self, agreed: &Agreed) -> bool {
        self.has_leading_space = agreed.has_leading_space();
        let is_verifying = self.shared.mode.verifies();
        let needed = if is_verifying { Actions::CHANGE_HEADERS } else { Actions::NONE };
        agreed.actions.contains(Actions::ADD_HEADERS | needed)
    }

    fn connect(&mut self, connect: &Connect<'_>, _macros: &Macros) -> Action {
        let networks = &self.shared.networks;
        let is_known = connect.ip().is_some_and(|ip| networks.iter().any(|network| network.contains(ip)));
        self.is_internal = is_known || connect.family == Family::Unix;
        Action::Continue
    }

    fn mail(&mut self, _from: &Envelope<'_>, _macros: &Macros) -> Action {
        let under_way = Some(UnderWay::new(&self.shared));
        self.message = Message { under_way, ..Message::default() };
        Action::Continue
    }

    fn header(&mut self, name: &[u8], value: &[u8]) -> Action {
        let Shared { policy, authserv_id, .. } = &*self.shared;
        self.message.collected.push(name, value, self.has_leading_space, &policy.limits, authserv_id);
        Action::Continue
    }

    fn end_of_headers(&mut self, macros: &Macros) -> Action {
        let is_ours = self.is_internal || macros.get("auth_authen").is_some_and(|name| !name.is_empty());
        let message = &mut self.message;
        message.now_s = now_s();
        let (plan, bodies) = plan(&self.shared, &message.collected, is_ours, message.now_s);
        (message.plan, message.bodies) = (plan, bodies);
        match message.plan {
            Plan::Pass => {
                self.message = Message::default();
                self.done(&Report::of(Outcome::Ignored), macros);
                Action::Accept
            }
            _ => Action::Continue,
        }
    }

    fn body(&mut self, chunk: &[u8]) -> Action {
        let Bodies { signatures, seal } = &mut self.message.bodies;
        let mut is_wanted = false;
        for hasher in signatures.iter_mut().chain(seal) {
            hasher.push(chunk);
            // Whether anything follows what `l=` covers decides unless that may pass.
            is_wanted |= !(hasher.is_full() && self.shared.policy.accepts_partial_body);
        }
        if is_wanted { Action::Continue } else { Action::Skip }
    }

    async fn end_of_message(&mut self, macros: &Macros) -> Verdict {
        let message = std::mem::take(&mut self.message);
        let shared = Arc::clone(&self.shared);
        let is_internal = self.is_internal;
        let mut report = message.conclude(&shared).await;
        if report.removes_forged(is_internal) {
            let removals: Vec<Change> = message_forged(&report.forged);
            count(&shared.metrics.forged, removals.len());
            // Before anything is added: MTAs differ in whether what was added counts.
            report.changes.splice(0..0, removals);
        }
        self.done(&report, macros);
        shared.responses.verdict(report.fault(), report.changes)
    }

    fn abort(&mut self) {
        self.message = Message::default();
    }
}

impl DkimFilter {
    /// One line and one count for each message.
    fn done(&self, report: &Report, macros: &Macros) {
        self.shared.metrics.message(report.outcome);
        let queue_id = macros.get("i").map(String::from_utf8_lossy).unwrap_or_default();
        let response = report.fault().map(|fault| self.shared.responses.to(fault));
        info!(
            queue_id = &*queue_id,
            outcome = report.outcome.name(),
            response = response.map(|response| response.name()),
            signatures = report.signatures.join("; "),
            arc = report.arc.as_deref(),
            forged = report.forged.len(),
            reason = report.reason.as_deref(),
            "message"
        );
    }
}

impl Message {
    async fn conclude(self, shared: &Shared) -> Report {
        let Self { collected, plan, bodies, now_s, under_way: _under_way } = self;
        let headers = collected.headers();
        let mut report = match (plan, headers) {
            (Plan::Sign { table, author }, Ok(headers)) => {
                let lines: Vec<Line> = signing(&table, &author).cloned().collect();
                sign::sign(shared, headers, bodies, &lines, &author, now_s).await
            }
            (Plan::Verify, Ok(headers)) => verify::verify(shared, headers, bodies, now_s).await,
            (Plan::Authors(found), _) => Report::failed(
                Outcome::Faulty(Fault::Malformed),
                format!("{found} From fields, and one is due"),
            ),
            (Plan::Malformed(error), _) | (_, Err(error)) => verify::malformed(shared, error),
            (Plan::Pass, Ok(_)) => Report::of(Outcome::Ignored),
        };
        report.forged = collected.forged().collect();
        report
    }
}

/// What is to be done, and what of the body must be hashed for it.
fn plan(shared: &Shared, collected: &Collected, is_ours: bool, now_s: u64) -> (Plan, Bodies) {
    let headers = match collected.headers() {
        Ok(headers) => headers,
        Err(_) if !is_ours && !shared.mode.verifies() => return (Plan::Pass, Bodies::default()),
        Err(error) => return (Plan::Malformed(error), Bodies::default()),
    };
    if is_ours && let Some(plan) = plan_to_sign(shared, &headers) {
        let needs = [BodyNeed {
            form: shared.style.canonicalization.body,
            digest: oarlock::DigestAlg::Sha256,
            limit: None,
        }];
        let signatures = match plan {
            Plan::Sign { .. } => shared.hashers(&needs),
            _ => Vec::new(),
        };
        return (plan, Bodies { signatures, seal: Vec::new() });
    }
    if !shared.mode.verifies() {
        return (Plan::Pass, Bodies::default());
    }
    let seal = shared.sealer.as_ref().map(|sealer| sealer.body_need());
    let bodies = Bodies {
        signatures: shared.hashers(&body_needs(&headers, &shared.policy, now_s)),
        seal: shared.hashers(seal.as_slice()),
    };
    (Plan::Verify, bodies)
}

/// None where nobody signs for the author.
fn plan_to_sign(shared: &Shared, headers: &[Header<'_>]) -> Option<Plan> {
    let tables = shared.tables.as_ref().filter(|_| shared.mode.signs())?;
    match author(headers) {
        Ok(author) => {
            let (author, table) = (author?, tables.current());
            let is_signed = signing(&table, &author).next().is_some();
            is_signed.then_some(Plan::Sign { table, author })
        }
        Err(found) => Some(Plan::Authors(found)),
    }
}

/// Lines that sign for an author.
fn signing<'t>(table: &'t SigningTable, author: &Author) -> impl Iterator<Item = &'t Line> {
    table.find(author).filter(|line| line.state != State::Retiring)
}

fn message_forged(places: &[u32]) -> Vec<Change> {
    let name = b"Authentication-Results";
    let removal =
        |index: &u32| Change::ChangeHeader { index: *index, name: name.to_vec(), value: Vec::new() };
    places.iter().map(removal).collect()
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
