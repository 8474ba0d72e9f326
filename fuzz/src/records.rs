//! A file that is encrypted and decrypted by `oarlock-records`.

use std::sync::LazyLock;

use oarlock::Accelerator;
use oarlock::BlockCipher;
use oarlock_keytable::{KeyPolicy, KeyTable, KeyType};
use oarlock_records::{
    AeadColumns, ChunkResult, ChunkWorker, FileFormat, FilePlan, IvFrom, KeyFrom, KeyNames, Padding,
    RecordJob, RowCipher, RowFileFault, RowOperation,
};

static UNIT: LazyLock<(Accelerator, KeyTable)> = LazyLock::new(|| {
    let accelerator = Accelerator::builder().engines(["scalar"]).build().expect("the scalar engine is here");
    let table = KeyTable::new();
    table
        .insert("key", KeyType::Aes128, &[7; 16][..], KeyPolicy::any_data(KeyType::Aes128))
        .expect("a good key");
    (accelerator, table)
});

/// Encrypts the column `v`, whole and cut in two, and decrypts it again.
pub fn check_file(format: FileFormat, text: &[u8]) {
    let job = |is_encryption: bool| {
        let (cipher, iv) = (RowCipher::Cbc(BlockCipher::Aes128), IvFrom::Zero);
        let (padding, aead) = (Padding::Pkcs7, AeadColumns::default());
        let operation = match is_encryption {
            true => RowOperation::Encrypt { cipher, iv, padding, aead },
            false => RowOperation::Decrypt { cipher, iv, padding, aead },
        };
        let mut job = RecordJob::new(operation, "v", KeyFrom::One(0));
        job.keeps_rejected_rows = true;
        job
    };
    let Ok((plan, header)) = FilePlan::new(job(true), KeyNames::default(), format, text) else { return };
    let rows = &text[header..];
    let whole = run(&plan, rows);
    if whole.file_fault == Some(RowFileFault::LineEnd) {
        assert!(whole.output.is_empty());
        return;
    }
    assert!(whole.rejects.len() as u64 <= whole.rows);

    let cut = format.whole_rows(rows);
    let (first, second) = (run(&plan, &rows[..cut]), run(&plan, &rows[cut..]));
    assert_eq!([&first.output[..], &second.output].concat(), whole.output[..]);
    assert_eq!((first.rows + second.rows, first.lines + second.lines), (whole.rows, whole.lines));

    let (back, header) =
        FilePlan::new(job(false), KeyNames::default(), format, &[plan.head(), &whole.output].concat())
            .expect("what was written can be read");
    let head = if header == plan.head().len() { back } else { return };
    let again = run(&head, &whole.output);
    assert_eq!((again.rows, again.rejects.len()), (whole.rows - whole.rejects.len() as u64, 0));
}

fn run(plan: &FilePlan, rows: &[u8]) -> ChunkResult {
    let mut done = ChunkResult::default();
    let (accelerator, table) = &*UNIT;
    ChunkWorker::new(plan, accelerator, table).run(rows, &mut done).expect("only a machine fails");
    done
}
