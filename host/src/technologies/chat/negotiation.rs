//! What a server takes and what it refuses, as far as that can be left out.
//!
//! Owns the order in which a client gives way: the form of the answer from `json_schema` over `json_object` to nothing, in the mode
//! `auto`; and the count of tokens at the end of a stream. A refusal is no answer and costs nothing, so giving way belongs to the
//! same attempt. What was learnt is kept for the next one, once the server has taken it.

use super::{server_error::ServerError, settings::ResponseFormat};

/// What a request says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Terms {
    /// How the form of the answer is asked for.
    pub(super) format: Format,
    /// Whether the count of tokens is asked for in a stream.
    pub(super) usage_in_stream: bool,
    may_give_way: bool,
}

/// How the form of an answer is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    JsonSchema,
    JsonObject,
    Text,
}

impl Terms {
    /// Those to begin with.
    pub(super) fn of(setting: ResponseFormat) -> Self {
        Self {
            format: match setting {
                ResponseFormat::Auto | ResponseFormat::JsonSchema => Format::JsonSchema,
                ResponseFormat::JsonObject => Format::JsonObject,
                ResponseFormat::Text => Format::Text,
            },
            usage_in_stream: true,
            may_give_way: setting == ResponseFormat::Auto,
        }
    }

    /// The next terms to try after a refusal; none, if the refusal is about something else, or there is nothing left to give
    /// way in. `schema` and `stream` say what the refused request asked for at all.
    pub(super) fn after(self, refusal: &ServerError, schema: bool, stream: bool) -> Option<Self> {
        if !matches!(refusal.status, 400 | 422) {
            return None;
        }
        if stream && self.usage_in_stream && refusal.names(&["stream_options", "include_usage"]) {
            return Some(Self {
                usage_in_stream: false,
                ..self
            });
        }
        let about_format = ["response_format", "json_schema", "json_object", "json mode"];
        if !schema || !self.may_give_way || !refusal.names(&about_format) {
            return None;
        }
        let format = match self.format {
            Format::JsonSchema => Format::JsonObject,
            Format::JsonObject => Format::Text,
            Format::Text => return None,
        };
        Some(Self { format, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(status: u16, body: &str) -> ServerError {
        ServerError::read(status, body.as_bytes())
    }

    #[test]
    fn the_form_gives_way_step_by_step_and_only_to_a_refusal_of_it() {
        let said = r#"{"error":{"message":"This response_format type is unavailable now"}}"#;
        let first = Terms::of(ResponseFormat::Auto);
        let second = first.after(&refusal(400, said), true, true).unwrap();
        assert_eq!(second.format, Format::JsonObject);
        let third = second.after(&refusal(422, said), true, true).unwrap();
        assert_eq!(third.format, Format::Text);
        assert_eq!(third.after(&refusal(400, said), true, true), None);
        assert_eq!(first.after(&refusal(500, said), true, true), None);
        assert_eq!(first.after(&refusal(400, said), false, true), None);
        assert_eq!(
            first.after(&refusal(400, "{\"error\":\"no\"}"), true, true),
            None
        );
        let set = Terms::of(ResponseFormat::JsonSchema);
        assert_eq!(set.after(&refusal(400, said), true, true), None);
    }

    #[test]
    fn the_count_of_tokens_gives_way_once() {
        let said = r#"{"detail":[{"loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}"#;
        let first = Terms::of(ResponseFormat::JsonSchema);
        let second = first.after(&refusal(422, said), true, true).unwrap();
        assert!(!second.usage_in_stream);
        assert_eq!(second.format, Format::JsonSchema);
        assert_eq!(second.after(&refusal(422, said), true, true), None);
        assert_eq!(first.after(&refusal(422, said), true, false), None);
    }
}
