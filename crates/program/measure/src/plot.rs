//! Pictures of results as SVG: bars for `speed`, lines for `latency` and `ladder`. Written by hand so that the binary
//! needs no font library; a viewer's own sans-serif is used.
//!
//! | module | what it holds |
//! |---|---|
//! | [`bars`](BarChart) | grouped horizontal bars |
//! | [`lines`](LineChart) | panels of lines over one x axis |
//! | `scale` | ticks and positions, linear and logarithmic |
//! | `svg` | the few shapes used, escaped and rounded |

mod bars;
mod lines;
mod scale;
mod svg;

pub use bars::{Bar, BarChart};
pub use lines::{AxisScale, ChartPanel, LineChart};

/// Colours in the order of series. Readers who do not see red and green can distinguish them (after Okabe and Ito).
const COLOURS: [&str; 8] =
    ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c8c8c", "#000000"];

fn colour(series: usize) -> &'static str {
    COLOURS.get(series % COLOURS.len()).copied().unwrap_or("#000000")
}

/// Draws the names of the series with their colours, in as many rows as `right` allows; the y below them.
fn legend(drawing: &mut svg::SvgDrawing, series: &[String], [left, top]: [f64; 2], right: f64) -> f64 {
    const ROW: f64 = 22.0;
    const SWATCH: f64 = 12.0;
    let widths: Vec<f64> =
        series.iter().map(|name| SWATCH + 8.0 + svg::text_width(name, svg::LABEL_SIZE) + 22.0).collect();
    // Names in several rows stand in columns.
    let is_one_row = left + widths.iter().sum::<f64>() <= right;
    let widest = widths.iter().copied().fold(0.0, f64::max);
    let (mut x, mut y) = (left, top);
    for ((index, name), width_of_name) in series.iter().enumerate().zip(&widths) {
        let width = if is_one_row { *width_of_name } else { widest };
        if x > left && x + width > right {
            (x, y) = (left, y + ROW);
        }
        drawing.rectangle([x, y], [SWATCH, SWATCH], colour(index));
        drawing.text([x + SWATCH + 6.0, y + SWATCH - 1.5], name, svg::TextStyle::label());
        x += width;
    }
    if series.is_empty() { top } else { y + ROW }
}
