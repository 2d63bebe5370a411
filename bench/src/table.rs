//! A table in Markdown, and numbers in its cells.

use std::fmt::{Formatter, Result};

use crate::statistics::Spread;

/// The first line is the head; all have as many cells.
pub(crate) fn write(f: &mut Formatter<'_>, lines: &[Vec<String>]) -> Result {
    let columns = lines.first().map_or(0, Vec::len);
    let width = |column: usize| lines.iter().map(|line| line[column].len()).max();
    let widths: Vec<_> = (0..columns).filter_map(width).collect();
    for (index, line) in lines.iter().enumerate() {
        for (cell, width) in line.iter().zip(&widths) {
            write!(f, "| {cell:>width$} ")?;
        }
        writeln!(f, "|")?;
        if index == 0 {
            widths
                .iter()
                .try_for_each(|width| write!(f, "|{:->1$}:", "", width + 1))?;
            writeln!(f, "|")?;
        }
    }
    Ok(())
}

/// The median, and in brackets the quartiles.
pub(crate) fn spread(spread: Spread) -> String {
    let Spread { low, median, high } = spread;
    format!("{median:.2} ({low:.2} to {high:.2})")
}
