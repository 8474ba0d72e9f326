//! Arrow files and streams, batch by batch.
//!
//! One thread reads and writes by `arrow-ipc`. The rows of a batch are computed on all threads, so memory holds one
//! batch and its results.

use std::collections::HashMap;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use arrow_array::{RecordBatch, RecordBatchReader, RecordBatchWriter};
use arrow_ipc::reader::{FileReader, StreamReader, read_footer_length};
use arrow_ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions, StreamWriter};
use arrow_ipc::{Block, Footer, root_as_footer};
use arrow_schema::ArrowError;
use indicatif::ProgressBar;
use oarlock_columns::ColumnKeys;
use oarlock_files::output::{OutputError, OutputFile};
use oarlock_records::KeyFrom;
use oarlock_terminal::GlobalOptions;

use super::args::{ArrowJob, ArrowOperation, RecordsArgs};
use super::column::ColumnEditor;
use super::error::BatchFault;
use super::keys::{self, JobKeys};
use super::messages::{self, CheckedStream};
use super::order::{MAX_TOLD, RowTotals};
use super::source::{ArrowContainer, InputFile};
use super::{RecordsError, RecordsSummary, build_accelerator, is_standard, progress_bar};

/// Runs the command on an Arrow file.
pub(super) fn run(
    global: &GlobalOptions,
    args: &RecordsArgs,
    mut input: InputFile,
) -> Result<(), RecordsError> {
    let files = args.files();
    let job = args.arrow_job()?;
    let keys = keys::load(global, args)?;
    let name = input.name.clone();
    let fail = |fault| RecordsError::Arrow { name: name.clone(), batch: None, fault };
    let container = ArrowContainer::find(&mut input)?.ok_or_else(|| fail(BatchFault::NoArrow))?;
    let len_bytes = input.len_bytes;
    let bar = progress_bar(len_bytes);
    let source = open_source(container, input, &bar).map_err(fail)?;
    let threads = global.bulk_threads();
    let editor = column_editor(global, &job, keys, threads)?;
    // The schema of the output, and the faults of options and types before anything is written.
    let empty = guard(|| Ok(RecordBatch::new_empty(source.batches.schema()))).map_err(fail)?;
    let schema = editor.edit(&empty).map_err(fail)?.batch.schema();
    let output = OutputFile::open(&files.output, args.writes_plaintext())?;
    let rejects = files.rejects.as_deref().map(|path| OutputFile::open(path, true)).transpose()?;

    let started = Instant::now();
    // An output whose name says nothing gets the form of the input.
    let is_file = container_of(&files.output).unwrap_or(container) == ArrowContainer::File;
    let mut output = CountedOutput { file: output, len_bytes: 0 };
    let mut rejects = RejectList::new(rejects, &bar)?;
    let buffered = BufWriter::with_capacity(1 << 16, &mut output);
    let copy = BatchCopy { name: &name, editor: &editor, batches: source.batches, rejects: &mut rejects };
    if is_file {
        // A file may add to a dictionary, and a stream may also replace it.
        let options = IpcWriteOptions::default().with_dictionary_handling(DictionaryHandling::Delta);
        let mut writer =
            FileWriter::try_new_with_options(buffered, &schema, options).map_err(of_write(&name, None))?;
        source.metadata.into_iter().for_each(|(key, value)| writer.write_metadata(key, value));
        copy.run(writer)?;
    } else {
        copy.run(StreamWriter::try_new(buffered, &schema).map_err(of_write(&name, None))?)?;
    }
    // The length of a pipe is known only after it was read.
    rejects.totals.bytes_in = len_bytes.unwrap_or_else(|| bar.position());
    rejects.totals.bytes_out = output.len_bytes;
    bar.finish_and_clear();
    let totals = rejects.finish(output.file)?;
    totals.warn_of_no_rows(&name);
    let summary = RecordsSummary::from_totals(&totals, threads, started.elapsed().as_secs_f64());
    summary.print(global)?;
    totals.verdict()
}

/// The batches of a file, and the metadata of its footer.
struct BatchSource {
    batches: Box<dyn RecordBatchReader>,
    metadata: HashMap<String, String>,
}

fn open_source(
    container: ArrowContainer,
    input: InputFile,
    bar: &ProgressBar,
) -> Result<BatchSource, BatchFault> {
    match container {
        ArrowContainer::File => read_file(bar.wrap_read(input.into_file().ok_or(BatchFault::FileFromPipe)?)),
        ArrowContainer::Stream => read_stream(bar.wrap_read(input.into_reader())),
    }
}

fn read_file(mut input: impl Read + Seek + 'static) -> Result<BatchSource, BatchFault> {
    let version_at = check_footer(&mut input)?;
    let input = UnversionedFooter { file: input, position: 0, version_at };
    let reader = guard(|| FileReader::try_new(input, None))?;
    let metadata = reader.custom_metadata().clone();
    Ok(BatchSource { batches: Box::new(reader), metadata })
}

/// Checks that the footer of a file, and the blocks that it names, lie in the file, and the messages of the blocks.
/// `arrow-ipc` reserves and fills as much memory as they say. Returns the position of the footer's version, if it has
/// one.
fn check_footer(file: &mut (impl Read + Seek)) -> Result<Option<u64>, BatchFault> {
    // The length of the footer in four bytes, and a magic number of six.
    let mut tail = [0; 10];
    let len = file.seek(SeekFrom::End(0))?;
    let footer_end = len.checked_sub(tail.len() as u64).ok_or(BatchFault::Truncated)?;
    file.seek(SeekFrom::Start(footer_end))?;
    file.read_exact(&mut tail)?;
    let footer_len = read_footer_length(tail).map_err(|_| BatchFault::Truncated)?;
    let footer_start = footer_end.checked_sub(footer_len as u64).ok_or(BatchFault::Malformed)?;
    let mut footer = vec![0; footer_len];
    file.seek(SeekFrom::Start(footer_start))?;
    file.read_exact(&mut footer)?;
    let footer = root_as_footer(&footer).map_err(|_| BatchFault::Malformed)?;
    let lies_inside = |block: &Block| {
        let mut parts = [block.offset(), block.metaDataLength().into(), block.bodyLength()].into_iter();
        // The numbers come from the file: a negative one, or a sum that wraps, lies nowhere.
        let end = parts.try_fold(0u64, |sum, part| sum.checked_add(u64::try_from(part).ok()?));
        end.is_some_and(|end| end <= footer_start)
    };
    let [dictionaries, batches] = [footer.dictionaries(), footer.recordBatches()];
    let mut blocks = dictionaries.into_iter().chain(batches).flatten();
    blocks.try_for_each(|block| match lies_inside(block) {
        true => messages::check_block(file, block),
        false => Err(BatchFault::Malformed),
    })?;
    // The generated code reads the version, but does not tell its position.
    let field = usize::from(footer._tab.vtable().get(Footer::VT_VERSION));
    Ok((field > 0).then(|| footer_start + (footer._tab.loc() + field) as u64))
}

/// A file whose footer reads as one of version V1, with which `arrow-ipc` follows the version of each message. Writers
/// of messages of V4, such as those of Feather V2 in 2020, state V5 in the footer.
struct UnversionedFooter<R> {
    file: R,
    position: u64,
    /// The position of the two bytes of the version.
    version_at: Option<u64>,
}

impl<R: Read> Read for UnversionedFooter<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(into)?;
        for at in self.version_at.into_iter().flat_map(|at| [at, at + 1]) {
            let offset = at.checked_sub(self.position).and_then(|offset| usize::try_from(offset).ok());
            if let Some(byte) = offset.and_then(|offset| into[..read].get_mut(offset)) {
                *byte = 0;
            }
        }
        self.position += read as u64;
        Ok(read)
    }
}

impl<R: Seek> Seek for UnversionedFooter<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.position = self.file.seek(to)?;
        Ok(self.position)
    }
}

fn read_stream(input: impl Read + 'static) -> Result<BatchSource, BatchFault> {
    let input = CheckedStream::new(BufReader::with_capacity(1 << 16, input));
    let reader = guard(|| StreamReader::try_new(input, None))?;
    Ok(BatchSource { batches: Box::new(reader), metadata: HashMap::new() })
}

/// Runs a step of `arrow-ipc`, which panics at some malformed messages, such as one whose buffer lies outside of it.
fn guard<T>(step: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, BatchFault> {
    // The hook belongs to the process: two threads that exchange it would not restore it.
    static EXCHANGE: Mutex<()> = Mutex::new(());
    let _alone = EXCHANGE.lock().unwrap_or_else(PoisonError::into_inner);
    // The message of such a panic says nothing to a user. No other thread works between two batches, so no other panic
    // is hidden.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| ()));
    let end = panic::catch_unwind(AssertUnwindSafe(step));
    panic::set_hook(hook);
    Ok(end.map_err(|_| BatchFault::Malformed)??)
}

/// Returns the container that the name of an output says. Streams go to standard output, because a file cannot be read
/// from a pipe.
fn container_of(path: &Path) -> Option<ArrowContainer> {
    if is_standard(path) {
        return Some(ArrowContainer::Stream);
    }
    match path.extension()?.to_str()? {
        "arrow" | "feather" | "ipc" => Some(ArrowContainer::File),
        "arrows" => Some(ArrowContainer::Stream),
        _ => None,
    }
}

fn column_editor<'j>(
    global: &GlobalOptions,
    job: &'j ArrowJob,
    keys: JobKeys,
    threads: usize,
) -> Result<ColumnEditor<'j>, RecordsError> {
    let name = |from: &KeyFrom| match from {
        KeyFrom::One(index) => keys.table.name(*index),
        _ => None,
    };
    let key = name(&keys.from).ok_or(RecordsError::Usage("expected one key for all rows"))?;
    let to_key = keys.to.as_ref().and_then(name);
    if matches!(job.operation, ArrowOperation::Translate(..)) && to_key.is_none() {
        return Err(RecordsError::Usage("expected one of --to-key-file, --to-key-env, --to-key-name"));
    }
    let accelerator = build_accelerator(global, keys.server)?;
    let to_key = to_key.unwrap_or_default();
    Ok(ColumnEditor { job, keys: ColumnKeys::new(accelerator, keys.table), key, to_key, threads })
}

/// Batches on their way from the input to the output.
struct BatchCopy<'c, 'b> {
    /// The name of the input.
    name: &'c str,
    editor: &'c ColumnEditor<'c>,
    batches: Box<dyn RecordBatchReader>,
    rejects: &'c mut RejectList<'b>,
}

impl BatchCopy<'_, '_> {
    fn run(mut self, mut writer: impl RecordBatchWriter) -> Result<(), RecordsError> {
        for number in 0.. {
            let fail = |fault| RecordsError::Arrow { name: self.name.to_owned(), batch: Some(number), fault };
            let Some(batch) = guard(|| self.batches.next().transpose()).map_err(fail)? else { break };
            let edited = self.editor.edit(&batch).map_err(fail)?;
            writer.write(&edited.batch).map_err(of_write(self.name, Some(number)))?;
            self.rejects.add(batch.num_rows(), &edited.bad)?;
        }
        writer.close().map_err(of_write(self.name, None))
    }
}

/// Returns the conversion of the errors of a writer.
fn of_write(name: &str, batch: Option<u64>) -> impl FnOnce(ArrowError) -> RecordsError {
    let name = name.to_owned();
    move |error| match error {
        ArrowError::IoError(_, error) => match error.downcast::<OutputError>() {
            Ok(error) => error.into(),
            Err(error) => RecordsError::Arrow { name, batch, fault: BatchFault::Read(error) },
        },
        // Readers have checked the types, so this is the only argument that can be wrong.
        ArrowError::InvalidArgumentError(_) if batch.is_some() => {
            RecordsError::Arrow { name, batch, fault: BatchFault::ReplacedDictionary }
        }
        other => RecordsError::Arrow { name, batch, fault: other.into() },
    }
}

/// The output, and the number of bytes in it.
struct CountedOutput {
    file: OutputFile,
    len_bytes: u64,
}

impl Write for CountedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The error travels inside of an `io::Error`, and `of_write` takes it out again.
        self.file.write(bytes).map_err(io::Error::other)?;
        self.len_bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // Nothing is buffered here, and `finish` syncs once at the end.
        Ok(())
    }
}

/// The rejected rows: a file, or the first ones on stderr.
struct RejectList<'b> {
    file: Option<OutputFile>,
    bar: &'b ProgressBar,
    totals: RowTotals,
}

impl<'b> RejectList<'b> {
    fn new(mut file: Option<OutputFile>, bar: &'b ProgressBar) -> Result<Self, RecordsError> {
        if let Some(file) = &mut file {
            file.write(b"row,reason\n")?;
        }
        let totals = RowTotals { is_told: file.is_none(), ..RowTotals::default() };
        Ok(Self { file, bar, totals })
    }

    /// Counts the rows of a batch, and adds those that were rejected.
    fn add(&mut self, rows: usize, bad: &[(usize, String)]) -> Result<(), RecordsError> {
        let mut lines = String::new();
        for (row, reason) in bad {
            let row = self.totals.rows + *row as u64;
            match &self.file {
                Some(_) => lines.push_str(&format!("{row},\"{reason}\"\n")),
                None if self.totals.rejected < MAX_TOLD => {
                    self.bar.suspend(|| eprintln!("oarlock: row {row}: {reason}"));
                }
                None => {}
            }
            self.totals.rejected += 1;
        }
        if let Some(file) = &mut self.file {
            file.write(lines.as_bytes())?;
        }
        self.totals.rows += rows as u64;
        Ok(())
    }

    /// Ends the files: all bytes first, then the names.
    fn finish(self, mut output: OutputFile) -> Result<RowTotals, RecordsError> {
        output.sync()?;
        if let Some(mut file) = self.file {
            file.sync()?;
            file.name()?;
        }
        output.name()?;
        Ok(self.totals)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::sync::Arc;

    use arrow_array::types::Int8Type;
    use arrow_array::{ArrayRef, DictionaryArray, StringViewArray};
    use arrow_ipc::{CompressionType, MetadataVersion};

    use super::*;

    fn batch() -> RecordBatch {
        let kinds = Arc::new(["a", "b", "a"].into_iter().collect::<DictionaryArray<Int8Type>>()) as ArrayRef;
        let long = "a value beside its view";
        let values = Arc::new(StringViewArray::from(vec![Some("short"), None, Some(long)])) as ArrayRef;
        RecordBatch::try_from_iter([("kind", kinds), ("value", values)]).unwrap()
    }

    /// Returns a file and a stream with the same batch twice.
    fn written() -> [Vec<u8>; 2] {
        written_with(None)
    }

    fn written_with(compression: Option<CompressionType>) -> [Vec<u8>; 2] {
        fn write(mut writer: impl RecordBatchWriter, batch: &RecordBatch) {
            writer.write(batch).unwrap();
            writer.write(batch).unwrap();
            writer.close().unwrap();
        }
        let (mut file, mut stream) = (Vec::new(), Vec::new());
        let options = IpcWriteOptions::try_new(8, false, MetadataVersion::V5).unwrap();
        let options = options.try_with_compression(compression).unwrap();
        let (batch, schema) = (batch(), batch().schema());
        write(FileWriter::try_new_with_options(&mut file, &schema, options.clone()).unwrap(), &batch);
        write(StreamWriter::try_new_with_options(&mut stream, &schema, options).unwrap(), &batch);
        [file, stream]
    }

    /// Reads all batches, and returns how many there are.
    fn count(source: Result<BatchSource, BatchFault>) -> Result<usize, BatchFault> {
        let mut batches = source?.batches;
        for number in 0.. {
            match guard(|| batches.next().transpose())? {
                Some(found) => assert!(found.schema() != batch().schema() || found.num_rows() == 3),
                None => return Ok(number),
            }
        }
        Ok(0)
    }

    #[test]
    fn a_truncated_file_is_an_error_and_a_truncated_stream_a_shorter_one_or_an_error() {
        let [file, stream] = written();
        assert_eq!(count(read_file(Cursor::new(file.clone()))).unwrap(), 2);
        for len in 0..file.len() {
            assert!(count(read_file(Cursor::new(file[..len].to_vec()))).is_err(), "{len} bytes");
        }
        assert_eq!(count(read_stream(Cursor::new(stream.clone()))).unwrap(), 2);
        let cut = |len: usize| count(read_stream(Cursor::new(stream[..len].to_vec())));
        let whole = (0..stream.len()).filter(|len| cut(*len).is_ok());
        // It may end after the schema, the dictionary or a batch. Up to 3 bytes of a next message count as the end.
        assert_eq!(whole.count(), 4 * 4);
    }

    /// Writers of messages of V4 state V4 or V5 in the footer.
    #[test]
    fn messages_of_version_4_are_read_with_any_footer() {
        let options = || IpcWriteOptions::try_new(8, false, MetadataVersion::V4).unwrap();
        let (mut file, mut stream) = (Vec::new(), Vec::new());
        let (batch, schema) = (batch(), batch().schema());
        let mut writer = FileWriter::try_new_with_options(&mut file, &schema, options()).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        let mut writer = StreamWriter::try_new_with_options(&mut stream, &schema, options()).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        assert_eq!(count(read_stream(Cursor::new(stream))).unwrap(), 1);
        let version_at = check_footer(&mut Cursor::new(&file)).unwrap().unwrap() as usize;
        for version in [MetadataVersion::V4, MetadataVersion::V5] {
            file[version_at..version_at + 2].copy_from_slice(&version.0.to_le_bytes());
            let mut found = read_file(Cursor::new(file.clone())).unwrap().batches;
            assert_eq!(found.next().unwrap().unwrap(), batch);
        }
    }

    #[test]
    fn a_damaged_byte_is_an_error_or_other_data() {
        let compressed = written_with(Some(CompressionType::LZ4_FRAME));
        for (bytes, is_file) in written().into_iter().chain(compressed).zip([true, false, true, false]) {
            for (at, bits) in (0..bytes.len()).flat_map(|at| [0x01, 0x10, 0x80].map(|bits| (at, bits))) {
                let mut bytes = bytes.clone();
                bytes[at] ^= bits;
                let bytes = Cursor::new(bytes);
                let _ = count(if is_file { read_file(bytes) } else { read_stream(bytes) });
            }
        }
    }

    #[test]
    fn a_panic_of_the_reader_is_an_error() {
        let fault = guard(|| -> Result<(), ArrowError> { panic!("a buffer lies outside") });
        assert!(matches!(fault, Err(BatchFault::Malformed)));
        // The hook is that of the process again.
        assert!(guard(|| Ok(())).is_ok());
    }
}
