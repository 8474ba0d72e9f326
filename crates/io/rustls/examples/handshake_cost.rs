//! Prints the server's CPU time of a full handshake in memory, beside rustls with its own provider, in turns.
//!
//! `cargo run --release -p oarlock-rustls --example handshake_cost -- [HANDSHAKES PER ROUND] [ROUNDS] [GROUP]`
//!
//! The group is x25519 or x25519mlkem768, for TLS 1.3 only; the default is x25519.

#![allow(clippy::expect_used, reason = "a measurement without every handshake is worth nothing")]

#[allow(dead_code, clippy::unwrap_used, reason = "helpers of tests, of which this uses a part")]
#[path = "../tests/suite/support/mod.rs"]
mod support;

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use cpu_time::{ProcessTime, ThreadTime};
use oarlock::Accelerator;
use oarlock_rustls::TlsAcceptor;
use rustls::client::Resumption;
use rustls::crypto::aws_lc_rs::kx_group;
use rustls::crypto::{CryptoProvider, SupportedKxGroup};
use rustls::{ClientConfig, ServerConfig, SupportedProtocolVersion};
use support::{Identity, KeyChoice, localhost, plain, run_local};
use tokio::io::duplex;
use tokio::task::JoinSet;

type ExampleError = Box<dyn std::error::Error>;

/// The cost of one handshake.
#[derive(Clone, Copy)]
struct HandshakeCost {
    server_cpu: Duration,
    /// The time on the clock without the client's work.
    server_wall: Duration,
}

fn main() -> Result<(), ExampleError> {
    let mut arguments = std::env::args().skip(1);
    let per_round = arguments.next().map_or(Ok(640), |text| text.parse())?;
    let rounds = arguments.next().map_or(Ok(9), |text| text.parse())?;
    let group = match arguments.next().as_deref() {
        None | Some("x25519") => kx_group::X25519,
        Some("x25519mlkem768") => kx_group::X25519MLKEM768,
        Some(other) => return Err(format!("group {other:?}: expected x25519 or x25519mlkem768").into()),
    };
    let accelerator = Accelerator::builder().lazy().build()?;
    let ours = Arc::new(oarlock_rustls::provider(&accelerator));
    println!("medians of {rounds} rounds of {per_round} handshakes with {:?}, in microseconds", group.name());
    for (key, version, name) in [
        (KeyChoice::Rsa2048, &rustls::version::TLS13, "RSA-2048, TLS 1.3"),
        (KeyChoice::P256, &rustls::version::TLS13, "P-256, TLS 1.3"),
        (KeyChoice::Rsa2048, &rustls::version::TLS12, "RSA-2048, TLS 1.2"),
        (KeyChoice::P256, &rustls::version::TLS12, "P-256, TLS 1.2"),
    ] {
        if !group.usable_for_version(version.version) {
            continue;
        }
        let identity = Identity::new(key);
        let client = client_config(&identity, group);
        let (ours, plain) =
            (server_config(&ours, version, &identity), server_config(&plain(), version, &identity));
        for under_way in [64, 1] {
            let handshakes = if under_way == 1 { per_round / 8 } else { per_round };
            let turn = || {
                let plain = measure(
                    tokio_rustls::TlsAcceptor::from(Arc::clone(&plain)),
                    &client,
                    under_way,
                    handshakes,
                );
                (plain, measure(TlsAcceptor::new(Arc::clone(&ours)), &client, under_way, handshakes))
            };
            // The first round proves and measures engines, and builds tables.
            turn();
            let before = accelerator.counters();
            let turns: Vec<_> = (0..rounds).map(|_| turn()).collect();
            let median = |of: &dyn Fn(&(HandshakeCost, HandshakeCost)) -> Duration| {
                let mut all: Vec<_> = turns.iter().map(of).collect();
                all.sort_unstable();
                all[all.len() / 2].as_secs_f64() * 1e6
            };
            let cpu = (median(&|turn| turn.0.server_cpu), median(&|turn| turn.1.server_cpu));
            let wall = (median(&|turn| turn.0.server_wall), median(&|turn| turn.1.server_wall));
            let after = accelerator.counters();
            let (batches, jobs) = (after.batches - before.batches, after.batched_ops - before.batched_ops);
            let on_caller = after.on_caller - before.on_caller;
            println!(
                "{name}, {under_way:2} at once: CPU rustls {:.1}, oarlock {:.1}, ratio {:.2}; clock {:.1}, {:.1}, ratio {:.2}; \
                 {jobs} jobs in {batches} batches, {on_caller} jobs at once",
                cpu.0,
                cpu.1,
                cpu.0 / cpu.1,
                wall.0,
                wall.1,
                wall.0 / wall.1
            );
        }
    }
    Ok(())
}

fn server_config(
    provider: &Arc<CryptoProvider>,
    version: &'static SupportedProtocolVersion,
    identity: &Identity,
) -> Arc<ServerConfig> {
    let mut config =
        ServerConfig::clone(&support::server_config(Arc::clone(provider), version, identity, None));
    // Full handshakes only, without tickets.
    config.send_tls13_tickets = 0;
    config.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
    Arc::new(config)
}

fn client_config(identity: &Identity, group: &'static dyn SupportedKxGroup) -> Arc<ClientConfig> {
    let provider = CryptoProvider { kx_groups: vec![group], ..(*plain()).clone() };
    let mut config = ClientConfig::clone(&support::client_config(Arc::new(provider), identity, None));
    config.resumption = Resumption::disabled();
    Arc::new(config)
}

/// An acceptor of this crate or of tokio-rustls.
trait ServerSide: Clone + 'static {
    async fn accept(&self, io: tokio::io::DuplexStream);
}

impl ServerSide for TlsAcceptor {
    async fn accept(&self, io: tokio::io::DuplexStream) {
        drop(Self::accept(self, io).await.expect("a handshake"));
    }
}

impl ServerSide for tokio_rustls::TlsAcceptor {
    async fn accept(&self, io: tokio::io::DuplexStream) {
        drop(Self::accept(self, io).await.expect("a handshake"));
    }
}

/// Does handshakes, of which `under_way` go on at any time.
fn measure(
    server: impl ServerSide,
    client: &Arc<ClientConfig>,
    under_way: usize,
    handshakes: usize,
) -> HandshakeCost {
    let left = Rc::new(Cell::new(handshakes));
    let client_time = Rc::new(Cell::new(Duration::ZERO));
    let connector = tokio_rustls::TlsConnector::from(Arc::clone(client));
    let (cpu, wall) = (ProcessTime::now(), Instant::now());
    run_local(async {
        let mut tasks = JoinSet::new();
        for _ in 0..under_way {
            let (server, connector, left) = (server.clone(), connector.clone(), Rc::clone(&left));
            let client_time = Rc::clone(&client_time);
            tasks.spawn_local(async move {
                while left.get() > 0 {
                    left.set(left.get() - 1);
                    let (near, far) = duplex(1 << 14);
                    let connect = connector.connect(localhost(), far);
                    // A task of its own, which is polled only if it can go on.
                    let client =
                        tokio::task::spawn_local(Metered { inner: connect, time: Rc::clone(&client_time) });
                    server.accept(near).await;
                    client.await.expect("no panic").expect("a handshake");
                }
            });
        }
        while let Some(done) = tasks.join_next().await {
            done.expect("no panic");
        }
    });
    let (cpu, wall) = (cpu.elapsed(), wall.elapsed());
    let each = |time: Duration| time.saturating_sub(client_time.get()) / handshakes as u32;
    HandshakeCost { server_cpu: each(cpu), server_wall: each(wall) }
}

/// Adds the CPU time of a future's polls to a sum.
struct Metered<F> {
    inner: F,
    time: Rc<Cell<Duration>>,
}

impl<F: Future + Unpin> Future for Metered<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let began = ThreadTime::now();
        let polled = Pin::new(&mut self.inner).poll(context);
        self.time.set(self.time.get() + began.elapsed());
        polled
    }
}
