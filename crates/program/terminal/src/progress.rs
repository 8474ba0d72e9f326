//! Progress of long work on stderr: a bar on a terminal, a line every ten seconds elsewhere.
//! `OARLOCK_PROGRESS_SECONDS` sets another time between lines; 0 stands for no lines.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{
    BinaryBytes, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle,
    WeakProgressBar,
};

/// The default time between two lines if stderr is not a terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);
/// The environment variable that sets another time, in seconds.
const EVERY_VARIABLE: &str = "OARLOCK_PROGRESS_SECONDS";
/// The shortest time between two lines, so that a small number does not fill a log.
const MIN_LINE_EVERY: Duration = Duration::from_millis(50);
/// The time between two pictures of a bar.
const TICK: Duration = Duration::from_millis(250);

/// Makes a bar with a template of `indicatif`, for example with `{pos}`, `{len}` and `{msg}`. It has `len` steps or
/// bytes. The key `{left}` shows the remaining time once it is known.
pub fn bar(len: u64, template: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(len), ProgressDrawTarget::hidden());
    if std::io::stderr().is_terminal() {
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let left = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            // A writer in memory does not fail.
            let _ = out.write_str(&left(state.pos(), state.len().unwrap_or(0), state.eta()));
        };
        bar.set_draw_target(ProgressDrawTarget::stderr());
        let bar = bar.with_style(style.with_key("left", left));
        bar.enable_steady_tick(TICK);
        return bar;
    }
    if let Some(every) = line_every(std::env::var(EVERY_VARIABLE).ok().as_deref()) {
        report_lines(bar.downgrade(), template.to_owned(), every, std::io::stderr());
    }
    bar
}

/// Returns the time between two lines: that of the environment, else ten seconds. None if no lines are wanted.
fn line_every(stated: Option<&str>) -> Option<Duration> {
    let seconds = stated.and_then(|text| text.parse::<f64>().ok());
    match seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        Some(Duration::ZERO) => None,
        Some(every) => Some(every.max(MIN_LINE_EVERY)),
        None => Some(LINE_EVERY),
    }
}

/// Writes a line at intervals while the bar exists and is not finished.
fn report_lines(
    bar: WeakProgressBar,
    template: String,
    every: Duration,
    mut out: impl Write + Send + 'static,
) {
    let report = move || {
        loop {
            wait(every);
            let Some(bar) = bar.upgrade().filter(|bar| !bar.is_finished()) else { return };
            if writeln!(out, "oarlock: {}", line(&bar, &template)).is_err() {
                return;
            }
        }
    };
    // Without a thread there are no lines: the work does not depend on them.
    let _ = std::thread::Builder::new().name("progress".into()).spawn(report);
}

/// Waits for a time. A parked thread may wake before the time has passed, so it is parked again.
fn wait(every: Duration) {
    let due = Instant::now() + every;
    loop {
        match due.saturating_duration_since(Instant::now()) {
            Duration::ZERO => return,
            left => std::thread::park_timeout(left),
        }
    }
}

/// The text of a bar's template without the bar itself.
fn line(bar: &ProgressBar, template: &str) -> String {
    let (pos, len) = (bar.position(), bar.length().unwrap_or(0));
    let mut text = String::new();
    for part in template.split_inclusive('}') {
        let (before, key) = part.split_once('{').unwrap_or((part, ""));
        text += before;
        let key = key.trim_end_matches('}').split(':').next().unwrap_or_default();
        // Writing into a string does not fail.
        let _ = match key {
            "pos" => write!(text, "{pos}"),
            "len" => write!(text, "{len}"),
            "msg" | "wide_msg" => write!(text, "{}", bar.message()),
            "bytes" => write!(text, "{}", BinaryBytes(pos)),
            "total_bytes" => write!(text, "{}", BinaryBytes(len)),
            "bytes_per_sec" => write!(text, "{}/s", BinaryBytes(bar.per_sec() as u64)),
            "percent" => write!(text, "{}", pos * 100 / len.max(1)),
            "left" => write!(text, "{}", left(pos, len, bar.eta())),
            _ => Ok(()),
        };
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the remaining time with a comma before it, or nothing while it is unknown.
fn left(pos: u64, len: u64, eta: Duration) -> String {
    if pos == 0 || pos >= len || eta.is_zero() {
        String::new()
    } else {
        format!(", {} left", HumanDuration(eta))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_line_shows_the_same_numbers_as_the_bar() {
        let bar = ProgressBar::hidden();
        bar.set_length(48);
        bar.set_message("p256-sign");
        bar.set_position(12);
        let template = "{msg:24} {wide_bar} {pos}/{len} rows, {percent:>3} %";
        assert_eq!(line(&bar, template), "p256-sign 12/48 rows, 25 %");
        bar.set_position(1 << 5);
        bar.set_length(1 << 20);
        assert!(line(&bar, "{wide_bar} {bytes} of {total_bytes}{left}").starts_with("32 B of 1.00 MiB"));
    }

    #[test]
    fn an_unknown_remaining_time_is_not_shown() {
        let minute = Duration::from_secs(60);
        assert_eq!(left(0, 100, Duration::ZERO), "");
        assert_eq!(left(0, 100, minute), "");
        assert_eq!(left(100, 100, minute), "");
        let known = left(50, 100, minute);
        assert!(known.starts_with(", ") && known.ends_with(" left"), "{known}");
    }

    #[test]
    fn the_environment_states_the_time_between_lines() {
        let second = Some(Duration::from_secs(1));
        assert_eq!([Some("1"), Some("1.0")].map(line_every), [second; 2]);
        assert_eq!([Some("0"), Some("0.0")].map(line_every), [None; 2]);
        assert_eq!(line_every(Some("1e-9")), Some(MIN_LINE_EVERY));
        assert_eq!(
            [None, Some(""), Some("-1"), Some("NaN"), Some("often")].map(line_every),
            [Some(LINE_EVERY); 5]
        );
    }

    /// Hands over each line that is written.
    struct Lines(mpsc::Sender<String>, Vec<u8>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.1.extend_from_slice(bytes);
            if self.1.ends_with(b"\n") {
                let line = String::from_utf8(std::mem::take(&mut self.1)).map_err(std::io::Error::other)?;
                self.0.send(line).map_err(std::io::Error::other)?;
            }
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_are_written_until_the_bar_is_dropped() {
        let (sender, lines) = mpsc::channel();
        let bar = ProgressBar::hidden();
        bar.set_length(2);
        bar.inc(1);
        let template = "{wide_bar} {pos}/{len} rounds".to_owned();
        report_lines(bar.downgrade(), template, Duration::from_millis(1), Lines(sender, Vec::new()));
        for _ in 0..2 {
            assert_eq!(lines.recv().unwrap(), "oarlock: 1/2 rounds\n");
        }
        drop(bar);
        // Ends because the reporter drops its end.
        while lines.recv().is_ok() {}
    }
}
