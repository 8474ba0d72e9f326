//! Tests of the DKIM filter from an MTA's point of view.

use std::collections::BTreeSet;
use std::future::pending;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use oarlock::keys::generate;
use oarlock_mail_files::dns::{LookupFuture, TempReason, TxtAnswer, TxtLookup};
use oarlock_mailfilter::{FilterService, MessageFault, MessageOutcome, TableReload};
use oarlock_milter::client::FilterAnswer;
use oarlock_milter::protocol::{
    AddressFamily, ConnectInfo, EnvelopeAddress, FilterReply, MessageChange, MilterCommand, Steps,
};
use oarlock_milter::{MilterClient, MilterSocket};

use crate::running_filter::{FilterFiles, RunningFilter, TestMail, engines, scalar, text};

fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

/// Returns the names of the inserted headers in their order.
fn inserted(answer: &FilterAnswer) -> Vec<String> {
    let name = |change: &MessageChange| match change {
        MessageChange::InsertHeader { index: 0, name, .. } => text(name),
        other => panic!("{other:?}"),
    };
    answer.changes.iter().map(name).collect()
}

fn tag<'a>(value: &'a str, name: &str) -> &'a str {
    let tags = value.split(';').map(str::trim);
    tags.filter_map(|tag| tag.split_once('='))
        .find(|(other, _)| *other == name)
        .map(|(_, value)| value)
        .unwrap()
}

#[tokio::test]
async fn signed_mail_verifies_with_every_engine_and_every_mta() {
    let files = FilterFiles::for_example();
    for engine in engines() {
        let filter = RunningFilter::open(files.config(""), engine, files.dns()).await;
        // With and without exact white space, with and without replies.
        for steps in [Steps::ALL, Steps::SKIP | Steps::NO_REPLY_HEADER, Steps::VERSION_1] {
            let mut client = MilterClient::connect(&filter.socket).await.unwrap();
            client.offer(6, oarlock_milter::protocol::Actions::ALL, steps).await.unwrap();
            client.greet(b"").await.unwrap();
            let answer = filter
                .send(&mut client, &TestMail::plain(), b"i\x00Q\0{auth_authen}\0joe\0{auth_type}\0PLAIN\0")
                .await;
            assert_eq!(inserted(&answer), ["DKIM-Signature"; 2]);
            let signed = TestMail::plain().changed(&answer);
            let selectors: Vec<&str> =
                signed.values("DKIM-Signature").iter().map(|value| tag(value, "s")).collect();
            assert_eq!(selectors, ["s1", "s2"], "the table's order, from the top");
            let answer = filter.send(&mut client, &signed, b"i\x00Q\0").await;
            let results = signed.changed(&answer).results();
            assert!(results.starts_with("mx.example; dkim=pass (2048-bit key)"), "{results}");
            assert_eq!(results.matches("dkim=pass").count(), 2, "{results}");
            let mut changed = signed.clone();
            changed.body[0] ^= 1;
            let answer = filter.send(&mut client, &changed, b"").await;
            let results = changed.changed(&answer).results();
            assert_eq!(results.matches("dkim=fail").count(), 2, "{results}");
            client.quit().await.unwrap();
        }
        let metrics = filter.service.metrics();
        assert_eq!((read(&metrics.signed), metrics.messages(MessageOutcome::Signed)), (6, 3));
        assert_eq!((metrics.messages(MessageOutcome::Passed), read(&metrics.key_reads)), (3, 2));
        assert_eq!(metrics.messages(MessageOutcome::Faulty(MessageFault::BadSignature)), 3);
        assert_eq!(metrics.lookups().map(|(_, count)| count).sum::<u64>(), 2);
        filter.stopped().await;
    }
}

#[tokio::test]
async fn removes_forged_results_from_the_last_one_on_and_adds_ours_on_top() {
    let files = FilterFiles::for_example();
    let filter = files.start_filter("").await;
    let forged = " mx.example; dkim=pass header.d=bank.example";
    let mail = TestMail::plain()
        .with("Authentication-Results", forged)
        .with("authentication-results", " other.example; dkim=pass")
        .with("Authentication-Results", " (comment) MX.Example 1;\n dkim=pass")
        .with("Authentication-Results", forged);
    let answer = filter.receive(&mail).await;
    let removal = |index| MessageChange::ChangeHeader {
        index,
        name: b"Authentication-Results".to_vec(),
        value: Vec::new(),
    };
    assert_eq!(answer.changes[..3], [removal(4), removal(3), removal(1)]);
    assert_eq!(answer.changes.len(), 4);
    let changed = mail.changed(&answer);
    assert_eq!(changed.results(), "mx.example; dkim=none");
    assert_eq!(
        changed.values("Authentication-Results"),
        [" mx.example; dkim=none", " other.example; dkim=pass"]
    );
    // An authenticated client may not forge results either.
    let submitted = mail.changed(&filter.submit(&mail).await);
    assert_eq!(submitted.values("Authentication-Results"), [" other.example; dkim=pass"]);
    assert_eq!(submitted.values("DKIM-Signature").len(), 2);
    assert_eq!(read(&filter.service.metrics().forged), 6);
    filter.stopped().await;
}

#[tokio::test]
async fn recognizes_own_messages_by_client_and_author() {
    let files = FilterFiles::for_example();
    let filter = files.start_filter("").await;
    let connected = async |family, address: &'static [u8], macros: &'static [u8], mail: &TestMail| {
        let mut client = MilterClient::connect(&filter.socket).await.unwrap();
        client.negotiate().await.unwrap();
        let connect = ConnectInfo { host: b"client", family, port: 25, address };
        client.send_command(&MilterCommand::Connect(connect), b"").await.unwrap();
        let answer = filter.send(&mut client, mail, macros).await;
        inserted(&answer)[0].clone()
    };
    let (signed, verified) = ("DKIM-Signature", "Authentication-Results");
    let mail = TestMail::plain();
    assert_eq!(connected(AddressFamily::Inet, b"127.0.0.9", b"", &mail).await, signed);
    assert_eq!(connected(AddressFamily::Inet6, b"IPv6:::1", b"", &mail).await, signed);
    // Over TCP any client can claim to have used a UNIX socket.
    assert_eq!(connected(AddressFamily::Unix, b"/run/socket", b"", &mail).await, verified);
    assert_eq!(connected(AddressFamily::Inet, b"192.0.2.1", b"{auth_authen}\0joe\0", &mail).await, signed);
    assert_eq!(connected(AddressFamily::Inet, b"192.0.2.1", b"{auth_authen}\0\0", &mail).await, verified);
    assert_eq!(connected(AddressFamily::Inet, b"192.0.2.1", b"", &mail).await, verified);
    assert_eq!(connected(AddressFamily::Unknown, b"", b"", &mail).await, verified);
    let other = mail.clone().from(" joe@example.org");
    assert_eq!(connected(AddressFamily::Inet, b"127.0.0.9", b"", &other).await, verified);
    let hidden = mail.clone().from(" \"joe@example.com\" (<joe@example.com>) <joe@example.org>");
    assert_eq!(connected(AddressFamily::Inet, b"127.0.0.9", b"", &hidden).await, verified);
    // A message must have exactly one From.
    let answer = filter.submit(&mail.clone().with("From", " eve@example.com")).await;
    assert_eq!((answer.changes.len(), answer.reply), (0, FilterReply::Continue));
    let mut none = mail.clone();
    none.headers.retain(|(name, _)| name != "From");
    assert_eq!(filter.submit(&none).await.changes.len(), 0);
    assert_eq!(filter.service.metrics().messages(MessageOutcome::Faulty(MessageFault::Malformed)), 2);
    filter.stopped().await;
}

#[tokio::test]
async fn batches_jobs_while_several_messages_are_in_progress() {
    let files = FilterFiles::for_example();
    let filter = files.start_filter("").await;
    let mail = TestMail::plain();
    let round = async || {
        let signed = mail.changed(&filter.submit(&mail).await);
        assert!(signed.changed(&filter.receive(&signed).await).results().contains("dkim=pass"));
        filter.service.accelerator().counters()
    };
    // The costs of the jobs are known now, so that a single job would run on its caller.
    let alone = round().await;
    let mut other = filter.client().await;
    let from = EnvelopeAddress::new(b"<jane@example.net>\0").unwrap();
    other.send_command(&MilterCommand::Mail(from), b"").await.unwrap();
    other
        .send_command(&MilterCommand::Header { name: b"From", value: b" jane@example.net" }, b"")
        .await
        .unwrap();
    assert_eq!(other.send_command(&MilterCommand::EndOfHeaders, b"").await.unwrap(), FilterReply::Continue);
    let beside = round().await;
    assert!(beside.completed > alone.completed, "{beside:?}");
    assert_eq!(beside.on_caller, alone.on_caller, "{beside:?}");
    other.quit().await.unwrap();
    filter.stopped().await;
}

#[tokio::test]
async fn each_mode_does_only_its_own_work() {
    let files = FilterFiles::for_example();
    let filter = files.start_filter("mode = \"sign\"").await;
    let answer = filter.receive(&TestMail::plain()).await;
    assert_eq!((answer.changes.len(), answer.reply), (0, FilterReply::Accept), "before the body is sent");
    assert_eq!(filter.receive(&TestMail::plain().with("a b", " c")).await.reply, FilterReply::Accept);
    assert_eq!(inserted(&filter.submit(&TestMail::plain()).await).len(), 2);
    filter.stopped().await;
    let filter = files.start_filter("mode = \"verify\"").await;
    assert_eq!(inserted(&filter.submit(&TestMail::plain()).await), ["Authentication-Results"]);
    filter.stopped().await;
}

#[tokio::test]
async fn skips_bodies_that_no_signature_needs() {
    let files = FilterFiles::for_example();
    let filter = files.start_filter("").await;
    let mut mail = TestMail::plain();
    mail.body = vec![b'x'; 1_000_000];
    let answer = filter.receive(&mail).await;
    assert_eq!(mail.changed(&answer).results(), "mx.example; dkim=none");
    assert!(read(&filter.counters.received_bytes) < 70_000);
    filter.stopped().await;
}

#[tokio::test]
async fn rolls_keys_over_without_a_gap() {
    let mut files = FilterFiles::for_example();
    files.key("new", "s3", "example.com", &generate::ed25519().unwrap());
    let filter = files.start_filter("signing.reload_seconds = 0").await;
    let selectors = async || {
        let signed = TestMail::plain().changed(&filter.submit(&TestMail::plain()).await);
        let results = signed.changed(&filter.receive(&signed).await).results();
        let fields = signed.values("DKIM-Signature");
        assert_eq!(results.matches("dkim=pass").count(), fields.len(), "{results}");
        fields.iter().map(|value| tag(value, "s").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(selectors().await, ["s1", "s2"]);
    files.table("example.com s1 rsa\nexample.com s3 new test\n");
    assert!(matches!(filter.service.reload(false).await, TableReload::Replaced(_)));
    assert_eq!(selectors().await, ["s1", "s3"]);
    files.table("example.com s1 rsa retiring\nexample.com s3 new\n");
    assert!(matches!(filter.service.reload(false).await, TableReload::Replaced(_)));
    assert_eq!(selectors().await, ["s3"]);
    files.table("example.com s1 rsa retiring\nexample.com s3\n");
    assert!(matches!(filter.service.reload(false).await, TableReload::Refused(_)));
    assert_eq!(selectors().await, ["s3"]);
    let metrics = filter.service.metrics();
    assert_eq!((read(&metrics.reloads), read(&metrics.refused_reloads), read(&metrics.key_reads)), (2, 1, 3));
    filter.stopped().await;
}

#[tokio::test]
async fn accepts_ten_thousand_fields_and_rejects_more_than_the_limit() {
    let files = FilterFiles::for_example();
    let filter = files.start_filter("limits.max_headers = 10010").await;
    let mut mail = TestMail::plain();
    for number in 0..10_000 {
        mail = mail.with(&format!("X-{number}"), " value");
    }
    let signed = mail.changed(&filter.submit(&mail).await);
    assert!(signed.changed(&filter.receive(&signed).await).results().contains("dkim=pass"));
    for number in 0..10 {
        mail = mail.with(&format!("Y-{number}"), " value");
    }
    let mail = mail.with("Authentication-Results", " mx.example; dkim=pass");
    let results = mail.changed(&filter.receive(&mail).await);
    assert!(results.results().contains("dkim=permerror reason=\"the message is malformed: more than 10010"));
    assert_eq!(results.values("Authentication-Results").len(), 1);
    filter.stopped().await;
    let filter = files.start_filter("limits.max_header_bytes = 1000\non.malformed = \"reject\"").await;
    let long = TestMail::plain().with("X-Long", &"x".repeat(1000));
    assert_eq!(filter.receive(&long).await.reply, smtp("550 5.6.0 The header of this message is malformed"));
    assert_eq!(filter.submit(&long).await.reply, smtp("550 5.6.0 The header of this message is malformed"));
    assert_eq!(filter.receive(&TestMail::plain()).await.reply, FilterReply::Continue);
    filter.stopped().await;
}

fn smtp(text: &str) -> FilterReply {
    FilterReply::Smtp(text.as_bytes().to_vec())
}

/// DNS that fails or never answers.
#[derive(Clone, Default)]
struct Broken {
    asked: Arc<AtomicU64>,
    is_silent: bool,
}

impl TxtLookup for Broken {
    fn lookup<'a>(&'a self, _name: &'a str) -> LookupFuture<'a> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let answer = TxtAnswer::TempFail { reason: TempReason::ServFail };
        match self.is_silent {
            true => Box::pin(pending()),
            false => Box::pin(std::future::ready(answer)),
        }
    }
}

#[tokio::test]
async fn every_fault_has_its_configured_response() {
    let files = FilterFiles::for_example();
    let filter = files.start_filter("").await;
    let signed = TestMail::plain().changed(&filter.submit(&TestMail::plain()).await);
    filter.stopped().await;
    let mut bad = signed.clone();
    bad.body.extend(b"more");
    let unread = TestMail::plain().with("a b", " c");
    let cases = [
        ("no_signature", TestMail::plain(), "No DKIM signature found", "4.7.20", "5.7.20"),
        ("bad_signature", bad, "No passing DKIM signature found", "4.7.20", "5.7.20"),
        ("malformed", unread, "The header of this message is malformed", "4.6.0", "5.6.0"),
    ];
    for (setting, mail, words, temporary, permanent) in cases {
        let answer = async |response: &str| {
            let filter = files.start_filter(&format!("on.{setting} = \"{response}\"")).await;
            let answer = filter.receive(&mail).await;
            // Other messages are not affected.
            assert_eq!(filter.receive(&signed).await.reply, FilterReply::Continue);
            filter.stopped().await;
            answer
        };
        assert_eq!(answer("accept").await.reply, FilterReply::Continue);
        assert_eq!(answer("tempfail").await.reply, smtp(&format!("451 {temporary} {words}")));
        assert_eq!(answer("reject").await.reply, smtp(&format!("550 {permanent} {words}")));
        let held = answer("quarantine").await;
        assert_eq!(held.changes.last(), Some(&MessageChange::Quarantine(words.into())));
        assert_eq!((held.changes.len(), held.reply), (2, FilterReply::Continue));
    }
}

#[tokio::test]
async fn a_failed_lookup_is_a_temporary_error_and_is_asked_once() {
    let files = FilterFiles::for_example();
    let filter = files.start_filter("").await;
    let signed = TestMail::plain().changed(&filter.submit(&TestMail::plain()).await);
    filter.stopped().await;
    for (is_silent, reason) in [(false, "SERVFAIL"), (true, "no answer within 0.001 s")] {
        let dns = Broken { is_silent, ..Broken::default() };
        let config = files.config("dns.timeout_ms = 1\non.dns_error = \"tempfail\"");
        let filter = RunningFilter::open(config, scalar(), Arc::new(dns.clone())).await;
        for _ in 0..3 {
            assert_eq!(
                filter.receive(&signed).await.reply,
                smtp("451 4.4.3 DKIM keys could not be looked up")
            );
        }
        assert_eq!(read(&dns.asked), 2, "one of each selector");
        assert_eq!(filter.service.metrics().messages(MessageOutcome::Faulty(MessageFault::Dns)), 3);
        filter.stopped().await;
        let filter = RunningFilter::open(files.config("dns.timeout_ms = 1"), scalar(), Arc::new(dns)).await;
        let results = signed.changed(&filter.receive(&signed).await).results();
        assert!(results.contains("dkim=temperror") && results.contains(reason), "{results}");
        filter.stopped().await;
    }
    // An answer without a record is not a failure.
    let filter = RunningFilter::open(files.config(""), scalar(), FilterFiles::new().dns()).await;
    let results = signed.changed(&filter.receive(&signed).await).results();
    assert!(results.contains("dkim=permerror reason=\"no key for signature"), "{results}");
    filter.stopped().await;
}

#[tokio::test]
async fn mail_is_delayed_only_if_no_key_for_it_is_available() {
    let files = FilterFiles::for_example();
    let server = oarlock::keys::reference::Reference { name: "mail".into(), spki: None };
    files.write("reference", &server.to_pem().unwrap());
    files.table("example.com s1 rsa\nexample.com s9 reference\nexample.net s1 reference\n");
    // An unavailable server does not prevent the start. Mail that needs it waits.
    let away = format!("cryptoserver.servers = [\"{}\"]", files.path("no socket").display());
    let any = "signing.require_from = \"any\"";
    let filter = files.start_filter(&format!("{away}\ncryptoserver.patience_ms = 1\n{any}")).await;
    let answer = filter.submit(&TestMail::plain()).await;
    assert_eq!((inserted(&answer).len(), answer.reply), (1, FilterReply::Continue));
    let waits = TestMail::plain().from(" joe@example.net");
    assert_eq!(filter.submit(&waits).await.reply, smtp("451 4.3.0 This message could not be signed"));
    assert_eq!(filter.service.check_keys().await.len(), 1);
    let metrics = filter.service.metrics();
    assert_eq!((read(&metrics.signed), read(&metrics.unsigned)), (1, 2));
    filter.stopped().await;
}

#[tokio::test]
async fn writes_identity_lifetime_and_forms_into_the_signature() {
    let files = FilterFiles::for_example();
    files.table("*.example.com s1 rsa domain=example.com identity=@mail.example.com\n* s2 ed\n");
    let settings = [
        "signing.require_from = \"any\"",
        "signing.lifetime_seconds = 1000",
        "signing.canonicalization = \"simple/relaxed\"",
        "signing.signed_headers = [\"From\", \"Subject\"]",
        "signing.oversigned_headers = [\"From\"]",
    ];
    let filter = files.start_filter(&settings.join("\n")).await;
    let mail = TestMail::plain().from(" joe@a.example.com");
    let signed = mail.changed(&filter.submit(&mail).await);
    let field = signed.values("DKIM-Signature")[0].replace(['\n', '\t', ' ', '\r'], "");
    assert_eq!((tag(&field, "d"), tag(&field, "i")), ("example.com", "@mail.example.com"));
    assert_eq!((tag(&field, "c"), tag(&field, "h")), ("simple/relaxed", "From:From:Subject"));
    let seconds = |name: &str| tag(&field, name).parse::<u64>().unwrap();
    assert_eq!(seconds("x") - seconds("t"), 1000);
    assert!(signed.changed(&filter.receive(&signed).await).results().contains("dkim=pass"));
    // Other authors are signed under their own domain.
    let other = TestMail::plain().from(" joe@any.example");
    let signed = other.changed(&filter.submit(&other).await);
    assert_eq!(tag(signed.values("DKIM-Signature")[0], "d"), "any.example");
    filter.stopped().await;
}

#[tokio::test]
async fn seals_and_verifies_chains() {
    let mut files = FilterFiles::for_example();
    files.key("arc", "arc", "example.net", &generate::rsa(2048).unwrap());
    let seal = "arc.seal = { domain = \"example.net\", selector = \"arc\", key = \"arc\" }";
    let filter = files.start_filter(seal).await;
    let signed = TestMail::plain().changed(&filter.submit(&TestMail::plain()).await);
    let mut handed_on = signed;
    for hop in 1..=3 {
        let answer = filter.receive(&handed_on).await;
        let sealed = handed_on.changed(&answer);
        let names: Vec<&str> = sealed.headers[..4].iter().map(|(name, _)| name.as_str()).collect();
        let set =
            ["Authentication-Results", "ARC-Seal", "ARC-Message-Signature", "ARC-Authentication-Results"];
        assert_eq!(names, set);
        let results = sealed.results();
        assert!(results.contains(if hop == 1 { "arc=none" } else { "arc=pass" }), "{results}");
        handed_on = sealed;
        handed_on.headers.remove(0);
    }
    handed_on.body.extend(b"a list's footer\r\n");
    let results = handed_on.changed(&filter.receive(&handed_on).await).results();
    assert!(results.contains("arc=fail"), "{results}");
    assert_eq!(read(&filter.service.metrics().sealed), 4);
    filter.stopped().await;
}

#[tokio::test]
async fn declines_an_mta_that_cannot_add_headers() {
    let files = FilterFiles::for_example();
    let filter = files.start_filter("").await;
    let MilterSocket::Inet { .. } = filter.socket else { panic!() };
    let mut client = MilterClient::connect(&filter.socket).await.unwrap();
    assert!(client.offer(6, oarlock_milter::protocol::Actions::ADD_RECIPIENTS, Steps::ALL).await.is_err());
    filter.stopped().await;
}

/// Requests a path from the metrics listener and returns the answer.
async fn page(address: std::net::SocketAddr, files: &str) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream.write_all(format!("GET {files} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn shows_every_counter_on_the_metrics_page() {
    let files = FilterFiles::for_example();
    let config = files.config("[listen]\nsockets = [\"inet:0@127.0.0.1\"]\nmetrics = \"127.0.0.1:0\"");
    let service = FilterService::open(config, scalar(), files.dns()).await.unwrap();
    let bound = service.bind().await.unwrap();
    let (socket, metrics) = (bound.sockets().remove(0), bound.metrics().unwrap());
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let run = tokio::spawn(bound.run(async move { drop(stopped.await) }));
    let mut client = MilterClient::connect(&socket).await.unwrap();
    client.negotiate().await.unwrap();
    client.greet(b"").await.unwrap();
    let message = oarlock_milter::client::SentMessage {
        from: b"<joe@example.com>",
        headers: &[(b"From", b" joe@example.com")],
        body: b"hello\r\n",
        mail_macros: b"{auth_authen}\0joe\0",
        ..Default::default()
    };
    assert_eq!(client.send(&message).await.unwrap().changes.len(), 2);
    let shown = page(metrics, "/metrics").await;
    for line in [
        "oarlock_milter_messages_total{outcome=\"signed\"} 1",
        "oarlock_milter_signed_total 2",
        "oarlock_milter_key_reads_total 2",
        "oarlock_milter_signing_lines 2",
        "oarlock_milter_lookups_total{answer=\"records\"} 0",
        "oarlock_connections_open 1",
        "oarlock_draining 0",
        "oarlock_milter_messages_open 0",
        "oarlock_milter_verdict_seconds_count 1",
        "oarlock_milter_keys_total{dnssec=\"secure\"} 0",
    ] {
        assert!(shown.contains(&format!("\n{line}\n")), "{line}: {shown}");
    }
    for name in ["process_cpu_seconds_total ", "oarlock_dispatcher_", "oarlock_batch_operations"] {
        assert!(shown.contains(&format!("\n{name}")), "{name}: {shown}");
    }
    assert!(page(metrics, "/healthz").await.ends_with("ok\n"));
    // The alerts and the board name no other metrics of the filter.
    for (text, min) in [
        (include_str!("../../../../../packaging/prometheus-rules.yaml"), 6),
        (include_str!("../../../../../packaging/grafana-oarlock.json"), 10),
    ] {
        let words = text.split(|letter: char| !letter.is_ascii_lowercase() && letter != '_');
        let named: BTreeSet<&str> = words.filter(|word| word.starts_with("oarlock_milter_")).collect();
        assert!(named.len() >= min, "{named:?}");
        for name in named {
            let is_shown = shown.contains(&format!("\n{name} ")) || shown.contains(&format!("\n{name}{{"));
            assert!(is_shown, "{name}");
        }
    }
    client.quit().await.unwrap();
    stop.send(()).unwrap();
    run.await.unwrap();
}

#[test]
fn each_alert_fires_for_its_fault_and_no_other() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/alerts.yml");
    match Command::new("promtool").args(["test", "rules", path]).output() {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout)),
        Err(error) => println!("SKIPPED: promtool: {error}"),
    }
}

#[tokio::test]
async fn refuses_to_start_with_keys_that_cannot_sign() {
    let files = FilterFiles::for_example();
    let p256 = generate::ec(oarlock::Curve::P256).unwrap();
    files.write("p256", &oarlock::keys::export::private_pkcs8_pem(&p256).unwrap());
    let refused = async |more: &str| {
        let opened = FilterService::open(files.config(more), scalar(), files.dns()).await;
        opened.map(drop).unwrap_err().to_string()
    };
    files.table("example.com s1 rsa\nexample.com s7 p256\n");
    let said = refused("").await;
    assert!(said.contains("p256 (selector s7): an ECDSA private key over P-256"), "{said}");
    files.table("example.com s1 rsa\n");
    let said = refused("arc.seal = { domain = \"example.net\", selector = \"a1\", key = \"p256\" }").await;
    assert!(
        said.contains("[arc] seal") && said.contains("p256 (selector a1): an ECDSA private key"),
        "{said}"
    );
    // A table that is read later is checked in the same way, and mail is signed as before.
    let filter = files.start_filter("signing.reload_seconds = 0").await;
    files.table("example.com s7 p256\n");
    assert!(matches!(filter.service.reload(true).await, TableReload::Refused(_)));
    assert_eq!(inserted(&filter.submit(&TestMail::plain()).await), ["DKIM-Signature"]);
    filter.stopped().await;
}

#[tokio::test]
async fn mail_of_a_testing_domain_counts_as_unsigned() {
    let mut files = FilterFiles::new();
    let key = generate::ed25519().unwrap();
    files.key("ed", "s1", "example.com", &key);
    files.table("example.com s1 ed\n");
    files.records = files.records.replace("v=DKIM1; ", "v=DKIM1; t=y; ");
    let filter = files.start_filter("on.bad_signature = \"reject\"").await;
    let signed = TestMail::plain().changed(&filter.submit(&TestMail::plain()).await);
    let mut of_body = signed.clone();
    of_body.body.extend(b"more\r\n");
    let of_header = signed.clone().from(" joe@example.org");
    for changed in [of_body, of_header] {
        let results = changed.changed(&filter.receive(&changed).await).results();
        assert!(results.contains("dkim=fail (256-bit key, test mode)"), "{results}");
    }
    assert_eq!(filter.service.metrics().messages(MessageOutcome::Faulty(MessageFault::NoSignature)), 2);
    filter.stopped().await;
}

#[tokio::test]
async fn trusts_a_local_client_only_if_the_mta_used_a_unix_socket() {
    let files = FilterFiles::for_example();
    let socket = format!("unix:{}", files.path("socket").display());
    let filter = RunningFilter::open_at(&socket, files.config(""), scalar(), files.dns()).await;
    let mut client = MilterClient::connect(&filter.socket).await.unwrap();
    client.negotiate().await.unwrap();
    let connect =
        ConnectInfo { host: b"client", family: AddressFamily::Unix, port: 0, address: b"/run/socket" };
    client.send_command(&MilterCommand::Connect(connect), b"").await.unwrap();
    assert_eq!(inserted(&filter.send(&mut client, &TestMail::plain(), b"").await), ["DKIM-Signature"; 2]);
    client.quit().await.unwrap();
    filter.stopped().await;
}

#[test]
fn listens_by_default_at_a_socket_with_permissions() {
    let config = oarlock_mailfilter::FilterConfig::default();
    assert_eq!(config.listen.sockets, ["unix:/run/oarlock-milter/milter.sock"]);
    assert_eq!(config.listen.unix_mode, "0660");
    let files = FilterFiles::new();
    files.write("open.toml", "listen.unix_mode = \"0666\"\n");
    let said = oarlock_mailfilter::FilterConfig::read(&files.path("open.toml")).unwrap_err().to_string();
    assert!(said.contains("unix_users") && said.contains("0666"), "{said}");
    files.write("named.toml", "listen.unix_mode = \"0666\"\nlisten.unix_users = [\"root\"]\n");
    oarlock_mailfilter::FilterConfig::read(&files.path("named.toml")).unwrap();
}

#[tokio::test]
async fn does_not_sign_for_an_author_other_than_the_sender() {
    let files = FilterFiles::for_example();
    files.table("* s1 rsa\n");
    let of = async |more: &str, from: &str| {
        let filter = files.start_filter(more).await;
        let answer = filter.submit(&TestMail::plain().from(from)).await;
        let refused = filter.service.metrics().messages(MessageOutcome::Faulty(MessageFault::WrongFrom));
        filter.stopped().await;
        (answer, refused)
    };
    let is_signed = |(answer, refused): (FilterAnswer, u64)| {
        assert_eq!(answer.changes.is_empty(), refused == 1, "{answer:?}");
        refused == 0
    };
    // MAIL FROM is joe@example.com, as checked by the MTA.
    assert!(is_signed(of("", " joe@example.com").await));
    assert!(is_signed(of("", " jane@Example.com").await));
    assert!(!is_signed(of("", " boss@example.org").await));
    assert!(!is_signed(of("", " boss@a.example.com").await));
    let exact = "signing.require_from = \"mail_from\"";
    assert!(is_signed(of(exact, " Joe@example.com").await));
    assert!(!is_signed(of(exact, " jane@example.com").await));
    assert!(is_signed(of("signing.require_from = \"any\"", " boss@example.org").await));
    let (answer, _) = of("on.wrong_from = \"reject\"", " boss@example.org").await;
    assert_eq!(answer.reply, smtp("550 5.7.1 The From address is not one of its sender"));
    // Hosts of internal networks may use any author.
    let filter = files.start_filter("").await;
    let mut client = MilterClient::connect(&filter.socket).await.unwrap();
    client.negotiate().await.unwrap();
    let connect =
        ConnectInfo { host: b"client", family: AddressFamily::Inet, port: 25, address: b"127.0.0.1" };
    client.send_command(&MilterCommand::Connect(connect), b"").await.unwrap();
    let answer = filter.send(&mut client, &TestMail::plain().from(" shop@example.org"), b"").await;
    assert_eq!(inserted(&answer), ["DKIM-Signature"]);
    client.quit().await.unwrap();
    filter.stopped().await;
}

/// Sends a message from this address.
async fn receive_from(filter: &RunningFilter, address: &'static [u8], mail: &TestMail) -> FilterAnswer {
    let mut client = MilterClient::connect(&filter.socket).await.unwrap();
    client.negotiate().await.unwrap();
    let connect = ConnectInfo { host: b"client", family: AddressFamily::Inet, port: 25, address };
    client.send_command(&MilterCommand::Connect(connect), b"").await.unwrap();
    let answer = filter.send(&mut client, mail, b"").await;
    client.quit().await.unwrap();
    answer
}

#[tokio::test]
async fn seals_results_of_this_site_but_not_of_other_sites() {
    let mut files = FilterFiles::for_example();
    files.key("arc", "arc", "example.net", &generate::rsa(2048).unwrap());
    let settings = "arc.seal = { domain = \"example.net\", selector = \"arc\", key = \"arc\" }\n\
                    trusted_results = { networks = [\"192.0.2.25\"], authserv_ids = [\"border.example\"], \
                    filters = [\"rspamd.mx.example\"] }";
    let filter = files.start_filter(settings).await;
    let mail = TestMail::plain()
        .with("Authentication-Results", " mx.example;\n\tspf=pass smtp.mailfrom=example.com")
        .with("Authentication-Results ", " Border.Example; dmarc=pass header.from=example.com; arc=pass")
        .with("Authentication-Results", " elsewhere.example; dkim=pass header.d=bank.example");
    let sealed = |mail: &TestMail, answer: &FilterAnswer| {
        let sealed = mail.changed(answer);
        let set = sealed.values("ARC-Authentication-Results")[0].replace("\n\t", " ");
        (set.trim().to_owned(), sealed)
    };
    let (set, kept) = sealed(&mail, &receive_from(&filter, b"192.0.2.25", &mail).await);
    assert_eq!(
        set,
        "i=1; mx.example; dkim=none; arc=none; spf=pass smtp.mailfrom=example.com; \
         dmarc=pass header.from=example.com"
    );
    assert_eq!(kept.values("Authentication-Results").len(), 3, "{kept:?}");
    let checked = kept.changed(&receive_from(&filter, b"192.0.2.26", &kept).await);
    assert!(checked.results().ends_with("arc=pass"), "{}", checked.results());
    // Results from outside are removed and not repeated.
    let (set, kept) = sealed(&mail, &receive_from(&filter, b"192.0.2.26", &mail).await);
    assert_eq!(set, "i=1; mx.example; dkim=none; arc=none");
    let fields = kept.headers.iter().filter(|(name, _)| name.trim_end() == "Authentication-Results");
    assert_eq!(fields.count(), 2, "ours and elsewhere's: {kept:?}");
    // A filter of the same MTA uses a name that the MTA removes from incoming messages.
    let mail =
        TestMail::plain().with("Authentication-Results", " rspamd.mx.example; spf=softfail; dmarc=none");
    let (set, _) = sealed(&mail, &receive_from(&filter, b"192.0.2.26", &mail).await);
    assert_eq!(set, "i=1; mx.example; dkim=none; arc=none; spf=softfail; dmarc=none");
    filter.stopped().await;
}

#[tokio::test]
async fn rejects_a_filter_with_a_name_of_this_site() {
    let files = FilterFiles::for_example();
    let filter = files.start_filter("").await;
    for name in ["Mx.example", "border.example"] {
        let trusted =
            format!("{{ authserv_ids = [\"border.example\"], filters = [\"first.example\", \"{name}\"] }}");
        let config = files.config(&format!("trusted_results = {trusted}"));
        let error = filter.service.reconfigure(config).await.unwrap_err().to_string();
        assert!(error.contains("[trusted_results] filters") && error.contains(name), "{error}");
    }
    filter.service.reconfigure(files.config("trusted_results.filters = [\"first.example\"]")).await.unwrap();
    filter.stopped().await;
}

#[tokio::test]
async fn applies_new_settings_to_the_next_message_or_not_at_all() {
    let files = FilterFiles::for_example();
    let filter = files.start_filter("internal_networks = []").await;
    let first = async |mail: &TestMail| inserted(&receive_from(&filter, b"192.0.2.1", mail).await)[0].clone();
    let mail = TestMail::plain();
    let mut client = MilterClient::connect(&filter.socket).await.unwrap();
    client.negotiate().await.unwrap();
    let connect =
        ConnectInfo { host: b"client", family: AddressFamily::Inet, port: 25, address: b"192.0.2.1" };
    client.send_command(&MilterCommand::Connect(connect), b"").await.unwrap();
    assert_eq!(first(&mail).await, "Authentication-Results");
    let new = files.config("internal_networks = [\"192.0.2.0/24\"]");
    filter.service.reconfigure(new).await.unwrap();
    assert_eq!(first(&mail).await, "DKIM-Signature");
    assert_eq!(
        inserted(&filter.send(&mut client, &mail, b"").await)[0],
        "DKIM-Signature",
        "an open connection"
    );
    // With a single fault nothing of the new settings applies: neither the networks nor the table.
    files.table("example.com s9 ed\n");
    let bad =
        "internal_networks = []\narc.seal = { domain = \"a.example\", selector = \"s\", key = \"none\" }";
    filter.service.reconfigure(files.config(bad)).await.unwrap_err();
    let signed = mail.changed(&receive_from(&filter, b"192.0.2.1", &mail).await);
    let selectors: Vec<&str> = signed.values("DKIM-Signature").iter().map(|value| tag(value, "s")).collect();
    assert_eq!(selectors, ["s1", "s2"]);
    let unknown = files.config("internal_networks = []\nlisten.unix_users = [\"no such user\"]");
    let error = filter.service.reconfigure(unknown).await.unwrap_err().to_string();
    assert!(error.contains("unknown user \"no such user\""), "{error}");
    assert_eq!(first(&mail).await, "DKIM-Signature");
    files.table("example.com s9 missing\n");
    let same = files.config("internal_networks = [\"192.0.2.0/24\"]");
    filter.service.reconfigure(same.clone()).await.unwrap_err();
    assert_eq!(first(&mail).await, "DKIM-Signature");
    files.table("example.com s9 ed\n");
    filter.service.reconfigure(same).await.unwrap();
    let signed = mail.changed(&receive_from(&filter, b"192.0.2.1", &mail).await);
    assert_eq!(tag(signed.values("DKIM-Signature")[0], "s"), "s9");
    let metrics = filter.service.metrics();
    assert_eq!((read(&metrics.reloads), read(&metrics.refused_reloads)), (2, 3));
    client.quit().await.unwrap();
    filter.stopped().await;
}
