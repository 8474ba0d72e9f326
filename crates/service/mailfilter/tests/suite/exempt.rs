//! Tests of hosts and domains whose mail is neither signed nor verified.

use oarlock_mailfilter::MessageOutcome;

use crate::running_filter::{self, FilterFiles, RunningFilter, TestMail};

/// The treatment of a message by the filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Treatment {
    Signed,
    Verified,
    Neither,
}

async fn treatment(filter: &RunningFilter, address: &str, name: &str, mail: &TestMail) -> Treatment {
    let changed = mail.changed(&filter.receive_from(address, name, mail).await);
    match (changed.values("DKIM-Signature").len(), changed.values("Authentication-Results").len()) {
        (0, 0) => Treatment::Neither,
        (0, _) => Treatment::Verified,
        _ => Treatment::Signed,
    }
}

#[tokio::test]
async fn mail_of_exempt_hosts_is_neither_signed_nor_verified() {
    let files = FilterFiles::for_example();
    let settings = "internal_hosts = [\"192.0.2.0/24\", \".inside.example\"]\n\
                    exempt.hosts = [\"192.0.2.64/26\", \"!192.0.2.100\", \"198.51.100.0/31\", \"2001:db8:0:8000::/49\", \
                    \"mx.backup.example\", \".lists.example\"]\n";
    let filter = files.start_filter(settings).await;
    let mail = TestMail::plain();
    for (address, name, expected) in [
        // An internal host, and the edges of the exempt network within.
        ("192.0.2.63", "unknown", Treatment::Signed),
        ("192.0.2.64", "unknown", Treatment::Neither),
        ("192.0.2.99", "unknown", Treatment::Neither),
        ("192.0.2.100", "unknown", Treatment::Signed),
        ("192.0.2.127", "unknown", Treatment::Neither),
        ("192.0.2.128", "unknown", Treatment::Signed),
        // Hosts outside.
        ("198.51.99.255", "unknown", Treatment::Verified),
        ("198.51.100.0", "unknown", Treatment::Neither),
        ("198.51.100.1", "unknown", Treatment::Neither),
        ("198.51.100.2", "unknown", Treatment::Verified),
        ("2001:db8:0:7fff:ffff:ffff:ffff:ffff", "unknown", Treatment::Verified),
        ("2001:db8:0:8000::", "unknown", Treatment::Neither),
        ("2001:db8:0:ffff:ffff:ffff:ffff:ffff", "unknown", Treatment::Neither),
        ("2001:db8:1::", "unknown", Treatment::Verified),
        ("::ffff:192.0.2.64", "unknown", Treatment::Neither),
        // Names.
        ("203.0.113.1", "MX.backup.example", Treatment::Neither),
        ("203.0.113.1", "a.mx.backup.example", Treatment::Verified),
        ("203.0.113.1", "a.b.lists.example", Treatment::Neither),
        ("203.0.113.1", "lists.example", Treatment::Verified),
        ("203.0.113.1", "[203.0.113.1]", Treatment::Verified),
        ("203.0.113.1", "pc7.inside.example", Treatment::Signed),
    ] {
        assert_eq!(treatment(&filter, address, name, &mail).await, expected, "{address} {name}");
    }
    assert_eq!(filter.service.metrics().messages(MessageOutcome::Ignored), 10);
    // An authenticated client at an exempt host is exempt too.
    let mut client = running_filter::connect(&filter.socket, "198.51.100.1", "unknown").await;
    let answer = filter.send(&mut client, &mail, b"{auth_authen}\0joe\0").await;
    assert_eq!(answer.changes.len(), 0);
    filter.stopped().await;
}

#[tokio::test]
async fn exempt_messages_are_exempt_from_the_task_that_the_settings_name() {
    let files = FilterFiles::for_example();
    let mail = TestMail::plain();
    for (mode, inside, outside) in [
        ("sign", Treatment::Verified, Treatment::Verified),
        ("verify", Treatment::Signed, Treatment::Neither),
        ("both", Treatment::Neither, Treatment::Neither),
    ] {
        let settings = format!(
            "internal_hosts = [\"192.0.2.1\"]\n[exempt]\nmode = \"{mode}\"\nhosts = [\"192.0.2.1\", \"203.0.113.1\"]\n"
        );
        let filter = files.start_filter(&settings).await;
        assert_eq!(treatment(&filter, "192.0.2.1", "unknown", &mail).await, inside, "{mode}");
        assert_eq!(treatment(&filter, "203.0.113.1", "unknown", &mail).await, outside, "{mode}");
        filter.stopped().await;
    }
}

#[tokio::test]
async fn mail_of_exempt_domains_is_neither_signed_nor_verified() {
    let mut files = FilterFiles::for_example();
    files.key("all", "s3", "a.example", &oarlock::keys::generate::ed25519().unwrap());
    files.table("* s3 all\n");
    let settings =
        "internal_hosts = [\"192.0.2.1\"]\nexempt.domains = [\"example.com\", \".lists.example\"]\n";
    let filter = files.start_filter(settings).await;
    let from = |author: &str| TestMail::plain().from(&format!(" Joe <{author}>"));
    for (author, inside, outside) in [
        ("joe@example.com", Treatment::Neither, Treatment::Neither),
        ("joe@EXAMPLE.com", Treatment::Neither, Treatment::Neither),
        ("joe@a.example.com", Treatment::Signed, Treatment::Verified),
        ("joe@a.lists.example", Treatment::Neither, Treatment::Neither),
        ("joe@lists.example", Treatment::Signed, Treatment::Verified),
    ] {
        assert_eq!(treatment(&filter, "192.0.2.1", "unknown", &from(author)).await, inside, "{author}");
        assert_eq!(treatment(&filter, "203.0.113.1", "unknown", &from(author)).await, outside, "{author}");
    }
    // A message with two authors belongs to no exempt domain.
    let two = TestMail::plain().with("From", " eve@example.com");
    assert_eq!(treatment(&filter, "203.0.113.1", "unknown", &two).await, Treatment::Verified);
    filter.stopped().await;
}

/// Anybody can write an exempt domain into `From`, so an exemption must not let results pass that look like ours.
#[tokio::test]
async fn forged_results_are_removed_from_exempt_mail() {
    let files = FilterFiles::for_example();
    let settings = "internal_hosts = [\"192.0.2.1\"]\nexempt.domains = [\"example.com\"]\nexempt.hosts = [\"198.51.100.1\"]\n";
    let filter = files.start_filter(settings).await;
    let forged = " mx.example; dkim=pass header.d=bank.example";
    let mail = TestMail::plain()
        .with("Authentication-Results", forged)
        .with("Authentication-Results", " b.example; x=y");
    for outside in ["203.0.113.1", "198.51.100.1"] {
        let changed = mail.changed(&filter.receive_from(outside, "unknown", &mail).await);
        assert_eq!(changed.values("Authentication-Results"), [" b.example; x=y"], "{outside}");
    }
    // Mail that an internal host passes on may have been verified here.
    let inside = filter.receive_from("192.0.2.1", "unknown", &mail).await;
    assert_eq!(mail.changed(&inside).values("Authentication-Results"), [forged, " b.example; x=y"]);
    filter.stopped().await;
}

#[tokio::test]
async fn malformed_mail_of_exempt_hosts_passes() {
    let files = FilterFiles::for_example();
    let filter = files.start_filter("exempt.hosts = [\"203.0.113.1\"]\non.malformed = \"reject\"\n").await;
    let mail = TestMail::plain().with("a b", " the name has a space");
    let answer = filter.receive_from("203.0.113.1", "unknown", &mail).await;
    assert_eq!((mail.changed(&answer), answer.changes.len()), (mail.clone(), 0));
    let other = filter.receive_from("203.0.113.2", "unknown", &mail).await;
    assert!(matches!(other.reply, oarlock_milter::protocol::FilterReply::Smtp(_)), "{other:?}");
    filter.stopped().await;
}
