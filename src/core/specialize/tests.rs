//! What specialization makes of the committed modules. Tests on devices run every pipeline that it makes.

use super::{Buffers, Module, Unroll};
use crate::kernels::Kernel;
use crate::shared::Constant;
use spirv::Op;

/// Plausible values of the constants, drawn from a seed.
fn draw(seed: u32) -> impl Fn(u32) -> Option<u32> {
    let choice = move |id: u32, values: &[u32]| {
        let hash = (seed.wrapping_mul(0x9e37_79b9) ^ id.wrapping_mul(0x85eb_ca6b)).wrapping_mul(0xc2b2_ae35) >> 16;
        values[hash as usize % values.len()]
    };
    move |id| {
        let values: &[u32] = match id {
            id if id == Constant::Threads as u32 => &[64, 128, 256, 512, 1024],
            id if id == Constant::Lanes as u32 => &[0, 8, 32, 64],
            id if id == Constant::Bins as u32 => &[2, 32, 101, 256],
            id if id == Constant::KeyBits as u32 => &[8, 16, 32],
            id if id == Constant::KeyWords as u32 => &[1, 2, 3, 4],
            id if id == Constant::ValueWords as u32 => &[0, 1, 4, 7],
            id if id == Constant::Layout as u32 => &[0, 1, 2, 16, 18, 20, 22, 34, 336],
            id if id == Constant::Mode as u32 => &[0, 1, 2, 3, 4, 8, 19],
            id if id == Constant::EndBit as u32 => &[8, 16, 20, 32, 45, 64, 128],
            id if id == Constant::BeginBit as u32 => &[0, 5],
            id if id == Constant::Function as u32 || id == Constant::Scan as u32 || id == Constant::Output as u32 => {
                &[0, 1, 2, 3]
            }
            id if id == Constant::Wide as u32 || id == Constant::FullDigits as u32 => &[0, 1],
            _ => &[1, 2, 4, 8, 16],
        };
        Some(choice(id, values))
    }
}

fn specialize(code: &[u32], unroll: Unroll, value: impl Fn(u32) -> Option<u32>) -> Option<Vec<u32>> {
    Module::parse(code.into())?.specialize(unroll, &mut Buffers::default(), value).map(<[u32]>::to_vec)
}

/// The opcodes and operands of a module.
fn instructions(code: &[u32]) -> Vec<(u32, &[u32])> {
    let mut rest = &code[5..];
    let mut all = Vec::new();
    while let [first, ..] = rest {
        let (words, behind) = rest.split_at((first >> 16) as usize);
        all.push((first & 0xffff, &words[1..]));
        rest = behind;
    }
    all
}

#[test]
fn every_kernel_is_specialized() {
    const SPECIALIZATION: [Op; 5] =
        [Op::SpecConstantTrue, Op::SpecConstantFalse, Op::SpecConstant, Op::SpecConstantComposite, Op::SpecConstantOp];
    for kernel in Kernel::ALL {
        for seed in 0..20 {
            let whole = &kernel.spirv().unwrap()[..];
            let code = specialize(whole, Unroll::AsMarked, draw(seed))
                .unwrap_or_else(|| panic!("{} is not understood", kernel.name()));
            assert!(code.len() < whole.len(), "{} shrinks", kernel.name());
            for (op, words) in instructions(&code) {
                assert!(
                    SPECIALIZATION.iter().all(|other| *other as u32 != op),
                    "{} has a specialization constant",
                    kernel.name()
                );
                let is_id = op == Op::Decorate as u32 && words[1] == spirv::Decoration::SpecId as u32;
                assert!(!is_id, "{} has the id of one", kernel.name());
            }
            let again = specialize(&code, Unroll::AsMarked, |_| None);
            assert!(again.as_deref().is_some_and(|again| again == code), "{}: nothing is left to do", kernel.name());
        }
    }
}

/// A thread specializes one kernel after the other in the same memory, each parsed once for all its variants.
#[test]
fn variants_do_not_depend_on_earlier_ones() {
    let mut buffers = Buffers::default();
    for kernel in Kernel::ALL {
        let code = kernel.spirv().unwrap();
        let module = Module::parse(code[..].into()).expect("the module is understood");
        for seed in 0..3 {
            let again = module.specialize(Unroll::AsMarked, &mut buffers, draw(seed)).map(<[u32]>::to_vec);
            assert!(
                again.is_some() && again == specialize(&code, Unroll::AsMarked, draw(seed)),
                "{}, {seed}",
                kernel.name()
            );
        }
    }
}

/// A carry, a borrow or a half of a product of constants is a constant.
#[test]
fn members_of_pairs_are_folded() {
    let length = |operands: &[u32]| u32::try_from(operands.len() + 1).unwrap();
    let words = |op: Op, operands: &[u32]| [&[length(operands) << 16 | op as u32], operands].concat();
    for (op, a, b, pair) in [
        (Op::IAddCarry, u32::MAX, 1, [0, 1]),
        (Op::IAddCarry, u32::MAX, 0, [u32::MAX, 0]),
        (Op::ISubBorrow, 7, 7, [0, 0]),
        (Op::ISubBorrow, 7, 8, [u32::MAX, 1]),
        (Op::UMulExtended, 1 << 31, 6, [0, 3]),
    ] {
        for (member, expected) in (0..).zip(pair) {
            // 1: void, 2: its function, 3: uint, 4: two of them, 5 and 6: a and b, 8: a variable, 11 and 12: the pair
            // and its member.
            let code = [
                vec![spirv::MAGIC_NUMBER, 0x0001_0600, 0, 13, 0],
                words(Op::Capability, &[1]),
                words(Op::TypeVoid, &[1]),
                words(Op::TypeFunction, &[2, 1]),
                words(Op::TypeInt, &[3, 32, 0]),
                words(Op::TypeStruct, &[4, 3, 3]),
                words(Op::Constant, &[3, 5, a]),
                words(Op::Constant, &[3, 6, b]),
                words(Op::TypePointer, &[7, 12, 3]),
                words(Op::Variable, &[7, 8, 12]),
                words(Op::Function, &[1, 9, 0, 2]),
                words(Op::Label, &[10]),
                words(op, &[4, 11, 5, 6]),
                words(Op::CompositeExtract, &[3, 12, 11, member]),
                words(Op::Store, &[8, 12]),
                words(Op::Return, &[]),
                words(Op::FunctionEnd, &[]),
            ];
            let code = specialize(&code.concat(), Unroll::AsMarked, |_| None).expect("the module is understood");
            let all = instructions(&code);
            let stored = all.iter().find(|(op, _)| *op == Op::Store as u32).expect("a store").1[1];
            let constant = all.iter().find(|(op, words)| *op == Op::Constant as u32 && words[1] == stored);
            assert_eq!(constant.map(|(_, words)| words[2]), Some(expected), "member {member} of {op:?} of {a} and {b}");
        }
    }
}

#[test]
fn loops_are_not_unrolled_where_nobody_wants_it() {
    for (unroll, wanted) in [(Unroll::AsMarked, true), (Unroll::Never, false)] {
        let code =
            specialize(&Kernel::RadixOnesweep.spirv().unwrap(), unroll, draw(1)).expect("the module is understood");
        let hints =
            instructions(&code).into_iter().filter(|(op, _)| *op == Op::LoopMerge as u32).map(|(_, words)| words[2]);
        assert_eq!(hints.into_iter().any(|hint| hint & 1 != 0), wanted);
    }
}

/// Control never reaches the continue target of a loop that is left in its first turn. The block stays, and with it an
/// edge to the header.
#[test]
fn loops_that_never_turn_keep_their_back_edge() {
    let length = |operands: &[u32]| u32::try_from(operands.len() + 1).unwrap();
    let words = |op: Op, operands: &[u32]| [&[length(operands) << 16 | op as u32], operands].concat();
    // 1: void, 2: its function, 3: uint, 4: bool, 5: zero, 6: one, 8: a variable; blocks from 10 on: 12 the header, 14
    // the continue target.
    let code = [
        vec![spirv::MAGIC_NUMBER, 0x0001_0600, 0, 24, 0],
        words(Op::Capability, &[1]),
        words(Op::TypeVoid, &[1]),
        words(Op::TypeFunction, &[2, 1]),
        words(Op::TypeInt, &[3, 32, 0]),
        words(Op::TypeBool, &[4]),
        words(Op::Constant, &[3, 5, 0]),
        words(Op::Constant, &[3, 6, 1]),
        words(Op::TypePointer, &[7, 12, 3]),
        words(Op::Variable, &[7, 8, 12]),
        words(Op::Function, &[1, 9, 0, 2]),
        words(Op::Label, &[10]),
        words(Op::Load, &[3, 20, 8]),
        words(Op::IEqual, &[4, 21, 20, 5]),
        words(Op::SelectionMerge, &[12, 0]),
        words(Op::BranchConditional, &[21, 11, 12]),
        words(Op::Label, &[11]),
        words(Op::Branch, &[12]),
        words(Op::Label, &[12]),
        words(Op::Phi, &[3, 22, 5, 10, 6, 11, 23, 14]),
        words(Op::LoopMerge, &[15, 14, 0]),
        words(Op::Branch, &[13]),
        words(Op::Label, &[13]),
        words(Op::Store, &[8, 22]),
        words(Op::Branch, &[15]),
        words(Op::Label, &[14]),
        words(Op::IAdd, &[3, 23, 22, 6]),
        words(Op::Branch, &[12]),
        words(Op::Label, &[15]),
        words(Op::Return, &[]),
        words(Op::FunctionEnd, &[]),
    ];
    let code = specialize(&code.concat(), Unroll::AsMarked, |_| None).expect("the module is understood");
    let all = instructions(&code);
    let phi = all.iter().find(|(op, _)| *op == Op::Phi as u32).expect("a phi").1;
    assert_eq!(
        phi.iter().skip(3).step_by(2).collect::<Vec<_>>(),
        [&10, &11, &14],
        "a value for each block that branches there"
    );
}

/// A compiler that optimizes leaves switches without cases, whose only purpose is that blocks break out of them.
#[test]
fn switches_that_no_block_leaves_are_dissolved() {
    let without_cases = |code: &[u32]| {
        instructions(code).into_iter().filter(|(op, words)| *op == Op::Switch as u32 && words.len() == 2).count()
    };
    let specialized = |kernel: Kernel, seed| {
        specialize(&kernel.spirv().unwrap(), Unroll::AsMarked, draw(seed)).expect("the module is understood")
    };
    let whole: usize = Kernel::ALL.iter().map(|kernel| without_cases(&kernel.spirv().unwrap())).sum();
    for seed in 0..10 {
        let kept: usize = Kernel::ALL.iter().map(|kernel| without_cases(&specialized(*kernel, seed))).sum();
        assert!(kept * 10 < whole, "{kept} of {whole} stay");
    }
}

/// The driver gets what this pass does not understand. Nothing panics.
#[test]
fn damaged_modules_are_left_to_the_driver() {
    let whole = &Kernel::SortChoosePrefixPath.spirv().unwrap()[..];
    for end in 0..whole.len() {
        let _ = specialize(&whole[..end], Unroll::AsMarked, draw(2));
    }
    // Of most instructions, the words of others, and ids that others define.
    let words = |index: usize| {
        [0, u32::MAX, 7, 0x0001_0000, 0x0007_00f8, whole[index].wrapping_add(1)].map(|word| (index, word))
    };
    for (index, word) in (0..whole.len()).flat_map(words) {
        let mut code = whole.to_vec();
        code[index] = word;
        let _ = specialize(&code, Unroll::AsMarked, draw(word));
    }
    let calls: Vec<u32> = whole.iter().copied().chain([5 << 16 | Op::FunctionCall as u32, 1, 1, 1, 1]).collect();
    assert_eq!(specialize(&calls, Unroll::AsMarked, draw(3)), None);
    let unknown: Vec<u32> = whole.iter().copied().chain([1 << 16 | 0xfffe]).collect();
    assert_eq!(specialize(&unknown, Unroll::AsMarked, draw(3)), None);
}

/// A continue target without a back edge is no valid loop.
#[test]
fn loops_of_a_single_block_keep_their_back_edge() {
    const MAIN: u32 = 5;
    const ENTRY: u32 = 6;
    const LOOP: u32 = 7;
    const BEHIND: u32 = 8;
    let name = u32::from_le_bytes(*b"main");
    let listing: [(Op, &[u32]); 18] = [
        (Op::Capability, &[spirv::Capability::Shader as u32]),
        (Op::MemoryModel, &[spirv::AddressingModel::Logical as u32, spirv::MemoryModel::GLSL450 as u32]),
        (Op::EntryPoint, &[spirv::ExecutionModel::GLCompute as u32, MAIN, name, 0]),
        (Op::ExecutionMode, &[MAIN, spirv::ExecutionMode::LocalSize as u32, 1, 1, 1]),
        (Op::Decorate, &[4, spirv::Decoration::SpecId as u32, 0]),
        (Op::TypeVoid, &[1]),
        (Op::TypeFunction, &[2, 1]),
        (Op::TypeBool, &[3]),
        (Op::SpecConstantTrue, &[3, 4]),
        (Op::Function, &[1, MAIN, 0, 2]),
        (Op::Label, &[ENTRY]),
        (Op::Branch, &[LOOP]),
        (Op::Label, &[LOOP]),
        (Op::LoopMerge, &[BEHIND, LOOP, 0]),
        (Op::BranchConditional, &[4, LOOP, BEHIND]),
        (Op::Label, &[BEHIND]),
        (Op::Return, &[]),
        (Op::FunctionEnd, &[]),
    ];
    let mut code = vec![spirv::MAGIC_NUMBER, 0x0001_0600, 0, 9, 0];
    for (op, words) in listing {
        let length = u32::try_from(words.len() + 1).expect("instructions are short");
        code.push(length << 16 | op as u32);
        code.extend(words);
    }
    for (value, has_way_out) in [(0, true), (1, false)] {
        let code = specialize(&code, Unroll::AsMarked, |_| Some(value)).expect("the module is understood");
        let ends: Vec<_> =
            instructions(&code).into_iter().filter(|(op, _)| *op == Op::BranchConditional as u32).collect();
        assert!(matches!(ends[..], [(_, [_, LOOP, BEHIND])]), "{ends:?}");
        let returns = instructions(&code).iter().any(|(op, _)| *op == Op::Return as u32);
        assert_eq!(returns, has_way_out, "control that never comes needs no code");
    }
}
