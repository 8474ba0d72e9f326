//! Arguments of `oarlock load`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use oarlock_wire::Endpoint;

use super::{LoadError, LoadedServer};
use crate::operation::Operation;

/// Arguments of `oarlock load`.
#[derive(Args, Debug)]
pub struct LoadArgs {
    /// Start a server of its own, on a core of its own, and stop it at the end
    #[arg(long, conflicts_with = "server")]
    pub spawn: bool,
    /// Operations, as `oarlock speed` names them, or null
    #[arg(
        long,
        visible_alias = "ops",
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "ed25519-sign"
    )]
    op: Vec<String>,
    /// One row for all operations together: clients take turns at which one is theirs
    #[arg(long)]
    mix: bool,
    /// How the server is reached, with --spawn
    #[arg(long, value_enum, value_delimiter = ',', requires = "spawn", default_value = "tls")]
    by: Vec<Way>,
    /// Engines of the server, with --spawn: sets of names joined by +, a row for each set [default: all that are there]
    #[arg(long, value_name = "SETS", value_delimiter = ',', requires = "spawn")]
    pub(super) server_engines: Vec<String>,
    /// Clients at once, each with a stream of its own
    #[arg(long, value_delimiter = ',', default_value = "8", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    clients: Vec<u32>,
    /// Batches that each client has under way
    #[arg(long, value_delimiter = ',', default_value = "2", value_parser = clap::value_parser!(u32).range(1..=4096))]
    in_flight: Vec<u32>,
    /// Operations in a batch
    #[arg(long, value_delimiter = ',', default_value = "64", value_parser = clap::value_parser!(u32).range(1..=131_072))]
    batch: Vec<u32>,
    /// Seconds that each row is measured, and until there is an answer, after a tenth of it (5 at most) to warm up; rows that
    /// verify warm up until their rate no longer grows (30 s at most), since servers build tables for keys that recur
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// Times that each row is measured, all rows in turn; what is printed is the turn with the median CPU time per operation
    #[arg(long, default_value = "1", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) turns: u32,
    /// Operations a second that all clients together ask for, whether answers come or not; latency then counts from when a batch
    /// should have been sent [default: each client sends when an answer comes]
    #[arg(long, value_name = "OPS")]
    rate: Option<f64>,
    /// Keys that each client opens [default: as the operation says]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=4096))]
    keys: Option<u32>,
    /// Where keys live
    #[arg(long, value_enum, value_delimiter = ',', default_value = "stream")]
    keys_at: Vec<KeyHome>,
    /// Draw rate against operations under way into this SVG file
    #[arg(long, value_name = "FILE.svg")]
    pub(super) plot: Option<PathBuf>,
}

/// How the server is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Way {
    /// gRPC under mutual TLS 1.3
    Tls,
    /// gRPC without protection
    Plaintext,
    /// Frames on a UNIX socket
    Unix,
    /// No server: the same work in this process
    Local,
}

/// Where the keys of public-key operations live.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyHome {
    /// With the client, which opens them once on its stream
    #[default]
    Stream,
    /// With the client, which opens them for each batch and closes them behind it
    Batch,
    /// In the server's key directory, with --spawn
    Server,
}

/// What a row measures.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// One, or several that clients take turns at.
    pub(super) ops: Vec<Op>,
    pub(super) way: Way,
    pub(super) home: KeyHome,
    pub(super) clients: usize,
    pub(super) in_flight: usize,
    pub(super) batch: usize,
    pub(super) keys: Option<usize>,
    /// Operations a second of each client.
    pub(super) rate: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Null,
    Real(Operation),
}

impl LoadArgs {
    /// The rows.
    pub(super) fn plans(&self, server: &LoadedServer<'_>) -> Result<Vec<Plan>, LoadError> {
        if !(self.seconds > 0.0 && self.seconds.is_finite()) {
            return Err(LoadError::Usage("--seconds: expected a number above 0"));
        }
        if self.rate.is_some_and(|rate| !(rate > 0.0 && rate.is_finite())) {
            return Err(LoadError::Usage("--rate: expected a number above 0"));
        }
        if self.keys_at.contains(&KeyHome::Server) && !self.spawn {
            return Err(LoadError::Usage(
                "--keys-at server: expected --spawn, for keys are written into its directory",
            ));
        }
        let ways = match server {
            LoadedServer::Spawned(_) => self.by.clone(),
            LoadedServer::At(endpoint) => vec![Way::of(endpoint)],
        };
        let parse =
            |op: &String| if op == "null" { Ok(Op::Null) } else { Ok::<_, LoadError>(Op::Real(op.parse()?)) };
        let ops = self.op.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        let rows = if self.mix { vec![ops] } else { ops.into_iter().map(|op| vec![op]).collect() };
        let mut plans = Vec::new();
        for ops in rows {
            // In this process there is neither a null operation nor a mix: it is the server that they measure.
            let has_local = ops.len() == 1 && ops != [Op::Null];
            let ways = ways.iter().copied().filter(|way| has_local || *way != Way::Local);
            for way in ways {
                plans.extend(self.homes(way).iter().flat_map(|home| self.loads(&ops, way, *home)));
            }
        }
        Ok(plans)
    }

    /// Sets of engines for servers; one of all of them where nothing is said.
    pub(super) fn sets(&self) -> Vec<Option<String>> {
        match &*self.server_engines {
            [] => vec![None],
            sets => sets.iter().cloned().map(Some).collect(),
        }
    }

    /// Where keys live matters only to servers.
    fn homes(&self, way: Way) -> &[KeyHome] {
        if way == Way::Local { &[KeyHome::Stream] } else { &self.keys_at }
    }

    /// Every combination of numbers.
    fn loads(&self, ops: &[Op], way: Way, home: KeyHome) -> Vec<Plan> {
        let keys = self.keys.map(|keys| keys as usize);
        let mut plans = Vec::new();
        for &clients in &self.clients {
            let rate = self.rate.map(|rate| rate / f64::from(clients));
            for &in_flight in &self.in_flight {
                for &batch in &self.batch {
                    let (clients, in_flight, batch) = (clients as usize, in_flight as usize, batch as usize);
                    plans.push(Plan { ops: ops.to_vec(), way, home, clients, in_flight, batch, keys, rate });
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

impl Plan {
    /// What the row is called.
    pub(super) fn name(&self) -> String {
        let op = match &*self.ops {
            [Op::Null] => "null".to_owned(),
            [Op::Real(op)] => op.to_string(),
            _ => "mix".to_owned(),
        };
        let home = match self.home {
            KeyHome::Stream => "",
            KeyHome::Batch => "-key-per-batch",
            KeyHome::Server => "-resident",
        };
        format!("{op}-{}{home}", self.way.name())
    }
}

impl Way {
    fn of(endpoint: &Endpoint) -> Self {
        match endpoint {
            Endpoint::Grpc { url, .. } if url.starts_with("https:") => Self::Tls,
            Endpoint::Grpc { .. } => Self::Plaintext,
            _ => Self::Unix,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tls => "tls",
            Self::Plaintext => "plaintext",
            Self::Unix => "unix",
            Self::Local => "local",
        }
    }
}
