//! The few shapes that the charts are made of.

use std::fmt::Write as _;

pub(super) const TITLE_SIZE: f64 = 18.0;
pub(super) const LABEL_SIZE: f64 = 13.0;
pub(super) const SMALL_SIZE: f64 = 12.0;

const INK: &str = "#1f2328";
const FAINT_INK: &str = "#59636e";
const GRID: &str = "#e4e7eb";
const AXIS: &str = "#8b949e";

/// The position of a text relative to its point.
#[derive(Debug, Clone, Copy)]
pub(super) enum TextAnchor {
    Start,
    Middle,
    End,
}

/// The style of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextStyle {
    size: f64,
    anchor: TextAnchor,
    is_bold: bool,
    is_faint: bool,
    is_upright: bool,
}

impl TextStyle {
    pub(super) fn title() -> Self {
        Self { size: TITLE_SIZE, is_bold: true, ..Self::label() }
    }

    pub(super) fn label() -> Self {
        Self {
            size: LABEL_SIZE,
            anchor: TextAnchor::Start,
            is_bold: false,
            is_faint: false,
            is_upright: false,
        }
    }

    /// Returns the style of axis numbers, units and notes.
    pub(super) fn small() -> Self {
        Self { size: SMALL_SIZE, is_faint: true, ..Self::label() }
    }

    pub(super) fn bold(self) -> Self {
        Self { is_bold: true, ..self }
    }

    pub(super) fn at(self, anchor: TextAnchor) -> Self {
        Self { anchor, ..self }
    }

    /// Rotates the text to read from bottom to top, as beside a y axis.
    pub(super) fn upright(self) -> Self {
        Self { is_upright: true, ..self }
    }
}

/// Returns an upper estimate of a text's width in a common sans-serif font, in pixels.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * 0.6
}

/// A picture under construction. Points are (x, y) in pixels from the upper left.
#[derive(Debug)]
pub(super) struct SvgDrawing {
    body: String,
}

impl SvgDrawing {
    pub(super) fn new() -> Self {
        Self { body: String::new() }
    }

    pub(super) fn rectangle(&mut self, [x, y]: [f64; 2], [width, height]: [f64; 2], fill: &str) {
        self.push(format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"1.5\" fill=\"{fill}\"/>",
            width.max(0.0),
            height.max(0.0)
        ));
    }

    pub(super) fn grid_line(&mut self, from: [f64; 2], to: [f64; 2]) {
        self.line(from, to, GRID, "");
    }

    pub(super) fn axis_line(&mut self, from: [f64; 2], to: [f64; 2]) {
        self.line(from, to, AXIS, "");
    }

    /// Draws a line that results are compared with.
    pub(super) fn mark_line(&mut self, from: [f64; 2], to: [f64; 2]) {
        self.line(from, to, INK, " stroke-dasharray=\"4 3\"");
    }

    pub(super) fn polyline(&mut self, points: &[[f64; 2]], stroke: &str) {
        let path: Vec<String> = points.iter().map(|[x, y]| format!("{x:.1},{y:.1}")).collect();
        self.push(format_args!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"2.2\" \
             stroke-linejoin=\"round\" stroke-linecap=\"round\"/>",
            path.join(" ")
        ));
    }

    pub(super) fn dot(&mut self, [x, y]: [f64; 2], fill: &str) {
        self.push(format_args!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.4\" fill=\"{fill}\" stroke=\"#ffffff\"/>"
        ));
    }

    pub(super) fn text(&mut self, [x, y]: [f64; 2], text: &str, look: TextStyle) {
        let anchor = match look.anchor {
            TextAnchor::Start => "start",
            TextAnchor::Middle => "middle",
            TextAnchor::End => "end",
        };
        let weight = if look.is_bold { " font-weight=\"600\"" } else { "" };
        let fill = if look.is_faint { FAINT_INK } else { INK };
        let turn =
            if look.is_upright { format!(" transform=\"rotate(-90 {x:.1} {y:.1})\"") } else { String::new() };
        self.push(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{}\" text-anchor=\"{anchor}\" fill=\"{fill}\"{weight}{turn}>{}</text>",
            look.size,
            escaped(text)
        ));
    }

    /// Returns the whole document. Screen readers read `title`.
    pub(super) fn finish(self, width: f64, height: f64, title: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" \
             font-family=\"system-ui, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif\">\n\
             <title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{}</svg>\n",
            escaped(title),
            self.body
        )
    }

    fn line(&mut self, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2], stroke: &str, extra: &str) {
        self.push(format_args!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{stroke}\"{extra}/>"
        ));
    }

    fn push(&mut self, shape: std::fmt::Arguments<'_>) {
        // Writing to a String does not fail.
        let _ = writeln!(self.body, "{shape}");
    }
}

/// Escapes a text (XML 1.0 2.4), and removes control characters that XML cannot contain.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            control if control.is_control() => out.push(' '),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_break_out() {
        let mut drawing = SvgDrawing::new();
        drawing.text([1.0, 2.0], "a<b>&\"\u{1}", TextStyle::label());
        let svg = drawing.finish(10.0, 10.0, "<t>");
        assert!(
            svg.contains("a&lt;b&gt;&amp;&quot; </text>") && svg.contains("<title>&lt;t&gt;</title>"),
            "{svg}"
        );
    }
}
