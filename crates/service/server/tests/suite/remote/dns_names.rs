//! A name whose servers a real name server gives, and the resolver of the system asks.
//!
//! The tests run once more as programs in a network and a mount namespace of their own. There `/etc/resolv.conf` names
//! the name server of the test, and all addresses of the loopback network belong to the test.

use std::fs;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hickory_proto::op::{Message, ResponseCode};
use hickory_proto::rr::rdata::{A, AAAA};
use hickory_proto::rr::{RData, Record, RecordType};
use oarlock::{Accelerator, Key, Scheme};
use oarlock_wire::{Endpoint, RemoteHolder, ServerReport};

use super::{EDWARDS, all_verify, client, config, sibling, sign};
use crate::test_server::TestServer;

/// The port of all servers: a name has many addresses and one port.
const PORT: u16 = 7443;

/// The maximum time until a condition holds. The holder resolves its names every five seconds.
const DEADLINE: Duration = Duration::from_secs(120);

const RESOLV_CONF: &str = "nameserver 127.0.0.1\noptions timeout:30 attempts:2\n";

/// `/etc/hosts` and caches of the machine must not answer.
const NSSWITCH_CONF: &str = "hosts: dns\n";

/// Makes the namespaces and runs a program in them.
const SCRIPT: &str = r#"
    ip link set lo up && mount --bind "$1" /etc/resolv.conf && mount --bind "$2" /etc/nsswitch.conf || exit 77
    shift 2
    exec "$@"
"#;

#[test]
fn a_name_in_dns_stands_for_servers_that_come_and_go() {
    run_alone("servers_come_and_go");
}

#[test]
fn one_dead_address_of_ten_fails_no_job() {
    run_alone("one_address_is_dead");
}

/// Runs an ignored test of this module in namespaces of its own.
fn run_alone(test: &str) {
    let folder = tempfile::tempdir().unwrap();
    let (resolv, nsswitch) = (folder.path().join("resolv.conf"), folder.path().join("nsswitch.conf"));
    fs::write(&resolv, RESOLV_CONF).unwrap();
    fs::write(&nsswitch, NSSWITCH_CONF).unwrap();
    let run = |program: &[&str]| -> std::io::Result<Output> {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "--net", "sh", "-c", SCRIPT, "sh"]);
        command.args([&resolv, &nsswitch]).args(program).output()
    };
    // A machine may lack the programs or the right to make namespaces.
    match run(&["true"]) {
        Ok(tried) if tried.status.success() => {}
        Ok(tried) => {
            return println!("SKIPPED: no namespaces: {}", String::from_utf8_lossy(&tried.stderr).trim());
        }
        Err(error) => return println!("SKIPPED: no unshare(1): {error}"),
    }
    let program = std::env::current_exe().unwrap();
    let name = format!("remote::dns_names::{test}");
    let output = run(&[program.to_str().unwrap(), "--exact", &name, "--ignored", "--nocapture"]).unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}{errors}");
}

/// Returns true in the namespaces that [`run_alone`] makes. Elsewhere an ignored test has nothing to show.
fn is_alone() -> bool {
    let is_own = fs::read_to_string("/etc/resolv.conf").is_ok_and(|text| text == RESOLV_CONF);
    if !is_own {
        println!("SKIPPED: another test runs this one, in namespaces of its own");
    }
    is_own
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a_name_in_dns_stands_for_servers_that_come_and_go runs it"]
async fn servers_come_and_go() {
    if !is_alone() {
        return;
    }
    let names = NameServer::start();
    let first = TestServer::with(|config, _| config.listen.tcp = Some(at([127, 0, 0, 11]))).await;
    let second = sibling(&first, at([127, 0, 0, 12])).await;
    // Another authority has certified this one.
    let stranger = TestServer::with(|config, _| config.listen.tcp = Some(at([127, 0, 0, 13]))).await;
    names.set(DnsAnswer::from_servers(&[&first, &second]));
    let fleet = Fleet::new(&first);
    fleet.sign_until("both servers have answered", |reports| {
        reports.len() == 2 && reports.iter().all(|report| report.answered >= 8)
    });

    // The second server still runs, and its address is removed from the name.
    names.set(DnsAnswer::from_servers(&[&first]));
    let is_first = |reports: &[ServerReport]| {
        reports.len() == 1 && reports[0].address.ends_with(&format!("127.0.0.11:{PORT}"))
    };
    fleet.sign_until("the second server is gone", is_first);

    for answer in [DnsAnswer::NoName, DnsAnswer::Empty] {
        names.set(answer);
        // When the name is asked for again, the answer before has been taken.
        fleet.sign_until("the name was asked for twice", |_| names.asked() >= 2);
        let reports = fleet.remote.servers();
        assert!(is_first(&reports), "a name without an answer keeps its servers: {reports:?}");
    }

    names.set(DnsAnswer::from_servers(&[&stranger]));
    let error = fleet.sign_until_an_error();
    assert!(error.contains("certificate"), "{error}");
    let reports = fleet.remote.servers();
    assert!(reports.len() == 1 && reports[0].answered == 0, "the stranger got a job: {reports:?}");

    names.set(DnsAnswer::from_servers(&[&first]));
    fleet.sign_until_no_error();
    fleet.sign_until("the first server is back", is_first);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "one_dead_address_of_ten_fails_no_job runs it"]
async fn one_address_is_dead() {
    if !is_alone() {
        return;
    }
    let names = NameServer::start();
    // One server has all addresses of IPv4, and nothing listens at that of IPv6.
    let server = TestServer::with(|config, _| config.listen.tcp = Some(at([0, 0, 0, 0]))).await;
    let mut addresses: Vec<IpAddr> = (1..10).map(|last| [127, 0, 1, last].into()).collect();
    addresses.push("::1".parse().unwrap());
    names.set(DnsAnswer::Addresses(addresses));
    let fleet = Fleet::new(&server);
    let is_dead = |report: &&ServerReport| report.address.ends_with(&format!("[::1]:{PORT}"));
    fleet.sign_until("the dead address has failed, and all others have answered", |reports| {
        let (dead, others): (Vec<_>, Vec<_>) = reports.iter().partition(is_dead);
        dead.iter().any(|report| report.failures > 0) && others.iter().all(|report| report.answered > 0)
    });
    let reports = fleet.remote.servers();
    assert_eq!(reports.len(), 10);
    assert_eq!(reports.iter().find(is_dead).unwrap().answered, 0);
}

fn at(address: [u8; 4]) -> SocketAddr {
    (address, PORT).into()
}

/// A client of the name `localhost`, for which the servers are certified.
struct Fleet {
    accelerator: Accelerator,
    remote: RemoteHolder,
    key: Key,
}

impl Fleet {
    fn new(server: &TestServer) -> Self {
        let url = format!("https://localhost:{PORT}");
        let endpoint = Endpoint::Grpc { url, credentials: Some(server.credentials()) };
        let (accelerator, remote) = client(config(vec![endpoint]));
        let key = remote.key("ed25519").unwrap();
        Self { accelerator, remote, key }
    }

    /// Signs until a condition holds. No signature may fail.
    fn sign_until(&self, condition: &str, holds: impl Fn(&[ServerReport]) -> bool) {
        let began = Instant::now();
        while !holds(&self.remote.servers()) {
            all_verify(&self.key, Scheme::Ed25519Verify, &sign(&self.accelerator, EDWARDS, &self.key, 4));
            assert!(
                began.elapsed() < DEADLINE,
                "not within the time: {condition}: {:?}",
                self.remote.servers()
            );
        }
        all_verify(&self.key, Scheme::Ed25519Verify, &sign(&self.accelerator, EDWARDS, &self.key, 4));
    }

    /// Signs until a signature fails, and returns its error.
    fn sign_until_an_error(&self) -> String {
        let began = Instant::now();
        loop {
            if let Err(error) = sign(&self.accelerator, EDWARDS, &self.key, 1).remove(0) {
                return error.to_string();
            }
            assert!(began.elapsed() < DEADLINE, "no signature fails: {:?}", self.remote.servers());
        }
    }

    /// Signs until a signature does not fail.
    fn sign_until_no_error(&self) {
        let began = Instant::now();
        while let Err(error) = sign(&self.accelerator, EDWARDS, &self.key, 1).remove(0) {
            assert!(began.elapsed() < DEADLINE, "every signature fails: {error}");
        }
    }
}

/// An answer to a question for addresses.
#[derive(Clone, Debug)]
enum DnsAnswer {
    Addresses(Vec<IpAddr>),
    /// The name does not exist.
    NoName,
    /// The name exists and has no address.
    Empty,
}

impl DnsAnswer {
    fn from_servers(servers: &[&TestServer]) -> Self {
        Self::Addresses(servers.iter().map(|server| server.addresses.tcp.unwrap().ip()).collect())
    }

    fn addresses(&self) -> &[IpAddr] {
        match self {
            Self::Addresses(addresses) => addresses,
            Self::NoName | Self::Empty => &[],
        }
    }
}

/// A name server on the usual port, whose answer the test sets.
struct NameServer(Arc<Mutex<NameServerState>>);

struct NameServerState {
    answer: DnsAnswer,
    /// The number of questions for IPv4 addresses since the answer was set.
    asked: usize,
}

impl NameServer {
    fn start() -> Self {
        let socket = UdpSocket::bind(("127.0.0.1", 53)).unwrap();
        let state = NameServerState { answer: DnsAnswer::Empty, asked: 0 };
        let state = Arc::new(Mutex::new(state));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            let mut buffer = [0; 1500];
            loop {
                let (len, peer) = socket.recv_from(&mut buffer).unwrap();
                let reply = shared.lock().unwrap().reply(&buffer[..len]);
                socket.send_to(&reply, peer).unwrap();
            }
        });
        Self(state)
    }

    fn set(&self, answer: DnsAnswer) {
        *self.0.lock().unwrap() = NameServerState { answer, asked: 0 };
    }

    fn asked(&self) -> usize {
        self.0.lock().unwrap().asked
    }
}

impl NameServerState {
    fn reply(&mut self, question: &[u8]) -> Vec<u8> {
        let question = Message::from_vec(question).unwrap();
        let query = question.queries[0].clone();
        let (name, kind) = (query.name().clone(), query.query_type());
        let mut reply = Message::response(question.metadata.id, question.metadata.op_code);
        reply.add_query(query);
        reply.metadata.recursion_available = true;
        self.asked += usize::from(kind == RecordType::A);
        if matches!(self.answer, DnsAnswer::NoName) || name.to_ascii() != "localhost." {
            reply.metadata.response_code = ResponseCode::NXDomain;
        }
        let data = self.answer.addresses().iter().filter_map(|address| match (kind, address) {
            (RecordType::A, IpAddr::V4(address)) => Some(RData::A(A(*address))),
            (RecordType::AAAA, IpAddr::V6(address)) => Some(RData::AAAA(AAAA(*address))),
            _ => None,
        });
        for record in data {
            reply.add_answer(Record::from_rdata(name.clone(), 0, record));
        }
        reply.to_vec().unwrap()
    }
}
