//! Info structs as bytes, which breakages may overwrite, and their values as the library has to read them.

use ash::vk::Handle as _;
use std::ops::Range;
use trommel::capi::layout::{Layout, Member};
use trommel::capi::*;

/// Bytes of the largest info struct, with room.
pub(crate) const MOST_BYTES: usize = 512;
/// Bytes of sType, structSize and pNext.
pub(crate) const HEADER: usize = 16;
/// The largest structSize that the library reads.
const MOST_SIZE: usize = 4096;

/// Padding of members, by name and size: a copy of the struct has any bytes there. A struct with several such members
/// adds `_` and more to the name.
const PADDING: [(&str, usize, Range<usize>); 4] =
    [("count", 16, 4..8), ("timestamps", 16, 12..16), ("segments", 32, 20..24), ("segments", 64, 4..8)];

/// An info struct of the C ABI.
pub(crate) trait Info: Layout + Copy {
    /// Its sType.
    const TYPE: TrmStructureType;
    /// Whether its first member is a handle.
    const IS_REQUEST: bool = false;
}

/// Implements [`Info`]; `requests`: for infos that begin with a handle.
macro_rules! infos {
    (infos { $($info:ident: $type:ident,)* } requests { $($request:ident: $request_type:ident,)* }) => {
        $(impl $crate::calls::info::Info for $info {
            const TYPE: TrmStructureType = TrmStructureType::$type;
        })*
        $(impl $crate::calls::info::Info for $request {
            const TYPE: TrmStructureType = TrmStructureType::$request_type;
            const IS_REQUEST: bool = true;
        })*
    };
}
pub(crate) use infos;

infos! {
    infos {
        TrmDeviceRequirementsInfo: DeviceRequirementsInfo,
        TrmDeviceCreateInfo: DeviceCreateInfo,
        TrmBatchInfo: BatchInfo,
    }
    requests {}
}

/// A zeroed struct with sType and structSize.
pub(crate) fn empty<T: Info>() -> T {
    let mut image = Image { bytes: [0; MOST_BYTES], tail: None, null: false, misaligned: false };
    image.set(0, 4, u64::from((T::TYPE as i32).unsigned_abs()));
    image.set(4, 4, size_of::<T>() as u64);
    image.read()
}

/// An info argument: the bytes of a struct, or a pointer that is null or misaligned.
#[derive(Clone, Debug)]
pub(crate) struct Image {
    bytes: [u8; MOST_BYTES],
    /// A byte behind the struct that is not zero, by its offset behind the end.
    pub(crate) tail: Option<(usize, u8)>,
    pub(crate) null: bool,
    pub(crate) misaligned: bool,
}

impl Image {
    /// A struct as it is.
    pub(crate) fn of<T: Info>(info: &T) -> Self {
        const { assert!(size_of::<T>() <= MOST_BYTES, "an image has room") };
        let mut bytes = [0; MOST_BYTES];
        // SAFETY: both hold so many bytes. Info structs are numbers and pointers.
        unsafe { std::ptr::from_ref(info).cast::<u8>().copy_to_nonoverlapping(bytes.as_mut_ptr(), size_of::<T>()) };
        for member in T::STRUCT.members {
            let name = member.name.split('_').next();
            let is_known = |(padded, size, _): &&(_, _, _)| Some(*padded) == name && *size == member.size;
            if let Some((.., padding)) = PADDING.iter().find(is_known) {
                bytes[member.offset..][padding.clone()].fill(0);
            }
        }
        for pair in T::STRUCT.members.windows(2) {
            bytes[pair[0].offset + pair[0].size..pair[1].offset].fill(0);
        }
        Self { bytes, tail: None, null: false, misaligned: false }
    }

    /// The number of `width` bytes at `offset`.
    pub(crate) fn get(&self, offset: usize, width: usize) -> u64 {
        let mut number = [0; 8];
        number[..width].copy_from_slice(&self.bytes[offset..offset + width]);
        u64::from_le_bytes(number)
    }

    /// Overwrites the number of `width` bytes at `offset`.
    pub(crate) fn set(&mut self, offset: usize, width: usize, number: u64) {
        self.bytes[offset..offset + width].copy_from_slice(&number.to_le_bytes()[..width]);
    }

    fn read<T: Info>(&self) -> T {
        // SAFETY: any bytes make an info struct: it holds numbers, pointers and optional functions.
        unsafe { self.bytes.as_ptr().cast::<T>().read_unaligned() }
    }

    fn size(&self) -> usize {
        usize::try_from(self.get(4, 4)).unwrap_or(usize::MAX)
    }

    /// The struct as the library has to take it: members past structSize are zero.
    pub(crate) fn effective<T: Info>(&self) -> T {
        let mut known = self.clone();
        known.bytes[self.size().clamp(HEADER, MOST_BYTES)..].fill(0);
        known.read()
    }

    /// A number of the struct as the library has to take it.
    pub(crate) fn effective_number(&self, offset: usize, width: usize) -> u64 {
        // Only the header is sure to be there.
        let known = self.size().clamp(HEADER, MOST_BYTES);
        let mut number = [0; 8];
        let end = (offset + width).min(known).max(offset);
        number[..end - offset].copy_from_slice(&self.bytes[offset..end]);
        u64::from_le_bytes(number)
    }

    /// Overwrites a `TrmScratch`.
    pub(crate) fn set_scratch(&mut self, offset: usize, scratch: &TrmScratch) {
        let words = [scratch.buffer.as_raw(), scratch.offset, scratch.size];
        words.into_iter().enumerate().for_each(|(index, word)| self.set(offset + 8 * index, 8, word));
    }

    /// The bytes that a caller with this structSize has.
    pub(crate) fn physical<T: Info>(&self) -> Vec<u8> {
        let size = self.size();
        let len = if size > MOST_SIZE { size_of::<T>() } else { size.max(HEADER) };
        let mut bytes = vec![0; len];
        let known = len.min(size_of::<T>());
        bytes[..known].copy_from_slice(&self.bytes[..known]);
        if let Some((offset, byte)) = self.tail
            && let Some(beyond) = bytes.get_mut(size_of::<T>() + offset)
        {
            *beyond = byte;
        }
        bytes
    }

    /// Whether structSize is one of this version, of an earlier one (which ends where a member begins) or of a later
    /// one.
    pub(crate) fn size_is_known<T: Info>(&self) -> bool {
        let size = self.size();
        let older = T::STRUCT.members.iter().any(|member| member.offset >= HEADER && member.offset == size);
        older || (size_of::<T>()..=MOST_SIZE).contains(&size) && size.is_multiple_of(align_of::<T>())
    }

    /// Whether something past this version's members is set.
    pub(crate) fn tail_is_set<T: Info>(&self) -> bool {
        self.tail.is_some_and(|(offset, byte)| byte != 0 && size_of::<T>() + offset < self.size())
    }

    /// One line: every member that is not zero.
    pub(crate) fn describe<T: Info>(&self) -> String {
        if self.null {
            return format!("{} NULL", T::STRUCT.name);
        }
        let mut text = format!("{} {{", T::STRUCT.name);
        for Member { name, offset, size } in T::STRUCT.members {
            let width = if size % 8 == 0 { 8 } else { 4 };
            let numbers: Vec<u64> = (0..size / width).map(|index| self.get(offset + index * width, width)).collect();
            if numbers.iter().any(|number| *number != 0) {
                text.push_str(&format!(" {name}: {numbers:#x?}").replace(['\n', ' '], "").replace(":", ": "));
                text.push(',');
            }
        }
        text.push_str(" }");
        if let Some((offset, byte)) = self.tail {
            text.push_str(&format!(", byte {byte} at {offset} behind it"));
        }
        if self.misaligned {
            text.push_str(", misaligned");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_past_the_size_are_zero() {
        let mut image = Image::of(&TrmSorterCreateInfo { max_count: 7, layout: 2, ..empty() });
        assert_eq!(image.effective::<TrmSorterCreateInfo>().max_count, 7);
        assert!(image.size_is_known::<TrmSorterCreateInfo>());
        image.set(4, 4, std::mem::offset_of!(TrmSorterCreateInfo, max_count) as u64);
        assert_eq!(image.effective::<TrmSorterCreateInfo>().max_count, 0);
        assert_eq!(image.effective::<TrmSorterCreateInfo>().layout, 2);
        assert!(image.size_is_known::<TrmSorterCreateInfo>());
        assert_eq!(image.physical::<TrmSorterCreateInfo>().len(), std::mem::offset_of!(TrmSorterCreateInfo, max_count));
        image.set(4, 4, 17);
        assert!(!image.size_is_known::<TrmSorterCreateInfo>());
    }

    #[test]
    fn what_a_later_version_sets_is_seen() {
        let mut image = Image::of(&empty::<TrmSortInfo>());
        image.tail = Some((3, 1));
        assert!(!image.tail_is_set::<TrmSortInfo>(), "the struct ends before");
        image.set(4, 4, size_of::<TrmSortInfo>() as u64 + 8);
        assert!(image.tail_is_set::<TrmSortInfo>() && image.size_is_known::<TrmSortInfo>());
        assert_eq!(image.physical::<TrmSortInfo>()[size_of::<TrmSortInfo>() + 3], 1);
    }
}
