//! Arguments of `oarlock load`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use oarlock_wire::Endpoint;

use super::{LoadError, LoadedServer};
use crate::operation::NamedOperation;

/// Arguments of `oarlock load`.
#[derive(Args, Debug)]
#[command(next_help_heading = "Load")]
pub struct LoadArgs {
    /// Start a server on a core of its own, and stop it at the end
    #[arg(long, conflicts_with = "server")]
    pub spawn: bool,
    /// Operations by their names in `oarlock speed`, null, encrypt-call or empty-call, separated by commas
    #[arg(
        long,
        visible_alias = "ops",
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "ed25519-sign"
    )]
    op: Vec<String>,
    /// Measure all operations together in one row; each client has one of them
    #[arg(long)]
    mix: bool,
    /// Transports to the spawned server, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', requires = "spawn", default_value = "tls")]
    by: Vec<LoadTransport>,
    /// Engines of the spawned server: sets of names joined by +, one row for each set [default: all]
    #[arg(long, value_name = "SETS", value_delimiter = ',', requires = "spawn")]
    pub(super) server_engines: Vec<String>,
    /// Number of clients at once, 1 to 100000; several numbers, separated by commas, give one row each
    #[arg(long, value_delimiter = ',', default_value = "8", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    clients: Vec<u32>,
    /// Number of batches that each client has in flight, 1 to 4096; several numbers give one row each
    #[arg(long, value_delimiter = ',', default_value = "2", value_parser = clap::value_parser!(u32).range(1..=4096))]
    in_flight: Vec<u32>,
    /// Number of operations in a batch, 1 to 131072; several numbers give one row each
    #[arg(long, value_delimiter = ',', default_value = "64", value_parser = clap::value_parser!(u32).range(1..=131_072))]
    batch: Vec<u32>,
    /// Seconds of each row, above 0. A tenth of it, at most 5 s, is added to warm up. Rows that verify warm up for at
    /// most 30 s, until the server has built its tables for recurring keys
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// Number of times that each row is measured, 1 to 1000, all rows in turn; the turn with the median CPU time per
    /// operation is printed
    #[arg(long, default_value = "1", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) turns: u32,
    /// Operations per second that all clients together send, above 0, even if answers are late. Latency then counts
    /// from the time at which a batch was due [default: each client sends when an answer comes]
    #[arg(long, value_name = "OPS")]
    rate: Option<f64>,
    /// Number of keys that each client opens, 1 to 4096 [default: depends on the operation]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=4096))]
    keys: Option<u32>,
    /// Locations of the keys, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', default_value = "stream")]
    keys_at: Vec<LoadKeyHome>,
    /// Key of the server that signs, by its name, instead of keys that the clients bring
    #[arg(long, value_name = "NAME", conflicts_with_all = ["keys", "keys_at", "spawn"])]
    pub(super) key: Option<String>,
    /// Draw the rate against the operations in flight into this SVG file
    #[arg(long, value_name = "FILE.svg")]
    pub(super) plot: Option<PathBuf>,
}

/// A transport to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LoadTransport {
    /// gRPC under mutual TLS 1.3
    Tls,
    /// gRPC without protection
    Plaintext,
    /// Shared memory beside a UNIX socket
    Ring,
    /// Frames on a UNIX socket
    Unix,
    /// No server: the same work in this process, for comparison
    Local,
}

/// The place where the keys of public-key operations live.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LoadKeyHome {
    /// The client opens them once on its stream
    #[default]
    Stream,
    /// The client opens them for each batch and closes them after it
    Batch,
    /// They are in the key directory of the spawned server
    Server,
}

/// The configuration of a row.
#[derive(Clone, Debug)]
pub(crate) struct LoadPlan {
    /// One operation, or several of which each client has one.
    pub(super) ops: Vec<LoadOp>,
    pub(super) way: LoadTransport,
    pub(super) home: LoadKeyHome,
    pub(super) clients: usize,
    pub(super) in_flight: usize,
    pub(super) batch: usize,
    pub(super) keys: Option<usize>,
    /// The rate of each client in operations per second.
    pub(super) rate: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoadOp {
    Null,
    /// A single call to the health service, which has the same HTTP/2, authentication and limits, and no work.
    EmptyCall,
    /// A single call that encrypts a batch of values.
    EncryptCall,
    Real(NamedOperation),
}

impl LoadArgs {
    /// Returns the configurations of all rows.
    pub(super) fn plans(&self, server: &LoadedServer<'_>) -> Result<Vec<LoadPlan>, LoadError> {
        if !(self.seconds > 0.0 && self.seconds.is_finite()) {
            return Err(LoadError::Usage("--seconds: expected a number above 0"));
        }
        if self.rate.is_some_and(|rate| !(rate > 0.0 && rate.is_finite())) {
            return Err(LoadError::Usage("--rate: expected a number above 0"));
        }
        if self.keys_at.contains(&LoadKeyHome::Server) && !self.spawn {
            return Err(LoadError::Usage(
                "--keys-at server: expected --spawn, because the keys are written into the server's directory",
            ));
        }
        let ways = match server {
            LoadedServer::Spawned(_) => self.by.clone(),
            LoadedServer::At(endpoint) => vec![LoadTransport::from_endpoint(endpoint)],
        };
        let parse = |op: &String| {
            Ok::<_, LoadError>(match op.as_str() {
                "null" => LoadOp::Null,
                "empty-call" => LoadOp::EmptyCall,
                "encrypt-call" => LoadOp::EncryptCall,
                op => LoadOp::Real(op.parse()?),
            })
        };
        let ops = self.op.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        if self.mix && ops.iter().any(|op| op.is_call()) {
            return Err(LoadError::Usage("--mix: expected operations of streams, found a single call"));
        }
        let rows = if self.mix { vec![ops] } else { ops.into_iter().map(|op| vec![op]).collect() };
        let mut plans = Vec::new();
        for ops in rows {
            // In this process there is neither a null operation nor a mix: it is the server that they measure.
            let has_local = matches!(ops[..], [LoadOp::Real(_)]);
            let is_call = ops.iter().any(|op| op.is_call());
            let ways = ways.iter().copied().filter(|way| match way {
                LoadTransport::Tls | LoadTransport::Plaintext => true,
                LoadTransport::Ring | LoadTransport::Unix => !is_call,
                LoadTransport::Local => has_local,
            });
            for way in ways {
                // The keys of calls are resident.
                let homes = if is_call { &[LoadKeyHome::Stream] } else { self.homes(way) };
                plans.extend(homes.iter().flat_map(|home| self.loads(&ops, way, *home)));
            }
        }
        if plans.is_empty() {
            return Err(LoadError::Usage(
                "--by: expected a transport that --op has; single calls have tls and plaintext",
            ));
        }
        Ok(plans)
    }

    /// Returns the sets of engines for servers. None stands for all engines.
    pub(super) fn sets(&self) -> Vec<Option<String>> {
        match &*self.server_engines {
            [] => vec![None],
            sets => sets.iter().cloned().map(Some).collect(),
        }
    }

    /// Returns the places of keys. They matter only to servers.
    fn homes(&self, way: LoadTransport) -> &[LoadKeyHome] {
        if way == LoadTransport::Local { &[LoadKeyHome::Stream] } else { &self.keys_at }
    }

    /// Returns every combination of clients, batches in flight and batch sizes.
    fn loads(&self, ops: &[LoadOp], way: LoadTransport, home: LoadKeyHome) -> Vec<LoadPlan> {
        let keys = self.keys.map(|keys| keys as usize);
        // An empty call has no values.
        let batches = if ops == [LoadOp::EmptyCall] { &[1][..] } else { &self.batch };
        let mut plans = Vec::new();
        for &clients in &self.clients {
            let rate = self.rate.map(|rate| rate / f64::from(clients));
            for &in_flight in &self.in_flight {
                for &batch in batches {
                    let (clients, in_flight, batch) = (clients as usize, in_flight as usize, batch as usize);
                    plans.push(LoadPlan {
                        ops: ops.to_vec(),
                        way,
                        home,
                        clients,
                        in_flight,
                        batch,
                        keys,
                        rate,
                    });
                }
            }
        }
        plans
    }

    /// A tenth of the length, and no more than it takes for tables and queues.
    pub(super) fn warm_up(&self) -> Duration {
        self.length().mul_f64(0.1).min(Duration::from_secs(5))
    }

    pub(super) fn length(&self) -> Duration {
        Duration::from_secs_f64(self.seconds)
    }
}

impl LoadOp {
    /// True if each batch is a call of its own, without a stream.
    pub(super) fn is_call(self) -> bool {
        matches!(self, Self::EmptyCall | Self::EncryptCall)
    }
}

impl LoadPlan {
    /// True if each batch is a call of its own, without a stream.
    pub(super) fn has_calls(&self) -> bool {
        self.ops.iter().any(|op| op.is_call())
    }

    /// Returns the name of the row.
    pub(super) fn name(&self) -> String {
        let op = match &*self.ops {
            [LoadOp::Null] => "null".to_owned(),
            [LoadOp::EmptyCall] => "empty-call".to_owned(),
            [LoadOp::EncryptCall] => "encrypt-call".to_owned(),
            [LoadOp::Real(op)] => op.to_string(),
            _ => "mix".to_owned(),
        };
        let home = match self.home {
            LoadKeyHome::Stream => "",
            LoadKeyHome::Batch => "-key-per-batch",
            LoadKeyHome::Server => "-resident",
        };
        format!("{op}-{}{home}", self.way.name())
    }
}

impl LoadTransport {
    fn from_endpoint(endpoint: &Endpoint) -> Self {
        match endpoint {
            Endpoint::Grpc { url, .. } if url.starts_with("https:") => Self::Tls,
            Endpoint::Grpc { .. } => Self::Plaintext,
            _ if oarlock_wire::is_ring_switched_off() => Self::Unix,
            _ => Self::Ring,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tls => "tls",
            Self::Plaintext => "plaintext",
            Self::Ring => "ring",
            Self::Unix => "unix",
            Self::Local => "local",
        }
    }
}
