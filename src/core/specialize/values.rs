//! Sparse conditional constant propagation: which results are constant, and which blocks run at all.

use super::module::{Instruction, Module};
use super::reset;
use spirv::Op;

/// What is known of a result. Booleans are 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// Not computed so far.
    Unknown,
    Constant(u32),
    Varying,
}

impl Value {
    fn meet(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown, value) | (value, Self::Unknown) => value,
            (a, b) if a == b => a,
            _ => Self::Varying,
        }
    }
}

/// Where a terminator leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Successors {
    None,
    One(u32),
    /// All labels of the terminator.
    All,
}

impl Successors {
    /// Whether `label` is among those of the terminator that remain.
    pub(super) fn include(self, terminator: Instruction<'_>, label: u32) -> bool {
        match self {
            Self::None => false,
            Self::One(only) => only == label,
            Self::All => terminator.labels().any(|other| other == label),
        }
    }

    pub(super) fn labels<'a>(self, terminator: Instruction<'a>) -> impl Iterator<Item = u32> + use<'a> {
        let (one, all) = match self {
            Self::None => (None, None),
            Self::One(label) => (Some(label), None),
            Self::All => (None, Some(terminator.labels())),
        };
        one.into_iter().chain(all.into_iter().flatten())
    }
}

pub(super) struct Values<'m> {
    module: &'m Module,
    /// By id.
    values: &'m mut [Value],
    /// By index of the block.
    reached: Vec<bool>,
    /// The id of the instruction set of GLSL.
    glsl: Option<u32>,
}

/// Instructions of `GLSL.std.450`.
mod glsl {
    pub(super) const UMIN: u32 = 38;
    pub(super) const SMIN: u32 = 39;
    pub(super) const UMAX: u32 = 41;
    pub(super) const SMAX: u32 = 42;
    pub(super) const UCLAMP: u32 = 44;
    pub(super) const FIND_LSB: u32 = 73;
    pub(super) const FIND_UMSB: u32 = 75;
}

impl<'m> Values<'m> {
    /// `None`: control reaches an instruction that this pass does not know.
    pub(super) fn propagate(
        module: &'m Module,
        values: &'m mut Vec<Value>,
        specialization: impl Fn(u32) -> Option<u32>,
    ) -> Option<Self> {
        reset(values, module.bound() as usize, Value::Unknown);
        let mut all = Self { module, values, reached: vec![false; module.blocks.len()], glsl: glsl_set(module) };
        all.evaluate_globals(specialization);
        all.reach(0)?;
        let mut index = 0;
        while index < module.blocks.len() {
            index = if all.reached[index] { all.evaluate_block(index)? } else { index + 1 };
        }
        Some(all)
    }

    /// The constant that `id` is, of a 32-bit integer or a boolean.
    pub(super) fn constant(&self, id: u32) -> Option<u32> {
        match self.values.get(id as usize) {
            Some(Value::Constant(value)) => Some(*value),
            _ => None,
        }
    }

    /// By index of the block.
    pub(super) fn is_reached(&self, index: usize) -> bool {
        self.reached[index]
    }

    /// Whether control can go from one block to the other.
    fn is_edge(&self, from: u32, to: u32) -> bool {
        let index = self.module.block_of(from);
        let terminator = self.module.terminator(&self.module.blocks[index]);
        self.reached[index] && self.successors(terminator).include(terminator, to)
    }

    pub(super) fn successors(&self, terminator: Instruction<'_>) -> Successors {
        let selector = |id: u32| self.values[id as usize];
        match (terminator.op, terminator.words) {
            (Op::Branch, [label]) => Successors::One(*label),
            (Op::BranchConditional, [condition, then, otherwise, ..]) => match selector(*condition) {
                Value::Unknown => Successors::None,
                Value::Constant(0) => Successors::One(*otherwise),
                Value::Constant(_) => Successors::One(*then),
                Value::Varying => Successors::All,
            },
            (Op::Switch, [number, default, cases @ ..]) => match selector(*number) {
                Value::Unknown => Successors::None,
                Value::Constant(number) => {
                    let case = cases.chunks_exact(2).find(|case| case[0] == number);
                    Successors::One(case.map_or(*default, |case| case[1]))
                }
                Value::Varying => Successors::All,
            },
            _ => Successors::None,
        }
    }

    fn evaluate_globals(&mut self, specialization: impl Fn(u32) -> Option<u32>) {
        for decoration in self.module.globals().filter(|instruction| instruction.op == Op::Decorate) {
            if let [target, kind, constant] = *decoration.words
                && kind == spirv::Decoration::SpecId as u32
            {
                self.values[target as usize] = specialization(constant).map_or(Value::Unknown, Value::Constant);
            }
        }
        for instruction in self.module.globals() {
            let (Some(_), Some(id)) = (instruction.result_type(), instruction.result()) else { continue };
            let given = self.constant(id);
            let value = match instruction.op {
                _ if !instruction.is_word => Value::Varying,
                Op::Constant => instruction.words.get(2).map_or(Value::Varying, |word| Value::Constant(*word)),
                Op::ConstantTrue => Value::Constant(1),
                Op::ConstantFalse => Value::Constant(0),
                Op::SpecConstant => given.or(instruction.words.get(2).copied()).map_or(Value::Varying, Value::Constant),
                Op::SpecConstantTrue => Value::Constant(given.map_or(1, |value| (value != 0).into())),
                Op::SpecConstantFalse => Value::Constant(given.map_or(0, |value| (value != 0).into())),
                Op::SpecConstantOp => Op::from_u32(instruction.words[2])
                    .map_or(Value::Varying, |op| self.fold(op, &instruction.words[3..])),
                _ => Value::Varying,
            };
            self.values[id as usize] = value;
        }
    }

    /// Evaluates a reached block and returns the index of the one to evaluate next. That is the following one, because
    /// definitions come before uses (SPIR-V 1.6, section 2.4), except for those of phis: a block that changes a phi of
    /// an earlier one leads back.
    fn evaluate_block(&mut self, index: usize) -> Option<usize> {
        let module = self.module;
        let block = &module.blocks[index];
        for instruction in module.body(block) {
            if let Some(id) = instruction.result() {
                self.values[id as usize] = self.evaluate(instruction, block.label);
            }
        }
        let terminator = module.terminator(block);
        let mut next = index + 1;
        for label in self.successors(terminator).labels(terminator) {
            let target = module.block_of(label);
            let is_new = self.reach(target)?;
            if target < next && (is_new || self.changes_phi(target)) {
                next = target;
            }
        }
        Some(next)
    }

    fn changes_phi(&self, index: usize) -> bool {
        let block = &self.module.blocks[index];
        self.module.phis(block).any(|phi| self.evaluate(phi, block.label) != self.values[phi.words[1] as usize])
    }

    /// Marks a block as reached. Returns whether it is new.
    fn reach(&mut self, index: usize) -> Option<bool> {
        let module = self.module;
        let is_new = !std::mem::replace(&mut self.reached[index], true);
        (!is_new || module.is_valid_block(index)).then_some(is_new)
    }

    /// The value of a result of the block with this label, met with the one that it has.
    fn evaluate(&self, instruction: Instruction<'_>, label: u32) -> Value {
        let value = match (instruction.op, instruction.words) {
            _ if !instruction.is_word => return Value::Varying,
            (Op::Phi, [_, _, pairs @ ..]) => {
                let edges = pairs.chunks_exact(2).filter(|pair| self.is_edge(pair[1], label));
                edges.fold(Value::Unknown, |value, pair| value.meet(self.values[pair[0] as usize]))
            }
            (Op::CompositeExtract, [_, _, composite, index]) => self.member(*composite, *index),
            (Op::ExtInst, [_, _, set, number, operands @ ..]) if Some(*set) == self.glsl => {
                self.fold_glsl(*number, operands)
            }
            (Op::Undef | Op::ExtInst | Op::CompositeExtract, _) => Value::Varying,
            (op, [_, _, operands @ ..]) => self.fold(op, operands),
            _ => Value::Varying,
        };
        instruction.result().map_or(value, |id| value.meet(self.values[id as usize]))
    }

    /// A member of a composite that the function builds.
    fn member(&self, composite: u32, index: u32) -> Value {
        let definition = self.module.definition(composite);
        match (definition.op, definition.words) {
            // Not of vectors, which also consist of other vectors.
            (Op::CompositeConstruct, [ty, _, members @ ..]) if self.module.definition(*ty).op != Op::TypeVector => {
                members.get(index as usize).map_or(Value::Varying, |member| self.values[*member as usize])
            }
            (Op::IAddCarry | Op::ISubBorrow | Op::UMulExtended, [_, _, a, b]) => {
                match (self.values[*a as usize], self.values[*b as usize]) {
                    (Value::Varying, _) | (_, Value::Varying) => Value::Varying,
                    (Value::Constant(a), Value::Constant(b)) => {
                        let pair = match definition.op {
                            Op::IAddCarry => [a.wrapping_add(b), a.checked_add(b).is_none().into()],
                            Op::ISubBorrow => [a.wrapping_sub(b), (a < b).into()],
                            _ => halves(u64::from(a) * u64::from(b)),
                        };
                        Value::Constant(pair[(index & 1) as usize])
                    }
                    _ => Value::Unknown,
                }
            }
            _ => Value::Varying,
        }
    }

    fn fold_glsl(&self, number: u32, operands: &[u32]) -> Value {
        self.fold_with(operands, |operands| {
            Some(match (number, operands) {
                (glsl::UMIN, [a, b]) => *a.min(b),
                (glsl::UMAX, [a, b]) => *a.max(b),
                (glsl::SMIN, [a, b]) => a.cast_signed().min(b.cast_signed()).cast_unsigned(),
                (glsl::SMAX, [a, b]) => a.cast_signed().max(b.cast_signed()).cast_unsigned(),
                (glsl::UCLAMP, [x, low, high]) => *x.max(low).min(high),
                (glsl::FIND_LSB, [x]) => {
                    if *x == 0 {
                        u32::MAX
                    } else {
                        x.trailing_zeros()
                    }
                }
                (glsl::FIND_UMSB, [x]) => x.checked_ilog2().unwrap_or(u32::MAX),
                _ => return None,
            })
        })
    }

    /// The value of an operation whose operands are 32-bit integers or booleans.
    fn fold(&self, op: Op, operands: &[u32]) -> Value {
        let value = |index: usize| operands.get(index).map_or(Value::Varying, |id| self.values[*id as usize]);
        let is = |index, constant| value(index) == Value::Constant(constant);
        match op {
            // One operand can decide.
            Op::LogicalAnd | Op::BitwiseAnd | Op::IMul if is(0, 0) || is(1, 0) => Value::Constant(0),
            Op::LogicalOr if is(0, 1) || is(1, 1) => Value::Constant(1),
            Op::Select => match value(0) {
                Value::Constant(0) => value(2),
                Value::Constant(_) => value(1),
                Value::Varying => value(1).meet(value(2)),
                Value::Unknown => Value::Unknown,
            },
            _ => self.fold_with(operands, |operands| operation(op, operands)),
        }
    }

    fn fold_with(&self, operands: &[u32], operation: impl FnOnce(&[u32]) -> Option<u32>) -> Value {
        let mut constants = [0; 3];
        let Some(constants) = constants.get_mut(..operands.len()) else { return Value::Varying };
        let mut known = true;
        for (constant, id) in constants.iter_mut().zip(operands) {
            match self.values[*id as usize] {
                Value::Constant(value) => *constant = value,
                Value::Unknown => known = false,
                Value::Varying => return Value::Varying,
            }
        }
        if known { operation(constants).map_or(Value::Varying, Value::Constant) } else { Value::Unknown }
    }
}

fn glsl_set(module: &Module) -> Option<u32> {
    const NAME: u32 = u32::from_le_bytes(*b"GLSL");
    let mut imports = module.globals().filter(|instruction| instruction.op == Op::ExtInstImport);
    imports.find(|import| import.words.get(1) == Some(&NAME))?.result()
}

/// The low and the high word.
#[allow(clippy::cast_possible_truncation, reason = "that is what a low word is")]
fn halves(product: u64) -> [u32; 2] {
    [product as u32, (product >> 32) as u32]
}

/// `None`: not an operation on words. SPIR-V leaves quotients by 0 and shifts by 32 or more undefined; they are 0 and
/// modulo 32 here.
fn operation(op: Op, operands: &[u32]) -> Option<u32> {
    let signed = |a: &u32, b: &u32| (a.cast_signed(), b.cast_signed());
    Some(match (op, operands) {
        (Op::IAdd, [a, b]) => a.wrapping_add(*b),
        (Op::ISub, [a, b]) => a.wrapping_sub(*b),
        (Op::IMul, [a, b]) => a.wrapping_mul(*b),
        (Op::UDiv, [a, b]) => a.checked_div(*b).unwrap_or(0),
        (Op::UMod, [a, b]) => a.checked_rem(*b).unwrap_or(0),
        (Op::SNegate, [a]) => a.wrapping_neg(),
        (Op::Not, [a]) => !a,
        (Op::BitwiseAnd, [a, b]) => a & b,
        (Op::BitwiseOr, [a, b]) => a | b,
        (Op::BitwiseXor, [a, b]) => a ^ b,
        (Op::ShiftLeftLogical, [a, b]) => a.wrapping_shl(*b),
        (Op::ShiftRightLogical, [a, b]) => a.wrapping_shr(*b),
        (Op::ShiftRightArithmetic, [a, b]) => a.cast_signed().wrapping_shr(*b).cast_unsigned(),
        (Op::BitCount, [a]) => a.count_ones(),
        (Op::BitReverse, [a]) => a.reverse_bits(),
        (Op::Bitcast | Op::CopyObject, [a]) => *a,
        (Op::LogicalNot, [a]) => a ^ 1,
        (Op::LogicalAnd, [a, b]) => a & b,
        (Op::LogicalOr, [a, b]) => a | b,
        (Op::IEqual | Op::LogicalEqual, [a, b]) => (a == b).into(),
        (Op::INotEqual | Op::LogicalNotEqual, [a, b]) => (a != b).into(),
        (Op::ULessThan, [a, b]) => (a < b).into(),
        (Op::ULessThanEqual, [a, b]) => (a <= b).into(),
        (Op::UGreaterThan, [a, b]) => (a > b).into(),
        (Op::UGreaterThanEqual, [a, b]) => (a >= b).into(),
        (Op::SLessThan, [a, b]) => {
            let (a, b) = signed(a, b);
            (a < b).into()
        }
        (Op::SLessThanEqual, [a, b]) => {
            let (a, b) = signed(a, b);
            (a <= b).into()
        }
        (Op::SGreaterThan, [a, b]) => {
            let (a, b) = signed(a, b);
            (a > b).into()
        }
        (Op::SGreaterThanEqual, [a, b]) => {
            let (a, b) = signed(a, b);
            (a >= b).into()
        }
        _ => return None,
    })
}
