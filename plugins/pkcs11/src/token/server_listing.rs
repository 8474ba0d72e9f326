//! The list of a cryptoserver's keys.

use std::time::Duration;
use std::{io, thread};

use oarlock_wire::proto::{KeyInfo, ListKeysRequest, request, response};
use oarlock_wire::{ConnectError, Endpoint, LinkError, ServerLink};

/// The reason why there is no list.
#[derive(Debug, thiserror::Error)]
pub(super) enum ListingFault {
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error(transparent)]
    Link(#[from] LinkError),
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    #[error("cannot start a thread for the network: {0}")]
    Runtime(#[from] io::Error),
}

/// Asks a server for the keys that this process may use. Connects for this question only, so that nothing is left for a
/// forked child to share.
pub(super) fn list_keys(endpoint: &Endpoint, patience: Duration) -> Result<Vec<KeyInfo>, ListingFault> {
    // A thread of its own, because the caller's thread may belong to a runtime, in which `block_on` panics.
    thread::scope(|scope| {
        let asking =
            thread::Builder::new().spawn_scoped(scope, || list_on_this_thread(endpoint, patience))?;
        asking.join().unwrap_or_else(|_| Err(io::Error::other("the request panicked").into()))
    })
}

fn list_on_this_thread(endpoint: &Endpoint, patience: Duration) -> Result<Vec<KeyInfo>, ListingFault> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let asked = async {
            let link = ServerLink::open(endpoint).await?;
            match link.call(request::Body::ListKeys(ListKeysRequest {})).await? {
                response::Body::Keys(list) => Ok(list.keys),
                _ => Err(LinkError::Unexpected("a list of keys").into()),
            }
        };
        tokio::time::timeout(patience, asked).await.unwrap_or(Err(ListingFault::TimedOut(patience)))
    })
}
