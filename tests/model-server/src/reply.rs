//! What is answered to one request.
//!
//! Owns the words in which a test says it. Nothing is checked: a header may lie, and a body may be no UTF-8.

use std::{fmt, net::SocketAddr, sync::Arc, time::Duration};

use serde_json::{Value, json};

use crate::{chat::Chat, request::Received};

/// One reply, piece by piece.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// The reason phrase.
    pub reason: String,
    /// Headers in the order in which they are sent, beside those that the framing and the end of the connection need. One that is
    /// given here is not added a second time.
    pub headers: Vec<(String, String)>,
    /// The body, and what happens between its parts.
    pub pieces: Vec<Piece>,
    /// How the client learns where the body ends.
    pub framing: Framing,
    maker: Option<Maker>,
}

/// A part of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Piece {
    /// These bytes, sent at once. With [`Framing::Chunked`], a chunk; none if it is empty.
    Bytes(Vec<u8>),
    /// Nothing for so long; ends the connection if the client goes meanwhile.
    Wait(Duration),
    /// Nothing until the client goes or the server stops.
    Hang,
    /// The connection is dropped now, with a FIN; with TLS, without the notice that belongs before it.
    Close,
    /// The connection is dropped now, with a RST.
    Reset,
    /// From now on, the client's bytes go to this address and those from there to the client, until both have ended. If nobody
    /// listens there, the connection is dropped.
    Tunnel(SocketAddr),
}

/// How the client learns where the body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Framing {
    /// By a `content-length` that is the sum of the bytes.
    ContentLength,
    /// By a `content-length` of this, whatever the bytes are; the connection is closed after them.
    ContentLengthOf(u64),
    /// By chunks, and an empty one at the end.
    Chunked,
    /// By the end of the connection.
    UntilClose,
    /// There is no head: the pieces are all that is sent, and the connection is closed after them.
    Wire,
}

/// Makes a reply when the request is there.
#[derive(Clone)]
struct Maker(Arc<dyn Fn(&Received) -> Reply + Send + Sync>);

impl fmt::Debug for Maker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a function of the request")
    }
}

impl Reply {
    /// A reply without a body, of the length 0.
    pub fn new(status: u16) -> Self {
        Self {
            status,
            reason: reason(status).to_owned(),
            headers: Vec::new(),
            pieces: Vec::new(),
            framing: Framing::ContentLength,
            maker: None,
        }
    }

    /// A JSON document.
    pub fn json(status: u16, value: &Value) -> Self {
        Self::new(status)
            .header("content-type", "application/json")
            .pieces(vec![Piece::Bytes(value.to_string().into_bytes())])
    }

    /// An error in the form of chat completions.
    pub fn error(status: u16, message: &str) -> Self {
        let kind = if status < 500 {
            "invalid_request_error"
        } else {
            "server_error"
        };
        Self::json(
            status,
            &json!({ "error": { "message": message, "type": kind, "param": null, "code": null } }),
        )
    }

    /// Server-sent events, each a chunk; a text of several lines has several lines of data. `[DONE]` is not added.
    pub fn sse(events: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let event = |text: String| {
            let lines = text.split('\n').map(|line| format!("data: {line}\n"));
            Piece::Bytes((lines.collect::<String>() + "\n").into_bytes())
        };
        Self::new(200)
            .header("content-type", "text/event-stream")
            .framing(Framing::Chunked)
            .pieces(events.into_iter().map(|text| event(text.into())).collect())
    }

    /// Exactly these bytes, and then the end of the connection.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self::wire(vec![Piece::Bytes(bytes.into())])
    }

    /// Exactly these pieces, without a head, and then the end of the connection: `Reply::wire(vec![Piece::Hang])` never answers.
    pub fn wire(pieces: Vec<Piece>) -> Self {
        Self::new(200).framing(Framing::Wire).pieces(pieces)
    }

    /// The answer to a `CONNECT`: a tunnel to this address, whatever the request named.
    pub fn tunnel(to: SocketAddr) -> Self {
        let mut reply = Self::new(200).pieces(vec![Piece::Tunnel(to)]);
        reply.reason = "Connection established".into();
        reply
    }

    /// A completion in one piece: [`Chat`] with nothing but a text.
    pub fn chat(text: impl Into<String>) -> Self {
        Chat::new(text).reply()
    }

    /// A completion as a stream, so many characters in each event: [`Chat`] with nothing but a text.
    pub fn chat_stream(text: impl Into<String>, chunk_chars: usize) -> Self {
        Chat::new(text).stream(chunk_chars)
    }

    /// A reply that is made when the request is there, on the server's thread; it should not wait. What is set on this one
    /// beforehand is not seen.
    pub fn from_request(make: Arc<dyn Fn(&Received) -> Self + Send + Sync>) -> Self {
        let mut reply = Self::new(500);
        reply.maker = Some(Maker(make));
        reply
    }

    /// Has this header and no other of the name.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self = self.without_header(name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Has no header of this name, save those that the framing adds.
    #[must_use]
    pub fn without_header(mut self, name: &str) -> Self {
        self.headers
            .retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        self
    }

    /// Has this framing.
    #[must_use]
    pub fn framing(mut self, framing: Framing) -> Self {
        self.framing = framing;
        self
    }

    /// Has these pieces in place of its own.
    #[must_use]
    pub fn pieces(mut self, pieces: Vec<Piece>) -> Self {
        self.pieces = pieces;
        self
    }

    /// Has this piece after its own.
    #[must_use]
    pub fn then(mut self, piece: Piece) -> Self {
        self.pieces.push(piece);
        self
    }

    /// Waits so long before each piece of bytes but the first.
    #[must_use]
    pub fn drip(mut self, delay: Duration) -> Self {
        let mut dripped = Vec::with_capacity(2 * self.pieces.len());
        let mut first = true;
        for piece in self.pieces {
            if matches!(piece, Piece::Bytes(_)) && !std::mem::take(&mut first) {
                dripped.push(Piece::Wait(delay));
            }
            dripped.push(piece);
        }
        self.pieces = dripped;
        self
    }

    /// Cuts every piece of bytes into pieces of so many (at least one), in the middle of a character too.
    #[must_use]
    pub fn cut(mut self, size: usize) -> Self {
        let mut all = Vec::new();
        for piece in self.pieces {
            match piece {
                Piece::Bytes(bytes) => all.extend(
                    bytes
                        .chunks(size.max(1))
                        .map(|part| Piece::Bytes(part.to_vec())),
                ),
                other => all.push(other),
            }
        }
        self.pieces = all;
        self
    }

    /// The reply itself, made now if it was to be made from the request.
    pub(crate) fn resolved(self, request: &Received) -> Self {
        let mut reply = self;
        while let Some(Maker(make)) = reply.maker.take() {
            reply = make(request);
        }
        reply
    }

    /// Whether a header of this name says so, in any case.
    pub(crate) fn says(&self, name: &str, value: &str) -> bool {
        self.headers.iter().any(|(other, text)| {
            other.eq_ignore_ascii_case(name) && text.eq_ignore_ascii_case(value)
        })
    }

    /// The head as it is sent: `framed` with what the framing needs, `close` with the notice that the connection ends.
    pub(crate) fn head(&self, framed: Option<Framing>, close: bool) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.status, self.reason);
        let mut line = |name: &str, value: &str| head += &format!("{name}: {value}\r\n");
        for (name, value) in &self.headers {
            line(name, value);
        }
        let mut add = |name: &str, value: &str| {
            if !self
                .headers
                .iter()
                .any(|(it, _)| it.eq_ignore_ascii_case(name))
            {
                line(name, value);
            }
        };
        match framed {
            Some(Framing::ContentLength) => add("content-length", &self.length().to_string()),
            Some(Framing::ContentLengthOf(length)) => add("content-length", &length.to_string()),
            Some(Framing::Chunked) => add("transfer-encoding", "chunked"),
            Some(Framing::UntilClose | Framing::Wire) | None => (),
        }
        if close {
            add("connection", "close");
        }
        head += "\r\n";
        head.into_bytes()
    }

    fn length(&self) -> usize {
        let lengths = self.pieces.iter().map(|piece| match piece {
            Piece::Bytes(bytes) => bytes.len(),
            _ => 0,
        });
        lengths.sum()
    }
}

/// The usual phrase of a status; empty, as the standard allows, for one that is rarely seen.
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        204 => "No Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        407 => "Proxy Authentication Required",
        408 => "Request Timeout",
        409 => "Conflict",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        422 => "Unprocessable Content",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "",
    }
}
