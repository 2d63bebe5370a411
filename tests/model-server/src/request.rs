//! A request, and how it is read from the wire.
//!
//! Owns the bounds: 64 KiB and 128 headers for a head, 16 MiB for a body. What goes beyond them, or is no HTTP/1, is refused.

use serde_json::Value;

use crate::{
    reply::Reply,
    wire::{Stream, Wire},
};

const MOST_HEAD: usize = 64 * 1024;
const MOST_HEADERS: usize = 128;
const MOST_BODY: usize = 16 * 1024 * 1024;
/// For the line before a chunk.
const MOST_LINE: usize = 4 * 1024;

/// A request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Received {
    /// `POST`, `CONNECT` ...
    pub method: String,
    /// As in the first line: a path, an absolute address (to a proxy), or host and port (of a `CONNECT`).
    pub target: String,
    /// `HTTP/1.1` or `HTTP/1.0`.
    pub version: String,
    /// Names in lower case and values, in the order in which they came. What is no UTF-8 in a value is replaced.
    pub headers: Vec<(String, String)>,
    /// The body, out of its chunks if it came in chunks.
    pub body: Vec<u8>,
    /// The number of the connection, from 0 in the order in which they were accepted.
    pub connection: usize,
}

impl Received {
    /// The value of the first header of this name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self
            .headers
            .iter()
            .find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    ///
    /// # Panics
    /// If it is not.
    #[track_caller]
    pub fn json(&self) -> Value {
        match serde_json::from_slice(&self.body) {
            Ok(value) => value,
            Err(error) => panic!(
                "the body of {} {} is not JSON ({error}): {:?}",
                self.method,
                self.target,
                String::from_utf8_lossy(&self.body)
            ),
        }
    }

    pub(crate) fn asks_for_models(&self) -> bool {
        let path = self.target.split('?').next().unwrap_or_default();
        self.method == "GET" && path.ends_with("/models")
    }

    /// Whether the client wants to go on with this connection.
    pub(crate) fn keeps_alive(&self) -> bool {
        if self.version == "HTTP/1.0" {
            self.lists("connection", "keep-alive")
        } else {
            !self.lists("connection", "close")
        }
    }

    /// Whether a header, which is a list, has this member.
    fn lists(&self, name: &str, member: &str) -> bool {
        self.values(name)
            .flat_map(|value| value.split(','))
            .any(|it| it.trim().eq_ignore_ascii_case(member))
    }

    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let headers = self.headers.iter().filter(move |(it, _)| it == name);
        headers.map(|(_, value)| value.as_str())
    }

    fn body_length(&self) -> Result<BodyLength, Refusal> {
        let mut lengths = self.values("content-length");
        let length = lengths.next();
        if lengths.any(|other| Some(other) != length) {
            return Err(Refusal::bad("there are two lengths"));
        }
        if self.values("transfer-encoding").next().is_some() {
            if length.is_some() {
                return Err(Refusal::bad("there are a length and a transfer encoding"));
            }
            let only = self
                .values("transfer-encoding")
                .collect::<Vec<_>>()
                .join(",");
            if only.trim().eq_ignore_ascii_case("chunked") {
                return Ok(BodyLength::Chunked);
            }
            return Err(Refusal(501, "the only transfer encoding is `chunked`"));
        }
        let Some(length) = length else {
            return Ok(BodyLength::Known(0));
        };
        let digits = !length.is_empty() && length.bytes().all(|it| it.is_ascii_digit());
        match length.parse() {
            Ok(length) if digits && length <= MOST_BODY => Ok(BodyLength::Known(length)),
            _ if digits => Err(Refusal::TOO_LARGE),
            _ => Err(Refusal::bad("the length is no number")),
        }
    }
}

enum BodyLength {
    Known(usize),
    Chunked,
}

/// Why a request is not read: a status and a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refusal(u16, &'static str);

impl Refusal {
    const TOO_LARGE: Self = Self(413, "the body has more than 16 MiB");

    fn bad(why: &'static str) -> Self {
        Self(400, why)
    }

    pub(crate) fn reply(self) -> Reply {
        Reply::error(self.0, self.1).header("connection", "close")
    }
}

/// Reads the next request; `None` when the client sends no more, even in the middle of one.
pub(crate) async fn read<S: Stream>(wire: &mut Wire<S>) -> Result<Option<Received>, Refusal> {
    let mut request = loop {
        if let Some((request, length)) = head(&wire.inbox.buffer, wire.connection())? {
            wire.inbox.buffer.drain(..length);
            break request;
        }
        if wire.inbox.buffer.len() > MOST_HEAD {
            return Err(Refusal(431, "the head has more than 64 KiB"));
        }
        if !wire.inbox.fill().await {
            return Ok(None);
        }
    };
    let length = request.body_length()?;
    let expects = request.version == "HTTP/1.1" && request.lists("expect", "100-continue");
    if expects && wire.inbox.buffer.is_empty() {
        let sent = wire.send(b"HTTP/1.1 100 Continue\r\n\r\n").await;
        if sent.is_err() {
            return Ok(None);
        }
    }
    let body = match length {
        BodyLength::Known(length) => take(wire, length).await,
        BodyLength::Chunked => chunks(wire).await?,
    };
    Ok(body.map(|body| {
        request.body = body;
        request
    }))
}

/// The head at the beginning of the bytes, if it is whole, and its length.
fn head(bytes: &[u8], connection: usize) -> Result<Option<(Received, usize)>, Refusal> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    let length = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => {
            return Err(Refusal(431, "there are more than 128 headers"));
        }
        Err(_) => return Err(Refusal::bad("this is not HTTP/1")),
    };
    let headers = parsed.headers.iter().map(|header| {
        let value = String::from_utf8_lossy(header.value).into_owned();
        (header.name.to_ascii_lowercase(), value)
    });
    let request = Received {
        method: parsed.method.unwrap_or_default().to_owned(),
        target: parsed.path.unwrap_or_default().to_owned(),
        version: format!("HTTP/1.{}", parsed.version.unwrap_or_default()),
        headers: headers.collect(),
        body: Vec::new(),
        connection,
    };
    Ok(Some((request, length)))
}

/// A body in chunks. Extensions and trailers are passed over.
async fn chunks<S: Stream>(wire: &mut Wire<S>) -> Result<Option<Vec<u8>>, Refusal> {
    let mut body = Vec::new();
    loop {
        let Some(line) = line(wire).await? else {
            return Ok(None);
        };
        let size = line.split(';').next().unwrap_or_default().trim();
        if size.is_empty() || !size.bytes().all(|it| it.is_ascii_hexdigit()) {
            return Err(Refusal::bad("the size of a chunk is no number"));
        }
        let size = match usize::from_str_radix(size, 16) {
            Ok(size) if size <= MOST_BODY - body.len() => size,
            _ => return Err(Refusal::TOO_LARGE),
        };
        if size == 0 {
            break;
        }
        let Some(chunk) = take(wire, size).await else {
            return Ok(None);
        };
        body.extend(chunk);
        match take(wire, 2).await {
            Some(end) if end == b"\r\n" => (),
            Some(_) => return Err(Refusal::bad("a chunk does not end where it should")),
            None => return Ok(None),
        }
    }
    for _ in 0..MOST_HEADERS {
        match line(wire).await? {
            Some(line) if line.is_empty() => return Ok(Some(body)),
            Some(_) => (),
            None => return Ok(None),
        }
    }
    Err(Refusal(431, "there are more than 128 trailers"))
}

/// The next line, without its end; `None` when the client sends no more.
async fn line<S: Stream>(wire: &mut Wire<S>) -> Result<Option<String>, Refusal> {
    loop {
        let buffer = &mut wire.inbox.buffer;
        if let Some(end) = buffer.windows(2).position(|it| it == b"\r\n") {
            let line: Vec<u8> = buffer.drain(..end + 2).take(end).collect();
            return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
        }
        if buffer.len() > MOST_LINE {
            return Err(Refusal::bad("a line of the body has no end"));
        }
        if !wire.inbox.fill().await {
            return Ok(None);
        }
    }
}

/// The next so many bytes; `None` when the client sends no more before.
async fn take<S: Stream>(wire: &mut Wire<S>, length: usize) -> Option<Vec<u8>> {
    while wire.inbox.buffer.len() < length {
        if !wire.inbox.fill().await {
            return None;
        }
    }
    let rest = wire.inbox.buffer.split_off(length);
    Some(std::mem::replace(&mut wire.inbox.buffer, rest))
}
