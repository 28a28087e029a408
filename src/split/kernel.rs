//! User-defined bucket functions: kernels from GLSL or SPIR-V.

#[cfg(feature = "runtime-shaders")]
mod compiler;

use crate::radix::PlainKey;
use crate::shared::{Constant, KERNEL_INTERFACE};
use crate::{Error, Result};
use std::collections::HashMap;
use std::sync::Arc;

/// A kernel with a user-defined function, for [`crate::BucketFunction::User`]. The function is GLSL, `uint
/// trm_bucket(KEY key, uint index, TrmUserData data)`, and returns the bucket of item `index`.
///
/// `KEY` depends on the key type of the kernel: `uint`, `int` or `float` for keys of 32 bits; `uvec2` (low word first)
/// for keys of 64 bits; `uvec2`, `uvec3` or `uvec4` for keys of several words. `data.address` is a `uvec2` for buffer
/// references, from [`crate::SplitInfo::user_address`]. `data.words` is a `uvec4`, from
/// [`crate::SplitInfo::user_words`].
///
/// With the feature `runtime-shaders`, `BucketKernel::from_glsl` compiles the function. [`BucketKernel::spirv`] returns
/// the result, for programs without a compiler.
#[derive(Clone, Debug)]
pub struct BucketKernel {
    code: Arc<[u32]>,
    key: PlainKey,
}

impl BucketKernel {
    /// Creates a kernel from SPIR-V that was compiled for this version of the library.
    ///
    /// # Errors
    /// [`Error::Malformed`] for `code` that is no kernel, or not for this version. Only the declarations of the module
    /// are checked; the caller guarantees that it is valid.
    pub fn from_spirv(code: &[u32]) -> Result<Self> {
        let key = Interface::of(code).and_then(|interface| interface.key()).map_err(|why| malformed("code", why))?;
        Ok(Self { code: code.into(), key })
    }

    /// Compiles a GLSL function for keys of one type.
    ///
    /// # Errors
    /// [`Error::Malformed`] for `source`, with the compiler's messages and their lines; for `keyType`, if functions do
    /// not support these keys.
    #[cfg(feature = "runtime-shaders")]
    pub fn from_glsl(key: crate::KeyType, source: &str) -> Result<Self> {
        Self::from_spirv(&compiler::compile(key, source)?)
    }

    /// The SPIR-V module, for [`BucketKernel::from_spirv`].
    pub fn spirv(&self) -> &[u32] {
        &self.code
    }

    pub(super) fn code(&self) -> &Arc<[u32]> {
        &self.code
    }

    /// The key type of the kernel.
    pub(super) fn key(&self) -> PlainKey {
        self.key
    }
}

fn malformed(argument: &'static str, why: impl Into<String>) -> Error {
    Error::Malformed { argument, why: why.into() }
}

/// The declarations of a module that the library checks. (Khronos, "SPIR-V specification", 2.3, "Physical layout".)
#[derive(Debug, Default)]
struct Interface {
    is_compute: bool,
    has_descriptors: bool,
    /// SpecId decorations: the number of a specialization constant, by id.
    numbers: HashMap<u32, u32>,
    /// Default values of specialization constants, by id.
    values: HashMap<u32, u32>,
}

const MAGIC: u32 = 0x0723_0203;
const NEWEST: u32 = 0x0001_0600;
const HEADER_WORDS: usize = 5;
const OP_ENTRY_POINT: u32 = 15;
const OP_SPEC_CONSTANT: u32 = 50;
const OP_DECORATE: u32 = 71;
const GL_COMPUTE: u32 = 5;
const SPEC_ID: u32 = 1;
const BINDING: u32 = 33;
const DESCRIPTOR_SET: u32 = 34;
/// The string `main`, as SPIR-V words.
const MAIN: [u32; 2] = [u32::from_le_bytes(*b"main"), 0];

impl Interface {
    fn of(code: &[u32]) -> std::result::Result<Self, &'static str> {
        if code.len() < HEADER_WORDS || code[0] != MAGIC {
            return Err("it is not SPIR-V in this machine's byte order");
        }
        if code[1] > NEWEST {
            return Err("it is SPIR-V of a later version than 1.6");
        }
        let mut interface = Self::default();
        let mut rest = &code[HEADER_WORDS..];
        while let [first, ..] = rest {
            let (opcode, words) = (first & 0xffff, (first >> 16) as usize);
            let Some((instruction, others)) = rest.split_at_checked(words).filter(|_| words != 0) else {
                return Err("its last instruction is cut off");
            };
            interface.add(opcode, &instruction[1..]);
            rest = others;
        }
        Ok(interface)
    }

    fn add(&mut self, opcode: u32, operands: &[u32]) {
        match (opcode, operands) {
            (OP_ENTRY_POINT, [GL_COMPUTE, _, name @ ..]) if name.starts_with(&MAIN) => self.is_compute = true,
            (OP_DECORATE, [id, SPEC_ID, number]) => drop(self.numbers.insert(*id, *number)),
            (OP_DECORATE, [_, BINDING | DESCRIPTOR_SET, ..]) => self.has_descriptors = true,
            (OP_SPEC_CONSTANT, [_, id, value]) => drop(self.values.insert(*id, *value)),
            _ => {}
        }
    }

    fn constant(&self, wanted: Constant) -> Option<u32> {
        let (id, _) = self.numbers.iter().find(|(_, number)| **number == wanted as u32)?;
        self.values.get(id).copied()
    }

    fn key(&self) -> std::result::Result<PlainKey, &'static str> {
        if !self.is_compute {
            return Err("it has no compute kernel called main");
        }
        if self.has_descriptors {
            return Err("it has descriptors, and the library binds none");
        }
        let (Some(interface), Some(key)) = (self.constant(Constant::Interface), self.constant(Constant::InterfaceKey))
        else {
            return Err("it is not a kernel with a bucket function");
        };
        if interface != KERNEL_INTERFACE {
            return Err("it was compiled for another version of the library");
        }
        Ok(PlainKey { words: key & 0xff, encoding: key >> 8 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module with all required declarations.
    fn declared(interface: u32) -> Vec<u32> {
        let words = |operands: &[u32]| u32::try_from(operands.len() + 1).unwrap();
        let instruction = |opcode: u32, operands: &[u32]| [&[opcode | words(operands) << 16], operands].concat();
        let constants = [(Constant::Interface, 7, interface), (Constant::InterfaceKey, 8, 2)];
        let mut code = vec![MAGIC, NEWEST, 0, 9, 0];
        code.extend(instruction(OP_ENTRY_POINT, &[GL_COMPUTE, 1, MAIN[0], 0]));
        for (constant, id, value) in constants {
            code.extend(instruction(OP_DECORATE, &[id, SPEC_ID, constant as u32]));
            code.extend(instruction(OP_SPEC_CONSTANT, &[2, id, value]));
        }
        code
    }

    #[test]
    fn kernels_are_known_by_what_they_declare() {
        let good = declared(KERNEL_INTERFACE);
        let kernel = BucketKernel::from_spirv(&good).unwrap();
        assert_eq!((kernel.key().words, kernel.key().encoding), (2, 0));
        assert_eq!(kernel.spirv(), good);
        let refused = |code: &[u32]| BucketKernel::from_spirv(code).unwrap_err().to_string();
        let with = |index: usize, word: u32| {
            let mut code = good.clone();
            code[index] = word;
            refused(&code)
        };
        assert_eq!(refused(&[]), "code is malformed: it is not SPIR-V in this machine's byte order");
        assert_eq!(with(0, MAGIC.swap_bytes()), "code is malformed: it is not SPIR-V in this machine's byte order");
        assert_eq!(with(1, NEWEST + 0x100), "code is malformed: it is SPIR-V of a later version than 1.6");
        assert_eq!(with(5, OP_ENTRY_POINT), "code is malformed: its last instruction is cut off", "no words");
        assert_eq!(with(6, 0), "code is malformed: it has no compute kernel called main", "a vertex shader");
        let mine = u32::from_le_bytes(*b"mine");
        assert_eq!(with(8, mine), "code is malformed: it has no compute kernel called main", "another name");
        assert_eq!(refused(&good[..good.len() - 1]), "code is malformed: its last instruction is cut off");
        assert_eq!(refused(&good[..10]), "code is malformed: it is not a kernel with a bucket function");
        let other = declared(KERNEL_INTERFACE ^ 1);
        assert_eq!(refused(&other), "code is malformed: it was compiled for another version of the library");
        let bound = [&good[..], &[OP_DECORATE | 4 << 16, 3, BINDING, 0]].concat();
        assert_eq!(refused(&bound), "code is malformed: it has descriptors, and the library binds none");
    }

    #[test]
    fn the_librarys_own_kernels_are_none() {
        for kernel in crate::kernels::Kernel::ALL {
            let refused =
                BucketKernel::from_spirv(&kernel.spirv().unwrap()).map(drop).map_err(|error| error.to_string());
            assert_eq!(refused, Err("code is malformed: it is not a kernel with a bucket function".into()));
        }
    }
}
