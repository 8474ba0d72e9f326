//! CPU time and memory of processes, from `/proc`.

use std::fs;
use std::io;
use std::time::Duration;

use nix::time::ClockId;
use nix::unistd::Pid;

/// The numbers of a process in `/proc/PID/stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ProcessStat {
    parent: u32,
    /// The CPU time of all its threads and of its ended children, in clock ticks.
    ticks: u64,
    /// The CPU time of the ended children only.
    ended_ticks: u64,
}

/// Returns the CPU time of a process and of its children, ended ones included, in microseconds.
pub(crate) fn cpu_us(process: u32) -> io::Result<u64> {
    let mut ticks = stat(process)?.ticks;
    for child in children(process)? {
        ticks += stat(child)?.ticks;
    }
    Ok(microseconds(ticks))
}

/// Returns the CPU time of all threads of a process, ended ones included, to the nanosecond.
pub(crate) fn cpu_time(process: u32) -> io::Result<Duration> {
    let process = i32::try_from(process).map_err(io::Error::other)?;
    let clock = ClockId::pid_cpu_clock_id(Pid::from_raw(process))?;
    Ok(clock.now()?.into())
}

/// Returns the CPU time of this process's children that have ended and were waited for, in microseconds.
pub(crate) fn ended_children_us() -> io::Result<u64> {
    Ok(microseconds(stat(std::process::id())?.ended_ticks))
}

fn microseconds(ticks: u64) -> u64 {
    ticks * 1_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

/// Returns the proportional set size of a process and of its children, in KiB. Shared memory counts once.
pub(crate) fn memory_kib(process: u32) -> io::Result<u64> {
    let mut all = proportional(process)?;
    for child in children(process)? {
        // It may have ended meanwhile.
        all += proportional(child).unwrap_or_default();
    }
    Ok(all)
}

fn proportional(process: u32) -> io::Result<u64> {
    let path = format!("/proc/{process}/smaps_rollup");
    let text = fs::read_to_string(&path)?;
    let size =
        text.lines().find_map(|line| line.strip_prefix("Pss:")?.strip_suffix("kB")?.trim().parse().ok());
    size.ok_or_else(|| io::Error::other(format!("{path} has no Pss: {text}")))
}

/// Returns the numbers of a process's children.
pub(crate) fn children(process: u32) -> io::Result<Vec<u32>> {
    let mut children = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let Some(id) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        // Others come and go meanwhile.
        if stat(id).is_ok_and(|stat| stat.parent == process) {
            children.push(id);
        }
    }
    children.sort_unstable();
    Ok(children)
}

fn stat(process: u32) -> io::Result<ProcessStat> {
    let text = fs::read_to_string(format!("/proc/{process}/stat"))?;
    parse(&text).ok_or_else(|| io::Error::other(format!("/proc/{process}/stat is not understood: {text}")))
}

/// proc_pid_stat(5): ppid is field 4; utime, stime, cutime and cstime are fields 14 to 17.
fn parse(text: &str) -> Option<ProcessStat> {
    // The name may have spaces and brackets in it.
    let (_, behind_name) = text.rsplit_once(')')?;
    let fields: Vec<&str> = behind_name.split_whitespace().collect();
    let sum = |fields: &[&str]| fields.iter().map(|field| field.parse::<u64>()).sum::<Result<u64, _>>().ok();
    let (own_ticks, ended_ticks) = (sum(fields.get(11..13)?)?, sum(fields.get(13..15)?)?);
    Some(ProcessStat { parent: fields.get(1)?.parse().ok()?, ticks: own_ticks + ended_ticks, ended_ticks })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_the_times_behind_any_process_name() {
        let text = "7 (a) S 1 (b) S 42 7 7 0 -1 4194560 9 8 7 6 100 20 3 4 20 0 1 0 5 6 7";
        assert_eq!(parse(text), Some(ProcessStat { parent: 42, ticks: 127, ended_ticks: 7 }));
        assert_eq!(parse("7 (short) S 42 7"), None);
        assert_eq!(parse("nothing"), None);
    }

    #[test]
    fn this_process_is_its_parents_child() {
        let pid = std::process::id();
        let parent = stat(pid).unwrap().parent;
        assert!(children(parent).unwrap().contains(&pid));
        assert!(cpu_us(pid).is_ok());
        assert!(cpu_time(pid).unwrap() > Duration::ZERO);
        assert!(cpu_time(u32::MAX).is_err());
        assert!(memory_kib(pid).unwrap() > 100);
    }
}
