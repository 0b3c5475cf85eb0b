//! Draws a screen as an SVG file: text on a grid, in any monospace font that the reader has. The file contains no font and no script.

use std::fmt::Write;

use super::screen::{Colour, Screen, Style};

/// The width and height of a cell, in tenths of a pixel, so that every number in the file is exact. The same unit for all sizes below.
const CELL: (usize, usize) = (84, 180);
/// The space around the grid.
const MARGIN: usize = 160;
/// The height of the title bar.
const HEAD: usize = 320;
/// The distance from the top of a cell to the baseline of its text.
const BASELINE: usize = 135;

const PAPER: &str = "#16181d";
const INK: &str = "#d8dae0";
const FAINT: &str = "#8a8f9c";

/// The first sixteen colours of the terminal's palette.
const NAMED: [&str; 16] = [
    "#3b3f4a", "#f2777a", "#8fce8f", "#e5c07b", "#7aa6f0", "#c792ea", "#6fc7d6", "#d8dae0", "#8a8f9c", "#ff8b8e",
    "#a5e0a5", "#f2d28f", "#93b9ff", "#d7a9f5", "#8ddbe8", "#ffffff",
];

/// Draws a screen with a title bar.
pub(super) fn draw(title: &str, screen: &Screen) -> String {
    let columns = screen.rows.iter().map(Vec::len).max().unwrap_or_default();
    let (width, height) = (columns * CELL.0 + 2 * MARGIN, screen.rows.len() * CELL.1 + HEAD + 2 * MARGIN);
    let said: Vec<String> = screen.rows.iter().map(|row| row.iter().map(|(letter, _)| letter).collect()).collect();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\">\n\
         <title>{2}</title>\n<desc>{3}</desc>\n\
         <style>text{{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre;fill:{INK}}}</style>\n\
         <rect width=\"{0}\" height=\"{1}\" rx=\"8\" fill=\"{PAPER}\"/>\n",
        tenths(width),
        tenths(height),
        escaped(title),
        escaped(&said.join("\n")),
    );
    // Three dots and the title, as in a window's title bar.
    for (position, fill) in ["#f2777a", "#e5c07b", "#8fce8f"].iter().enumerate() {
        let x = tenths(MARGIN + 60 + position * 180);
        let _ = writeln!(svg, "<circle cx=\"{x}\" cy=\"{}\" r=\"5.5\" fill=\"{fill}\"/>", tenths(HEAD / 2 + 40));
    }
    let x = tenths(MARGIN + 700);
    let _ = writeln!(
        svg,
        "<text x=\"{x}\" y=\"{}\" style=\"fill:{FAINT}\">{}</text>",
        tenths(HEAD / 2 + 90),
        escaped(title)
    );
    for (position, row) in screen.rows.iter().enumerate() {
        draw_row(&mut svg, HEAD + MARGIN + position * CELL.1, row);
    }
    svg + "</svg>\n"
}

/// Draws a row, one run of cells with the same style at a time.
fn draw_row(svg: &mut String, top: usize, row: &[(char, Style)]) {
    let mut column = 0;
    for run in row.chunk_by(|(_, one), (_, other)| one == other) {
        let style = run.first().map(|(_, style)| *style).unwrap_or_default();
        let (left, width) = (MARGIN + column * CELL.0, run.len() * CELL.0);
        let (mut ink, mut paper) = (style.ink.map(colour), style.paper.map(colour));
        if style.dim && ink.is_none() {
            ink = Some(FAINT.to_owned());
        }
        if style.reversed {
            (ink, paper) =
                (Some(paper.unwrap_or_else(|| PAPER.to_owned())), Some(ink.unwrap_or_else(|| INK.to_owned())));
        }
        if let Some(paper) = paper {
            let (x, y, width) = (tenths(left), tenths(top), tenths(width));
            let height = tenths(CELL.1);
            let _ = writeln!(svg, "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{paper}\"/>");
        }
        // Many fonts lack the corner that Claude Code draws.
        let text = run.iter().map(|(letter, _)| letter).collect::<String>().replace('⎿', "└");
        if !text.trim().is_empty() {
            let mut look = ink.map(|ink| format!("fill:{ink}")).unwrap_or_default();
            if style.bold {
                look += ";font-weight:bold";
            }
            let look = if look.is_empty() { look } else { format!(" style=\"{}\"", look.trim_start_matches(';')) };
            // `textLength` keeps the letters in their columns in every font.
            let (x, y, width) = (tenths(left), tenths(top + BASELINE), tenths(width));
            let _ = writeln!(
                svg,
                "<text x=\"{x}\" y=\"{y}\" textLength=\"{width}\" lengthAdjust=\"spacingAndGlyphs\"{look}>{}</text>",
                escaped(&text)
            );
        }
        column += run.len();
    }
}

fn colour(colour: Colour) -> String {
    match colour {
        Colour::Exact(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
        Colour::Number(number @ 0..16) => NAMED[usize::from(number)].to_owned(),
        // A colour cube with six steps for each of red, green and blue, then greys.
        Colour::Number(number @ 16..232) => {
            let step = |divisor: u8| match (number - 16) / divisor % 6 {
                0 => 0,
                step => 55 + 40 * step,
            };
            format!("#{:02x}{:02x}{:02x}", step(36), step(6), step(1))
        }
        Colour::Number(number) => format!("#{0:02x}{0:02x}{0:02x}", 8 + 10 * (number - 232)),
    }
}

fn tenths(number: usize) -> String {
    match number % 10 {
        0 => (number / 10).to_string(),
        rest => format!("{}.{rest}", number / 10),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screen_becomes_text_on_a_grid() {
        let svg = draw("a <b>", &Screen::read("x \u{1b}[1;38;5;196my&z\u{1b}[0m\n\u{1b}[7m>\u{1b}[0m"));
        assert!(svg.contains("<title>a &lt;b&gt;</title>"), "{svg}");
        assert!(svg.contains(r#"x="32.8" y="61.5" textLength="25.2""#), "{svg}");
        assert!(svg.contains(r#"style="fill:#ff0000;font-weight:bold">y&amp;z</text>"#), "{svg}");
        assert!(svg.contains(r##"fill="#d8dae0"/>"##) && svg.ends_with("</svg>\n"), "{svg}");
    }

    #[test]
    fn numbered_colours() {
        let check = |number: u8, expect: &str| assert_eq!(colour(Colour::Number(number)), expect, "{number}");
        check(1, "#f2777a");
        check(16, "#000000");
        check(231, "#ffffff");
        check(244, "#808080");
    }
}
