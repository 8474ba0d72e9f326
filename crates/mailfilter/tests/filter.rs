//! The DKIM filter, as an MTA sees it.
#![allow(clippy::unwrap_used, clippy::panic)]

mod running_filter;

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use oarlock::keys::generate;
use oarlock_io::dns::{LookupFuture, TempReason, TxtAnswer, TxtLookup};
use oarlock_mailfilter::{Fault, Outcome, Reload, Service};
use oarlock_milter::client::Answer;
use oarlock_milter::protocol::{Change, Command, Connect, Envelope, Family, Reply, Steps};
use oarlock_milter::{Client, Socket};
use running_filter::{Mail, Place, Post, engines, scalar, text};

fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

/// Name and value of each insertion, as they come.
fn inserted(answer: &Answer) -> Vec<String> {
    let name = |change: &Change| match change {
        Change::InsertHeader { index: 0, name, .. } => text(name),
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
async fn what_is_signed_verifies_with_every_engine_and_every_mta() {
    let place = Place::of_example();
    for engine in engines() {
        let post = Post::open(place.config(""), engine, place.dns()).await;
        // With exact white space and without, with and without replies.
        for steps in [Steps::ALL, Steps::SKIP | Steps::NO_REPLY_HEADER, Steps::VERSION_1] {
            let mut client = Client::connect(&post.socket).await.unwrap();
            client.offer(6, oarlock_milter::protocol::Actions::ALL, steps).await.unwrap();
            client.greet(b"").await.unwrap();
            let answer = post
                .send(&mut client, &Mail::plain(), b"i\x00Q\0{auth_authen}\0joe\0{auth_type}\0PLAIN\0")
                .await;
            assert_eq!(inserted(&answer), ["DKIM-Signature"; 2]);
            let signed = Mail::plain().changed(&answer);
            let selectors: Vec<&str> =
                signed.values("DKIM-Signature").iter().map(|value| tag(value, "s")).collect();
            assert_eq!(selectors, ["s1", "s2"], "the table's order, from the top");
            let answer = post.send(&mut client, &signed, b"i\x00Q\0").await;
            let results = signed.changed(&answer).results();
            assert!(results.starts_with("mx.example; dkim=pass (2048-bit key)"), "{results}");
            assert_eq!(results.matches("dkim=pass").count(), 2, "{results}");
            let mut changed = signed.clone();
            changed.body[0] ^= 1;
            let answer = post.send(&mut client, &changed, b"").await;
            let results = changed.changed(&answer).results();
            assert_eq!(results.matches("dkim=fail").count(), 2, "{results}");
            client.quit().await.unwrap();
        }
        let metrics = post.service.metrics();
        assert_eq!((read(&metrics.signed), metrics.messages(Outcome::Signed)), (6, 3));
        assert_eq!((metrics.messages(Outcome::Passed), read(&metrics.key_reads)), (3, 2));
        assert_eq!(metrics.messages(Outcome::Faulty(Fault::BadSignature)), 3);
        assert_eq!(metrics.lookups().map(|(_, count)| count).sum::<u64>(), 2);
        post.stopped().await;
    }
}

#[tokio::test]
async fn results_in_our_name_are_removed_from_the_last_on_and_ours_are_on_top() {
    let place = Place::of_example();
    let post = place.post("").await;
    let forged = " mx.example; dkim=pass header.d=bank.example";
    let mail = Mail::plain()
        .with("Authentication-Results", forged)
        .with("authentication-results", " other.example; dkim=pass")
        .with("Authentication-Results", " (comment) MX.Example 1;\n dkim=pass")
        .with("Authentication-Results", forged);
    let answer = post.receive(&mail).await;
    let removal =
        |index| Change::ChangeHeader { index, name: b"Authentication-Results".to_vec(), value: Vec::new() };
    assert_eq!(answer.changes[..3], [removal(4), removal(3), removal(1)]);
    assert_eq!(answer.changes.len(), 4);
    let changed = mail.changed(&answer);
    assert_eq!(changed.results(), "mx.example; dkim=none");
    assert_eq!(
        changed.values("Authentication-Results"),
        [" mx.example; dkim=none", " other.example; dkim=pass"]
    );
    // Who has authenticated himself may not forge them either.
    let submitted = mail.changed(&post.submit(&mail).await);
    assert_eq!(submitted.values("Authentication-Results"), [" other.example; dkim=pass"]);
    assert_eq!(submitted.values("DKIM-Signature").len(), 2);
    assert_eq!(read(&post.service.metrics().forged), 6);
    post.stopped().await;
}

#[tokio::test]
async fn own_messages_are_told_by_client_and_author() {
    let place = Place::of_example();
    let post = place.post("").await;
    let connected = async |family, address: &'static [u8], macros: &'static [u8], mail: &Mail| {
        let mut client = Client::connect(&post.socket).await.unwrap();
        client.negotiate().await.unwrap();
        let connect = Connect { host: b"client", family, port: 25, address };
        client.say(&Command::Connect(connect), b"").await.unwrap();
        let answer = post.send(&mut client, mail, macros).await;
        inserted(&answer)[0].clone()
    };
    let (signed, verified) = ("DKIM-Signature", "Authentication-Results");
    let mail = Mail::plain();
    assert_eq!(connected(Family::Inet, b"127.0.0.9", b"", &mail).await, signed);
    assert_eq!(connected(Family::Inet6, b"IPv6:::1", b"", &mail).await, signed);
    // Over TCP anybody can say so.
    assert_eq!(connected(Family::Unix, b"/run/socket", b"", &mail).await, verified);
    assert_eq!(connected(Family::Inet, b"192.0.2.1", b"{auth_authen}\0joe\0", &mail).await, signed);
    assert_eq!(connected(Family::Inet, b"192.0.2.1", b"{auth_authen}\0\0", &mail).await, verified);
    assert_eq!(connected(Family::Inet, b"192.0.2.1", b"", &mail).await, verified);
    assert_eq!(connected(Family::Unknown, b"", b"", &mail).await, verified);
    let other = mail.clone().from(" joe@example.org");
    assert_eq!(connected(Family::Inet, b"127.0.0.9", b"", &other).await, verified);
    let hidden = mail.clone().from(" \"joe@example.com\" (<joe@example.com>) <joe@example.org>");
    assert_eq!(connected(Family::Inet, b"127.0.0.9", b"", &hidden).await, verified);
    // One From is due.
    let answer = post.submit(&mail.clone().with("From", " eve@example.com")).await;
    assert_eq!((answer.changes.len(), answer.reply), (0, Reply::Continue));
    let mut none = mail.clone();
    none.headers.retain(|(name, _)| name != "From");
    assert_eq!(post.submit(&none).await.changes.len(), 0);
    assert_eq!(post.service.metrics().messages(Outcome::Faulty(Fault::Malformed)), 2);
    post.stopped().await;
}

#[tokio::test]
async fn messages_gather_their_jobs_while_others_are_under_way() {
    let place = Place::of_example();
    let post = place.post("").await;
    let mail = Mail::plain();
    let round = async || {
        let signed = mail.changed(&post.submit(&mail).await);
        assert!(signed.changed(&post.receive(&signed).await).results().contains("dkim=pass"));
        post.service.accelerator().counters()
    };
    // By then it is known what each job costs, so that one alone could be computed by who submits it.
    let alone = round().await;
    let mut other = post.client().await;
    let from = Envelope::new(b"<jane@example.net>\0").unwrap();
    other.say(&Command::Mail(from), b"").await.unwrap();
    other.say(&Command::Header { name: b"From", value: b" jane@example.net" }, b"").await.unwrap();
    assert_eq!(other.say(&Command::EndOfHeaders, b"").await.unwrap(), Reply::Continue);
    let beside = round().await;
    assert!(beside.completed > alone.completed, "{beside:?}");
    assert_eq!(beside.on_caller, alone.on_caller, "{beside:?}");
    other.quit().await.unwrap();
    post.stopped().await;
}

#[tokio::test]
async fn modes_leave_the_rest_alone() {
    let place = Place::of_example();
    let post = place.post("mode = \"sign\"").await;
    let answer = post.receive(&Mail::plain()).await;
    assert_eq!((answer.changes.len(), answer.reply), (0, Reply::Accept), "before the body is sent");
    assert_eq!(post.receive(&Mail::plain().with("a b", " c")).await.reply, Reply::Accept);
    assert_eq!(inserted(&post.submit(&Mail::plain()).await).len(), 2);
    post.stopped().await;
    let post = place.post("mode = \"verify\"").await;
    assert_eq!(inserted(&post.submit(&Mail::plain()).await), ["Authentication-Results"]);
    post.stopped().await;
}

#[tokio::test]
async fn bodies_that_nobody_needs_are_not_sent() {
    let place = Place::of_example();
    let post = place.post("").await;
    let mut mail = Mail::plain();
    mail.body = vec![b'x'; 1_000_000];
    let answer = post.receive(&mail).await;
    assert_eq!(mail.changed(&answer).results(), "mx.example; dkim=none");
    assert!(read(&post.counters.received_bytes) < 70_000);
    post.stopped().await;
}

#[tokio::test]
async fn states_of_keys_turn_over_without_a_gap() {
    let mut place = Place::of_example();
    place.key("new", "s3", "example.com", &generate::ed25519().unwrap());
    let post = place.post("signing.reload_seconds = 0").await;
    let selectors = async || {
        let signed = Mail::plain().changed(&post.submit(&Mail::plain()).await);
        let results = signed.changed(&post.receive(&signed).await).results();
        let fields = signed.values("DKIM-Signature");
        assert_eq!(results.matches("dkim=pass").count(), fields.len(), "{results}");
        fields.iter().map(|value| tag(value, "s").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(selectors().await, ["s1", "s2"]);
    place.table("example.com s1 rsa\nexample.com s3 new test\n");
    assert!(matches!(post.service.reload(false).await, Reload::Replaced(_)));
    assert_eq!(selectors().await, ["s1", "s3"]);
    place.table("example.com s1 rsa retiring\nexample.com s3 new\n");
    assert!(matches!(post.service.reload(false).await, Reload::Replaced(_)));
    assert_eq!(selectors().await, ["s3"]);
    place.table("example.com s1 rsa retiring\nexample.com s3\n");
    assert!(matches!(post.service.reload(false).await, Reload::Refused(_)));
    assert_eq!(selectors().await, ["s3"]);
    let metrics = post.service.metrics();
    assert_eq!((read(&metrics.reloads), read(&metrics.refused_reloads), read(&metrics.key_reads)), (2, 1, 3));
    post.stopped().await;
}

#[tokio::test]
async fn ten_thousand_fields_are_a_message_and_more_than_the_limit_are_none() {
    let place = Place::of_example();
    let post = place.post("limits.headers = 10010").await;
    let mut mail = Mail::plain();
    for number in 0..10_000 {
        mail = mail.with(&format!("X-{number}"), " value");
    }
    let signed = mail.changed(&post.submit(&mail).await);
    assert!(signed.changed(&post.receive(&signed).await).results().contains("dkim=pass"));
    for number in 0..10 {
        mail = mail.with(&format!("Y-{number}"), " value");
    }
    let mail = mail.with("Authentication-Results", " mx.example; dkim=pass");
    let results = mail.changed(&post.receive(&mail).await);
    assert!(results.results().contains("dkim=permerror reason=\"the message is malformed: more than 10010"));
    assert_eq!(results.values("Authentication-Results").len(), 1);
    post.stopped().await;
    let post = place.post("limits.header_bytes = 1000\non.malformed = \"reject\"").await;
    let long = Mail::plain().with("X-Long", &"x".repeat(1000));
    assert_eq!(post.receive(&long).await.reply, smtp("550 5.6.0 The header of this message is malformed"));
    assert_eq!(post.submit(&long).await.reply, smtp("550 5.6.0 The header of this message is malformed"));
    assert_eq!(post.receive(&Mail::plain()).await.reply, Reply::Continue);
    post.stopped().await;
}

fn smtp(text: &str) -> Reply {
    Reply::Smtp(text.as_bytes().to_vec())
}

/// DNS on a bad day.
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
async fn every_fault_has_the_response_that_is_set() {
    let place = Place::of_example();
    let post = place.post("").await;
    let signed = Mail::plain().changed(&post.submit(&Mail::plain()).await);
    post.stopped().await;
    let mut bad = signed.clone();
    bad.body.extend(b"more");
    let unread = Mail::plain().with("a b", " c");
    let cases = [
        ("no_signature", Mail::plain(), "No DKIM signature found", "4.7.20", "5.7.20"),
        ("bad_signature", bad, "No passing DKIM signature found", "4.7.20", "5.7.20"),
        ("malformed", unread, "The header of this message is malformed", "4.6.0", "5.6.0"),
    ];
    for (setting, mail, words, temporary, permanent) in cases {
        let answer = async |response: &str| {
            let post = place.post(&format!("on.{setting} = \"{response}\"")).await;
            let answer = post.receive(&mail).await;
            // Others are not concerned.
            assert_eq!(post.receive(&signed).await.reply, Reply::Continue);
            post.stopped().await;
            answer
        };
        assert_eq!(answer("accept").await.reply, Reply::Continue);
        assert_eq!(answer("tempfail").await.reply, smtp(&format!("451 {temporary} {words}")));
        assert_eq!(answer("reject").await.reply, smtp(&format!("550 {permanent} {words}")));
        let held = answer("quarantine").await;
        assert_eq!(held.changes.last(), Some(&Change::Quarantine(words.into())));
        assert_eq!((held.changes.len(), held.reply), (2, Reply::Continue));
    }
}

#[tokio::test]
async fn dns_that_fails_or_is_silent_is_a_temporary_error_and_asked_once() {
    let place = Place::of_example();
    let post = place.post("").await;
    let signed = Mail::plain().changed(&post.submit(&Mail::plain()).await);
    post.stopped().await;
    for (is_silent, reason) in [(false, "SERVFAIL"), (true, "no answer within 0.001 s")] {
        let dns = Broken { is_silent, ..Broken::default() };
        let config = place.config("dns.timeout_ms = 1\non.dns_error = \"tempfail\"");
        let post = Post::open(config, scalar(), Arc::new(dns.clone())).await;
        for _ in 0..3 {
            assert_eq!(post.receive(&signed).await.reply, smtp("451 4.4.3 DKIM keys could not be looked up"));
        }
        assert_eq!(read(&dns.asked), 2, "one of each selector");
        assert_eq!(post.service.metrics().messages(Outcome::Faulty(Fault::Dns)), 3);
        post.stopped().await;
        let post = Post::open(place.config("dns.timeout_ms = 1"), scalar(), Arc::new(dns)).await;
        let results = signed.changed(&post.receive(&signed).await).results();
        assert!(results.contains("dkim=temperror") && results.contains(reason), "{results}");
        post.stopped().await;
    }
    // DNS that says that there is nothing is right.
    let post = Post::open(place.config(""), scalar(), Place::new().dns()).await;
    let results = signed.changed(&post.receive(&signed).await).results();
    assert!(results.contains("dkim=permerror reason=\"no key for signature"), "{results}");
    post.stopped().await;
}

#[tokio::test]
async fn a_key_that_is_away_costs_its_signature_and_without_any_the_message_waits() {
    let place = Place::of_example();
    let server = oarlock::keys::reference::Reference { name: "mail".into(), spki: None };
    place.write("reference", &server.to_pem().unwrap());
    place.table("example.com s1 rsa\nexample.com s9 reference\nexample.net s1 reference\n");
    // A server that is away hinders no start: mail that needs it waits.
    let away = format!("cryptoserver.servers = [\"{}\"]", place.path("no socket").display());
    let any = "signing.require_from = \"any\"";
    let post = place.post(&format!("{away}\ncryptoserver.patience_ms = 1\n{any}")).await;
    let answer = post.submit(&Mail::plain()).await;
    assert_eq!((inserted(&answer).len(), answer.reply), (1, Reply::Continue));
    let waits = Mail::plain().from(" joe@example.net");
    assert_eq!(post.submit(&waits).await.reply, smtp("451 4.3.0 This message could not be signed"));
    assert_eq!(post.service.check_keys().await.len(), 1);
    let metrics = post.service.metrics();
    assert_eq!((read(&metrics.signed), read(&metrics.unsigned)), (1, 2));
    post.stopped().await;
}

#[tokio::test]
async fn identities_lifetimes_and_forms_are_in_the_signature() {
    let place = Place::of_example();
    place.table("*.example.com s1 rsa domain=example.com identity=@mail.example.com\n* s2 ed\n");
    let settings = [
        "signing.require_from = \"any\"",
        "signing.lifetime_seconds = 1000",
        "signing.canonicalization = \"simple/relaxed\"",
        "signing.signed_headers = [\"From\", \"Subject\"]",
        "signing.oversigned_headers = [\"From\"]",
    ];
    let post = place.post(&settings.join("\n")).await;
    let mail = Mail::plain().from(" joe@a.example.com");
    let signed = mail.changed(&post.submit(&mail).await);
    let field = signed.values("DKIM-Signature")[0].replace(['\n', '\t', ' ', '\r'], "");
    assert_eq!((tag(&field, "d"), tag(&field, "i")), ("example.com", "@mail.example.com"));
    assert_eq!((tag(&field, "c"), tag(&field, "h")), ("simple/relaxed", "From:From:Subject"));
    let seconds = |name: &str| tag(&field, name).parse::<u64>().unwrap();
    assert_eq!(seconds("x") - seconds("t"), 1000);
    assert!(signed.changed(&post.receive(&signed).await).results().contains("dkim=pass"));
    // Everybody else's own domain.
    let other = Mail::plain().from(" joe@any.example");
    let signed = other.changed(&post.submit(&other).await);
    assert_eq!(tag(signed.values("DKIM-Signature")[0], "d"), "any.example");
    post.stopped().await;
}

#[tokio::test]
async fn chains_are_sealed_and_verified() {
    let mut place = Place::of_example();
    place.key("arc", "arc", "example.net", &generate::rsa(2048).unwrap());
    let seal = "arc.seal = { domain = \"example.net\", selector = \"arc\", key = \"arc\" }";
    let post = place.post(seal).await;
    let signed = Mail::plain().changed(&post.submit(&Mail::plain()).await);
    let mut handed_on = signed;
    for hop in 1..=3 {
        let answer = post.receive(&handed_on).await;
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
    let results = handed_on.changed(&post.receive(&handed_on).await).results();
    assert!(results.contains("arc=fail"), "{results}");
    assert_eq!(read(&post.service.metrics().sealed), 4);
    post.stopped().await;
}

#[tokio::test]
async fn an_mta_that_cannot_add_headers_is_left() {
    let place = Place::of_example();
    let post = place.post("").await;
    let Socket::Inet { .. } = post.socket else { panic!() };
    let mut client = Client::connect(&post.socket).await.unwrap();
    assert!(client.offer(6, oarlock_milter::protocol::Actions::ADD_RECIPIENTS, Steps::ALL).await.is_err());
    post.stopped().await;
}

/// What a place of the metrics' listener answers.
async fn page(address: std::net::SocketAddr, place: &str) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream.write_all(format!("GET {place} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn everything_is_counted_on_a_page() {
    let place = Place::of_example();
    let config = place.config("[listen]\nsockets = [\"inet:0@127.0.0.1\"]\nmetrics = \"127.0.0.1:0\"");
    let service = Service::open(config, scalar(), place.dns()).await.unwrap();
    let bound = service.bind().await.unwrap();
    let (socket, metrics) = (bound.sockets().remove(0), bound.metrics().unwrap());
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let run = tokio::spawn(bound.run(async move { drop(stopped.await) }));
    let mut client = Client::connect(&socket).await.unwrap();
    client.negotiate().await.unwrap();
    client.greet(b"").await.unwrap();
    let message = oarlock_milter::client::Message {
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
    ] {
        assert!(shown.contains(&format!("\n{line}\n")), "{line}: {shown}");
    }
    for name in ["process_cpu_seconds_total ", "oarlock_dispatcher_", "oarlock_batch_operations"] {
        assert!(shown.contains(&format!("\n{name}")), "{name}: {shown}");
    }
    assert!(page(metrics, "/healthz").await.ends_with("ok\n"));
    client.quit().await.unwrap();
    stop.send(()).unwrap();
    run.await.unwrap();
}

#[tokio::test]
async fn a_filter_whose_keys_cannot_sign_does_not_start() {
    let place = Place::of_example();
    let p256 = generate::ec(oarlock::Curve::P256).unwrap();
    place.write("p256", &oarlock::keys::export::private_pkcs8_pem(&p256).unwrap());
    let refused = async |more: &str| {
        let opened = Service::open(place.config(more), scalar(), place.dns()).await;
        opened.map(drop).unwrap_err().to_string()
    };
    place.table("example.com s1 rsa\nexample.com s7 p256\n");
    let said = refused("").await;
    assert!(said.contains("p256 (selector s7): an ECDSA private key over P-256"), "{said}");
    place.table("example.com s1 rsa\n");
    let said = refused("arc.seal = { domain = \"example.net\", selector = \"a1\", key = \"p256\" }").await;
    assert!(
        said.contains("[arc] seal") && said.contains("p256 (selector a1): an ECDSA private key"),
        "{said}"
    );
    // A table that is read later is held to the same, and mail is signed as before.
    let post = place.post("signing.reload_seconds = 0").await;
    place.table("example.com s7 p256\n");
    assert!(matches!(post.service.reload(true).await, Reload::Refused(_)));
    assert_eq!(inserted(&post.submit(&Mail::plain()).await), ["DKIM-Signature"]);
    post.stopped().await;
}

#[tokio::test]
async fn who_only_tests_is_as_unsigned_whatever_was_changed() {
    let mut place = Place::new();
    let key = generate::ed25519().unwrap();
    place.key("ed", "s1", "example.com", &key);
    place.table("example.com s1 ed\n");
    place.records = place.records.replace("v=DKIM1; ", "v=DKIM1; t=y; ");
    let post = place.post("on.bad_signature = \"reject\"").await;
    let signed = Mail::plain().changed(&post.submit(&Mail::plain()).await);
    let mut of_body = signed.clone();
    of_body.body.extend(b"more\r\n");
    let of_header = signed.clone().from(" joe@example.org");
    for changed in [of_body, of_header] {
        let results = changed.changed(&post.receive(&changed).await).results();
        assert!(results.contains("dkim=fail (256-bit key, test mode)"), "{results}");
    }
    assert_eq!(post.service.metrics().messages(Outcome::Faulty(Fault::NoSignature)), 2);
    post.stopped().await;
}

#[tokio::test]
async fn clients_of_a_unix_socket_are_own_where_the_mta_came_over_one() {
    let place = Place::of_example();
    let socket = format!("unix:{}", place.path("socket").display());
    let post = Post::open_at(&socket, place.config(""), scalar(), place.dns()).await;
    let mut client = Client::connect(&post.socket).await.unwrap();
    client.negotiate().await.unwrap();
    let connect = Connect { host: b"client", family: Family::Unix, port: 0, address: b"/run/socket" };
    client.say(&Command::Connect(connect), b"").await.unwrap();
    assert_eq!(inserted(&post.send(&mut client, &Mail::plain(), b"").await), ["DKIM-Signature"; 2]);
    client.quit().await.unwrap();
    post.stopped().await;
}

#[test]
fn it_listens_where_permissions_say_who_comes() {
    let config = oarlock_mailfilter::Config::default();
    assert_eq!(config.listen.sockets, ["unix:/run/oarlock-milter/milter.sock"]);
    assert_eq!(config.listen.unix_mode, "0660");
    let place = Place::new();
    place.write("open.toml", "listen.unix_mode = \"0666\"\n");
    let said = oarlock_mailfilter::Config::read(&place.path("open.toml")).unwrap_err().to_string();
    assert!(said.contains("unix_users") && said.contains("0666"), "{said}");
    place.write("named.toml", "listen.unix_mode = \"0666\"\nlisten.unix_users = [\"root\"]\n");
    oarlock_mailfilter::Config::read(&place.path("named.toml")).unwrap();
}

#[tokio::test]
async fn who_writes_under_anothers_name_is_not_signed_for() {
    let place = Place::of_example();
    place.table("* s1 rsa\n");
    let of = async |more: &str, from: &str| {
        let post = place.post(more).await;
        let answer = post.submit(&Mail::plain().from(from)).await;
        let refused = post.service.metrics().messages(Outcome::Faulty(Fault::WrongFrom));
        post.stopped().await;
        (answer, refused)
    };
    let is_signed = |(answer, refused): (Answer, u64)| {
        assert_eq!(answer.changes.is_empty(), refused == 1, "{answer:?}");
        refused == 0
    };
    // MAIL FROM is joe@example.com, which the MTA has checked.
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
    // Hosts of internal networks write for whom they want.
    let post = place.post("").await;
    let mut client = Client::connect(&post.socket).await.unwrap();
    client.negotiate().await.unwrap();
    let connect = Connect { host: b"client", family: Family::Inet, port: 25, address: b"127.0.0.1" };
    client.say(&Command::Connect(connect), b"").await.unwrap();
    let answer = post.send(&mut client, &Mail::plain().from(" shop@example.org"), b"").await;
    assert_eq!(inserted(&answer), ["DKIM-Signature"]);
    client.quit().await.unwrap();
    post.stopped().await;
}

/// A message that comes from this address.
async fn receive_from(post: &Post, address: &'static [u8], mail: &Mail) -> Answer {
    let mut client = Client::connect(&post.socket).await.unwrap();
    client.negotiate().await.unwrap();
    let connect = Connect { host: b"client", family: Family::Inet, port: 25, address };
    client.say(&Command::Connect(connect), b"").await.unwrap();
    let answer = post.send(&mut client, mail, b"").await;
    client.quit().await.unwrap();
    answer
}

#[tokio::test]
async fn results_of_this_site_are_sealed_and_those_of_strangers_are_not() {
    let mut place = Place::of_example();
    place.key("arc", "arc", "example.net", &generate::rsa(2048).unwrap());
    let settings = "arc.seal = { domain = \"example.net\", selector = \"arc\", key = \"arc\" }\n\
                    trusted_results = { networks = [\"192.0.2.25\"], authserv_ids = [\"border.example\"], \
                    filters = [\"rspamd.mx.example\"] }";
    let post = place.post(settings).await;
    let mail = Mail::plain()
        .with("Authentication-Results", " mx.example;\n\tspf=pass smtp.mailfrom=example.com")
        .with("Authentication-Results ", " Border.Example; dmarc=pass header.from=example.com; arc=pass")
        .with("Authentication-Results", " elsewhere.example; dkim=pass header.d=bank.example");
    let sealed = |mail: &Mail, answer: &Answer| {
        let sealed = mail.changed(answer);
        let set = sealed.values("ARC-Authentication-Results")[0].replace("\n\t", " ");
        (set.trim().to_owned(), sealed)
    };
    let (set, kept) = sealed(&mail, &receive_from(&post, b"192.0.2.25", &mail).await);
    assert_eq!(
        set,
        "i=1; mx.example; dkim=none; arc=none; spf=pass smtp.mailfrom=example.com; \
         dmarc=pass header.from=example.com"
    );
    assert_eq!(kept.values("Authentication-Results").len(), 3, "{kept:?}");
    let checked = kept.changed(&receive_from(&post, b"192.0.2.26", &kept).await);
    assert!(checked.results().ends_with("arc=pass"), "{}", checked.results());
    // A stranger's are removed, and say nothing.
    let (set, kept) = sealed(&mail, &receive_from(&post, b"192.0.2.26", &mail).await);
    assert_eq!(set, "i=1; mx.example; dkim=none; arc=none");
    let fields = kept.headers.iter().filter(|(name, _)| name.trim_end() == "Authentication-Results");
    assert_eq!(fields.count(), 2, "ours and elsewhere's: {kept:?}");
    // A filter of the same MTA writes under a name that the MTA removes from what comes in.
    let mail = Mail::plain().with("Authentication-Results", " rspamd.mx.example; spf=softfail; dmarc=none");
    let (set, _) = sealed(&mail, &receive_from(&post, b"192.0.2.26", &mail).await);
    assert_eq!(set, "i=1; mx.example; dkim=none; arc=none; spf=softfail; dmarc=none");
    post.stopped().await;
}

#[tokio::test]
async fn a_filter_under_a_name_of_this_site_is_refused() {
    let place = Place::of_example();
    let post = place.post("").await;
    for name in ["Mx.example", "border.example"] {
        let trusted =
            format!("{{ authserv_ids = [\"border.example\"], filters = [\"first.example\", \"{name}\"] }}");
        let config = place.config(&format!("trusted_results = {trusted}"));
        let error = post.service.reconfigure(config).await.unwrap_err().to_string();
        assert!(error.contains("[trusted_results] filters") && error.contains(name), "{error}");
    }
    post.service.reconfigure(place.config("trusted_results.filters = [\"first.example\"]")).await.unwrap();
    post.stopped().await;
}

#[tokio::test]
async fn new_settings_hold_for_the_next_message_or_not_at_all() {
    let place = Place::of_example();
    let post = place.post("internal_networks = []").await;
    let first = async |mail: &Mail| inserted(&receive_from(&post, b"192.0.2.1", mail).await)[0].clone();
    let mail = Mail::plain();
    let mut client = Client::connect(&post.socket).await.unwrap();
    client.negotiate().await.unwrap();
    let connect = Connect { host: b"client", family: Family::Inet, port: 25, address: b"192.0.2.1" };
    client.say(&Command::Connect(connect), b"").await.unwrap();
    assert_eq!(first(&mail).await, "Authentication-Results");
    let new = place.config("internal_networks = [\"192.0.2.0/24\"]");
    post.service.reconfigure(new).await.unwrap();
    assert_eq!(first(&mail).await, "DKIM-Signature");
    assert_eq!(
        inserted(&post.send(&mut client, &mail, b"").await)[0],
        "DKIM-Signature",
        "an open connection"
    );
    // One fault, and nothing of it holds: not the networks, not the table.
    place.table("example.com s9 ed\n");
    let bad =
        "internal_networks = []\narc.seal = { domain = \"a.example\", selector = \"s\", key = \"none\" }";
    post.service.reconfigure(place.config(bad)).await.unwrap_err();
    let signed = mail.changed(&receive_from(&post, b"192.0.2.1", &mail).await);
    let selectors: Vec<&str> = signed.values("DKIM-Signature").iter().map(|value| tag(value, "s")).collect();
    assert_eq!(selectors, ["s1", "s2"]);
    place.table("example.com s9 missing\n");
    let same = place.config("internal_networks = [\"192.0.2.0/24\"]");
    post.service.reconfigure(same.clone()).await.unwrap_err();
    assert_eq!(first(&mail).await, "DKIM-Signature");
    place.table("example.com s9 ed\n");
    post.service.reconfigure(same).await.unwrap();
    let signed = mail.changed(&receive_from(&post, b"192.0.2.1", &mail).await);
    assert_eq!(tag(signed.values("DKIM-Signature")[0], "s"), "s9");
    let metrics = post.service.metrics();
    assert_eq!((read(&metrics.reloads), read(&metrics.refused_reloads)), (2, 2));
    client.quit().await.unwrap();
    post.stopped().await;
}
