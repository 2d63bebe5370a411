//! Asks for the network in the way of newer plugins: `wasi:http`. It is not loaded, and the error names what is missing.

use hostile::{Guest, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        let headers = wasip2::http::types::Fields::new();
        let request = wasip2::http::types::OutgoingRequest::new(headers);
        let sent = wasip2::http::outgoing_handler::handle(request, None);
        Ok(sent.is_ok().to_string())
    }
}
