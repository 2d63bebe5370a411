//! `wharf mcp`: serves a workspace to clients of the Model Context Protocol.

use std::{
    future::Future,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
};

use clap::Args;
use tokio::{net::TcpListener, sync::oneshot};
use wharf::{
    Cancellation, Error, technologies::admission::MAX_COMPONENT_BYTES, words::id::TenantId,
};

use super::{
    Session,
    answer::Reply,
    args::directory,
    config::ConfigArgs,
    drive::{compile_cache, runtime},
    error::CliError,
    exit::Exit,
    input, signals, stderr,
    way::MeansArgs,
};
use crate::mcp::{Components, Edge, PATH, serve_http, serve_stdio};

/// Arguments of `mcp`.
#[derive(Debug, Args)]
pub(super) struct McpArgs {
    /// The workspace; a missing or empty one is made when something is first written.
    #[arg(long, value_name = "DIR", value_parser = directory())]
    dir: PathBuf,
    /// Whose workspace a missing or empty one becomes, and one that stands must be; default: `default`, or whose it is.
    #[arg(long, value_name = "NAME")]
    tenant: Option<TenantId>,
    /// Serves Streamable HTTP at this address of loopback instead of standard input and output; port 0: any that is free.
    #[arg(long, value_name = "127.0.0.1:PORT", value_parser = loopback)]
    http: Option<SocketAddr>,
    /// A component that requests may name by its digest, besides those that ran in the workspace.
    #[arg(long = "plugin", value_name = "FILE.wasm")]
    plugins: Vec<PathBuf>,
    #[command(flatten)]
    means: MeansArgs,
    #[command(flatten)]
    config: ConfigArgs,
}

/// Serves until the client, or a signal, ends it.
pub(super) fn run(session: &Session, arguments: &McpArgs) -> Result<Reply, Error> {
    let components: Result<Vec<_>, _> = arguments
        .plugins
        .iter()
        .map(|path| input::bytes("component", path, MAX_COMPONENT_BYTES))
        .collect();
    let components = Components::new(components?, arguments.dir.clone());
    let means = arguments
        .means
        .resolve(&arguments.config, &session.environment)?;
    let mut host = means
        .host(&arguments.dir)
        .compile_cache(compile_cache(session));
    if let Some(tenant) = &arguments.tenant {
        host = host.tenant(tenant.clone());
    }
    let edge = Edge::new(host.build()?, means.pattern, components);
    let runtime = runtime(2).map_err(|source| CliError::Setup { source })?;
    let served = runtime.block_on(serve(edge, arguments.http));
    // A read of standard input may still be waited for.
    runtime.shutdown_background();
    served.map(|()| Reply::notice(String::new(), Exit::Success))
}

async fn serve(edge: Edge, http: Option<SocketAddr>) -> Result<(), Error> {
    let stop = signalled()?;
    let Some(address) = http else {
        return serve_stdio(edge, stop).await;
    };
    let unbound = |source| CliError::Unbound { address, source };
    let listener = TcpListener::bind(address).await.map_err(unbound)?;
    let bound = listener.local_addr().map_err(unbound)?;
    stderr::write(&format!("listening on http://{bound}{PATH}\n"));
    serve_http(edge, listener, bound.port(), stop).await;
    Ok(())
}

/// Ready at the first signal; the second one leaves at once.
fn signalled() -> Result<impl Future<Output = ()>, CliError> {
    let (noticed, signal) = oneshot::channel();
    let notice = move || {
        // Whoever no longer waits is on the way out.
        let _ = noticed.send(());
    };
    signals::watch(Cancellation::new(), notice).map_err(|source| CliError::Setup { source })?;
    Ok(async {
        let _ = signal.await;
    })
}

fn loopback(typed: &str) -> Result<SocketAddr, String> {
    let form = "an address of this machine and a port, such as 127.0.0.1:8080";
    let address: SocketAddr = typed.parse().map_err(|_| format!("it is {form}"))?;
    let reached_from_here_alone = match address.ip() {
        IpAddr::V4(ip) => ip.octets() == [127, 0, 0, 1],
        IpAddr::V6(ip) => ip.is_loopback(),
    };
    if reached_from_here_alone {
        Ok(address)
    } else {
        Err(format!(
            "others could reach it, and whoever does acts for the tenant; it is {form}"
        ))
    }
}
