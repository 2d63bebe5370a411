//! A real HTTP/1.1 server of chat completions that does what a test tells it to, every byte of it.
//!
//! It speaks plain TCP or TLS on the loopback interface, and gives the replies it was handed in the order in which requests come.
//! A reply may be correct, or cut off, dripped, silent, reset, of a false length or no HTTP at all. It also plays an HTTP proxy:
//! targets in absolute form are answered like any other, and a `CONNECT` may become a tunnel. For tests and demonstrations only:
//! it is in no product.
//!
//! ```
//! use std::{io::{Read, Write}, net::TcpStream};
//!
//! use model_server::{Piece, Reply, Server};
//!
//! # fn main() -> std::io::Result<()> {
//! let server = Server::start(vec![
//!     Reply::chat("Good morning."),
//!     Reply::chat_stream("Good evening.", 5).pieces(vec![Piece::Bytes(b"data: {".to_vec()), Piece::Close]),
//! ])?;
//!
//! let mut client = TcpStream::connect(server.address())?;
//! for _ in 0..2 {
//!     client.write_all(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 12\r\n\r\n{\"model\":\"m\"")?;
//! }
//! let mut wire = String::new();
//! client.read_to_string(&mut wire)?;
//!
//! assert!(wire.starts_with("HTTP/1.1 200 OK\r\n") && wire.contains("Good morning."));
//! assert!(wire.ends_with("\r\n\r\n7\r\ndata: {\r\n"), "the second answer breaks off in its first event");
//! assert_eq!(server.received()[1].target, "/v1/chat/completions");
//! # Ok(())
//! # }
//! ```

mod server;
mod reply;
mod chat;
mod answers;
mod request;

mod certificate;
mod connection;
mod state;
mod wire;

pub use answers::{AnswerLine, AnswersError};
pub use chat::Chat;
pub use reply::{Framing, Piece, Reply};
pub use request::Received;
pub use server::Server;
