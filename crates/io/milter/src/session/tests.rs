//! A filter that records its calls and answers by a script.

use std::collections::HashMap;
use std::sync::Mutex;

use super::*;
use crate::protocol::{
    AddressFamily, ConnectInfo, EnvelopeAddress, MacroPairs, MilterDecoder, ProtocolErrorKind, SmtpReply,
    code,
};

/// A factory of filters that share one script and one record of calls.
#[derive(Default)]
struct ScriptedFilters {
    wants: FilterWants,
    says: HashMap<&'static str, FilterAction>,
    verdict: FilterVerdict,
    declines: bool,
    calls: Arc<Mutex<Vec<String>>>,
}

struct ScriptedFilter {
    says: HashMap<&'static str, FilterAction>,
    verdict: FilterVerdict,
    declines: bool,
    calls: Arc<Mutex<Vec<String>>>,
}

impl FilterFactory for ScriptedFilters {
    type Filter = ScriptedFilter;

    fn wants(&self) -> FilterWants {
        self.wants.clone()
    }

    fn filter(&self, _: MtaSocket) -> ScriptedFilter {
        self.calls.lock().unwrap().push("new".into());
        let (says, verdict, calls) = (self.says.clone(), self.verdict.clone(), Arc::clone(&self.calls));
        ScriptedFilter { says, verdict, declines: self.declines, calls }
    }
}

impl ScriptedFilter {
    fn note(&self, step: &str, about: &[u8]) -> FilterAction {
        let about = String::from_utf8_lossy(about);
        self.calls.lock().unwrap().push(format!("{step} {about}").trim().into());
        self.says.get(step).cloned().unwrap_or_default()
    }
}

fn id(macros: &MacroTable) -> &[u8] {
    macros.get("i").unwrap_or(b"-")
}

impl MessageFilter for ScriptedFilter {
    fn accepts(&mut self, _: &AgreedOptions) -> bool {
        !self.declines
    }

    fn connect(&mut self, connect: &ConnectInfo<'_>, _: &MacroTable) -> FilterAction {
        self.note("connect", connect.host)
    }

    fn helo(&mut self, name: &[u8], _: &MacroTable) -> FilterAction {
        self.note("helo", name)
    }

    fn mail(&mut self, from: &EnvelopeAddress<'_>, macros: &MacroTable) -> FilterAction {
        self.note("mail", &[from.address(), b" ", id(macros)].concat())
    }

    fn recipient(&mut self, to: &EnvelopeAddress<'_>, _: &MacroTable) -> FilterAction {
        self.note("recipient", to.address())
    }

    fn data(&mut self, _: &MacroTable) -> FilterAction {
        self.note("data", b"")
    }

    fn header(&mut self, name: &[u8], value: &[u8]) -> FilterAction {
        self.note("header", &[name, b":", value].concat())
    }

    fn end_of_headers(&mut self, _: &MacroTable) -> FilterAction {
        self.note("eoh", b"")
    }

    fn body(&mut self, chunk: &[u8]) -> FilterAction {
        self.note("body", chunk)
    }

    async fn end_of_message(&mut self, macros: &MacroTable) -> FilterVerdict {
        self.note("end", id(macros));
        self.verdict.clone()
    }

    fn abort(&mut self) {
        self.note("abort", b"");
    }

    fn unknown(&mut self, command: &[u8]) -> FilterAction {
        self.note("unknown", command)
    }
}

/// One connection with a scripted filter.
struct TestSession {
    session: MilterSession<ScriptedFilters>,
    counters: Arc<MilterCounters>,
    calls: Arc<Mutex<Vec<String>>>,
}

impl TestSession {
    fn new(script: ScriptedFilters) -> Self {
        let (counters, calls) = (Arc::<MilterCounters>::default(), Arc::clone(&script.calls));
        Self {
            session: MilterSession::new(Arc::new(script), Arc::clone(&counters), MtaSocket::Tcp),
            counters,
            calls,
        }
    }

    /// Makes a session that was negotiated with an MTA that offers everything.
    async fn agreed(script: ScriptedFilters) -> Self {
        let mut test = Self::new(script);
        let replies = test.send(&[offer(6, Actions::ALL, Steps::ALL)]).await.unwrap();
        assert!(matches!(replies.as_slice(), [FilterReply::Negotiate(_)]));
        test
    }

    /// Sends commands and returns the replies.
    async fn send(&mut self, commands: &[MilterCommand<'_>]) -> Result<Vec<FilterReply>, SessionError> {
        let (mut out, mut bytes) = (Vec::new(), Vec::new());
        commands.iter().for_each(|command| command.encode(&mut bytes).unwrap());
        let mut decoder = MilterDecoder::default();
        decoder.push(&bytes);
        while let Some(frame) = decoder.next_frame().unwrap() {
            if self.session.handle(frame, &mut out)? == NextStep::Conclude {
                let verdict = self.session.conclude().await;
                self.session.deliver(&verdict, &mut out)?;
            }
        }
        let mut decoder = MilterDecoder::default();
        decoder.push(&out);
        let mut replies = Vec::new();
        while let Some(frame) = decoder.next_frame().unwrap() {
            replies.push(FilterReply::read(frame).unwrap());
        }
        Ok(replies)
    }

    fn take_calls(&self) -> Vec<String> {
        std::mem::take(&mut *self.calls.lock().unwrap())
    }
}

fn offer(version: u32, actions: Actions, steps: Steps) -> MilterCommand<'static> {
    MilterCommand::Negotiate(NegotiationOptions { version, actions, steps, macros: Vec::new() })
}

fn connect() -> MilterCommand<'static> {
    MilterCommand::Connect(ConnectInfo {
        host: b"mx",
        family: AddressFamily::Inet,
        port: 1,
        address: b"192.0.2.1",
    })
}

fn mail() -> MilterCommand<'static> {
    MilterCommand::Mail(EnvelopeAddress::new(b"<a>\0").unwrap())
}

fn recipient() -> MilterCommand<'static> {
    MilterCommand::Recipient(EnvelopeAddress::new(b"<b>\0").unwrap())
}

fn macros(of: u8, bytes: &'static [u8]) -> MilterCommand<'static> {
    MilterCommand::Macros { of, pairs: MacroPairs::new(bytes).unwrap() }
}

const HELO: MilterCommand<'static> = MilterCommand::Helo(b"me");
const HEADER: MilterCommand<'static> = MilterCommand::Header { name: b"A", value: b" b" };
const EOH: MilterCommand<'static> = MilterCommand::EndOfHeaders;
const BODY: MilterCommand<'static> = MilterCommand::Body(b"x");
const END: MilterCommand<'static> = MilterCommand::EndOfMessage(b"");

fn message() -> Vec<MilterCommand<'static>> {
    vec![mail(), recipient(), MilterCommand::Data, HEADER, EOH, BODY, END]
}

fn wants(steps: Steps) -> FilterWants {
    FilterWants { steps, actions: Actions::ADD_HEADERS, ..FilterWants::default() }
}

#[tokio::test]
async fn passes_a_message_to_the_filter_step_by_step() {
    let mut test = TestSession::agreed(ScriptedFilters::default()).await;
    let all = [vec![connect(), HELO], message()].concat();
    assert_eq!(test.send(&all).await.unwrap(), vec![FilterReply::Continue; 9]);
    let calls = "new|connect mx|helo me|mail <a> -|recipient <b>|data|header A: b|eoh|body x|end -";
    assert_eq!(test.take_calls().join("|"), calls);
    assert!(test.session.is_between_messages());
    assert_eq!(test.counters.messages.load(std::sync::atomic::Ordering::Relaxed), 1);
    assert_eq!(test.counters.outcomes(CountedOutcome::Continue), 1);
}

#[tokio::test]
async fn negotiates_what_is_both_wanted_and_offered() {
    let wants = FilterWants {
        actions: Actions::ADD_HEADERS | Actions::CHANGE_HEADERS,
        steps: Steps::NO_HELO | Steps::SKIP | Steps::LEADING_SPACE,
        macros: vec![(MacroStage::Mail, "i {auth_authen}".into())],
    };
    let chosen = async |version, actions, steps| {
        let mut test =
            TestSession::new(ScriptedFilters { wants: wants.clone(), ..ScriptedFilters::default() });
        match test.send(&[offer(version, actions, steps)]).await?.pop() {
            Some(FilterReply::Negotiate(options)) => Ok::<_, SessionError>(options),
            other => panic!("{other:?}"),
        }
    };
    let all = chosen(6, Actions::ALL, Steps::ALL).await.unwrap();
    assert_eq!((all.version, all.actions), (6, wants.actions | Actions::SET_MACROS));
    assert_eq!((all.steps, all.macros.len()), (wants.steps, 1));
    for version in 2..=6 {
        let options = chosen(version, Actions::ADD_HEADERS, Steps::SKIP).await.unwrap();
        assert_eq!((options.version, options.macros), (version, vec![]));
        assert_eq!((options.actions, options.steps), (Actions::ADD_HEADERS, Steps::SKIP));
    }
    assert_eq!(chosen(1 << 31, Actions::ALL, Steps::ALL).await.unwrap().version, 6);
    // An empty offer means the options of version 1.
    let oldest = chosen(2, Actions::NONE, Steps::NONE).await.unwrap();
    assert_eq!((oldest.actions, oldest.steps), (Actions::ADD_HEADERS, Steps::NO_HELO));
    for version in [0, 1] {
        let refused = chosen(version, Actions::ALL, Steps::ALL).await.unwrap_err();
        assert_eq!(refused, ProtocolError::Version(version).into());
    }
}

#[tokio::test]
async fn a_filter_can_decline_an_mta() {
    let mut test = TestSession::new(ScriptedFilters { declines: true, ..ScriptedFilters::default() });
    let end = test.send(&[offer(6, Actions::ALL, Steps::ALL)]).await;
    assert!(matches!(end, Err(SessionError::Declined { .. })));
}

#[tokio::test]
async fn a_command_out_of_order_ends_the_connection() {
    let hello = [connect(), HELO];
    let ways: Vec<(Vec<MilterCommand<'_>>, MilterCommand<'_>)> = vec![
        (vec![], offer(6, Actions::ALL, Steps::ALL)),
        (vec![], HELO),
        (vec![], mail()),
        (vec![], END),
        (vec![connect()], connect()),
        (hello.to_vec(), recipient()),
        (hello.to_vec(), MilterCommand::Data),
        (hello.to_vec(), HEADER),
        (hello.to_vec(), END),
        ([&hello[..], &message()].concat(), END),
        ([&hello[..], &message()].concat(), BODY),
        ([&hello[..], &[mail()]].concat(), MilterCommand::Data),
        ([&hello[..], &[mail()]].concat(), HEADER),
        ([&hello[..], &[mail()]].concat(), END),
        ([&hello[..], &message()[..3]].concat(), recipient()),
        ([&hello[..], &message()[..3]].concat(), MilterCommand::Data),
        ([&hello[..], &message()[..4]].concat(), MilterCommand::Data),
        ([&hello[..], &message()[..5]].concat(), HEADER),
        ([&hello[..], &message()[..5]].concat(), EOH),
        ([&hello[..], &message()[..6]].concat(), EOH),
        ([&hello[..], &message()[..6]].concat(), recipient()),
    ];
    for (before, bad) in ways {
        let mut test = TestSession::agreed(ScriptedFilters::default()).await;
        test.send(&before).await.unwrap();
        match test.send(std::slice::from_ref(&bad)).await {
            Err(SessionError::Protocol(error)) => assert_eq!(error.kind(), ProtocolErrorKind::OutOfOrder),
            other => panic!("{before:?}, then {bad:?}: {other:?}"),
        }
    }
    for bad in [connect(), HELO, mail(), END, MilterCommand::Abort, macros(code::MAIL, b"")] {
        let end = TestSession::new(ScriptedFilters::default()).send(&[bad]).await.unwrap_err();
        assert!(matches!(end, SessionError::Protocol(ProtocolError::OutOfOrder { .. })));
    }
}

#[tokio::test]
async fn accepts_messages_without_optional_commands() {
    for left in [
        vec![connect(), mail(), recipient(), END],
        vec![connect(), HELO, HELO, mail(), recipient(), BODY, BODY, END],
        vec![connect(), mail(), recipient(), recipient(), HEADER, HEADER, END],
        vec![
            connect(),
            MilterCommand::Unknown(b"?"),
            mail(),
            MilterCommand::Unknown(b"?"),
            recipient(),
            EOH,
            END,
        ],
    ] {
        let mut test = TestSession::agreed(ScriptedFilters::default()).await;
        assert_eq!(test.send(&left).await.unwrap(), vec![FilterReply::Continue; left.len()]);
    }
    let nothing = Steps::NO_CONNECT | Steps::NO_HELO | Steps::NO_MAIL | Steps::NO_RECIPIENT;
    let mut test =
        TestSession::agreed(ScriptedFilters { wants: wants(nothing), ..ScriptedFilters::default() }).await;
    assert_eq!(test.send(&[HEADER, END, BODY, END]).await.unwrap(), vec![FilterReply::Continue; 4]);
    test.session.lost();
    let calls = "new|header A: b|end -|body x|end -";
    assert_eq!(test.take_calls().join("|"), calls);
}

#[tokio::test]
async fn sends_no_reply_if_none_was_negotiated() {
    let silent = [
        Steps::NO_REPLY_CONNECT,
        Steps::NO_REPLY_HELO,
        Steps::NO_REPLY_MAIL,
        Steps::NO_REPLY_RECIPIENT,
        Steps::NO_REPLY_DATA,
        Steps::NO_REPLY_HEADER,
        Steps::NO_REPLY_END_OF_HEADERS,
        Steps::NO_REPLY_BODY,
    ];
    let all = [vec![connect(), HELO], message()].concat();
    for (silent_step, step) in silent.into_iter().enumerate() {
        let mut test =
            TestSession::agreed(ScriptedFilters { wants: wants(step), ..ScriptedFilters::default() }).await;
        for (index, command) in all.iter().enumerate() {
            let replies = test.send(std::slice::from_ref(command)).await.unwrap();
            assert_eq!(replies.is_empty(), index == silent_step, "{command:?}");
        }
    }
    // An MTA that does not offer this step waits for the reply and gets it.
    let mut test = TestSession::new(ScriptedFilters {
        wants: wants(Steps::NO_REPLY_CONNECT),
        ..ScriptedFilters::default()
    });
    let replies = test.send(&[offer(2, Actions::NONE, Steps::NONE), connect()]).await.unwrap();
    assert_eq!(replies[1], FilterReply::Continue);
}

#[tokio::test]
async fn sends_an_action_with_the_next_reply() {
    let reject = |step| HashMap::from([(step, FilterAction::Reject)]);
    let script = |steps, says| ScriptedFilters { wants: wants(steps), says, ..ScriptedFilters::default() };
    let steps = Steps::NO_REPLY_HEADER | Steps::NO_REPLY_END_OF_HEADERS;
    let mut test = TestSession::agreed(script(steps, reject("header"))).await;
    test.send(&[connect(), mail(), recipient()]).await.unwrap();
    assert_eq!(test.send(&[HEADER, EOH, BODY]).await.unwrap(), [FilterReply::Reject]);
    assert!(test.take_calls().join("|").ends_with("header A: b|abort"));
    // For a connection the action holds for every message, and the filter is not asked again.
    let mut test = TestSession::agreed(script(Steps::NO_REPLY_CONNECT, reject("connect"))).await;
    assert_eq!(test.send(&[connect(), HELO, mail(), mail()]).await.unwrap(), vec![FilterReply::Reject; 3]);
    assert_eq!(test.take_calls().join("|"), "new|connect mx");
    // An action for a connection that MTAs accept only for a message is sent with the message.
    let says = HashMap::from([("connect", FilterAction::Discard)]);
    let mut test = TestSession::agreed(script(Steps::NONE, says)).await;
    assert_eq!(test.send(&[connect(), mail()]).await.unwrap(), [FilterReply::Continue, FilterReply::Discard]);
    // If no step before it has a reply, the end of the message has one.
    let mut test = TestSession::agreed(script(Steps::NO_REPLY_BODY, reject("body"))).await;
    test.send(&[connect(), mail(), recipient()]).await.unwrap();
    assert_eq!(test.send(&[BODY, BODY, END]).await.unwrap(), [FilterReply::Reject]);
    assert!(test.take_calls().join("|").ends_with("body x|abort"));
    assert_eq!(test.counters.outcomes(CountedOutcome::Reject), 1);
}

#[tokio::test]
async fn a_final_action_ends_a_message_unless_it_rejects_a_recipient() {
    let words = SmtpReply::new(451, Some((4, 7, 1)), "later").unwrap();
    for (action, reply, ends) in [
        (FilterAction::Reject, FilterReply::Reject, false),
        (FilterAction::Tempfail, FilterReply::Tempfail, false),
        (FilterAction::Reply(words.clone()), FilterReply::Smtp(b"451 4.7.1 later".to_vec()), false),
        (FilterAction::Accept, FilterReply::Accept, true),
        (FilterAction::Discard, FilterReply::Discard, true),
    ] {
        for step in ["mail", "recipient"] {
            let script = ScriptedFilters {
                says: HashMap::from([(step, action.clone())]),
                ..ScriptedFilters::default()
            };
            let mut test = TestSession::agreed(script).await;
            test.send(&[connect()]).await.unwrap();
            let until = if step == "mail" { vec![mail()] } else { vec![mail(), recipient()] };
            assert_eq!(test.send(&until).await.unwrap().pop().as_ref(), Some(&reply));
            assert_eq!(test.session.is_between_messages(), ends || step == "mail");
        }
    }
}

#[tokio::test]
async fn does_not_pass_on_skipped_bodies() {
    let script = |steps| ScriptedFilters {
        wants: wants(steps),
        says: HashMap::from([("body", FilterAction::Skip), ("mail", FilterAction::Skip)]),
        ..ScriptedFilters::default()
    };
    let head = [connect(), mail(), recipient()];
    for (steps, wanted) in [
        (Steps::SKIP, vec![FilterReply::Skip, FilterReply::Continue, FilterReply::Continue]),
        (Steps::NONE, vec![FilterReply::Continue; 3]),
        (Steps::NO_REPLY_BODY, vec![FilterReply::Continue]),
    ] {
        let mut test = TestSession::agreed(script(steps)).await;
        assert_eq!(test.send(&head).await.unwrap(), vec![FilterReply::Continue; 3]);
        assert_eq!(test.send(&[BODY, BODY, MilterCommand::EndOfMessage(b"y")]).await.unwrap(), wanted);
        // The next message has a body of its own.
        test.send(&[mail(), recipient(), BODY]).await.unwrap();
        let bodies = test.take_calls().iter().filter(|calls| calls.starts_with("body")).count();
        assert_eq!(bodies, 2);
    }
}

#[tokio::test]
async fn the_end_of_a_message_may_carry_the_last_piece_of_the_body() {
    let mut test = TestSession::agreed(ScriptedFilters::default()).await;
    let said = [connect(), mail(), recipient(), BODY, MilterCommand::EndOfMessage(b"y")];
    assert_eq!(test.send(&said).await.unwrap(), vec![FilterReply::Continue; 5]);
    assert!(test.take_calls().join("|").ends_with("body x|body y|end -"));
    let says = HashMap::from([("body", FilterAction::Reject)]);
    let mut test = TestSession::agreed(ScriptedFilters { says, ..ScriptedFilters::default() }).await;
    let said = [connect(), mail(), recipient(), MilterCommand::EndOfMessage(b"y")];
    assert_eq!(test.send(&said).await.unwrap().pop(), Some(FilterReply::Reject));
    assert!(test.take_calls().join("|").ends_with("body y|abort"));
}

#[tokio::test]
async fn messages_follow_each_other_with_macros_of_their_own() {
    let mut test = TestSession::agreed(ScriptedFilters::default()).await;
    test.send(&[connect(), HELO]).await.unwrap();
    let first = [
        vec![macros(code::MAIL, b"i\x001\0")],
        message()[..6].to_vec(),
        vec![macros(code::BODY_EOB, b"{i}\x002\0"), END],
    ]
    .concat();
    assert_eq!(test.send(&first).await.unwrap().len(), 7);
    assert_eq!(test.send(&message()).await.unwrap().len(), 7);
    let calls = test.take_calls().join("|");
    assert!(calls.contains("mail <a> 1|") && calls.contains("end 2|mail <a> -|"), "{calls}");
    assert!(calls.ends_with("end -"), "{calls}");
}

#[tokio::test]
async fn abort_mail_helo_and_hanging_up_abort_a_message() {
    for (given_up, then) in [
        (vec![MilterCommand::Abort, MilterCommand::Abort, mail()], "abort|mail <a> 7"),
        (vec![mail()], "abort|mail <a> 7"),
        (vec![HELO, mail()], "abort|helo me|mail <a> 7"),
    ] {
        for len in 1..=6 {
            let mut test = TestSession::agreed(ScriptedFilters::default()).await;
            test.send(&[connect()]).await.unwrap();
            test.send(&message()[..len]).await.unwrap();
            test.take_calls();
            let (last, before) = given_up.split_last().unwrap();
            test.send(before).await.unwrap();
            test.send(&[macros(code::MAIL, b"i\x007\0"), last.clone()]).await.unwrap();
            assert_eq!(test.take_calls().join("|"), then);
            test.session.lost();
            assert_eq!(test.take_calls().join("|"), "abort");
            test.session.lost();
            assert!(test.take_calls().is_empty());
        }
    }
}

#[tokio::test]
async fn another_client_gets_another_filter() {
    let mut test = TestSession::agreed(ScriptedFilters::default()).await;
    test.send(&[macros(code::CONNECT, b"i\0old\0"), connect(), mail()]).await.unwrap();
    test.send(&[MilterCommand::QuitNewConnection]).await.unwrap();
    assert!(test.send(&[mail()]).await.is_err());
    let replies = test.send(&[connect(), mail()]).await.unwrap();
    assert_eq!(replies, vec![FilterReply::Continue; 2]);
    assert_eq!(test.take_calls().join("|"), "new|connect mx|mail <a> old|abort|new|connect mx|mail <a> -");
}

#[tokio::test]
async fn quit_closes_the_connection() {
    let mut test = TestSession::agreed(ScriptedFilters::default()).await;
    test.send(&[connect(), mail()]).await.unwrap();
    let frame = MilterFrame { code: code::QUIT, data: b"" };
    assert_eq!(test.session.handle(frame, &mut Vec::new()), Ok(NextStep::Close));
    assert_eq!(test.take_calls().last().map(String::as_str), Some("abort"));
}

fn header(value: &[u8]) -> MessageChange {
    MessageChange::InsertHeader { index: 0, name: b"A".to_vec(), value: value.to_vec() }
}

#[tokio::test]
async fn sends_only_negotiated_changes() {
    let changes = vec![header(b" v"), MessageChange::Quarantine(b"no".to_vec()), header(b"w")];
    let verdict = |action| FilterVerdict { changes: changes.clone(), action };
    let script = |steps, action| ScriptedFilters {
        wants: wants(steps),
        verdict: verdict(action),
        ..ScriptedFilters::default()
    };
    let all = [vec![connect()], message()].concat();
    for (steps, value) in [(Steps::LEADING_SPACE, b" v".as_slice()), (Steps::NONE, b"v")] {
        let mut test = TestSession::agreed(script(steps, FilterAction::Accept)).await;
        let replies = test.send(&all).await.unwrap();
        let wanted =
            [FilterReply::Change(header(value)), FilterReply::Change(header(b"w")), FilterReply::Accept];
        assert_eq!(replies[replies.len() - 3..], wanted);
        assert_eq!(test.counters.dropped_changes.load(std::sync::atomic::Ordering::Relaxed), 1);
    }
    let mut test = TestSession::agreed(script(Steps::NONE, FilterAction::Tempfail)).await;
    let replies = test.send(&all).await.unwrap();
    assert_eq!(replies[replies.len() - 2..], [FilterReply::Continue, FilterReply::Tempfail]);
}

#[tokio::test]
async fn a_verdict_that_cannot_be_encoded_appends_nothing() {
    let verdict =
        FilterVerdict { changes: vec![header(b"v"), header(b"\0")], action: FilterAction::Continue };
    let mut test = TestSession::agreed(ScriptedFilters {
        wants: wants(Steps::NONE),
        verdict,
        ..ScriptedFilters::default()
    })
    .await;
    test.send(&[vec![connect()], message()[..6].to_vec()].concat()).await.unwrap();
    let mut out = vec![1];
    let end = MilterFrame { code: code::BODY_EOB, data: b"" };
    assert_eq!(test.session.handle(end, &mut out), Ok(NextStep::Conclude));
    let verdict = test.session.conclude().await;
    let error = test.session.deliver(&verdict, &mut out).unwrap_err();
    assert_eq!(error, EncodeError::Nul { what: "the header's value" }.into());
    assert_eq!(out, [1]);
}

/// Every command has its reply or ends the connection, in any order.
#[tokio::test]
async fn answers_or_rejects_random_commands() {
    let mut state = 7_u64;
    let mut chance = |max: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % max
    };
    let actions = [
        FilterAction::Continue,
        FilterAction::Accept,
        FilterAction::Reject,
        FilterAction::Discard,
        FilterAction::Skip,
    ];
    let steps = ["connect", "helo", "mail", "recipient", "header", "eoh", "body"];
    let all = [message(), vec![connect(), HELO, MilterCommand::Abort, MilterCommand::Unknown(b"?")]].concat();
    for _ in 0..2000 {
        let says = HashMap::from([(steps[chance(steps.len())], actions[chance(actions.len())].clone())]);
        let no_replies = Steps::from_bits(chance(1 << 21) as u32) & !Steps::SKIP;
        let mut test = TestSession::agreed(ScriptedFilters {
            wants: wants(no_replies),
            says,
            ..ScriptedFilters::default()
        })
        .await;
        for _ in 0..40 {
            let command = &all[chance(all.len())];
            let Ok(replies) = test.send(std::slice::from_ref(command)).await else { continue };
            let expects = match command {
                MilterCommand::Abort => false,
                MilterCommand::EndOfMessage(_) => true,
                MilterCommand::Connect(_) => !no_replies.contains(Steps::NO_REPLY_CONNECT),
                MilterCommand::Helo(_) => !no_replies.contains(Steps::NO_REPLY_HELO),
                MilterCommand::Mail(_) => !no_replies.contains(Steps::NO_REPLY_MAIL),
                MilterCommand::Recipient(_) => !no_replies.contains(Steps::NO_REPLY_RECIPIENT),
                MilterCommand::Data => !no_replies.contains(Steps::NO_REPLY_DATA),
                MilterCommand::Header { .. } => !no_replies.contains(Steps::NO_REPLY_HEADER),
                MilterCommand::EndOfHeaders => !no_replies.contains(Steps::NO_REPLY_END_OF_HEADERS),
                MilterCommand::Body(_) => !no_replies.contains(Steps::NO_REPLY_BODY),
                _ => !no_replies.contains(Steps::NO_REPLY_UNKNOWN),
            };
            assert_eq!(replies.len(), usize::from(expects), "{command:?}");
        }
    }
}
