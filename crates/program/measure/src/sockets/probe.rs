//! `oarlock sockets probe`: the kernel's answers, and the way that costs less here.

use std::io;
use std::time::Instant;

use cpu_time::ThreadTime;
use oarlock::{Accelerator, BuildError};
use oarlock_kernel_tls::{CipherReport, KernelSupport, KernelTlsVersion, ProbeReport, TransferCosts, probe};
use oarlock_sockets::{
    Content, PathChoice, PathCost, PathCosts, RecordPath, TransferDirection, TransferPlan, choose,
};
use oarlock_terminal::report::print_report;
use oarlock_terminal::table::{CellTone, TableCell, TextTable, duration};
use oarlock_terminal::{CommandError, FailureKind, GlobalOptions};
use serde::Serialize;

use super::seal::sealer;
use super::suite::{MAX_CONTENT, SocketSuite};

/// The records that are sealed to measure the cost, short and long.
const RECORDS: u32 = 400;
const SHORT: usize = 64;

/// An error of `oarlock sockets probe`.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what its variant means")]
pub enum SocketProbeError {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error("this machine cannot connect to itself: {0}")]
    Probe(io::Error),
    #[error("stdout: {0}")]
    Stdout(io::Error),
}

impl CommandError for SocketProbeError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Build(error) => error.kind(),
            Self::Stdout(error) => FailureKind::of_stdout(error),
            Self::Probe(_) => FailureKind::Machine,
        }
    }
}

/// Probes the kernel, and prints tables or JSON.
///
/// # Errors
/// A machine that cannot connect to itself. A kernel without TLS is not an error: the table then says why.
pub fn run(global: &GlobalOptions) -> Result<(), SocketProbeError> {
    let began = Instant::now();
    let report = probe().map_err(SocketProbeError::Probe)?;
    let accelerator = Accelerator::builder().lazy().build()?;
    let document = ProbeDocument::new(&accelerator, &report);
    global.note(|| format!("the probe took {}", duration(began.elapsed().as_secs_f64())));
    print_report(global.json, &document, |in_colour| to_text(&report, &document, in_colour))
        .map_err(SocketProbeError::Stdout)
}

/// The JSON document of the command.
#[derive(Debug, Serialize)]
struct ProbeDocument {
    kernel_tls: SupportField,
    ciphers: Vec<CipherField>,
    rekey: SupportField,
    sendfile: SupportField,
    plain_write: CostField,
    plain_sendfile: CostField,
    tls_sendfile: Option<CostField>,
    choices: Vec<ChoiceField>,
    warning: Option<String>,
}

#[derive(Debug, Serialize)]
struct SupportField {
    works: bool,
    errno: Option<i32>,
    why_not: Option<String>,
}

#[derive(Debug, Serialize)]
struct CipherField {
    version: String,
    cipher: String,
    send: SupportField,
    receive: SupportField,
    write: Option<CostField>,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct CostField {
    call_ns: f64,
    byte_ns: f64,
}

/// The comparison of full records of a suite in TLS 1.3, and what [`choose`] makes of it for a long file.
#[derive(Debug, Serialize)]
struct ChoiceField {
    suite: SocketSuite,
    /// Sealing a record in user space and writing it, in nanoseconds.
    user_record_ns: f64,
    kernel_record_ns: Option<f64>,
    /// A record's share of a long `sendfile`. It was measured with AES-128-GCM.
    sendfile_record_ns: Option<f64>,
    /// The path for a file of 100 MiB.
    choice: &'static str,
    reason: String,
}

impl From<KernelSupport> for SupportField {
    fn from(support: KernelSupport) -> Self {
        let errno = match support {
            KernelSupport::Refused(refusal) => Some(refusal.errno),
            KernelSupport::Works | KernelSupport::NotTried => None,
        };
        Self { works: support.works(), errno, why_not: (!support.works()).then(|| support.to_string()) }
    }
}

impl From<TransferCosts> for CostField {
    fn from(costs: TransferCosts) -> Self {
        Self { call_ns: costs.call_ns, byte_ns: costs.byte_ns }
    }
}

impl From<&CipherReport> for CipherField {
    fn from(report: &CipherReport) -> Self {
        Self {
            version: report.version.to_string(),
            cipher: report.cipher.to_string(),
            send: report.send.into(),
            receive: report.receive.into(),
            write: report.write_costs.map(Into::into),
        }
    }
}

impl ProbeDocument {
    fn new(accelerator: &Accelerator, report: &ProbeReport) -> Self {
        Self {
            kernel_tls: report.ulp.into(),
            ciphers: report.ciphers.iter().map(Into::into).collect(),
            rekey: report.rekey.into(),
            sendfile: report.send_file.into(),
            plain_write: report.plain_write_costs.into(),
            plain_sendfile: report.plain_file_costs.into(),
            tls_sendfile: report.send_file_costs.map(Into::into),
            choices: SocketSuite::ALL
                .iter()
                .filter_map(|suite| ChoiceField::new(accelerator, report, *suite))
                .collect(),
            warning: report.unsent_limit_fault(),
        }
    }
}

impl ChoiceField {
    fn new(accelerator: &Accelerator, report: &ProbeReport, suite: SocketSuite) -> Option<Self> {
        // Suites without a counterpart in the kernel need no comparison.
        let cipher = suite.kernel_cipher()?;
        let seal = seal_costs(accelerator, suite)?;
        let user = PathCost {
            call_ns: seal.call_ns + report.plain_write_costs.call_ns,
            byte_ns: seal.byte_ns + report.plain_write_costs.byte_ns,
        };
        let of_cipher = report.cipher(KernelTlsVersion::Tls13, cipher);
        let kernel = of_cipher.and_then(|of_cipher| of_cipher.write_costs);
        let file = report.send_file_costs.filter(|_| suite == SocketSuite::Aes128Gcm);
        let why_not = || match of_cipher.map_or(report.ulp, |of_cipher| of_cipher.send) {
            KernelSupport::NotTried => report.ulp.to_string(),
            KernelSupport::Works => "it was not measured with this cipher".into(),
            refused => refused.to_string(),
        };
        let cost = |costs: Option<TransferCosts>| costs.map(path_cost).ok_or_else(why_not);
        let costs = PathCosts {
            user,
            kernel: cost(kernel),
            kernel_file: cost(file),
            attach_ns: of_cipher.and_then(|of_cipher| of_cipher.attach_ns).unwrap_or(0.0),
        };
        let plan = TransferPlan {
            suite: suite.record_suite(),
            direction: TransferDirection::Send,
            bytes: 100 << 20,
            bytes_per_call: MAX_CONTENT as u32,
            is_file: true,
            partial_bytes: 0,
        };
        let PathChoice { path, reason } = choose(&costs, &plan);
        let per_record = |cost: PathCost| cost.call_ns + cost.byte_ns * MAX_CONTENT as f64;
        Some(Self {
            suite,
            user_record_ns: per_record(user),
            kernel_record_ns: kernel.map(|costs| costs.nanoseconds(MAX_CONTENT)),
            sendfile_record_ns: file.map(|costs| costs.byte_ns * MAX_CONTENT as f64),
            choice: match path {
                RecordPath::User => "user",
                RecordPath::Kernel => "kernel",
                RecordPath::KernelFile => "sendfile",
            },
            reason: reason.to_string(),
        })
    }
}

fn path_cost(TransferCosts { call_ns, byte_ns }: TransferCosts) -> PathCost {
    PathCost { call_ns, byte_ns }
}

/// Measures sealing in user space.
fn seal_costs(accelerator: &Accelerator, suite: SocketSuite) -> Option<TransferCosts> {
    let mut sealer = sealer(accelerator, suite, 0).ok()?;
    let (mut out, content) = (Vec::new(), vec![0; MAX_CONTENT]);
    let mut per_record = |len: usize| {
        let began = ThreadTime::now();
        for _ in 0..RECORDS {
            out.clear();
            sealer.seal(Content::ApplicationData, &[&content[..len]], &mut out).ok()?;
        }
        Some(began.elapsed().as_secs_f64() * 1e9 / f64::from(RECORDS))
    };
    // The slope between two lengths is the cost of a byte. Noise could make it negative.
    let (short, long) = (per_record(SHORT)?, per_record(MAX_CONTENT)?);
    let byte_ns = ((long - short) / (MAX_CONTENT - SHORT) as f64).max(0.0);
    Some(TransferCosts { call_ns: (short - byte_ns * SHORT as f64).max(0.0), byte_ns })
}

fn to_text(report: &ProbeReport, document: &ProbeDocument, in_colour: bool) -> String {
    let mut text = format!("TLS in the kernel: {}\n", report.ulp);
    if report.ulp.works() {
        text += &format!("sendfile: {}\nnew keys: {}\n\n", report.send_file, report.rekey);
        text += &cipher_table(report).render(in_colour);
    }
    text += "\nCPU time of a record of 16 KiB, sealed and sent over this machine's own network\n";
    text += &choice_table(document).render(in_colour);
    text += "\nFor a file of 100 MiB:\n";
    for choice in &document.choices {
        text += &format!("  {}: {}: {}\n", choice.suite.name(), choice.choice, choice.reason);
    }
    if let Some(warning) = &document.warning {
        text += &format!("\nWarning: {warning}\n");
    }
    text
}

fn cipher_table(report: &ProbeReport) -> TextTable {
    let mut table = TextTable::with_columns(["version", "cipher", "send", "receive"], ["write", "per byte"]);
    for cipher in &report.ciphers {
        let cell = |support: KernelSupport| match support {
            KernelSupport::Works => TableCell::toned("works", CellTone::Good),
            other => TableCell::toned(other.to_string(), CellTone::Bad),
        };
        let cost = |ns: Option<f64>| TableCell::optional(ns, |ns| format!("{ns:.2} ns"));
        table.row([
            cipher.version.to_string().into(),
            cipher.cipher.to_string().into(),
            cell(cipher.send),
            cell(cipher.receive),
            cost(cipher.write_costs.map(|costs| costs.call_ns)),
            cost(cipher.write_costs.map(|costs| costs.byte_ns)),
        ]);
    }
    table
}

fn choice_table(document: &ProbeDocument) -> TextTable {
    let mut table = TextTable::with_columns(["suite"], ["user space", "kernel", "sendfile"]);
    for choice in &document.choices {
        let time = |ns: Option<f64>| TableCell::optional(ns, |ns| duration(ns * 1e-9));
        table.row([
            choice.suite.name().into(),
            time(Some(choice.user_record_ns)),
            time(choice.kernel_record_ns),
            time(choice.sendfile_record_ns),
        ]);
    }
    table
}
