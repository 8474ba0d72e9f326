//! Connections whose records the kernel makes. Without the kernel's TLS these tests say SKIPPED; `cargo xtask
//! kernel-test` runs them in a guest whose kernel has it.

use std::io;
use std::sync::{Arc, Mutex};

use oarlock::Accelerator;
use oarlock_kernel_tls::{probe, rekey_support};
use oarlock_sockets::{Content, Keys, Opened, Opener, Sealer, Suite};
use rustls::crypto::aws_lc_rs::{self, cipher_suite};
use rustls::{ClientConfig, KeyLog, SupportedCipherSuite};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use crate::proxied::{RunningProxy, TestAuthority, echo_backend};

/// Set by `cargo xtask kernel-test`: a skipped test is then a failure.
const REQUIRED: &str = "OARLOCK_REQUIRE_KERNEL_TLS";

const CONTENT_LEN: usize = 1_000_000;

/// Says SKIPPED if the kernel has no TLS.
fn kernel_has_tls() -> bool {
    let support = probe().unwrap().ulp;
    if !support.works() {
        println!("SKIPPED: {support}");
        assert!(std::env::var_os(REQUIRED).is_none(), "{support}");
    }
    support.works()
}

async fn start(authority: &TestAuthority, receives: bool) -> RunningProxy {
    let more = format!(
        "kernel.hand_over = \"always\"\nkernel.after_bytes = 1000\nkernel.receives = {receives}\n\
         log.connections = \"all\"\nlog.file = \"connections-{receives}.log\"\nlog.format = \"json\"\n"
    );
    RunningProxy::start(authority, echo_backend().await, &more).await
}

/// Returns a client's configuration with one suite.
fn with_suite(authority: &TestAuthority, suite: SupportedCipherSuite) -> ClientConfig {
    let mut provider = aws_lc_rs::default_provider();
    provider.cipher_suites = vec![suite];
    let builder = ClientConfig::builder_with_provider(Arc::new(provider));
    let versions: &[_] = match suite {
        SupportedCipherSuite::Tls12(_) => &[&rustls::version::TLS12],
        SupportedCipherSuite::Tls13(_) => &[&rustls::version::TLS13],
    };
    let builder = builder.with_protocol_versions(versions).unwrap();
    builder.with_root_certificates(authority.roots()).with_no_client_auth()
}

fn content() -> Vec<u8> {
    (0..CONTENT_LEN).map(|at| (at * at / 7 + at) as u8).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn transfers_arrive_whole_and_end_properly_with_every_suite() {
    if !kernel_has_tls() {
        return;
    }
    let authority = TestAuthority::new();
    for receives in [false, true] {
        let proxy = start(&authority, receives).await;
        let by_kernel = "oarlock_proxy_long_transfers_total{path=\"kernel\",reason=\"always\"}";
        let mut transfers = 0;
        for suite in [
            cipher_suite::TLS13_AES_128_GCM_SHA256,
            cipher_suite::TLS13_AES_256_GCM_SHA384,
            cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        ] {
            let stream = proxy.connect(&with_suite(&authority, suite), "localhost").await.unwrap();
            let (mut reader, mut writer) = tokio::io::split(stream);
            let (content, early_len) = (content(), CONTENT_LEN / 4 * 3);
            let sent = content.clone();
            let (go_on, handed_over) = oneshot::channel();
            let (end, may_end) = oneshot::channel();
            let writing = tokio::spawn(async move {
                let (early, late) = sent.split_at(early_len);
                // The hand-over falls among these, or follows them.
                for piece in early.chunks(CONTENT_LEN / 4) {
                    writer.write_all(piece).await.unwrap();
                }
                handed_over.await.unwrap();
                writer.write_all(late).await.unwrap();
                // The kernel takes open connections only.
                may_end.await.unwrap();
                writer.shutdown().await.unwrap();
            });
            let mut got = vec![0; CONTENT_LEN];
            reader.read_exact(&mut got[..early_len]).await.unwrap();
            transfers += 1;
            proxy.wait_for(by_kernel, transfers).await;
            go_on.send(()).unwrap();
            reader.read_exact(&mut got[early_len..]).await.unwrap();
            assert!(got == content, "{suite:?}");
            end.send(()).unwrap();
            // Without a close_notify this is an error.
            if let Err(error) = reader.read_to_end(&mut got).await {
                panic!("{suite:?}, receives {receives}: {error}\n{}", proxy.page().await);
            }
            writing.await.unwrap();
            assert_eq!(got.len(), CONTENT_LEN);
        }
        proxy.wait_for("oarlock_proxy_connections_ended_total{by=\"complete\"}", transfers).await;
        proxy.wait_for("oarlock_proxy_log_lines_total{result=\"written\"}", transfers).await;
        let log = std::fs::read_to_string(authority.path(&format!("connections-{receives}.log"))).unwrap();
        for line in log.lines() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            // Those before the hand-over and those after it.
            let bytes = (&line["bytes_to_backend"], &line["bytes_to_client"]);
            assert_eq!(bytes, (&CONTENT_LEN.into(), &CONTENT_LEN.into()), "{line:#}");
        }
        let name =
            |direction| format!("oarlock_proxy_bytes_total{{direction=\"{direction}\",path=\"kernel\"}}");
        assert!(proxy.metric(&name("to_clients")).await > 0);
        assert_eq!(proxy.metric(&name("to_backends")).await > 0, receives);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_has_ended_its_stream_stays_in_user_space() {
    if !kernel_has_tls() {
        return;
    }
    let authority = TestAuthority::new();
    let proxy = start(&authority, false).await;
    let mut stream = proxy.connect(&authority.client(), "localhost").await.unwrap();
    // Less than the proxy's buffer, so all of it is on the way before the end.
    stream.write_all(&[7; 3_000]).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut got = Vec::new();
    stream.read_to_end(&mut got).await.unwrap();
    assert_eq!(got, [7; 3_000]);
    proxy.wait_for("oarlock_proxy_connections_ended_total{by=\"complete\"}", 1).await;
}

/// The first traffic secrets of a connection.
#[derive(Debug, Default)]
struct Secrets(Mutex<Vec<(String, Vec<u8>)>>);

impl KeyLog for Secrets {
    fn log(&self, label: &str, _: &[u8], secret: &[u8]) {
        self.0.lock().unwrap().push((label.to_owned(), secret.to_vec()));
    }
}

/// A client that makes its records itself, so that it can send any.
struct RecordClient {
    tcp: TcpStream,
    sealer: Sealer,
    opener: Opener,
    wire: Vec<u8>,
}

impl RecordClient {
    async fn connect(authority: &TestAuthority, proxy: &RunningProxy) -> Self {
        let secrets = Arc::new(Secrets::default());
        let mut config = with_suite(authority, cipher_suite::TLS13_AES_128_GCM_SHA256);
        config.key_log = Arc::clone(&secrets) as _;
        let stream = proxy.connect(&config, "localhost").await.unwrap();
        let accelerator = Accelerator::builder().engines(["scalar"]).lazy().build().unwrap();
        let keys = |label| {
            let secrets = secrets.0.lock().unwrap();
            let (_, secret) = secrets.iter().find(|(name, _)| name == label).unwrap();
            Keys::tls13(Suite::TLS13_AES_128_GCM, secret).unwrap()
        };
        let (sent, received) = (keys("CLIENT_TRAFFIC_SECRET_0"), keys("SERVER_TRAFFIC_SECRET_0"));
        Self {
            tcp: stream.into_inner().0,
            sealer: Sealer::new(&accelerator, sent).unwrap(),
            opener: Opener::new(&accelerator, received).unwrap(),
            wire: Vec::new(),
        }
    }

    async fn send(&mut self, data: &[u8]) -> io::Result<()> {
        let mut records = Vec::new();
        self.sealer.seal(Content::ApplicationData, &[data], &mut records).unwrap();
        self.tcp.write_all(&records).await
    }

    async fn update_keys(&mut self, asks_peer: bool) -> io::Result<()> {
        let mut records = Vec::new();
        self.sealer.update_keys(asks_peer, &mut records).unwrap();
        self.tcp.write_all(&records).await
    }

    /// Receives so many bytes of content. Returns whether the proxy has updated its keys meanwhile.
    async fn expect_echo(&mut self, expected: &[u8]) -> io::Result<bool> {
        let (mut got, mut is_updated) = (Vec::new(), false);
        while got.len() < expected.len() {
            let mut at = 0;
            while let Opened::Record(record) = self.opener.next(&mut self.wire[at..]).unwrap() {
                at += record.used;
                is_updated |= record.key_update.is_some();
                if record.content == Content::ApplicationData {
                    got.extend_from_slice(record.data);
                }
            }
            self.wire.drain(..at);
            if got.len() < expected.len() && self.tcp.read_buf(&mut self.wire).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        assert!(got == expected);
        Ok(is_updated)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_may_change_their_keys_after_the_hand_over() {
    if !kernel_has_tls() {
        return;
    }
    let authority = TestAuthority::new();
    let can_rekey = rekey_support();
    for receives in [false, true] {
        let proxy = start(&authority, receives).await;
        let mut client = RecordClient::connect(&authority, &proxy).await;
        for _ in 0..4 {
            client.send(&[5; 5_000]).await.unwrap();
            assert!(!client.expect_echo(&[5; 5_000]).await.unwrap());
        }
        proxy.wait_for("oarlock_proxy_long_transfers_total{path=\"kernel\",reason=\"always\"}", 1).await;
        for asks_peer in [false, true] {
            let mut change = async || {
                client.update_keys(asks_peer).await?;
                client.send(&[6; 100]).await?;
                client.expect_echo(&[6; 100]).await
            };
            let needs_kernel = receives || asks_peer;
            match (change().await, &can_rekey) {
                (Ok(is_updated), Ok(())) => assert_eq!(is_updated, asks_peer),
                (Ok(is_updated), Err(_)) => assert!(!needs_kernel && !is_updated),
                (Err(error), Err(reason)) => {
                    // The kernel takes keys once, so the proxy has to end the connection.
                    assert!(needs_kernel, "{error}");
                    println!("the connection ended, as this kernel takes no new keys: {reason}");
                    proxy.wait_for("oarlock_proxy_connections_ended_total{by=\"client\"}", 1).await;
                    break;
                }
                (Err(error), Ok(())) => panic!("{error}"),
            }
        }
    }
}
