//! The text format of Prometheus, version 0.0.4.

use std::fmt::{Display, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use oarlock::metrics::Histogram;

/// The content type of a response.
pub(super) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The names and values of labels.
pub type MetricLabels<'a> = &'a [(&'a str, &'a str)];

/// A page of metrics under construction.
#[derive(Debug, Default)]
pub struct MetricsText(String);

/// Returns the value of a counter.
pub fn read_counter(counter: &AtomicU64) -> u64 {
    // Relaxed: a counter orders no other memory, and a scrape may miss the newest additions.
    counter.load(Ordering::Relaxed)
}

/// The buckets of a histogram, and the unit of its values.
#[derive(Clone, Copy, Debug)]
pub struct HistogramScale {
    min: u64,
    max: u64,
    unit: f64,
}

impl HistogramScale {
    /// A scale for nanoseconds, shown in seconds, from a microsecond to seventeen seconds.
    pub const SECONDS: Self = Self { min: 1 << 10, max: 1 << 34, unit: 1e-9 };
    /// A scale for counts.
    pub const NUMBER: Self = Self { min: 1, max: 1 << 17, unit: 1.0 };
}

impl MetricsText {
    /// Begins the page of a service, which is called `name` in the texts.
    #[must_use]
    pub fn of_service(name: &str, is_draining: bool) -> Self {
        let mut text = Self::default();
        text.gauge("oarlock_build_info", "1, with the version as a label.");
        text.sample("oarlock_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
        let help = format!("1 while the {name} stops, else 0.");
        text.value("oarlock_draining", &help, u8::from(is_draining));
        text
    }

    /// Begins a metric that only grows. Its samples follow.
    pub fn counter(&mut self, name: &str, help: &str) {
        self.begin(name, "counter", help);
    }

    /// Begins a metric that rises and falls.
    pub fn gauge(&mut self, name: &str, help: &str) {
        self.begin(name, "gauge", help);
    }

    /// Begins a histogram.
    pub fn histogram(&mut self, name: &str, help: &str) {
        self.begin(name, "histogram", help);
    }

    /// Appends a metric that only grows and has one value.
    pub fn total(&mut self, name: &str, help: &str, value: impl Display) {
        self.counter(name, help);
        self.sample(name, &[], value);
    }

    /// Appends a metric that only grows, with a value for each value of a label.
    pub fn totals<L: AsRef<str>, V: Display>(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        values: impl IntoIterator<Item = (L, V)>,
    ) {
        self.counter(name, help);
        for (labelled, value) in values {
            self.sample(name, &[(label, labelled.as_ref())], value);
        }
    }

    /// Appends a metric that rises and falls and has one value.
    pub fn value(&mut self, name: &str, help: &str, value: impl Display) {
        self.gauge(name, help);
        self.sample(name, &[], value);
    }

    fn begin(&mut self, name: &str, kind: &str, help: &str) {
        self.line(format_args!("# HELP {name} {help}\n# TYPE {name} {kind}"));
    }

    /// Appends a value of the metric that was begun last.
    pub fn sample(&mut self, name: &str, labels: MetricLabels<'_>, value: impl Display) {
        self.line(format_args!("{name}{} {value}", braces(labels)));
    }

    /// Appends all samples of a histogram.
    pub fn samples(
        &mut self,
        name: &str,
        labels: MetricLabels<'_>,
        histogram: &Histogram,
        scale: HistogramScale,
    ) {
        let bucket = format!("{name}_bucket");
        let shown = histogram.cumulative().filter(|(bound, _)| (scale.min..=scale.max).contains(bound));
        for (bound, below) in shown {
            let bound = (bound as f64 * scale.unit).to_string();
            self.sample(&bucket, &[labels, &[("le", &*bound)]].concat(), below);
        }
        self.sample(&bucket, &[labels, &[("le", "+Inf")]].concat(), histogram.count());
        self.sample(&format!("{name}_sum"), labels, histogram.sum() as f64 * scale.unit);
        self.sample(&format!("{name}_count"), labels, histogram.count());
    }

    /// Returns the page.
    #[must_use]
    pub fn finish(self) -> String {
        self.0
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.0.write_fmt(line);
        self.0.push('\n');
    }
}

fn braces(labels: MetricLabels<'_>) -> String {
    if labels.is_empty() {
        return String::new();
    }
    let pairs: Vec<_> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
    format!("{{{}}}", pairs.join(","))
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use oarlock::metrics::Recorder;

    use super::*;

    #[test]
    fn escapes_the_values_of_labels() {
        let mut text = MetricsText::default();
        text.gauge("keys", "Keys.");
        text.sample("keys", &[("name", "a\"b\\c\nd"), ("kind", "rsa")], 7);
        let expected =
            "# HELP keys Keys.\n# TYPE keys gauge\nkeys{name=\"a\\\"b\\\\c\\nd\",kind=\"rsa\"} 7\n";
        assert_eq!(text.finish(), expected);
    }

    #[test]
    fn histograms_show_the_count_of_each_bound() {
        let recorder = Recorder::default();
        [1, 3, 4, 1 << 20].into_iter().for_each(|value| recorder.record(value));
        let mut text = MetricsText::default();
        let scale = HistogramScale { min: 2, max: 4, unit: 1e-9 };
        text.samples("wait_seconds", &[("shape", "x")], &recorder.read(), scale);
        let expected = "wait_seconds_bucket{shape=\"x\",le=\"0.000000002\"} 1\n\
                        wait_seconds_bucket{shape=\"x\",le=\"0.000000004\"} 3\n\
                        wait_seconds_bucket{shape=\"x\",le=\"+Inf\"} 4\n\
                        wait_seconds_sum{shape=\"x\"} 0.001048584\n\
                        wait_seconds_count{shape=\"x\"} 4\n";
        assert_eq!(text.finish(), expected);
    }
}
