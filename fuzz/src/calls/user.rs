//! Handles with a user-defined function: their creations from GLSL and from SPIR-V.

use crate::calls::case::{Breakage, Case, Pointer};
use crate::calls::model::*;
use crate::calls::random::Random;
use trommel::shared::{Constant, ENCODING_BIG_END_FIRST, ENCODING_FLOAT, ENCODING_SIGNED, UserFunction};

/// Creations, by their index in [`crate::calls::Primitive::creations`].
pub(crate) const PLAIN: usize = 0;
pub(crate) const FROM_GLSL: usize = 1;
pub(crate) const FROM_SPIRV: usize = 2;

/// A module without code that has all declarations that the library requires.
pub(crate) fn module(function: &UserFunction, key_type: i32) -> Vec<u32> {
    let encoding = match key_type {
        4..=7 => ENCODING_SIGNED,
        8..=11 => ENCODING_FLOAT,
        12..=14 => ENCODING_BIG_END_FIRST,
        _ => 0,
    };
    let constants = [
        (Constant::Interface, function.interface),
        (Constant::InterfaceFunction, function.number()),
        (Constant::InterfaceKey, key_bits(key_type).div_ceil(32) | encoding << 8),
    ];
    let mut code = vec![0x0723_0203, 0x0001_0600, 0, 10, 0, 15 | 5 << 16, 5, 1, u32::from_le_bytes(*b"main"), 0];
    for (id, (constant, value)) in (7..).zip(constants) {
        code.extend([71 | 4 << 16, id, 1, constant as u32]);
        code.extend([50 | 4 << 16, 2, id, value]);
    }
    code
}

fn bytes_of(code: &[u32]) -> Vec<u8> {
    code.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// Draws the text or the module of a creation.
pub(crate) fn draw_function(creation: usize, function: &UserFunction, key_type: i32, case: &mut Case) {
    if creation == FROM_SPIRV {
        case.text = bytes_of(&module(function, key_type));
        case.number = case.text.len() as u64;
    } else {
        // Not GLSL, so that a library with a compiler refuses it, too.
        case.text = format!("uint {}(", function.name).into();
    }
}

/// Draws a breakage of the text or the module, or none.
pub(crate) fn break_function(creation: usize, random: &mut Random, case: &Case) -> Option<Breakage> {
    let by_module = creation == FROM_SPIRV;
    match random.below(14) {
        0 if creation != PLAIN => Some(Breakage::List(random.pick(&[Pointer::Null, Pointer::Misaligned]))),
        1 | 2 if by_module => Some(Breakage::Number(case.number - 1 - random.below(case.number))),
        3 | 4 if by_module => Some(Breakage::Text { at: random.index(case.text.len()), bits: 1 << random.below(8) }),
        _ => None,
    }
}

/// Judges the text or the module of a creation. `key_type`: of the info, unless its header is invalid.
pub(crate) fn judge_function(
    creation: usize,
    function: &UserFunction,
    key_type: Option<i32>,
    case: &Case,
    verdict: &mut Verdict,
) {
    match creation {
        // No compiler, or one that refuses the text.
        FROM_GLSL => {
            verdict.must(false, NOT_BUILT, "no compiler");
            verdict.must(false, MALFORMED, "no GLSL");
        }
        FROM_SPIRV => {
            let is_for = |key_type| case.text_is_changed || case.text == bytes_of(&module(function, key_type));
            verdict.must(key_type.is_none_or(is_for), MALFORMED, "keyType of the kernel");
            verdict.must(case.number.is_multiple_of(4), MISALIGNED, "codeSize");
            verdict.must(case.list != Pointer::Null, NULL, "code");
            verdict.must(case.list != Pointer::Misaligned, MISALIGNED, "code");
            verdict.must(case.number == case.text.len() as u64, MALFORMED, "code is cut off");
            verdict.doubt(case.text_is_changed, "a changed module");
        }
        _ => {}
    }
}
