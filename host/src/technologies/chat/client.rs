//! The client: one attempt to get an answer, or to find out whether a server is there.
//!
//! Owns the order of an attempt: terms that the server takes, a response, its kind, the answer in it. Never tries again by itself
//! after a failure, and never waits longer than its settings say.

use std::{
    fmt,
    sync::{Mutex, PoisonError},
};

use reqwest::{Client, Method, Response, Url, header::HeaderMap};
use serde_json::Value;
use tokio::time::timeout;

use super::{
    access,
    answer::{ChatAnswer, json, read_whole},
    assembly::Assembly,
    connection,
    exchange::{Exchange, Question, Reply, content_type},
    fault::{ChatFault, ChatFaultKind, Failure},
    negotiation::Terms,
    probe::Probe,
    request::ChatRequest,
    secret::Secrets,
    settings::ChatSettings,
    settings_check,
    settings_error::ChatSettingsError,
    sse::{Events, NotUtf8},
    surroundings::Surroundings,
};
use crate::words::stopwatch::Stopwatch;

const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";

/// A client of one model of one server. Its `Debug` shows neither secrets nor headers.
pub struct ChatClient {
    settings: ChatSettings,
    completions: Url,
    http: Client,
    headers: HeaderMap,
    secrets: Secrets,
    terms: Mutex<Terms>,
}

impl ChatClient {
    /// A client by these settings. Reads variables and the file of certificates, and connects to nobody.
    ///
    /// # Errors
    /// Settings that cannot be used, a variable without a value, certificates that are of no use, or TLS without anybody to trust.
    pub fn new(
        settings: ChatSettings,
        surroundings: &Surroundings<'_>,
    ) -> Result<Self, ChatSettingsError> {
        settings.validate()?;
        let completions = settings_check::base_url(&settings.base_url)?;
        let mut secrets = Secrets::default();
        let headers = access::headers(&settings, surroundings, &mut secrets)?;
        let http = connection::connect(&settings, &completions, surroundings, &mut secrets)?;
        Ok(Self {
            terms: Mutex::new(Terms::of(settings.response_format)),
            settings,
            completions,
            http,
            headers,
            secrets,
        })
    }

    /// What it was made of.
    #[must_use]
    pub fn settings(&self) -> &ChatSettings {
        &self.settings
    }

    /// Asks once. `deltas` is given the text as it comes, and has seen a part of it where the attempt fails. Dropping the future
    /// closes the connection.
    ///
    /// In one attempt there is more than one request where the server refuses the form of the answer or the count of tokens, for
    /// which nothing is charged, or points to another path of its own.
    ///
    /// # Errors
    /// Why there is no answer. An answer that the server ended for a reason of its own, such as `length`, is none of them.
    pub async fn complete(
        &self,
        request: &ChatRequest,
        deltas: &(dyn Fn(&str) + Sync),
    ) -> Result<ChatAnswer, ChatFault> {
        let watch = Stopwatch::start();
        let mut exchange = Exchange::new(&self.http, &self.headers, &self.settings);
        let answer = self.answer(&mut exchange, request, deltas);
        let answer = timeout(self.settings.timeout(), answer).await;
        let answer = answer.unwrap_or_else(|_| Err(self.too_long()));
        let answer = answer.and_then(|answer| self.without_secrets(answer));
        let answer = self.settled(answer);
        let usage = answer.as_ref().ok().and_then(|it| it.usage);
        tracing::debug!(
            url = %self.completions,
            status = exchange.status,
            millis = watch.elapsed().as_millis(),
            bytes = exchange.bytes,
            prompt_tokens = usage.map(|it| it.prompt_tokens),
            completion_tokens = usage.map(|it| it.completion_tokens),
            fault = answer.as_ref().err().map(ChatFault::code),
            "asked a model"
        );
        answer.map(|answer| ChatAnswer {
            finish_reason: self.secrets.words(&answer.finish_reason),
            ..answer
        })
    }

    /// Finds out whether the server is there, lets us in and offers the model, by asking for its list of models. Costs no tokens.
    ///
    /// # Errors
    /// As [`complete`](Self::complete). That a server has no such list is no error.
    pub async fn probe(&self) -> Result<Probe, ChatFault> {
        let watch = Stopwatch::start();
        let mut exchange = Exchange::new(&self.http, &self.headers, &self.settings);
        let probe = timeout(self.settings.timeout(), self.models(&mut exchange)).await;
        let probe = probe.unwrap_or_else(|_| Err(self.too_long()));
        let probe = self.settled(probe);
        tracing::debug!(
            url = %self.models_url(),
            status = exchange.status,
            millis = watch.elapsed().as_millis(),
            bytes = exchange.bytes,
            fault = probe.as_ref().err().map(ChatFault::code),
            "asked for the models of a server"
        );
        probe
    }

    async fn answer(
        &self,
        exchange: &mut Exchange<'_>,
        request: &ChatRequest,
        deltas: &(dyn Fn(&str) + Sync),
    ) -> Result<ChatAnswer, Failure> {
        let response = self.taken(exchange, request).await?;
        let most = self.settings.max_answer_bytes;
        if self.is_stream(&response)? {
            return read_stream(exchange, response, Assembly::new(most), deltas).await;
        }
        read_whole(&read_body(exchange, response).await?, most, deltas)
    }

    /// An answer is kept and published, so that no secret may stand in it.
    fn without_secrets(&self, answer: ChatAnswer) -> Result<ChatAnswer, Failure> {
        let calls = answer
            .tool_calls
            .iter()
            .flat_map(|call| [&call.id, &call.name, &call.arguments]);
        if calls
            .chain([&answer.text])
            .any(|text| self.secrets.are_in(text))
        {
            return Err(ChatFaultKind::SecretRepeated.into());
        }
        Ok(answer)
    }

    /// The response on the first terms that the server takes.
    async fn taken(
        &self,
        exchange: &mut Exchange<'_>,
        request: &ChatRequest,
    ) -> Result<Response, Failure> {
        let mut terms = *self.terms.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let question = Question {
                method: Method::POST,
                url: self.completions.clone(),
                accept: if self.settings.stream {
                    "text/event-stream, application/json"
                } else {
                    JSON
                },
                body: Some(request.body(&self.settings, terms).to_string().into_bytes()),
            };
            match exchange.ask(&question).await? {
                Reply::Taken(response) => {
                    *self.terms.lock().unwrap_or_else(PoisonError::into_inner) = terms;
                    return Ok(response);
                }
                Reply::Refused(refusal) => {
                    let schema = request.schema.is_some();
                    match terms.after(&refusal.error, schema, self.settings.stream) {
                        Some(others) => terms = others,
                        None => return Err(refusal.into_failure()),
                    }
                }
            }
        }
    }

    /// Whether a response is a stream: as it says, or as was asked where it says nothing.
    fn is_stream(&self, response: &Response) -> Result<bool, Failure> {
        match content_type(response).as_deref() {
            None => Ok(self.settings.stream),
            Some(EVENTS) => Ok(true),
            Some(JSON) => Ok(false),
            Some(other) if other.ends_with("+json") => Ok(false),
            Some(other) => Err(other_content(other)),
        }
    }

    async fn models(&self, exchange: &mut Exchange<'_>) -> Result<Probe, Failure> {
        let question = Question {
            method: Method::GET,
            url: self.models_url(),
            accept: JSON,
            body: None,
        };
        let response = match exchange.ask(&question).await? {
            Reply::Refused(refusal) if matches!(refusal.error.status, 404 | 405 | 501) => {
                return Ok(Probe::without_list());
            }
            Reply::Refused(refusal) => return Err(refusal.into_failure()),
            Reply::Taken(response) => response,
        };
        match content_type(&response) {
            Some(other) if other != JSON && !other.ends_with("+json") => Err(other_content(&other)),
            _ => {
                let body = read_body(exchange, response).await?;
                Ok(Probe::of(&json(&body)?, &self.settings.model))
            }
        }
    }

    fn models_url(&self) -> Url {
        let mut url = self.completions.clone();
        let base = url.path().trim_end_matches("/chat/completions");
        url.set_path(&format!("{base}/models"));
        url
    }

    fn too_long(&self) -> Failure {
        let words = format!("it took more than {} ms", self.settings.timeout_ms);
        Failure::new(ChatFaultKind::Timeout, words)
    }

    fn settled<T>(&self, result: Result<T, Failure>) -> Result<T, ChatFault> {
        result.map_err(|failure| ChatFault::of(&failure, &self.secrets))
    }
}

impl fmt::Debug for ChatClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatClient")
            .field("url", &self.completions.as_str())
            .field("model", &self.settings.model)
            .finish_non_exhaustive()
    }
}

fn other_content(found: &str) -> Failure {
    Failure::new(
        ChatFaultKind::ContentType,
        format!("its content is {found}"),
    )
}

async fn read_body(
    exchange: &mut Exchange<'_>,
    mut response: Response,
) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while let Some(piece) = exchange.piece(&mut response, body.len() as u64).await? {
        body.extend_from_slice(piece.as_ref());
    }
    Ok(body)
}

/// Why the reading of events stops before the body does.
enum Stop {
    /// The last event was there.
    Done,
    Failed(Failure),
}

impl From<NotUtf8> for Stop {
    fn from(_: NotUtf8) -> Self {
        Self::Failed(ChatFaultKind::NotUtf8.into())
    }
}

async fn read_stream(
    exchange: &mut Exchange<'_>,
    mut response: Response,
    mut assembly: Assembly,
    deltas: &(dyn Fn(&str) + Sync),
) -> Result<ChatAnswer, Failure> {
    let (mut events, mut read) = (Events::default(), 0);
    loop {
        let piece = match exchange.piece(&mut response, read).await {
            Ok(piece) => piece,
            // All of the text is there, and how the connection ends does not matter any more.
            Err(failure) if assembly.is_finished() && is_cut(&failure) => None,
            Err(failure) => return Err(failure),
        };
        let mut each = |data: &str| take(data, &mut assembly, deltas);
        let fed = match &piece {
            Some(piece) => {
                read += piece.as_ref().len() as u64;
                events.feed(piece.as_ref(), &mut each)
            }
            None => events.end(&mut each),
        };
        match (fed, piece) {
            (Ok(()), Some(_)) => (),
            (Ok(()), None) => return assembly.end_of_body(),
            (Err(Stop::Done), _) => return assembly.end(),
            (Err(Stop::Failed(failure)), _) => return Err(failure),
        }
    }
}

fn is_cut(failure: &Failure) -> bool {
    matches!(
        failure.kind,
        ChatFaultKind::StreamCut | ChatFaultKind::IdleTimeout
    )
}

fn take(data: &str, assembly: &mut Assembly, deltas: &(dyn Fn(&str) + Sync)) -> Result<(), Stop> {
    match data.trim() {
        "" => Ok(()),
        "[DONE]" => Err(Stop::Done),
        data => {
            let piece: Value = json(data.as_bytes()).map_err(Stop::Failed)?;
            assembly.take(&piece, "delta", deltas).map_err(Stop::Failed)
        }
    }
}
