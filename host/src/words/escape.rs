//! Text from elsewhere (plugins, models, files), made safe to show.

/// Whether a terminal could obey a character, or it changes lines or the order of reading, or is not seen at all.
#[must_use]
pub fn is_unsafe(c: char) -> bool {
    let reorders = matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    // Soft hyphen, joiners and fillers, selectors of glyphs, tags.
    let is_invisible = matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{180b}'..='\u{180f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}'
            | '\u{e0000}'..='\u{e0fff}'
    );
    c.is_control() || reorders || is_invisible
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
    fn nothing_is_hidden() {
        for hidden in [
            '\u{61c}',
            '\u{ad}',
            '\u{115f}',
            '\u{3164}',
            '\u{fe0f}',
            '\u{e0041}',
        ] {
            assert_eq!(
                escaped(&hidden.to_string()),
                hidden.escape_default().to_string()
            );
        }
        assert_eq!(escaped("a b ä 東 🙂"), "a b ä 東 🙂");
    }

    #[test]
    fn an_excerpt_ends_at_a_character() {
        assert_eq!(excerpt("abä", 4), "abä");
        assert_eq!(excerpt("abä", 3), "ab…");
    }
}
