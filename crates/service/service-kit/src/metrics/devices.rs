//! The metrics of devices that hold keys, for every service.

use oarlock_hsm::{DeviceReport, HsmReport, HsmSet, HsmState};

use super::text::MetricsText;

/// A metric of a report: its name, its help and its value.
type ReportValue<R, V> = (&'static str, &'static str, fn(&R) -> V);

/// Appends the state and the counters of each device.
pub fn append_device_metrics(text: &mut MetricsText, devices: &HsmSet) {
    let reports = devices.report();
    let gauges: [ReportValue<DeviceReport, f64>; 6] = [
        ("oarlock_hsm_available", "1 while the device is connected.", |report| {
            f64::from(u8::from(report.sessions.state == HsmState::Ready))
        }),
        ("oarlock_hsm_distrusted", "1 while the device gets no jobs because a result was wrong.", |report| {
            f64::from(u8::from(report.is_distrusted))
        }),
        ("oarlock_hsm_sessions", "Sessions of the device.", |report| report.sessions.sessions as f64),
        ("oarlock_hsm_jobs_waiting", "Jobs of the device without an answer.", |report| report.waiting as f64),
        ("oarlock_hsm_calls_hanging", "Calls that hang in the module.", |report| {
            report.sessions.hanging as f64
        }),
        (
            "oarlock_hsm_job_seconds",
            "The measured time of a job beside others; 0 before the first.",
            |report| report.job_ns.unwrap_or_default() as f64 * 1e-9,
        ),
    ];
    for (name, help, value) in gauges {
        text.gauge(name, help);
        reports.iter().for_each(|report| text.sample(name, &[("device", &report.name)], value(report)));
    }
    let name = "oarlock_hsm_differences_total";
    text.counter(name, "Results that another computer of the same key did not confirm.");
    reports.iter().for_each(|report| text.sample(name, &[("device", &report.name)], report.differences));
    let counters: [ReportValue<HsmReport, u64>; 7] = [
        ("oarlock_hsm_answered_total", "Jobs and questions that the device answered.", |report| {
            report.answered
        }),
        ("oarlock_hsm_failed_total", "Jobs and questions that failed or were refused.", |report| {
            report.failed
        }),
        ("oarlock_hsm_wrong_total", "Answers that were wrong.", |report| report.wrong),
        ("oarlock_hsm_abandoned_total", "Calls that were abandoned after the patience.", |report| {
            report.abandoned
        }),
        ("oarlock_hsm_repaired_total", "Sessions and logins that were repaired.", |report| report.repaired),
        ("oarlock_hsm_connected_total", "Connections to the token.", |report| report.connected),
        ("oarlock_hsm_restarts_total", "Processes of the module that have ended.", |report| report.restarts),
    ];
    for (name, help, value) in counters {
        text.counter(name, help);
        for report in &reports {
            text.sample(name, &[("device", &report.name)], value(&report.sessions));
        }
    }
}
