//! Calls about devices, and those that need none.

use crate::calls::case::{Case, Pointer};
use crate::calls::fake::{ALL_FEATURES, Fake, get_proc_addr};
use crate::calls::good;
use crate::calls::info::HEADER;
use crate::calls::model::*;
use crate::calls::primitive::primitives;
use crate::calls::random::Random;
use crate::calls::report::has_text;
use crate::calls::run::{Call, judge_output, output};
use crate::calls::session::{DeviceArguments, place};
use ash::vk;
use std::ffi::CString;
use std::ptr::null_mut;
use std::sync::atomic::Ordering;
use trommel::capi::*;

impl Call<'_> {
    fn fake(&self, callbacks: bool) -> Fake {
        let case = self.case;
        let facts = good::facts(&mut Random::new(case.facts_seed, 0));
        let mut fake = Fake::new(facts);
        (fake.debug_utils, fake.callbacks) = (case.debug_utils, callbacks);
        (fake.features, fake.instance_minor) = (case.features, case.instance_minor);
        fake
    }

    pub(super) fn create_device(&mut self) {
        let case = self.case;
        let info = case.image.effective::<TrmDeviceCreateInfo>();
        let fake = self.fake(!info.allocation_callbacks.is_null());
        let verdict = &mut self.outcome.verdict;
        judge_output(case, verdict);
        if verdict.header::<TrmDeviceCreateInfo>(&case.image) {
            judge_device(case, &info, &fake, verdict);
        }
        fake.fail_after.store(case.fail_after, Ordering::Relaxed);
        let profile = (!info.profile.is_null()).then(|| CString::new(case.text.clone()).unwrap_or_default());
        let arguments = DeviceArguments { enabled: case.enabled, profile };
        let out = output::<TrmDevice>(self.blocks, case.output);
        self.outcome.result = arguments.create(self.blocks, &fake, &case.image, out);
        // SAFETY: the output is good, or not read; a device is destroyed once.
        unsafe {
            if case.output == Pointer::Good {
                if (self.outcome.result == SUCCESS) == (*out).is_null() {
                    self.problem(format!("the handle is {:?} after result {}", *out, self.outcome.result));
                } else {
                    trmDestroyDevice(*out);
                }
            }
        }
        self.outcome.problems.extend(fake.take_faults());
        if fake.live() != 0 {
            self.problem(format!("{} Vulkan objects are left", fake.live()));
        }
    }

    pub(super) fn requirements(&mut self) {
        let case = self.case;
        let fake = self.fake(false);
        let verdict = &mut self.outcome.verdict;
        let mut lacks = fake.features != ALL_FEATURES;
        let wants_text = case.number != 0;
        verdict.must(!wants_text || case.list != Pointer::Null, NULL, "missingSize");
        verdict.must(case.list != Pointer::Misaligned, MISALIGNED, "missingSize");
        if verdict.header::<TrmDeviceRequirementsInfo>(&case.image) {
            let image = &case.image;
            let given = [HEADER, HEADER + 8, HEADER + 16]
                .map(|offset| image.get(4, 4) > offset as u64 && image.get(offset, 8) != 0);
            verdict.must(given == [true; 3], NULL, "getInstanceProcAddr, instance or physicalDevice");
            let info = image.effective::<TrmDeviceRequirementsInfo>();
            verdict.must(info.reserved == 0, MALFORMED, "reserved");
            verdict.must(fake.instance_minor != 0, MISSING, "an instance of Vulkan 1.0");
            // Older instances from Vulkan 1.1 on are reported as a missing requirement, like a feature.
            lacks |= info.api_version < vk::API_VERSION_1_3;
        }
        let entry: vk::PFN_vkGetInstanceProcAddr = get_proc_addr;
        let pointers = [(HEADER, entry as usize as u64), (HEADER + 8, fake.raw()), (HEADER + 16, fake.raw())];
        let info = place::<TrmDeviceRequirementsInfo>(&self.blocks.info, &case.image, &pointers);
        let (mut v12, mut v13) =
            (vk::PhysicalDeviceVulkan12Features::default(), vk::PhysicalDeviceVulkan13Features::default());
        let room = usize::try_from(case.number).unwrap_or(0);
        let mut size = u32::try_from(room).unwrap_or(0);
        let text = if wants_text { self.blocks.text.place(&vec![0x2a; room], 1) } else { null_mut() };
        let size_at = match case.list {
            Pointer::Good => &raw mut size,
            Pointer::Null => null_mut(),
            Pointer::Misaligned => (&raw mut size).cast::<u8>().wrapping_add(1).cast(),
        };
        let mut extensions = 7u32;
        // SAFETY: each pointer is null, valid by the header, or breaks a rule that the library has to detect.
        self.outcome.result = unsafe {
            let extensions = &raw mut extensions;
            trmGetDeviceRequirements(info, &raw mut v12, &raw mut v13, extensions, null_mut(), size_at, text.cast())
        };
        let cut = self.outcome.result == vk::Result::INCOMPLETE.as_raw();
        if cut && wants_text && lacks && self.outcome.verdict.faults.is_empty() {
            self.outcome.verdict.must(false, vk::Result::INCOMPLETE.as_raw(), "the text is cut");
            // SAFETY: the library has written so many bytes.
            let ended = unsafe { *text.add(room - 1) } == 0 && size as usize == room;
            if !ended {
                self.problem("a text that is cut does not end");
            }
        } else if self.outcome.result == SUCCESS {
            let enabled = [v12.buffer_device_address, v12.scalar_block_layout, v13.synchronization2, v13.maintenance4]
                == [vk::TRUE; 4];
            if !enabled || extensions != 0 || case.list == Pointer::Good && !lacks && size != 1 {
                self.problem(format!(
                    "a device that has all: enabled {enabled}, {extensions} extensions, text of {size} bytes"
                ));
            }
        } else if extensions != 7 || v12.buffer_device_address != 0 || size as usize != room {
            self.problem("a failed call writes outputs");
        }
    }

    pub(super) fn plain(&mut self) {
        // SAFETY: NULL is ignored.
        unsafe {
            trmDestroyDevice(null_mut());
            primitives().for_each(|primitive| primitive.destroy(null_mut()));
        }
        let number = u32::try_from(self.case.number & u64::from(u32::MAX)).unwrap_or(0);
        for result in [number.cast_signed(), -1_900_000_000 - (number % 20).cast_signed(), -(number % 30).cast_signed()]
        {
            if !has_text(result) {
                self.problem(format!("result {result} has no text"));
            }
        }
        if trmGetVersion() != vk::make_api_version(0, TRM_VERSION_MAJOR, TRM_VERSION_MINOR, TRM_VERSION_PATCH) {
            self.problem("the version is not the header's");
        }
    }
}

fn judge_device(case: &Case, info: &TrmDeviceCreateInfo, fake: &Fake, verdict: &mut Verdict) {
    let given = |offset: usize| case.image.get(4, 4) > offset as u64 && case.image.get(offset, 8) != 0;
    let all = [HEADER, HEADER + 8, HEADER + 16, HEADER + 24, HEADER + 32].into_iter().all(given);
    verdict.must(all, NULL, "getInstanceProcAddr, instance, physicalDevice, device or enabledFeatures");
    verdict.must(info.debug_utils <= 1, UNKNOWN, "debugUtils");
    verdict.must(info.reserved == 0, MALFORMED, "reserved");
    verdict.must(info.debug_utils != 1 || fake.debug_utils, MISSING, "VK_EXT_debug_utils");
    let truncated = case.image.get(4, 4) <= std::mem::offset_of!(TrmDeviceCreateInfo, queue_family_index) as u64;
    let family = info.queue_family_index;
    if !truncated && family != vk::QUEUE_FAMILY_IGNORED && family as usize >= fake.families.len() {
        [LARGE, MALFORMED, UNKNOWN].into_iter().for_each(|code| verdict.must(false, code, "queueFamilyIndex"));
    }
    verdict.must(fake.instance_minor >= 3, MISSING, "an instance below Vulkan 1.3");
    verdict.must(fake.features == ALL_FEATURES && case.enabled == ALL_FEATURES, MISSING, "features");
    if !info.profile.is_null() && case.text_is_changed {
        verdict.must(std::str::from_utf8(&case.text).is_ok(), MALFORMED, "profile: no UTF-8");
        verdict.doubt(true, "a changed profile");
    }
    verdict.doubt(case.fail_after >= 0, "the device runs out of memory");
}
