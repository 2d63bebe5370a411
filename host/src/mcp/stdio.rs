//! One client, on standard input and output, one message a line.

use std::{
    future::Future,
    io,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
};

use rmcp::{
    ServiceExt as _,
    service::ServerInitializeError,
    transport::{async_rw::AsyncRwTransport, io::stdio_pipes},
};
use tokio::io::{AsyncRead, ReadBuf};
use wharf::Error;

use super::{MAX_MESSAGE_BYTES, edge::Edge, error::McpError, runs::Runs};

/// Serves until standard input ends or `stop` is ready; then runs are cancelled, and it returns when they have stopped.
/// Standard output carries messages alone. A line that is too long or no JSON is passed over, and nobody answers it.
pub(crate) async fn serve_stdio(edge: Edge, stop: impl Future<Output = ()>) -> Result<(), Error> {
    let (input, output) = stdio_pipes();
    let runs = Arc::clone(&edge.runs);
    let input = Input {
        input,
        runs: Arc::clone(&runs),
        in_a_line: false,
    };
    let transport =
        AsyncRwTransport::new_server(input, output).with_max_line_length(MAX_MESSAGE_BYTES);
    let mut stop = pin!(stop);
    let begun = tokio::select! {
        begun = edge.serve(transport) => begun,
        () = &mut stop => return Ok(()),
    };
    let session = match begun {
        Ok(session) => session,
        // A client that leaves before it has begun.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => {
            let why = error.to_string();
            return Err(McpError::Handshake { why }.into());
        }
    };
    let cancellation = session.cancellation_token();
    let mut ended = pin!(session.waiting());
    tokio::select! {
        _ = &mut ended => (),
        () = &mut stop => {
            runs.close();
            cancellation.cancel();
            let _ = ended.await;
        }
    }
    runs.close();
    runs.settled().await;
    Ok(())
}

/// Standard input, at whose end all runs are asked to stop: so their answers still reach a client that reads on. A last line that
/// nobody ended is one all the same.
struct Input<R> {
    input: R,
    runs: Arc<Runs>,
    in_a_line: bool,
}

impl<R: AsyncRead + Unpin> AsyncRead for Input<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let room = buffer.remaining() > 0;
        let read = Pin::new(&mut self.input).poll_read(context, buffer);
        if room && matches!(read, Poll::Ready(Ok(()))) {
            match buffer.filled()[before..].last() {
                Some(last) => self.in_a_line = *last != b'\n',
                None if self.in_a_line => {
                    buffer.put_slice(b"\n");
                    self.in_a_line = false;
                }
                None => self.runs.close(),
            }
        }
        read
    }
}
