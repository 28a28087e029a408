//! Memory in requests: device addresses for inputs and outputs, a buffer for scratch.

pub use super::ffi::{Count, Range, Scratch};
use crate::{Error, Result};
use arrayvec::ArrayVec;
use ash::vk;
use std::fmt::Debug;

impl Range {
    /// The empty range.
    pub const NONE: Self = Self { address: 0, size: 0 };

    /// Returns the range of `size` bytes from `address`.
    pub const fn new(address: vk::DeviceAddress, size: vk::DeviceSize) -> Self {
        Self { address, size }
    }

    /// Returns the range of `size` bytes of `buffer` from `offset`.
    ///
    /// # Safety
    /// `buffer` is a buffer of `device` with memory bound and usage `SHADER_DEVICE_ADDRESS`.
    pub unsafe fn of_buffer(
        device: &ash::Device,
        buffer: vk::Buffer,
        offset: vk::DeviceSize,
        size: vk::DeviceSize,
    ) -> Self {
        // SAFETY: the caller's promise is the call's own requirement.
        let base = unsafe { device.get_buffer_device_address(&vk::BufferDeviceAddressInfo::default().buffer(buffer)) };
        Self { address: base + offset, size }
    }

    pub(crate) fn overlaps(self, other: Self) -> bool {
        self.size != 0
            && other.size != 0
            && self.address < other.address.saturating_add(other.size)
            && other.address < self.address.saturating_add(self.size)
    }

    /// The smallest range around both.
    pub(crate) fn around(self, other: Self) -> Self {
        if other.size == 0 || other.address == 0 {
            return self;
        }
        if self.size == 0 {
            return other;
        }
        let start = self.address.min(other.address);
        Self::new(start, self.end().max(other.end()) - start)
    }

    /// One past the last byte.
    pub(crate) fn end(self) -> u64 {
        self.address.saturating_add(self.size)
    }

    /// Checks that the range is aligned and has `required` bytes, which `max_count` keys need, if that is given. Any
    /// range will do if no bytes are required.
    pub(crate) fn check(self, names: RangeNames, alignment: u64, required: u64, max_count: Option<u64>) -> Result<()> {
        if required == 0 {
            return Ok(());
        }
        if self.address == 0 {
            return Err(Error::Null { argument: names.address });
        }
        check_multiple(names.address, self.address, alignment)?;
        if self.size < required {
            return Err(Error::TooSmall { argument: names.size, value: self.size, required, max_count });
        }
        if self.address.checked_add(self.size).is_none() {
            return Err(Error::TooLarge {
                argument: names.size,
                value: self.size,
                limit: u64::MAX - self.address,
                why: "the end of the address space",
            });
        }
        Ok(())
    }
}

/// The members of a range in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RangeNames {
    /// The range itself.
    pub(crate) member: &'static str,
    pub(crate) address: &'static str,
    pub(crate) size: &'static str,
}

pub(crate) fn check_alignment(argument: &'static str, value: u64) -> Result<()> {
    check_multiple(argument, value, 4)
}

pub(crate) fn check_multiple(argument: &'static str, value: u64, alignment: u64) -> Result<()> {
    if value.is_multiple_of(alignment) { Ok(()) } else { Err(Error::Misaligned { argument, value, alignment }) }
}

/// The role of an argument: the member of the request. Each planner has an enum of roles, declared by [`roles!`].
pub(crate) trait Role: Copy + Eq + 'static {
    fn names(self) -> &'static RangeNames;
}

/// A role of a planner's enum. Its index is that of the variant.
pub(crate) trait IndexedRole: Role {
    /// An array with a range for each role.
    type Ranges: AsRef<[Range]> + AsMut<[Range]> + Clone + Debug;
    /// No range for any role.
    const NO_RANGES: Self::Ranges;

    fn index(self) -> usize;
}

impl Role for &'static RangeNames {
    fn names(self) -> &'static RangeNames {
        self
    }
}

/// Most memory that a request names: [`MAX_ARGUMENTS`], and what
/// [`Planner::for_each_more`](super::primitive::Planner::for_each_more) visits.
pub(crate) const MAX_NAMED: usize = 64;

/// All memory that a request of any planner names, by name alone.
pub(crate) type NamedArguments = ArrayVec<Argument<&'static RangeNames>, MAX_NAMED>;

/// Declares the enum of a planner's arguments, with each member's name in C.
#[cfg(feature = "primitive")]
macro_rules! roles {
    ($(#[$enum_doc:meta])* enum $name:ident { $($(#[$doc:meta])* $role:ident = $member:literal,)* }) => {
        $(#[$enum_doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $name { $($(#[$doc])* $role,)* }

        impl $crate::core::memory::Role for $name {
            fn names(self) -> &'static $crate::core::memory::RangeNames {
                match self {
                    $(Self::$role => &$crate::core::memory::RangeNames {
                        member: $member,
                        address: concat!($member, ".address"),
                        size: concat!($member, ".size"),
                    },)*
                }
            }
        }

        impl $crate::core::memory::IndexedRole for $name {
            type Ranges = [$crate::core::memory::Range; [$(Self::$role),*].len()];
            const NO_RANGES: Self::Ranges = [$crate::core::memory::Range::NONE; [$(Self::$role),*].len()];

            fn index(self) -> usize {
                self as usize
            }
        }
    };
}

#[cfg(feature = "primitive")]
pub(crate) use roles;

/// How a request accesses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    /// At the same time as other requests with this access to the same range: by atomic operations.
    Shared,
}

impl Access {
    /// Of memory that is written, or only read.
    pub(crate) const fn writing(written: bool) -> Self {
        if written { Self::Write } else { Self::Read }
    }
}

/// Memory that a request names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Argument<R> {
    pub(crate) role: R,
    /// The bytes in use; none if the request does not use the member.
    pub(crate) range: Range,
    pub(crate) access: Access,
}

/// Most arguments of a request that name memory.
pub(crate) const MAX_ARGUMENTS: usize = 18;

/// The memory that a request names, without scratch. Members that it does not use may be missing.
pub(crate) type Arguments<R> = ArrayVec<Argument<R>, MAX_ARGUMENTS>;

impl<R> Argument<R> {
    /// Whether the two share bytes that one of them writes. Requests may share a whole range with [`Access::Shared`].
    pub(crate) fn conflicts(&self, other: &Self) -> bool {
        let is_allowed = match (self.access, other.access) {
            (Access::Read, Access::Read) => true,
            (Access::Shared, Access::Shared) => self.range == other.range,
            _ => false,
        };
        !is_allowed && self.range.overlaps(other.range)
    }
}

impl<R: Role> Argument<R> {
    /// The member's name in C.
    pub(crate) fn name(&self) -> &'static str {
        self.role.names().member
    }

    /// The same argument without the planner's type.
    pub(crate) fn named(&self) -> Argument<&'static RangeNames> {
        Argument { role: self.role.names(), range: self.range, access: self.access }
    }
}

/// The smallest ranges around the arguments of several requests, by the index of their roles.
#[derive(Clone, Debug)]
pub(crate) struct BoundingRanges<R: IndexedRole>(R::Ranges);

impl<R: IndexedRole> BoundingRanges<R> {
    /// Of one request.
    pub(crate) fn of(arguments: &Arguments<R>) -> Self {
        let mut bounds = Self::default();
        bounds.grow(arguments);
        bounds
    }

    /// Includes another request of the same handle.
    pub(crate) fn grow(&mut self, arguments: &Arguments<R>) {
        for argument in arguments {
            let bound = &mut self.0.as_mut()[argument.role.index()];
            *bound = bound.around(argument.range);
        }
    }

    /// None without such an argument.
    pub(crate) fn range(&self, role: R) -> Range {
        self.0.as_ref()[role.index()]
    }
}

impl<R: IndexedRole> Default for BoundingRanges<R> {
    fn default() -> Self {
        Self(R::NO_RANGES)
    }
}

impl Count {
    /// Returns a count that the host knows.
    pub const fn host(count: u32) -> Self {
        Self { max: count, address: 0 }
    }

    /// Returns a count that is read at `address` when the commands execute, at most `max`.
    pub const fn device(address: vk::DeviceAddress, max: u32) -> Self {
        Self { max, address }
    }

    pub(crate) const fn is_on_device(self) -> bool {
        self.address != 0
    }
}

impl From<u32> for Count {
    fn from(count: u32) -> Self {
        Self::host(count)
    }
}

/// Timestamp queries that a call writes: one before its first command, then one after each of its passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamps {
    /// A pool of type `TIMESTAMP`. The caller has reset its queries.
    pub pool: vk::QueryPool,
    /// The first query.
    pub first: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_around_others_leaves_out_those_that_nobody_uses() {
        let range = Range::new(100, 20);
        assert_eq!(range.around(Range::new(140, 10)), Range::new(100, 50));
        assert_eq!(range.around(Range::new(90, 1)), Range::new(90, 30));
        for unused in [Range::NONE, Range::new(4, 0), Range::new(0, 8)] {
            assert_eq!(range.around(unused), range);
            assert_eq!(Range::NONE.around(range).around(unused), range);
        }
    }
}
