//! Locates addresses in instructions of x86-64: decodes lengths and fields, not meanings.
//!
//! Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2 and
//! appendix A. Instructions that do not exist in 64-bit mode, and those of old extensions (XOP,
//! 3DNow), are unknown and never guessed.

/// One instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Instruction {
    /// Length in bytes.
    pub length: usize,
    /// Offset and size (one or four bytes) of a field relative to the address of the next
    /// instruction.
    pub relative: Option<(usize, usize)>,
    /// Offset of four bytes that may be an absolute address.
    pub absolute: [Option<usize>; 2],
    /// Minimum number of bytes accessed through the memory operand; eight if the prefixes do not
    /// determine it. `None` for LEA, which only takes the address.
    pub loads: Option<usize>,
}

/// The fields after an opcode.
#[derive(Clone, Copy)]
struct OperandForm {
    modrm: bool,
    immediate: Immediate,
}

#[derive(Clone, Copy, PartialEq)]
enum Immediate {
    None,
    Bytes(usize),
    /// An operand of two bytes with the prefix 66, otherwise of four bytes.
    Operand,
    /// Like `Operand`, but eight bytes with REX.W.
    Wide,
    /// An absolute address: eight bytes, or four with prefix 67.
    Address,
    /// An offset of this many bytes, relative to the next instruction.
    Relative(usize),
    /// One byte for the first two operations of a group (TEST); nothing for the others.
    TestByte,
    Test,
}

const fn form(modrm: bool, immediate: Immediate) -> Option<OperandForm> {
    Some(OperandForm { modrm, immediate })
}

/// Returns the operands of an opcode in the one-byte map.
fn first_map(opcode: u8) -> Option<OperandForm> {
    use Immediate::{Address, Bytes, None as No, Operand, Relative, Test, TestByte, Wide};
    match opcode {
        0x00..=0x3f => match opcode & 7 {
            0..=3 => form(true, No),
            4 => form(false, Bytes(1)),
            5 => form(false, Operand),
            _ => None,
        },
        0x63 | 0x84..=0x8f | 0xd0..=0xd3 | 0xd8..=0xdf | 0xfe | 0xff => form(true, No),
        0x68 | 0xa9 => form(false, Operand),
        0x69 | 0x81 | 0xc7 => form(true, Operand),
        0x6b | 0x80 | 0x83 | 0xc0 | 0xc1 | 0xc6 => form(true, Bytes(1)),
        0x6a | 0xa8 | 0xb0..=0xb7 | 0xcd | 0xe4..=0xe7 => form(false, Bytes(1)),
        0x50..=0x5f
        | 0x6c..=0x6f
        | 0x90..=0x99
        | 0x9b..=0x9f
        | 0xa4..=0xa7
        | 0xaa..=0xaf
        | 0xc3
        | 0xc9
        | 0xcb
        | 0xcc
        | 0xcf
        | 0xd7
        | 0xec..=0xef
        | 0xf1
        | 0xf4
        | 0xf5
        | 0xf8..=0xfd => form(false, No),
        0xa0..=0xa3 => form(false, Address),
        0xb8..=0xbf => form(false, Wide),
        0xc2 | 0xca => form(false, Bytes(2)),
        0xc8 => form(false, Bytes(3)),
        0xe8 | 0xe9 => form(false, Relative(4)),
        0x70..=0x7f | 0xe0..=0xe3 | 0xeb => form(false, Relative(1)),
        0xf6 => form(true, TestByte),
        0xf7 => form(true, Test),
        _ => None,
    }
}

/// Returns the operands of an opcode after 0F, except in the maps after 0F 38 and 0F 3A.
fn second_map(opcode: u8) -> Option<OperandForm> {
    use Immediate::{Bytes, None as No, Relative};
    match opcode {
        0x05..=0x09 | 0x0b | 0x30..=0x35 | 0x37 | 0x77 | 0xa0..=0xa2 | 0xa8..=0xaa => {
            form(false, No)
        }
        0xc8..=0xcf => form(false, No),
        0x04 | 0x0a | 0x0c | 0x0e | 0x0f | 0x24..=0x27 | 0x36 | 0x38..=0x3f => None,
        0x80..=0x8f => form(false, Relative(4)),
        0x70..=0x73 | 0xa4 | 0xac | 0xba | 0xc2 | 0xc4..=0xc6 => form(true, Bytes(1)),
        _ => form(true, No),
    }
}

/// Returns the operands of an opcode after VEX or EVEX, in the map with this number.
fn vector_map(map: u8, opcode: u8) -> Option<OperandForm> {
    match map {
        1 if opcode == 0x77 => form(false, Immediate::None),
        1 if matches!(opcode, 0x70..=0x73 | 0xc2 | 0xc4..=0xc6) => form(true, Immediate::Bytes(1)),
        1 | 2 | 5 | 6 => form(true, Immediate::None),
        3 => form(true, Immediate::Bytes(1)),
        _ => None,
    }
}

/// Returns the instruction at the start of these bytes; `None` if it is incomplete or unknown.
pub(super) fn instruction(code: &[u8]) -> Option<Instruction> {
    let byte = |at: usize| code.get(at).copied();
    let (mut at, mut short_operand, mut short_address, mut rex) = (0, false, false, 0);
    // F3 marks operations on a single float, as a prefix or in VEX.
    let mut single = false;
    loop {
        match byte(at)? {
            0x66 => short_operand = true,
            0x67 => short_address = true,
            0x26 | 0x2e | 0x36 | 0x3e | 0x64 | 0x65 | 0xf0 | 0xf2 => {}
            0xf3 => single = true,
            _ => break,
        }
        at += 1;
    }
    if byte(at)? & 0xf0 == 0x40 {
        rex = byte(at)?;
        at += 1;
    }
    let opcode = byte(at)?;
    at += 1;
    let found = match opcode {
        0x0f => {
            let second = byte(at)?;
            at += 1;
            match second {
                0x38 | 0x3a => {
                    at += 1;
                    form(true, Immediate::Bytes(usize::from(second == 0x3a)))
                }
                _ => second_map(second),
            }
        }
        0xc5 | 0xc4 | 0x62 => {
            let (map, payload) = match opcode {
                0xc5 => (1, 1),
                0xc4 => (byte(at)? & 0x1f, 2),
                _ => (byte(at)? & 7, 3),
            };
            single = byte(at + payload.min(2) - 1)? & 3 == 2;
            at += payload + 1;
            vector_map(map, byte(at - 1)?)
        }
        _ => first_map(opcode),
    };
    let OperandForm { modrm, immediate } = found?;
    let mut relative = None;
    let mut absolute = [None; 2];
    let mut operation = 0;
    if modrm {
        let modrm = byte(at)?;
        at += 1;
        operation = modrm >> 3 & 7;
        let (mode, register) = (modrm >> 6, modrm & 7);
        let base = if mode != 3 && register == 4 {
            at += 1;
            byte(at - 1)? & 7
        } else {
            register
        };
        match mode {
            0 if base == 5 => {
                match register {
                    5 => relative = Some((at, 4)),
                    _ => absolute[0] = Some(at),
                }
                at += 4;
            }
            1 => at += 1,
            2 => {
                absolute[0] = Some(at);
                at += 4;
            }
            _ => {}
        }
    }
    let operand = if short_operand { 2 } else { 4 };
    let tests = operation < 2;
    let bytes = match immediate {
        Immediate::Bytes(bytes) => bytes,
        Immediate::Wide if rex & 8 != 0 => 8,
        Immediate::Operand | Immediate::Wide => operand,
        Immediate::Test if tests => operand,
        Immediate::TestByte if tests => 1,
        Immediate::None | Immediate::Test | Immediate::TestByte => 0,
        Immediate::Address => {
            if short_address {
                4
            } else {
                8
            }
        }
        Immediate::Relative(bytes) => {
            relative = Some((at, bytes));
            bytes
        }
    };
    if bytes == 4 && relative != Some((at, 4)) {
        absolute[1] = Some(at);
    }
    at += bytes;
    let loads = (modrm && opcode != 0x8d).then_some(if single { 4 } else { 8 });
    (at <= code.len().min(15)).then_some(Instruction { length: at, relative, absolute, loads })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_fields_are_those_of_the_manual() {
        // As assembled by GNU as: the bytes, the relative field, possible absolute addresses, and
        // the size loaded.
        type Expected = (&'static [u8], Option<(usize, usize)>, [Option<usize>; 2], Option<usize>);
        let known: [Expected; 22] = [
            (b"\xc3", None, [None; 2], None),
            (b"\x66\x0f\x1f\x84\x00\x00\x00\x00\x00", None, [Some(5), None], Some(8)),
            (b"\xe8\x00\x00\x00\x00", Some((1, 4)), [None; 2], None),
            (b"\xeb\xcc", Some((1, 1)), [None; 2], None),
            (b"\x0f\x85\x00\x01\x00\x00", Some((2, 4)), [None; 2], None),
            // lea 8(%rip), %rax; mov 8(%rip), %eax; cmpl $5, 8(%rip); cmpb $5, 8(%rip)
            (b"\x48\x8d\x05\x08\x00\x00\x00", Some((3, 4)), [None; 2], None),
            (b"\x8b\x05\x08\x00\x00\x00", Some((2, 4)), [None; 2], Some(8)),
            (b"\x81\x3d\x08\x00\x00\x00\x05\x00\x00\x00", Some((2, 4)), [None, Some(6)], Some(8)),
            (b"\x80\x3d\x08\x00\x00\x00\x05", Some((2, 4)), [None; 2], Some(8)),
            // mulss 8(%rip), %xmm0; vmulss, vmulsd of the same; vpermt2d 8(%rip), %zmm1, %zmm2
            (b"\xf3\x0f\x59\x05\x08\x00\x00\x00", Some((4, 4)), [None; 2], Some(4)),
            (b"\xc5\xfa\x59\x05\x08\x00\x00\x00", Some((4, 4)), [None; 2], Some(4)),
            (b"\xc5\xfb\x59\x05\x08\x00\x00\x00", Some((4, 4)), [None; 2], Some(8)),
            (b"\x62\xf2\x75\x48\x7e\x15\x08\x00\x00\x00", Some((6, 4)), [None; 2], Some(8)),
            // mov $1, %eax; movabs $1, %rax; movw $1, %ax; mov table(,%rax,8), %rax; mov 8(%rsp),
            // %rax; test $1, %eax; not %eax
            (b"\xb8\x01\x00\x00\x00", None, [None, Some(1)], None),
            (b"\x48\xb8\x01\x00\x00\x00\x00\x00\x00\x00", None, [None; 2], None),
            (b"\x66\xb8\x01\x00", None, [None; 2], None),
            (b"\x48\x8b\x04\xc5\x00\x20\x40\x00", None, [Some(4), None], Some(8)),
            (b"\x48\x8b\x44\x24\x08", None, [None; 2], Some(8)),
            (b"\xf7\xc0\x01\x00\x00\x00", None, [None, Some(2)], Some(8)),
            (b"\xf7\xd0", None, [None; 2], Some(8)),
            (b"\x66\x0f\x3a\x0f\xc1\x08", None, [None; 2], Some(8)),
            (b"\xc5\xf8\x77", None, [None; 2], None),
        ];
        for (bytes, relative, absolute, loads) in known {
            let expected = Instruction { length: bytes.len(), relative, absolute, loads };
            let followed = [bytes, &[0x90; 4]].concat();
            assert_eq!(instruction(&followed), Some(expected), "{bytes:02x?}");
            for cut in 0..bytes.len() {
                assert_eq!(instruction(&bytes[..cut]), None, "{bytes:02x?} cut to {cut}");
            }
        }
        for none in [&b"\x06"[..], b"\x0f\x04", b"\x62\xf7\x75\x48\x7e", b""] {
            assert_eq!(instruction(none), None);
        }
    }
}
