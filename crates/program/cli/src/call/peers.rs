//! One server, or several servers that have the same key or shares of it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use oarlock::keys::import;
use oarlock::keys::threshold::ThresholdKey;
use oarlock::{Accelerator, Job, Key};
use oarlock_service_kit::CRYPTOSERVER_HOLDER;
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::table::count;
use oarlock_wire::proto::{self, open_key, request, response};
use oarlock_wire::{ConnectObserver, LinkTransport, RemoteConfig, RemoteHolder, ServerLink, jobs};
use zeroize::Zeroizing;

use super::args::{CallArgs, ServerArgs};
use super::{CallCommand, CallError, read};

/// The servers that answer.
pub(super) enum CallPeers {
    One(Box<ServerLink>),
    Several { remote: RemoteHolder, client: Box<Accelerator> },
}

impl CallPeers {
    pub(super) async fn connect(global: &GlobalOptions, args: &CallArgs) -> Result<Self, CallError> {
        let endpoint = args.server.endpoint()?;
        global.note(|| format!("calling {endpoint}"));
        if !args.servers.are_several() {
            let link = ServerLink::open(&endpoint).await?;
            global.note(|| connected_note(&endpoint.to_string(), link.transport()));
            return Ok(Self::One(Box::new(link)));
        }
        let mut servers = vec![endpoint];
        for address in &args.servers.also {
            servers.push(args.server.at(address)?);
        }
        let mut config = RemoteConfig::new("servers", servers);
        config.agreement = args.servers.agree.map_or(1, usize::from);
        config.threshold_keys = threshold_keys(args)?;
        config.observer = connect_observer(global);
        // Here only the answers of servers are checked, for which the scalar engine is enough.
        let builder = || global.builder().engines(["scalar"]).lazy();
        let remote = RemoteHolder::new(config, builder().build()?)?;
        let client = Box::new(builder().holder(Arc::new(remote.clone())).build()?);
        Ok(Self::Several { remote, client })
    }

    /// Returns the server, if there is only one.
    pub(super) fn one(&self) -> Result<&ServerLink, CallError> {
        match self {
            Self::One(link) => Ok(link),
            Self::Several { .. } => Err(CallError::Usage(
                "this command asks one server: --also, --agree and --threshold-key are not allowed",
            )),
        }
    }

    pub(super) async fn open(&self, source: open_key::Source) -> Result<Key, CallError> {
        let link = match (self, &source) {
            (Self::Several { remote, .. }, open_key::Source::Resident(name)) => return Ok(remote.key(name)?),
            (Self::Several { .. }, _) => {
                return Err(CallError::Usage("--own-key works with one server only: expected --key"));
            }
            (Self::One(link), _) => link,
        };
        let name = match &source {
            open_key::Source::Resident(name) => name.clone(),
            _ => "the key".to_owned(),
        };
        let body =
            request::Body::OpenKey(proto::OpenKey { handle: 0, source: Some(source), ..Default::default() });
        let response::Body::Key(info) = link.call(body).await? else { return Err(CallError::Unexpected) };
        if info.share_index != 0 {
            return Err(CallError::Usage(
                "the server has a share of this key: expected --threshold-key and --also",
            ));
        }
        if info.public_key.is_empty() {
            return Err(CallError::NoPublicKey { name });
        }
        Ok(import::spki_der(&info.public_key)?)
    }

    pub(super) async fn job(&self, job: Job<'_>) -> Result<Zeroizing<Vec<u8>>, CallError> {
        let link = match self {
            Self::One(link) => link,
            Self::Several { client, .. } => {
                let answer = client.run_all(&[job]).get(0).map(<[u8]>::to_vec);
                return Ok(Zeroizing::new(answer.map_err(CallError::Job)?));
            }
        };
        let message = jobs::write([(job, 0)].into_iter()).map_err(CallError::Wire)?;
        let response::Body::Results(results) = link.call(request::Body::Jobs(message)).await? else {
            return Err(CallError::Unexpected);
        };
        let columns = jobs::ResultColumns::read(&results, 1).map_err(CallError::Wire)?;
        let answer = columns.iter("the server").next().ok_or(CallError::Unexpected)?;
        Ok(Zeroizing::new(answer.map_err(CallError::Job)?.to_vec()))
    }

    /// Prints the servers that failed or answered wrongly, and with `--verbose` the results of all of them.
    pub(super) fn report(&self, global: &GlobalOptions) {
        let Self::Several { remote, .. } = self else { return };
        for report in remote.servers() {
            if report.wrong > 0 {
                eprintln!("oarlock: {} answered wrongly", report.address);
            } else if report.failures > 0 {
                eprintln!("oarlock: {} did not answer", report.address);
            } else {
                global
                    .note(|| format!("{} answered {}", report.address, count(report.answered, "operation")));
            }
        }
    }
}

/// The time to wait for a batch, such as the signatures of a zone or a chunk of rows.
const PATIENCE: Duration = Duration::from_secs(30);

/// Returns a server as a holder of keys, [`CRYPTOSERVER_HOLDER`]. It connects when it is needed.
pub(crate) fn server_holder(
    server: &ServerArgs,
    observer: Option<ConnectObserver>,
) -> Result<RemoteHolder, CallError> {
    let mut config = RemoteConfig::new(CRYPTOSERVER_HOLDER, vec![server.endpoint()?]);
    config.patience = PATIENCE;
    config.observer = observer;
    let checker = Accelerator::builder().environment(true).cost_cache(oarlock::default_cost_cache());
    Ok(RemoteHolder::new(config, checker.lazy().build()?)?)
}

/// Returns a function that prints with `--verbose` the way of the requests to each server.
pub(crate) fn connect_observer(global: &GlobalOptions) -> Option<ConnectObserver> {
    let print = |address: &str, transport: &LinkTransport| {
        eprintln!("oarlock: {}", connected_note(address, transport));
    };
    global.verbose.then(|| ConnectObserver::new(print))
}

fn connected_note(address: &str, transport: &LinkTransport) -> String {
    format!("requests to {address} go through {transport}")
}

/// Returns the threshold key under the name of the request.
fn threshold_keys(args: &CallArgs) -> Result<HashMap<String, ThresholdKey>, CallError> {
    let Some(path) = &args.servers.threshold_key else { return Ok(HashMap::new()) };
    let CallCommand::Sign(sign) = &args.command else {
        return Err(CallError::Usage("--threshold-key is for sign"));
    };
    let name = sign.key.key.clone().ok_or(CallError::Usage("--threshold-key: expected --key"))?;
    Ok([(name, ThresholdKey::from_pem(&read(path)?)?)].into())
}
