//! The server as a proxy.

use model_server::{Piece, Reply, Server};
use serde_json::json;

use crate::{
    client::{Client, PATIENCE},
    tls,
};

const CONNECT: &str = "CONNECT api.example:443 HTTP/1.1\r\nhost: api.example:443\r\n\r\n";
const ESTABLISHED: &str = "HTTP/1.1 200 Connection established\r\n\r\n";

#[test]
fn a_target_in_absolute_form_is_recorded_and_answered() {
    let server = Server::start(vec![Reply::chat("a")]).unwrap();
    let mut client = Client::of(server.address());
    client.send("GET http://api.example:81/v1/x HTTP/1.1\r\nhost: api.example:81\r\n\r\n");
    assert_eq!(client.answer().status(), 200);
    assert_eq!(server.received()[0].target, "http://api.example:81/v1/x");
}

#[test]
fn a_tunnel_carries_tls_to_its_end_and_back() {
    let far = Server::start_tls(vec![Reply::chat("from afar")]).unwrap();
    let proxy = Server::start(vec![Reply::tunnel(far.address())]).unwrap();
    let mut client = Client::of(proxy.address());
    client.send(CONNECT);
    assert_eq!(client.until("\r\n\r\n"), ESTABLISHED);

    let mut inside = Client(tls::over(client.0, far.ca_pem(), "localhost"));
    assert!(inside.ask("{}").body.contains("from afar"));
    assert!(!proxy.wait_closed(0, std::time::Duration::ZERO));
    drop(inside);
    assert!(far.wait_closed(0, PATIENCE));
    assert!(proxy.wait_closed(0, PATIENCE));

    let connect = &proxy.received()[0];
    assert_eq!(
        (&*connect.method, &*connect.target),
        ("CONNECT", "api.example:443")
    );
    assert_eq!(
        proxy.received().len(),
        1,
        "what is inside is not the proxy's"
    );
}

#[test]
fn what_is_sent_before_the_tunnel_stands_goes_into_it() {
    let far = Server::start(vec![Reply::chat("from afar")]).unwrap();
    let proxy = Server::start(vec![Reply::tunnel(far.address())]).unwrap();
    let mut client = Client::of(proxy.address());
    client.send(format!("{CONNECT}GET /early HTTP/1.1\r\n\r\n"));
    assert_eq!(client.until("\r\n\r\n"), ESTABLISHED);
    assert_eq!(client.answer().status(), 200);
    assert_eq!(far.received()[0].target, "/early");
}

#[test]
fn a_tunnel_may_be_refused_and_then_granted_on_the_same_connection() {
    let far = Server::start(vec![Reply::chat("from afar")]).unwrap();
    let refused = Reply::json(407, &json!({})).header("proxy-authenticate", "Basic realm=\"x\"");
    let proxy = Server::start(vec![refused, Reply::tunnel(far.address())]).unwrap();
    let mut client = Client::of(proxy.address());
    client.send(CONNECT);
    let answer = client.answer();
    assert_eq!((answer.status(), &*answer.body), (407, "{}"));
    client.send("CONNECT x:1 HTTP/1.1\r\nproxy-authorization: Basic eA==\r\n\r\n");
    assert_eq!(client.until("\r\n\r\n"), ESTABLISHED);
    assert_eq!(client.ask("{}").status(), 200);
    assert_eq!(
        proxy.received()[1].header("proxy-authorization"),
        Some("Basic eA==")
    );
}

#[test]
fn a_tunnel_to_nobody_ends() {
    let nobody = Server::start(vec![]).unwrap().address();
    let proxy = Server::start(vec![Reply::tunnel(nobody)]).unwrap();
    let mut client = Client::of(proxy.address());
    client.send(CONNECT);
    assert_eq!(client.rest(), ESTABLISHED.as_bytes());
}

#[test]
fn a_tunnel_may_be_slow_to_come_and_the_far_side_may_cut_it() {
    let cut = Reply::sse(["a"]).then(Piece::Close);
    let far = Server::start(vec![cut]).unwrap();
    let mut tunnel = Reply::tunnel(far.address());
    tunnel
        .pieces
        .insert(0, Piece::Wait(std::time::Duration::from_millis(20)));
    let proxy = Server::start(vec![tunnel]).unwrap();
    let mut client = Client::of(proxy.address());
    client.send(CONNECT);
    assert_eq!(client.until("\r\n\r\n"), ESTABLISHED);
    client.post("{}");
    client.until("\r\n\r\n");
    assert_eq!(client.rest(), b"9\r\ndata: a\n\n\r\n");
}
