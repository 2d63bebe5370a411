//! The parts of WASI that could wait, tell the time, be random or be heard.
//!
//! Owns their harmless versions: nothing waits (everything is ready at once), time is virtual, randomness is a fixed
//! sequence, standard output and error end in the call's log, standard input is empty. The same input thus gives the
//! same answer, and no call needs an async runtime. Every one of these counts as a host call. Used by `linker.rs`.

use wasmtime::{
    Result,
    component::{HasData, Resource},
};
use wasmtime_wasi::{
    async_trait,
    p2::{
        DynInputStream, DynOutputStream, DynPollable, Pollable, StreamError, StreamResult,
        bindings::{cli, clocks, random, sync::io},
        pipe::{ClosedInputStream, SinkOutputStream},
        subscribe,
    },
};

use super::{log::Stream, state::CallState};

/// What every sandbox takes for the present: 2000-01-01T00:00:00Z, in seconds since 1970.
const PRESENT: u64 = 946_684_800;

/// How far each reading of the monotonic clock moves it, so that a loop which waits for a moment ends.
const READING_NANOSECONDS: u64 = 1_000_000;

/// The most random bytes at once.
const RANDOM_BYTES: u64 = 64 * 1024;

/// The most bytes a stream takes at once.
const STREAM_BYTES: usize = 64 * 1024;

/// The view of a store that the inert imports work on.
pub(super) struct Inert<'a>(&'a mut CallState);

/// Names [`Inert`] to the linker.
pub(super) struct HasInert;

impl HasData for HasInert {
    type Data<'a> = Inert<'a>;
}

impl CallState {
    pub(super) fn inert(&mut self) -> Inert<'_> {
        Inert(self)
    }
}

impl Inert<'_> {
    fn pollable(&mut self) -> Result<Resource<DynPollable>> {
        let ready = self.0.table.push(Ready)?;
        subscribe(&mut self.0.table, ready)
    }

    /// SplitMix64, from the same seed in every sandbox.
    fn random(&mut self) -> u64 {
        self.0.random = self.0.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn random_bytes(&mut self, len: u64) -> Result<Vec<u8>> {
        self.0.host_call()?;
        if len > RANDOM_BYTES {
            return Err(wasmtime::Error::msg(
                "more than 65536 random bytes were asked for at once",
            ));
        }
        let words = len.div_ceil(8);
        let mut bytes: Vec<u8> = (0..words)
            .flat_map(|_| self.random().to_le_bytes())
            .collect();
        bytes.truncate(usize::try_from(len)?);
        Ok(bytes)
    }

    /// The stream itself swallows everything; what counts is which one it is.
    fn writer(&mut self, stream: Stream) -> Result<Resource<DynOutputStream>> {
        self.0.host_call()?;
        let sink: DynOutputStream = Box::new(SinkOutputStream);
        let resource = self.0.table.push(sink)?;
        self.0.streams.insert(resource.rep(), stream);
        Ok(resource)
    }

    fn written(&mut self, stream: &Resource<DynOutputStream>, bytes: &[u8]) -> StreamResult<()> {
        self.0.host_call().map_err(StreamError::Trap)?;
        if bytes.len() > STREAM_BYTES {
            return Err(StreamError::trap(
                "more was written than the stream takes at once",
            ));
        }
        if let Some(&stream) = self.0.streams.get(&stream.rep()) {
            self.0.log.written(stream, bytes);
        }
        Ok(())
    }
}

/// Ready from the start.
struct Ready;

#[async_trait]
impl Pollable for Ready {
    async fn ready(&mut self) {}
}

impl io::poll::Host for Inert<'_> {
    fn poll(&mut self, pollables: Vec<Resource<DynPollable>>) -> Result<Vec<u32>> {
        self.0.host_call()?;
        if pollables.is_empty() {
            return Err(wasmtime::Error::msg("poll was called with an empty list"));
        }
        for pollable in &pollables {
            self.0.table.get(pollable)?;
        }
        Ok((0..u32::try_from(pollables.len())?).collect())
    }
}

impl io::poll::HostPollable for Inert<'_> {
    fn ready(&mut self, pollable: Resource<DynPollable>) -> Result<bool> {
        self.0.host_call()?;
        self.0.table.get(&pollable)?;
        Ok(true)
    }

    fn block(&mut self, pollable: Resource<DynPollable>) -> Result<()> {
        self.0.host_call()?;
        self.0.table.get(&pollable)?;
        Ok(())
    }

    fn drop(&mut self, pollable: Resource<DynPollable>) -> Result<()> {
        io::poll::HostPollable::drop(&mut self.0.table, pollable)
    }
}

impl io::streams::Host for Inert<'_> {
    fn convert_stream_error(&mut self, error: StreamError) -> Result<io::streams::StreamError> {
        io::streams::Host::convert_stream_error(&mut self.0.table, error)
    }
}

impl io::streams::HostInputStream for Inert<'_> {
    fn read(&mut self, stream: Resource<DynInputStream>, len: u64) -> StreamResult<Vec<u8>> {
        self.0.host_call().map_err(StreamError::Trap)?;
        io::streams::HostInputStream::read(&mut self.0.table, stream, len)
    }

    fn blocking_read(
        &mut self,
        stream: Resource<DynInputStream>,
        len: u64,
    ) -> StreamResult<Vec<u8>> {
        self.read(stream, len)
    }

    fn skip(&mut self, stream: Resource<DynInputStream>, len: u64) -> StreamResult<u64> {
        self.0.host_call().map_err(StreamError::Trap)?;
        io::streams::HostInputStream::skip(&mut self.0.table, stream, len)
    }

    fn blocking_skip(&mut self, stream: Resource<DynInputStream>, len: u64) -> StreamResult<u64> {
        self.skip(stream, len)
    }

    fn subscribe(&mut self, stream: Resource<DynInputStream>) -> Result<Resource<DynPollable>> {
        self.0.host_call()?;
        io::streams::HostInputStream::subscribe(&mut self.0.table, stream)
    }

    fn drop(&mut self, stream: Resource<DynInputStream>) -> Result<()> {
        self.0.table.delete(stream)?;
        Ok(())
    }
}

impl io::streams::HostOutputStream for Inert<'_> {
    fn check_write(&mut self, stream: Resource<DynOutputStream>) -> StreamResult<u64> {
        self.0.host_call().map_err(StreamError::Trap)?;
        self.0.table.get(&stream)?;
        Ok(STREAM_BYTES as u64)
    }

    fn write(&mut self, stream: Resource<DynOutputStream>, bytes: Vec<u8>) -> StreamResult<()> {
        self.written(&stream, &bytes)
    }

    fn blocking_write_and_flush(
        &mut self,
        stream: Resource<DynOutputStream>,
        bytes: Vec<u8>,
    ) -> StreamResult<()> {
        self.write(stream, bytes)
    }

    fn blocking_write_zeroes_and_flush(
        &mut self,
        stream: Resource<DynOutputStream>,
        len: u64,
    ) -> StreamResult<()> {
        self.write_zeroes(stream, len)
    }

    fn subscribe(&mut self, stream: Resource<DynOutputStream>) -> Result<Resource<DynPollable>> {
        self.0.host_call()?;
        io::streams::HostOutputStream::subscribe(&mut self.0.table, stream)
    }

    fn write_zeroes(&mut self, stream: Resource<DynOutputStream>, len: u64) -> StreamResult<()> {
        let len = usize::try_from(len)
            .unwrap_or(usize::MAX)
            .min(STREAM_BYTES + 1);
        self.written(&stream, &vec![0; len])
    }

    fn flush(&mut self, stream: Resource<DynOutputStream>) -> StreamResult<()> {
        self.0.host_call().map_err(StreamError::Trap)?;
        self.0.table.get(&stream)?;
        Ok(())
    }

    fn blocking_flush(&mut self, stream: Resource<DynOutputStream>) -> StreamResult<()> {
        self.flush(stream)
    }

    fn splice(
        &mut self,
        to: Resource<DynOutputStream>,
        from: Resource<DynInputStream>,
        len: u64,
    ) -> StreamResult<u64> {
        self.0.host_call().map_err(StreamError::Trap)?;
        io::streams::HostOutputStream::splice(&mut self.0.table, to, from, len)
    }

    fn blocking_splice(
        &mut self,
        to: Resource<DynOutputStream>,
        from: Resource<DynInputStream>,
        len: u64,
    ) -> StreamResult<u64> {
        self.splice(to, from, len)
    }

    fn drop(&mut self, stream: Resource<DynOutputStream>) -> Result<()> {
        self.0.streams.remove(&stream.rep());
        self.0.table.delete(stream)?;
        Ok(())
    }
}

impl clocks::monotonic_clock::Host for Inert<'_> {
    fn now(&mut self) -> Result<u64> {
        self.0.host_call()?;
        self.0.nanoseconds = self.0.nanoseconds.saturating_add(READING_NANOSECONDS);
        Ok(self.0.nanoseconds)
    }

    fn resolution(&mut self) -> Result<u64> {
        Ok(READING_NANOSECONDS)
    }

    fn subscribe_instant(&mut self, when: u64) -> Result<Resource<DynPollable>> {
        self.0.host_call()?;
        self.0.nanoseconds = self.0.nanoseconds.max(when);
        self.pollable()
    }

    fn subscribe_duration(&mut self, when: u64) -> Result<Resource<DynPollable>> {
        self.0.host_call()?;
        self.0.nanoseconds = self.0.nanoseconds.saturating_add(when);
        self.pollable()
    }
}

impl clocks::wall_clock::Host for Inert<'_> {
    fn now(&mut self) -> Result<clocks::wall_clock::Datetime> {
        self.0.host_call()?;
        Ok(clocks::wall_clock::Datetime {
            seconds: PRESENT,
            nanoseconds: 0,
        })
    }

    fn resolution(&mut self) -> Result<clocks::wall_clock::Datetime> {
        Ok(clocks::wall_clock::Datetime {
            seconds: 1,
            nanoseconds: 0,
        })
    }
}

impl random::random::Host for Inert<'_> {
    fn get_random_bytes(&mut self, len: u64) -> Result<Vec<u8>> {
        self.random_bytes(len)
    }

    fn get_random_u64(&mut self) -> Result<u64> {
        self.0.host_call()?;
        Ok(self.random())
    }
}

impl random::insecure::Host for Inert<'_> {
    fn get_insecure_random_bytes(&mut self, len: u64) -> Result<Vec<u8>> {
        self.random_bytes(len)
    }

    fn get_insecure_random_u64(&mut self) -> Result<u64> {
        self.0.host_call()?;
        Ok(self.random())
    }
}

impl random::insecure_seed::Host for Inert<'_> {
    fn insecure_seed(&mut self) -> Result<(u64, u64)> {
        self.0.host_call()?;
        Ok((self.random(), self.random()))
    }
}

impl cli::stdin::Host for Inert<'_> {
    fn get_stdin(&mut self) -> Result<Resource<DynInputStream>> {
        self.0.host_call()?;
        let empty: DynInputStream = Box::new(ClosedInputStream);
        Ok(self.0.table.push(empty)?)
    }
}

impl cli::stdout::Host for Inert<'_> {
    fn get_stdout(&mut self) -> Result<Resource<DynOutputStream>> {
        self.writer(Stream::Output)
    }
}

impl cli::stderr::Host for Inert<'_> {
    fn get_stderr(&mut self) -> Result<Resource<DynOutputStream>> {
        self.writer(Stream::Error)
    }
}
