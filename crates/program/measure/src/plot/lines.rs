//! Panels side by side, each with one line per series over the same axes: p50 beside p99, against load.

use super::scale::{PixelScale, bounds, tick_label};
use super::svg::{SvgDrawing, TextAnchor, TextStyle};
use super::{colour, legend};

const WIDTH: f64 = 960.0;
const MARGIN: f64 = 28.0;
const PLOT_HEIGHT: f64 = 320.0;
/// The space left of a panel for its numbers, and for the axis label at the first panel.
const NUMBERS: f64 = 62.0;

/// A chart of lines. All panels share the y axis, so that they can be compared.
#[derive(Debug, Clone)]
pub struct LineChart {
    /// The text above the panels.
    pub title: String,
    /// The label of the x axis with its unit: `load, % of scalar capacity`.
    pub x_label: String,
    /// The scale of the x axis.
    pub x_axis: AxisScale,
    /// The label of the y axis with its unit: `latency, ms`.
    pub y_label: String,
    /// The scale of the y axis.
    pub y_axis: AxisScale,
    /// The names of the series, each of which is one line of each panel.
    pub series: Vec<String>,
    /// The panels, from left to right.
    pub panels: Vec<ChartPanel>,
}

/// The scale of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AxisScale {
    /// Linear from zero.
    Linear,
    /// Logarithmic, for positive values.
    Logarithmic,
}

/// A panel: for each series its points (x, y), in order of x. Points outside of an axis are left out.
#[derive(Debug, Clone)]
pub struct ChartPanel {
    /// The text above the panel.
    pub title: String,
    /// The points of each series.
    pub lines: Vec<Vec<(f64, f64)>>,
}

impl LineChart {
    /// Draws the chart as an SVG document.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let mut drawing = SvgDrawing::new();
        drawing.text([MARGIN, MARGIN + 8.0], &self.title, TextStyle::title());
        let below_legend = legend(&mut drawing, &self.series, [MARGIN, MARGIN + 26.0], WIDTH - MARGIN);
        let top = below_legend + 30.0;
        let bottom = top + PLOT_HEIGHT;
        // From bottom to top, because SVG counts pixels downwards.
        let y_scale = self.y_axis.scale(self.points().map(|(_, y)| y), [bottom, top]);
        drawing.text(
            [MARGIN - 8.0, (top + bottom) / 2.0],
            &labelled(&self.y_label, &y_scale),
            TextStyle::label().at(TextAnchor::Middle).upright(),
        );
        for (index, panel) in self.panels.iter().enumerate() {
            self.draw_panel(&mut drawing, panel, index, &y_scale, [top, bottom]);
        }
        drawing.finish(WIDTH, bottom + 62.0, &self.title)
    }

    fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        let points = self.panels.iter().flat_map(|panel| panel.lines.iter().flatten().copied());
        points.filter(|point| self.y_axis.is_drawable(*point))
    }

    fn draw_panel(
        &self,
        drawing: &mut SvgDrawing,
        panel: &ChartPanel,
        index: usize,
        y_scale: &PixelScale,
        [top, bottom]: [f64; 2],
    ) {
        let width = (WIDTH - 2.0 * MARGIN) / self.panels.len() as f64;
        let left = MARGIN + width * index as f64 + NUMBERS;
        let right = MARGIN + width * (index + 1) as f64 - 8.0;
        let x_scale = self.x_axis.scale(self.points().map(|(x, _)| x), [left, right]);
        drawing.text([left, top - 12.0], &panel.title, TextStyle::label().bold());
        for &tick in y_scale.ticks() {
            let y = y_scale.pixel(tick);
            drawing.grid_line([left, y], [right, y]);
            drawing.text([left - 8.0, y + 4.0], &tick_label(tick), TextStyle::small().at(TextAnchor::End));
        }
        for &tick in x_scale.ticks() {
            let x = x_scale.pixel(tick);
            drawing.grid_line([x, top], [x, bottom]);
            drawing.text([x, bottom + 18.0], &tick_label(tick), TextStyle::small().at(TextAnchor::Middle));
        }
        drawing.axis_line([left, bottom], [right, bottom]);
        drawing.axis_line([left, top], [left, bottom]);
        let x_label = labelled(&self.x_label, &x_scale);
        drawing.text(
            [(left + right) / 2.0, bottom + 42.0],
            &x_label,
            TextStyle::label().at(TextAnchor::Middle),
        );
        // The first series is drawn last, so that it stays visible under others that cover it.
        for (series, line) in panel.lines.iter().enumerate().rev() {
            let line = line.iter().filter(|point| self.y_axis.is_drawable(**point));
            let points = line.map(|&(x, y)| [x_scale.pixel(x), y_scale.pixel(y)]).collect();
            draw_line(drawing, points, colour(series));
        }
    }
}

impl AxisScale {
    fn scale(self, values: impl Iterator<Item = f64>, pixels: [f64; 2]) -> PixelScale {
        let (min, max) = bounds(values);
        match self {
            Self::Linear => PixelScale::from_zero(max, pixels),
            Self::Logarithmic => PixelScale::log(min, max, pixels),
        }
    }

    /// True if a point can be drawn with this scale of the y axis.
    fn is_drawable(self, (x, y): (f64, f64)) -> bool {
        let is_high_enough = y > 0.0 || (self == Self::Linear && y == 0.0);
        x.is_finite() && x >= 0.0 && y.is_finite() && is_high_enough
    }
}

fn labelled(label: &str, scale: &PixelScale) -> String {
    let kind = if scale.is_log() { " (logarithmic)" } else { "" };
    format!("{label}{kind}")
}

/// The number of points above which only the line is drawn, because dots would touch.
const MAX_DOTS: usize = 120;

fn draw_line(drawing: &mut SvgDrawing, points: Vec<[f64; 2]>, stroke: &str) {
    if points.len() > 1 {
        drawing.polyline(&points, stroke);
    }
    if points.len() <= MAX_DOTS {
        points.into_iter().for_each(|point| drawing.dot(point, stroke));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(lines: Vec<Vec<(f64, f64)>>) -> String {
        chart_over(AxisScale::Linear, lines)
    }

    fn chart_over(x_axis: AxisScale, lines: Vec<Vec<(f64, f64)>>) -> String {
        let panel = ChartPanel { title: "p99".into(), lines };
        LineChart {
            x_axis,
            title: "Latency".into(),
            x_label: "load, %".into(),
            y_label: "latency, ms".into(),
            y_axis: AxisScale::Logarithmic,
            series: vec!["adaptive".into()],
            panels: vec![panel],
        }
        .to_svg()
    }

    #[test]
    fn every_measured_point_is_drawn() {
        let svg = chart(vec![vec![(5.0, 0.2), (50.0, 0.9), (90.0, f64::INFINITY), (120.0, 0.0)]]);
        assert_eq!(svg.matches("<circle").count(), 2);
        assert_eq!(svg.matches("<polyline").count(), 1);
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn decades_are_equally_wide_on_a_logarithmic_axis() {
        let svg = chart_over(AxisScale::Logarithmic, vec![vec![(1.0, 1.0), (100.0, 1.0), (10_000.0, 1.0)]]);
        let xs: Vec<f64> = svg
            .split("<circle ")
            .skip(1)
            .map(|circle| circle.split("cx=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap())
            .collect();
        assert!(xs.len() == 3 && (xs[2] - 2.0 * xs[1] + xs[0]).abs() < 0.3 && xs[0] < xs[1], "{xs:?}");
        assert!(svg.contains("load, % (logarithmic)"), "{svg}");
    }

    #[test]
    fn a_linear_axis_has_a_place_for_nothing_and_long_lines_have_no_dots() {
        let line: Vec<(f64, f64)> = (0..500).map(|x| (f64::from(x), f64::from(x % 3))).collect();
        let chart = |points: &[(f64, f64)]| LineChart {
            title: "Queries".into(),
            x_label: "s".into(),
            x_axis: AxisScale::Linear,
            y_label: "queries".into(),
            y_axis: AxisScale::Linear,
            series: vec!["most".into()],
            panels: vec![ChartPanel { title: String::new(), lines: vec![points.to_vec()] }],
        };
        assert_eq!(chart(&line[..6]).to_svg().matches("<circle").count(), 6);
        let svg = chart(&line).to_svg();
        assert!(
            !svg.contains("<circle") && svg.contains("<polyline") && !svg.contains("logarithmic"),
            "{svg}"
        );
    }

    #[test]
    fn single_points_and_empty_lines_are_still_pictures() {
        assert_eq!(chart(vec![vec![(5.0, 0.2)]]).matches("<circle").count(), 1);
        assert!(!chart(vec![Vec::new()]).contains("NaN"));
        assert!(chart(Vec::new()).ends_with("</svg>\n"));
    }
}
