//! The Khronos validation layer. Its messages are kept, so that a test can require that there are none.

use ash::{ext, vk};
use std::borrow::Cow;
use std::ffi::{CStr, c_void};
use std::sync::{Mutex, PoisonError};

pub(super) const LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// Whether the layer is loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Validation {
    /// The environment variable `TROMMEL_VALIDATION` decides: unset, empty or `0` is off.
    #[default]
    FromEnvironment,
    /// Not loaded.
    Off,
    /// Loaded. The layer's own settings select checks beyond its defaults.
    On,
}

impl Validation {
    pub(super) fn is_on(self) -> bool {
        match self {
            Self::On => true,
            Self::Off => false,
            Self::FromEnvironment => std::env::var("TROMMEL_VALIDATION").is_ok_and(|v| !v.is_empty() && v != "0"),
        }
    }
}

/// All messages so far.
pub(super) type Messages = Mutex<Vec<String>>;

/// The configuration of the messenger: severities, types and the callback.
///
/// The callback uses `messages` as long as the messenger lives.
pub(super) fn messenger_info(messages: &Messages) -> vk::DebugUtilsMessengerCreateInfoEXT<'_> {
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::WARNING | vk::DebugUtilsMessageSeverityFlagsEXT::ERROR)
        .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION | vk::DebugUtilsMessageTypeFlagsEXT::PERFORMANCE)
        .pfn_user_callback(Some(keep_message))
        .user_data(std::ptr::from_ref(messages).cast_mut().cast())
}

unsafe extern "system" fn keep_message(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    messages: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the layer passes valid data, and the messages that the messenger was created with.
    let (text, messages) = unsafe {
        let text = (*data).message_as_c_str().map_or(Cow::Borrowed("(no text)"), CStr::to_string_lossy);
        (text, &*messages.cast::<Messages>())
    };
    eprintln!("validation: {severity:?}: {text}");
    messages.lock().unwrap_or_else(PoisonError::into_inner).push(text.into_owned());
    vk::FALSE
}

/// A messenger that receives the layer's messages after the creation of the instance.
pub(super) struct Messenger {
    functions: ext::debug_utils::Instance,
    handle: vk::DebugUtilsMessengerEXT,
}

impl Messenger {
    pub(super) fn new(entry: &ash::Entry, instance: &ash::Instance, messages: &Messages) -> Result<Self, vk::Result> {
        let functions = ext::debug_utils::Instance::new(entry, instance);
        // SAFETY: the instance has the extension; the messages outlive the messenger.
        let handle = unsafe { functions.create_debug_utils_messenger(&messenger_info(messages), None) }?;
        Ok(Self { functions, handle })
    }

    pub(super) fn destroy(&self) {
        // SAFETY: called once, before the instance is destroyed.
        unsafe { self.functions.destroy_debug_utils_messenger(self.handle, None) };
    }
}
