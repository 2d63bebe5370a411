//! Many clients, over HTTP on this machine alone.
//!
//! A page that a browser shows may reach loopback too, by a name that its owner has lead there. So a request is answered only if
//! it names this address as its host, and if its origin, where it has one, is this address.

use std::{convert::Infallible, future::Future, pin::pin, sync::Arc, time::Duration};

use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited, combinators::BoxBody};
use hyper::{
    Request, Response, StatusCode,
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};

use super::{MAX_MESSAGE_BYTES, edge::Edge, sessions::BoundedSessions};

/// Where the protocol is spoken.
pub(crate) const PATH: &str = "/mcp";
/// The most connections at once; a further one waits.
const MAX_CONNECTIONS: usize = 256;
/// How long a client may take for the head of a request.
const HEAD: Duration = Duration::from_secs(10);
/// How long a client may take for the body of a request: a connection is a place that others wait for.
const BODY: Duration = Duration::from_secs(10);
/// How long connections may take to end once they were asked to.
const PARTING: Duration = Duration::from_secs(2);

type Service = StreamableHttpService<Edge, BoundedSessions>;

/// Serves what this listener accepts, until `stop` is ready; then runs are cancelled, and it returns when they have stopped. The
/// listener is bound to this port of loopback.
pub(crate) async fn serve_http(
    edge: Edge,
    listener: TcpListener,
    port: u16,
    stop: impl Future<Output = ()>,
) {
    let config = config(port);
    let parting = config.cancellation_token.clone();
    let runs = Arc::clone(&edge.runs);
    let sessions = Arc::new(BoundedSessions::new());
    let service: Service = StreamableHttpService::new(move || Ok(edge.clone()), sessions, config);
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut stop = pin!(stop);
    loop {
        let accepted = async {
            // The semaphore is never closed.
            let place = Arc::clone(&room).acquire_owned().await.ok();
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            accepted = accepted => accepted,
            () = &mut stop => break,
        };
        match accepted {
            Ok((connection, _)) => {
                let service = service.clone();
                tokio::spawn(async move {
                    serve_connection(connection, service).await;
                    drop(place);
                });
            }
            Err(error) => {
                // Such as too many open files: what is open ends some time.
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
    runs.close();
    runs.settled().await;
    parting.cancel();
    let all = room.acquire_many(MAX_CONNECTIONS as u32);
    let _ = tokio::time::timeout(PARTING, all).await;
}

fn config(port: u16) -> StreamableHttpServerConfig {
    let hosts = ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{port}"));
    let origins = hosts.clone().map(|host| format!("http://{host}"));
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        .with_max_request_body_bytes(MAX_MESSAGE_BYTES)
}

async fn serve_connection(connection: TcpStream, service: Service) {
    let answer = service_fn(move |request| answer(service.clone(), request));
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .serve_connection(TokioIo::new(connection), answer)
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, "a connection broke off");
    }
}

async fn answer(
    service: Service,
    request: Request<Incoming>,
) -> Result<Response<BoxBody<Bytes, Infallible>>, Infallible> {
    if request.uri().path() != PATH {
        let text = "Not Found: the protocol is spoken at /mcp";
        return Ok(refusal(StatusCode::NOT_FOUND, text));
    }
    let (head, body) = request.into_parts();
    let body = Limited::new(body, MAX_MESSAGE_BYTES).collect();
    match tokio::time::timeout(BODY, body).await {
        Ok(Ok(body)) => {
            let request = Request::from_parts(head, Full::new(body.to_bytes()));
            Ok(service.handle(request).await)
        }
        Ok(Err(error)) if error.is::<LengthLimitError>() => Ok(refusal(
            StatusCode::PAYLOAD_TOO_LARGE,
            "Payload Too Large: a message has at most 4 MiB",
        )),
        Ok(Err(_)) => Ok(refusal(
            StatusCode::BAD_REQUEST,
            "Bad Request: the body broke off",
        )),
        Err(_) => Ok(refusal(
            StatusCode::REQUEST_TIMEOUT,
            "Request Timeout: a body may take 10 seconds",
        )),
    }
}

fn refusal(status: StatusCode, text: &'static str) -> Response<BoxBody<Bytes, Infallible>> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *response.status_mut() = status;
    response
}
