//! One attempt on the wire: requests and the response that counts, under the attempt's clocks and bounds.
//!
//! Owns redirects, what is read of a response and for how long, and the making of failures out of statuses. Knows no field of a body.

use std::{pin::Pin, time::SystemTime};

use reqwest::{
    Client, Method, Response, Url,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION},
};
use tokio::time::{Sleep, sleep, timeout};

use super::{
    fault::{ChatFaultKind, Failure},
    retry_after::retry_after,
    server_error::ServerError,
    settings::ChatSettings,
    transport_error,
};
use crate::words::clock::{Clock as _, SystemClock};

/// The most redirects of one request.
const MOST_REDIRECTS: u32 = 3;

/// The most bytes of an error that are read.
const MOST_ERROR: usize = 64 * 1024;

/// What is asked for.
pub(super) struct Question {
    pub(super) method: Method,
    pub(super) url: Url,
    /// What the answer may be.
    pub(super) accept: &'static str,
    /// JSON.
    pub(super) body: Option<Vec<u8>>,
}

/// What a server said to a question.
pub(super) enum Reply {
    /// 200 to 299.
    Taken(Response),
    /// 400 or more.
    Refused(Refusal),
}

/// A refusal, and when to come again.
pub(super) struct Refusal {
    pub(super) error: ServerError,
    headers: HeaderMap,
}

impl Refusal {
    pub(super) fn into_failure(self) -> Failure {
        let now = SystemTime::from(SystemClock.now());
        Failure {
            retry_after: retry_after(&self.headers, now),
            ..self.error.into_failure()
        }
    }
}

/// One attempt.
pub(super) struct Exchange<'a> {
    http: &'a Client,
    headers: &'a HeaderMap,
    settings: &'a ChatSettings,
    first_byte: Pin<Box<Sleep>>,
    /// The last status.
    pub(super) status: Option<u16>,
    /// The bytes of bodies so far.
    pub(super) bytes: u64,
}

impl<'a> Exchange<'a> {
    /// Begins now.
    pub(super) fn new(
        http: &'a Client,
        headers: &'a HeaderMap,
        settings: &'a ChatSettings,
    ) -> Self {
        Self {
            http,
            headers,
            settings,
            first_byte: Box::pin(sleep(settings.first_byte_timeout())),
            status: None,
            bytes: 0,
        }
    }

    /// Asks, and asks again where the server points to another path of its own.
    pub(super) async fn ask(&mut self, question: &Question) -> Result<Reply, Failure> {
        let mut url = question.url.clone();
        for _ in 0..=MOST_REDIRECTS {
            let response = self.send(question, &url).await?;
            let status = response.status();
            self.status = Some(status.as_u16());
            match status.as_u16() {
                200..300 => return Ok(Reply::Taken(response)),
                400.. => return Ok(Reply::Refused(self.refusal(response).await)),
                307 | 308 => {
                    url = target(&question.url, &url, response.headers())
                        .map_err(|words| of_status(status.as_u16(), words))?
                }
                300..400 => {
                    let words =
                        "only redirects with the status 307 and 308 repeat a request as it is";
                    return Err(of_status(status.as_u16(), words));
                }
                _ => {
                    let words = "a status that ends no request";
                    return Err(Failure::new(ChatFaultKind::ServerError, words));
                }
            }
        }
        let words = format!("more than {MOST_REDIRECTS} redirects, one after the other");
        Err(Failure::new(ChatFaultKind::Redirect, words))
    }

    async fn send(&mut self, question: &Question, url: &Url) -> Result<Response, Failure> {
        let mut request = self
            .http
            .request(question.method.clone(), url.clone())
            .headers(self.headers.clone())
            .header(ACCEPT, HeaderValue::from_static(question.accept));
        if let Some(body) = &question.body {
            request = request
                .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
                .body(body.clone());
        }
        tokio::select! {
            biased;
            sent = request.send() => sent.map_err(|error| transport_error::of_request(&error)),
            () = &mut self.first_byte => Err(self.no_first_byte()),
        }
    }

    /// The next piece of a body; none at its end. `read` says how much of it there was before.
    pub(super) async fn piece(
        &mut self,
        response: &mut Response,
        read: u64,
    ) -> Result<Option<impl AsRef<[u8]> + use<>>, Failure> {
        let most = self.settings.max_response_bytes;
        let too_large = || {
            let words = format!("it has more than {most} bytes");
            Failure::new(ChatFaultKind::ResponseTooLarge, words)
        };
        if response
            .content_length()
            .is_some_and(|length| length > most)
        {
            return Err(too_large());
        }
        let piece = if read == 0 {
            tokio::select! {
                biased;
                piece = response.chunk() => Ok(piece),
                () = &mut self.first_byte => Err(self.no_first_byte()),
            }
        } else {
            let idle = self.settings.idle_timeout_ms;
            let piece = timeout(self.settings.idle_timeout(), response.chunk()).await;
            piece.map_err(|_| {
                let words = format!("nothing came for {idle} ms, after {read} bytes");
                Failure::new(ChatFaultKind::IdleTimeout, words)
            })
        }?;
        let piece = piece.map_err(|error| transport_error::of_body(&error))?;
        if let Some(piece) = &piece {
            self.bytes += piece.len() as u64;
            if read + piece.len() as u64 > most {
                return Err(too_large());
            }
        }
        Ok(piece)
    }

    /// What a server says to its refusal, as far as it says it in time and as far as it is read.
    async fn refusal(&mut self, mut response: Response) -> Refusal {
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let idle = self
            .settings
            .idle_timeout()
            .min(self.settings.first_byte_timeout());
        let mut body = Vec::new();
        while body.len() < MOST_ERROR
            && let Ok(Ok(Some(piece))) = timeout(idle, response.chunk()).await
        {
            let room = MOST_ERROR - body.len();
            body.extend_from_slice(&piece[..piece.len().min(room)]);
        }
        self.bytes += body.len() as u64;
        Refusal {
            error: ServerError::read(status, &body),
            headers,
        }
    }

    fn no_first_byte(&self) -> Failure {
        let words = format!(
            "nothing came for {} ms",
            self.settings.first_byte_timeout_ms
        );
        Failure::new(ChatFaultKind::FirstByteTimeout, words)
    }
}

/// What a response says it is, in small letters and without parameters; none, if it does not say.
pub(super) fn content_type(response: &Response) -> Option<String> {
    let value = response.headers().get(CONTENT_TYPE)?;
    let text = String::from_utf8_lossy(value.as_bytes());
    let essence = text.split(';').next().unwrap_or_default().trim();
    (!essence.is_empty()).then(|| essence.to_ascii_lowercase())
}

fn of_status(status: u16, words: impl Into<std::borrow::Cow<'static, str>>) -> Failure {
    Failure {
        status: Some(status),
        ..Failure::new(ChatFaultKind::Redirect, words)
    }
}

/// Where a redirect leads to: another path of the server that was asked. Nobody else is given the key.
fn target(asked: &Url, from: &Url, headers: &HeaderMap) -> Result<Url, String> {
    let location = headers.get(LOCATION).and_then(|it| it.to_str().ok());
    let url = location.and_then(|it| from.join(it).ok());
    let url = url.ok_or("it does not say where to")?;
    if url.origin() != asked.origin() {
        return Err(format!(
            "it points to {}, and the key is for {} alone",
            url.origin().ascii_serialization(),
            asked.origin().ascii_serialization(),
        ));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it points to an address with a user".to_owned());
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leads(location: &str) -> Result<String, String> {
        let headers = [(LOCATION, location.parse().unwrap())]
            .into_iter()
            .collect();
        let asked = Url::parse("https://h/v1/chat/completions").unwrap();
        target(&asked, &asked, &headers).map(String::from)
    }

    #[test]
    fn a_redirect_stays_with_the_server_that_was_asked() {
        for (location, to) in [
            ("/v2", "https://h/v2"),
            ("other?a=b", "https://h/v1/chat/other?a=b"),
            ("https://h:443/v2", "https://h/v2"),
            ("//h/v2", "https://h/v2"),
        ] {
            assert_eq!(leads(location).unwrap(), to);
        }
        for location in [
            "http://h/v2",
            "https://h:8443/v2",
            "https://other/v2",
            "//other/v2",
            "https://h.other/v2",
            "https://user:hunter2@h/v2",
            "https://user@h/v2",
            "data:text/plain,a",
            "https://",
        ] {
            let words = leads(location).unwrap_err();
            assert!(!words.contains("hunter2"), "{words}");
        }
    }
}
