//! The choice between user space and the kernel, by costs that are measured at the start.

use oarlock::Accelerator;
use oarlock_kernel_tls::{
    CipherReport, KernelCipher, KernelSupport, KernelTlsVersion, ProbeReport, TransferCosts, probe,
};
use oarlock_sockets::{
    ChoiceReason, Content, ExposedKeys, Keys, PathCost, PathCosts, RecordPath, Sealer, Suite,
    TransferDirection, TransferPlan, choose,
};
use rustix::time::{ClockId, clock_gettime};

use crate::config::{HandOverRule, KernelSettings};

/// The suites that the kernel and rustls have in common.
const SUITES: [(Suite, KernelTlsVersion, KernelCipher); 6] = [
    (Suite::TLS13_AES_128_GCM, KernelTlsVersion::Tls13, KernelCipher::Aes128Gcm),
    (Suite::TLS13_AES_256_GCM, KernelTlsVersion::Tls13, KernelCipher::Aes256Gcm),
    (Suite::TLS13_CHACHA20_POLY1305, KernelTlsVersion::Tls13, KernelCipher::ChaCha20Poly1305),
    (Suite::TLS12_AES_128_GCM, KernelTlsVersion::Tls12, KernelCipher::Aes128Gcm),
    (Suite::TLS12_AES_256_GCM, KernelTlsVersion::Tls12, KernelCipher::Aes256Gcm),
    (Suite::TLS12_CHACHA20_POLY1305, KernelTlsVersion::Tls12, KernelCipher::ChaCha20Poly1305),
];

/// The content of a full record.
const MAX_CONTENT: usize = 1 << 14;
const SHORT_CONTENT: usize = 64;
/// The number of records that are sealed to measure the cost.
const RECORDS: u32 = 100;

/// The path of a long transfer's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TransferPath {
    Kernel,
    User(UserReason),
}

/// The reason why a long transfer stays in user space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UserReason {
    /// The settings say so.
    Disabled,
    /// The kernel has no TLS, or cannot seal the records of this suite.
    Absent,
    /// The kernel does not know the suite.
    Suite,
    /// The transfer is too short for the hand-over.
    Short,
    /// User space costs no more.
    Costs,
    /// The client or the backend has no plain TCP socket.
    Sockets,
    /// The client is within a record.
    Record,
    /// The kernel refused the connection, for example because the client has ended its stream.
    Refused,
}

impl UserReason {
    /// All reasons.
    pub(crate) const ALL: [Self; 8] = [
        Self::Disabled,
        Self::Absent,
        Self::Suite,
        Self::Short,
        Self::Costs,
        Self::Sockets,
        Self::Record,
        Self::Refused,
    ];

    /// Returns the name in metrics.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Absent => "absent",
            Self::Suite => "suite",
            Self::Short => "short",
            Self::Costs => "costs",
            Self::Sockets => "sockets",
            Self::Record => "record",
            Self::Refused => "refused",
        }
    }
}

/// The paths of this machine and their costs.
#[derive(Debug)]
pub(crate) struct KernelPaths {
    rule: HandOverRule,
    /// The number of bytes after which a transfer counts as long.
    pub(crate) after_bytes: u64,
    /// True if the kernel opens the client's records too.
    pub(crate) receives: bool,
    /// The costs by suite; empty if the kernel has no TLS.
    costs: Vec<(Suite, PathCosts)>,
    /// The reason why the kernel seals nothing, in words.
    why_not: Option<String>,
}

impl KernelPaths {
    /// Tries what the kernel takes. It takes a fraction of a second if the kernel has TLS.
    pub(crate) fn probe(settings: &KernelSettings, accelerator: &Accelerator) -> Self {
        let KernelSettings { hand_over: rule, after_bytes, receives } = *settings;
        let paths = |costs, why_not| Self { rule, after_bytes: after_bytes.max(1), receives, costs, why_not };
        if rule == HandOverRule::Never {
            return paths(Vec::new(), Some("[kernel] hand_over is never".to_owned()));
        }
        match probe() {
            Err(error) => paths(Vec::new(), Some(format!("the probe failed: {error}"))),
            Ok(report) if !report.ulp.works() => paths(Vec::new(), Some(report.ulp.to_string())),
            Ok(report) => {
                let costs = SUITES
                    .iter()
                    .filter_map(|entry| Some((entry.0, suite_costs(entry, &report, accelerator)?)));
                paths(costs.collect(), None)
            }
        }
    }

    /// Returns the reason for the kernel's path, as in metrics.
    pub(crate) fn reason(&self) -> &'static str {
        if self.rule == HandOverRule::Always { "always" } else { UserReason::Costs.name() }
    }

    /// Returns true if the kernel can take a connection at all.
    pub(crate) fn has_tls(&self) -> bool {
        self.why_not.is_none()
    }

    /// Returns the reason why the kernel seals nothing.
    pub(crate) fn why_not(&self) -> Option<&str> {
        self.why_not.as_deref()
    }

    /// Chooses the path of a transfer that has moved so many bytes to a client. It is expected to move as many again:
    /// nobody knows more about a stream.
    pub(crate) fn choose(&self, cipher_suite: u16, moved: u64) -> TransferPath {
        if self.rule == HandOverRule::Never {
            return TransferPath::User(UserReason::Disabled);
        }
        let suite = Suite::from_tls(cipher_suite, false);
        let Some(suite) = suite.filter(|suite| SUITES.iter().any(|(known, ..)| known == suite)) else {
            return TransferPath::User(UserReason::Suite);
        };
        let Some((_, costs)) = self.costs.iter().find(|(known, _)| *known == suite) else {
            return TransferPath::User(UserReason::Absent);
        };
        if self.rule == HandOverRule::Always {
            let is_possible = costs.kernel.is_ok() || costs.kernel_file.is_ok();
            return if is_possible { TransferPath::Kernel } else { TransferPath::User(UserReason::Absent) };
        }
        let plan = TransferPlan {
            suite,
            direction: TransferDirection::Send,
            bytes: moved,
            bytes_per_call: MAX_CONTENT as u32,
            is_file: true,
            partial_bytes: 0,
        };
        let choice = choose(costs, &plan);
        TransferPath::User(match (choice.path, choice.reason) {
            (RecordPath::Kernel | RecordPath::KernelFile, _) => return TransferPath::Kernel,
            (RecordPath::User, ChoiceReason::KernelAbsent { .. }) => UserReason::Absent,
            (RecordPath::User, ChoiceReason::NotInKernel { .. }) => UserReason::Suite,
            (RecordPath::User, ChoiceReason::TooShort { .. }) => UserReason::Short,
            (RecordPath::User, _) => UserReason::Costs,
        })
    }
}

/// Returns the costs of a suite, or None if it cannot be measured.
fn suite_costs(
    (suite, version, cipher): &(Suite, KernelTlsVersion, KernelCipher),
    report: &ProbeReport,
    accelerator: &Accelerator,
) -> Option<PathCosts> {
    let seal = seal_costs(accelerator, *suite)?;
    let plain = report.plain_write_costs;
    let cipher_report: Option<&CipherReport> = report.cipher(*version, *cipher);
    // It was measured with this cipher only.
    let file = report.send_file_costs.filter(|_| *cipher == KernelCipher::Aes128Gcm);
    let why_not = || match cipher_report.map_or(report.ulp, |report| report.send) {
        KernelSupport::Works => "it was not measured with this cipher".to_owned(),
        refused => refused.to_string(),
    };
    let cost = |costs: Option<TransferCosts>| costs.map(path_cost).ok_or_else(why_not);
    Some(PathCosts {
        user: PathCost { call_ns: seal.call_ns + plain.call_ns, byte_ns: seal.byte_ns + plain.byte_ns },
        kernel: cost(cipher_report.and_then(|report| report.write_costs)),
        kernel_file: cost(file),
        attach_ns: cipher_report.and_then(|report| report.attach_ns).unwrap_or(0.0),
    })
}

fn path_cost(TransferCosts { call_ns, byte_ns }: TransferCosts) -> PathCost {
    PathCost { call_ns, byte_ns }
}

/// Measures sealing in user space.
fn seal_costs(accelerator: &Accelerator, suite: Suite) -> Option<PathCost> {
    let (key, iv) = (vec![1; suite.key_len()], vec![2; suite.iv_len()]);
    let keys = Keys::new(suite, &ExposedKeys { key: &key, mac_key: &[], iv: &iv, sequence: 0 }).ok()?;
    let mut sealer = Sealer::new(accelerator, keys).ok()?;
    let (mut out, content) = (Vec::new(), vec![0; MAX_CONTENT]);
    let mut record_ns = |len: usize| {
        let began = thread_ns();
        for _ in 0..RECORDS {
            out.clear();
            sealer.seal(Content::ApplicationData, &[&content[..len]], &mut out).ok()?;
        }
        Some((thread_ns() - began) / f64::from(RECORDS))
    };
    let (short, long) = (record_ns(SHORT_CONTENT)?, record_ns(MAX_CONTENT)?);
    let byte_ns = ((long - short) / (MAX_CONTENT - SHORT_CONTENT) as f64).max(0.0);
    Some(PathCost { call_ns: (short - byte_ns * SHORT_CONTENT as f64).max(0.0), byte_ns })
}

/// Returns the CPU time of this thread in nanoseconds.
fn thread_ns() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TLS_AES_128_GCM_SHA256 and TLS_ECDHE_ECDSA_WITH_AES_256_CCM.
    const AES_128: u16 = 0x1301;
    const CCM: u16 = 0xc0ad;

    fn paths(kernel_byte_ns: Result<f64, String>) -> KernelPaths {
        let cost = |byte_ns| PathCost { call_ns: 100.0, byte_ns };
        let costs = PathCosts {
            user: cost(1.0),
            kernel: Err("not measured".into()),
            kernel_file: kernel_byte_ns.map(cost),
            attach_ns: 50_000.0,
        };
        let costs = vec![(Suite::TLS13_AES_128_GCM, costs)];
        KernelPaths { rule: HandOverRule::IfCheaper, after_bytes: 1, receives: false, costs, why_not: None }
    }

    #[test]
    fn long_transfers_take_the_cheaper_path() {
        let cheap = paths(Ok(0.3));
        assert_eq!(cheap.choose(AES_128, 1 << 20), TransferPath::Kernel);
        assert_eq!(cheap.choose(AES_128, 1 << 12), TransferPath::User(UserReason::Short));
        assert_eq!(paths(Ok(1.5)).choose(AES_128, 1 << 20), TransferPath::User(UserReason::Costs));
        let absent = TransferPath::User(UserReason::Absent);
        assert_eq!(paths(Err("no".into())).choose(AES_128, 1 << 20), absent);
        assert_eq!(cheap.choose(0x1302, 1 << 20), absent);
        assert_eq!(cheap.choose(CCM, 1 << 20), TransferPath::User(UserReason::Suite));
    }

    #[test]
    fn always_takes_what_the_kernel_can_take() {
        let always = |byte_ns| KernelPaths { rule: HandOverRule::Always, ..paths(byte_ns) };
        assert_eq!(always(Ok(1.5)).choose(AES_128, 1), TransferPath::Kernel);
        let absent = TransferPath::User(UserReason::Absent);
        assert_eq!(always(Err("no".into())).choose(AES_128, 1 << 20), absent);
        assert_eq!(always(Ok(1.5)).choose(CCM, 1 << 20), TransferPath::User(UserReason::Suite));
    }

    #[test]
    fn a_probe_of_this_kernel_has_costs_or_a_reason() {
        let accelerator = Accelerator::builder().engines(["scalar"]).lazy().build().unwrap();
        let probe = |hand_over| {
            KernelPaths::probe(&KernelSettings { hand_over, ..KernelSettings::default() }, &accelerator)
        };
        let paths = probe(HandOverRule::IfCheaper);
        assert_eq!(paths.has_tls(), !paths.costs.is_empty());
        assert_eq!(paths.has_tls(), paths.why_not().is_none());
        let off = probe(HandOverRule::Never);
        assert_eq!(off.choose(AES_128, 1 << 30), TransferPath::User(UserReason::Disabled));
    }
}
