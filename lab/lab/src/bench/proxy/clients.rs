//! The clients of a proxy: until it answers, and for a turn.

use std::net::SocketAddr;
use std::time::Instant;

use tokio_rustls::rustls::NamedGroup;

use super::super::BenchError;
use super::super::client::{NotReady, wait_until_answered};
use super::super::directory::HOST;
use super::super::handshake::{ClientTlsGroup, ClientTlsVersion};
use super::args::ProxyBenchArgs;
use super::backend::ECHO;
use super::bulk::BulkClients;
use super::client_config::{OfferedGroups, client_config};
use super::plan::{ProxyLoad, ProxyName};
use super::runtime::LoadRuntime;
use super::turns::{ProxyCpuUse, ProxyTurn};
use crate::tls_client::{ConnectionTally, LoadLength, TlsClient, TlsExchange};

const EXCHANGE: TlsExchange =
    TlsExchange { host: HOST, request: &ECHO, is_right: |answer| answer == ECHO.as_slice() };

/// The clients of proxies that have the same certificate.
pub(super) struct ProxyClients<'a> {
    pub(super) runtime: &'a LoadRuntime,
    /// The certificate in PEM.
    pub(super) certificate: &'a str,
    pub(super) version: ClientTlsVersion,
    /// The group that is measured, where the proxy has it.
    pub(super) group: ClientTlsGroup,
    /// The number of connections at once.
    pub(super) connections: usize,
    pub(super) length: LoadLength,
}

impl<'a> ProxyClients<'a> {
    pub(super) fn new(runtime: &'a LoadRuntime, certificate: &'a str, args: &ProxyBenchArgs) -> Self {
        let (connections, length) = (args.connections(), args.length());
        Self { runtime, certificate, version: args.tls, group: args.group, connections, length }
    }

    /// Waits until a proxy answers. `is_ready` fails if it has ended.
    pub(super) fn wait_until(
        &self,
        name: ProxyName,
        address: SocketAddr,
        is_ready: impl FnMut() -> Result<bool, BenchError>,
    ) -> Result<Result<(), NotReady>, BenchError> {
        let client = self.client(name, false)?;
        self.runtime.run(async { Ok(wait_until_answered(&client, address, is_ready).await) })
    }

    /// Returns the group that a proxy chooses, by a handshake if it has a choice.
    pub(super) fn chosen_group(
        &self,
        name: ProxyName,
        address: SocketAddr,
    ) -> Result<ClientTlsGroup, BenchError> {
        if self.offered(name) != OfferedGroups::HybridFirst {
            return Ok(self.group);
        }
        let client = self.client(name, false)?;
        let stream = self.runtime.run(async { client.open(address).await.map_err(BenchError::Clients) })?;
        let group = stream.get_ref().1.negotiated_key_exchange_group().map(|group| group.name());
        Ok(match group {
            Some(NamedGroup::X25519MLKEM768) => ClientTlsGroup::X25519MlKem768,
            _ => ClientTlsGroup::X25519,
        })
    }

    /// Returns the groups for a proxy: Oarlock's must have the one that is measured.
    fn offered(&self, name: ProxyName) -> OfferedGroups {
        match (self.group, name) {
            (ClientTlsGroup::X25519, _) => OfferedGroups::X25519,
            (ClientTlsGroup::X25519MlKem768, ProxyName::Own(_)) => OfferedGroups::Hybrid,
            (ClientTlsGroup::X25519MlKem768, ProxyName::Peer(_)) => OfferedGroups::HybridFirst,
        }
    }

    /// Measures a turn.
    pub(super) fn measure(
        &self,
        name: ProxyName,
        load: ProxyLoad,
        address: SocketAddr,
        cpu_use: impl Fn() -> Result<ProxyCpuUse, BenchError>,
    ) -> Result<ProxyTurn, BenchError> {
        let client = self.client(name, load == ProxyLoad::Resumed)?;
        match load {
            ProxyLoad::Full | ProxyLoad::Resumed => {
                self.runtime.run(self.measure_handshakes(&client, address, cpu_use))
            }
            ProxyLoad::Bulk => {
                let clients = BulkClients { client: &client, address, connections: self.connections };
                self.runtime.run(clients.measure(self.length, cpu_use))
            }
        }
    }

    /// Connects to warm up and to get tickets, then for the length of a turn and counts. The CPU time is read while no
    /// connection is open, so the handshakes that are counted are those that it paid for.
    async fn measure_handshakes(
        &self,
        client: &TlsClient,
        address: SocketAddr,
        cpu_use: impl Fn() -> Result<ProxyCpuUse, BenchError>,
    ) -> Result<ProxyTurn, BenchError> {
        let warm = self.connect_all(client, address, self.warm_up()).await?;
        let (before, begin) = (cpu_use()?, Instant::now());
        let tally = match warm.errors {
            0 => self.connect_all(client, address, self.length).await?,
            _ => warm,
        };
        Ok(ProxyTurn {
            amount: tally.latencies.len(),
            resumed: tally.resumed,
            elapsed: begin.elapsed(),
            cpu: cpu_use()?.since(&before),
            p50_us: Some(tally.latencies.quantile_us(0.5)).filter(|_| !tally.latencies.is_empty()),
            errors: tally.errors,
            first_error: tally.first_error,
        })
    }

    async fn connect_all(
        &self,
        client: &TlsClient,
        address: SocketAddr,
        length: LoadLength,
    ) -> Result<ConnectionTally, BenchError> {
        let all = client.connect_all(address, self.connections, length, |times| times.handshake);
        all.await.map_err(BenchError::Clients)
    }

    fn warm_up(&self) -> LoadLength {
        match self.length {
            LoadLength::Time(time) => LoadLength::Time(time.mul_f64(0.1)),
            LoadLength::Connections(_) => LoadLength::Connections(self.connections as u64),
        }
    }

    fn client(&self, name: ProxyName, resumes: bool) -> Result<TlsClient, BenchError> {
        let config = client_config(self.certificate, self.version, self.offered(name), resumes);
        Ok(TlsClient::with_config(config.map_err(BenchError::Clients)?, EXCHANGE))
    }
}
