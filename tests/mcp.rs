//! `wharf mcp`, spoken to by processes: over standard input and output, over HTTP, and by clients that others wrote.

mod clients;
mod http;
mod plans;
mod protocol;
mod tasks;
