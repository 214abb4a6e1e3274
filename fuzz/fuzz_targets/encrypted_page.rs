#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| innoscan_testkit::fuzz::encrypted_page(data));
