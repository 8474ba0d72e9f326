//! Arguments of `oarlock bench proxy`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::super::BenchError;
use super::super::handshake::{ClientTlsGroup, ClientTlsVersion};
use super::super::plan::ServerKeyKind;
use super::plan::{OwnProxy, ProxyLoad, ProxyName, ProxyPeer};
use crate::tls_client::LoadLength;

/// Arguments of `oarlock bench proxy`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
                  oarlock bench proxy --beside hitch,haproxy,nginx,stunnel --seconds 5 --turns 7\n  \
                  oarlock bench proxy --beside hitch --own lanes,scalar,keyless --key rsa2048 --loads full\n  \
                  oarlock --json bench proxy --tls 1.2 --handshakes 10000 --plot proxies.svg\n\n\
                  Loads:\n  \
                  full     full handshakes; the client sends 1 KiB, a plain backend echoes it and closes\n  \
                  resumed  the same with the tickets or session IDs of earlier handshakes; `resumed` is the share that the \
                  proxy really resumed\n  \
                  bulk     open connections, on which the backend sends in writes of 16 KiB\n\
                  Own proxies: lanes has the lanes and the scalar engine; scalar has the scalar engine alone; keyless has a key \
                  reference, and a cryptoserver outside the proxy's core has the key.\n\n\
                  Each proxy has one worker on the first core of this process. The clients, the backend and the cryptoserver \
                  have the other cores. All proxies run at the same time and are measured in turns. Rates are per second of CPU \
                  time, user and system, of all processes of the proxy. core is the share of its core that the proxy used. A \
                  ratio is the median over turns, with the lowest and the highest turn, larger being better for the row's \
                  proxy. All clients offer X25519 (in TLS 1.2 P-256 too) and AES-128-GCM only, compare the certificate, and verify one signature in \
                  16, so that their core is not the limit. Connections that fail are counted as errors.\n\
                  With --group x25519mlkem768, clients of Oarlock's proxies offer that group alone. Those of other proxies offer \
                  X25519 behind it, as OpenSSL before 3.5 lacks the hybrid; `group` is the one that the proxy chose.\n\
                  A proxy that is not installed or does not start has a row that says why.\n\n\
                  Exit codes: 0 done, also if some proxies are absent; 2 wrong usage; 3 nothing could be measured, connections \
                  failed, or the command was interrupted.")]
pub(crate) struct ProxyBenchArgs {
    /// Other proxies to measure, separated by commas
    #[arg(
        long,
        value_enum,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "hitch,haproxy,nginx,stunnel"
    )]
    beside: Vec<ProxyPeer>,
    /// Set-ups of Oarlock's proxy, separated by commas
    #[arg(
        id = "own",
        long = "own",
        value_enum,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "lanes,scalar"
    )]
    set_ups: Vec<OwnProxy>,
    /// Keys of the certificates, separated by commas
    #[arg(long, value_enum, value_name = "KEYS", value_delimiter = ',', default_value = "rsa2048,p256")]
    key: Vec<ServerKeyKind>,
    /// Loads, separated by commas
    #[arg(
        long,
        value_enum,
        value_name = "LOADS",
        value_delimiter = ',',
        default_value = "full,resumed,bulk"
    )]
    loads: Vec<ProxyLoad>,
    /// Version of TLS
    #[arg(long, value_enum, value_name = "VERSION", default_value = "1.3")]
    pub(super) tls: ClientTlsVersion,
    /// Key exchange
    #[arg(long, value_enum, value_name = "GROUP", default_value = "x25519")]
    pub(super) group: ClientTlsGroup,
    /// Number of connections at once, 1 to 10000
    #[arg(long, value_name = "N", default_value = "64", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    connections: u32,
    /// Seconds of each turn, above 0 and at most a day; a tenth of it is added to warm up
    #[arg(long, value_name = "S", default_value_t = 2.0)]
    seconds: f64,
    /// Handshakes of each turn instead of seconds, 1 to 1000000000; a bulk turn then has so many writes on each
    /// connection
    #[arg(long, value_name = "N", conflicts_with = "seconds", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    handshakes: Option<u64>,
    /// Number of turns, 1 to 1000
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) turns: u32,
    /// Keep keys, configurations and logs in this directory, which must be empty or new
    #[arg(long, value_name = "DIR")]
    pub(super) keep: Option<PathBuf>,
    /// Draw the rates, relative to the first peer that was measured, into this SVG file
    #[arg(long, value_name = "FILE.svg")]
    pub(super) plot: Option<PathBuf>,
}

impl ProxyBenchArgs {
    /// Checks the values that the parser cannot.
    pub(super) fn check(&self) -> Result<(), BenchError> {
        match self.seconds > 0.0 && self.seconds <= 86_400.0 {
            true => Ok(()),
            false => Err(BenchError::Usage("--seconds: expected a number above 0, and a day at most")),
        }?;
        match (self.tls, self.group) {
            (ClientTlsVersion::Tls12, ClientTlsGroup::X25519MlKem768) => Err(BenchError::Usage(
                "--group x25519mlkem768: expected --tls 1.3, for TLS 1.2 lacks the group",
            )),
            _ => Ok(()),
        }
    }

    /// Returns the proxies that were asked for, each once: Oarlock's, then the others.
    pub(super) fn proxies(&self) -> Vec<ProxyName> {
        let set_ups = once_each(&self.set_ups).into_iter().map(ProxyName::Own);
        set_ups.chain(once_each(&self.beside).into_iter().map(ProxyName::Peer)).collect()
    }

    pub(super) fn keys(&self) -> Vec<ServerKeyKind> {
        once_each(&self.key)
    }

    pub(super) fn loads(&self) -> Vec<ProxyLoad> {
        once_each(&self.loads)
    }

    pub(super) fn connections(&self) -> usize {
        self.connections as usize
    }

    /// Returns the length of a turn.
    pub(super) fn length(&self) -> LoadLength {
        match self.handshakes {
            Some(count) => LoadLength::Connections(count),
            None => LoadLength::Time(Duration::from_secs_f64(self.seconds)),
        }
    }
}

/// Returns the values that were given, each once, in the order of their type.
fn once_each<T: ValueEnum + Copy + PartialEq>(given: &[T]) -> Vec<T> {
    T::value_variants().iter().copied().filter(|value| given.contains(value)).collect()
}
