//! The rows.

/// A row of the table.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BenchRow {
    pub(crate) name: &'static str,
    pub(crate) task: BenchTask,
    pub(crate) threads: usize,
    /// The number of operations in one call or in flight.
    pub(crate) batch: usize,
    pub(crate) source: RowSource,
}

/// The work of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BenchTask {
    /// `C_SignInit` and `C_Sign`.
    Sign(SigningKey),
    /// `O_SignMany`.
    SignMany(SigningKey),
    /// Asynchronous sessions, each with one signature in flight.
    SignAsync(SigningKey),
    /// `C_OpenSession` and `C_CloseSession`.
    OpenClose,
    FindById,
    FindByLabel,
    /// `C_CreateObject` with `CKA_TOKEN`.
    Create,
    /// Blocks of 16 bytes under AES-CBC: `O_EncryptMany`, or `C_EncryptInit` and `C_Encrypt` for each.
    EncryptBlocks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SigningKey {
    Rsa2048,
    P256,
    Hmac,
}

/// The way in which a row is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowSource {
    /// Contenders take turns.
    Turns,
    /// While the objects for the searches are created.
    Creation,
    /// Processes at a cryptoserver.
    Server,
}

const fn row(name: &'static str, task: BenchTask, threads: usize, batch: usize) -> BenchRow {
    BenchRow { name, task, threads, batch, source: RowSource::Turns }
}

/// All rows, in the order of the table.
pub(crate) static ROWS: [BenchRow; 15] = [
    row("rsa2048-sign", BenchTask::Sign(SigningKey::Rsa2048), 1, 1),
    row("rsa2048-sign-32", BenchTask::Sign(SigningKey::Rsa2048), 32, 1),
    row("rsa2048-sign-many", BenchTask::SignMany(SigningKey::Rsa2048), 1, 64),
    row("rsa2048-sign-async", BenchTask::SignAsync(SigningKey::Rsa2048), 1, 64),
    row("p256-sign", BenchTask::Sign(SigningKey::P256), 1, 1),
    row("p256-sign-32", BenchTask::Sign(SigningKey::P256), 32, 1),
    row("p256-sign-many", BenchTask::SignMany(SigningKey::P256), 1, 64),
    row("hmac-sha256", BenchTask::Sign(SigningKey::Hmac), 1, 1),
    row("hmac-sha256-many", BenchTask::SignMany(SigningKey::Hmac), 1, 10_000),
    row("open-close", BenchTask::OpenClose, 1, 1),
    row("find-by-id", BenchTask::FindById, 1, 1),
    row("find-by-label", BenchTask::FindByLabel, 1, 1),
    BenchRow { source: RowSource::Creation, ..row("create", BenchTask::Create, 1, 1) },
    row("aes-cbc-16", BenchTask::EncryptBlocks, 1, 10_000),
    BenchRow {
        source: RowSource::Server,
        ..row("rsa2048-sign-server", BenchTask::Sign(SigningKey::Rsa2048), 8, 1)
    },
];

/// Returns the row of a name.
pub(crate) fn find_row(name: &str) -> Option<&'static BenchRow> {
    ROWS.iter().find(|row| row.name == name)
}
