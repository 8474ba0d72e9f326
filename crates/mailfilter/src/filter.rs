//! The filter: collects a message's header, streams its body through hashes, and decides at the end.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use oarlock_dkim::{BodyNeed, Header, MessageError, body_needs};
use tracing::info;

use crate::author::Author;
use crate::config::RequiredFrom;
use crate::incoming::{Bodies, Collected, author};
use crate::outcome::{Fault, Outcome};
use crate::report::Report;
use crate::state::{Current, Shared, UnderWay};
use crate::table::{Line, SigningTable, State};
use crate::{sign, verify};
use oarlock_milter::counters::count;
use oarlock_milter::protocol::{Actions, Change, Connect, Envelope, Family, MacroStage, Steps};
use oarlock_milter::session::{Action, Agreed, Filter, Filters, Macros, MtaSocket, Verdict, Wants};

/// Makes filters that sign and verify.
#[derive(Debug)]
pub struct DkimFilters(pub(crate) Arc<Current>);

/// One connection of an MTA's.
#[derive(Debug)]
pub struct DkimFilter {
    current: Arc<Current>,
    /// As it was when the message began.
    shared: Arc<Shared>,
    has_leading_space: bool,
    /// The kind of socket over which the MTA has come.
    socket: MtaSocket,
    client: Client,
    message: Message,
}

/// Who has connected to the MTA.
#[derive(Clone, Copy, Debug, Default)]
struct Client {
    ip: Option<IpAddr>,
    /// Over a UNIX socket, by what the MTA says.
    is_local: bool,
}

/// Whose message it is.
#[derive(Clone, Copy, Debug, Default)]
struct Ownership {
    /// The client is of an internal network.
    is_internal: bool,
    /// The client has authenticated itself.
    is_authenticated: bool,
}

impl Ownership {
    fn is_ours(self) -> bool {
        self.is_internal || self.is_authenticated
    }
}

/// One message.
#[derive(Debug, Default)]
struct Message {
    ownership: Ownership,
    /// MAIL FROM; None for the null sender.
    sender: Option<Author>,
    collected: Collected,
    plan: Plan,
    bodies: Bodies,
    now_s: u64,
    under_way: Option<UnderWay>,
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
    /// It was to be signed, and this author is not who has sent it.
    WrongFrom(Author),
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

    fn filter(&self, socket: MtaSocket) -> DkimFilter {
        DkimFilter {
            shared: self.0.get(),
            current: Arc::clone(&self.0),
            has_leading_space: false,
            socket,
            client: Client::default(),
            message: Message::default(),
        }
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
        self.client = Client { ip: connect.ip(), is_local: connect.family == Family::Unix };
        Action::Continue
    }

    fn mail(&mut self, from: &Envelope<'_>, _macros: &Macros) -> Action {
        self.shared = self.current.get();
        self.message = Message {
            under_way: Some(UnderWay::new(&self.shared)),
            ownership: Ownership { is_internal: self.is_internal(), is_authenticated: false },
            sender: Author::of_envelope(from.address()),
            ..Message::default()
        };
        Action::Continue
    }

    fn header(&mut self, name: &[u8], value: &[u8]) -> Action {
        let Shared { policy, trust, .. } = &*self.shared;
        let trust = trust.of_client(self.client.ip);
        self.message.collected.push(name, value, self.has_leading_space, &policy.limits, trust);
        Action::Continue
    }

    fn end_of_headers(&mut self, macros: &Macros) -> Action {
        let message = &mut self.message;
        message.ownership.is_authenticated = macros.get("auth_authen").is_some_and(|name| !name.is_empty());
        message.now_s = now_s();
        let (plan, bodies) = plan(&self.shared, message);
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
        let is_internal = message.ownership.is_internal;
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
    fn is_internal(&self) -> bool {
        let networks = &self.shared.networks;
        let is_known = self.client.ip.is_some_and(|ip| networks.iter().any(|network| network.contains(ip)));
        // Over TCP any process can say that its client came over a UNIX socket.
        is_known || (self.client.is_local && self.socket.is_unix())
    }

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
        let Self { sender, collected, plan, bodies, now_s, under_way: _under_way, .. } = self;
        let headers = collected.headers();
        let mut report = match (plan, headers) {
            (Plan::Sign { table, author }, Ok(headers)) => {
                let lines: Vec<Line> = signing(&table, &author).cloned().collect();
                sign::sign(shared, headers, bodies, &lines, &author, now_s).await
            }
            (Plan::Verify, Ok(headers)) => {
                verify::verify(shared, headers, bodies, collected.trusted(), now_s).await
            }
            (Plan::WrongFrom(author), Ok(_)) => wrong_from(&author, sender.as_ref()),
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
fn plan(shared: &Shared, message: &Message) -> (Plan, Bodies) {
    let Message { collected, now_s, .. } = message;
    let is_ours = message.ownership.is_ours();
    let headers = match collected.headers() {
        Ok(headers) => headers,
        Err(_) if !is_ours && !shared.mode.verifies() => return (Plan::Pass, Bodies::default()),
        Err(error) => return (Plan::Malformed(error), Bodies::default()),
    };
    if is_ours && let Some(plan) = plan_to_sign(shared, &headers, message) {
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
        signatures: shared.hashers(&body_needs(&headers, &shared.policy, *now_s)),
        seal: shared.hashers(seal.as_slice()),
    };
    (Plan::Verify, bodies)
}

/// None where nobody signs for the author.
fn plan_to_sign(shared: &Shared, headers: &[Header<'_>], message: &Message) -> Option<Plan> {
    let tables = shared.tables.as_ref().filter(|_| shared.mode.signs())?;
    match author(headers) {
        Ok(author) => {
            let (author, table) = (author?, tables.current());
            let is_signed = signing(&table, &author).next().is_some();
            let may_write = !message.ownership.is_authenticated
                || is_of_sender(shared.style.required_from, &author, message.sender.as_ref());
            is_signed.then_some(match may_write {
                true => Plan::Sign { table, author },
                false => Plan::WrongFrom(author),
            })
        }
        Err(found) => Some(Plan::Authors(found)),
    }
}

/// True where an author is who has sent the message, as far as the MTA has checked MAIL FROM.
fn is_of_sender(required: RequiredFrom, author: &Author, sender: Option<&Author>) -> bool {
    match required {
        RequiredFrom::Any => true,
        RequiredFrom::MailFromDomain => sender.is_some_and(|sender| sender.domain() == author.domain()),
        RequiredFrom::MailFrom => sender.is_some_and(|sender| sender == author),
    }
}

fn wrong_from(author: &Author, sender: Option<&Author>) -> Report {
    let sender = sender.map_or("<>", |sender| &sender.address);
    let reason = format!(
        "not signed: From is {}, MAIL FROM is {sender}, and [signing] require_from wants them to agree",
        author.address
    );
    Report::failed(Outcome::Faulty(Fault::WrongFrom), reason)
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
