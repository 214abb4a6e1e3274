#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| innoscan_testkit::fuzz::undo_record(data));
