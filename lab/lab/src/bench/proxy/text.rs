//! Tables and picture of the rows.

use oarlock_measure::plot::BarChart;
use oarlock_terminal::table::{CellAlign, CellTone, TableCell, TextTable, count, duration, si};

use super::super::handshake::ClientTlsGroup;
use super::args::ProxyBenchArgs;
use super::plan::{ProxyLoad, ProxyName};
use super::report::{AmountUnit, ProxyRow};

/// The widest line of the table of ratios: it has a column for each proxy.
const MAX_COLUMNS: usize = 130;

/// Returns the tables, and the reasons of the proxies that were not measured.
pub(super) fn to_text(args: &ProxyBenchArgs, rows: &[ProxyRow], in_colour: bool) -> String {
    let heading = format!(
        "{}, {} at once, one worker each; CPU: of all processes of the proxy, on one core; {}\n",
        args.tls,
        count(args.connections() as u64, "connection"),
        count(args.turns.into(), "turn")
    );
    let mut text = heading + &rates(args, rows).render(in_colour);
    if let Some(table) = ratios(rows) {
        text += "\nRatio of rates per CPU second: the median over turns, the lowest and the highest turn\n";
        text += &table.render(in_colour);
    }
    let notes = notes(rows);
    if !notes.is_empty() {
        text += &format!("\n{}\n", notes.join("\n"));
    }
    text
}

fn rates(args: &ProxyBenchArgs, rows: &[ProxyRow]) -> TextTable {
    let shows_group = args.group != ClientTlsGroup::X25519;
    let words = ["proxy", "key", "load"].into_iter().chain(shows_group.then_some("exchange"));
    let numbers = ["amount", "/CPU s", "CPU each", "core", "p50", "resumed", "errors"];
    let words = words.map(|name| (name, CellAlign::Left));
    let mut table = TextTable::new(words.chain(numbers.map(|name| (name, CellAlign::Right))));
    for row in rows {
        let mut names: Vec<TableCell> =
            vec![row.proxy.to_string().into(), row.key.to_string().into(), row.load.to_string().into()];
        if shows_group {
            names.push(row.group.map_or_else(String::new, |group| group.name().to_owned()).into());
        }
        let cells = match row.available {
            true => measured_cells(row),
            false => vec![TableCell::toned("absent", CellTone::Bad)],
        };
        table.row(names.into_iter().chain(cells));
    }
    table
}

fn measured_cells(row: &ProxyRow) -> Vec<TableCell> {
    let amount = |amount: f64| match row.unit {
        AmountUnit::Handshakes => si(amount),
        AmountUnit::Bytes => format!("{}B", si(amount)),
    };
    let each = row.rate_per_cpu_s.filter(|_| row.load.is_of_handshakes());
    let errors = match row.errors {
        0 => "0".into(),
        errors => TableCell::toned(errors.to_string(), CellTone::Bad),
    };
    vec![
        amount(row.amount as f64).into(),
        TableCell::optional(row.rate_per_cpu_s, amount),
        TableCell::optional(each, |rate| duration(1.0 / rate)),
        TableCell::optional(row.core_share, |share| format!("{:.0} %", 100.0 * share)),
        TableCell::optional(row.p50_us, |p50| duration(p50 / 1e6)),
        TableCell::optional(row.resumed_percent(), |percent| format!("{percent:.0} %")),
        errors,
    ]
}

/// Returns the ratios of Oarlock's proxies to all others. None if there are none.
fn ratios(rows: &[ProxyRow]) -> Option<TextTable> {
    let mut others: Vec<ProxyName> = Vec::new();
    for ratio in rows.iter().filter(|row| row.proxy.is_own()).flat_map(|row| &row.ratios) {
        if !others.contains(&ratio.to) {
            others.push(ratio.to);
        }
    }
    if others.is_empty() {
        return None;
    }
    let left = ["proxy", "key", "load"].map(|name| (name.to_owned(), CellAlign::Left));
    let right = others.iter().map(|other| (other.to_string(), CellAlign::Right));
    let mut table = TextTable::new(left.into_iter().chain(right)).with_max_columns(MAX_COLUMNS);
    for row in rows.iter().filter(|row| row.proxy.is_own() && row.available) {
        let names = [row.proxy.to_string().into(), row.key.to_string().into(), row.load.to_string().into()];
        let cell = |other: &ProxyName| match row.ratio_to(*other) {
            Some(ratio) => format!("{:.2} ({:.2}-{:.2})", ratio.median, ratio.min, ratio.max).into(),
            None => TableCell::none(),
        };
        table.row(names.into_iter().chain(others.iter().map(cell)));
    }
    Some(table)
}

/// Returns a note for each absent proxy, and for each row that does not show all.
fn notes(rows: &[ProxyRow]) -> Vec<String> {
    let mut absent: Vec<ProxyName> = Vec::new();
    let mut notes: Vec<String> = Vec::new();
    for row in rows {
        match &row.why_not {
            Some(_) if absent.contains(&row.proxy) => {}
            Some(reason) => {
                absent.push(row.proxy);
                let end = if row.available { " to the end" } else { "" };
                notes.push(format!("{}: not measured{end}: {reason}", row.proxy));
            }
            None => {}
        }
        if let Some(error) = &row.first_error {
            let failed = count(row.errors, "connection");
            notes
                .push(format!("{} {} {}: {failed} failed; the first: {error}", row.proxy, row.key, row.load));
        }
        if row.load == ProxyLoad::Resumed && row.amount > 0 && row.resumed == Some(0) {
            notes.push(format!("{} {}: it resumes no session of {}", row.proxy, row.key, row.tls));
        }
    }
    notes
}

/// Draws the rates per CPU second, relative to the first peer that was measured, or else to the first proxy.
pub(super) fn to_svg(rows: &[ProxyRow]) -> String {
    let measured = || rows.iter().filter(|row| row.rate_per_cpu_s.is_some());
    let base = measured().find(|row| !row.proxy.is_own()).or_else(|| measured().next()).map(|row| row.proxy);
    let (mut series, mut groups) = (Vec::new(), Vec::new());
    for row in rows {
        if !series.contains(&row.proxy) {
            series.push(row.proxy);
        }
        if !groups.contains(&(row.key, row.load)) {
            groups.push((row.key, row.load));
        }
    }
    let find = |proxy, (key, load)| {
        rows.iter().find(move |row| row.proxy == proxy && row.key == key && row.load == load)
    };
    let bar = |proxy, group| {
        let row = find(proxy, group).ok_or("not measured")?;
        let rate = row.rate_per_cpu_s.ok_or(if row.available { "too short a turn" } else { "absent" })?;
        let base = base.and_then(|base| find(base, group)?.rate_per_cpu_s);
        Ok(rate / base.ok_or("nothing to compare with")?)
    };
    let group = |&(key, load)| {
        let bars =
            series.iter().map(|proxy| bar(*proxy, (key, load)).map_err(|error: &str| error.to_owned()));
        (format!("{key} {load}"), bars.collect())
    };
    BarChart {
        title: "oarlock bench proxy".into(),
        x_label: "rate per second of the proxy's CPU time".into(),
        unit: "x".into(),
        mark: base.map(|base| (1.0, base.to_string())),
        groups: groups.iter().map(group).collect(),
        series: series.iter().map(ProxyName::to_string).collect(),
    }
    .to_svg()
}
