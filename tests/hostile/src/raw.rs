//! `check-task` below the generated bindings: for answers that no value of Rust can be.
//!
//! In the canonical ABI the function yields a pointer to `result<string, list<violation>>`: at 0 the case, at 4 the address and at
//! 8 the length of its string or list.

use crate::{BEHAVE, Exported, Guest};

/// A guest that answers `check-task` with a pointer of its own making.
pub trait RawGuest {
    /// Where the answer stands; the honest one, in the program.
    fn check_task() -> *const RawAnswer {
        RawAnswer::of_case(0).kept()
    }

    /// What the host has done once it has read that answer. Sandboxes are short-lived: nothing is freed.
    fn after_its_answer() {}
}

/// An answer as it stands in memory.
#[repr(C, align(4))]
#[derive(Clone, Copy)]
pub struct RawAnswer {
    pub case: u8,
    pub address: usize,
    pub length: usize,
}

impl RawAnswer {
    /// The honest subject, or whatever else that case means.
    pub fn of_case(case: u8) -> Self {
        Self {
            case,
            ..Self::at(c"subject".as_ptr() as usize, 7)
        }
    }

    /// A subject that stands somewhere.
    pub const fn at(address: usize, length: usize) -> Self {
        Self {
            case: 0,
            address,
            length,
        }
    }

    /// Leaves it in memory for ever.
    pub fn kept(self) -> *const Self {
        Box::leak(Box::new(self))
    }
}

impl<G: Guest + RawGuest> RawGuest for Exported<G> {
    fn check_task() -> *const RawAnswer {
        <G as RawGuest>::check_task()
    }

    fn after_its_answer() {
        G::after_its_answer();
    }
}

/// Exports a guest whose `check-task` is a [`RawGuest`]'s.
#[macro_export]
macro_rules! export_raw {
    ($guest:ty) => {
        type Exported = $crate::Exported<$guest>;
        $crate::bindings::export!(Exported with_types_in $crate::raw);
    };
}

/// The generated module as the exporting macro wants it, with another `check-task`.
pub mod exports {
    pub mod wharf {
        pub mod domain {
            pub use crate::bindings::exports::wharf::domain::tools;

            pub mod validator {
                use crate::bindings::exports::wharf::domain::validator as generated;
                use crate::raw::{BEHAVE, RawAnswer, RawGuest};

                pub use generated::*;

                /// # Safety
                /// As the function of the canonical ABI that it is.
                #[expect(
                    clippy::too_many_arguments,
                    reason = "a record of five texts, flattened"
                )]
                pub unsafe fn _export_check_task_cabi<G: generated::Guest + RawGuest>(
                    id: *mut u8,
                    id_length: usize,
                    tenant: *mut u8,
                    tenant_length: usize,
                    principal: *mut u8,
                    principal_length: usize,
                    goal: *mut u8,
                    goal_length: usize,
                    input: *mut u8,
                    input_length: usize,
                ) -> *mut u8 {
                    let said = unsafe { std::slice::from_raw_parts(goal, goal_length) };
                    if said != BEHAVE.as_bytes() {
                        return <G as RawGuest>::check_task().cast_mut().cast();
                    }
                    unsafe {
                        generated::_export_check_task_cabi::<G>(
                            id,
                            id_length,
                            tenant,
                            tenant_length,
                            principal,
                            principal_length,
                            goal,
                            goal_length,
                            input,
                            input_length,
                        )
                    }
                }

                /// # Safety
                /// As the function of the canonical ABI that it is.
                pub unsafe fn __post_return_check_task<G: RawGuest>(answer: *mut u8) {
                    let answer = unsafe { answer.cast::<RawAnswer>().read_unaligned() };
                    // A behaving guest's answer was allocated.
                    if answer.address == RawAnswer::of_case(0).address {
                        G::after_its_answer();
                    }
                }
            }
        }
    }
}
