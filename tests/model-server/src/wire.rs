//! A connection as bytes.
//!
//! Owns reading while something else goes on, which is how a client is seen to go in the middle of a reply, and the four ways to
//! end a connection. It knows nothing of HTTP.

use std::{io, net::SocketAddr, pin::pin};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf},
    net::TcpStream,
};
use tokio_rustls::server::TlsStream;

use crate::state::Seat;

/// How much is read ahead while a reply is under way. A client that sends more in that time is not seen to go.
const MOST_AHEAD: usize = 1024 * 1024;
const READ: usize = 16 * 1024;

/// What a wire is made of.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static {
    /// The socket underneath.
    fn tcp(&self) -> &TcpStream;
}

impl Stream for TcpStream {
    fn tcp(&self) -> &TcpStream {
        self
    }
}

impl Stream for TlsStream<TcpStream> {
    fn tcp(&self) -> &TcpStream {
        self.get_ref().0
    }
}

pub(crate) struct Wire<S> {
    pub(crate) inbox: Inbox<S>,
    write: WriteHalf<S>,
}

/// What the client sent and nobody has taken yet.
pub(crate) struct Inbox<S> {
    pub(crate) buffer: Vec<u8>,
    read: ReadHalf<S>,
    ended: bool,
    seat: Seat,
}

impl<S: Stream> Inbox<S> {
    /// Reads on, and says whether there was something. Loses nothing if it is dropped before.
    pub(crate) async fn fill(&mut self) -> bool {
        if self.ended {
            return false;
        }
        self.buffer.reserve(READ);
        // A reset, and TLS without its end, are an end as well.
        if matches!(self.read.read_buf(&mut self.buffer).await, Ok(0) | Err(_)) {
            self.ended = true;
            self.seat.close();
        }
        !self.ended
    }

    fn has_room(&self) -> bool {
        self.buffer.len() < MOST_AHEAD
    }
}

impl<S: Stream> Wire<S> {
    pub(crate) fn new(stream: S, seat: Seat) -> Self {
        let (read, write) = tokio::io::split(stream);
        let inbox = Inbox {
            buffer: Vec::new(),
            read,
            ended: false,
            seat,
        };
        Self { inbox, write }
    }

    pub(crate) fn connection(&self) -> usize {
        self.inbox.seat.connection()
    }

    pub(crate) fn seat(&self) -> &Seat {
        &self.inbox.seat
    }

    /// Sends all of it, and reads meanwhile. A client that sends no more may still want to read, so only a failure to write ends it.
    pub(crate) async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Self { inbox, write } = self;
        let mut sending = pin!(async {
            write.write_all(bytes).await?;
            write.flush().await
        });
        loop {
            tokio::select! {
                biased;
                sent = &mut sending => return sent,
                _ = inbox.fill(), if !inbox.ended && inbox.has_room() => (),
            }
        }
    }

    /// Waits for something, and reads meanwhile. `None` when the client has gone before.
    pub(crate) async fn watch<T>(&mut self, what: impl Future<Output = T>) -> Option<T> {
        let mut what = pin!(what);
        loop {
            tokio::select! {
                biased;
                outcome = &mut what => return Some(outcome),
                more = self.inbox.fill(), if self.inbox.has_room() => if !more { return None },
            }
        }
    }

    /// Ends it as it should be: says so, and waits until the client has ended it too, so that nothing on the way is lost.
    pub(crate) async fn finish(mut self) {
        if self.write.shutdown().await.is_err() {
            return;
        }
        while self.inbox.fill().await {
            self.inbox.buffer.clear();
        }
    }

    /// Drops it with a FIN.
    pub(crate) fn cut(self) {
        let stream = self.inbox.read.unsplit(self.write);
        // A socket with unread bytes would be dropped with a RST.
        let mut unread = vec![0; READ];
        while matches!(stream.tcp().try_read(&mut unread), Ok(1..)) {}
    }

    /// Drops it with a RST.
    pub(crate) fn reset(self) {
        let stream = self.inbox.read.unsplit(self.write);
        // What fails here is seen by the test that asked for it.
        let _ = stream.tcp().set_zero_linger();
    }

    /// Joins it to an address until both sides have ended.
    pub(crate) async fn tunnel(self, to: SocketAddr) -> io::Result<()> {
        let mut far = TcpStream::connect(to).await?;
        far.set_nodelay(true)?;
        far.write_all(&self.inbox.buffer).await?;
        let mut near = self.inbox.read.unsplit(self.write);
        tokio::io::copy_bidirectional(&mut near, &mut far).await?;
        Ok(())
    }
}
