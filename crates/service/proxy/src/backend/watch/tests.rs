use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::rc::Rc;

use oarlock::Accelerator;
use oarlock_rustls::HandshakeLimits;
use oarlock_service_kit::KeyHolders;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::sleep;

use super::*;
use crate::backend::set::BackendSet;
use crate::backend::{BackendContext, BackendError, BackendTlsContext};
use crate::certificate::CertificateKeySources;
use crate::config::ProxyConfig;
use crate::header::ProxyHeader;

/// The answer to a lookup.
#[derive(Clone)]
enum TestAnswer {
    Addresses(Vec<SocketAddr>),
    Late(Duration, Vec<SocketAddr>),
    Failure,
    Hang,
}

/// A resolver whose answers a test changes.
#[derive(Clone, Default)]
struct TestLookup {
    answers: Rc<RefCell<BTreeMap<String, TestAnswer>>>,
    asked: Rc<RefCell<Vec<String>>>,
}

impl TestLookup {
    fn set(&self, host: &str, answer: TestAnswer) {
        self.answers.borrow_mut().insert(host.to_owned(), answer);
    }

    /// Returns the number of lookups of a name.
    fn asked(&self, host: &str) -> usize {
        self.asked.borrow().iter().filter(|asked| *asked == host).count()
    }
}

impl HostLookup for TestLookup {
    fn look_up(&self, host: &str, _: u16) -> Lookup {
        self.asked.borrow_mut().push(host.to_owned());
        let answer = self.answers.borrow()[host].clone();
        Box::pin(async move {
            match answer {
                TestAnswer::Addresses(addresses) => Ok(addresses),
                TestAnswer::Late(time, addresses) => {
                    sleep(time).await;
                    Ok(addresses)
                }
                TestAnswer::Failure => Err(io::Error::other("no server answers")),
                TestAnswer::Hang => std::future::pending().await,
            }
        })
    }
}

/// The backends of some settings, and the task that watches them.
struct WatchedTest {
    registry: Rc<BackendRegistry>,
    resolver: TestLookup,
}

impl WatchedTest {
    fn start(resolver: TestLookup, settings: &str) -> Self {
        let registry = Rc::new(BackendRegistry::default());
        let test = Self { registry, resolver };
        test.install(settings);
        let (registry, resolver) = (Rc::clone(&test.registry), test.resolver.clone());
        tokio::task::spawn_local(async move { watch_backends(&registry, &resolver).await });
        test
    }

    /// Puts settings in force, as a reload does.
    fn install(&self, settings: &str) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), format!("certificates.path = \"c\"\n{settings}")).unwrap();
        let config = ProxyConfig::read(file.path()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let accelerator = Accelerator::builder().engines(["scalar"]).lazy().build().unwrap();
        let keys = CertificateKeySources { accelerator, holders: KeyHolders::default() };
        let tls = BackendTlsContext {
            provider: &provider,
            keys: &keys,
            handshakes: HandshakeLimits::default(),
            max_handshake: Duration::from_secs(10),
            max_session_s: 60,
        };
        let context = BackendContext { tls, max_connect: MAX_CONNECT, registry: &self.registry };
        self.registry.install(&BackendSet::open(&config, &context).unwrap());
    }

    /// Connects, and returns the address that was reached.
    async fn connect(&self) -> Result<String, BackendError> {
        let backend = Arc::clone(&self.registry.current()[0]);
        let connected = backend.connect(&ProxyHeader::default(), None).await?;
        Ok(connected.lease.endpoint().label().to_owned())
    }

    fn labels(&self) -> Vec<String> {
        let members = self.registry.current()[0].members();
        members.iter().map(|member| member.endpoint.label().to_owned()).collect()
    }

    /// Returns the health and the checks of each endpoint.
    fn health(&self) -> Vec<(bool, [u64; 2])> {
        let members = self.registry.current()[0].members();
        let health = |member: &Arc<BackendMember>| {
            (member.endpoint.is_healthy(true), member.endpoint.checks().map(|(_, count)| count))
        };
        members.iter().map(health).collect()
    }
}

const MAX_CONNECT: Duration = Duration::from_secs(7);

/// Starts a server that accepts. It sends a line if there is one, and else nothing.
async fn server(line: Option<&'static str>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::task::spawn_local(async move {
        let mut silent = Vec::new();
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            match line {
                Some(line) => {
                    let mut request = [0; 6];
                    // A connection of the test ends without a request.
                    if stream.read_exact(&mut request).await.is_ok() {
                        assert_eq!(&request, b"HELO\r\n");
                        stream.write_all(line.as_bytes()).await.unwrap();
                    }
                }
                None => silent.push(stream),
            }
        }
    });
    address
}

async fn seconds(seconds: u64) {
    sleep(Duration::from_secs(seconds)).await;
}

async fn locally(test: impl Future<Output = ()>) {
    LocalSet::new().run_until(test).await;
}

#[tokio::test(start_paused = true)]
async fn connections_follow_a_name_and_failed_lookups_change_nothing() {
    locally(async {
        let (one, two, resolver) = (server(None).await, server(None).await, TestLookup::default());
        resolver.set("a.test", TestAnswer::Addresses(vec![one]));
        let settings = "[backend]\naddress = \"a.test:80\"\nresolve_seconds = 10\n";
        let test = WatchedTest::start(resolver.clone(), settings);
        assert_eq!(test.connect().await.unwrap(), one.to_string());
        resolver.set("a.test", TestAnswer::Addresses(vec![two]));
        seconds(11).await;
        assert_eq!(test.connect().await.unwrap(), two.to_string());
        for answer in [TestAnswer::Failure, TestAnswer::Addresses(Vec::new()), TestAnswer::Hang] {
            resolver.set("a.test", answer);
            seconds(60).await;
            assert_eq!(test.connect().await.unwrap(), two.to_string());
        }
        // The lookup that hangs is the last one, and reloads start none beside it.
        let asked = resolver.asked("a.test");
        for _ in 0..5 {
            test.install(settings);
            seconds(60).await;
            assert_eq!(test.connect().await.unwrap(), two.to_string());
        }
        assert_eq!(resolver.asked("a.test"), asked);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_connection_waits_for_the_first_lookup_only_if_it_has_to() {
    locally(async {
        let (one, resolver) = (server(None).await, TestLookup::default());
        resolver.set("late.test", TestAnswer::Late(Duration::from_secs(3), vec![one]));
        resolver.set("hang.test", TestAnswer::Hang);
        let began = Instant::now();
        let test = WatchedTest::start(resolver.clone(), "[backend]\naddress = \"late.test:80\"\n");
        assert_eq!(test.connect().await.unwrap(), one.to_string());
        assert_eq!(began.elapsed().as_secs(), 3);
        let settings = format!("[backend]\naddresses = [\"hang.test:80\", \"{one}\"]\n");
        let (began, test) = (Instant::now(), WatchedTest::start(resolver.clone(), &settings));
        assert_eq!(test.connect().await.unwrap(), one.to_string());
        assert_eq!(began.elapsed().as_secs(), 0);
        let (began, test) =
            (Instant::now(), WatchedTest::start(resolver, "[backend]\naddress = \"hang.test:80\"\n"));
        assert!(matches!(test.connect().await, Err(BackendError::NoEndpoint)));
        assert_eq!(began.elapsed().as_secs(), MAX_CONNECT.as_secs());
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_name_with_hundreds_of_addresses_is_bounded_and_two_names_share_an_endpoint() {
    locally(async {
        let resolver = TestLookup::default();
        let many = (1..=250).map(|last| SocketAddr::from(([127, 0, 4, last], 9))).collect();
        resolver.set("many.test", TestAnswer::Addresses(many));
        resolver.set("one.test", TestAnswer::Addresses(vec![SocketAddr::from(([127, 0, 4, 1], 9))]));
        let settings = "[backend]\naddresses = [\"many.test:9\", \"one.test:9\"]\n";
        let test = WatchedTest::start(resolver, settings);
        seconds(1).await;
        assert_eq!(test.labels().len(), 64);
        assert_eq!(test.labels().iter().filter(|label| *label == "127.0.4.1:9").count(), 1);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_check_that_hangs_ends_and_delays_no_other_one() {
    locally(async {
        let (silent, good, bad) =
            (server(None).await, server(Some("220 a\r\n")).await, server(Some("421\n")).await);
        let settings = format!(
            "[backend]\naddresses = [\"{silent}\", \"{good}\", \"{bad}\"]\n[backend.check]\nkind = \"line\"\n\
             send = \"HELO\\r\\n\"\nexpect = \"220 \"\ninterval_seconds = 5\ntimeout_seconds = 5\n"
        );
        let test = WatchedTest::start(TestLookup::default(), &settings);
        seconds(4).await;
        assert_eq!(test.health(), [(true, [0, 0]), (true, [1, 0]), (false, [0, 1])]);
        seconds(10).await;
        assert_eq!(test.health(), [(false, [0, 2]), (true, [3, 0]), (false, [0, 3])]);
        for _ in 0..6 {
            assert_eq!(test.connect().await.unwrap(), good.to_string());
        }
        // A reload keeps the results, and the times of the next checks.
        test.install(&settings);
        assert_eq!(test.health(), [(false, [0, 2]), (true, [3, 0]), (false, [0, 3])]);
        test.install(&settings.replace(&format!(", \"{good}\""), ""));
        let began = Instant::now();
        assert!(matches!(test.connect().await, Err(BackendError::NoEndpoint)));
        assert_eq!(began.elapsed(), Duration::ZERO, "nobody waits for endpoints that are known to be down");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_comes_back_after_as_many_checks_as_the_settings_ask_for() {
    locally(async {
        let listener = TcpListener::bind("127.0.5.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let settings = format!(
            "[backend]\naddress = \"{address}\"\ncheck = {{ interval_seconds = 5, timeout_seconds = 1, rise = 3 }}\n"
        );
        let test = WatchedTest::start(TestLookup::default(), &settings);
        seconds(1).await;
        assert_eq!(test.health(), [(false, [0, 1])]);
        let listener = TcpListener::bind(address).await.unwrap();
        seconds(10).await;
        assert_eq!(test.health(), [(false, [2, 1])]);
        seconds(5).await;
        assert_eq!(test.health(), [(true, [3, 1])]);
        assert_eq!(test.connect().await.unwrap(), address.to_string());
        // Three failures in a row are needed now.
        drop(listener);
        seconds(10).await;
        assert_eq!(test.health(), [(true, [3, 3])]);
        seconds(5).await;
        assert_eq!(test.health(), [(false, [3, 4])]);
    })
    .await;
}
