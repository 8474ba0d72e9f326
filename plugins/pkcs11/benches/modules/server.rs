//! Many processes whose module has the keys of one cryptoserver, beside `oarlock load` at the same server.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use oarlock::keys::{export, generate};

use crate::args::BenchArgs;
use crate::meter::{Turn, TurnLength};
use crate::plan::BenchRow;
use crate::process::{ContenderKind, Request, WorkerProcess};
use crate::report::RowResult;

const PROCESSES: usize = 8;

/// Measures the server's CPU time per operation: for the processes, and for `oarlock load`, in turns.
pub(crate) fn measure(row: &'static BenchRow, args: &BenchArgs, parent: &Path) -> Vec<RowResult> {
    let Some(program) = &args.program else {
        eprintln!("SKIPPED: {} needs --program", row.name);
        return Vec::new();
    };
    let directory = parent.join("server");
    let server = BenchServer::start(program, &directory);
    let module = ContenderKind::Module { path: args.own_module(), is_own: true };
    let mut processes: Vec<_> =
        (0..PROCESSES).map(|_| WorkerProcess::start(module.command(&directory))).collect();
    for process in &mut processes {
        process.ask(&Request::Open);
    }
    let (mut oarlock, mut peer) = (Vec::new(), Vec::new());
    for _ in 0..args.turns {
        oarlock.push(run_processes(row, args, &server, &mut processes));
        peer.push(server.run_load(program, row.threads, args.seconds));
    }
    processes.into_iter().for_each(WorkerProcess::end);
    vec![
        RowResult::of_server(row, &format!("{PROCESSES} processes"), oarlock),
        RowResult::of_server(row, "oarlock load", peer),
    ]
}

/// Lets all processes sign. The turn has the CPU time of the server from the first operation to the last.
fn run_processes(
    row: &BenchRow,
    args: &BenchArgs,
    server: &BenchServer,
    processes: &mut [WorkerProcess],
) -> Turn {
    let before = server.cpu_s();
    for process in &mut *processes {
        // Without a warm-up: the server's CPU time is that of all operations.
        let length = TurnLength { warm_up_s: 0.0, counted_s: args.seconds };
        process.send(&Request::Run { row: row.name.into(), threads: row.threads, length });
    }
    let turns: Vec<Turn> = processes.iter_mut().map(WorkerProcess::answer).collect();
    Turn {
        operations: turns.iter().map(|turn| turn.operations).sum(),
        cpu_s: server.cpu_s() - before,
        wall_s: turns.iter().map(|turn| turn.wall_s).fold(0.0, f64::max),
    }
}

/// A cryptoserver with an RSA key, at a UNIX socket.
struct BenchServer {
    child: Child,
    socket: String,
}

impl BenchServer {
    fn start(program: &Path, directory: &Path) -> Self {
        fs::create_dir_all(directory.join("keys")).unwrap();
        let key = directory.join("keys/rsa.pem");
        fs::write(&key, export::private_pkcs8_pem(&generate::rsa(2048).unwrap()).unwrap().as_bytes())
            .unwrap();
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
        let settings = "listen.unix = \"oarlock.sock\"\nkeys.directory = \"keys\"\n\
                        limits.may_bring_keys = true\n[[grant]]\nkeys = [\"*\"]\nclients = [\"*\"]\n";
        fs::write(directory.join("oarlock.toml"), settings).unwrap();
        let socket = directory.join("oarlock.sock").display().to_string();
        let slot = format!("[[slot]]\nkind = \"server\"\naddress = \"{socket}\"\n");
        fs::write(directory.join("pkcs11.toml"), slot).unwrap();
        let mut command = Command::new(program);
        command.args(["serve", "--config"]).arg(directory.join("oarlock.toml"));
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Self { child, socket }
    }

    /// Returns the CPU time of the server: fields 14 and 15 of proc_pid_stat(5), in ticks of a hundredth of a second.
    fn cpu_s(&self) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let (_, behind_name) = stat.rsplit_once(')').unwrap();
        let ticks =
            behind_name.split_whitespace().skip(11).take(2).map(|field| field.parse::<u64>().unwrap());
        ticks.sum::<u64>() as f64 / rustix::param::clock_ticks_per_second() as f64
    }

    fn run_load(&self, program: &Path, batch: usize, seconds: f64) -> Turn {
        let mut command = Command::new(program);
        command.args([
            "load",
            "--json",
            "--server",
            &self.socket,
            "--op",
            "rsa2048-sign",
            "--in-flight",
            "1",
        ]);
        command.args(["--clients", &PROCESSES.to_string(), "--batch", &batch.to_string()]);
        let output = command.args(["--seconds", &seconds.to_string()]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let rows: serde_json::Value = serde_json::from_str(&text)
            .unwrap_or_else(|_| panic!("oarlock load: {}", String::from_utf8_lossy(&output.stderr)));
        let number = |name: &str| rows[0][name].as_f64().unwrap_or_else(|| panic!("no {name} in {text}"));
        let operations = number("operations");
        Turn {
            operations: operations as u64,
            cpu_s: number("server_cpu_us_per_op") * operations / 1e6,
            wall_s: operations / number("rate_per_s"),
        }
    }
}

impl Drop for BenchServer {
    fn drop(&mut self) {
        // A server that has ended by itself has been noticed before.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
