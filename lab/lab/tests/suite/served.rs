//! A cryptoserver in a separate process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use oarlock_server::development::Development;

use crate::printed::announcement;
use crate::program::oarlock;

/// A cryptoserver in a separate process.
pub(crate) struct Served {
    child: Child,
    state: PathBuf,
}

impl Served {
    /// Starts a server with a development set-up. The system chooses its TCP port.
    pub(crate) fn start(state: &Path) -> Self {
        Development::at(state).prepare().unwrap();
        let path = Development::at(state).config();
        let text = fs::read_to_string(&path).unwrap();
        let text = text.replace("127.0.0.1:7443", "127.0.0.1:0").replace("127.0.0.1:9091", "127.0.0.1:0");
        fs::write(&path, text).unwrap();
        let mut command = oarlock(&["--json", "serve", "--log", "json", "--state"]);
        command.arg(state).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        announcement(&mut child);
        Self { child, state: state.to_owned() }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.state.join("oarlock.sock")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
