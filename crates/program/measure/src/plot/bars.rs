//! Grouped horizontal bars: one group per operation, one bar per series.

use super::scale::{PixelScale, tick_label};
use super::svg::{LABEL_SIZE, SMALL_SIZE, SvgDrawing, TextAnchor, TextStyle, text_width};
use super::{colour, legend};

const WIDTH: f64 = 960.0;
const MARGIN: f64 = 28.0;
const BAR: f64 = 15.0;
const BAR_GAP: f64 = 3.0;
const GROUP_GAP: f64 = 16.0;
/// The space for the value at the end of the longest bar.
const VALUE_SPACE: f64 = 64.0;

/// A value, or the reason why it is missing.
pub type Bar = Result<f64, String>;

/// A chart of bars. Values are in `unit`. If a value was not measured, the reason stands in its place.
#[derive(Debug, Clone)]
pub struct BarChart {
    /// The text above the bars.
    pub title: String,
    /// The text under the x axis: the quantity and its unit.
    pub x_label: String,
    /// The text after each value at the end of its bar: `x`, ` ops/s`, or nothing.
    pub unit: String,
    /// The value that results are compared with, and its name: `(1.0, "OpenSSL 3.0.19")`.
    pub mark: Option<(f64, String)>,
    /// The names of the series.
    pub series: Vec<String>,
    /// The name of each group, and for each series a value or the reason why it is missing.
    pub groups: Vec<(String, Vec<Bar>)>,
}

impl BarChart {
    /// Draws the chart as an SVG document. The axis starts at zero, or is logarithmic if the values differ widely.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let mut drawing = SvgDrawing::new();
        drawing.text([MARGIN, MARGIN + 8.0], &self.title, TextStyle::title());
        let below_legend = legend(&mut drawing, &self.series, [MARGIN, MARGIN + 26.0], WIDTH - MARGIN);
        let top = below_legend + if self.mark.is_some() { 26.0 } else { 8.0 };
        let bottom = top + self.group_height() * self.groups.len() as f64;
        let scale = self.scale();
        self.draw_grid(&mut drawing, &scale, [top, bottom]);
        for (index, (name, values)) in self.groups.iter().enumerate() {
            self.draw_group(&mut drawing, &scale, top + index as f64 * self.group_height(), name, values);
        }
        self.draw_mark(&mut drawing, &scale, [top, bottom]);
        drawing.axis_line([self.left(), top], [self.left(), bottom]);
        drawing.finish(WIDTH, bottom + 62.0, &self.title)
    }

    fn group_height(&self) -> f64 {
        self.series.len() as f64 * (BAR + BAR_GAP) + GROUP_GAP
    }

    fn left(&self) -> f64 {
        let longest = self.groups.iter().map(|(name, _)| text_width(name, LABEL_SIZE)).fold(40.0, f64::max);
        MARGIN + longest.min(WIDTH / 3.0) + 12.0
    }

    fn scale(&self) -> PixelScale {
        let values = self.groups.iter().flat_map(|(_, values)| values.iter().flatten().copied());
        let marks = self.mark.iter().map(|(value, _)| *value);
        PixelScale::fitting(values.chain(marks), [self.left(), WIDTH - MARGIN - VALUE_SPACE])
    }

    fn draw_grid(&self, drawing: &mut SvgDrawing, scale: &PixelScale, [top, bottom]: [f64; 2]) {
        for &tick in scale.ticks() {
            let x = scale.pixel(tick);
            drawing.grid_line([x, top], [x, bottom]);
            drawing.text([x, bottom + 18.0], &tick_label(tick), TextStyle::small().at(TextAnchor::Middle));
        }
        let kind = if scale.is_log() { " (logarithmic)" } else { "" };
        let middle = (self.left() + WIDTH - MARGIN - VALUE_SPACE) / 2.0;
        let label = format!("{}{kind}", self.x_label);
        drawing.text([middle, bottom + 42.0], &label, TextStyle::label().at(TextAnchor::Middle));
    }

    fn draw_group(&self, drawing: &mut SvgDrawing, scale: &PixelScale, top: f64, name: &str, values: &[Bar]) {
        let bars_height = self.series.len() as f64 * (BAR + BAR_GAP) - BAR_GAP;
        let first = top + GROUP_GAP / 2.0;
        let baseline = first + bars_height / 2.0 + LABEL_SIZE * 0.35;
        drawing.text([self.left() - 10.0, baseline], name, TextStyle::label().at(TextAnchor::End));
        for series in 0..self.series.len() {
            let y = first + series as f64 * (BAR + BAR_GAP);
            let bar = values.get(series);
            let value = bar.and_then(|bar| bar.as_ref().ok()).copied().filter(|value| value.is_finite());
            let end = value.map_or(self.left(), |value| scale.pixel(value));
            drawing.rectangle([self.left(), y], [end - self.left(), BAR], colour(series));
            let shown = value.map_or_else(|| reason(bar), |value| format!("{}{}", short(value), self.unit));
            let look = if value.is_some() { TextStyle::small().bold() } else { TextStyle::small() };
            drawing.text(
                [self.clear_of_mark(scale, end + 6.0), y + BAR / 2.0 + SMALL_SIZE * 0.36],
                &shown,
                look,
            );
        }
    }

    /// Returns the x of a value's text, so that the mark's line does not cross its first digits.
    fn clear_of_mark(&self, scale: &PixelScale, x: f64) -> f64 {
        match self.mark.as_ref().map(|(value, _)| scale.pixel(*value)) {
            Some(mark) if (mark - VALUE_SPACE * 0.75..mark + 5.0).contains(&x) => mark + 5.0,
            _ => x,
        }
    }

    fn draw_mark(&self, drawing: &mut SvgDrawing, scale: &PixelScale, [top, bottom]: [f64; 2]) {
        let Some((value, name)) = &self.mark else { return };
        let x = scale.pixel(*value);
        drawing.mark_line([x, top - 6.0], [x, bottom]);
        drawing.text([x, top - 11.0], name, TextStyle::small().at(TextAnchor::Middle));
    }
}

/// Draws the text in the place of a bar.
fn reason(bar: Option<&Bar>) -> String {
    match bar {
        Some(Err(reason)) => reason.clone(),
        _ => "not measured".to_owned(),
    }
}

fn short(value: f64) -> String {
    oarlock_terminal::table::si(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> BarChart {
        BarChart {
            title: "Speed & ratio".into(),
            x_label: "operations per second, OpenSSL = 1".into(),
            unit: "x".into(),
            mark: Some((1.0, "OpenSSL".into())),
            series: vec!["scalar".into(), "lanes".into()],
            groups: vec![
                ("rsa2048-sign".into(), vec![Ok(0.97), Ok(3.4)]),
                ("des-cbc-40".into(), vec![Err("lanes do not offer it".into()), Ok(f64::NAN)]),
            ],
        }
    }

    #[test]
    fn every_bar_has_its_value() {
        let svg = chart().to_svg();
        assert!(svg.contains(">lanes do not offer it<") && svg.contains(">not measured<"), "{svg}");
        assert!(svg.contains(">0.97x<") && svg.contains(">3.40x<") && svg.contains("Speed &amp; ratio"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn empty_charts_are_still_pictures() {
        let empty = BarChart { series: Vec::new(), groups: Vec::new(), ..chart() };
        assert!(empty.to_svg().ends_with("</svg>\n"));
    }
}
