#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::model_lines(bytes));
