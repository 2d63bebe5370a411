//! Gives the host an odd address for a list of records. The call ends.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering};

use hostile::{Guest, SIGNAL};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {}

/// From the goal on, everything that has to be aligned is not.
static ARMED: AtomicBool = AtomicBool::new(false);

struct Odd;

#[global_allocator]
static ALLOCATOR: Odd = Odd;

unsafe impl GlobalAlloc for Odd {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let address = unsafe { System.alloc(layout) };
        if ARMED.load(Ordering::Relaxed) && layout.align() > 1 {
            return address.wrapping_add(1);
        }
        if layout.size() == SIGNAL {
            ARMED.store(true, Ordering::Relaxed);
        }
        address
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        unsafe { System.dealloc(address, layout) }
    }
}
