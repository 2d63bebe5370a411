//! What happens on one connection: a request, its reply, and the next, until one of the sides ends it.

use std::{future::pending, net::SocketAddr};

use crate::{
    reply::{Framing, Piece, Reply},
    request::{self, Received},
    state::Seat,
    wire::{Stream, Wire},
};

/// How a reply leaves its connection.
enum Outcome {
    /// Open for the next request.
    Next,
    /// To be ended as it should be.
    Finish,
    /// Gone already, from the other side.
    Gone,
    Cut,
    Reset,
    Tunnel(SocketAddr),
}

/// Serves a connection to its end.
pub(crate) async fn serve<S: Stream>(stream: S, seat: Seat) {
    let mut wire = Wire::new(stream, seat);
    loop {
        let outcome = match request::read(&mut wire).await {
            Ok(Some(request)) => {
                let reply = wire.seat().reply(&request);
                Delivery::new(&request, &reply).run(&mut wire).await
            }
            Ok(None) => Outcome::Finish,
            Err(refusal) => Delivery::of_refusal(&refusal.reply()).run(&mut wire).await,
        };
        match outcome {
            Outcome::Next => (),
            Outcome::Finish => return wire.finish().await,
            Outcome::Gone => return,
            Outcome::Cut => return wire.cut(),
            Outcome::Reset => return wire.reset(),
            Outcome::Tunnel(to) => {
                // If nobody listens there, the connection is dropped, as `Piece::Tunnel` says.
                let _ = wire.tunnel(to).await;
                return;
            }
        }
    }
}

/// A reply to a certain request.
struct Delivery<'a> {
    reply: &'a Reply,
    /// `None` where the standard knows neither body nor framing: after a `CONNECT` that succeeded, and for some statuses.
    framing: Option<Framing>,
    has_body: bool,
    keep: bool,
}

impl<'a> Delivery<'a> {
    fn new(request: &Received, reply: &'a Reply) -> Self {
        let tunnel = request.method == "CONNECT" && (200..300).contains(&reply.status);
        let without = tunnel || matches!(reply.status, 100..=199 | 204 | 304);
        let exact = without || matches!(reply.framing, Framing::ContentLength | Framing::Chunked);
        Self {
            reply,
            framing: Some(reply.framing).filter(|_| !without),
            has_body: request.method != "HEAD",
            keep: tunnel || exact && request.keeps_alive() && !reply.says("connection", "close"),
        }
    }

    fn of_refusal(reply: &'a Reply) -> Self {
        Self {
            reply,
            framing: Some(reply.framing),
            has_body: true,
            keep: false,
        }
    }

    async fn run<S: Stream>(&self, wire: &mut Wire<S>) -> Outcome {
        if self.reply.framing != Framing::Wire {
            let head = self.reply.head(self.framing, !self.keep);
            if wire.send(&head).await.is_err() {
                return Outcome::Gone;
            }
        }
        for piece in &self.reply.pieces {
            let goes_on = match piece {
                Piece::Bytes(bytes) => self.send(wire, bytes).await,
                Piece::Wait(time) => wire.watch(tokio::time::sleep(*time)).await.is_some(),
                Piece::Hang => wire.watch(pending::<()>()).await.is_some(),
                Piece::Close => return Outcome::Cut,
                Piece::Reset => return Outcome::Reset,
                Piece::Tunnel(to) => return Outcome::Tunnel(*to),
            };
            if !goes_on {
                return Outcome::Gone;
            }
        }
        let chunked = self.framing == Some(Framing::Chunked) && self.has_body;
        if chunked && wire.send(b"0\r\n\r\n").await.is_err() {
            return Outcome::Gone;
        }
        if self.keep {
            Outcome::Next
        } else {
            Outcome::Finish
        }
    }

    /// Sends a piece of the body, and says whether that was possible.
    async fn send<S: Stream>(&self, wire: &mut Wire<S>, bytes: &[u8]) -> bool {
        if !self.has_body || bytes.is_empty() {
            return true;
        }
        let sent = if self.framing == Some(Framing::Chunked) {
            let size = format!("{:x}\r\n", bytes.len());
            let chunk = [size.as_bytes(), bytes, b"\r\n"].concat();
            wire.send(&chunk).await
        } else {
            wire.send(bytes).await
        };
        sent.is_ok()
    }
}
