//! The clients of the TLS server: each connects anew as soon as it has its answer.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::tls_client::{ConnectionTally, TlsClient, TlsExchange};

use super::report::HeadRow;
use super::{ANSWER, HOST, HeadError, REQUEST, SignedBy};

const EXCHANGE: TlsExchange =
    TlsExchange { host: HOST, request: REQUEST, is_right: |answer| answer == ANSWER.as_slice() };

/// The load of one row.
pub(super) struct HeadLoad {
    pub(super) address: SocketAddr,
    /// The server's certificate in PEM, the only one that clients trust.
    pub(super) certificate: Vec<u8>,
    /// The number of connections at once.
    pub(super) connections: usize,
    pub(super) length: Duration,
}

/// The CPU times of the TLS server, and of the cryptoserver if there is one.
type CpuTimes = (Duration, Option<Duration>);

/// Connects for a tenth of the length to warm up, then for all of it and counts. The CPU time is read while no
/// connection is open, so the connections that are counted are those that it paid for.
pub(super) fn measure(
    signed_by: SignedBy,
    load: &HeadLoad,
    cpu: &mut dyn FnMut() -> io::Result<CpuTimes>,
) -> Result<HeadRow, HeadError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let client = TlsClient::new(&load.certificate, EXCHANGE)?;
    let connect = |length: Duration| -> Result<ConnectionTally, HeadError> {
        let all = client.connect_all(load.address, load.connections, length, |times| times.answer);
        let tally = runtime.block_on(all)?;
        match tally.errors {
            0 => Ok(tally),
            errors => Err(HeadError::Errors { name: signed_by.name(), errors, first: tally.first_error }),
        }
    };
    // Engines are tested at first use, and caches fill: neither belongs to a connection.
    connect(load.length.mul_f64(0.1))?;
    let (before, begin) = (cpu()?, Instant::now());
    let tally = connect(load.length)?;
    let (took, after) = (begin.elapsed(), cpu()?);
    Ok(row(signed_by, load, &tally, took, before, after))
}

fn row(
    signed_by: SignedBy,
    load: &HeadLoad,
    tally: &ConnectionTally,
    took: Duration,
    before: CpuTimes,
    after: CpuTimes,
) -> HeadRow {
    let answers = tally.latencies.len();
    let each = |used: Duration| used.as_secs_f64() * 1e6 / answers.max(1) as f64;
    let server_cpu_us = each(after.0.saturating_sub(before.0));
    HeadRow {
        name: signed_by.name(),
        connections: load.connections,
        answers,
        rate_per_s: answers as f64 / took.as_secs_f64(),
        // A server without any CPU time would divide by zero.
        rate_per_cpu_s: 1e6 / server_cpu_us.max(1e-9),
        server_cpu_us,
        cryptoserver_cpu_us: after.1.zip(before.1).map(|(after, before)| each(after.saturating_sub(before))),
        ratio: None,
        p50_us: tally.latencies.quantile_us(0.5),
        p99_us: tally.latencies.quantile_us(0.99),
    }
}
