//! The plugin in bare wasmtime: a fresh instance for each call, as whoever embeds wasmtime would have it, and no limit at all.

use anyhow::{Result, anyhow, ensure};
use wasmtime::{
    Config, Engine, InstanceAllocationStrategy, Store,
    component::{Component, HasSelf, Linker, Resource, ResourceTable},
};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use self::contract::{
    Domain, DomainPre,
    wharf::domain::{business, log, types},
};

#[allow(
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    clippy::all,
    reason = "generated code"
)]
mod contract {
    wasmtime::component::bindgen!({
        path: "../wit/0.1.0",
        world: "domain",
        with: { "wharf:domain/business.transaction": super::Nothing },
    });
}

/// No transaction: only the validator is called.
#[expect(unreachable_pub, reason = "the generated bindings re-export it")]
pub struct Nothing;

struct State {
    wasi: WasiCtx,
    table: ResourceTable,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

impl types::Host for State {}

impl business::Host for State {}

impl business::HostTransaction for State {
    fn query(
        &mut self,
        _: Resource<Nothing>,
        _: String,
        _: Vec<business::Value>,
    ) -> Result<business::RowSet, business::SqlError> {
        Err(business::SqlError::Denied(String::new()))
    }

    fn execute(
        &mut self,
        _: Resource<Nothing>,
        _: String,
        _: Vec<business::Value>,
    ) -> Result<u64, business::SqlError> {
        Err(business::SqlError::Denied(String::new()))
    }

    fn drop(&mut self, _: Resource<Nothing>) -> wasmtime::Result<()> {
        Ok(())
    }
}

impl log::Host for State {
    fn write(&mut self, _: log::Level, _: String) {}
}

pub(crate) struct Bare {
    engine: Engine,
    pre: DomainPre<State>,
}

impl Bare {
    pub(crate) fn load(bytes: &[u8]) -> Result<Self> {
        let mut config = Config::new();
        config
            .allocation_strategy(InstanceAllocationStrategy::pooling())
            .concurrency_support(false);
        let bare = || -> wasmtime::Result<Self> {
            let engine = Engine::new(&config)?;
            let mut linker = Linker::new(&engine);
            wasmtime_wasi::p2::add_to_linker_sync(&mut linker)?;
            Domain::add_to_linker::<_, HasSelf<State>>(&mut linker, |state| state)?;
            let component = Component::from_binary(&engine, bytes)?;
            let pre = DomainPre::new(linker.instantiate_pre(&component)?)?;
            Ok(Self { engine, pre })
        };
        bare().map_err(|error| anyhow!("{error:?}"))
    }

    /// A plan of these tools, each with its postcondition, one step after the other.
    pub(crate) fn check_plan(
        &self,
        task: &str,
        input: &str,
        snapshot: &str,
        tools: &[(&str, &str)],
    ) -> Result<()> {
        let mut store = Store::new(
            &self.engine,
            State {
                wasi: WasiCtx::builder().build(),
                table: ResourceTable::new(),
            },
        );
        let id = |n: usize| format!("s{n}");
        let steps = tools
            .iter()
            .enumerate()
            .map(|(n, (tool, expected))| types::Step {
                id: id(n),
                tool: (*tool).to_owned(),
                depends_on: n.checked_sub(1).map(id).into_iter().collect(),
                expected: (*expected).to_owned(),
                arguments: None,
            });
        let plan = types::Plan {
            goal: "g".to_owned(),
            status: types::PlanStatus::Ready,
            reason: "r".to_owned(),
            steps: steps.collect(),
        };
        let task = types::Task {
            id: task.to_owned(),
            tenant: "bench".to_owned(),
            principal: "operator".to_owned(),
            goal: "g".to_owned(),
            input: input.to_owned(),
        };
        let called = self.pre.instantiate(&mut store).and_then(|exports| {
            exports.wharf_domain_validator().call_check_plan(
                &mut store,
                &task,
                &snapshot.to_owned(),
                &plan,
            )
        });
        let found = called.map_err(|error| anyhow!("{error:?}"))?;
        ensure!(found.is_ok(), "refused in bare wasmtime");
        Ok(())
    }
}
