//! A client that is as plain as the server is: a socket, and what was read from it.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

/// What a test waits for at most; reached only where something is broken.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A connection, over TCP or something on top of it.
pub(crate) struct Client<S>(pub(crate) S);

/// An answer with its body out of its framing.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) head: String,
    pub(crate) body: String,
}

pub(crate) fn socket(address: SocketAddr) -> TcpStream {
    let socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.set_write_timeout(Some(PATIENCE)).unwrap();
    socket
}

impl Client<TcpStream> {
    pub(crate) fn of(address: SocketAddr) -> Self {
        Self(socket(address))
    }
}

impl<S: Read + Write> Client<S> {
    pub(crate) fn send(&mut self, text: impl AsRef<[u8]>) {
        self.0.write_all(text.as_ref()).unwrap();
        self.0.flush().unwrap();
    }

    pub(crate) fn post(&mut self, body: &str) {
        let length = body.len();
        self.send(format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n{body}"
        ));
    }

    /// Posts and reads the answer.
    pub(crate) fn ask(&mut self, body: &str) -> Answer {
        self.post(body);
        self.answer()
    }

    /// The next so many bytes.
    pub(crate) fn take(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.0.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// Everything up to and including this text.
    pub(crate) fn until(&mut self, end: &str) -> String {
        let mut bytes = Vec::new();
        while !bytes.ends_with(end.as_bytes()) {
            bytes.extend(self.take(1));
        }
        String::from_utf8(bytes).unwrap()
    }

    /// Everything up to the end of the connection, which is to be a proper one.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.0.read_to_end(&mut bytes).unwrap();
        bytes
    }

    /// How reading ends when what has come is read.
    pub(crate) fn end(&mut self) -> io::Result<usize> {
        self.0.read_to_end(&mut Vec::new())
    }

    /// The next answer, which is to be correct.
    pub(crate) fn answer(&mut self) -> Answer {
        let head = self.until("\r\n\r\n");
        let body = if let Some(length) = header(&head, "content-length") {
            self.take(length.parse().unwrap())
        } else if header(&head, "transfer-encoding") == Some("chunked") {
            self.chunks().concat()
        } else {
            self.rest()
        };
        Answer {
            head,
            body: String::from_utf8(body).unwrap(),
        }
    }

    /// A body in chunks, up to and including the last, empty one, which is not given.
    pub(crate) fn chunks(&mut self) -> Vec<Vec<u8>> {
        let mut chunks = Vec::new();
        loop {
            let size = self.until("\r\n");
            let chunk = self.take(usize::from_str_radix(size.trim(), 16).unwrap());
            assert_eq!(self.take(2), b"\r\n");
            if chunk.is_empty() {
                return chunks;
            }
            chunks.push(chunk);
        }
    }
}

impl Answer {
    pub(crate) fn status(&self) -> u16 {
        self.head.split(' ').nth(1).unwrap().parse().unwrap()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// The data of its events.
    pub(crate) fn events(&self) -> Vec<&str> {
        let events = self.body.strip_suffix("\n\n").unwrap().split("\n\n");
        events
            .map(|event| event.strip_prefix("data: ").unwrap())
            .collect()
    }
}

/// The value of a header of a head, whose names are as the server writes them.
pub(crate) fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let lines = head.lines().filter_map(|line| line.split_once(": "));
    lines
        .filter(|(other, _)| *other == name)
        .map(|(_, value)| value)
        .next()
}
