//! The end of a server, and its return.

use std::{io::ErrorKind, net::TcpStream, sync::Arc};

use model_server::{Piece, Reply, Server};

use crate::client::{Client, PATIENCE};

#[test]
fn a_dropped_server_leaves_nothing_behind_whatever_it_was_doing() {
    let alive = Arc::new(());
    let left = Arc::downgrade(&alive);
    // Held by the record, which the thread and every connection hold.
    let unused = Reply::from_request(Arc::new(move |_| {
        let _held = &alive;
        Reply::chat("a")
    }));
    let server = Server::start(vec![
        Reply::wire(vec![Piece::Hang]),
        Reply::sse(["a"]).then(Piece::Hang),
        Reply::new(200).pieces(vec![Piece::Bytes(vec![0; 64 * 1024 * 1024])]),
        unused,
    ])
    .unwrap();
    let address = server.address();
    let mut clients: Vec<_> = (1..=3)
        .map(|requests| {
            let mut client = Client::of(address);
            client.post("{}");
            assert!(server.wait_for(requests, PATIENCE));
            client
        })
        .collect();
    let idle = Client::of(address);
    clients.push(idle);
    let mut half = Client::of(address);
    half.send("POST / HT");
    clients.push(half);
    assert!(left.upgrade().is_some());

    drop(server);

    assert!(
        left.upgrade().is_none(),
        "a thread or a connection is left over"
    );
    let refused = TcpStream::connect(address).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    for mut client in clients {
        // An end or a reset, but no waiting until the client's patience is over.
        let ended = client.end();
        assert!(
            !matches!(&ended, Err(error) if error.kind() == ErrorKind::WouldBlock),
            "{ended:?}"
        );
    }
}

#[test]
fn a_server_may_come_back_at_its_address() {
    let first = Server::start(vec![Reply::chat("a")]).unwrap();
    let address = first.address();
    let taken = Server::start_at(address, vec![]).unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::AddrInUse);
    assert_eq!(Client::of(address).ask("{}").status(), 200);
    drop(first);
    let second = Server::start_at(address, vec![Reply::chat("b")]).unwrap();
    assert_eq!(second.address(), address);
    assert!(Client::of(address).ask("{}").body.contains("\"b\""));
}
