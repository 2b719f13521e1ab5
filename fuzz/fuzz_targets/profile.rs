//! Reads profiles of any format; what is read can be counted and written, and what was written is read.
#![no_main]

use assay_profiles::export::Format;
use assay_profiles::shares::Shares;
use assay_profiles::{checks, import};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(profile) = import::load_bytes(bytes, "fuzzed") else { return };
    let shares = Shares::of(&profile, 0.95);
    assert!(
        shares.functions.iter().all(|f| (0.0..=1.0).contains(&f.flat) && f.flat <= f.cum + 1e-9)
    );
    let _findings = checks::findings(&profile);
    for format in
        [Format::Text, Format::Collapsed, Format::Pprof, Format::Speedscope, Format::Firefox]
    {
        let written = format.write(&profile).expect("packing works in memory");
        if matches!(format, Format::Pprof) && profile.samples() > 0 {
            import::load_bytes(&written, "written").expect("what was written is read");
        }
    }
});
