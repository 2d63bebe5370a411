//! The server with TLS.

use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    sync::Arc,
    time::Duration,
};

use model_server::{Framing, Piece, Reply, Server};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};

use crate::client::{Client, PATIENCE, socket};

pub(crate) type Tls = StreamOwned<ClientConnection, TcpStream>;

/// A client's side of TLS that trusts this authority and nobody else. The handshake comes with the first bytes.
pub(crate) fn over(socket: TcpStream, ca_pem: &str, name: &str) -> Tls {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(ca_pem.as_bytes()) {
        roots.add(certificate.unwrap()).unwrap();
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(name.to_owned()).unwrap();
    StreamOwned::new(
        ClientConnection::new(Arc::new(config), name).unwrap(),
        socket,
    )
}

fn client(server: &Server) -> Client<Tls> {
    Client(over(socket(server.address()), server.ca_pem(), "127.0.0.1"))
}

#[test]
fn both_names_of_the_certificate_are_good_and_connections_are_kept() {
    let replies = ["a", "b", "c", "d"].map(|text| Reply::chat_stream(text, 1));
    let server = Server::start_tls(replies.to_vec()).unwrap();
    assert!(
        server.base_url().starts_with("https://127.0.0.1:"),
        "{}",
        server.base_url()
    );
    assert!(server.base_url().ends_with("/v1"));
    for name in ["localhost", "127.0.0.1"] {
        let mut client = Client(over(socket(server.address()), server.ca_pem(), name));
        for _ in 0..2 {
            assert_eq!(client.ask("{}").events().last(), Some(&"[DONE]"));
        }
        assert_eq!(client.0.conn.alpn_protocol(), None, "none was asked for");
    }
    assert_eq!(server.connections(), 2);
}

#[test]
fn another_authority_and_another_name_are_not_trusted() {
    let server = Server::start_tls(vec![Reply::chat("a")]).unwrap();
    let other = Server::start_tls(vec![]).unwrap();
    assert_ne!(server.ca_pem(), other.ca_pem());
    for (ca_pem, name) in [
        (other.ca_pem(), "localhost"),
        (server.ca_pem(), "elsewhere.example"),
    ] {
        let mut tls = over(socket(server.address()), ca_pem, name);
        let error = tls.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap_err();
        assert!(
            error.to_string().contains("invalid peer certificate"),
            "{error}"
        );
    }
    assert!(server.wait_closed(1, PATIENCE));
    assert_eq!(server.received(), []);
}

#[test]
fn a_server_without_tls_has_no_authority_and_refuses_a_handshake() {
    let server = Server::start(vec![]).unwrap();
    assert_eq!(server.ca_pem(), "");
    assert!(server.base_url().starts_with("http://127.0.0.1:"));
    let mut tls = over(socket(server.address()), "", "localhost");
    assert!(tls.write_all(b"GET / HTTP/1.1\r\n\r\n").is_err());
}

#[test]
fn a_proper_end_says_so_and_a_cut_does_not() {
    let until = |end| {
        let reply = Reply::json(200, &"z".into());
        reply.framing(Framing::UntilClose).then(end)
    };
    let none = Piece::Wait(Duration::ZERO);
    let server =
        Server::start_tls(vec![until(none), until(Piece::Close), until(Piece::Reset)]).unwrap();
    let end = |mut client: Client<Tls>| {
        client.post("{}");
        client.until("\"z\"");
        let mut rest = Vec::new();
        client.0.read_to_end(&mut rest).map(|_| rest)
    };
    assert_eq!(end(client(&server)).unwrap(), b"");
    assert_eq!(
        end(client(&server)).unwrap_err().kind(),
        ErrorKind::UnexpectedEof
    );
    assert_eq!(
        end(client(&server)).unwrap_err().kind(),
        ErrorKind::ConnectionReset
    );
}

#[test]
fn a_silent_server_sees_its_client_go() {
    let server = Server::start_tls(vec![Reply::sse(["a"]).then(Piece::Hang)]).unwrap();
    let mut client = client(&server);
    client.post("{}");
    client.until("a\n\n\r\n");
    assert!(!server.wait_closed(0, Duration::from_millis(20)));
    drop(client);
    assert!(server.wait_closed(0, PATIENCE));
}
