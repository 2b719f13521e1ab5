//! Where the addresses stand in instructions of 64-bit ARM.
//!
//! Source: Arm Architecture Reference Manual for A-profile, C4.1. An address beyond the reach of one instruction is made by two: ADRP
//! gives the page, a later one adds the rest. Which later one is guessed by its register; a wrong guess hides nothing, since
//! what it points at counts.

use super::{Address, Masked};

/// A function with its addresses masked.
pub(super) fn masked(code: &[u8], start: u64) -> Masked {
    let mut masked = Masked { bytes: code.to_owned(), addresses: Vec::new() };
    let mut pages = [None; 32];
    let end = start + code.len() as u64;
    for (number, four) in code.as_chunks::<4>().0.iter().enumerate() {
        let (at, word) = (4 * number, u32::from_le_bytes(*four));
        let here = start + at as u64;
        let relative = |field: u32, bits: u32| {
            let distance = i64::from((field << (32 - bits)).cast_signed() >> (32 - bits));
            here.wrapping_add_signed(4 * distance)
        };
        let (to, register) = ((word & 31) as usize, (word >> 5 & 31) as usize);
        let address = u64::from(word >> 29 & 3 | word >> 3 & 0x1f_fffc);
        let far = (address << 43).cast_signed() >> 43;
        let (mask, target) = if word & 0x7c00_0000 == 0x1400_0000 {
            (0x03ff_ffff, relative(word & 0x03ff_ffff, 26)) // B, BL
        } else if word & 0xff00_0010 == 0x5400_0000
            || word & 0x7e00_0000 == 0x3400_0000
            || word & 0x3b00_0000 == 0x1800_0000
        {
            (0x00ff_ffe0, relative(word >> 5 & 0x7_ffff, 19)) // B.cond; CBZ, CBNZ; LDR (literal)
        } else if word & 0x7e00_0000 == 0x3600_0000 {
            (0x0007_ffe0, relative(word >> 5 & 0x3fff, 14)) // TBZ, TBNZ
        } else if word & 0x9f00_0000 == 0x1000_0000 {
            (0x60ff_ffe0, here.wrapping_add_signed(far)) // ADR
        } else if word & 0x9f00_0000 == 0x9000_0000 {
            // ADRP: what is pointed at is known when the rest is added.
            pages[to] = Some((here & !0xfff).wrapping_add_signed(far << 12));
            masked.bytes[at..at + 4].copy_from_slice(&(word & !0x60ff_ffe0).to_le_bytes());
            continue;
        } else if let Some(page) = pages[register].filter(|_| adds(word).is_some()) {
            let rest = u64::from(word >> 10 & 0xfff) << adds(word).unwrap_or_default();
            if to == register {
                pages[to] = None;
            }
            (0x003f_fc00, page + rest)
        } else {
            continue;
        };
        if target < start || target >= end {
            masked.bytes[at..at + 4].copy_from_slice(&(word & !mask).to_le_bytes());
            // LDR, in all its forms, has this bit; its length stands above it.
            let loads = (word & 0x0800_0000 != 0).then_some(if word >> 30 == 2 { 4 } else { 8 });
            masked.addresses.push(Address { at, target, loads });
        }
    }
    masked
}

/// By how many bits an instruction shifts the 12 bits that it adds to a register; `None` for one that adds none.
fn adds(word: u32) -> Option<u32> {
    if word & 0xffc0_0000 == 0x9100_0000 {
        return Some(0); // ADD (immediate)
    }
    let is_vector = word & 0x0400_0000 != 0;
    // LDR, STR (unsigned offset): by the size of what is loaded, 16 bytes with the high bit of opc.
    (word & 0x3b00_0000 == 0x3900_0000).then_some(if is_vector && word & 0x0080_0000 != 0 {
        4
    } else {
        word >> 30
    })
}
