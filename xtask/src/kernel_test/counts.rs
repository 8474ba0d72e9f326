//! The counts that the tables of the guest must have.

use serde_json::Value;

/// The limits, of which the file's own read is no part.
const MAX_CALLS_FOR_DEVICE: f64 = 0.51;
const MAX_BORDER_FOR_DEVICE: f64 = 0.34;
const MAX_SENDFILE_CALLS: f64 = 0.01;

/// Returns the counts as a table of Markdown.
pub(super) fn table(rows: &str) -> Result<String, serde_json::Error> {
    let mut table = String::from(
        "| way | buffer | calls per buffer | border bytes per byte | copied in user space |\n|---|---|---|---|---|\n",
    );
    for row in parse(rows)? {
        let number = |field: &str| row[field].as_f64().map_or("-".to_owned(), |value| format!("{value:.4}"));
        table += &format!(
            "| {} | {} | {} | {} | {} |\n",
            row["way"].as_str().unwrap_or("-"),
            row["size"],
            number("calls_per_buffer"),
            number("border_bytes_per_byte"),
            number("copied_bytes_per_byte"),
        );
    }
    Ok(table)
}

/// Returns the limits that the tables break.
pub(super) fn faults(rows: &str) -> Result<Vec<String>, serde_json::Error> {
    let rows = parse(rows)?;
    let mut faults: Vec<String> = rows
        .iter()
        .filter(|row| row["available"] != true)
        .map(|row| format!("{} {}: {}", row["way"], row["size"], row["why_not"]))
        .collect();
    let mut sizes: Vec<i64> = rows.iter().filter_map(|row| row["size"].as_i64()).collect();
    sizes.sort_unstable();
    sizes.dedup();
    for size in sizes {
        let at = |way: &str, field: &str| {
            let row = rows.iter().find(|row| row["way"] == way && row["size"] == size);
            row.and_then(|row| row[field].as_f64()).unwrap_or(f64::NAN)
        };
        let border = |way: &str| at(way, "border_bytes_per_byte") - 1.0;
        let calls = |way: &str| at(way, "calls_per_buffer");
        for (name, found, max) in [
            ("calls, kernel / device", calls("kernel") / calls("device"), MAX_CALLS_FOR_DEVICE),
            ("copies, kernel / device", border("kernel") / border("device"), MAX_BORDER_FOR_DEVICE),
            ("calls of sendfile", calls("sendfile"), MAX_SENDFILE_CALLS),
            ("copies of sendfile", at("sendfile", "border_bytes_per_byte"), 0.0),
        ] {
            // A figure that is missing is not below the limit either.
            let is_within = found <= max;
            if !is_within {
                faults.push(format!("{name} at {size} bytes: {found:.4}, expected at most {max}"));
            }
        }
    }
    Ok(faults)
}

fn parse(rows: &str) -> Result<Vec<Value>, serde_json::Error> {
    serde_json::from_str(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(device_calls: f64, available: bool) -> String {
        let row = |way: &str, calls: f64, border: f64| {
            format!(
                r#"{{"way":"{way}","size":4096,"calls_per_buffer":{calls},"border_bytes_per_byte":{border},
                "copied_bytes_per_byte":0,"available":{available},"why_not":null}}"#
            )
        };
        let all = [row("kernel", 2.0, 2.0), row("device", device_calls, 4.01), row("sendfile", 0.002, 0.0)];
        format!("[{}]", all.join(","))
    }

    #[test]
    fn the_limits_are_those_of_the_paper() {
        assert_eq!(faults(&rows(4.0, true)).unwrap(), Vec::<String>::new());
        let broken = faults(&rows(3.0, true)).unwrap();
        assert_eq!(broken, ["calls, kernel / device at 4096 bytes: 0.6667, expected at most 0.51"]);
        assert_eq!(faults(&rows(4.0, false)).unwrap().len(), 3);
        assert!(!faults(r#"[{"way":"user","size":4096,"available":true}]"#).unwrap().is_empty());
        assert!(table(&rows(4.0, true)).unwrap().contains("| device | 4096 | 4.0000 | 4.0100 | 0.0000 |"));
    }
}
