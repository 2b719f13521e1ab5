//! Locates addresses in instructions of 64-bit ARM.
//!
//! Source: Arm Architecture Reference Manual for A-profile, C4.1. An address that one instruction
//! cannot hold is formed by two: ADRP gives the page, and a later instruction adds the rest. GCC
//! also reaches several objects from the address of one (section anchors). Therefore registers that
//! hold an address are tracked, instruction by instruction, ignoring jumps. A wrong guess hides no
//! difference, since the assumed target counts as well. Addresses spilled to the stack are lost.

use super::{Address, MaskedCode};

/// Returns the code of a function with its addresses masked.
pub(super) fn masked(code: &[u8], start: u64) -> MaskedCode {
    let mut masked = MaskedCode { bytes: code.to_owned(), addresses: Vec::new() };
    let mut bases = [None; 32];
    let end = start + code.len() as u64;
    for (number, four) in code.as_chunks::<4>().0.iter().enumerate() {
        let (at, word) = (4 * number, u32::from_le_bytes(*four));
        let here = start + at as u64;
        let relative = |field: u32, bits: u32| {
            let distance = i64::from((field << (32 - bits)).cast_signed() >> (32 - bits));
            here.wrapping_add_signed(4 * distance)
        };
        let (to, register) = ((word & 31) as usize, (word >> 5 & 31) as usize);
        let (base, second) = (bases[register], bases[(word >> 16 & 31) as usize]);
        forget(&mut bases, word);
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
            // ADRP: the target is known when the rest is added.
            bases[to] = Some((here & !0xfff).wrapping_add_signed(far << 12));
            masked.bytes[at..at + 4].copy_from_slice(&(word & !0x60ff_ffe0).to_le_bytes());
            continue;
        } else if let Some((base, (mask, rest))) = base.zip(adds(word)) {
            let target = base.wrapping_add_signed(rest);
            if is_sum(word) {
                bases[to] = Some(target);
            }
            (mask, target)
        } else {
            // MOV (register)
            if word & 0xffe0_ffe0 == 0xaa00_03e0 {
                bases[to] = second;
            }
            // ADD (shifted and extended register): adds an index, which may be the index of an
            // object after the first.
            if word & 0xff00_0000 == 0x8b00_0000 {
                bases[to] = base.or(second);
            }
            continue;
        };
        if target < start || target >= end {
            masked.bytes[at..at + 4].copy_from_slice(&(word & !mask).to_le_bytes());
            // LDR has this bit in all its forms; its length is in the bits above.
            let loads = (word & 0x0800_0000 != 0).then_some(if word >> 30 == 2 { 4 } else { 8 });
            masked.addresses.push(Address { at, target, loads });
        }
    }
    masked
}

/// Returns true for ADD (immediate).
fn is_sum(word: u32) -> bool {
    word & 0xffc0_0000 == 0x9100_0000
}

/// Returns true for BL and BLR.
fn is_call(word: u32) -> bool {
    word & 0xfc00_0000 == 0x9400_0000 || word & 0xffff_fc1f == 0xd63f_0000
}

/// Returns the mask of the field whose value an instruction adds to a register to form an address,
/// and the amount added; `None` if it adds nothing.
fn adds(word: u32) -> Option<(u32, i64)> {
    let unsigned = i64::from(word >> 10 & 0xfff);
    if is_sum(word) {
        return Some((0x003f_fc00, unsigned));
    }
    let is_vector = word & 0x0400_0000 != 0;
    let signed =
        |field: u32, bits: u32| i64::from((field << (32 - bits)).cast_signed() >> (32 - bits));
    if word & 0x3b00_0000 == 0x3900_0000 {
        // LDR, STR (unsigned offset): scaled by the size of the access, 16 bytes with the high bit
        // of opc.
        let shift = if is_vector && word & 0x0080_0000 != 0 { 4 } else { word >> 30 };
        Some((0x003f_fc00, unsigned << shift))
    } else if word & 0x3b20_0c00 == 0x3800_0000 {
        Some((0x001f_f000, signed(word >> 12 & 0x1ff, 9))) // LDUR, STUR
    } else if word & 0x3b80_0000 == 0x2900_0000 {
        // LDP, STP (signed offset)
        let shift = if is_vector { 2 + (word >> 30) } else { 2 + (word >> 31) };
        Some((0x003f_8000, signed(word >> 15 & 0x7f, 7) << shift))
    } else {
        None
    }
}

/// Discards the tracked values of registers that an instruction writes; vector registers hold no
/// addresses.
fn forget(bases: &mut [Option<u64>; 32], word: u32) {
    let [to, also, register] = [word & 31, word >> 10 & 31, word >> 5 & 31].map(|own| own as usize);
    let is_vector = word & 0x0400_0000 != 0;
    if is_call(word) {
        // Caller-saved registers (AAPCS64, 6.1.1), and the link register.
        bases[..19].fill(None);
        bases[30] = None;
    } else if word & 0x1c00_0000 == 0x1400_0000 {
        // Other jumps, and system instructions.
    } else if word & 0x0a00_0000 == 0x0800_0000 {
        // Loads and stores.
        let is_pair = word & 0x3a00_0000 == 0x2800_0000;
        let is_load = word & 0x0040_0000 != 0
            || (!is_pair && word & 0x0080_0000 != 0)
            || word & 0x3b00_0000 == 0x1800_0000;
        if is_load && !is_vector {
            bases[to] = None;
            if is_pair {
                bases[also] = None;
            }
        }
        // Write-back, of pairs and of single registers.
        let writes = match is_pair {
            true => word & 0x0080_0000 != 0,
            false => word & 0x3b20_0400 == 0x3800_0400,
        };
        if writes {
            bases[register] = None;
        }
    } else if word & 0x0e00_0000 != 0x0e00_0000 {
        bases[to] = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_reached_from_the_address_of_something_else_is_found_until_its_register_is_lost() {
        let code = [
            0xb000_0000, // adrp x0, page
            0x9100_4000, // add x0, x0, #16
            0xb940_1801, // ldr w1, [x0, #24]
            0xaa00_03f3, // mov x19, x0
            0x9400_0800, // bl
            0xb940_0a62, // ldr w2, [x19, #8]
            0x2941_0e62, // ldp w2, w3, [x19, #8]
            0xb940_0403, // ldr w3, [x0, #4]: clobbered by the call
            0x8b13_0080, // add x0, x4, x19
            0xb940_0403, // ldr w3, [x0, #4]
            0xf940_0273, // ldr x19, [x19]
            0xb940_0a62, // ldr w2, [x19, #8]: relative to the loaded value
        ]
        .map(u32::to_le_bytes)
        .concat();
        let found = masked(&code, 0x10000);
        let targets: Vec<_> =
            found.addresses.iter().map(|own| (own.at, own.target, own.loads)).collect();
        let expected = [
            (4, 0x11010, None),
            (8, 0x11028, Some(4)),
            (16, 0x12010, None),
            (20, 0x11018, Some(4)),
            (24, 0x11018, Some(8)),
            (36, 0x11014, Some(4)),
            (40, 0x11010, Some(8)),
        ];
        assert_eq!(targets, expected);
        // The offset depends on the layout, the other fields on the operation.
        assert_eq!(found.bytes[8..12], 0xb940_0001_u32.to_le_bytes());
        assert_eq!(found.bytes[28..32], code[28..32]);
    }
}
