//! The results of turns, and the rows that they make.

use oarlock_measure::capacity::VerificationTimes;
use oarlock_measure::statistics::median;
use serde::Serialize;

use super::plan::ResolverName;
use crate::dnssec::bench::ZoneKeyKind;

/// The result of a resolver in one turn, per name.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResolverTurn {
    /// The time from the first query with validation to the last answer, divided by the names.
    pub(super) elapsed_us: f64,
    /// The CPU time of the resolver with validation.
    pub(super) validated_us: f64,
    /// The CPU time of the resolver without validation.
    pub(super) unvalidated_us: f64,
}

/// The name of the default provider if its version is not known.
const OPENSSL: &str = "OpenSSL";

/// The result of one engine beside the default provider.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ResolverRow {
    /// The resolver and the kind of key: `unbound-p256`.
    pub(super) name: String,
    pub(super) resolver: ResolverName,
    pub(super) key: ZoneKeyKind,
    pub(super) engine: String,
    /// The number of threads of the resolver.
    pub(super) threads: u32,
    pub(super) turns: u32,
    /// The number of validated answers of all turns.
    pub(super) answers: u64,
    /// The number of signatures in an answer of the authority.
    pub(super) signatures_per_answer: u32,
    /// Validated answers per second.
    pub(super) rate_per_s: f64,
    /// Validated answers per second of the resolver's CPU time.
    pub(super) rate_per_cpu_s: f64,
    pub(super) peer: String,
    pub(super) peer_rate_per_cpu_s: f64,
    /// The ratio of both rates per second of CPU time, the median over turns.
    pub(super) ratio: Option<f64>,
    /// The ratio if a verification cost nothing.
    pub(super) limit: Option<f64>,
    pub(super) cpu_us: f64,
    pub(super) unvalidated_cpu_us: f64,
    /// The time of one verification alone.
    pub(super) verify_us: Option<f64>,
    /// The CPU time per signature beyond an unvalidated answer and the verification.
    pub(super) overhead_us: Option<f64>,
    pub(super) peer_cpu_us: f64,
    pub(super) peer_unvalidated_cpu_us: f64,
    pub(super) peer_verify_us: Option<f64>,
    pub(super) peer_overhead_us: Option<f64>,
}

/// The turns of one resolver.
pub(super) struct ResolverTurns<'a> {
    pub(super) resolver: ResolverName,
    pub(super) key: ZoneKeyKind,
    pub(super) names: u32,
    pub(super) signatures_per_answer: u32,
    pub(super) times: &'a VerificationTimes,
    /// The turns with the default provider.
    pub(super) default: &'a [ResolverTurn],
}

impl ResolverTurns<'_> {
    /// Makes the row of an engine from its turns.
    pub(super) fn row(&self, engine: &str, measured: &[ResolverTurn]) -> ResolverRow {
        let (cpu_us, peer_cpu_us) =
            (middle(measured, |turn| turn.validated_us), self.peer(|turn| turn.validated_us));
        let unvalidated_cpu_us = middle(measured, |turn| turn.unvalidated_us);
        let peer_unvalidated_cpu_us = self.peer(|turn| turn.unvalidated_us);
        let verify_us = self.times.scalar_us.filter(|_| engine == "scalar");
        let peer_verify_us = self.times.openssl.as_ref().map(|(_, time_us)| *time_us);
        let signatures = f64::from(self.signatures_per_answer);
        let overhead = |cpu_us: f64, unvalidated_us: f64, verify_us: Option<f64>| {
            verify_us.map(|verify_us| (cpu_us - unvalidated_us) / signatures - verify_us)
        };
        ResolverRow {
            name: format!("{}-{}", self.resolver, self.key.name()),
            resolver: self.resolver,
            key: self.key,
            engine: engine.to_owned(),
            threads: 1,
            turns: measured.len() as u32,
            answers: u64::from(self.names) * measured.len() as u64,
            signatures_per_answer: self.signatures_per_answer,
            rate_per_s: 1e6 / middle(measured, |turn| turn.elapsed_us),
            rate_per_cpu_s: 1e6 / cpu_us,
            peer: self.times.openssl.as_ref().map_or_else(|| OPENSSL.to_owned(), |(name, _)| name.clone()),
            peer_rate_per_cpu_s: 1e6 / peer_cpu_us,
            ratio: ratio(self.default, measured),
            limit: peer_verify_us
                .and_then(|time_us| finite(peer_cpu_us / (peer_cpu_us - signatures * time_us))),
            cpu_us,
            unvalidated_cpu_us,
            verify_us,
            overhead_us: overhead(cpu_us, unvalidated_cpu_us, verify_us),
            peer_cpu_us,
            peer_unvalidated_cpu_us,
            peer_verify_us,
            peer_overhead_us: overhead(peer_cpu_us, peer_unvalidated_cpu_us, peer_verify_us),
        }
    }

    fn peer(&self, measure: impl Fn(&ResolverTurn) -> f64) -> f64 {
        middle(self.default, measure)
    }
}

fn middle(turns: &[ResolverTurn], measure: impl Fn(&ResolverTurn) -> f64) -> f64 {
    median(turns.iter().map(measure)).unwrap_or(f64::NAN)
}

/// Returns the median ratio over turns. A machine's speed changes, so only results of the same turn are compared.
fn ratio(default: &[ResolverTurn], measured: &[ResolverTurn]) -> Option<f64> {
    let each = default.iter().zip(measured).map(|(default, turn)| default.validated_us / turn.validated_us);
    median(each).and_then(finite)
}

fn finite(value: f64) -> Option<f64> {
    Some(value).filter(|value| value.is_finite() && *value > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(validated_us: f64, unvalidated_us: f64) -> ResolverTurn {
        ResolverTurn { elapsed_us: 2.0 * validated_us, validated_us, unvalidated_us }
    }

    #[test]
    fn a_row_has_the_overhead_beside_the_verification_and_the_counted_limit() {
        let times =
            VerificationTimes { openssl: Some(("OpenSSL 3.0.19".into(), 40.0)), scalar_us: Some(10.0) };
        let default = [turn(100.0, 25.0), turn(200.0, 50.0), turn(100.0, 25.0)];
        let turns = ResolverTurns {
            resolver: ResolverName::Unbound,
            key: ZoneKeyKind::P256,
            names: 1000,
            signatures_per_answer: 1,
            times: &times,
            default: &default,
        };
        // The machine is half as fast in the second turn.
        let row = turns.row("scalar", &[turn(80.0, 25.0), turn(160.0, 50.0), turn(80.0, 25.0)]);
        assert_eq!(
            (row.name.as_str(), row.answers, row.peer.as_str()),
            ("unbound-p256", 3000, "OpenSSL 3.0.19")
        );
        assert_eq!(row.ratio, Some(1.25));
        assert_eq!(row.limit, Some(100.0 / 60.0));
        assert_eq!((row.overhead_us, row.peer_overhead_us), (Some(45.0), Some(35.0)));
        assert_eq!(row.rate_per_cpu_s, 12_500.0);
        let row = turns.row("lanes", &default);
        assert_eq!((row.ratio, row.verify_us, row.overhead_us), (Some(1.0), None, None));
    }

    #[test]
    fn without_openssl_there_is_no_limit_and_no_overhead() {
        let default = [turn(100.0, 25.0)];
        let turns = ResolverTurns {
            resolver: ResolverName::Bind,
            key: ZoneKeyKind::Rsa2048,
            names: 1,
            signatures_per_answer: 1,
            times: &VerificationTimes::default(),
            default: &default,
        };
        let row = turns.row("scalar", &default);
        assert_eq!((row.limit, row.peer_overhead_us, row.peer.as_str()), (None, None, "OpenSSL"));
    }
}
