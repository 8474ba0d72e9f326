//! TXT records from the DNS.

use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::Map;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig, ResolverOpts};
use hickory_resolver::lookup::Lookup;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::xfer::{DnsExchange, DnsHandle};
use hickory_resolver::net::{DnsError, NetError, NoRecords};
use hickory_resolver::proto::op::{DnsRequest, DnsResponse, ResponseCode};
use hickory_resolver::proto::rr::{Name, RData, Record, RecordType};
use hickory_resolver::{ConnectionProvider, PoolContext, Resolver};
use oarlock_dkim::KeyProtection;
use oarlock_network::BadName;

use super::{MAX_NEGATIVE_TTL_S, MAX_TTL_S, TempReason, TxtAnswer, TxtRecords, ascii_name};

/// A client of name servers for TXT records. It asks by UDP, and by TCP if an answer is too long for UDP. It caches
/// answers for their lifetime. While a question is pending, it does not ask it again. Clones share the cache and the
/// pending questions. Sockets belong to the tokio runtime of the first question.
#[derive(Clone, Debug)]
pub struct TxtResolver {
    resolver: Resolver<ValidatingProvider>,
    validates: bool,
    max_time: Duration,
}

/// The name servers that are believed if they state that they have validated an answer by DNSSEC: all at loopback
/// addresses, and these. Anybody on the path to another server could write that statement (RFC 4035 4.9.3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustedValidators(pub Vec<IpAddr>);

impl TrustedValidators {
    fn contains(&self, server: IpAddr) -> bool {
        let server = server.to_canonical();
        server.is_loopback() || self.0.iter().any(|trusted| trusted.to_canonical() == server)
    }
}

/// The differences from the settings of the system, or from five seconds and two attempts.
#[derive(Clone, Debug, Default)]
pub struct ResolverSettings {
    /// The time limit of an attempt.
    pub timeout: Option<Duration>,
    /// The number of attempts, at least 1.
    pub attempts: Option<usize>,
    /// The number of cached answers.
    pub cached_answers: Option<u64>,
    /// The trusted validators. None leaves the protection of all records unknown.
    pub validators: Option<TrustedValidators>,
}

/// An error of starting a resolver.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResolverError {
    /// The system does not state its name servers.
    #[error("/etc/resolv.conf: {0}")]
    System(String),
    /// The caller gave no name server.
    #[error("expected a name server")]
    NoServers,
    /// The caller gave a malformed address of a name server.
    #[error("expected an address such as 127.0.0.1, 127.0.0.1:5353 or [::1]:53, found {0:?}")]
    Address(String),
    /// DNSSEC is asked for, and no name server is trusted with it.
    #[error("expected a validating name server at a loopback address or in trusted_resolvers, found {0}")]
    Untrusted(String),
    /// The resolver cannot start.
    #[error("{0}")]
    Start(String),
}

/// Parses an address with an optional port, which defaults to 53.
///
/// # Errors
/// The address is malformed.
pub fn server_address(text: &str) -> Result<SocketAddr, ResolverError> {
    let bare = text.parse::<IpAddr>().map(|ip| SocketAddr::new(ip, 53));
    bare.or_else(|_| text.parse()).map_err(|_| ResolverError::Address(text.to_owned()))
}

impl TxtResolver {
    /// Makes a resolver that asks the name servers of `/etc/resolv.conf`. Names are always absolute, so its search
    /// list is ignored.
    ///
    /// # Errors
    /// The file cannot be read, or names no server.
    pub fn from_system(settings: ResolverSettings) -> Result<Self, ResolverError> {
        let system = hickory_resolver::system_conf::read_system_conf();
        let (config, options) = system.map_err(|error| ResolverError::System(error.to_string()))?;
        Self::new(config, options, settings)
    }

    /// Makes a resolver that asks these name servers.
    ///
    /// # Errors
    /// The list is empty.
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
        // hickory counts only the attempts after the first one.
        options.attempts = attempts - 1;
        options.cache_size = settings.cached_answers.unwrap_or(options.cache_size);
        options.positive_max_ttl = Some(Duration::from_secs(MAX_TTL_S.into()));
        options.negative_max_ttl = Some(Duration::from_secs(MAX_NEGATIVE_TTL_S.into()));
        // Records with keys of 2048 bits exceed the 512 bytes of UDP without EDNS.
        options.edns0 = true;
        let max_time = options.timeout.saturating_mul(u32::try_from(attempts).unwrap_or(u32::MAX));
        let validates = settings.validators.is_some();
        let trusted = settings.validators.unwrap_or_default();
        let servers = config.name_servers();
        if validates && !servers.iter().any(|server| trusted.contains(server.ip)) {
            let found: Vec<String> = servers.iter().map(|server| server.ip.to_string()).collect();
            return Err(ResolverError::Untrusted(found.join(", ")));
        }
        let provider =
            ValidatingProvider { inner: TokioRuntimeProvider::default(), trusted: Arc::new(trusted) };
        let mut builder = Resolver::builder_with_config(config, provider);
        *builder.options_mut() = options;
        let resolver = builder.build().map_err(|error| ResolverError::Start(error.to_string()))?;
        Ok(Self { resolver, validates, max_time })
    }

    /// Looks up the TXT records of a name, and follows its aliases. It takes at most as long as all attempts
    /// together.
    pub async fn lookup(&self, name: &str) -> TxtAnswer {
        let name = match ascii_name(name)
            .and_then(|ascii| Name::from_ascii(format!("{ascii}.")).map_err(|_| BadName::Long(ascii.len())))
        {
            Ok(name) => name,
            Err(fault) => return TxtAnswer::BadName(fault),
        };
        let asking = self.resolver.lookup(name.clone(), RecordType::TXT);
        match tokio::time::timeout(self.max_time, asking).await {
            Ok(Ok(lookup)) => records(&name, &lookup, self.validates),
            Ok(Err(error)) => convert_error(error),
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

/// Reads the records of a name in an answer, and ignores all others.
fn records(name: &Name, lookup: &Lookup, validates: bool) -> TxtAnswer {
    let answers = lookup.answers();
    let (mut owner, mut ttl_s) = (name, MAX_TTL_S);
    // The number of records bounds the steps, because aliases may form a circle.
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
    let message = lookup.message();
    // If the resolver itself has followed an alias, this is the answer to the last question, and says nothing of the alias.
    let is_whole = message.queries.first().is_some_and(|query| query.name() == name);
    let protection = match (validates, is_whole && message.metadata.authentic_data) {
        (false, _) => KeyProtection::Unknown,
        (true, false) => KeyProtection::Unprotected,
        (true, true) => KeyProtection::Secure,
    };
    TxtAnswer::Records(TxtRecords { records, ttl_s, protection })
}

fn alias<'a>(owner: &Name, record: &'a Record) -> Option<(&'a Name, u32)> {
    match &record.data {
        RData::CNAME(target) if record.name == *owner => Some((&target.0, record.ttl)),
        _ => None,
    }
}

/// Converts a failure or a negative answer.
fn convert_error(error: NetError) -> TxtAnswer {
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
    // RFC 2308 2.2: name servers without an SOA are a referral, not an answer.
    let is_referral = no.soa.is_none() && no.ns.is_some();
    match no.response_code {
        ResponseCode::NXDomain => TxtAnswer::NoName { ttl_s },
        ResponseCode::NoError if !is_referral => TxtAnswer::NoData { ttl_s },
        ResponseCode::NoError => TxtAnswer::TempFail { reason: TempReason::Answer("a referral".to_owned()) },
        other => TxtAnswer::TempFail { reason: TempReason::Answer(other.to_string()) },
    }
}

/// Connections whose questions set the AD bit. Without it, servers omit the AD bit from the answer (RFC 6840 5.7).
/// Answers of servers that are not trusted lose the bit, before they are cached.
#[derive(Clone)]
struct ValidatingProvider {
    inner: TokioRuntimeProvider,
    trusted: Arc<TrustedValidators>,
}

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
        let connecting = self.inner.new_connection(ip, config, context)?;
        let is_trusted = self.trusted.contains(ip);
        Ok(Box::pin(async move { Ok(ValidatingConnection { exchange: connecting.await?, is_trusted }) }))
    }

    fn runtime_provider(&self) -> &Self::RuntimeProvider {
        &self.inner
    }
}

#[derive(Clone)]
struct ValidatingConnection {
    exchange: DnsExchange<TokioRuntimeProvider>,
    is_trusted: bool,
}

type Exchanged = Result<DnsResponse, NetError>;

impl DnsHandle for ValidatingConnection {
    type Response =
        Map<<DnsExchange<TokioRuntimeProvider> as DnsHandle>::Response, fn(Exchanged) -> Exchanged>;
    type Runtime = TokioRuntimeProvider;

    fn send(&self, mut request: DnsRequest) -> Self::Response {
        request.metadata.authentic_data = true;
        let read: fn(Exchanged) -> Exchanged = if self.is_trusted { |answer| answer } else { without_ad };
        self.exchange.send(request).map(read)
    }
}

fn without_ad(answer: Exchanged) -> Exchanged {
    answer.map(|mut response| {
        response.metadata.authentic_data = false;
        response
    })
}

#[cfg(test)]
mod tests;
