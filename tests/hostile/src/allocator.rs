//! An allocator that attacks. The host asks for memory before it calls a function, for the arguments: code of the guest runs
//! then, too.

use std::alloc::{GlobalAlloc, Layout, System};

/// The length of a goal, in bytes, upon which the allocator attacks. Nothing else in a task is as long.
pub const SIGNAL: usize = 77;

/// Does something else when the host asks for room for a goal of that length.
pub struct Allocator(pub fn(Layout) -> *mut u8);

unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() == SIGNAL && layout.align() == 1 {
            (self.0)(layout)
        } else {
            unsafe { System.alloc(layout) }
        }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) }
    }
}
