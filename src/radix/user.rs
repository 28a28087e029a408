//! Kernels with a user-defined function, from GLSL or SPIR-V. A primitive declares a [`UserFunction`] for each kind.

#[cfg(feature = "runtime-shaders")]
mod compiler;

use super::{KeyType, PlainKey};
use crate::shared::{Constant, UserFunction};
use crate::{Error, Result};
use std::collections::HashMap;
use std::sync::Arc;

/// A kernel with a user-defined function.
#[derive(Clone, Debug)]
pub(crate) struct UserKernel {
    code: Arc<[u32]>,
    key: PlainKey,
}

impl UserKernel {
    /// # Errors
    /// [`Error::Malformed`] for `code` that is no kernel with this function, or not for this version.
    pub(crate) fn from_spirv(function: &UserFunction, code: &[u32]) -> Result<Self> {
        let key = Interface::of(code).and_then(|interface| interface.key(function));
        Ok(Self { code: code.into(), key: key.map_err(|why| malformed("code", why))? })
    }

    /// # Errors
    /// [`Error::Malformed`] for `source`, with the compiler's messages; for `keyType`, if it has no type in GLSL.
    #[cfg(feature = "runtime-shaders")]
    pub(crate) fn from_glsl(function: &UserFunction, key: KeyType, source: &str) -> Result<Self> {
        Self::from_spirv(function, &compiler::compile(function, key, source)?)
    }

    pub(crate) fn code(&self) -> &Arc<[u32]> {
        &self.code
    }

    /// # Errors
    /// [`Error::Malformed`] for keys of another type than the kernel's.
    pub(crate) fn check_key(&self, key: KeyType) -> Result<()> {
        if self.key == key.plain() {
            return Ok(());
        }
        Err(malformed("keyType", format!("{key:?} is not the key type of the kernel")))
    }
}

/// Checks that a request without a user-defined function has no input for one. `why`: the reason in the message.
pub(crate) fn check_no_input(address: u64, words: [u32; 4], why: &str) -> Result<()> {
    match (address, words) {
        (0, [0, 0, 0, 0]) => Ok(()),
        (0, _) => Err(malformed("userWords", why)),
        _ => Err(malformed("userAddress", why)),
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
    fn of(code: &[u32]) -> std::result::Result<Self, String> {
        if code.len() < HEADER_WORDS || code[0] != MAGIC {
            return Err("it is not SPIR-V in this machine's byte order".into());
        }
        if code[1] > NEWEST {
            return Err("it is SPIR-V of a later version than 1.6".into());
        }
        let mut interface = Self::default();
        let mut rest = &code[HEADER_WORDS..];
        while let [first, ..] = rest {
            let (opcode, words) = (first & 0xffff, (first >> 16) as usize);
            let Some((instruction, others)) = rest.split_at_checked(words).filter(|_| words != 0) else {
                return Err("its last instruction is cut off".into());
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

    /// Returns the key type, if the module is a kernel with this function.
    fn key(&self, function: &UserFunction) -> std::result::Result<PlainKey, String> {
        if !self.is_compute {
            return Err("it has no compute kernel called main".into());
        }
        if self.has_descriptors {
            return Err("it has descriptors, and the library binds none".into());
        }
        let constants = [Constant::InterfaceFunction, Constant::Interface, Constant::InterfaceKey];
        let [of_function, interface, key] = constants.map(|constant| self.constant(constant));
        if of_function.is_some_and(|number| number != function.number()) {
            return Err(format!(
                "it is a kernel with another function than the {} of {}",
                function.name, function.primitive
            ));
        }
        let (Some(interface), Some(key)) = (interface, key) else {
            return Err("it is not a kernel with a user-defined function".into());
        };
        if of_function.is_none() || interface != function.interface {
            return Err("it was compiled for another version of the library".into());
        }
        Ok(PlainKey { words: key & 0xff, encoding: key >> 8 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::USER_FUNCTIONS;
    use std::collections::HashSet;

    const FUNCTION: UserFunction = UserFunction { name: "trm_test", primitive: "tests", files: &[], interface: 7 };

    /// A module with all required declarations.
    fn declared(constants: &[(Constant, u32)]) -> Vec<u32> {
        let words = |operands: &[u32]| u32::try_from(operands.len() + 1).unwrap();
        let instruction = |opcode: u32, operands: &[u32]| [&[opcode | words(operands) << 16], operands].concat();
        let mut code = vec![MAGIC, NEWEST, 0, 10, 0];
        code.extend(instruction(OP_ENTRY_POINT, &[GL_COMPUTE, 1, MAIN[0], 0]));
        for (id, (constant, value)) in (7..).zip(constants) {
            code.extend(instruction(OP_DECORATE, &[id, SPEC_ID, *constant as u32]));
            code.extend(instruction(OP_SPEC_CONSTANT, &[2, id, *value]));
        }
        code
    }

    fn refusal(code: &[u32]) -> String {
        UserKernel::from_spirv(&FUNCTION, code).unwrap_err().to_string()
    }

    #[test]
    fn kernels_are_known_by_what_they_declare() {
        let function = (Constant::InterfaceFunction, FUNCTION.number());
        let (interface, key) = ((Constant::Interface, 7), (Constant::InterfaceKey, 2));
        let good = declared(&[function, interface, key]);
        let kernel = UserKernel::from_spirv(&FUNCTION, &good).unwrap();
        assert_eq!(kernel.key, PlainKey { words: 2, encoding: 0 });
        assert_eq!(**kernel.code(), good);
        let with = |index: usize, word: u32| {
            let mut code = good.clone();
            code[index] = word;
            refusal(&code)
        };
        assert_eq!(refusal(&[]), "code is malformed: it is not SPIR-V in this machine's byte order");
        assert_eq!(with(0, MAGIC.swap_bytes()), "code is malformed: it is not SPIR-V in this machine's byte order");
        assert_eq!(with(1, NEWEST + 0x100), "code is malformed: it is SPIR-V of a later version than 1.6");
        assert_eq!(with(5, OP_ENTRY_POINT), "code is malformed: its last instruction is cut off", "no words");
        assert_eq!(with(6, 0), "code is malformed: it has no compute kernel called main", "a vertex shader");
        let mine = u32::from_le_bytes(*b"mine");
        assert_eq!(with(8, mine), "code is malformed: it has no compute kernel called main", "another name");
        assert_eq!(refusal(&good[..good.len() - 1]), "code is malformed: its last instruction is cut off");
        assert_eq!(refusal(&good[..10]), "code is malformed: it is not a kernel with a user-defined function");
        let version = "code is malformed: it was compiled for another version of the library";
        assert_eq!(refusal(&declared(&[function, (Constant::Interface, 6), key])), version);
        assert_eq!(refusal(&declared(&[interface, key])), version, "before functions had numbers");
        let other = declared(&[(Constant::InterfaceFunction, FUNCTION.number() ^ 1), interface, key]);
        assert_eq!(
            refusal(&other),
            "code is malformed: it is a kernel with another function than the trm_test of tests"
        );
        let bound = [&good[..], &[OP_DECORATE | 4 << 16, 3, BINDING, 0]].concat();
        assert_eq!(refusal(&bound), "code is malformed: it has descriptors, and the library binds none");
    }

    #[test]
    fn functions_have_numbers_of_their_own() {
        let numbers: Vec<u32> = USER_FUNCTIONS.iter().copied().flatten().map(UserFunction::number).collect();
        assert!(numbers.len() > 1);
        assert_eq!(numbers.iter().collect::<HashSet<_>>().len(), numbers.len());
    }

    #[test]
    fn the_librarys_own_kernels_are_none() {
        for kernel in crate::kernels::Kernel::ALL {
            let refused = refusal(&kernel.spirv().unwrap());
            assert_eq!(refused, "code is malformed: it is not a kernel with a user-defined function");
        }
    }
}
