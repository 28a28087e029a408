//! User-defined comparators: kernels from GLSL or SPIR-V.

use crate::Result;
use crate::radix::UserKernel;
use crate::shared::SORT_COMPARATOR;

/// A kernel with a user-defined comparator, for [`crate::Sorter::with_comparator`]. The comparator is GLSL, `bool
/// trm_less(KEY a, KEY b, TrmUserData data)`, and returns whether `a` comes before `b`. It must be a strict weak order,
/// as for `std::sort`: keys of which neither comes before the other are equal, and keep the order of the input.
/// `trm_less` must be deterministic during a sort. It receives only keys of the input.
///
/// `KEY`, `data` and the source text are those of [`crate::ComparatorKernel`], so one function serves merges and sorts.
/// The kernels differ: a merger refuses the module of a sort, and a sorter that of a merge. `data.address` and
/// `data.words` are [`crate::SortInfo::user_address`] and [`crate::SortInfo::user_words`].
///
/// With the feature `runtime-shaders`, `SortComparatorKernel::from_glsl` compiles the comparator.
/// [`SortComparatorKernel::spirv`] returns the result, for programs without a compiler.
#[derive(Clone, Debug)]
pub struct SortComparatorKernel(pub(super) UserKernel);

impl SortComparatorKernel {
    /// Creates a kernel from SPIR-V that was compiled for this version of the library.
    ///
    /// # Errors
    /// [`Error::Malformed`](crate::Error::Malformed) for `code` that is no kernel of sorts with a comparator, or not
    /// for this version. Only the declarations of the module are checked; the caller guarantees that it is valid.
    pub fn from_spirv(code: &[u32]) -> Result<Self> {
        UserKernel::from_spirv(&SORT_COMPARATOR, code).map(Self)
    }

    /// Compiles a comparator in GLSL for keys of one type.
    ///
    /// # Errors
    /// [`Error::Malformed`](crate::Error::Malformed) for `source`, with the compiler's messages and their lines; for
    /// `keyType`, if keys have fewer than 32 bits.
    #[cfg(feature = "runtime-shaders")]
    pub fn from_glsl(key: crate::KeyType, source: &str) -> Result<Self> {
        UserKernel::from_glsl(&SORT_COMPARATOR, key, source).map(Self)
    }

    /// The SPIR-V module, for [`SortComparatorKernel::from_spirv`].
    pub fn spirv(&self) -> &[u32] {
        self.0.code()
    }
}
