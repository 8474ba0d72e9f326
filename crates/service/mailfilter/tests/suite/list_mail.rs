//! Mail of lists and forwarders: `d=` from `Sender` or MAIL FROM, and who may ask for it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use oarlock_mailfilter::opendkim::{ImportSources, import};
use oarlock_mailfilter::{FilterConfig, MessageFault, MessageOutcome};

use crate::opendkim_tables::{OpenDkim, added_signatures};
use crate::running_filter::{FilterFiles, RunningFilter, TestMail, connect, scalar, send_as};

const LIST: &[u8] = b"<rowing-bounces@lists.example.com>";
const JOE: &[u8] = b"<joe@example.com>";
const NULL: &[u8] = b"<>";

/// A message as Mailman passes it on: the author is of another site, and the list names itself in `Sender`.
fn list_mail() -> TestMail {
    let mut mail = TestMail::plain()
        .from(" Jane via Rowing <jane@elsewhere.example>")
        .with("Sender", " \"Rowing\" <rowing-bounces@lists.example.com>")
        .with("List-Id", " Rowing <rowing.lists.example.com>")
        .with("List-Post", " <mailto:rowing@lists.example.com>")
        .with("Errors-To", " rowing-bounces@lists.example.com")
        .with("Precedence", " list");
    mail.body.extend(b"_______________________________________________\r\nRowing mailing list\r\n");
    mail
}

/// A message that a forwarder passes on with a rewritten envelope (SRS).
const FORWARDER: &[u8] = b"<SRS0=hhh=tt=elsewhere.example=jane@fwd.example.net>";

fn files() -> FilterFiles {
    let mut files = FilterFiles::for_example();
    let key = oarlock::keys::generate::ed25519().unwrap();
    files.key("list", "list", "lists.example.com", &key);
    files.key("fwd", "fwd", "fwd.example.net", &key);
    files.table(
        "example.com s1 rsa\nexample.org s2 ed domain=example.org\n*.lists.example.com list list domain=lists.example.com\n\
         lists.example.com list list\nfwd.example.net fwd fwd\n",
    );
    files
}

/// A client of the MTA.
#[derive(Clone, Copy)]
enum TestClient {
    Internal,
    Authenticated,
    Stranger,
}

/// Returns the outcome of a message, and `d= s=` of the signatures.
async fn outcome(
    filter: &RunningFilter,
    client: TestClient,
    from: &[u8],
    mail: &TestMail,
) -> (MessageOutcome, Vec<String>) {
    let (address, macros): (_, &[u8]) = match client {
        TestClient::Internal => ("127.0.0.1", b"i\0QUEUED\0"),
        TestClient::Authenticated => ("192.0.2.1", b"i\0QUEUED\0{auth_authen}\0joe\0"),
        TestClient::Stranger => ("192.0.2.1", b"i\0QUEUED\0"),
    };
    let counts = || MessageOutcome::ALL.map(|outcome| filter.service.metrics().messages(outcome));
    let before = counts();
    let mut connection = connect(&filter.socket, address, "client.example").await;
    let answer = send_as(&mut connection, from, mail, macros).await;
    let changed = counts().into_iter().zip(before).position(|(after, before)| after > before).unwrap();
    let signatures =
        added_signatures(&answer).into_iter().map(|(domain, selector, _)| format!("{domain} {selector}"));
    (MessageOutcome::ALL[changed], signatures.collect())
}

fn signed(signature: &str) -> (MessageOutcome, Vec<String>) {
    (MessageOutcome::Signed, vec![signature.to_owned()])
}

fn refused(fault: MessageFault) -> (MessageOutcome, Vec<String>) {
    (MessageOutcome::Faulty(fault), Vec::new())
}

/// The setting with these sources.
fn sources(names: &str) -> String {
    format!("signing.domain_from = [{names}]")
}

#[tokio::test]
async fn signs_for_the_list_or_the_forwarder_if_the_settings_say_so() {
    use TestClient::Internal;
    let files = files();
    let forwarded = TestMail::plain().from(" jane@elsewhere.example");
    for (names, list, forwarder, both) in [
        ("\"from\"", None, None, "example.com s1"),
        ("\"sender\"", Some("lists.example.com list"), None, "lists.example.com list"),
        ("\"mail_from\"", Some("lists.example.com list"), Some("fwd.example.net fwd"), "fwd.example.net fwd"),
        ("\"from\", \"sender\"", Some("lists.example.com list"), None, "example.com s1"),
        ("\"sender\", \"from\"", Some("lists.example.com list"), None, "lists.example.com list"),
        (
            "\"mail_from\", \"sender\", \"from\"",
            Some("lists.example.com list"),
            Some("fwd.example.net fwd"),
            "fwd.example.net fwd",
        ),
    ] {
        let filter = files.start_filter(&sources(names)).await;
        let unsigned = refused(MessageFault::NoSignature);
        let expected = |signature: Option<&str>| signature.map_or(unsigned.clone(), signed);
        assert_eq!(outcome(&filter, Internal, LIST, &list_mail()).await, expected(list), "{names}");
        assert_eq!(outcome(&filter, Internal, FORWARDER, &forwarded).await, expected(forwarder), "{names}");
        let mail = list_mail().from(" joe@example.com");
        assert_eq!(outcome(&filter, Internal, FORWARDER, &mail).await, signed(both), "{names}");
        filter.stopped().await;
    }
}

#[tokio::test]
async fn a_signature_for_a_list_verifies() {
    let files = files();
    let filter = files.start_filter(&sources("\"sender\"")).await;
    let mut client = connect(&filter.socket, "127.0.0.1", "lists.example.com").await;
    let list = list_mail().changed(&send_as(&mut client, LIST, &list_mail(), b"i\0Q\0").await);
    let results = list.changed(&filter.receive(&list).await).results();
    assert!(results.contains("dkim=pass") && results.contains("header.d=lists.example.com"), "{results}");
    filter.stopped().await;
}

#[tokio::test]
async fn a_source_without_an_address_or_a_key_leaves_the_choice_to_the_next() {
    use TestClient::Internal;
    let files = files();
    let filter = files.start_filter(&sources("\"mail_from\", \"sender\", \"from\"")).await;
    let plain = TestMail::plain();
    assert_eq!(outcome(&filter, Internal, NULL, &plain).await, signed("example.com s1"));
    assert_eq!(outcome(&filter, Internal, NULL, &list_mail()).await, signed("lists.example.com list"));
    let mut unlisted = list_mail().from(" joe@example.com").with("Sender", " list@elsewhere.example");
    unlisted.headers.retain(|(name, value)| name != "Sender" || value.contains("elsewhere"));
    let elsewhere = outcome(&filter, Internal, b"<x@elsewhere.example>", &unlisted).await;
    assert_eq!(elsewhere, signed("example.com s1"));
    filter.stopped().await;
    // The null sender signs nothing by itself.
    let filter = files.start_filter(&sources("\"mail_from\"")).await;
    assert_eq!(outcome(&filter, Internal, NULL, &plain).await, refused(MessageFault::NoSignature));
    filter.stopped().await;
}

#[tokio::test]
async fn a_forged_sender_never_gets_a_signature() {
    use TestClient::{Authenticated, Stranger};
    let files = files();
    for names in ["\"sender\"", "\"mail_from\"", "\"from\", \"sender\", \"mail_from\""] {
        for required in ["mail_from", "mail_from_domain"] {
            let more = format!("{}\nsigning.require_from = \"{required}\"", sources(names));
            let filter = files.start_filter(&more).await;
            // A stranger may write anything.
            for from in [LIST, FORWARDER, JOE, NULL] {
                let mail = list_mail().from(" joe@example.com");
                let found = outcome(&filter, Stranger, from, &mail).await;
                assert_eq!(found, refused(MessageFault::NoSignature), "{names}");
            }
            // A user of example.com is not the list, and not a user of another domain of this site.
            if names == "\"sender\"" {
                let found = outcome(&filter, Authenticated, JOE, &list_mail()).await;
                assert_eq!(found, refused(MessageFault::WrongFrom), "{names} {required}");
            }
            for author in ["boss@example.org", "boss@a.lists.example.com", "boss@hr.example.com", "boss@com"]
            {
                let mut mail = TestMail::plain().from(&format!(" {author}"));
                if names == "\"sender\"" {
                    mail = mail.with("Sender", " joe@example.com");
                }
                let found = outcome(&filter, Authenticated, JOE, &mail).await;
                assert_eq!(found, refused(MessageFault::WrongFrom), "{author} {names} {required}");
            }
            let two = TestMail::plain()
                .from(" jane@elsewhere.example, boss@example.org")
                .with("Sender", " joe@example.com");
            let found = outcome(&filter, Authenticated, JOE, &two).await;
            assert_eq!(found, refused(MessageFault::WrongFrom), "{names} {required}");
            // The user may pass on the message of another site in their name.
            let mail = TestMail::plain().from(" jane@elsewhere.example").with("Sender", " joe@example.com");
            assert_eq!(
                outcome(&filter, Authenticated, JOE, &mail).await,
                signed("example.com s1"),
                "{names}"
            );
            // MAIL FROM with another address than Sender or From.
            let sender = TestMail::plain().from(" jane@elsewhere.example").with("Sender", " ann@example.com");
            let expected = match (names, required) {
                ("\"sender\"", "mail_from") => refused(MessageFault::WrongFrom),
                _ => signed("example.com s1"),
            };
            assert_eq!(outcome(&filter, Authenticated, JOE, &sender).await, expected, "{names} {required}");
            filter.stopped().await;
        }
    }
}

#[tokio::test]
async fn a_sender_that_is_not_one_mailbox_is_a_fault() {
    use TestClient::Internal;
    let files = files();
    let filter = files.start_filter(&sources("\"sender\", \"from\"")).await;
    let plain = TestMail::plain();
    for value in [
        " Team: rowing-bounces@lists.example.com;",
        " rowing-bounces@lists.example.com, eve@elsewhere.example",
        " rowing-bounces@lists.example.com eve@elsewhere.example (x)",
        " undisclosed:;",
        " nobody",
        "",
        " <rowing-bounces@[192.0.2.1]>",
        " <rowing-bounces@lists.example.com",
    ] {
        let mail = plain.clone().with("Sender", value);
        assert_eq!(
            outcome(&filter, Internal, LIST, &mail).await,
            refused(MessageFault::Malformed),
            "{value}"
        );
    }
    let two = list_mail().with("sender", " rowing-bounces@lists.example.com");
    assert_eq!(outcome(&filter, Internal, LIST, &two).await, refused(MessageFault::Malformed));
    // A message without From, or with two, is not signed for its Sender either.
    let mut none = list_mail();
    none.headers.retain(|(name, _)| name != "From");
    assert_eq!(outcome(&filter, Internal, LIST, &none).await, refused(MessageFault::Malformed));
    let two = list_mail().with("From", " joe@example.com");
    assert_eq!(outcome(&filter, Internal, LIST, &two).await, refused(MessageFault::Malformed));
    filter.stopped().await;
    // Fields that are not a source are not read.
    let filter = files.start_filter("").await;
    let mail = plain.with("Sender", " a@b, c@d").with("Sender", " undisclosed:;");
    assert_eq!(outcome(&filter, Internal, LIST, &mail).await, signed("example.com s1"));
    filter.stopped().await;
}

/// Messages with their envelope senders.
fn compared() -> Vec<(&'static [u8], TestMail)> {
    let plain = TestMail::plain();
    vec![
        (LIST, list_mail()),
        (FORWARDER, plain.clone().from(" jane@elsewhere.example")),
        (JOE, plain.clone()),
        (JOE, plain.clone().with("Sender", " Secretary <ann@example.org>")),
        (
            LIST,
            plain
                .clone()
                .from(" jane@elsewhere.example")
                .with("Sender", "\n \"a, b\" (x) <news@LISTS.example.com>"),
        ),
        (NULL, plain.clone()),
        (LIST, plain.from(" jane@elsewhere.example")),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn chooses_the_domain_as_opendkim_does() {
    if !["/usr/bin/rspamd", "/usr/local/bin/rspamd"].iter().any(|path| fs::metadata(path).is_ok()) {
        println!("SKIPPED: rspamd is not installed, so its use_domain is not compared");
    }
    let files = files();
    let key = oarlock::keys::export::private_pkcs8_pem(&oarlock::keys::generate::rsa(1024).unwrap()).unwrap();
    files.write("peer.pem", &key);
    let base = files.path("");
    fs::set_permissions(&base, PermissionsExt::from_mode(0o700)).unwrap();
    files.write(
        "keytable",
        &[
            "com example.com:s1",
            "org example.org:s2",
            "list lists.example.com:list",
            "fwd fwd.example.net:fwd",
        ]
        .map(|key| format!("{key}:{}/peer.pem\n", base.display()))
        .concat(),
    );
    files.write(
        "signingtable",
        "example.com com\nexample.org org\nlists.example.com list\nfwd.example.net fwd\n",
    );
    for (number, headers) in [
        "",
        "SenderHeaders From",
        "SenderHeaders Sender,From",
        "SenderHeaders Sender",
        "SenderHeaders From,Sender",
    ]
    .into_iter()
    .enumerate()
    {
        let conf = format!(
            "Mode s\nSyslog no\nKeyTable file:{0}/keytable\nSigningTable file:{0}/signingtable\n{headers}\n\
             InternalHosts 127.0.0.1\nRequireSafeKeys no\n",
            base.display(),
        );
        files.write("opendkim.conf", &conf);
        let socket = files.path(&format!("list{number}"));
        let Some(peer) = OpenDkim::start(&files.path("opendkim.conf"), &socket).await else { return };
        let sources = ImportSources { config: Some(files.path("opendkim.conf")), ..ImportSources::default() };
        let imported = import(&sources, &|path| fs::read_to_string(path)).unwrap();
        files.table(&imported.table);
        files.write("milter.toml", &imported.settings.replace("\"signing.table\"", "\"table\""));
        let config = FilterConfig::read(&files.path("milter.toml")).unwrap();
        let config = FilterConfig { authserv_id: Some("mx.example".to_owned()), ..config };
        let filter = RunningFilter::open(config, scalar(), files.dns()).await;
        for (from, mail) in compared() {
            let mut found = Vec::new();
            for socket in [&peer.socket, &filter.socket] {
                let mut client = connect(socket, "127.0.0.1", "localhost").await;
                found.push(added_signatures(&send_as(&mut client, from, &mail, b"i\0QUEUED\0").await));
            }
            let [theirs, ours] = found.try_into().unwrap();
            // OpenDKIM takes the first field that is present, even if no key is for its address.
            let is_first_only = theirs.is_empty() && headers == "SenderHeaders From,Sender";
            assert!(theirs == ours || is_first_only, "{headers}: ours {ours:?}, theirs {theirs:?}: {mail:?}");
        }
        filter.stopped().await;
    }
}
