//! Text from elsewhere (plugins, models, files), made safe to show.

/// Whether a terminal could obey a character, or it changes lines or the order of reading.
#[must_use]
pub fn is_unsafe(c: char) -> bool {
    let reorders = matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    c.is_control() || reorders
}

/// The text with everything escaped that a terminal could obey, that would break a line, or that changes the order of
/// reading.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unsafe(c) {
            safe.extend(c.escape_default());
        } else {
            safe.push(c);
        }
    }
    safe
}

/// The beginning of the text, [`escaped`], `most` bytes of it.
#[must_use]
pub fn excerpt(text: &str, most: usize) -> String {
    let mut safe = escaped(text);
    if safe.len() > most {
        safe.truncate(safe.floor_char_boundary(most));
        safe.push('…');
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        assert_eq!(
            escaped("\u{1b}[2J\u{9b}m\u{202e}\tä✓"),
            "\\u{1b}[2J\\u{9b}m\\u{202e}\\tä✓"
        );
    }

    #[test]
    fn an_excerpt_ends_at_a_character() {
        assert_eq!(excerpt("abä", 4), "abä");
        assert_eq!(excerpt("abä", 3), "ab…");
    }
}
