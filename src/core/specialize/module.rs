//! SPIR-V as a list of instructions and basic blocks.

use spirv::Op;
use std::ops::Range;
use std::sync::{Arc, LazyLock, OnceLock};

const HEADER_WORDS: usize = 5;

/// The word of the header that is greater than each id.
pub(super) const BOUND: usize = 3;

/// The limit that SPIR-V sets for ids.
const MAX_BOUND: u32 = 0x3f_ffff;

/// Opcodes below this number may have a grammar.
const OPCODES: u32 = 512;

/// Contents of an operand word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    ResultType,
    Result,
    Id,
    /// The label of a block.
    Label,
    Literal,
    /// A mask, and the words that it says follow. May be missing.
    MemoryOperands,
}

/// The operand words of `op`: the first ones, and those that repeat to the end of the instruction. `T`: result type,
/// `R`: result, `I`: id, `B`: label of a block, `L`: literal, `M`: memory operands. `None`: unknown instruction.
fn layout(op: Op) -> Option<(&'static str, &'static str)> {
    use Op::*;
    Some(match op {
        Capability | Extension | MemoryModel | Source | SourceExtension | String | ModuleProcessed => ("", "L"),
        ExtInstImport | TypeVoid | TypeBool | TypeInt | TypeFloat | Label => ("R", "L"),
        // The name and the interface follow; the writer parses them.
        EntryPoint => ("LI", "L"),
        ExecutionMode | Name | MemberName | Decorate | MemberDecorate => ("I", "L"),
        ExecutionModeId => ("IL", "I"),
        TypeForwardPointer => ("IL", ""),
        TypeVector => ("RIL", ""),
        TypeArray | TypeRuntimeArray | TypeStruct | TypeFunction => ("R", "I"),
        TypePointer => ("RLI", ""),
        Constant | SpecConstant => ("TR", "L"),
        ConstantTrue | ConstantFalse | SpecConstantTrue | SpecConstantFalse | ConstantNull | Undef => ("TR", ""),
        ConstantComposite | SpecConstantComposite => ("TR", "I"),
        SpecConstantOp => ("TRL", "I"),
        Variable => ("TRL", "I"),
        Function => ("TRLI", ""),
        FunctionEnd | Return | Unreachable => ("", ""),
        Phi => ("TR", "IB"),
        LoopMerge => ("BB", "L"),
        SelectionMerge => ("B", "L"),
        Branch => ("B", ""),
        BranchConditional => ("IBB", "L"),
        Switch => ("IB", "LB"),
        Load => ("TRIM", ""),
        Store => ("IIM", ""),
        ExtInst => ("TRIL", "I"),
        CompositeExtract => ("TRI", "L"),
        CompositeInsert | VectorShuffle => ("TRII", "L"),
        GroupNonUniformIAdd
        | GroupNonUniformUMin
        | GroupNonUniformUMax
        | GroupNonUniformBitwiseOr
        | GroupNonUniformBitwiseAnd
        | GroupNonUniformBallotBitCount => ("TRIL", "I"),
        ControlBarrier | MemoryBarrier | AtomicStore => ("", "I"),
        AccessChain
        | InBoundsAccessChain
        | CompositeConstruct
        | CopyLogical
        | CopyObject
        | Bitcast
        | IAdd
        | ISub
        | IMul
        | UDiv
        | UMod
        | SDiv
        | SRem
        | SMod
        | SNegate
        | Not
        | BitwiseAnd
        | BitwiseOr
        | BitwiseXor
        | ShiftLeftLogical
        | ShiftRightLogical
        | ShiftRightArithmetic
        | BitCount
        | BitReverse
        | BitFieldInsert
        | BitFieldUExtract
        | BitFieldSExtract
        | IAddCarry
        | ISubBorrow
        | UMulExtended
        | SMulExtended
        | LogicalAnd
        | LogicalOr
        | LogicalNot
        | LogicalEqual
        | LogicalNotEqual
        | Select
        | IEqual
        | INotEqual
        | ULessThan
        | ULessThanEqual
        | UGreaterThan
        | UGreaterThanEqual
        | SLessThan
        | SLessThanEqual
        | SGreaterThan
        | SGreaterThanEqual
        | All
        | Any
        | ConvertUToF
        | ConvertSToF
        | ConvertFToU
        | ConvertFToS
        | UConvert
        | SConvert
        | FConvert
        | ConvertUToPtr
        | ConvertPtrToU
        | FAdd
        | FSub
        | FMul
        | FDiv
        | FMod
        | FRem
        | FNegate
        | FOrdEqual
        | FUnordNotEqual
        | FOrdNotEqual
        | FOrdLessThan
        | FOrdLessThanEqual
        | FOrdGreaterThan
        | FOrdGreaterThanEqual
        | IsNan
        | IsInf
        | Dot
        | VectorTimesScalar
        | VectorExtractDynamic
        | AtomicLoad
        | AtomicExchange
        | AtomicCompareExchange
        | AtomicIAdd
        | AtomicISub
        | AtomicUMin
        | AtomicUMax
        | AtomicAnd
        | AtomicOr
        | AtomicXor
        | GroupNonUniformElect
        | GroupNonUniformAll
        | GroupNonUniformAny
        | GroupNonUniformBroadcast
        | GroupNonUniformBroadcastFirst
        | GroupNonUniformBallot
        | GroupNonUniformInverseBallot
        | GroupNonUniformShuffle
        | GroupNonUniformShuffleXor
        | GroupNonUniformShuffleUp => ("TR", "I"),
        _ => return None,
    })
}

/// The operands of an opcode (SPIR-V 1.6, section 3.49).
#[derive(Debug)]
pub(super) struct Grammar {
    op: Op,
    /// The kinds of the first words.
    head: Box<[Kind]>,
    /// The kinds that repeat to the end of the instruction.
    cycle: Box<[Kind]>,
    /// The index of the result among the words.
    result: Option<usize>,
}

impl Grammar {
    fn new(op: Op) -> Option<Self> {
        let kinds = |letters: &str| letters.bytes().map(kind).collect::<Box<[Kind]>>();
        let (head, cycle) = layout(op).map(|(head, cycle)| (kinds(head), kinds(cycle)))?;
        let result = head.iter().take(2).position(|kind| *kind == Kind::Result);
        Some(Self { op, head, cycle, result })
    }

    /// Whether an instruction can have these operand words.
    fn allows(&self, words: &[u32]) -> bool {
        let (head, cycle) = (self.head.len(), self.cycle.len());
        match words.len().checked_sub(head) {
            // Without memory operands.
            None => words.len() + 1 == head && self.has_memory_operands(),
            Some(more) if self.has_memory_operands() => more == memory_operands(words[head - 1]).count(),
            Some(more) => more == 0 || cycle != 0 && more.is_multiple_of(cycle),
        }
    }

    fn has_memory_operands(&self) -> bool {
        self.head.last() == Some(&Kind::MemoryOperands)
    }
}

fn kind(letter: u8) -> Kind {
    match letter {
        b'T' => Kind::ResultType,
        b'R' => Kind::Result,
        b'I' => Kind::Id,
        b'B' => Kind::Label,
        b'M' => Kind::MemoryOperands,
        _ => Kind::Literal,
    }
}

/// By opcode.
static GRAMMARS: LazyLock<Box<[Option<Grammar>]>> =
    LazyLock::new(|| (0..OPCODES).map(|opcode| Grammar::new(Op::from_u32(opcode)?)).collect());

/// Of instructions that this pass does not know. No block with one of them is specialized.
static UNKNOWN: LazyLock<Grammar> =
    LazyLock::new(|| Grammar { op: Op::Nop, head: [].into(), cycle: [].into(), result: None });

/// Bits of memory operands that say which words follow.
const ALIGNED: u32 = 2;
const MAKE_AVAILABLE: u32 = 8;
const MAKE_VISIBLE: u32 = 16;
const VOLATILE: u32 = 1;

/// The kinds of the words that follow the mask.
fn memory_operands(mask: u32) -> impl Iterator<Item = Kind> {
    let following = [(ALIGNED, Kind::Literal), (MAKE_AVAILABLE, Kind::Id), (MAKE_VISIBLE, Kind::Id)];
    following.into_iter().filter(move |(bit, _)| mask & bit != 0).map(|(_, kind)| kind)
}

#[derive(Clone, Copy)]
pub(super) struct Instruction<'a> {
    grammar: &'static Grammar,
    pub(super) op: Op,
    /// Whether the result is a 32-bit integer or a boolean.
    pub(super) is_word: bool,
    /// The operands.
    pub(super) words: &'a [u32],
}

impl<'a> Instruction<'a> {
    /// Whether `is` holds for each operand word with its kind.
    pub(super) fn all_operands(self, mut is: impl FnMut(Kind, u32) -> bool) -> bool {
        let Grammar { head, cycle, .. } = self.grammar;
        let (first, rest) = self.words.split_at(head.len().min(self.words.len()));
        let is_first = head.iter().zip(first).all(|(kind, word)| is(*kind, *word));
        is_first
            && match (&cycle[..], head.last().zip(first.last())) {
                // The most frequent case.
                ([kind], _) => rest.iter().all(|word| is(*kind, *word)),
                ([], Some((Kind::MemoryOperands, mask))) => {
                    memory_operands(*mask).zip(rest).all(|(kind, word)| is(kind, *word))
                }
                (cycle, _) => cycle.iter().cycle().zip(rest).all(|(kind, word)| is(*kind, *word)),
            }
    }

    pub(super) fn result_type(self) -> Option<u32> {
        (self.grammar.result == Some(1)).then(|| self.words.first().copied()).flatten()
    }

    pub(super) fn result(self) -> Option<u32> {
        self.words.get(self.grammar.result?).copied()
    }

    /// The labels that a terminator or a merge instruction names.
    pub(super) fn labels(self) -> impl Iterator<Item = u32> + use<'a> {
        let (range, step) = match self.op {
            Op::Branch | Op::SelectionMerge => (0..1, 1),
            Op::LoopMerge => (0..2, 1),
            Op::BranchConditional => (1..3, 1),
            // Each label after the first follows its literal.
            Op::Switch => (1..self.words.len(), 2),
            _ => (0..0, 1),
        };
        self.words.get(range).unwrap_or_default().iter().step_by(step).copied()
    }

    /// Whether the instruction has an effect besides its result. Not for stores: they matter if the variable is loaded.
    pub(super) fn has_effect(self) -> bool {
        use Op::*;
        match self.op {
            ControlBarrier
            | MemoryBarrier
            | AtomicStore
            | AtomicLoad
            | AtomicExchange
            | AtomicCompareExchange
            | AtomicIAdd
            | AtomicISub
            | AtomicUMin
            | AtomicUMax
            | AtomicAnd
            | AtomicOr
            | AtomicXor => true,
            Load => self.words.get(3).is_some_and(|mask| mask & VOLATILE != 0),
            _ => false,
        }
    }
}

/// An instruction by the words that it occupies.
#[derive(Clone, Copy)]
struct Span {
    grammar: &'static Grammar,
    /// The first operand.
    first: u32,
    length: u16,
    is_word: bool,
}

/// A basic block: instructions by their indices in the module.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) label: u32,
    /// The first after the label.
    pub(super) first: usize,
    /// A branch, a switch or a return.
    pub(super) terminator: usize,
    /// In a header, the merge instruction.
    pub(super) merge: Option<usize>,
    /// What [`Module::is_valid_block`] has found.
    is_valid: OnceLock<bool>,
}

impl Block {
    fn new(label: u32, first: usize) -> Self {
        Self { label, first, terminator: 0, merge: None, is_valid: OnceLock::new() }
    }
}

/// A module with a single function. Nothing is known of the operands of an instruction until [`Module::is_valid`] has
/// checked them.
pub(crate) struct Module {
    code: Arc<[u32]>,
    spans: Vec<Span>,
    /// The index of `OpFunction`.
    pub(super) function: usize,
    pub(super) blocks: Vec<Block>,
    /// By id: the index of its definition; of a label, 1 more than the index of its block. 0: none.
    indices: Vec<u32>,
}

impl Module {
    /// `None`: not a module that this pass understands.
    pub(crate) fn parse(code: Arc<[u32]>) -> Option<Self> {
        let bound = *code.get(BOUND)?;
        if code[0] != spirv::MAGIC_NUMBER || bound > MAX_BOUND || code.len() < HEADER_WORDS {
            return None;
        }
        let (spans, indices) = (Vec::with_capacity(code.len() / 4), vec![0; bound as usize]);
        let mut module = Self { code: code.clone(), spans, function: 0, blocks: Vec::new(), indices };
        let (grammars, mut at, mut open) = (&**GRAMMARS, HEADER_WORDS, None);
        while let Some(first) = code.get(at) {
            let (opcode, length) = (first & 0xffff, (first >> 16) as usize);
            let words = code.get(at + 1..at + length)?;
            let grammar = match grammars.get(opcode as usize) {
                Some(Some(grammar)) => grammar,
                _ if opcode == Op::FunctionCall as u32 => return None,
                _ => Op::from_u32(opcode).map(|_| &*UNKNOWN)?,
            };
            module.add(grammar, at + 1, words, &mut open)?;
            at += length;
        }
        // A capability comes first: no instruction at index 0 defines an id.
        let is_complete = module.function != 0 && open.is_none() && !module.blocks.is_empty();
        let is_valid = is_complete && (0..=module.function).all(|index| module.is_valid(module.at(index)));
        is_valid.then_some(module)
    }

    /// `open` is the block that the instruction belongs to.
    fn add(&mut self, grammar: &'static Grammar, first: usize, words: &[u32], open: &mut Option<Block>) -> Option<()> {
        let index = self.spans.len();
        match grammar.op {
            Op::Function if self.function == 0 => self.function = index,
            Op::Function => return None,
            Op::Label => *open = Some(Block::new(*words.first()?, index + 1)),
            Op::LoopMerge | Op::SelectionMerge => open.as_mut()?.merge = Some(index),
            Op::Branch | Op::BranchConditional | Op::Switch | Op::Return | Op::Unreachable => {
                self.blocks.push(Block { terminator: index, ..open.take()? });
            }
            _ => {}
        }
        let is_word = grammar.result == Some(1) && words.first().is_some_and(|ty| self.is_word(*ty));
        if let Some(id) = grammar.result.and_then(|result| words.get(result)) {
            let index = if grammar.op == Op::Label { self.blocks.len() + 1 } else { index };
            let known = self.indices.get_mut(*id as usize)?;
            // A second definition.
            if std::mem::replace(known, u32::try_from(index).ok()?) != 0 {
                return None;
            }
        }
        let (first, length) = (u32::try_from(first).ok()?, u16::try_from(words.len()).ok()?);
        self.spans.push(Span { grammar, first, length, is_word });
        Some(())
    }

    /// Whether values of this type are 32-bit integers or booleans.
    fn is_word(&self, ty: u32) -> bool {
        let Some(span) = self.spans.get(self.index_of(ty)) else { return false };
        match span.grammar.op {
            Op::TypeBool => true,
            Op::TypeInt => self.instruction(span).words.get(1) == Some(&32),
            _ => false,
        }
    }

    /// Whether this pass knows the instruction, all its operands are there, and its ids are defined.
    fn is_valid(&self, instruction: Instruction<'_>) -> bool {
        instruction.op != Op::Nop
            && instruction.grammar.allows(instruction.words)
            && instruction.all_operands(|kind, word| match kind {
                Kind::Literal | Kind::MemoryOperands => true,
                Kind::Label => self.blocks.get(self.block_of(word)).is_some_and(|block| block.label == word),
                Kind::Id | Kind::Result | Kind::ResultType => self.index_of(word) != 0,
            })
    }

    /// The words of the header: magic number, version, generator, bound of the ids, schema.
    pub(super) fn header(&self) -> &[u32] {
        &self.code[..HEADER_WORDS]
    }

    /// Greater than each id.
    pub(super) fn bound(&self) -> u32 {
        self.code[BOUND]
    }

    pub(super) fn at(&self, index: usize) -> Instruction<'_> {
        self.instruction(&self.spans[index])
    }

    fn instruction(&self, span: &Span) -> Instruction<'_> {
        let words = &self.code[span.first as usize..][..span.length.into()];
        Instruction { grammar: span.grammar, op: span.grammar.op, is_word: span.is_word, words }
    }

    fn range(&self, indices: Range<usize>) -> impl Iterator<Item = Instruction<'_>> {
        self.spans[indices].iter().map(|span| self.instruction(span))
    }

    /// The instructions before the function.
    pub(super) fn globals(&self) -> impl Iterator<Item = Instruction<'_>> {
        self.range(0..self.function)
    }

    /// The instruction that defines `id`.
    pub(super) fn definition(&self, id: u32) -> Instruction<'_> {
        self.at(self.index_of(id))
    }

    /// Whether `id` is defined in the function.
    pub(super) fn is_local(&self, id: u32) -> bool {
        self.index_of(id) > self.function
    }

    /// The label of the block that computes `id`.
    pub(super) fn label_of(&self, id: u32) -> u32 {
        let index = self.index_of(id);
        let behind = self.blocks.partition_point(|block| block.first <= index);
        self.blocks[behind.saturating_sub(1)].label
    }

    /// The index of the block with this label; without one, that of no block.
    pub(super) fn block_of(&self, label: u32) -> usize {
        self.index_of(label).wrapping_sub(1)
    }

    pub(super) fn index_of(&self, id: u32) -> usize {
        self.indices.get(id as usize).map_or(0, |index| *index as usize)
    }

    pub(super) fn terminator(&self, block: &Block) -> Instruction<'_> {
        self.at(block.terminator)
    }

    /// The merge instruction of a header.
    pub(super) fn merge(&self, block: &Block) -> Option<Instruction<'_>> {
        block.merge.map(|index| self.at(index))
    }

    /// The instructions of a block between its label and its merge instruction or terminator.
    pub(super) fn body(&self, block: &Block) -> impl Iterator<Item = Instruction<'_>> {
        self.range(block.first..block.merge.unwrap_or(block.terminator))
    }

    /// The phis of a block, which come first.
    pub(super) fn phis(&self, block: &Block) -> impl Iterator<Item = Instruction<'_>> {
        self.body(block).take_while(|instruction| instruction.op == Op::Phi)
    }

    /// Whether all instructions of a block are valid.
    pub(super) fn is_valid_block(&self, index: usize) -> bool {
        let block = &self.blocks[index];
        let mut instructions = self.range(block.first..block.terminator + 1);
        *block.is_valid.get_or_init(|| instructions.all(|instruction| self.is_valid(instruction)))
    }
}

impl std::fmt::Debug for Module {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Module").field("words", &self.code.len()).finish_non_exhaustive()
    }
}
