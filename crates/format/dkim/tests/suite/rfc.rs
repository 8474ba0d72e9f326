//! The examples of RFC 6376 (with errata 3192 and 4926) and RFC 8463, on every engine.

use oarlock_dkim::{DkimVerdict, FailReason, SignatureAlgorithm, VerifyPolicy};

use crate::common::{Zone, crlf, engines, verify, verify_at};

/// RFC 6376 A.2.
const SIMPLE: &str = "\
DKIM-Signature: v=1; a=rsa-sha256; s=brisbane; d=example.com;
      c=simple/simple; q=dns/txt; i=joe@football.example.com;
      h=Received : From : To : Subject : Date : Message-ID;
      bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;
      b=AuUoFEfDxTDkHlLXSZEpZj79LICEps6eda7W3deTVFOk4yAUoqOB
      4nujc7YopdG5dWLSdNg6xNAZpOPr+kHxt1IrE+NahM6L/LbvaHut
      KVdkLLkpVaVVQPzeRDI009SO2Il5Lu7rDNH6mZckBdrIx0orEtZV
      4bmp/YzhwvcubU4=;
Received: from client1.football.example.com  [192.0.2.1]
      by submitserver.example.com with SUBMISSION;
      Fri, 11 Jul 2003 21:01:54 -0700 (PDT)
";

/// RFC 8463 A.3.
const BOTH: &str = "\
DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed;
 d=football.example.com; i=@football.example.com;
 q=dns/txt; s=brisbane; t=1528637909; h=from : to :
 subject : date : message-id : from : subject : date;
 bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;
 b=/gCrinpcQOoIfuHNQIbq4pgh9kyIK3AQUdt9OdqQehSwhEIug4D11Bus
 Fa3bT3FY5OsU7ZbnKELq+eXdp1Q1Dw==
DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed;
 d=football.example.com; i=@football.example.com;
 q=dns/txt; s=test; t=1528637909; h=from : to : subject :
 date : message-id : from : subject : date;
 bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;
 b=F45dVWDfMbQDGHJFlXUNB2HKfbCeLRyhDXgFpEL8GwpsRe0IeIixNTe3
 DhCVlUrSjV4BwcVcOF6+FF3Zo9Rpo1tFOeS9mPYQTnGdaSGsgeefOsk2Jz
 dA+L10TeYt9BgDfQNZtKdN1WO//KgIqXP7OdEFE4LjFYNcUxZQ4FADY+8=
";

const MESSAGE: &str = "\
From: Joe SixPack <joe@football.example.com>
To: Suzie Q <suzie@shopping.example.net>
Subject: Is dinner ready?
Date: Fri, 11 Jul 2003 21:00:37 -0700 (PDT)
Message-ID: <20030712040037.46341.5F8J@football.example.com>

Hi.

We lost the game. Are you hungry yet?

Joe.
";

/// RFC 6376 C.
const SIMPLE_KEY: &str = "v=DKIM1; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQ\
    DwIRP/UC3SBsEmGqZ9ZJW3/DkMoGeLnQg1fWn7/zYt\
    IxN2SnFCjxOCKG9v3b4jYfcTNh5ijSsq631uBItLa7od+v\
    /RtdC2UzJ1lWT947qR+Rcac2gbto/NMqJ0fzfVjH4OuKhi\
    tdY9tf6mcwGjaNBcWToIMmPSPDdQPNUYckcQ2QIDAQAB";

/// RFC 8463 A.2.
const ED25519_KEY: &str = "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

const RSA_KEY: &str = "v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDkHlOQoBTzWRiGs5V6NpP3id\
    Y6Wk08a5qhdR6wy5bdOKb2jLQiY/J16JYi0Qvx/byYzCNb3W91y3FutACDfzwQ/BC/e/8uBsCR+yz1Lxj+PL6lHvqMKrM3rG4hstT5Qj\
    vHO9PzoxZyVYLzBfO2EeC3Ip3G+2kryOTIKT+l/K4w3QIDAQAB";

#[test]
fn the_example_of_rfc_6376_verifies() {
    let zone = Zone::with_record("brisbane._domainkey.example.com", SIMPLE_KEY);
    let mail = crlf(&[SIMPLE, MESSAGE].concat());
    for accelerator in engines() {
        let results = verify(accelerator, &mail, &zone);
        assert_eq!(results.len(), 1);
        let result = &results[0];
        assert_eq!(result.verdict(), DkimVerdict::Pass, "{result:?}");
        assert_eq!(result.algorithm, Some(SignatureAlgorithm::RsaSha256));
        assert_eq!(result.identity.as_deref(), Some("joe@football.example.com"));
        assert_eq!((result.key_bits, result.signature_start.as_deref()), (Some(1024), Some("AuUoFEfD")));

        // In simple form one additional space is a change.
        let spaced = crlf(&[SIMPLE, &MESSAGE.replace("game. Are", "game.  Are")].concat());
        assert_eq!(verify(accelerator, &spaced, &zone)[0].reason, Some(FailReason::BodyHash));
        let folded = crlf(&[SIMPLE, &MESSAGE.replace("Subject: Is", "Subject:  Is")].concat());
        assert_eq!(verify(accelerator, &folded, &zone)[0].reason, Some(FailReason::Rejected));
        let strict = VerifyPolicy { min_rsa_bits: 2048, ..VerifyPolicy::default() };
        let weak = verify_at(accelerator, &[&mail], &zone, &strict, 1_600_000_000);
        assert_eq!(weak[0].signatures[0].reason, Some(FailReason::WeakKey { found: 1024, min: 2048 }));
    }
}

#[test]
fn both_signatures_of_rfc_8463_verify() {
    let zone = Zone::with_record("brisbane._domainkey.football.example.com", ED25519_KEY)
        .with("test._domainkey.football.example.com", RSA_KEY);
    let mail = crlf(&[BOTH, MESSAGE].concat());
    let relaxed = crlf(
        &[
            BOTH,
            &MESSAGE
                .replace("Subject: Is dinner ", "SUBJECT :Is   dinner\n\t")
                .replace("hungry yet?", "hungry \t yet? "),
        ]
        .concat(),
    );
    for accelerator in engines() {
        for mail in [&mail, &relaxed] {
            let results = verify(accelerator, mail, &zone);
            assert_eq!(
                results.iter().map(|result| result.verdict()).collect::<Vec<_>>(),
                [DkimVerdict::Pass; 2]
            );
            assert_eq!(results[0].algorithm, Some(SignatureAlgorithm::Ed25519Sha256));
            assert_eq!((results[0].key_bits, results[1].key_bits), (Some(256), Some(1024)));
        }
        // The example oversigns Subject.
        let added = [b"Subject: another\r\n", &mail[..]].concat();
        for result in verify(accelerator, &added, &zone) {
            assert_eq!(result.reason, Some(FailReason::Rejected));
        }
        // The example does not oversign To, and fields are taken from the bottom.
        let added = [b"To: another\r\n", &mail[..]].concat();
        assert!(
            verify(accelerator, &added, &zone).iter().all(|result| result.verdict() == DkimVerdict::Pass)
        );
    }
}
