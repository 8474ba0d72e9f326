//! Tests with keys of clients whose numbers contradict each other. They are no sign of a faulty machine.

use bytes::Bytes;
use oarlock::keys::{export, rsa};
use oarlock::{DigestAlg, Input, Job, Key, Scheme};
use oarlock_wire::proto::{open_key, request, response};
use oarlock_wire::{ServerLink, jobs};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::test_server::{self, TestServer};

fn hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap()).collect()
}

/// Reads the key in the last line of a file.
fn key_of(file: &str) -> Key {
    let numbers: Vec<Vec<u8>> = file.lines().last().unwrap().split(' ').skip(1).map(hex).collect();
    let [n, e, d, p, q, dp, dq, qinv] = &numbers[..] else { panic!("eight numbers") };
    rsa::private(&rsa::PrivateNumbers { n, e, d, p, q, dp, dq, qinv }).unwrap()
}

async fn counter(server: &TestServer, name: &str) -> u64 {
    let mut stream = tokio::net::TcpStream::connect(server.addresses.metrics.unwrap()).await.unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).await.unwrap();
    let name = format!("oarlock_dispatcher_{name}_total ");
    let line = page.lines().find(|line| line.starts_with(&name)).unwrap();
    line[name.len()..].parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn raises_no_alarm_for_keys_with_composite_primes() {
    for file in [
        include_str!("../../../../engine/scalar/tests/data/rsa-composite-p.txt"),
        include_str!("../data/rsa-half-p.txt"),
    ] {
        let server = TestServer::with(|config, _| {
            config.listen.metrics = Some("127.0.0.1:0".parse().unwrap());
            config.limits.may_bring_keys = true;
            config.engines.cross_check = Some(1.0);
            config.grants.clear();
        })
        .await;
        let key = key_of(file);
        let der = Bytes::copy_from_slice(&export::private_pkcs8_der(&key).unwrap());
        let link = ServerLink::open(&server.unix()).await.unwrap();
        test_server::open(&link, 0, open_key::Source::Asymmetric(der)).await;
        let messages: Vec<[u8; 4]> = (0..64_u32).map(u32::to_le_bytes).collect();
        let scheme = Scheme::RsaPkcs1Sign { digest: DigestAlg::Sha256 };
        let sign =
            messages.iter().map(|message| (Job::with_scheme(scheme, &key, Input::Message(message), &[]), 0));
        let message = jobs::write(sign.collect::<Vec<_>>().into_iter()).unwrap();
        // A few messages are signed correctly by chance, so each batch has many.
        for _ in 0..4 {
            let answer = link.call(request::Body::Jobs(message.clone())).await.unwrap();
            let response::Body::Results(results) = answer else { panic!("{answer:?}") };
            assert!(!results.faults.is_empty(), "no job met the contradiction");
        }
        for name in ["disputes", "unconfirmed", "quarantines", "faults", "referee_wavered"] {
            assert_eq!(counter(&server, name).await, 0, "{name}");
        }
        println!("{} bad keys found by a comparison of engines", counter(&server, "bad_keys").await);
    }
}
