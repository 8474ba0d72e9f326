//! A filter that writes down what it is told and says what it is asked to.

use std::collections::HashMap;
use std::sync::Mutex;

use super::*;
use crate::protocol::{
    AddressFamily, ConnectInfo, EnvelopeAddress, FrameDecoder, MacroPairs, ProtocolErrorKind, SmtpReply, code,
};

/// Filters that share one script and one diary.
#[derive(Default)]
struct Play {
    wants: FilterWants,
    says: HashMap<&'static str, FilterAction>,
    verdict: FilterVerdict,
    declines: bool,
    diary: Arc<Mutex<Vec<String>>>,
}

struct Actor {
    says: HashMap<&'static str, FilterAction>,
    verdict: FilterVerdict,
    declines: bool,
    diary: Arc<Mutex<Vec<String>>>,
}

impl FilterFactory for Play {
    type Filter = Actor;

    fn wants(&self) -> FilterWants {
        self.wants.clone()
    }

    fn filter(&self, _: MtaSocket) -> Actor {
        self.diary.lock().unwrap().push("new".into());
        let (says, verdict, diary) = (self.says.clone(), self.verdict.clone(), Arc::clone(&self.diary));
        Actor { says, verdict, declines: self.declines, diary }
    }
}

impl Actor {
    fn note(&self, step: &str, about: &[u8]) -> FilterAction {
        let about = String::from_utf8_lossy(about);
        self.diary.lock().unwrap().push(format!("{step} {about}").trim().into());
        self.says.get(step).cloned().unwrap_or_default()
    }
}

fn id(macros: &MacroTable) -> &[u8] {
    macros.get("i").unwrap_or(b"-")
}

impl MessageFilter for Actor {
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

/// One connection with a play on it.
struct Stage {
    session: MilterSession<Play>,
    counters: Arc<MilterCounters>,
    diary: Arc<Mutex<Vec<String>>>,
}

impl Stage {
    fn new(play: Play) -> Self {
        let (counters, diary) = (Arc::<MilterCounters>::default(), Arc::clone(&play.diary));
        Self {
            session: MilterSession::new(Arc::new(play), Arc::clone(&counters), MtaSocket::Tcp),
            counters,
            diary,
        }
    }

    /// Negotiated with an MTA that offers everything.
    async fn agreed(play: Play) -> Self {
        let mut stage = Self::new(play);
        let replies = stage.says(&[offer(6, Actions::ALL, Steps::ALL)]).await.unwrap();
        assert!(matches!(replies.as_slice(), [FilterReply::Negotiate(_)]));
        stage
    }

    /// What the MTA gets for these.
    async fn says(&mut self, commands: &[MilterCommand<'_>]) -> Result<Vec<FilterReply>, SessionError> {
        let (mut out, mut bytes) = (Vec::new(), Vec::new());
        commands.iter().for_each(|command| command.encode(&mut bytes).unwrap());
        let mut decoder = FrameDecoder::default();
        decoder.push(&bytes);
        while let Some(frame) = decoder.next_frame().unwrap() {
            if self.session.handle(frame, &mut out)? == NextStep::Conclude {
                let verdict = self.session.conclude().await;
                self.session.deliver(&verdict, &mut out)?;
            }
        }
        let mut decoder = FrameDecoder::default();
        decoder.push(&out);
        let mut replies = Vec::new();
        while let Some(frame) = decoder.next_frame().unwrap() {
            replies.push(FilterReply::read(frame).unwrap());
        }
        Ok(replies)
    }

    fn told(&self) -> Vec<String> {
        std::mem::take(&mut *self.diary.lock().unwrap())
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
async fn a_message_is_told_step_by_step() {
    let mut stage = Stage::agreed(Play::default()).await;
    let all = [vec![connect(), HELO], message()].concat();
    assert_eq!(stage.says(&all).await.unwrap(), vec![FilterReply::Continue; 9]);
    let told = "new|connect mx|helo me|mail <a> -|recipient <b>|data|header A: b|eoh|body x|end -";
    assert_eq!(stage.told().join("|"), told);
    assert!(stage.session.is_between_messages());
    assert_eq!(stage.counters.messages.load(std::sync::atomic::Ordering::Relaxed), 1);
    assert_eq!(stage.counters.outcomes(CountedOutcome::Continue), 1);
}

#[tokio::test]
async fn what_is_agreed_on_is_wanted_and_offered() {
    let wants = FilterWants {
        actions: Actions::ADD_HEADERS | Actions::CHANGE_HEADERS,
        steps: Steps::NO_HELO | Steps::SKIP | Steps::LEADING_SPACE,
        macros: vec![(MacroStage::Mail, "i {auth_authen}".into())],
    };
    let chosen = async |version, actions, steps| {
        let mut stage = Stage::new(Play { wants: wants.clone(), ..Play::default() });
        match stage.says(&[offer(version, actions, steps)]).await?.pop() {
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
    // Who offers nothing means what there was before there was anything to offer.
    let oldest = chosen(2, Actions::NONE, Steps::NONE).await.unwrap();
    assert_eq!((oldest.actions, oldest.steps), (Actions::ADD_HEADERS, Steps::NO_HELO));
    for version in [0, 1] {
        let refused = chosen(version, Actions::ALL, Steps::ALL).await.unwrap_err();
        assert_eq!(refused, ProtocolError::Version(version).into());
    }
}

#[tokio::test]
async fn a_filter_may_do_without_an_mta() {
    let mut stage = Stage::new(Play { declines: true, ..Play::default() });
    let end = stage.says(&[offer(6, Actions::ALL, Steps::ALL)]).await;
    assert!(matches!(end, Err(SessionError::Declined { .. })));
}

#[tokio::test]
async fn commands_out_of_order_end_the_connection() {
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
        let mut stage = Stage::agreed(Play::default()).await;
        stage.says(&before).await.unwrap();
        match stage.says(std::slice::from_ref(&bad)).await {
            Err(SessionError::Protocol(error)) => assert_eq!(error.kind(), ProtocolErrorKind::OutOfOrder),
            other => panic!("{before:?}, then {bad:?}: {other:?}"),
        }
    }
    for bad in [connect(), HELO, mail(), END, MilterCommand::Abort, macros(code::MAIL, b"")] {
        let end = Stage::new(Play::default()).says(&[bad]).await.unwrap_err();
        assert!(matches!(end, SessionError::Protocol(ProtocolError::OutOfOrder { .. })));
    }
}

#[tokio::test]
async fn what_may_be_missing_is_not_missed() {
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
        let mut stage = Stage::agreed(Play::default()).await;
        assert_eq!(stage.says(&left).await.unwrap(), vec![FilterReply::Continue; left.len()]);
    }
    let nothing = Steps::NO_CONNECT | Steps::NO_HELO | Steps::NO_MAIL | Steps::NO_RECIPIENT;
    let mut stage = Stage::agreed(Play { wants: wants(nothing), ..Play::default() }).await;
    assert_eq!(stage.says(&[HEADER, END, BODY, END]).await.unwrap(), vec![FilterReply::Continue; 4]);
    stage.session.lost();
    let told = "new|header A: b|end -|body x|end -";
    assert_eq!(stage.told().join("|"), told);
}

#[tokio::test]
async fn nothing_is_said_where_nothing_is_expected() {
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
    for (place, step) in silent.into_iter().enumerate() {
        let mut stage = Stage::agreed(Play { wants: wants(step), ..Play::default() }).await;
        for (index, command) in all.iter().enumerate() {
            let replies = stage.says(std::slice::from_ref(command)).await.unwrap();
            assert_eq!(replies.is_empty(), index == place, "{command:?}");
        }
    }
    // An MTA that does not offer it waits, so it gets its reply.
    let mut stage = Stage::new(Play { wants: wants(Steps::NO_REPLY_CONNECT), ..Play::default() });
    let replies = stage.says(&[offer(2, Actions::NONE, Steps::NONE), connect()]).await.unwrap();
    assert_eq!(replies[1], FilterReply::Continue);
}

#[tokio::test]
async fn what_cannot_be_said_yet_is_said_later() {
    let reject = |step| HashMap::from([(step, FilterAction::Reject)]);
    let play = |steps, says| Play { wants: wants(steps), says, ..Play::default() };
    let steps = Steps::NO_REPLY_HEADER | Steps::NO_REPLY_END_OF_HEADERS;
    let mut stage = Stage::agreed(play(steps, reject("header"))).await;
    stage.says(&[connect(), mail(), recipient()]).await.unwrap();
    assert_eq!(stage.says(&[HEADER, EOH, BODY]).await.unwrap(), [FilterReply::Reject]);
    assert!(stage.told().join("|").ends_with("header A: b|abort"));
    // Of a connection it holds for every message, and the filter is not asked about them.
    let mut stage = Stage::agreed(play(Steps::NO_REPLY_CONNECT, reject("connect"))).await;
    assert_eq!(stage.says(&[connect(), HELO, mail(), mail()]).await.unwrap(), vec![FilterReply::Reject; 3]);
    assert_eq!(stage.told().join("|"), "new|connect mx");
    // What is said of a connection must be said of a message.
    let says = HashMap::from([("connect", FilterAction::Discard)]);
    let mut stage = Stage::agreed(play(Steps::NONE, says)).await;
    assert_eq!(
        stage.says(&[connect(), mail()]).await.unwrap(),
        [FilterReply::Continue, FilterReply::Discard]
    );
    // With no reply before it, the end of the message has one.
    let mut stage = Stage::agreed(play(Steps::NO_REPLY_BODY, reject("body"))).await;
    stage.says(&[connect(), mail(), recipient()]).await.unwrap();
    assert_eq!(stage.says(&[BODY, BODY, END]).await.unwrap(), [FilterReply::Reject]);
    assert!(stage.told().join("|").ends_with("body x|abort"));
    assert_eq!(stage.counters.outcomes(CountedOutcome::Reject), 1);
}

#[tokio::test]
async fn final_words_end_a_message_but_not_those_on_a_recipient() {
    let words = SmtpReply::new(451, Some((4, 7, 1)), "later").unwrap();
    for (action, reply, ends) in [
        (FilterAction::Reject, FilterReply::Reject, false),
        (FilterAction::Tempfail, FilterReply::Tempfail, false),
        (FilterAction::Reply(words.clone()), FilterReply::Smtp(b"451 4.7.1 later".to_vec()), false),
        (FilterAction::Accept, FilterReply::Accept, true),
        (FilterAction::Discard, FilterReply::Discard, true),
    ] {
        for step in ["mail", "recipient"] {
            let play = Play { says: HashMap::from([(step, action.clone())]), ..Play::default() };
            let mut stage = Stage::agreed(play).await;
            stage.says(&[connect()]).await.unwrap();
            let until = if step == "mail" { vec![mail()] } else { vec![mail(), recipient()] };
            assert_eq!(stage.says(&until).await.unwrap().pop().as_ref(), Some(&reply));
            assert_eq!(stage.session.is_between_messages(), ends || step == "mail");
        }
    }
}

#[tokio::test]
async fn skipped_bodies_are_not_told() {
    let play = |steps| Play {
        wants: wants(steps),
        says: HashMap::from([("body", FilterAction::Skip), ("mail", FilterAction::Skip)]),
        ..Play::default()
    };
    let head = [connect(), mail(), recipient()];
    for (steps, wanted) in [
        (Steps::SKIP, vec![FilterReply::Skip, FilterReply::Continue, FilterReply::Continue]),
        (Steps::NONE, vec![FilterReply::Continue; 3]),
        (Steps::NO_REPLY_BODY, vec![FilterReply::Continue]),
    ] {
        let mut stage = Stage::agreed(play(steps)).await;
        assert_eq!(stage.says(&head).await.unwrap(), vec![FilterReply::Continue; 3]);
        assert_eq!(stage.says(&[BODY, BODY, MilterCommand::EndOfMessage(b"y")]).await.unwrap(), wanted);
        // The next message has a body of its own.
        stage.says(&[mail(), recipient(), BODY]).await.unwrap();
        let bodies = stage.told().iter().filter(|told| told.starts_with("body")).count();
        assert_eq!(bodies, 2);
    }
}

#[tokio::test]
async fn the_end_may_bring_the_last_piece() {
    let mut stage = Stage::agreed(Play::default()).await;
    let said = [connect(), mail(), recipient(), BODY, MilterCommand::EndOfMessage(b"y")];
    assert_eq!(stage.says(&said).await.unwrap(), vec![FilterReply::Continue; 5]);
    assert!(stage.told().join("|").ends_with("body x|body y|end -"));
    let says = HashMap::from([("body", FilterAction::Reject)]);
    let mut stage = Stage::agreed(Play { says, ..Play::default() }).await;
    let said = [connect(), mail(), recipient(), MilterCommand::EndOfMessage(b"y")];
    assert_eq!(stage.says(&said).await.unwrap().pop(), Some(FilterReply::Reject));
    assert!(stage.told().join("|").ends_with("body y|abort"));
}

#[tokio::test]
async fn messages_follow_each_other_with_macros_of_their_own() {
    let mut stage = Stage::agreed(Play::default()).await;
    stage.says(&[connect(), HELO]).await.unwrap();
    let first = [
        vec![macros(code::MAIL, b"i\x001\0")],
        message()[..6].to_vec(),
        vec![macros(code::BODY_EOB, b"{i}\x002\0"), END],
    ]
    .concat();
    assert_eq!(stage.says(&first).await.unwrap().len(), 7);
    assert_eq!(stage.says(&message()).await.unwrap().len(), 7);
    let told = stage.told().join("|");
    assert!(told.contains("mail <a> 1|") && told.contains("end 2|mail <a> -|"), "{told}");
    assert!(told.ends_with("end -"), "{told}");
}

#[tokio::test]
async fn a_message_is_given_up_by_abort_mail_helo_and_hanging_up() {
    for (given_up, then) in [
        (vec![MilterCommand::Abort, MilterCommand::Abort, mail()], "abort|mail <a> 7"),
        (vec![mail()], "abort|mail <a> 7"),
        (vec![HELO, mail()], "abort|helo me|mail <a> 7"),
    ] {
        for len in 1..=6 {
            let mut stage = Stage::agreed(Play::default()).await;
            stage.says(&[connect()]).await.unwrap();
            stage.says(&message()[..len]).await.unwrap();
            stage.told();
            let (last, before) = given_up.split_last().unwrap();
            stage.says(before).await.unwrap();
            stage.says(&[macros(code::MAIL, b"i\x007\0"), last.clone()]).await.unwrap();
            assert_eq!(stage.told().join("|"), then);
            stage.session.lost();
            assert_eq!(stage.told().join("|"), "abort");
            stage.session.lost();
            assert!(stage.told().is_empty());
        }
    }
}

#[tokio::test]
async fn another_client_gets_another_filter() {
    let mut stage = Stage::agreed(Play::default()).await;
    stage.says(&[macros(code::CONNECT, b"i\0old\0"), connect(), mail()]).await.unwrap();
    stage.says(&[MilterCommand::QuitNewConnection]).await.unwrap();
    assert!(stage.says(&[mail()]).await.is_err());
    let replies = stage.says(&[connect(), mail()]).await.unwrap();
    assert_eq!(replies, vec![FilterReply::Continue; 2]);
    assert_eq!(stage.told().join("|"), "new|connect mx|mail <a> old|abort|new|connect mx|mail <a> -");
}

#[tokio::test]
async fn quit_closes() {
    let mut stage = Stage::agreed(Play::default()).await;
    stage.says(&[connect(), mail()]).await.unwrap();
    let frame = MilterFrame { code: code::QUIT, data: b"" };
    assert_eq!(stage.session.handle(frame, &mut Vec::new()), Ok(NextStep::Close));
    assert_eq!(stage.told().last().map(String::as_str), Some("abort"));
}

fn header(value: &[u8]) -> MessageChange {
    MessageChange::InsertHeader { index: 0, name: b"A".to_vec(), value: value.to_vec() }
}

#[tokio::test]
async fn changes_are_made_as_agreed() {
    let changes = vec![header(b" v"), MessageChange::Quarantine(b"no".to_vec()), header(b"w")];
    let verdict = |action| FilterVerdict { changes: changes.clone(), action };
    let play = |steps, action| Play { wants: wants(steps), verdict: verdict(action), ..Play::default() };
    let all = [vec![connect()], message()].concat();
    for (steps, value) in [(Steps::LEADING_SPACE, b" v".as_slice()), (Steps::NONE, b"v")] {
        let mut stage = Stage::agreed(play(steps, FilterAction::Accept)).await;
        let replies = stage.says(&all).await.unwrap();
        let wanted =
            [FilterReply::Change(header(value)), FilterReply::Change(header(b"w")), FilterReply::Accept];
        assert_eq!(replies[replies.len() - 3..], wanted);
        assert_eq!(stage.counters.dropped_changes.load(std::sync::atomic::Ordering::Relaxed), 1);
    }
    let mut stage = Stage::agreed(play(Steps::NONE, FilterAction::Tempfail)).await;
    let replies = stage.says(&all).await.unwrap();
    assert_eq!(replies[replies.len() - 2..], [FilterReply::Continue, FilterReply::Tempfail]);
}

#[tokio::test]
async fn a_verdict_that_cannot_be_said_is_not_half_said() {
    let verdict =
        FilterVerdict { changes: vec![header(b"v"), header(b"\0")], action: FilterAction::Continue };
    let mut stage = Stage::agreed(Play { wants: wants(Steps::NONE), verdict, ..Play::default() }).await;
    stage.says(&[vec![connect()], message()[..6].to_vec()].concat()).await.unwrap();
    let mut out = vec![1];
    let end = MilterFrame { code: code::BODY_EOB, data: b"" };
    assert_eq!(stage.session.handle(end, &mut out), Ok(NextStep::Conclude));
    let verdict = stage.session.conclude().await;
    let error = stage.session.deliver(&verdict, &mut out).unwrap_err();
    assert_eq!(error, EncodeError::Nul { what: "the header's value" }.into());
    assert_eq!(out, [1]);
}

/// Whatever is sent in whatever order, each command has its reply or ends the connection.
#[tokio::test]
async fn commands_of_chance_are_answered_or_refused() {
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
        let mut stage = Stage::agreed(Play { wants: wants(no_replies), says, ..Play::default() }).await;
        for _ in 0..40 {
            let command = &all[chance(all.len())];
            let Ok(replies) = stage.says(std::slice::from_ref(command)).await else { continue };
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
