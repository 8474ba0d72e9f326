//! `oarlock load`: the server that the load is put on.

use std::path::Path;

use clap::Args;
use oarlock_measure::load::{self, LoadArgs, LoadedServer, ServerFiles};
use oarlock_server::development::Development;
use oarlock_terminal::{Failure, GlobalOptions};

use crate::call::ServerArgs;

/// Arguments of `oarlock load`.
#[derive(Args, Debug)]
#[command(after_help = "Examples: oarlock load --spawn --seconds 2\n          \
                  oarlock load --server https://crypto.example.com:7443 --op p256-sign --clients 8,64\n\n\
                  Each combination of --op, --by, --keys-at, --clients, --in-flight and --batch is a row. Keys come with each \
                  client's stream unless --keys-at says otherwise, so any server will do that lets clients bring keys; \"null\" \
                  asks for the server's null key (engines.null_key), which shows what the service costs without cryptography.\n\
                  \"encrypt-call\" makes calls of gRPC that encrypt --batch values under the resident key aes128, and \"empty-call\" \
                  calls of the same connection to the health service, which compute nothing; \"of empty call\" is the CPU time of \
                  a call divided by that of an empty one in the same turn: the median of all turns, the least and the most.\n\
                  The server's CPU time per operation is what it says of itself, all its threads together.")]
pub(crate) struct LoadCommand {
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    load: LoadArgs,
}

pub(crate) fn run(global: &GlobalOptions, args: &LoadCommand) -> Result<(), Failure> {
    oarlock_service_kit::raise_open_files();
    let failed = Failure::in_command("load");
    if args.load.spawn {
        return load::run(global, &args.load, &LoadedServer::Spawned(&prepare)).map_err(failed);
    }
    let endpoint = args.server.endpoint().map_err(Failure::in_command("load"))?;
    load::run(global, &args.load, &LoadedServer::At(&endpoint)).map_err(failed)
}

/// Makes the keys and certificates of a server in a directory.
fn prepare(directory: &Path) -> Result<ServerFiles, String> {
    let development = Development::at(directory);
    development.prepare().map_err(|error| error.to_string())?;
    Ok(ServerFiles {
        config: development.config(),
        keys: development.keys(),
        socket: development.socket(),
        ca: development.ca(),
        client_certificate: development.client_certificate(),
        client_key: development.client_key(),
    })
}
