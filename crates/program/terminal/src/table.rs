//! Text tables for people: aligned columns, a rule under the head, never wider than a page or the terminal.

use crate::screen;

/// The widest line of a table, in characters.
const MAX_COLUMNS: usize = 100;
const GAP: &str = "  ";
/// The narrowest width to which a column of words is cut: a shorter piece of a name is useless.
const MIN_WORDS: usize = 10;

/// The alignment of a column's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellAlign {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// The tone of a cell on a terminal. It has no effect elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellTone {
    /// The terminal's own colour.
    Plain,
    /// Green: a success or a gain.
    Good,
    /// Red: a failure.
    Bad,
    /// Faint: of little importance.
    Faint,
}

/// One cell of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableCell {
    text: String,
    tone: CellTone,
}

impl TableCell {
    /// Makes a cell with a tone.
    pub fn toned(text: impl Into<String>, tone: CellTone) -> Self {
        Self { text: text.into(), tone }
    }

    /// Makes a cell for a missing value: a faint dash.
    pub fn none() -> Self {
        Self::toned("-", CellTone::Faint)
    }

    /// Makes a cell for a value that may be missing.
    pub fn optional<T, C: Into<Self>>(value: Option<T>, cell: impl FnOnce(T) -> C) -> Self {
        value.map_or_else(Self::none, |value| cell(value).into())
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty() || self.text == "-"
    }
}

impl<T: Into<String>> From<T> for TableCell {
    fn from(text: T) -> Self {
        Self::toned(text, CellTone::Plain)
    }
}

/// A table under construction.
#[derive(Debug, Clone)]
pub struct TextTable {
    head: Vec<(String, CellAlign)>,
    rows: Vec<Vec<TableCell>>,
    max_columns: usize,
}

impl TextTable {
    /// Makes a table without rows: a name and an alignment for each column.
    pub fn new<T: Into<String>>(head: impl IntoIterator<Item = (T, CellAlign)>) -> Self {
        let head = head.into_iter().map(|(name, align)| (name.into(), align)).collect();
        Self { head, rows: Vec::new(), max_columns: MAX_COLUMNS }
    }

    /// Makes a table without rows, with columns of words before columns of numbers.
    pub fn with_columns<const W: usize, const N: usize>(words: [&str; W], numbers: [&str; N]) -> Self {
        let words = words.into_iter().map(|name| (name, CellAlign::Left));
        Self::new(words.chain(numbers.into_iter().map(|name| (name, CellAlign::Right))))
    }

    /// Allows a table to be wider than 100 columns, for rows with long names.
    pub fn with_max_columns(self, max_columns: usize) -> Self {
        Self { max_columns, ..self }
    }

    /// Drops the columns in which every cell is empty or `-`.
    pub fn without_empty_columns(mut self) -> Self {
        for at in (0..self.head.len()).rev() {
            if self.rows.iter().all(|row| row[at].is_empty()) {
                self.head.remove(at);
                for row in &mut self.rows {
                    row.remove(at);
                }
            }
        }
        self
    }

    /// Adds a row; missing cells are empty, cells beyond the head are dropped.
    pub fn row(&mut self, cells: impl IntoIterator<Item = TableCell>) {
        let mut row: Vec<TableCell> = cells.into_iter().take(self.head.len()).collect();
        row.resize(self.head.len(), TableCell::from(""));
        self.rows.push(row);
    }

    /// Renders the table as lines of at most 100 columns or the allowed width, and at most the width of the
    /// terminal, colour escapes not counted. If the cells are wider, the widest column of words is cut and its cells
    /// end in `…`. If that is not enough, each row is a block with a line for each cell.
    pub fn render(&self, in_colour: bool) -> String {
        self.render_within(screen::columns().unwrap_or(usize::MAX).min(self.max_columns), in_colour)
    }

    fn render_within(&self, columns: usize, in_colour: bool) -> String {
        match self.widths(columns) {
            Some(widths) => self.aligned(&widths, in_colour),
            None => self.blocks(columns, in_colour),
        }
    }

    fn aligned(&self, widths: &[usize], in_colour: bool) -> String {
        let head = self.head.iter().map(|(name, _)| TableCell::from(name.as_str())).collect::<Vec<_>>();
        let rule = "─".repeat(widths.iter().sum::<usize>() + GAP.len() * widths.len().saturating_sub(1));
        let mut lines = vec![self.line(&head, widths, false), rule];
        lines.extend(self.rows.iter().map(|row| self.line(row, widths, in_colour)));
        lines.join("\n") + "\n"
    }

    /// Renders each row as lines of a column's name and its cell, without cells that are empty or `-`.
    fn blocks(&self, columns: usize, in_colour: bool) -> String {
        let names = self.head.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
        let available = columns.saturating_sub(names + GAP.len()).max(1);
        let mut text = String::new();
        for row in &self.rows {
            if !text.is_empty() {
                text.push('\n');
            }
            for ((name, _), cell) in self.head.iter().zip(row).filter(|(_, cell)| !cell.is_empty()) {
                for (at, part) in wrapped(&cell.text, available).into_iter().enumerate() {
                    let name = padded(if at == 0 { name } else { "" }, names, CellAlign::Left);
                    let part = if in_colour { painted(&part, cell.tone) } else { part };
                    text += &format!("{name}{GAP}{part}\n");
                }
            }
        }
        text
    }

    /// Returns the widths of columns if their lines fit after the widest column of words is cut.
    fn widths(&self, columns: usize) -> Option<Vec<usize>> {
        let mut widths: Vec<usize> = self.head.iter().map(|(name, _)| width(name)).collect();
        for row in &self.rows {
            for (widest, cell) in widths.iter_mut().zip(row) {
                *widest = (*widest).max(width(&cell.text));
            }
        }
        let available = columns.saturating_sub(GAP.len() * widths.len().saturating_sub(1));
        let excess = widths.iter().sum::<usize>().saturating_sub(available);
        let words = widths.iter_mut().zip(&self.head).filter(|(_, (_, align))| *align == CellAlign::Left);
        if let Some((widest, _)) = words.max_by_key(|(width, _)| **width) {
            *widest = widest.saturating_sub(excess).max(MIN_WORDS.min(*widest));
        }
        (widths.iter().sum::<usize>() <= available).then_some(widths)
    }

    fn line(&self, cells: &[TableCell], widths: &[usize], in_colour: bool) -> String {
        let shown = cells.iter().zip(widths).zip(&self.head).map(|((cell, &width), &(_, align))| {
            let padded = padded(&fit(&cell.text, width), width, align);
            if in_colour { painted(&padded, cell.tone) } else { padded }
        });
        shown.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
    }
}

/// Formats a whole number with separated thousands: `4,506`.
pub fn thousands(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a count in words: `1 line`, `2,000 lines`, `3 entries`.
pub fn count(number: u64, thing: &str) -> String {
    match (number, thing.strip_suffix('y')) {
        (1, _) => format!("1 {thing}"),
        (_, Some(stem)) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => {
            format!("{} {stem}ies", thousands(number))
        }
        _ => format!("{} {thing}s", thousands(number)),
    }
}

/// Formats three significant digits with an SI prefix: `4.51k`, `125M`; plain decimals below one; `-` for infinities
/// and NaN.
pub fn si(value: f64) -> String {
    if !value.is_finite() {
        return "-".into();
    }
    let mut scaled = value;
    let mut prefixes = ["", "k", "M", "G", "T"].into_iter().peekable();
    let mut prefix = prefixes.next().unwrap_or_default();
    // 999.5 would be shown as 1000 in three digits.
    while scaled.abs() >= 999.5 && prefixes.peek().is_some() {
        scaled /= 1000.0;
        prefix = prefixes.next().unwrap_or_default();
    }
    format!("{}{prefix}", three_digits(scaled))
}

/// Formats a number of bytes with its unit: `88.0 KiB`, `64 MiB`.
pub fn bytes(count: usize) -> String {
    let (scaled, unit) = match count {
        0..1024 => return format!("{count} B"),
        1024..1_048_576 => (count as f64 / 1024.0, "KiB"),
        1_048_576..1_073_741_824 => (count as f64 / 1_048_576.0, "MiB"),
        _ => (count as f64 / 1_073_741_824.0, "GiB"),
    };
    format!("{} {unit}", three_digits(scaled).trim_end_matches(".00"))
}

/// Formats a duration in seconds with its unit: `213 µs`, `1.67 ms`.
pub fn duration(seconds: f64) -> String {
    let (scaled, unit) = match seconds {
        s if s < 999.5e-9 => (s * 1e9, "ns"),
        s if s < 999.5e-6 => (s * 1e6, "µs"),
        s if s < 999.5e-3 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    if scaled.is_finite() { format!("{} {unit}", three_digits(scaled)) } else { "-".into() }
}

/// Formats a ratio: `3.31x`.
pub fn ratio(value: f64) -> String {
    if value.is_finite() { format!("{}x", three_digits(value)) } else { "-".into() }
}

fn three_digits(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        _ => 2,
    };
    if value == 0.0 { "0".into() } else { format!("{value:.decimals$}") }
}

/// Returns the number of terminal columns of a text. Some characters take two columns, some take none.
fn width(text: &str) -> usize {
    console::measure_text_width(text)
}

fn fit(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut fitting = wrapped(text, columns.saturating_sub(1)).into_iter().next().unwrap_or_default();
    fitting.push('…');
    fitting
}

/// Pads a text with spaces. It counts columns, while `format!` counts characters.
fn padded(text: &str, columns: usize, align: CellAlign) -> String {
    let space = " ".repeat(columns.saturating_sub(width(text)));
    match align {
        CellAlign::Left => format!("{text}{space}"),
        CellAlign::Right => format!("{space}{text}"),
    }
}

/// Splits a text into parts of at most `columns` columns. A wider character is a part by itself.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut taken = 0;
    for character in text.chars() {
        let character_width = width(character.encode_utf8(&mut [0; 4]));
        if taken + character_width > columns && taken > 0 {
            parts.push(String::new());
            taken = 0;
        }
        // unreachable because there is always a part
        let Some(part) = parts.last_mut() else { break };
        part.push(character);
        taken += character_width;
    }
    parts
}

fn painted(text: &str, tone: CellTone) -> String {
    let code = match tone {
        CellTone::Plain => return text.to_owned(),
        CellTone::Good => 32,
        CellTone::Bad => 31,
        CellTone::Faint => 2,
    };
    format!("\u{1b}[{code}m{text}\u{1b}[0m")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> TextTable {
        let mut table = TextTable::new([
            ("operation", CellAlign::Left),
            ("ops/s", CellAlign::Right),
            ("ratio", CellAlign::Right),
        ]);
        table.row(["rsa2048-sign".into(), "4,506".into(), TableCell::toned("3.31x", CellTone::Good)]);
        table.row(["p256-sign".into(), "65,000".into(), TableCell::none()]);
        table.row(["short".into()]);
        table
    }

    #[test]
    fn cells_are_aligned_under_a_rule() {
        let expected = "\
operation      ops/s  ratio
───────────────────────────
rsa2048-sign   4,506  3.31x
p256-sign     65,000      -
short
";
        assert_eq!(sample().render(false), expected);
    }

    #[test]
    fn a_column_without_values_can_be_dropped() {
        let mut table = TextTable::new([
            ("shape", CellAlign::Left),
            ("failure", CellAlign::Left),
            ("leaf", CellAlign::Left),
            ("max", CellAlign::Right),
        ]);
        table.row(["sha1".into(), TableCell::none(), TableCell::none(), "8".into()]);
        table.row(["p256".into(), "".into(), "fma".into()]);
        assert_eq!(
            table.without_empty_columns().render(false),
            "shape  leaf  max\n────────────────\nsha1   -       8\np256   fma\n"
        );
    }

    #[test]
    fn colour_changes_no_width() {
        let coloured = sample().render(true);
        assert!(coloured.contains("\u{1b}[32m3.31x\u{1b}[0m"));
        let plain = coloured.replace("\u{1b}[32m", "").replace("\u{1b}[2m", "").replace("\u{1b}[0m", "");
        assert_eq!(plain, sample().render(false));
    }

    #[test]
    fn no_line_is_wider_than_a_page() {
        let mut table = TextTable::new([("note", CellAlign::Left), ("number", CellAlign::Right)]);
        table.row([TableCell::from("ä".repeat(150)), "123,456".into()]);
        let text = table.render(false);
        assert!(text.lines().all(|line| line.chars().count() <= MAX_COLUMNS), "{text}");
        assert!(text.contains('…') && text.contains("123,456"), "{text}");
    }

    #[test]
    fn a_narrow_terminal_gets_a_block_for_each_row() {
        let mut table = TextTable::new([
            ("operation", CellAlign::Left),
            ("engine", CellAlign::Left),
            ("ops/s", CellAlign::Right),
            ("OpenSSL", CellAlign::Right),
            ("ratio", CellAlign::Right),
        ]);
        table.row(["rsa2048-sign".into(), "lanes".into(), "4,506".into(), "1,361".into(), "3.31x".into()]);
        table.row([
            "ed25519-verify-hot".into(),
            "scalar".into(),
            "65,000".into(),
            TableCell::none(),
            TableCell::none(),
        ]);
        assert_eq!(table.render_within(60, false).lines().count(), 4);
        let expected = "\
operation  rsa2048-sign
engine     lanes
ops/s      4,506
OpenSSL    1,361
ratio      3.31x

operation  ed25519-verify-
           hot
engine     scalar
ops/s      65,000
";
        assert_eq!(table.render_within(26, false), expected);
        for columns in 20..100 {
            let text = table.render_within(columns, false);
            assert!(text.lines().all(|line| width(line) <= columns), "{columns}:\n{text}");
        }
    }

    #[test]
    fn wide_characters_take_two_columns() {
        let mut table = TextTable::new([("key", CellAlign::Left), ("bits", CellAlign::Right)]);
        table.row(["鍵鍵".into(), "2048".into()]);
        table.row(["abcd".into(), "256".into()]);
        let expected = "key   bits\n──────────\n鍵鍵  2048\nabcd   256\n";
        assert_eq!(table.render(false), expected);
        assert_eq!(
            (fit("鍵鍵鍵", 5), wrapped("鍵鍵", 1)),
            ("鍵鍵…".into(), vec!["鍵".to_owned(), "鍵".to_owned()])
        );
    }

    #[test]
    fn an_empty_table_is_its_head() {
        assert_eq!(TextTable::new([("a", CellAlign::Left)]).render(true), "a\n─\n");
        assert_eq!(TextTable::new::<&str>([]).render(false), "\n\n");
    }

    #[test]
    fn thousands_stand_apart() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (65_536, "65,536"), (1_234_567, "1,234,567")];
        for (value, text) in cases {
            assert_eq!(thousands(value), text);
        }
    }

    #[test]
    fn one_thing_is_singular() {
        let cases = [
            (0, "line", "0 lines"),
            (1, "line", "1 line"),
            (2000, "message", "2,000 messages"),
            (1, "entry", "1 entry"),
            (3, "entry", "3 entries"),
            (2, "key", "2 keys"),
        ];
        for (number, thing, text) in cases {
            assert_eq!(count(number, thing), text);
        }
    }

    #[test]
    fn three_digits_carry_a_prefix() {
        let cases = [
            (0.0, "0"),
            (0.25, "0.25"),
            (9.999, "10.0"),
            (42.0, "42.0"),
            (999.4, "999"),
            (999.6, "1.00k"),
            (4506.0, "4.51k"),
            (999_600.0, "1.00M"),
            (125e6, "125M"),
            (2e16, "20000T"),
            (-1500.0, "-1.50k"),
            (f64::NAN, "-"),
        ];
        for (value, text) in cases {
            assert_eq!(si(value), text, "{value}");
        }
    }

    #[test]
    fn bytes_carry_their_unit() {
        let cases =
            [(0, "0 B"), (1023, "1023 B"), (90_112, "88.0 KiB"), (1 << 20, "1 MiB"), (3 << 29, "1.50 GiB")];
        for (count, text) in cases {
            assert_eq!(bytes(count), text);
        }
    }

    #[test]
    fn durations_and_ratios_carry_their_unit() {
        let cases =
            [(213e-6, "213 µs"), (0.001_67, "1.67 ms"), (2.0, "2.00 s"), (5e-9, "5.00 ns"), (0.0, "0 ns")];
        for (value, text) in cases {
            assert_eq!(duration(value), text);
        }
        assert_eq!(
            [ratio(3.312), ratio(0.956), ratio(37.04), ratio(f64::INFINITY)],
            ["3.31x", "0.96x", "37.0x", "-"]
        );
    }
}
