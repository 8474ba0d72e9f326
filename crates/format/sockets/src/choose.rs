//! The choice between the kernel and user space, by measured costs.

use std::fmt;
use std::time::Duration;

use crate::suite::{Protocol, RecordTransform, Suite};

/// The code that protects the records of one direction of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecordPath {
    /// This process: [`Sealer`](crate::Sealer) and [`Opener`](crate::Opener).
    User,
    /// The kernel, with the data in this process: kernel TLS and ordinary writes or reads.
    Kernel,
    /// The kernel, with the data in a file or another socket: kernel TLS with `sendfile` or `splice`.
    KernelFile,
}

/// The measured costs of one path: `call_ns` for each call and `byte_ns` for each byte.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathCost {
    /// The CPU time of a call in nanoseconds.
    pub call_ns: f64,
    /// The CPU time of a byte in nanoseconds.
    pub byte_ns: f64,
}

/// The measured costs of every path for one suite and one direction on one machine.
///
/// A path of the kernel has the reason in words if it is not available.
#[derive(Clone, Debug, PartialEq)]
pub struct PathCosts {
    /// Sealing or opening in this process, with the read of the file or the copy into it, and the write.
    pub user: PathCost,
    /// Kernel TLS with data of this process.
    pub kernel: Result<PathCost, String>,
    /// Kernel TLS with `sendfile` or `splice`.
    pub kernel_file: Result<PathCost, String>,
    /// The CPU time of a hand-over to the kernel in nanoseconds.
    pub attach_ns: f64,
}

/// The direction of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransferDirection {
    /// The connection sends.
    Send,
    /// The connection receives.
    Receive,
}

/// The wish of one direction of a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TransferPlan {
    /// The suite of the connection.
    pub suite: Suite,
    /// The direction that is chosen for.
    pub direction: TransferDirection,
    /// The number of bytes that are still to come, or an estimate.
    pub bytes: u64,
    /// The number of bytes of a call.
    pub bytes_per_call: u32,
    /// True if this process need not see the data: it comes from a file, or goes from socket to socket.
    pub is_file: bool,
    /// The number of bytes of an incomplete record that are in this process already.
    pub partial_bytes: usize,
}

/// A chosen path and the reason.
#[derive(Clone, Debug, PartialEq)]
pub struct PathChoice {
    /// The path with the lower predicted cost, or the only one.
    pub path: RecordPath,
    /// The reason, in words.
    pub reason: ChoiceReason,
}

/// The reason of a choice.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ChoiceReason {
    /// The kernel cannot frame the protocol or does not know the suite.
    NotInKernel {
        /// The suite of the connection.
        suite: Suite,
    },
    /// Part of a record has been read into this process, and the kernel cannot continue it.
    PartialRecord {
        /// The number of bytes.
        bytes: usize,
    },
    /// No path of the kernel is available.
    KernelAbsent {
        /// The reason in words.
        why: String,
    },
    /// The path costs less CPU time than the next one.
    Cheaper {
        /// The predicted cost of the path.
        chosen: Duration,
        /// The other path.
        other: RecordPath,
        /// Its predicted cost.
        other_cost: Duration,
    },
    /// The kernel costs less for each byte, but the transfer is too short for the hand-over.
    TooShort {
        /// The number of bytes of the transfer.
        bytes: u64,
        /// The number of bytes from which the kernel costs less.
        break_even: u64,
    },
}

/// The share by which the kernel must be cheaper. Timings vary by some percent from run to run, and a hand-over cannot
/// be taken back.
const MIN_GAIN: f64 = 0.05;

/// Chooses the path of one direction of a connection.
///
/// The kernel is chosen only if it is predicted to cost at least 5 % less CPU time: a hand-over cannot be taken back.
#[must_use]
pub fn choose(costs: &PathCosts, plan: &TransferPlan) -> PathChoice {
    if let Some(reason) = exclude_kernel(plan) {
        return PathChoice { path: RecordPath::User, reason };
    }
    let kernel = [
        (RecordPath::KernelFile, plan.is_file, &costs.kernel_file),
        (RecordPath::Kernel, true, &costs.kernel),
    ];
    let price = |cost: PathCost, fixed| total_ns(cost, fixed, plan);
    let user_ns = price(costs.user, 0.0);
    let wanted = || kernel.iter().filter(|(_, is_wanted, _)| *is_wanted);
    let available = wanted().filter_map(|(path, _, cost)| Some((*path, cost.as_ref().copied().ok()?)));
    let cheapest =
        available.min_by(|(_, a), (_, b)| price(*a, costs.attach_ns).total_cmp(&price(*b, costs.attach_ns)));
    let Some((path, cost)) = cheapest else {
        let why = wanted().find_map(|(_, _, cost)| cost.as_ref().err().cloned()).unwrap_or_default();
        return PathChoice { path: RecordPath::User, reason: ChoiceReason::KernelAbsent { why } };
    };
    let kernel_ns = price(cost, costs.attach_ns);
    if kernel_ns < user_ns * (1.0 - MIN_GAIN) {
        let reason = cheaper(kernel_ns, RecordPath::User, user_ns);
        return PathChoice { path, reason };
    }
    let reason = match break_even(costs, cost, plan) {
        Some(break_even) => ChoiceReason::TooShort { bytes: plan.bytes, break_even },
        None => cheaper(user_ns, path, kernel_ns),
    };
    PathChoice { path: RecordPath::User, reason }
}

/// Returns the reason why the kernel cannot take this direction at any cost.
fn exclude_kernel(plan: &TransferPlan) -> Option<ChoiceReason> {
    if !is_in_kernel(plan.suite) {
        return Some(ChoiceReason::NotInKernel { suite: plan.suite });
    }
    let is_receiving = plan.direction == TransferDirection::Receive;
    (is_receiving && plan.partial_bytes > 0)
        .then_some(ChoiceReason::PartialRecord { bytes: plan.partial_bytes })
}

/// True if Linux's kernel TLS has the suite: the AEADs of TLS. `include/uapi/linux/tls.h`.
fn is_in_kernel(suite: Suite) -> bool {
    suite.protocol() != Protocol::Ssh && matches!(suite.transform(), RecordTransform::Aead(_))
}

fn total_ns(cost: PathCost, fixed_ns: f64, plan: &TransferPlan) -> f64 {
    let calls = plan.bytes.div_ceil(u64::from(plan.bytes_per_call.max(1)));
    fixed_ns + cost.call_ns * calls as f64 + cost.byte_ns * plan.bytes as f64
}

/// Returns the number of bytes from which the kernel costs less by the share that is asked for.
fn break_even(costs: &PathCosts, kernel: PathCost, plan: &TransferPlan) -> Option<u64> {
    let per_byte = |cost: PathCost| cost.byte_ns + cost.call_ns / f64::from(plan.bytes_per_call.max(1));
    let gain = per_byte(costs.user) * (1.0 - MIN_GAIN) - per_byte(kernel);
    // Bytes beyond 2^53 are never reached; a float rounds there.
    (gain > 0.0).then(|| (costs.attach_ns / gain).ceil() as u64).filter(|bytes| *bytes > plan.bytes)
}

fn cheaper(chosen_ns: f64, other: RecordPath, other_ns: f64) -> ChoiceReason {
    ChoiceReason::Cheaper { chosen: duration(chosen_ns), other, other_cost: duration(other_ns) }
}

/// A duration that is neither negative nor infinite.
fn duration(ns: f64) -> Duration {
    Duration::try_from_secs_f64(ns / 1e9).unwrap_or(Duration::MAX)
}

impl fmt::Display for RecordPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "user space",
            Self::Kernel => "the kernel",
            Self::KernelFile => "the kernel without copies",
        })
    }
}

impl fmt::Display for ChoiceReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInKernel { suite } => write!(f, "the kernel does not have {suite}"),
            Self::PartialRecord { bytes } => {
                write!(
                    f,
                    "{bytes} bytes of an incomplete record are in this process, and the kernel cannot continue it"
                )
            }
            Self::KernelAbsent { why } => write!(f, "the kernel is not available: {why}"),
            Self::Cheaper { chosen, other, other_cost } => {
                write!(f, "{chosen:.1?} of CPU time against {other_cost:.1?} in {other}")
            }
            Self::TooShort { bytes, break_even } => {
                write!(
                    f,
                    "{bytes} bytes are too few: the hand-over to the kernel pays from {break_even} bytes on"
                )
            }
        }
    }
}

impl fmt::Display for PathChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs() -> PathCosts {
        PathCosts {
            user: PathCost { call_ns: 2_000.0, byte_ns: 0.6 },
            kernel: Ok(PathCost { call_ns: 2_000.0, byte_ns: 0.6 }),
            kernel_file: Ok(PathCost { call_ns: 2_000.0, byte_ns: 0.4 }),
            attach_ns: 10_000.0,
        }
    }

    fn plan() -> TransferPlan {
        TransferPlan {
            suite: Suite::TLS13_AES_128_GCM,
            direction: TransferDirection::Send,
            bytes: 100 << 20,
            bytes_per_call: 16_384,
            is_file: true,
            partial_bytes: 0,
        }
    }

    #[test]
    fn long_files_go_to_the_kernel() {
        let choice = choose(&costs(), &plan());
        assert_eq!(choice.path, RecordPath::KernelFile);
        assert!(
            choice
                .to_string()
                .starts_with("the kernel without copies: 54.8ms of CPU time against 75.7ms in user")
        );
    }

    #[test]
    fn data_of_this_process_stays_where_the_kernel_saves_nothing() {
        let choice = choose(&costs(), &TransferPlan { is_file: false, ..plan() });
        assert_eq!(choice.path, RecordPath::User);
        assert!(matches!(choice.reason, ChoiceReason::Cheaper { other: RecordPath::Kernel, .. }), "{choice}");
    }

    #[test]
    fn short_files_do_not_pay_for_the_hand_over() {
        let choice = choose(&costs(), &TransferPlan { bytes: 1_000, ..plan() });
        let ChoiceReason::TooShort { bytes: 1_000, break_even } = choice.reason else { panic!("{choice}") };
        assert_eq!(
            choose(&costs(), &TransferPlan { bytes: 2 * break_even, ..plan() }).path,
            RecordPath::KernelFile
        );
        assert_eq!(
            choose(&costs(), &TransferPlan { bytes: break_even / 2, ..plan() }).path,
            RecordPath::User
        );
    }

    #[test]
    fn an_incomplete_record_keeps_receiving_in_user_space() {
        let wish = TransferPlan { direction: TransferDirection::Receive, partial_bytes: 7, ..plan() };
        assert_eq!(choose(&costs(), &wish).reason, ChoiceReason::PartialRecord { bytes: 7 });
        let sending = TransferPlan { direction: TransferDirection::Send, ..wish };
        assert_eq!(choose(&costs(), &sending).path, RecordPath::KernelFile, "sending is not concerned");
    }

    #[test]
    fn an_absent_kernel_gives_its_reason() {
        let absent = || Err("ENOENT: the module tls is not loaded".to_owned());
        let choice = choose(&PathCosts { kernel: absent(), kernel_file: absent(), ..costs() }, &plan());
        let expected = "user space: the kernel is not available: ENOENT: the module tls is not loaded";
        assert_eq!(choice.to_string(), expected);
        let half = choose(&PathCosts { kernel_file: absent(), ..costs() }, &plan());
        assert_eq!(half.path, RecordPath::User, "without sendfile nothing is saved here");
    }

    #[test]
    fn only_aeads_of_tls_are_in_the_kernel() {
        assert_eq!(Suite::ALL.into_iter().filter(|suite| is_in_kernel(*suite)).count(), 6);
        for suite in [Suite::SSH_AES_128_GCM, Suite::TLS12_AES_128_CBC_SHA] {
            let choice = choose(&costs(), &TransferPlan { suite, ..plan() });
            assert_eq!(choice.reason, ChoiceReason::NotInKernel { suite });
        }
    }

    #[test]
    fn strange_measurements_do_not_panic() {
        for value in [f64::NAN, f64::INFINITY, -1.0, 0.0] {
            let cost = PathCost { call_ns: value, byte_ns: value };
            let costs = PathCosts { user: cost, kernel: Ok(cost), kernel_file: Ok(cost), attach_ns: value };
            let choice = choose(&costs, &TransferPlan { bytes: u64::MAX, bytes_per_call: 0, ..plan() });
            assert!(!choice.to_string().is_empty());
        }
    }
}
