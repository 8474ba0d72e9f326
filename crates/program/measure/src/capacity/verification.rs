//! The time of single verifications, for benches that compare it with whole validations.

use std::time::Duration;

use oarlock_terminal::GlobalOptions;

use super::CapacityError;
use super::args::MachineArgs;
use super::machine::{AlgorithmRate, MeasuredAlgorithm};
use super::measure::measure;

/// The time of a verification, in microseconds of CPU time.
#[derive(Clone, Debug, Default)]
pub struct VerificationTimes {
    /// The version of OpenSSL, and its time; None if it is not on this machine.
    pub openssl: Option<(String, f64)>,
    /// The time of the scalar engine, with a verification table if it keeps one; None if it is not allowed.
    pub scalar_us: Option<f64>,
}

/// The runs of each implementation.
const RUNS: u32 = 5;
const RUN_TIME: Duration = Duration::from_millis(100);

/// Measures verifications with an algorithm, one at a time, under keys that recur.
///
/// # Errors
/// An engine or the library fails, or no engine verifies with such keys.
pub fn measure_verification(
    global: &GlobalOptions,
    algorithm: MeasuredAlgorithm,
) -> Result<VerificationTimes, CapacityError> {
    let args = MachineArgs {
        algorithms: vec![algorithm],
        runs: RUNS,
        run_seconds: RUN_TIME,
        paper: false,
        libcrypto: Vec::new(),
        save: None,
        machine: None,
        against: None,
    };
    Ok(VerificationTimes::from_rates(&measure(global, &args)?.rates))
}

impl VerificationTimes {
    fn from_rates(rates: &[AlgorithmRate]) -> Self {
        let named = |name: &str| rates.iter().find(|rate| rate.implementation == name);
        let time_us = |rate: &AlgorithmRate| 1e6 / rate.mean_per_s;
        let openssl = rates.iter().find(|rate| rate.implementation.starts_with("OpenSSL"));
        Self {
            openssl: openssl.map(|rate| (rate.implementation.clone(), time_us(rate))),
            scalar_us: named("scalar hot").or_else(|| named("scalar")).map(time_us),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verification_table_counts_if_there_is_one() {
        let rate = |name: &str, mean_per_s| {
            let algorithm = MeasuredAlgorithm::P256;
            AlgorithmRate { algorithm, implementation: name.to_owned(), mean_per_s, sigma_per_s: None }
        };
        let plain = [rate("scalar", 25_000.0), rate("lanes hot", 1e6), rate("OpenSSL 3.0.19", 20_000.0)];
        let times = VerificationTimes::from_rates(&plain);
        assert_eq!(times.scalar_us, Some(40.0));
        assert_eq!(times.openssl, Some(("OpenSSL 3.0.19".to_owned(), 50.0)));
        let hot = [&plain[..], &[rate("scalar hot", 100_000.0)]].concat();
        assert_eq!(VerificationTimes::from_rates(&hot).scalar_us, Some(10.0));
        assert!(VerificationTimes::from_rates(&plain[1..2]).scalar_us.is_none());
    }
}
