//! The filter. It collects the header of a message, streams the body through hashes, and decides at the end.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use oarlock_dkim::{BodyNeed, HeaderField, MailParseError, ParsedSignatures, host_form};
use oarlock_service_kit::Current;
use tracing::info;

use crate::author::AuthorAddress;
use crate::client_list::ClientList;
use crate::incoming::{BodyHashers, IncomingHeader, author};
use crate::outcome::{MessageFault, MessageOutcome};
use crate::report::{MessageReport, shorten};
use crate::seal::SealSource;
use crate::signing_address::{AddressFault, AddressRequest, SigningChoice};
use crate::state::{FilterState, InFlightGuard};
use crate::{sign, verify};
use oarlock_milter::counters::count;
use oarlock_milter::protocol::{
    Actions, AddressFamily, ConnectInfo, EnvelopeAddress, MacroStage, MessageChange, Steps,
};
use oarlock_milter::session::{
    AgreedOptions, FilterAction, FilterFactory, FilterVerdict, FilterWants, MacroTable, MessageFilter,
    MtaSocket,
};

/// A factory of filters that sign and verify.
#[derive(Debug)]
pub struct DkimFilters(pub(crate) Arc<Current<FilterState>>);

/// The filter of one connection from an MTA.
#[derive(Debug)]
pub struct DkimFilter {
    current: Arc<Current<FilterState>>,
    /// The state at the start of the message.
    shared: Arc<FilterState>,
    has_leading_space: bool,
    /// The kind of socket of the MTA's connection.
    socket: MtaSocket,
    client: SmtpClient,
    message: IncomingMessage,
}

/// The client that connected to the MTA.
#[derive(Clone, Debug, Default)]
struct SmtpClient {
    ip: Option<IpAddr>,
    /// The name, in ASCII form. MTAs pass a name only if it also leads to the address.
    name: Option<String>,
    /// True if the client used a UNIX socket, according to the MTA.
    is_local: bool,
}

impl SmtpClient {
    /// Returns the address in the form of the log.
    fn shown(&self) -> String {
        let other = if self.is_local { "local" } else { "unknown" };
        self.ip.map_or_else(|| other.to_owned(), |ip| ip.to_string())
    }
}

/// The reasons why a message may come from a user of this site.
#[derive(Clone, Copy, Debug, Default)]
struct MessageOwnership {
    /// True if the client is an internal host.
    is_internal: bool,
    /// True if the client has authenticated.
    is_authenticated: bool,
}

impl MessageOwnership {
    fn is_ours(self) -> bool {
        self.is_internal || self.is_authenticated
    }
}

/// The reasons why a message is exempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExemptCause {
    Host,
    Domain,
}

impl ExemptCause {
    fn reason(self) -> &'static str {
        match self {
            Self::Host => "exempt: the client is one of [exempt] hosts",
            Self::Domain => "exempt: the domain of From is one of [exempt] domains",
        }
    }
}

/// The tasks of the filter for one message.
#[derive(Clone, Copy, Debug)]
struct MessageTasks {
    signs: bool,
    verifies: bool,
    exempt: Option<ExemptCause>,
}

impl MessageTasks {
    fn new(shared: &FilterState, message: &IncomingMessage, headers: Option<&[HeaderField<'_>]>) -> Self {
        let FilterState { mode, exempt: settings, .. } = shared;
        let is_of_domain = || {
            // Most settings exempt no domain, and then no author is parsed for it.
            let headers = headers.filter(|_| !settings.domains.is_empty());
            let author = headers.and_then(|headers| author(headers).ok()?);
            author.is_some_and(|author| settings.domains.contains(author.domain()))
        };
        let exempt = match message.is_exempt_host {
            true => Some(ExemptCause::Host),
            false => is_of_domain().then_some(ExemptCause::Domain),
        };
        Self {
            signs: mode.signs() && !(exempt.is_some() && settings.mode.signs()),
            verifies: mode.verifies() && !(exempt.is_some() && settings.mode.verifies()),
            exempt,
        }
    }
}

/// The message in progress.
#[derive(Debug, Default)]
struct IncomingMessage {
    ownership: MessageOwnership,
    is_exempt_host: bool,
    /// The address of MAIL FROM. None for the null sender.
    sender: Option<AuthorAddress>,
    collected: IncomingHeader,
    plan: MessagePlan,
    /// True if the message should be signed, and the signing table has no line for it.
    is_unlisted: bool,
    bodies: BodyHashers,
    now_s: u64,
    in_flight: Option<InFlightGuard>,
}

/// The plan for a message.
#[derive(Debug, Default)]
enum MessagePlan {
    /// The message is neither signed nor verified.
    #[default]
    Pass,
    /// The same, because the message is exempt.
    Exempt(ExemptCause),
    Sign(SigningChoice),
    Verify(Box<ParsedSignatures<'static>>),
    /// The header is malformed.
    Malformed(MailParseError),
    /// The message should be signed, but no address may sign it.
    Unsigned(AddressFault),
}

/// The plan for a message and what it needs.
#[derive(Debug, Default)]
struct MessageWork {
    plan: MessagePlan,
    bodies: BodyHashers,
    /// True if the message should be signed, and the signing table has no line for it.
    is_unlisted: bool,
}

impl From<MessagePlan> for MessageWork {
    fn from(plan: MessagePlan) -> Self {
        Self { plan, ..Self::default() }
    }
}

impl FilterFactory for DkimFilters {
    type Filter = DkimFilter;

    fn wants(&self) -> FilterWants {
        // The filter replies to bodies and to the end of headers. Such a reply can stop the MTA from sending more.
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
        FilterWants {
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
            client: SmtpClient::default(),
            message: IncomingMessage::default(),
        }
    }
}

impl MessageFilter for DkimFilter {
    fn accepts(&mut self, agreed: &AgreedOptions) -> bool {
        self.has_leading_space = agreed.has_leading_space();
        let is_verifying = self.shared.mode.verifies();
        let needed = if is_verifying { Actions::CHANGE_HEADERS } else { Actions::NONE };
        agreed.actions.contains(Actions::ADD_HEADERS | needed)
    }

    fn connect(&mut self, connect: &ConnectInfo<'_>, _macros: &MacroTable) -> FilterAction {
        let name = std::str::from_utf8(connect.host).ok().and_then(host_form);
        self.client = SmtpClient {
            ip: connect.ip(),
            name: name.map(String::from),
            is_local: connect.family == AddressFamily::Unix,
        };
        FilterAction::Continue
    }

    fn mail(&mut self, from: &EnvelopeAddress<'_>, _macros: &MacroTable) -> FilterAction {
        // A message keeps the settings of its start, even if they are replaced meanwhile.
        self.shared = self.current.get();
        self.message = IncomingMessage {
            in_flight: Some(InFlightGuard::new(&self.shared)),
            ownership: MessageOwnership { is_internal: self.is_internal(), is_authenticated: false },
            is_exempt_host: self.is_in(&self.shared.exempt.hosts),
            sender: AuthorAddress::parse_envelope(from.address()),
            ..IncomingMessage::default()
        };
        FilterAction::Continue
    }

    fn header(&mut self, name: &[u8], value: &[u8]) -> FilterAction {
        let FilterState { policy, trust, .. } = &*self.shared;
        let trust = trust.for_client(self.client.ip);
        self.message.collected.push(name, value, self.has_leading_space, &policy.limits, trust);
        FilterAction::Continue
    }

    fn end_of_headers(&mut self, macros: &MacroTable) -> FilterAction {
        let message = &mut self.message;
        // An empty value means that the client has not authenticated.
        message.ownership.is_authenticated = macros.get("auth_authen").is_some_and(|name| !name.is_empty());
        message.now_s = self.shared.clock().now_s();
        let MessageWork { plan, bodies, is_unlisted } = plan(&self.shared, message);
        (message.plan, message.bodies, message.is_unlisted) = (plan, bodies, is_unlisted);
        let mut report = match message.plan {
            MessagePlan::Pass => MessageReport::new(MessageOutcome::Ignored),
            // Forged results are removed from exempt messages too, which only the end of a message allows.
            MessagePlan::Exempt(cause) if !message.has_forged() || !self.shared.mode.verifies() => {
                exempt(cause)
            }
            _ => return FilterAction::Continue,
        };
        explain(&mut report, &message.collected, message.is_unlisted);
        self.message = IncomingMessage::default();
        self.log_message(&report, macros);
        FilterAction::Accept
    }

    fn body(&mut self, chunk: &[u8]) -> FilterAction {
        let BodyHashers { signatures, seal } = &mut self.message.bodies;
        let mut is_wanted = false;
        for hasher in signatures.iter_mut().chain(seal) {
            hasher.push(chunk);
            // The bytes after `l=` only matter if the policy rejects a partially signed body.
            is_wanted |= !(hasher.is_full() && self.shared.policy.accepts_partial_body);
        }
        if is_wanted { FilterAction::Continue } else { FilterAction::Skip }
    }

    async fn end_of_message(&mut self, macros: &MacroTable) -> FilterVerdict {
        let (message, began) = (std::mem::take(&mut self.message), Instant::now());
        let shared = Arc::clone(&self.shared);
        let is_internal = message.ownership.is_internal;
        let mut report = message.conclude(&shared).await;
        if report.removes_forged(is_internal) {
            let removals: Vec<MessageChange> = removals_of(&report.forged);
            count(&shared.metrics.forged, removals.len());
            // Some MTAs count added fields in the positions of later changes, so removals come first.
            report.changes.splice(0..0, removals);
        }
        self.log_message(&report, macros);
        let elapsed = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        shared.metrics.verdict_time.record(elapsed);
        shared.responses.verdict(report.fault(), report.changes)
    }

    fn abort(&mut self) {
        self.message = IncomingMessage::default();
    }
}

impl DkimFilter {
    fn is_internal(&self) -> bool {
        // A process that connects over TCP can claim that its client used a UNIX socket.
        self.is_in(&self.shared.internal_hosts) || (self.client.is_local && self.socket.is_unix())
    }

    fn is_in(&self, list: &ClientList) -> bool {
        list.contains(self.client.ip, self.client.name.as_deref())
    }

    /// Logs and counts a finished message.
    fn log_message(&self, report: &MessageReport, macros: &MacroTable) {
        self.shared.metrics.message(report.outcome);
        let queue_id = macros.get("i").map(String::from_utf8_lossy).unwrap_or_default();
        let response = report.fault().map(|fault| self.shared.responses.response_to(fault));
        let failures = (!report.failures.is_empty()).then(|| report.failures.join("; "));
        let client = self.client.shown();
        info!(
            queue_id = &*queue_id,
            // The client and the author only help to find the cause of a failure.
            client = report.has_failure().then_some(&*client),
            from = report.author.as_deref(),
            outcome = report.outcome.name(),
            response = response.map(|response| response.name()),
            signatures = report.signatures.join("; "),
            failures,
            arc = report.arc.as_deref(),
            forged = report.forged.len(),
            reason = report.reason.as_deref(),
            "message"
        );
    }
}

impl IncomingMessage {
    fn has_forged(&self) -> bool {
        self.collected.forged().next().is_some()
    }

    async fn conclude(self, shared: &FilterState) -> MessageReport {
        let Self { is_unlisted, collected, plan, bodies, now_s, in_flight: _in_flight, .. } = self;
        let headers = collected.headers();
        let mut report = match (plan, headers) {
            (MessagePlan::Sign(choice), Ok(headers)) => {
                sign::sign(shared, headers, bodies, &choice, now_s).await
            }
            (MessagePlan::Verify(parsed), Ok(headers)) => {
                verify::verify(shared, headers, *parsed, bodies, collected.trusted(), now_s).await
            }
            (MessagePlan::Unsigned(fault), _) => {
                MessageReport::failed(MessageOutcome::Faulty(fault.fault()), fault)
            }
            (MessagePlan::Exempt(cause), _) => exempt(cause),
            (MessagePlan::Malformed(error), _) | (_, Err(error)) => verify::malformed(shared, error),
            (MessagePlan::Pass, Ok(_)) => MessageReport::new(MessageOutcome::Ignored),
        };
        report.forged = collected.forged().collect();
        explain(&mut report, &collected, is_unlisted);
        report
    }
}

/// Adds to a report what only the header shows: the author of a message with a failure, and why it was not signed.
fn explain(report: &mut MessageReport, collected: &IncomingHeader, is_unlisted: bool) {
    let is_unsigned =
        matches!(report.outcome, MessageOutcome::Ignored | MessageOutcome::Faulty(MessageFault::NoSignature));
    if is_unlisted && is_unsigned && report.reason.is_none() {
        report.reason = Some("no line of the signing table signs for its addresses".to_owned());
    }
    if report.has_failure() {
        let headers = collected.headers().unwrap_or_default();
        let from = headers.iter().find(|header| header.is(b"From"));
        let author = from.and_then(|from| AuthorAddress::parse(from.value()));
        report.author = author.map(|author| shorten(&author.address));
    }
}

/// Decides the plan for a message and makes the hashers for its body.
fn plan(shared: &FilterState, message: &IncomingMessage) -> MessageWork {
    let IncomingMessage { collected, now_s, .. } = message;
    let headers = collected.headers();
    let tasks = MessageTasks::new(shared, message, headers.as_deref().ok());
    let pass = tasks.exempt.map_or(MessagePlan::Pass, MessagePlan::Exempt);
    let is_ours = tasks.signs && message.ownership.is_ours();
    let headers = match headers {
        Ok(headers) => headers,
        // A malformed message that is neither signed nor verified passes unchanged.
        Err(_) if !is_ours && !tasks.verifies => return pass.into(),
        Err(error) => return MessagePlan::Malformed(error).into(),
    };
    if is_ours && let Some(plan) = plan_to_sign(shared, &headers, message) {
        let needs = [BodyNeed {
            form: shared.style.canonicalization.body,
            digest: oarlock::DigestAlg::Sha256,
            limit: None,
        }];
        let signatures = match plan {
            MessagePlan::Sign(_) => shared.hashers(&needs),
            _ => Vec::new(),
        };
        return MessageWork {
            bodies: BodyHashers { signatures, seal: Vec::new() },
            ..MessageWork::from(plan)
        };
    }
    let is_unlisted = is_ours && shared.tables.is_some();
    if !tasks.verifies {
        return MessageWork { is_unlisted, ..MessageWork::from(pass) };
    }
    let seal = shared.seal.as_ref().map(SealSource::body_need);
    let parsed = ParsedSignatures::parse(&headers, &shared.policy, *now_s).into_owned();
    let bodies = BodyHashers {
        signatures: shared.hashers(&parsed.body_needs()),
        seal: shared.hashers(seal.as_slice()),
    };
    MessageWork { plan: MessagePlan::Verify(Box::new(parsed)), bodies, is_unlisted }
}

/// Returns the plan for a message of this site, or None if nobody signs for its addresses.
fn plan_to_sign(
    shared: &FilterState,
    headers: &[HeaderField<'_>],
    message: &IncomingMessage,
) -> Option<MessagePlan> {
    let table = shared.tables.as_ref()?.current();
    let request = AddressRequest {
        headers,
        envelope: message.sender.as_ref(),
        is_authenticated: message.ownership.is_authenticated,
        now_s: message.now_s,
    };
    match request.choose(&table, &shared.style) {
        Ok(choice) => choice.map(MessagePlan::Sign),
        Err(fault) => Some(MessagePlan::Unsigned(fault)),
    }
}

fn exempt(cause: ExemptCause) -> MessageReport {
    MessageReport::failed(MessageOutcome::Ignored, cause.reason())
}

fn removals_of(indices: &[u32]) -> Vec<MessageChange> {
    let name = b"Authentication-Results";
    let removal =
        |index: &u32| MessageChange::ChangeHeader { index: *index, name: name.to_vec(), value: Vec::new() };
    indices.iter().map(removal).collect()
}
