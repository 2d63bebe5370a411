//! Says of a snapshot that the environment has changed, which would let the host plan for ever. It is a fault.

use hostile::{Failure, Guest, Task, Transaction};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn snapshot(_: &Task, _: &Transaction) -> Result<String, Failure> {
        Err(Failure::EnvironmentChanged("again".into()))
    }
}
