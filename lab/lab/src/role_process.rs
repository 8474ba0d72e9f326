//! Processes of a measurement, each on a core of its own.
//!
//! A process is this program in a role. Its first line on stdout states its address. Then it answers each line on
//! stdin with the CPU time that it has used, in microseconds. It ends when stdin ends, so it never outlives its
//! parent.

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use cpu_time::ProcessTime;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// A process of a measurement.
#[derive(Debug)]
pub(crate) struct BenchProcess {
    child: Child,
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    /// The first line on stdout.
    pub(crate) said: serde_json::Value,
}

impl BenchProcess {
    /// Starts this program with these arguments on one core, and waits for its address.
    pub(crate) fn start(arguments: &[String], core: Option<usize>) -> io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(arguments);
        if let Some(core) = core {
            command.args(["--core".to_owned(), core.to_string()]);
        }
        Self::start_command(command)
    }

    /// Starts a program on any core with a limit of open files, and waits for its address.
    pub(crate) fn start_program(
        program: &Path,
        arguments: &[String],
        open_files: Option<u32>,
    ) -> io::Result<Self> {
        let Some(files) = open_files else {
            let mut command = Command::new(program);
            command.args(arguments).stderr(Stdio::null());
            return Self::start_command(command);
        };
        // `setrlimit` between fork and exec would need unsafe code. The shell sets the limit and becomes the program.
        let mut command = Command::new("sh");
        let limit = format!("ulimit -n {files} && exec \"$0\" \"$@\"");
        command.arg("-c").arg(limit).arg(program).args(arguments).stderr(Stdio::null());
        Self::start_command(command)
    }

    /// Fails if the process has ended.
    pub(crate) fn check_alive(&mut self) -> io::Result<()> {
        match self.child.try_wait()? {
            None => Ok(()),
            Some(status) => Err(io::Error::other(format!("it has ended: {status}"))),
        }
    }

    fn start_command(mut command: Command) -> io::Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let questions = child.stdin.take();
        let Some(answers) = child.stdout.take() else { return Err(io::Error::other("it has no stdout")) };
        // Made before the first line is read: if there is none, the drop ends the child.
        let mut process =
            Self { child, questions, answers: BufReader::new(answers), said: serde_json::Value::Null };
        let line = process.line()?;
        process.said = serde_json::from_str(&line)?;
        Ok(process)
    }

    /// Returns the number of the process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the CPU time of all its threads together.
    pub(crate) fn cpu(&mut self) -> io::Result<Duration> {
        if let Some(questions) = &mut self.questions {
            questions.write_all(b"\n")?;
            questions.flush()?;
        }
        let micros = self.line()?.trim().parse().map_err(io::Error::other)?;
        Ok(Duration::from_micros(micros))
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        match self.answers.read_line(&mut line)? {
            0 => Err(io::Error::other("the process has ended; its messages are above")),
            _ => Ok(line),
        }
    }
}

impl Drop for BenchProcess {
    fn drop(&mut self) {
        // Closed first: the child would otherwise wait for questions if the kill fails.
        self.questions = None;
        // It has no state to save. If it cannot be killed, it ends with stdin.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The child's side: prints the address, and answers on a thread of its own until stdin ends.
pub(crate) fn answer(said: &serde_json::Value) -> io::Result<()> {
    let mut out = io::stdout();
    writeln!(out, "{said}")?;
    out.flush()?;
    // A thread of its own, so that a question is answered while the server waits for connections. Its own CPU time is a
    // few microseconds for each question.
    std::thread::spawn(move || {
        for _ in io::stdin().lock().lines().map_while(Result::ok) {
            let used = ProcessTime::now().as_duration().as_micros();
            if writeln!(out, "{used}").and_then(|()| out.flush()).is_err() {
                break;
            }
        }
        // The end of stdin means that the parent is gone. A server would otherwise run for ever.
        std::process::exit(0);
    });
    Ok(())
}

/// The cores of a measurement: one for each server, the others for the load. With two cores the load shares that of
/// the second server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MeasuredCores {
    pub(crate) first: usize,
    pub(crate) second: usize,
}

impl MeasuredCores {
    /// Divides the cores that this process may use, and moves it off the servers' cores. None if there is only one.
    pub(crate) fn divide() -> io::Result<Option<Self>> {
        let all = sched_getaffinity(None)?;
        let mut each = (0..CpuSet::MAX_CPU).filter(|core| all.is_set(*core));
        let (Some(first), Some(second)) = (each.next(), each.next()) else { return Ok(None) };
        // The core of a server is not shared with the load: the load would count as the server's waiting time.
        let mut load = all;
        load.unset(first);
        if load.count() > 1 {
            load.unset(second);
        }
        sched_setaffinity(None, &load)?;
        Ok(Some(Self { first, second }))
    }
}

/// Binds this process and its future threads to a core.
pub(crate) fn stay_on(core: Option<usize>) -> io::Result<()> {
    let Some(core) = core else { return Ok(()) };
    // Threads inherit the set, so this runs before any thread starts.
    let mut set = CpuSet::new();
    set.set(core);
    Ok(sched_setaffinity(None, &set)?)
}
