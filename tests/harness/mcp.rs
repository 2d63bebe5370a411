//! A client of `wharf mcp` that speaks the protocol itself, one message a line or over HTTP; not by the product's SDK.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Child, ChildStdin, Stdio},
    sync::{
        Mutex,
        mpsc::{Receiver, channel},
    },
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{Wharf, command, patience::PATIENCE};

/// The revision that the client asks for.
pub const REVISION: &str = "2025-06-18";

/// `wharf mcp --dir DIR`.
pub fn mcp(directory: impl AsRef<Path>) -> Wharf {
    command::wharf("mcp").dir(directory)
}

/// A server on standard input and output, and its client.
pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    complaints: Receiver<String>,
    last: u64,
    /// What the server sent without being asked, in order.
    pub notifications: Vec<Value>,
}

/// A server that has ended.
#[derive(Debug)]
pub struct Parted {
    /// None: a signal ended it.
    pub code: Option<i32>,
    /// What it still sent.
    pub messages: Vec<Value>,
    /// What it wrote to standard error.
    pub stderr: String,
}

impl Client {
    /// Starts a server and begins a session.
    #[track_caller]
    pub fn start(server: Wharf) -> Self {
        let mut client = Self::speechless(server);
        let answer = client.request("initialize", hello());
        assert_eq!(answer["result"]["protocolVersion"], REVISION, "{answer}");
        client.notify("notifications/initialized", json!({}));
        client
    }

    /// Starts a server and says nothing.
    pub fn speechless(server: Wharf) -> Self {
        let mut command = server.into_command();
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        Self {
            input: child.stdin.take(),
            lines: lines(child.stdout.take().unwrap()),
            complaints: lines(child.stderr.take().unwrap()),
            child,
            last: 0,
            notifications: Vec::new(),
        }
    }

    /// Asks, and waits for the answer.
    #[track_caller]
    pub fn request(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.ask(method, parameters);
        self.answer(id)
    }

    /// Asks; the id under which it will be answered.
    pub fn ask(&mut self, method: &str, parameters: Value) -> u64 {
        self.last += 1;
        let id = self.last;
        self.send(
            &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters})
                .to_string(),
        );
        id
    }

    pub fn notify(&mut self, method: &str, parameters: Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": parameters});
        self.send(&message.to_string());
    }

    /// Sends a line, whatever stands in it.
    pub fn send(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    /// The answer to what was asked under this id; other answers that come first fail the test.
    #[track_caller]
    pub fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.hear();
            match message.get("id") {
                Some(found) if *found == json!(id) => return message,
                Some(other) => panic!("an answer to {other}, not to {id}: {message}"),
                None => self.notifications.push(message),
            }
        }
    }

    /// The next message.
    #[track_caller]
    pub fn hear(&mut self) -> Value {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => message(&line),
            Err(_) => panic!(
                "it says nothing more; on standard error: {:#?}",
                self.complaints.try_iter().collect::<Vec<_>>()
            ),
        }
    }

    /// Waits for a line on standard error that holds this.
    #[track_caller]
    pub fn complains(&mut self, about: &str) {
        let deadline = Instant::now() + PATIENCE;
        let mut said = Vec::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.complaints.recv_timeout(left) {
                Ok(line) if line.contains(about) => return,
                Ok(line) => said.push(line),
                Err(_) => panic!("it does not complain about {about}: {said:#?}"),
            }
        }
    }

    /// Calls a tool; its result.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", call(tool, arguments));
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    /// What a tool answers that does what it was asked.
    #[track_caller]
    pub fn does(&mut self, tool: &str, arguments: Value) -> Value {
        done(&self.call(tool, arguments))
    }

    /// What a tool answers that refuses.
    #[track_caller]
    pub fn refuses(&mut self, tool: &str, arguments: Value) -> Value {
        refused(&self.call(tool, arguments))
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, name: &str) {
        signal(self.id(), name);
    }

    /// As `kill -9` does it.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Leaves, and waits for the server's end.
    pub fn leave(mut self) -> Parted {
        drop(self.input.take());
        self.parted()
    }

    /// Waits for the server's end without leaving.
    pub fn parted(mut self) -> Parted {
        let code = wait(&mut self.child).code();
        Parted {
            code,
            messages: self.lines.iter().map(|line| message(&line)).collect(),
            stderr: self.complaints.iter().map(|line| line + "\n").collect(),
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The beginning of a session.
pub fn hello() -> Value {
    json!({
        "protocolVersion": REVISION,
        "capabilities": {},
        "clientInfo": {"name": "tests", "version": "0"},
    })
}

/// The parameters of a tool's call.
pub fn call(tool: &str, arguments: Value) -> Value {
    json!({"name": tool, "arguments": arguments})
}

/// What a result says that is no error, once as a structure and once as text.
#[track_caller]
pub fn done(result: &Value) -> Value {
    assert_ne!(result["isError"], true, "{result}");
    content(result)
}

/// What a result says that is an error.
#[track_caller]
pub fn refused(result: &Value) -> Value {
    assert_eq!(result["isError"], true, "{result}");
    content(result)
}

#[track_caller]
fn content(result: &Value) -> Value {
    let text = result["content"][0]["text"].as_str().unwrap();
    let said: Value = serde_json::from_str(text).unwrap_or_else(|_| panic!("{result}"));
    // Null is no structure to clients of this revision.
    let structured = result.get("structuredContent").unwrap_or(&Value::Null);
    assert_eq!(*structured, said, "{result}");
    said
}

/// Every line that a server writes is one message of the protocol.
#[track_caller]
fn message(line: &str) -> Value {
    let message: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line:?}"));
    assert_eq!(message["jsonrpc"], "2.0", "{line}");
    message
}

fn lines(from: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines() {
            // The test may have stopped listening.
            let _ = sender.send(line.unwrap());
        }
    });
    lines
}

fn wait(child: &mut Child) -> std::process::ExitStatus {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        assert!(Instant::now() < deadline, "the server does not end");
        // Not a time after which it must be so, only a pause between two looks.
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn signal(id: u32, name: &str) {
    let sent = std::process::Command::new("kill")
        .args(["-s", name, &id.to_string()])
        .status();
    assert!(sent.unwrap().success());
}

/// A server over HTTP.
pub struct HttpServer {
    child: Child,
    /// What it said first: where it listens.
    pub line: String,
    pub port: u16,
    /// Shared by threads, of which none listens.
    complaints: Mutex<Receiver<String>>,
}

impl HttpServer {
    /// On a port of its own choice.
    pub fn start(server: Wharf) -> Self {
        let mut command = server.args(["--http", "127.0.0.1:0"]).into_command();
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let complaints = lines(child.stderr.take().unwrap());
        let line = complaints.recv_timeout(PATIENCE).unwrap();
        let address = line.split("http://127.0.0.1:").nth(1).unwrap();
        let port = address.strip_suffix("/mcp").unwrap().parse().unwrap();
        Self {
            child,
            line,
            port,
            complaints: Mutex::new(complaints),
        }
    }

    /// Sends a request with these headers and this body; the answer, once the server has ended it.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answered {
        self.open(method, path, headers, body).rest()
    }

    /// As [`Self::send`], but does not wait for the answer.
    pub fn open(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Open {
        let mut server = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        server.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            request += &format!("Host: 127.0.0.1:{}\r\n", self.port);
        }
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        request += &format!("Content-Length: {}\r\n\r\n", body.len());
        // A server that refuses need not read what follows.
        let _ = server
            .write_all(request.as_bytes())
            .and_then(|()| server.write_all(body.as_bytes()));
        Open(server)
    }

    /// Posts a message as a client of this session does.
    pub fn post(&self, session: Option<&str>, message: &Value) -> Answered {
        self.send("POST", "/mcp", &headers(session), &message.to_string())
    }

    /// Begins a session; its id.
    #[track_caller]
    pub fn begin(&self) -> String {
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello()});
        let answered = self.post(None, &hello);
        assert_eq!(answered.status, 200, "{answered:?}");
        let session = answered.header("mcp-session-id").unwrap().to_owned();
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.post(Some(&session), &ready).status, 202);
        session
    }

    /// Calls a tool in a session; its result.
    #[track_caller]
    pub fn call(&self, session: &str, tool: &str, arguments: Value) -> Value {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call(tool, arguments)});
        let answered = self.post(Some(session), &call);
        let messages = answered.messages();
        let answer = messages.iter().find(|message| message["id"] == 1);
        answer.unwrap_or_else(|| panic!("{answered:?}"))["result"].clone()
    }

    /// Sends it a signal and waits for its end: exit code, standard output, standard error.
    pub fn end(mut self, name: &str) -> (Option<i32>, String, String) {
        signal(self.child.id(), name);
        let code = wait(&mut self.child).code();
        let mut stdout = String::new();
        let mut pipe = self.child.stdout.take().unwrap();
        pipe.read_to_string(&mut stdout).unwrap();
        let complaints = self.complaints.lock().unwrap();
        let stderr = complaints.iter().map(|line| line + "\n").collect();
        drop(complaints);
        (code, stdout, stderr)
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The headers that every message of a client has.
pub fn headers(session: Option<&str>) -> Vec<(&'static str, &str)> {
    let mut headers = vec![
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", REVISION),
    ];
    headers.extend(session.map(|session| ("Mcp-Session-Id", session)));
    headers
}

/// A request whose answer is still to be read.
pub struct Open(TcpStream);

impl Open {
    /// Reads it to its end.
    pub fn rest(mut self) -> Answered {
        let mut bytes = Vec::new();
        // One that is reset has ended as well.
        let _ = self.0.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text
            .split_once("\r\n\r\n")
            .unwrap_or_else(|| panic!("no answer: {text:?}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answered {
            status,
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }
}

/// An answer over HTTP.
#[derive(Debug)]
pub struct Answered {
    pub status: u16,
    head: String,
    pub body: String,
}

impl Answered {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.head.lines().filter_map(|line| line.split_once(": "));
        headers
            .find(|(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    /// The messages of an event stream.
    pub fn messages(&self) -> Vec<Value> {
        let lines = self.body.lines();
        lines
            .filter_map(|line| line.strip_prefix("data: "))
            .filter(|data| !data.is_empty())
            .map(message)
            .collect()
    }
}
