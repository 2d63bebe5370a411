//! A block of lines at the end of a terminal, redrawn in place with one write.

use std::borrow::Cow;

use console::{Term, truncate_str};

use super::super::stderr;

/// The block. Every line ends with a newline, so that whatever is written next, by anyone, begins on a line of its own.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// Lines on the screen.
    drawn: usize,
}

impl Block {
    /// Replaces the block by these lines, cut to the terminal.
    pub(super) fn draw(&mut self, lines: &[String]) {
        let (rows, columns) = Term::stderr().size();
        let text = self.redraw(lines, rows.into(), usize::from(columns).max(20));
        stderr::write_directly(&text);
    }

    /// Takes the block off the screen, and writes what is to stand there.
    pub(super) fn replace(&mut self, text: &str) {
        let text = format!("{}\x1b[J{text}", self.back());
        self.drawn = 0;
        stderr::write_directly(&text);
    }

    fn redraw(&mut self, lines: &[String], rows: usize, columns: usize) -> String {
        let mut text = self.back();
        let lines = fit(lines, rows.saturating_sub(1).max(2));
        for line in &lines {
            // A line that wrapped would count as two. `\x1b[K` clears what an older, longer line left.
            text += &truncate_str(line, columns, "…");
            text += "\x1b[K\n";
        }
        // What is left of a longer block.
        text += "\x1b[J";
        self.drawn = lines.len();
        text
    }

    /// To the beginning of the block.
    fn back(&self) -> String {
        match self.drawn {
            0 => String::new(),
            lines => format!("\r\x1b[{lines}A"),
        }
    }
}

/// The first line and the newest ones, where not all have room.
fn fit(lines: &[String], most: usize) -> Vec<Cow<'_, str>> {
    let all = || lines.iter().map(|line| Cow::Borrowed(line.as_str()));
    if lines.len() <= most {
        return all().collect();
    }
    let hidden = lines.len() - most + 1;
    let note = Cow::Owned(format!("({hidden} lines above)"));
    all()
        .take(1)
        .chain([note])
        .chain(all().skip(hidden + 1))
        .take(most)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn a_block_goes_back_over_exactly_what_it_drew() {
        let mut block = Block::default();
        assert_eq!(
            block.redraw(&lines(&["ab", "c"]), 24, 80),
            "ab\x1b[K\nc\x1b[K\n\x1b[J"
        );
        assert_eq!(
            block.redraw(&lines(&["d"]), 24, 80),
            "\r\x1b[2Ad\x1b[K\n\x1b[J"
        );
        assert_eq!(block.drawn, 1);
    }

    #[test]
    fn a_block_never_wraps_nor_scrolls() {
        let mut block = Block::default();
        assert_eq!(
            block.redraw(&lines(&["abcdef"]), 24, 4),
            "abc…\x1b[K\n\x1b[J"
        );
        let five = lines(&["head", "1", "2", "3", "4"]);
        assert_eq!(fit(&five, 4), ["head", "(2 lines above)", "3", "4"]);
        assert_eq!(fit(&five, 5).len(), 5);
    }
}
