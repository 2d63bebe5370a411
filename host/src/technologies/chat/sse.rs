//! Server-sent events, by the standard of the WHATWG (HTML, "Server-sent events"), as far as chat completions need them.
//!
//! Owns the cutting of bytes into events, wherever a network cut them. It keeps at most one line and the data of one event; who
//! feeds it bounds the bytes. Event names other than `message` and `error`, ids, times to reconnect and comments are passed over.

/// A reader that is fed bytes as they come.
#[derive(Debug, Default)]
pub(super) struct Events {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    foreign: bool,
    after_cr: bool,
    begun: bool,
}

/// Data that is not UTF-8. The standard would have replaced what is wrong; a plan with other characters than the model's is no
/// plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NotUtf8;

impl Events {
    /// Takes further bytes and gives the data of each event that they complete to `each`, until it fails.
    pub(super) fn feed<E: From<NotUtf8>>(
        &mut self,
        mut bytes: &[u8],
        each: &mut dyn FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_cr) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.line.extend_from_slice(bytes);
                return Ok(());
            };
            self.line.extend_from_slice(&bytes[..end]);
            self.after_cr = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            self.end_line(each)?;
        }
        Ok(())
    }

    /// No more bytes come. An event whose end is missing is given out all the same, against the standard: a server that closes
    /// right after its last line has said it.
    pub(super) fn end<E: From<NotUtf8>>(
        &mut self,
        each: &mut dyn FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.line.is_empty() {
            self.end_line(each)?;
        }
        self.end_event(each)
    }

    fn end_line<E: From<NotUtf8>>(
        &mut self,
        each: &mut dyn FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let whole = std::mem::take(&mut self.line);
        let mut line = whole.as_slice();
        if !std::mem::replace(&mut self.begun, true) {
            line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        }
        if line.is_empty() {
            return self.end_event(each);
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (name, value) = match colon {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &line[line.len()..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            b"event" => self.foreign = !matches!(value, b"" | b"message" | b"error"),
            _ => (),
        }
        Ok(())
    }

    fn end_event<E: From<NotUtf8>>(
        &mut self,
        each: &mut dyn FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let data = std::mem::take(&mut self.data);
        let has_data = std::mem::take(&mut self.has_data);
        let foreign = std::mem::take(&mut self.foreign);
        if !has_data || foreign {
            return Ok(());
        }
        each(std::str::from_utf8(&data).map_err(|_| NotUtf8)?)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The events of a text that comes in pieces of these lengths, over and over.
    fn events(bytes: &[u8], pieces: &[usize]) -> Result<Vec<String>, NotUtf8> {
        let (mut events, mut found) = (Events::default(), Vec::new());
        let mut each = |data: &str| {
            found.push(data.to_owned());
            Ok::<_, NotUtf8>(())
        };
        let (mut rest, mut lengths) = (bytes, pieces.iter().cycle());
        while !rest.is_empty() {
            let (piece, others) = rest.split_at((*lengths.next().unwrap()).clamp(1, rest.len()));
            events.feed(piece, &mut each)?;
            rest = others;
        }
        events.end(&mut each)?;
        Ok(found)
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        for pieces in [vec![1], vec![2, 3], vec![7], vec![usize::MAX]] {
            assert_eq!(
                events(text.as_bytes(), &pieces).unwrap(),
                expected,
                "{text:?} in {pieces:?}"
            );
        }
    }

    #[test]
    fn lines_end_in_each_of_the_three_ways() {
        for end in ["\n", "\r", "\r\n"] {
            let text = format!("data: a{end}data: b{end}{end}data:c{end}{end}");
            check(&text, &["a\nb", "c"]);
        }
    }

    #[test]
    fn comments_and_other_fields_are_passed_over() {
        check(
            ": OPENROUTER PROCESSING\n\nid: 1\nretry: 5\ndata: a\nwhatever\n\n",
            &["a"],
        );
        check("event: ping\ndata: {}\n\ndata: a\n\n", &["a"]);
        check(
            "event: error\ndata: e\n\nevent: message\ndata: m\n\nevent\ndata: n\n\n",
            &["e", "m", "n"],
        );
    }

    #[test]
    fn one_space_is_taken_off_and_an_empty_line_of_data_counts() {
        check("data:  a\n\ndata\n\ndata:\ndata:\n\n", &[" a", "", "\n"]);
    }

    #[test]
    fn a_byte_order_mark_is_passed_over_at_the_beginning_alone() {
        check(
            "\u{feff}data: a\n\ndata: \u{feff}b\n\n",
            &["a", "\u{feff}b"],
        );
    }

    #[test]
    fn an_event_without_an_end_counts_at_the_end_of_the_stream() {
        check("data: a\n\ndata: [DONE]", &["a", "[DONE]"]);
        check("data: a\r", &["a"]);
        check("", &[]);
    }

    #[test]
    fn what_is_not_utf8_is_said() {
        assert_eq!(events(b"data: \xff\n\n", &[1]), Err(NotUtf8));
        assert_eq!(events(b": \xff\n\ndata: a\n\n", &[1]).unwrap(), ["a"]);
    }

    proptest! {
        #[test]
        fn it_does_not_matter_where_the_network_cuts(
            texts in prop::collection::vec("[aä✓😀 :\n]{0,12}", 1..6),
            end in prop::sample::select(vec!["\n", "\r", "\r\n"]),
            pieces in prop::collection::vec(1_usize..9, 1..6),
        ) {
            let mut wire = String::new();
            for text in &texts {
                for line in text.split('\n') {
                    wire += &format!("data: {line}{end}");
                }
                wire += &format!(":{end}{end}");
            }
            prop_assert_eq!(events(wire.as_bytes(), &pieces).unwrap(), texts);
        }

        #[test]
        fn any_bytes_are_read_the_same_in_any_pieces(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            pieces in prop::collection::vec(1_usize..9, 1..6),
        ) {
            prop_assert_eq!(events(&bytes, &pieces), events(&bytes, &[usize::MAX]));
        }
    }
}
