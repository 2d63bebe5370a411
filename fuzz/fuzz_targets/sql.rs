#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    wharf_fuzz::sql::sql(data);
});
