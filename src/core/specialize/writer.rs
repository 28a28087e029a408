//! Dead-code elimination, and the words of the specialized module.

use super::module::{BOUND, Block, Instruction, Kind, Module};
use super::values::{Successors, Values};
use super::{Unroll, reset};
use spirv::{LoopControl, Op, StorageClass};
use std::collections::HashMap;

/// `None`: control flow or an order of blocks that this pass cannot keep valid.
pub(super) fn write(
    module: &Module,
    values: &Values<'_>,
    unroll: Unroll,
    buffers: &mut Buffers,
    code: &mut Vec<u32>,
) -> Option<()> {
    let Buffers { copies, is_live, is_written } = buffers;
    let bound = module.bound() as usize;
    reset(copies, bound, 0);
    reset(is_live, bound, false);
    reset(is_written, bound, false);
    code.clear();
    let flow = Flow::new(module, values)?;
    flow.find_copies(module, copies);
    let mut liveness = Liveness::new(module, values, copies, is_live);
    liveness.mark_function(&flow)?;
    Writer { module, values, flow, liveness, unroll, is_written, code }.write()
}

/// Facts about each id, in memory that is reused from one module to the next.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    copies: Vec<u32>,
    is_live: Vec<bool>,
    is_written: Vec<bool>,
}

/// A block that control never reaches, but that a header names.
#[derive(Clone, Copy)]
enum Stub {
    /// Its merge block.
    Merge,
    /// Its continue target: the back edge to the header with this label.
    Continue(u32),
}

/// The written end of a reached block.
#[derive(Clone, Copy)]
enum End {
    /// A branch to this label.
    Branch(u32),
    /// The merge instruction, if any, and a switch that goes to this label alone. Blocks may break out of it.
    Switch(u32),
    /// The merge instruction, if any, and the terminator, as they are.
    Same,
}

/// The control flow of the specialized module.
struct Flow {
    /// By index of the block; `None` where it is not reached.
    ends: Vec<Option<End>>,
    /// By index of the block.
    stubs: Vec<Option<Stub>>,
}

impl Flow {
    fn new(module: &Module, values: &Values<'_>) -> Option<Self> {
        let mut flow = Self { ends: Vec::with_capacity(module.blocks.len()), stubs: vec![None; module.blocks.len()] };
        for (index, block) in module.blocks.iter().enumerate() {
            if !values.is_reached(index) {
                flow.ends.push(None);
                continue;
            }
            let terminator = module.terminator(block);
            let merge = module.merge(block);
            let is_loop = merge.is_some_and(|merge| merge.op == Op::LoopMerge);
            let is_back_edge = |label| module.block_of(label) <= index;
            let end = match (terminator.op, values.successors(terminator)) {
                // Each loop keeps its back edge, even if control never takes it.
                (Op::BranchConditional, Successors::One(_)) if terminator.labels().any(is_back_edge) => End::Same,
                (Op::Branch | Op::BranchConditional, Successors::One(label)) => End::Branch(label),
                (Op::Switch, Successors::One(label)) => match merge {
                    Some(merge) if !is_loop && merge.words[0] == label => End::Branch(label),
                    _ => End::Switch(label),
                },
                (Op::BranchConditional | Op::Switch, Successors::None) => return None,
                _ => End::Same,
            };
            flow.ends.push(Some(end));
        }
        flow.dissolve_switches(module);
        for (index, block) in module.blocks.iter().enumerate() {
            let Some(merge) = flow.merge(module, index) else { continue };
            for (label, stub) in merge.labels().zip([Stub::Merge, Stub::Continue(block.label)]) {
                let target = module.block_of(label);
                if !values.is_reached(target) {
                    flow.stubs[target] = Some(stub);
                }
            }
        }
        Some(flow)
    }

    /// Makes a branch of each switch that leads to a single block, unless a block breaks out of it. NVIDIA's compiler
    /// (580.159) crashed on a module with 100 such switches, and took the same one with 19.
    fn dissolve_switches(&mut self, module: &Module) {
        let mut entries = vec![0; self.ends.len()];
        for index in (0..self.ends.len()).filter(|index| self.ends[*index].is_some()) {
            self.successors(module, index).for_each(|label| entries[module.block_of(label)] += 1);
        }
        for index in (0..self.ends.len()).rev() {
            let Some(End::Switch(label)) = self.ends[index] else { continue };
            let Some(merge) = self.merge(module, index) else { continue };
            let behind = merge.words[0];
            let is_left_at_its_end = match entries[module.block_of(behind)] {
                0 => true,
                1 => self.falls_through(module, label, behind),
                _ => false,
            };
            if merge.op == Op::SelectionMerge && is_left_at_its_end {
                self.ends[index] = Some(End::Branch(label));
            }
        }
    }

    /// Whether control gets from one block to the other in the same construct, past inner constructs.
    fn falls_through(&self, module: &Module, from: u32, to: u32) -> bool {
        let next = |label: &u32| {
            let index = module.block_of(*label);
            if let Some(merge) = self.merge(module, index) {
                return Some(merge.words[0]);
            }
            let mut successors = self.successors(module, index);
            successors.next().filter(|_| successors.next().is_none())
        };
        // No way is longer, unless it leads around in a circle.
        std::iter::successors(Some(from), next).take(self.ends.len()).any(|label| label == to)
    }

    /// The merge instruction that the block keeps.
    fn merge<'a>(&self, module: &'a Module, index: usize) -> Option<Instruction<'a>> {
        let is_branch = matches!(self.ends[index]?, End::Branch(_));
        module.merge(&module.blocks[index]).filter(|merge| merge.op == Op::LoopMerge || !is_branch)
    }

    /// The blocks that control goes to from this one.
    fn successors(&self, module: &Module, index: usize) -> impl Iterator<Item = u32> {
        self.kept(index).labels(module.terminator(&module.blocks[index]))
    }

    fn kept(&self, index: usize) -> Successors {
        match self.ends[index] {
            None => Successors::None,
            Some(End::Branch(label) | End::Switch(label)) => Successors::One(label),
            Some(End::Same) => Successors::All,
        }
    }

    /// Whether the specialized module has this edge between blocks.
    fn has_edge(&self, module: &Module, from: u32, to: u32) -> bool {
        let from = module.block_of(from);
        self.kept(from).include(module.terminator(&module.blocks[from]), to)
    }

    /// Finds the phis that take one value from all their edges. `copies` maps the id of a phi to that of the value; 0:
    /// none.
    fn find_copies(&self, module: &Module, copies: &mut [u32]) {
        let reached = module.blocks.iter().zip(&self.ends).filter(|(_, end)| end.is_some());
        let mut phis: Vec<_> =
            reached.flat_map(|(block, _)| module.phis(block).map(|phi| (block.label, phi))).collect();
        let mut count = usize::MAX;
        // Each copy may make another of a phi before it, in a loop.
        while phis.len() < count {
            count = phis.len();
            phis.retain(|(label, phi)| {
                let value = self.copied(module, copies, *label, *phi);
                copies[phi.words[1] as usize] = value.unwrap_or(0);
                value.is_none()
            });
        }
    }

    /// The value that the phi takes from all its edges, if it is one.
    fn copied(&self, module: &Module, copies: &[u32], label: u32, phi: Instruction<'_>) -> Option<u32> {
        let [_, id, pairs @ ..] = phi.words else { return None };
        let edges = pairs.chunks_exact(2).filter(|pair| self.has_edge(module, pair[1], label));
        let mut sources = edges.map(|pair| source(copies, pair[0])).filter(|source| source != id);
        let first = sources.next()?;
        sources.all(|other| other == first).then_some(first)
    }
}

/// The value that `id` is a copy of, of a copy too.
fn source(copies: &[u32], id: u32) -> u32 {
    match copies.get(id as usize) {
        None | Some(0) => id,
        Some(value) => source(copies, *value),
    }
}

/// Which ids the specialized module needs, and the ids of its constants.
struct Liveness<'m> {
    module: &'m Module,
    values: &'m Values<'m>,
    is_live: &'m mut Vec<bool>,
    /// Live ids whose operands are not marked so far.
    pending: Vec<u32>,
    /// As [`Flow::find_copies`] leaves them, and constants that take the place of what the function computes.
    copies: &'m mut [u32],
    /// Ids of constants by their types and values.
    constants: HashMap<(u32, u32), u32>,
    /// Constants that the module lacks: type, id, value. Their ids follow those of the module.
    added: Vec<[u32; 3]>,
}

impl<'m> Liveness<'m> {
    fn new(module: &'m Module, values: &'m Values<'m>, copies: &'m mut [u32], is_live: &'m mut Vec<bool>) -> Self {
        let mut constants = HashMap::new();
        for instruction in module.globals() {
            if let (Some(ty), Some(id)) = (instruction.result_type(), instruction.result())
                && let Some(value) = values.constant(id)
            {
                constants.entry((ty, value)).or_insert(id);
            }
        }
        Self { module, values, is_live, pending: Vec::new(), copies, constants, added: Vec::new() }
    }

    /// Whether `id` is of the module, not of a constant that it lacks.
    fn is_original(&self, id: u32) -> bool {
        id < self.module.bound()
    }

    /// The id that takes the place of `id`: that of the value that a phi copies, and that of a constant if the function
    /// computes one.
    fn resolve(&mut self, id: u32) -> u32 {
        let id = source(self.copies, id);
        match self.values.constant(id) {
            Some(value) if self.module.is_local(id) => self.replace(id, value),
            _ => id,
        }
    }

    /// The id of the constant that the function computes as `id`.
    fn replace(&mut self, id: u32, value: u32) -> u32 {
        let Some(ty) = self.module.definition(id).result_type() else { return id };
        let constant = *self.constants.entry((ty, value)).or_insert_with(|| {
            let new = self.module.bound() + u32::try_from(self.added.len()).unwrap_or(0);
            self.added.push([ty, new, value]);
            self.is_live.push(false);
            new
        });
        self.copies[id as usize] = constant;
        constant
    }

    fn mark(&mut self, id: u32) {
        let id = self.resolve(id);
        if !std::mem::replace(&mut self.is_live[id as usize], true) {
            self.pending.push(id);
        }
    }

    fn mark_operands(&mut self, instruction: Instruction<'_>) {
        instruction.all_operands(|kind, id| {
            if matches!(kind, Kind::Id | Kind::ResultType) {
                self.mark(id);
            }
            true
        });
    }

    /// Marks what the function needs: first its effects, then the stores to variables that it loads.
    fn mark_function(&mut self, flow: &Flow) -> Option<()> {
        let module = self.module;
        self.mark(module.at(module.function).result()?);
        let modes = module.globals().filter(|instruction| instruction.op == Op::ExecutionModeId);
        modes.for_each(|mode| self.mark_operands(mode));
        let mut stores = Vec::new();
        for (index, block) in module.blocks.iter().enumerate() {
            let Some(end) = flow.ends[index] else { continue };
            for instruction in module.body(block) {
                if instruction.op == Op::Store {
                    stores.push((self.variable(instruction.words[0]), instruction));
                } else if instruction.has_effect() {
                    self.mark_operands(instruction);
                    instruction.result().into_iter().for_each(|id| self.mark(id));
                }
            }
            if !matches!(end, End::Branch(_)) {
                self.mark_operands(module.terminator(block));
            }
        }
        loop {
            self.mark_pending(flow);
            let before = stores.len();
            stores.retain(|(variable, store)| {
                let is_read = variable.is_none_or(|variable| self.is_live[variable as usize]);
                if is_read {
                    self.mark_operands(*store);
                }
                !is_read
            });
            if stores.len() == before {
                return Some(());
            }
        }
    }

    fn mark_pending(&mut self, flow: &Flow) {
        let module = self.module;
        while let Some(id) = self.pending.pop() {
            if !self.is_original(id) {
                let [ty, ..] = self.added[(id - module.bound()) as usize];
                self.mark(ty);
                continue;
            }
            let definition = module.definition(id);
            if let (Op::Phi, [ty, _, pairs @ ..]) = (definition.op, definition.words) {
                self.mark(*ty);
                let label = module.label_of(id);
                let edges = pairs.chunks_exact(2).filter(|pair| flow.has_edge(module, pair[1], label));
                edges.for_each(|pair| self.mark(pair[0]));
            } else if self.values.constant(id).is_none() {
                self.mark_operands(definition);
            } else {
                definition.result_type().into_iter().for_each(|ty| self.mark(ty));
            }
        }
    }

    /// The variable behind a pointer, if only this invocation or its workgroup can read it.
    fn variable(&self, pointer: u32) -> Option<u32> {
        const PRIVATE: [u32; 3] =
            [StorageClass::Function as u32, StorageClass::Private as u32, StorageClass::Workgroup as u32];
        let definition = self.module.definition(pointer);
        match definition.op {
            Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject => {
                let base = definition.words[2];
                // A valid module defines the base first.
                (self.module.index_of(base) < self.module.index_of(pointer)).then(|| self.variable(base))?
            }
            Op::Variable if PRIVATE.contains(&definition.words[2]) => Some(pointer),
            _ => None,
        }
    }
}

struct Writer<'m> {
    module: &'m Module,
    values: &'m Values<'m>,
    flow: Flow,
    liveness: Liveness<'m>,
    unroll: Unroll,
    /// Which ids of the module are defined so far.
    is_written: &'m mut [bool],
    code: &'m mut Vec<u32>,
}

impl Writer<'_> {
    fn write(mut self) -> Option<()> {
        let module = self.module;
        self.code.extend(module.header());
        for instruction in module.globals() {
            self.write_global(instruction)?;
        }
        let added = std::mem::take(&mut self.liveness.added);
        self.code[BOUND] += u32::try_from(added.len()).ok()?;
        for [ty, id, value] in added {
            self.write_constant(ty, id, value)?;
        }
        self.write_instruction(module.at(module.function))?;
        for (index, block) in module.blocks.iter().enumerate() {
            if let Some(end) = self.flow.ends[index] {
                self.write_block(block, end, self.flow.merge(module, index))?;
            } else if let Some(stub) = self.flow.stubs[index] {
                self.push(Op::Label, &[block.label])?;
                match stub {
                    Stub::Merge => self.push(Op::Unreachable, &[])?,
                    Stub::Continue(header) => self.push(Op::Branch, &[header])?,
                }
            }
        }
        self.push(Op::FunctionEnd, &[])
    }

    fn push(&mut self, op: Op, operands: &[u32]) -> Option<()> {
        self.code.push(head(op, operands.len())?);
        self.code.extend(operands);
        Some(())
    }

    /// An instruction before the function, where it is needed.
    fn write_global(&mut self, instruction: Instruction<'_>) -> Option<()> {
        let words = instruction.words;
        let is_live = |id: u32| self.liveness.is_live.get(id as usize) == Some(&true);
        match instruction.op {
            // Debug information.
            Op::Source | Op::SourceExtension | Op::String | Op::ModuleProcessed => Some(()),
            Op::EntryPoint => {
                let name = words.iter().skip(2).position(|word| word.to_le_bytes().contains(&0))?;
                let (head, interface) = words.split_at_checked(name + 3)?;
                let interface: Vec<u32> = interface.iter().copied().filter(|id| is_live(*id)).collect();
                self.push(Op::EntryPoint, &[head, &interface].concat())
            }
            Op::Name | Op::MemberName | Op::Decorate | Op::MemberDecorate | Op::TypeForwardPointer
                if !is_live(words[0]) =>
            {
                Some(())
            }
            Op::Decorate if words.get(1) == Some(&(spirv::Decoration::SpecId as u32)) => Some(()),
            _ => match (instruction.result(), instruction.result_type()) {
                (Some(id), _) if !is_live(id) && instruction.op != Op::ExtInstImport => Some(()),
                (Some(id), Some(ty)) if let Some(value) = self.values.constant(id) => {
                    self.write_constant(ty, id, value)
                }
                _ if instruction.op == Op::SpecConstantComposite => self.push(Op::ConstantComposite, words),
                _ => self.push(instruction.op, words),
            },
        }
    }

    fn write_constant(&mut self, ty: u32, id: u32, value: u32) -> Option<()> {
        match (self.module.definition(ty).op, value) {
            (Op::TypeBool, 0) => self.push(Op::ConstantFalse, &[ty, id]),
            (Op::TypeBool, _) => self.push(Op::ConstantTrue, &[ty, id]),
            _ => self.push(Op::Constant, &[ty, id, value]),
        }
    }

    fn write_block(&mut self, block: &Block, end: End, merge: Option<Instruction<'_>>) -> Option<()> {
        let module = self.module;
        self.push(Op::Label, &[block.label])?;
        for instruction in module.body(block) {
            let is_needed = match instruction.result() {
                Some(id) => self.liveness.is_live[id as usize] && self.values.constant(id).is_none(),
                None => instruction.op != Op::Store || self.is_read(instruction.words[0]),
            };
            match instruction.op {
                _ if !is_needed => {}
                Op::Phi => self.write_phi(instruction, block)?,
                _ => self.write_instruction(instruction)?,
            }
        }
        match (merge.map(|merge| (merge.op, merge.words)), self.unroll) {
            (None, _) => {}
            (Some((Op::LoopMerge, [merge, target, ..])), Unroll::Never) => {
                self.push(Op::LoopMerge, &[*merge, *target, LoopControl::DONT_UNROLL.bits()])?;
            }
            (Some((op, words)), _) => self.push(op, words)?,
        }
        let terminator = module.terminator(block);
        match end {
            End::Branch(label) => self.push(Op::Branch, &[label]),
            End::Switch(label) => {
                let selector = self.liveness.resolve(terminator.words[0]);
                self.push(Op::Switch, &[selector, label])
            }
            End::Same => self.write_instruction(terminator),
        }
    }

    /// Whether something reads what is stored there.
    fn is_read(&self, pointer: u32) -> bool {
        self.liveness.variable(pointer).is_none_or(|variable| self.liveness.is_live[variable as usize])
    }

    fn write_phi(&mut self, phi: Instruction<'_>, block: &Block) -> Option<()> {
        let [ty, id, pairs @ ..] = phi.words else { return None };
        let start = self.code.len();
        self.code.extend([Op::Phi as u32, *ty, *id]);
        for pair in pairs.chunks_exact(2).filter(|pair| self.flow.has_edge(self.module, pair[1], block.label)) {
            self.code.extend([self.liveness.resolve(pair[0]), pair[1]]);
        }
        // Control never comes from the stub of a continue target: any value does.
        let labels = self.module.merge(block).into_iter().flat_map(Instruction::labels).skip(1);
        for label in labels.filter(|label| self.flow.stubs[self.module.block_of(*label)].is_some()) {
            self.code.extend([*self.code.get(start + 3)?, label]);
        }
        self.is_written[*id as usize] = true;
        let length = u16::try_from(self.code.len() - start).ok()?;
        self.code[start] |= u32::from(length) << 16;
        Some(())
    }

    /// An instruction with its operands resolved. `None` if it comes before the definition of one of them.
    fn write_instruction(&mut self, instruction: Instruction<'_>) -> Option<()> {
        self.code.push(head(instruction.op, instruction.words.len())?);
        let Self { module, liveness, is_written, code, .. } = self;
        let is_ordered = instruction.all_operands(|kind, word| {
            let word = if kind == Kind::Id { liveness.resolve(word) } else { word };
            code.push(word);
            kind != Kind::Id || !module.is_local(word) || is_written[word as usize]
        });
        if let Some(id) = instruction.result() {
            self.is_written[id as usize] = true;
        }
        is_ordered.then_some(())
    }
}

/// The first word of an instruction with so many operand words.
fn head(op: Op, operands: usize) -> Option<u32> {
    Some(u32::from(u16::try_from(operands + 1).ok()?) << 16 | op as u32)
}
