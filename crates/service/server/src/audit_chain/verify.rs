//! Reads the files of a log and finds the breaks of their chain.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, BufRead, Read};

use serde::Deserialize;

use super::report::{BreakKind, ChainBreak, ChainFile, ChainNote, ChainReport, NoteKind};
use super::{LineHash, TornLines, previous_of};

/// The maximum bytes of a line. The server's own lines have less than 40 KiB.
const MAX_LINE_BYTES: usize = 1 << 20;

/// The difference of times that is not a clock set back. An entry gets its time before it waits for the writer.
const MAX_DISORDER_MS: u64 = 10_000;

/// A verifier of the files of one log.
///
/// The files may be given in any order: if they make one chain in exactly one order, that order counts. Otherwise the
/// order in which they were given counts.
#[derive(Debug, Default)]
pub struct ChainVerifier {
    files: Vec<VerifiedFile>,
    first: Option<LineHash>,
    last: Option<LineHash>,
}

/// The fields of an entry that the verifier needs.
#[derive(Debug, Default, Deserialize)]
struct EntryFields<'e> {
    #[serde(default)]
    time_ms: u64,
    #[serde(default, borrow)]
    event: Cow<'e, str>,
    #[serde(default)]
    count: u64,
    #[serde(default, borrow)]
    torn: Cow<'e, str>,
}

/// A file that was read: its own breaks, and what its neighbours must fit to.
#[derive(Debug)]
struct VerifiedFile {
    about: ChainFile,
    /// The line of the first entry.
    first_line: u64,
    /// The hash that the first entry carries.
    first: Option<LineHash>,
    /// The hash that the first chained line carries.
    first_chained: Option<LineHash>,
    first_time_ms: u64,
    last: Option<LineHash>,
    last_time_ms: u64,
    faults: ListedLogFile<ChainBreak>,
    notes: ListedLogFile<ChainNote>,
}

/// The first items of a kind, and the number of all.
#[derive(Debug)]
struct ListedLogFile<T> {
    items: Vec<T>,
    count: u64,
}

impl<T> Default for ListedLogFile<T> {
    fn default() -> Self {
        Self { items: Vec::new(), count: 0 }
    }
}

impl<T> ListedLogFile<T> {
    fn add(&mut self, item: T) {
        self.count += 1;
        if self.items.len() < ChainReport::MAX_LISTED {
            self.items.push(item);
        }
    }

    fn append(&mut self, other: Self) {
        let hidden = other.count - other.items.len() as u64;
        other.items.into_iter().for_each(|item| self.add(item));
        self.count += hidden;
    }
}

impl ChainVerifier {
    /// Makes a verifier. `first` is the hash that the first line must carry, `last` the hash of the last line, if the
    /// caller knows them from elsewhere.
    #[must_use]
    pub fn new(first: Option<LineHash>, last: Option<LineHash>) -> Self {
        Self { files: Vec::new(), first, last }
    }

    /// Reads one file to its end.
    ///
    /// # Errors
    /// The input cannot be read.
    pub fn read(&mut self, name: &str, input: &mut impl BufRead) -> io::Result<()> {
        let mut file = FileVerifier::new(name);
        let mut line = Vec::new();
        loop {
            line.clear();
            match read_line(input, &mut line)? {
                LineEnd::Complete => file.line(&line),
                LineEnd::Cut if line.is_empty() => break,
                LineEnd::Cut => {
                    file.half_line();
                    break;
                }
            }
        }
        self.files.push(file.end());
        Ok(())
    }

    /// Joins the files and returns the report.
    #[must_use]
    pub fn finish(self) -> ChainReport {
        let Self { files, first, last } = self;
        let files = in_order(files);
        let (mut faults, mut notes) = (ListedLogFile::default(), ListedLogFile::default());
        let mut before: Option<(LineHash, u64)> = None;
        let mut start = None;
        let mut abouts = Vec::new();
        let mut is_chained = false;
        for mut file in files {
            let break_of =
                |kind| ChainBreak { file: file.about.file.clone(), line: file.first_line, kind, after: None };
            match (file.first, before) {
                (Some(carried), Some((hash, _))) if carried != hash => {
                    let is_new = carried == LineHash::NONE;
                    faults.add(break_of(if is_new { BreakKind::NewChain } else { BreakKind::OtherHash }));
                }
                (None, Some(_)) if is_chained && file.last.is_some() => {
                    faults.add(break_of(BreakKind::NoHash));
                }
                (Some(carried), None) => {
                    if first.is_some_and(|first| first != carried) {
                        faults.add(break_of(BreakKind::OtherFirst));
                    } else if first.is_none() && carried != LineHash::NONE {
                        let (file, line) = (file.about.file.clone(), file.first_line);
                        notes.add(ChainNote { file, line, kind: NoteKind::Continues });
                    }
                }
                _ => {}
            }
            if before.is_some_and(|(_, time_ms)| is_set_back(time_ms, file.first_time_ms)) {
                let (file, line) = (file.about.file.clone(), file.first_line);
                notes.add(ChainNote { file, line, kind: NoteKind::ClockBack });
            }
            is_chained |= file.first.is_some() || file.about.unchained < file.about.entries;
            start = start.or(file.first_chained);
            before = file.last.map(|hash| (hash, file.last_time_ms)).or(before);
            faults.append(std::mem::take(&mut file.faults));
            notes.append(std::mem::take(&mut file.notes));
            abouts.push(file.about);
        }
        let end = before.map(|(hash, _)| hash);
        if let (Some(expected), Some(file)) = (last, abouts.last())
            && end != Some(expected)
        {
            let file = file.file.clone();
            faults.add(ChainBreak { file, line: 0, kind: BreakKind::OtherLast, after: None });
        }
        ChainReport {
            is_whole: faults.count == 0,
            entries: abouts.iter().map(|file| file.entries).sum(),
            first: start,
            last: end,
            files: abouts,
            faults: faults.items,
            fault_count: faults.count,
            notes: notes.items,
            note_count: notes.count,
        }
    }
}

/// Returns the files in the order in which they make one chain. If there is no such order, the given order stays.
fn in_order(files: Vec<VerifiedFile>) -> Vec<VerifiedFile> {
    let Some(order) = order_of_chain(&files) else { return files };
    let mut files: Vec<Option<VerifiedFile>> = files.into_iter().map(Some).collect();
    order.into_iter().filter_map(|at| files[at].take()).collect()
}

fn order_of_chain(files: &[VerifiedFile]) -> Option<Vec<usize>> {
    let mut by_first = HashMap::new();
    for (at, file) in files.iter().enumerate() {
        // Two files that continue from one line, or a file without entries: there is no single order.
        if by_first.insert(file.first?, at).is_some() {
            return None;
        }
    }
    let ends: Vec<LineHash> = files.iter().map(|file| file.last).collect::<Option<_>>()?;
    let mut starts =
        files.iter().enumerate().filter(|(_, file)| !ends.iter().any(|end| file.first == Some(*end)));
    let (start, _) = starts.next()?;
    let mut order = vec![start];
    while let Some(next) = by_first.get(&ends[*order.last()?]) {
        order.push(*next);
        // A circle cannot be made of hashes, but a file of an attacker is not trusted to be none.
        if order.len() > files.len() {
            return None;
        }
    }
    (order.len() == files.len()).then_some(order)
}

fn is_set_back(from_ms: u64, to_ms: u64) -> bool {
    from_ms.saturating_sub(to_ms) > MAX_DISORDER_MS
}

enum LineEnd {
    Complete,
    /// The input ended before the line did.
    Cut,
}

/// Reads a line without its line end. The rest of a line beyond the maximum is skipped, so it is not an entry.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<LineEnd> {
    // One byte more than the maximum tells a line that is too long from one that ends with the input.
    input.by_ref().take(MAX_LINE_BYTES as u64 + 1).read_until(b'\n', line)?;
    if line.last() == Some(&b'\n') {
        line.pop();
        return Ok(LineEnd::Complete);
    }
    if line.len() <= MAX_LINE_BYTES {
        return Ok(LineEnd::Cut);
    }
    let is_complete = skip_line(input)?;
    Ok(if is_complete { LineEnd::Complete } else { LineEnd::Cut })
}

fn skip_line(input: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let bytes = match input.fill_buf() {
            Ok([]) => return Ok(false),
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let len = bytes.len();
        input.consume(end.map_or(len, |end| end + 1));
        if end.is_some() {
            return Ok(true);
        }
    }
}

/// The state of reading one file.
#[derive(Debug)]
struct FileVerifier {
    file: VerifiedFile,
    line: u64,
    /// The line of the last entry.
    last_line: u64,
    is_chained: bool,
    torn: TornLines,
    /// The first of the torn lines.
    torn_line: u64,
}

impl FileVerifier {
    fn new(name: &str) -> Self {
        Self {
            file: VerifiedFile {
                about: ChainFile { file: name.to_owned(), entries: 0, unchained: 0, torn: 0 },
                first_line: 0,
                first: None,
                first_chained: None,
                first_time_ms: 0,
                last: None,
                last_time_ms: 0,
                faults: ListedLogFile::default(),
                notes: ListedLogFile::default(),
            },
            line: 0,
            last_line: 0,
            is_chained: false,
            torn: TornLines::NONE,
            torn_line: 0,
        }
    }

    /// Takes a line without its line end.
    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        // An array of the right length would be read as the fields, and is not an entry.
        let object = Some(line).filter(|line| line.first() == Some(&b'{'));
        let fields = object.and_then(|object| serde_json::from_slice::<EntryFields<'_>>(object).ok());
        let Some(fields) = fields else { return self.tear(line) };
        self.note_cuts(&fields);
        self.check_hash(previous_of(line));
        self.note_time(fields.time_ms);
        if fields.event == "lost" {
            self.note(NoteKind::Lost);
        }
        self.file.about.entries += 1;
        self.file.last = Some(LineHash::from_line(line));
        self.last_line = self.line;
    }

    fn tear(&mut self, line: &[u8]) {
        if self.torn.count == 0 {
            self.torn_line = self.line;
        }
        self.torn = self.torn.and(line);
        self.file.about.torn += 1;
    }

    /// Compares the torn lines before an entry with what the entry says about them.
    fn note_cuts(&mut self, fields: &EntryFields<'_>) {
        let torn = std::mem::replace(&mut self.torn, TornLines::NONE);
        match (fields.event == "cut", torn.count) {
            (false, 0) => {}
            (false, _) => self.fault_at(self.torn_line, BreakKind::NotAnEntry),
            (true, count) if count == fields.count && fields.torn.parse() == Ok(torn.hash) => {
                self.note(NoteKind::Cut);
            }
            (true, _) => self.fault(BreakKind::OtherCut),
        }
    }

    fn check_hash(&mut self, carried: Option<LineHash>) {
        let is_first = self.file.about.entries == 0;
        if is_first {
            (self.file.first, self.file.first_line) = (carried, self.line);
        }
        match (carried, self.file.last) {
            (None, _) if self.is_chained => self.fault(BreakKind::NoHash),
            (None, _) => self.file.about.unchained += 1,
            (Some(carried), Some(hash)) if carried != hash => {
                let is_new = carried == LineHash::NONE;
                self.fault(if is_new { BreakKind::NewChain } else { BreakKind::OtherHash });
            }
            _ => {}
        }
        self.file.first_chained = self.file.first_chained.or(carried);
        self.is_chained |= carried.is_some();
    }

    fn note_time(&mut self, time_ms: u64) {
        if self.file.about.entries == 0 {
            self.file.first_time_ms = time_ms;
        } else if is_set_back(self.file.last_time_ms, time_ms) {
            self.note(NoteKind::ClockBack);
        }
        self.file.last_time_ms = time_ms;
    }

    /// Notes bytes after the last line end.
    fn half_line(&mut self) {
        self.line += 1;
        // The server was about to say so: half of the entry `cut` is the last line.
        self.torn = TornLines::NONE;
        self.file.about.torn += 1;
        self.note(NoteKind::HalfLine);
    }

    fn fault(&mut self, kind: BreakKind) {
        self.fault_at(self.line, kind);
    }

    fn fault_at(&mut self, line: u64, kind: BreakKind) {
        let after = (self.last_line > 0).then_some(self.last_line);
        self.file.faults.add(ChainBreak { file: self.file.about.file.clone(), line, kind, after });
    }

    fn note(&mut self, kind: NoteKind) {
        let (file, line) = (self.file.about.file.clone(), self.line);
        self.file.notes.add(ChainNote { file, line, kind });
    }

    fn end(mut self) -> VerifiedFile {
        if self.torn.count > 0 {
            self.fault_at(self.torn_line, BreakKind::NotAnEntry);
        }
        self.file
    }
}

#[cfg(test)]
mod tests {
    use super::super::append_chained;
    use super::*;

    /// Returns a file of entries that continues from a hash, and the hash of its last line.
    fn chained(entries: &[&str], from: LineHash) -> (Vec<u8>, LineHash) {
        let (mut bytes, mut last) = (Vec::new(), from);
        for entry in entries {
            last = append_chained(&mut bytes, entry.as_bytes(), last);
        }
        (bytes, last)
    }

    fn numbered(numbers: std::ops::Range<u64>) -> Vec<String> {
        numbers
            .map(|at| format!("{{\"time_ms\":{},\"event\":\"operation\",\"request\":{at}}}", 1000 + at))
            .collect()
    }

    fn file(numbers: std::ops::Range<u64>, from: LineHash) -> (Vec<u8>, LineHash) {
        let entries = numbered(numbers);
        chained(&entries.iter().map(String::as_str).collect::<Vec<_>>(), from)
    }

    fn verify(files: &[&[u8]]) -> ChainReport {
        let mut verifier = ChainVerifier::default();
        for (mut bytes, name) in files.iter().copied().zip(["a", "b", "c", "d"]) {
            verifier.read(name, &mut bytes).unwrap();
        }
        verifier.finish()
    }

    fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
        bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    }

    fn faults(report: &ChainReport) -> Vec<(&str, u64, BreakKind)> {
        report.faults.iter().map(|fault| (&*fault.file, fault.line, fault.kind)).collect()
    }

    fn notes(report: &ChainReport) -> Vec<(&str, u64, NoteKind)> {
        report.notes.iter().map(|note| (&*note.file, note.line, note.kind)).collect()
    }

    #[test]
    fn finds_every_removed_changed_and_swapped_line() {
        let (bytes, last) = file(0..6, LineHash::NONE);
        let whole = verify(&[&bytes]);
        assert!(whole.is_whole && whole.notes.is_empty(), "{whole:?}");
        assert_eq!((whole.entries, whole.first, whole.last), (6, Some(LineHash::NONE), Some(last)));
        let good = lines(&bytes);
        for at in 0..5 {
            let mut removed = good.clone();
            removed.remove(at);
            // The line after the removed one is named. Without its first line a chain continues from elsewhere.
            let report = verify(&[&removed.concat()]);
            if at == 0 {
                assert_eq!(notes(&report), [("a", 1, NoteKind::Continues)]);
            } else {
                assert_eq!(faults(&report), [("a", at as u64 + 1, BreakKind::OtherHash)]);
            }
            let mut changed = good.clone();
            let end = changed[at].windows(7).position(|bytes| bytes == b"request").unwrap();
            changed[at][end] ^= 1;
            let report = verify(&[&changed.concat()]);
            assert_eq!(faults(&report), [("a", at as u64 + 2, BreakKind::OtherHash)]);
            assert_eq!(report.faults[0].after, Some(at as u64 + 1));
            let mut swapped = good.clone();
            swapped.swap(at, at + 1);
            assert!(!verify(&[&swapped.concat()]).is_whole, "{at}");
            let mut added = good.clone();
            added.insert(at + 1, good[at].clone());
            assert!(!verify(&[&added.concat()]).is_whole, "{at}");
        }
    }

    #[test]
    fn finds_missing_lines_at_both_ends_if_the_hashes_are_known() {
        let (bytes, last) = file(0..4, LineHash::NONE);
        let good = lines(&bytes);
        let with = |bytes: &[u8], first, last| {
            let mut verifier = ChainVerifier::new(first, last);
            verifier.read("a", &mut &*bytes).unwrap();
            verifier.finish()
        };
        assert!(with(&bytes, Some(LineHash::NONE), Some(last)).is_whole);
        let report = with(&good[..3].concat(), None, Some(last));
        assert_eq!(faults(&report), [("a", 0, BreakKind::OtherLast)]);
        let report = with(&good[1..].concat(), Some(LineHash::NONE), None);
        assert_eq!(faults(&report), [("a", 1, BreakKind::OtherFirst)]);
        assert!(!with(b"", None, Some(last)).is_whole, "a file without lines has no last line");
    }

    #[test]
    fn finds_every_changed_byte_if_the_hashes_are_known() {
        let (bytes, last) = file(0..3, LineHash::NONE);
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                let mut verifier = ChainVerifier::new(Some(LineHash::NONE), Some(last));
                verifier.read("a", &mut &*changed).unwrap();
                assert!(!verifier.finish().is_whole, "bit {bit} of byte {at}");
            }
        }
    }

    #[test]
    fn joins_files_in_the_order_of_their_chain() {
        let (a, end) = file(0..3, LineHash::NONE);
        let (b, end) = file(3..5, end);
        let (c, last) = file(5..9, end);
        for order in [[&a, &b, &c], [&c, &b, &a], [&b, &c, &a]] {
            let report = verify(&order.map(Vec::as_slice));
            assert!(report.is_whole && report.note_count == 0, "{report:?}");
            assert_eq!((report.entries, report.last), (9, Some(last)));
            let entries: Vec<u64> = report.files.iter().map(|file| file.entries).collect();
            assert_eq!(entries, [3, 2, 4]);
        }
        let report = verify(&[&a, &c]);
        assert_eq!(faults(&report), [("b", 1, BreakKind::OtherHash)]);
        let report = verify(&[&b, &c]);
        assert_eq!((report.is_whole, notes(&report)), (true, vec![("a", 1, NoteKind::Continues)]));
        let report = verify(&[&a, &a]);
        assert_eq!(faults(&report), [("b", 1, BreakKind::NewChain)]);
        let cut = &a[..a.len() - 20];
        let report = verify(&[cut, &b]);
        assert_eq!(faults(&report), [("b", 1, BreakKind::OtherHash)], "the cut line was not written again");
        assert_eq!(notes(&report), [("a", 3, NoteKind::HalfLine)]);
        let report = verify(&[&a, b"", &b]);
        assert!(report.is_whole, "a file without lines changes nothing: {report:?}");
    }

    #[test]
    fn accepts_cut_lines_that_an_entry_names() {
        let (mut bytes, last) = file(0..2, LineHash::NONE);
        let torn = TornLines::NONE.and(b"{\"time").and(b"{\"ti");
        let cut = format!("{{\"time_ms\":1002,\"event\":\"cut\",\"count\":2,\"torn\":\"{}\"}}", torn.hash);
        bytes.extend_from_slice(b"{\"time\n{\"ti\n");
        let before = bytes.len();
        append_chained(&mut bytes, cut.as_bytes(), last);
        let report = verify(&[&bytes]);
        assert!(report.is_whole, "{report:?}");
        assert_eq!((notes(&report), report.files[0].torn), (vec![("a", 5, NoteKind::Cut)], 2));
        // Without the entry, and with other lines before it, the torn lines are a break.
        assert_eq!(faults(&verify(&[&bytes[..before]])), [("a", 3, BreakKind::NotAnEntry)]);
        let good = lines(&bytes);
        let fewer = [&good[..3], &good[4..]].concat().concat();
        assert_eq!(faults(&verify(&[&fewer])), [("a", 4, BreakKind::OtherCut)]);
        let none = [&good[..2], &good[4..]].concat().concat();
        assert_eq!(faults(&verify(&[&none])), [("a", 3, BreakKind::OtherCut)]);
        let mut after = good[..4].concat();
        append_chained(&mut after, numbered(9..10)[0].as_bytes(), last);
        assert_eq!(faults(&verify(&[&after])), [("a", 3, BreakKind::NotAnEntry)]);
    }

    #[test]
    fn accepts_lines_of_a_server_without_a_chain_only_before_the_first_chained_line() {
        let old: String = numbered(0..3).iter().map(|line| format!("{line}\n")).collect();
        let last = LineHash::from_line(numbered(2..3)[0].as_bytes());
        let (new, _) = file(3..5, last);
        let report = verify(&[&[old.as_bytes(), &new].concat()]);
        assert_eq!((report.is_whole, report.files[0].unchained), (true, 3), "{report:?}");
        assert!(verify(&[old.as_bytes(), &new]).is_whole);
        let report = verify(&[&[&new, old.as_bytes()].concat()]);
        assert_eq!((report.fault_count, report.faults[0].kind), (3, BreakKind::NoHash));
        assert_eq!(faults(&verify(&[&new, old.as_bytes()])), [("b", 1, BreakKind::NoHash)]);
    }

    #[test]
    fn notes_a_clock_that_was_set_back_and_lost_entries() {
        let entries = [
            "{\"time_ms\":100000,\"event\":\"start\"}",
            "{\"time_ms\":99000,\"event\":\"operation\"}",
            "{\"time_ms\":5000,\"event\":\"lost\",\"count\":3}",
        ];
        let (bytes, _) = chained(&entries, LineHash::NONE);
        let report = verify(&[&bytes]);
        assert!(report.is_whole);
        assert_eq!(notes(&report), [("a", 3, NoteKind::ClockBack), ("a", 3, NoteKind::Lost)]);
    }

    #[test]
    fn lists_a_bounded_number_of_breaks_and_counts_all() {
        let lines = "{\"a\":1}\nx\n".repeat(1000);
        let report = verify(&[lines.as_bytes()]);
        assert_eq!((report.fault_count, report.faults.len()), (1000, ChainReport::MAX_LISTED));
    }

    #[test]
    fn skips_a_line_that_is_too_long() {
        let mut bytes = vec![b'x'; 3 * MAX_LINE_BYTES];
        bytes.push(b'\n');
        let (good, _) = file(0..1, LineHash::NONE);
        bytes.extend_from_slice(&good);
        let report = verify(&[&bytes]);
        assert_eq!((faults(&report), report.entries), (vec![("a", 1, BreakKind::NotAnEntry)], 1));
        let report = verify(&[&bytes[..2 * MAX_LINE_BYTES]]);
        assert_eq!(notes(&report), [("a", 1, NoteKind::HalfLine)]);
    }
}
