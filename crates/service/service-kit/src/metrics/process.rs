//! The metrics of a process, under the names that all Prometheus clients share.

use std::fs;

use super::text::MetricsText;

/// Appends the metrics of this process. Values that the system does not provide are omitted.
pub fn append_process_metrics(text: &mut MetricsText) {
    let page = rustix::param::page_size() as u64;
    let statm = read("/proc/self/statm");
    let pages = |index: usize| statm.split(' ').nth(index)?.trim().parse::<u64>().ok();
    let stat = StatFields::parse(&read("/proc/self/stat"));
    let start =
        stat.zip(boot_seconds(&read("/proc/stat"))).map(|(stat, boot)| boot as f64 + stat.start_seconds());
    let cpu = stat.map(|stat| stat.cpu_seconds());
    let bytes = |index| pages(index).map(|pages| pages * page);
    gauge(text, "process_virtual_memory_bytes", "Virtual memory in bytes.", bytes(0));
    gauge(text, "process_resident_memory_bytes", "Resident memory in bytes.", bytes(1));
    gauge(text, "process_open_fds", "Open file descriptors.", open_files());
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    gauge(text, "process_max_fds", "File descriptors that may be open.", limit);
    gauge(text, "process_threads", "Threads.", stat.map(|stat| stat.threads));
    gauge(text, "process_start_time_seconds", "Start of the process in seconds since 1970.", start);
    if let Some(cpu) = cpu {
        text.total("process_cpu_seconds_total", "Processor time of user and system in seconds.", cpu);
    }
}

fn gauge(text: &mut MetricsText, name: &str, help: &str, value: Option<impl std::fmt::Display>) {
    if let Some(value) = value {
        text.value(name, help, value);
    }
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn open_files() -> Option<usize> {
    // One descriptor belongs to the directory that is being read.
    Some(fs::read_dir("/proc/self/fd").ok()?.count().saturating_sub(1))
}

/// The fields of `/proc/self/stat`. proc(5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StatFields {
    cpu_ticks: u64,
    threads: u64,
    start_ticks: u64,
}

impl StatFields {
    fn parse(stat: &str) -> Option<Self> {
        // The name of the program is in parentheses and may contain any character, also `)`.
        let (_, rest) = stat.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split(' ').collect();
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        Some(Self { cpu_ticks: field(14)? + field(15)?, threads: field(20)?, start_ticks: field(22)? })
    }

    fn cpu_seconds(self) -> f64 {
        self.cpu_ticks as f64 / ticks_per_second()
    }

    fn start_seconds(self) -> f64 {
        self.start_ticks as f64 / ticks_per_second()
    }
}

fn ticks_per_second() -> f64 {
    rustix::param::clock_ticks_per_second() as f64
}

fn boot_seconds(stat: &str) -> Option<u64> {
    stat.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_after_the_name_of_the_program() {
        let stat = "17 (a (b) c) S 1 17 17 0 -1 4194560 1 0 0 0 250 50 0 0 20 0 9 0 12345 1 2 3";
        assert_eq!(
            StatFields::parse(stat),
            Some(StatFields { cpu_ticks: 300, threads: 9, start_ticks: 12345 })
        );
        assert_eq!(
            (StatFields::parse(""), boot_seconds("cpu 1\nbtime 1700000000\n")),
            (None, Some(1_700_000_000))
        );
    }

    #[test]
    fn appends_metrics_of_this_process() {
        let mut text = MetricsText::default();
        append_process_metrics(&mut text);
        let page = text.finish();
        for name in ["process_resident_memory_bytes", "process_open_fds", "process_start_time_seconds"] {
            let line = page.lines().find(|line| line.starts_with(&format!("{name} "))).unwrap();
            assert!(line.rsplit(' ').next().unwrap().parse::<f64>().unwrap() > 0.0, "{line}");
        }
    }
}
