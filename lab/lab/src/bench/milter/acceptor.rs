//! A filter that has everything sent to it and accepts it: what MTA, sockets and sessions cost by themselves.

use std::sync::mpsc;
use std::thread;

use oarlock_measure::cores::DividedCores;
use oarlock_milter::protocol::{Actions, Steps};
use oarlock_milter::{
    FilterFactory, FilterWants, MessageFilter, MilterServer, MilterSettings, MilterSocket, MtaSocket,
};
use tokio::sync::oneshot;

use super::super::BenchError;
use super::filters::ANY_PORT;

/// A filter on a thread of its own. It ends when it is dropped.
pub(super) struct AcceptingServer {
    pub(super) socket: MilterSocket,
    _stop: oneshot::Sender<()>,
}

impl AcceptingServer {
    /// Starts a filter on the servers' core.
    pub(super) fn start(cores: &DividedCores) -> Result<Self, BenchError> {
        let (sender, receiver) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        // A thread stays on the core that it is started on.
        let visit = cores.visit();
        thread::spawn(move || serve(&sender, stopped));
        drop(visit);
        let bound = receiver.recv().unwrap_or_else(|_| Err("its thread has ended".to_owned()));
        let socket = bound.map_err(|error| BenchError::Clients(std::io::Error::other(error)))?;
        Ok(Self { socket, _stop: stop })
    }
}

/// Serves until `stopped` is ready or its sender is gone. The socket, or the reason why there is none, goes to
/// `sender`.
fn serve(sender: &mpsc::Sender<Result<MilterSocket, String>>, stopped: oneshot::Receiver<()>) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return drop(sender.send(Err(error.to_string()))),
    };
    runtime.block_on(async {
        let bound = match ANY_PORT.parse() {
            Ok(socket) => MilterServer::bind(&[socket], AcceptingFilters, MilterSettings::default()).await,
            Err(error) => return drop(sender.send(Err(format!("{error}")))),
        };
        match bound {
            Ok(server) => {
                drop(sender.send(Ok(server.sockets().remove(0))));
                server.run(async { drop(stopped.await) }).await;
            }
            Err(error) => drop(sender.send(Err(error.to_string()))),
        }
    });
}

/// Filters that accept everything.
pub(crate) struct AcceptingFilters;
pub(crate) struct AcceptingFilter;

impl FilterFactory for AcceptingFilters {
    type Filter = AcceptingFilter;

    fn filter(&self, _: MtaSocket) -> AcceptingFilter {
        AcceptingFilter
    }

    fn wants(&self) -> FilterWants {
        // The same steps as the filter that is measured asks for, so that MTAs send the same to both.
        let steps = Steps::NO_HELO
            | Steps::NO_RECIPIENT
            | Steps::NO_DATA
            | Steps::NO_UNKNOWN
            | Steps::NO_REPLY_CONNECT
            | Steps::NO_REPLY_MAIL
            | Steps::NO_REPLY_HEADER
            | Steps::LEADING_SPACE;
        FilterWants { actions: Actions::NONE, steps, macros: Vec::new() }
    }
}

impl MessageFilter for AcceptingFilter {}
