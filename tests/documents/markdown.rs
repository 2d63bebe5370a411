//! As much of Markdown as the documents use.

use std::collections::BTreeSet;

/// A fenced block.
pub(super) struct Block {
    /// The first word after the fence.
    pub(super) language: String,
    /// The words behind it, such as `exit=12` or `no_run`.
    words: Vec<String>,
    pub(super) text: String,
    /// The line of its fence, from 1.
    pub(super) line: usize,
}

impl Block {
    /// Whether the word stands behind the language.
    pub(super) fn is(&self, word: &str) -> bool {
        self.words.iter().any(|found| found == word)
    }

    /// The value of `key=value` behind the language.
    pub(super) fn value(&self, key: &str) -> Option<&str> {
        self.words
            .iter()
            .find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
    }
}

/// All fenced blocks, in order.
pub(super) fn blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = document.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            continue;
        };
        let mut words = info.split([' ', ',']).map(str::to_owned);
        let language = words.next().unwrap_or_default();
        let mut text = String::new();
        for (_, line) in lines.by_ref().take_while(|(_, line)| *line != "```") {
            text += line;
            text.push('\n');
        }
        blocks.push(Block {
            language,
            words: words.collect(),
            text,
            line: index + 1,
        });
    }
    blocks
}

/// The targets of links `[text](target)`.
pub(super) fn links(document: &str) -> Vec<String> {
    let text = without_blocks(document);
    let targets = text.split("](").skip(1);
    targets
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target.to_owned())
        .collect()
}

/// What stands between single back-ticks.
pub(super) fn code_spans(document: &str) -> Vec<String> {
    let text = without_blocks(document);
    text.lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .map(str::to_owned)
        .collect()
}

/// The names by which headings can be linked to.
pub(super) fn headings(document: &str) -> BTreeSet<String> {
    let text = without_blocks(document);
    text.lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
            title
                .chars()
                .filter(kept)
                .collect::<String>()
                .replace(' ', "-")
        })
        .collect()
}

/// What stands below the heading of the second level.
pub(super) fn section<'a>(document: &'a str, title: &str) -> &'a str {
    let heading = format!("\n## {title}\n");
    let (_, rest) = document
        .split_once(&heading)
        .unwrap_or_else(|| panic!("there is no section {title}"));
    rest.split("\n## ").next().unwrap_or_default()
}

fn without_blocks(document: &str) -> String {
    let mut inside = false;
    let outside = document.lines().filter(|line| {
        let fence = line.starts_with("```");
        inside ^= fence;
        !inside && !fence
    });
    outside.flat_map(|line| [line, "\n"]).collect()
}
