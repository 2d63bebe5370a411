//! The server as a test holds it.
//!
//! Owns the listener and the one thread on which everything runs; `connection.rs` says what happens on a connection.

use std::{
    io,
    net::{SocketAddr, TcpListener, ToSocketAddrs},
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use tokio::{runtime, sync::oneshot};
use tokio_rustls::TlsAcceptor;

use crate::{
    answers::AnswerLine, certificate::Certificate, connection, reply::Reply, request::Received,
    state::State,
};

/// A server that runs until it is dropped, on a thread of its own. After its last reply it answers 500 with a JSON error.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    scheme: &'static str,
    ca_pem: String,
    state: Arc<State>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// A server on a free port of 127.0.0.1. Fails if the system has no port or no thread.
    pub fn start(replies: Vec<Reply>) -> io::Result<Self> {
        Self::start_at(("127.0.0.1", 0), replies)
    }

    /// A server at this address; a server that was dropped may come back at its own. Fails if the address is taken.
    pub fn start_at(address: impl ToSocketAddrs, replies: Vec<Reply>) -> io::Result<Self> {
        Self::run(TcpListener::bind(address)?, replies, None)
    }

    /// A server that speaks TLS on a free port of 127.0.0.1, with a certificate for 127.0.0.1 and `localhost` by an authority that
    /// nobody knows before: [`ca_pem`](Self::ca_pem). Fails as [`start`](Self::start) does.
    pub fn start_tls(replies: Vec<Reply>) -> io::Result<Self> {
        let certificate = Certificate::fresh()?;
        Self::run(
            TcpListener::bind(("127.0.0.1", 0))?,
            replies,
            Some(certificate),
        )
    }

    fn run(
        listener: TcpListener,
        replies: Vec<Reply>,
        certificate: Option<Certificate>,
    ) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (acceptor, ca_pem) = match certificate {
            Some(certificate) => (Some(TlsAcceptor::from(certificate.server)), certificate.ca),
            None => (None, String::new()),
        };
        let scheme = if acceptor.is_some() { "https" } else { "http" };
        let state = Arc::new(State::new(replies));
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let listener = {
            let _inside = runtime.enter();
            tokio::net::TcpListener::from_std(listener)?
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let shared = Arc::clone(&state);
        let thread = thread::Builder::new()
            .name("model-server".into())
            // The runtime is dropped with the closure, and every connection with it.
            .spawn(move || {
                runtime.block_on(async {
                    tokio::select! {
                        _ = stopped => (),
                        () = accept(listener, acceptor, shared) => (),
                    }
                });
            })?;
        Ok(Self {
            address,
            scheme,
            ca_pem,
            state,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Replies that give one line each, in the form that the request asks for: as a stream of pieces of twelve characters with
    /// `delay` before each but the first if it has `"stream": true`, and in one piece otherwise. A stream ends with the usage if
    /// the line has one and the request has `"include_usage": true`.
    pub fn answers(lines: &[AnswerLine], delay: Duration) -> Vec<Reply> {
        lines.iter().map(|line| line.reply(delay)).collect()
    }

    /// `http://127.0.0.1:PORT/v1`, or `https`.
    pub fn base_url(&self) -> String {
        format!("{}://{}/v1", self.scheme, self.address)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The certificate of the authority behind a TLS server, in PEM; empty for a server without TLS.
    pub fn ca_pem(&self) -> &str {
        &self.ca_pem
    }

    /// Every whole request so far, in the order in which they were whole. What was refused as no HTTP or too large is not among
    /// them.
    pub fn received(&self) -> Vec<Received> {
        self.state.received()
    }

    /// How many connections were accepted so far.
    pub fn connections(&self) -> usize {
        self.state.connections()
    }

    /// Waits until so many requests came in all, and says whether they did within the time.
    pub fn wait_for(&self, requests: usize, timeout: Duration) -> bool {
        self.state.wait_for(requests, timeout)
    }

    /// Waits until a connection (counted from 0 as [`Received::connection`] is) was closed, and says whether it was within the
    /// time. It is closed when its client sends no more, which is seen in the middle of a reply too, or when the server has dropped
    /// it; inside a tunnel, when both sides have ended it.
    pub fn wait_closed(&self, connection: usize, timeout: Duration) -> bool {
        self.state.wait_closed(connection, timeout)
    }

    /// Adds a reply after the last one.
    pub fn push(&self, reply: Reply) {
        self.state.push(reply);
    }

    /// From now on, `GET .../models` answers with a list of these and uses up no reply. Before, it is a request like any other.
    pub fn models<I: IntoIterator<Item = impl Into<String>>>(&self, ids: I) {
        self.state
            .set_models(ids.into_iter().map(Into::into).collect());
    }
}

impl Drop for Server {
    /// Closes every connection, whatever it was doing, and waits for the thread.
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic on it was told on standard error.
            let _ = thread.join();
        }
    }
}

async fn accept(
    listener: tokio::net::TcpListener,
    acceptor: Option<TlsAcceptor>,
    state: Arc<State>,
) {
    loop {
        let Ok((tcp, _)) = listener.accept().await else {
            // Out of descriptors, or the client is gone again: others may do better.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let seat = State::seat(&state);
        // A piece of a reply is a segment of its own.
        let _ = tcp.set_nodelay(true);
        match acceptor.clone() {
            None => drop(tokio::spawn(connection::serve(tcp, seat))),
            Some(acceptor) => drop(tokio::spawn(async move {
                // A client that does not trust the certificate ends here, and its seat with it.
                if let Ok(tls) = acceptor.accept(tcp).await {
                    connection::serve(tls, seat).await;
                }
            })),
        }
    }
}
