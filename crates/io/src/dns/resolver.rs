//! TXT records from the DNS.

use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::time::Duration;

use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig, ResolverOpts};
use hickory_resolver::lookup::Lookup;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::xfer::{DnsExchange, DnsHandle};
use hickory_resolver::net::{DnsError, NetError, NoRecords};
use hickory_resolver::proto::op::{DnsRequest, ResponseCode};
use hickory_resolver::proto::rr::{Name, RData, Record, RecordType};
use hickory_resolver::{ConnectionProvider, PoolContext, Resolver};

use super::{BadName, MAX_NEGATIVE_TTL_S, MAX_TTL_S, TempReason, TxtAnswer, TxtRecords, ascii_name};

/// Asks name servers for TXT records, by UDP and, where an answer is too long for it, by TCP. Answers are kept as long as they may
/// be; a question that is under way is not asked twice. Clones share all that. Sockets belong to the tokio runtime that the first
/// questions were asked on.
#[derive(Clone, Debug)]
pub struct TxtResolver {
    resolver: Resolver<ValidatingProvider>,
    max_time: Duration,
}

/// What differs from the system's settings, or from five seconds and two attempts.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResolverSettings {
    /// How long to wait for an answer to one attempt.
    pub timeout: Option<Duration>,
    /// How often to ask, at least once.
    pub attempts: Option<usize>,
    /// How many answers to keep.
    pub cached_answers: Option<u64>,
}

/// Why there is no resolver.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResolverError {
    /// The machine: the system does not say which name servers to ask.
    #[error("/etc/resolv.conf: {0}")]
    System(String),
    /// The caller: there is no name server to ask.
    #[error("expected a name server")]
    NoServers,
    /// The caller: this is no address of a name server.
    #[error("expected an address, as 127.0.0.1, 127.0.0.1:5353 or [::1]:53, found {0:?}")]
    Address(String),
    /// The machine: the resolver does not start.
    #[error("{0}")]
    Start(String),
}

/// An address with or without a port, which is 53 unless told.
///
/// # Errors
/// It is none.
pub fn server_address(text: &str) -> Result<SocketAddr, ResolverError> {
    let bare = text.parse::<IpAddr>().map(|ip| SocketAddr::new(ip, 53));
    bare.or_else(|_| text.parse()).map_err(|_| ResolverError::Address(text.to_owned()))
}

impl TxtResolver {
    /// Asks the name servers of `/etc/resolv.conf`. Names are always whole, so its search list is of no use.
    ///
    /// # Errors
    /// It cannot be read, or names no server.
    pub fn from_system(settings: ResolverSettings) -> Result<Self, ResolverError> {
        let system = hickory_resolver::system_conf::read_system_conf();
        let (config, options) = system.map_err(|error| ResolverError::System(error.to_string()))?;
        Self::new(config, options, settings)
    }

    /// Asks these name servers.
    ///
    /// # Errors
    /// There are none.
    pub fn with_servers(servers: &[SocketAddr], settings: ResolverSettings) -> Result<Self, ResolverError> {
        if servers.is_empty() {
            return Err(ResolverError::NoServers);
        }
        let config = ResolverConfig::from_name_servers(servers.iter().map(name_server).collect());
        Self::new(config, ResolverOpts::default(), settings)
    }

    fn new(
        config: ResolverConfig,
        mut options: ResolverOpts,
        settings: ResolverSettings,
    ) -> Result<Self, ResolverError> {
        options.timeout = settings.timeout.unwrap_or(options.timeout);
        let attempts = settings.attempts.unwrap_or(options.attempts).max(1);
        // It counts those after the first.
        options.attempts = attempts - 1;
        options.cache_size = settings.cached_answers.unwrap_or(options.cache_size);
        options.positive_max_ttl = Some(Duration::from_secs(MAX_TTL_S.into()));
        options.negative_max_ttl = Some(Duration::from_secs(MAX_NEGATIVE_TTL_S.into()));
        // Keys of 2048 bits are longer than what UDP takes without.
        options.edns0 = true;
        let max_time = options.timeout.saturating_mul(u32::try_from(attempts).unwrap_or(u32::MAX));
        let mut builder =
            Resolver::builder_with_config(config, ValidatingProvider(TokioRuntimeProvider::default()));
        *builder.options_mut() = options;
        let resolver = builder.build().map_err(|error| ResolverError::Start(error.to_string()))?;
        Ok(Self { resolver, max_time })
    }

    /// The TXT records of a name, at the end of its aliases. Takes as long as all attempts at most.
    pub async fn lookup(&self, name: &str) -> TxtAnswer {
        let name = match ascii_name(name)
            .and_then(|ascii| Name::from_ascii(format!("{ascii}.")).map_err(|_| BadName::Long(ascii.len())))
        {
            Ok(name) => name,
            Err(fault) => return TxtAnswer::BadName(fault),
        };
        let asking = self.resolver.lookup(name.clone(), RecordType::TXT);
        match tokio::time::timeout(self.max_time, asking).await {
            Ok(Ok(lookup)) => records(&name, &lookup),
            Ok(Err(error)) => nothing(error),
            Err(_) => TxtAnswer::TempFail { reason: TempReason::Timeout },
        }
    }
}

fn name_server(address: &SocketAddr) -> NameServerConfig {
    let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(|mut connection| {
        connection.port = address.port();
        connection
    });
    NameServerConfig::new(address.ip(), true, connections.into())
}

/// What an answer says of a name, and of nothing else in it.
fn records(name: &Name, lookup: &Lookup) -> TxtAnswer {
    let answers = lookup.answers();
    let (mut owner, mut ttl_s) = (name, MAX_TTL_S);
    // As many steps as there are records, for aliases may go in a circle.
    for _ in answers {
        let Some((target, alias_ttl_s)) = answers.iter().find_map(|record| alias(owner, record)) else {
            break;
        };
        (owner, ttl_s) = (target, ttl_s.min(alias_ttl_s));
    }
    let mut records = Vec::new();
    for record in answers.iter().filter(|record| record.name == *owner) {
        if let RData::TXT(text) = &record.data {
            records.push(text.txt_data.concat());
            ttl_s = ttl_s.min(record.ttl);
        }
    }
    if records.is_empty() {
        return TxtAnswer::NoData { ttl_s: 0 };
    }
    let is_authentic = lookup.message().metadata.authentic_data;
    TxtAnswer::Records(TxtRecords { records, ttl_s, is_authentic })
}

fn alias<'a>(owner: &Name, record: &'a Record) -> Option<(&'a Name, u32)> {
    match &record.data {
        RData::CNAME(target) if record.name == *owner => Some((&target.0, record.ttl)),
        _ => None,
    }
}

/// What it means that there is no answer with records.
fn nothing(error: NetError) -> TxtAnswer {
    let reason = match error {
        NetError::Dns(DnsError::NoRecordsFound(no)) => return negative(&no),
        NetError::Dns(DnsError::ResponseCode(ResponseCode::ServFail) | DnsError::DnssecBogus) => {
            TempReason::ServFail
        }
        NetError::Dns(DnsError::ResponseCode(ResponseCode::Refused)) => TempReason::Refused,
        NetError::Timeout => TempReason::Timeout,
        NetError::Io(error) => TempReason::Network(error.to_string()),
        NetError::NoConnections | NetError::Busy => TempReason::Network(error.to_string()),
        other => TempReason::Answer(other.to_string()),
    };
    TxtAnswer::TempFail { reason }
}

fn negative(no: &NoRecords) -> TxtAnswer {
    let ttl_s = no.negative_ttl.unwrap_or(0).min(MAX_NEGATIVE_TTL_S);
    // RFC 2308 2.2: servers of somebody else, and no word on the name, are no answer but a referral.
    let is_referral = no.soa.is_none() && no.ns.is_some();
    match no.response_code {
        ResponseCode::NXDomain => TxtAnswer::NoName { ttl_s },
        ResponseCode::NoError if !is_referral => TxtAnswer::NoData { ttl_s },
        ResponseCode::NoError => TxtAnswer::TempFail { reason: TempReason::Answer("a referral".to_owned()) },
        other => TxtAnswer::TempFail { reason: TempReason::Answer(other.to_string()) },
    }
}

/// Connections whose questions say that the answer's AD bit is understood, without which servers leave it out (RFC 6840 5.7).
#[derive(Clone)]
struct ValidatingProvider(TokioRuntimeProvider);

impl ConnectionProvider for ValidatingProvider {
    type Conn = ValidatingConnection;
    type FutureConn = Pin<Box<dyn Future<Output = Result<Self::Conn, NetError>> + Send>>;
    type RuntimeProvider = TokioRuntimeProvider;

    fn new_connection(
        &self,
        ip: IpAddr,
        config: &ConnectionConfig,
        context: &PoolContext,
    ) -> Result<Self::FutureConn, NetError> {
        let connecting = self.0.new_connection(ip, config, context)?;
        Ok(Box::pin(async move { Ok(ValidatingConnection(connecting.await?)) }))
    }

    fn runtime_provider(&self) -> &Self::RuntimeProvider {
        &self.0
    }
}

#[derive(Clone)]
struct ValidatingConnection(DnsExchange<TokioRuntimeProvider>);

impl DnsHandle for ValidatingConnection {
    type Response = <DnsExchange<TokioRuntimeProvider> as DnsHandle>::Response;
    type Runtime = TokioRuntimeProvider;

    fn send(&self, mut request: DnsRequest) -> Self::Response {
        request.metadata.authentic_data = true;
        self.0.send(request)
    }
}

#[cfg(test)]
mod tests;
