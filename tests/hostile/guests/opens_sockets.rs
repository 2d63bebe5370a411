//! Reaches for the network: connects, listens, sends, asks for names. Nothing of it works.

use std::net::{TcpListener, TcpStream, ToSocketAddrs as _, UdpSocket};

use hostile::{Guest, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(task: &Task) -> Result<String, Vec<Violation>> {
        let roads = [
            TcpStream::connect(&*task.goal).is_ok(),
            TcpListener::bind("127.0.0.1:0").is_ok(),
            UdpSocket::bind("127.0.0.1:0")
                .is_ok_and(|socket| socket.send_to(b"x", &*task.goal).is_ok()),
            ("localhost", 80).to_socket_addrs().is_ok(),
        ];
        Ok(format!(
            "roads {}",
            roads.iter().filter(|open| **open).count()
        ))
    }
}
