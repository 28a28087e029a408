//! The Vulkan drivers and validation layers of this machine.

use crate::workspace;
use anyhow::Result;
use serde_json::json;
use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// Environment of a child process.
pub(crate) type Env = Vec<(&'static str, String)>;

/// Where the manifests of drivers and layers lie, one `vulkan` folder each.
const MANIFESTS: [&str; 4] = ["/etc/vulkan", "/usr/local/etc/vulkan", "/usr/local/share/vulkan", "/usr/share/vulkan"];

/// Debian's chromium-common: SwiftShader and a current validation layer.
const CHROMIUM: &str = "/usr/lib/chromium";

/// What the validation layer looks for.
#[derive(Clone, Copy)]
pub(crate) enum Validation {
    /// Core checks, on by default in every layer, synchronization and best practices.
    CoreSyncBest,
    /// The same without the check of SPIR-V, for drivers whose tests make the modules that `CoreSyncBest` checks
    /// elsewhere.
    CoreSyncBestOfCheckedModules,
    /// Addresses are looked up before they are used. Core checks have a run of their own. The layer needs shaderInt64
    /// for this, so it is of no use on SwiftShader.
    GpuAssisted,
}

impl Validation {
    /// Value of `TROMMEL_VALIDATION`.
    fn name(self) -> &'static str {
        match self {
            Self::CoreSyncBest | Self::CoreSyncBestOfCheckedModules => "1",
            Self::GpuAssisted => "gpu",
        }
    }

    /// Name of the folder of its settings.
    fn folder(self) -> &'static str {
        match self {
            Self::CoreSyncBest => "core-sync-best",
            Self::CoreSyncBestOfCheckedModules => "core-sync-best-of-checked-modules",
            Self::GpuAssisted => "gpu-assisted",
        }
    }

    /// For a current layer, which has a key a check and warns of the old `enables`.
    ///
    /// Tried on lavapipe and SwiftShader with a copy after a fill without a barrier and with a buffer alone in a small
    /// allocation: both are reported with the first two keys, and neither without. A store past the end of a buffer is
    /// reported on lavapipe by the second set, and kept from happening in safe mode. The detector of races on shared
    /// memory takes a subgroup's barrier for none. The layer reports features that it enables for itself, which is no
    /// fault of the caller.
    ///
    /// With `check_shaders` off, one test binary (tests/host.rs on lavapipe) took 57 s of CPU time instead of 78. The
    /// layer reports this setting as a warning, which the filter drops.
    fn settings(self) -> &'static str {
        match self {
            Self::CoreSyncBest => {
                "khronos_validation.validate_sync = true\nkhronos_validation.validate_best_practices = true\n"
            }
            Self::CoreSyncBestOfCheckedModules => {
                "khronos_validation.validate_sync = true\n\
                 khronos_validation.validate_best_practices = true\n\
                 khronos_validation.check_shaders = false\n\
                 khronos_validation.message_id_filter = VALIDATION-SETTINGS\n"
            }
            Self::GpuAssisted => {
                "khronos_validation.validate_core = false\n\
                 khronos_validation.gpuav_enable = true\n\
                 khronos_validation.gpuav_safe_mode = true\n\
                 khronos_validation.gpuav_validate_trace_ray = false\n\
                 khronos_validation.gpuav_shared_memory_data_race = false\n\
                 khronos_validation.message_id_filter = WARNING-Setting-Limit-Adjusted\n"
            }
        }
    }

    /// For a layer as old as Debian 12's (1.3.239), where the same trials gave the same; it takes debug-utils itself
    /// for a bad practice. It checks modules in every configuration.
    fn old_settings(self) -> &'static str {
        match self {
            Self::CoreSyncBest | Self::CoreSyncBestOfCheckedModules => {
                "khronos_validation.enables = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT,\
                 VK_VALIDATION_FEATURE_ENABLE_BEST_PRACTICES_EXT\n\
                 khronos_validation.message_id_filter = \
                 UNASSIGNED-BestPractices-vkCreateInstance-specialuse-extension-debugging\n"
            }
            Self::GpuAssisted => "khronos_validation.enables = VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_EXT\n",
        }
    }
}

/// Puts a driver first and alone. The second name is the one that loaders before 1.3.207 know.
pub(crate) fn select(manifest: &Path) -> Env {
    let manifest = manifest.display().to_string();
    vec![("VK_DRIVER_FILES", manifest.clone()), ("VK_ICD_FILENAMES", manifest)]
}

/// Folders of this name for what drivers and layers keep on disk, instead of those in the user's home.
///
/// Mesa names an entry without regard to `LP_NATIVE_VECTOR_WIDTH`: in one folder, kernels of one width run at another.
pub(crate) fn caches(name: &str) -> Result<Env> {
    let folder = workspace::target().join("test-caches").join(name);
    fs::create_dir_all(&folder)?;
    let folder = folder.display().to_string();
    // The second is the validation layer's, and Mesa's where it does not know the first.
    Ok(vec![("MESA_SHADER_CACHE_DIR", folder.clone()), ("XDG_CACHE_HOME", folder)])
}

/// Switches validation on, with the most current layer that is here.
pub(crate) fn validate(validation: Validation) -> Result<Env> {
    let current = chromium_layer().exists();
    let layers = workspace::target().join("validation");
    let settings = layers.join(validation.folder());
    fs::create_dir_all(&settings)?;
    let text = if current { validation.settings() } else { validation.old_settings() };
    fs::write(settings.join("vk_layer_settings.txt"), text)?;
    let mut env = vec![
        ("TROMMEL_VALIDATION", validation.name().to_owned()),
        ("VK_LAYER_SETTINGS_PATH", settings.display().to_string()),
    ];
    if current {
        fs::write(layers.join("VkLayer_khronos_validation.json"), chromium_layer_manifest())?;
        // Instead of the system's folders, or else the old layer of the same name would come first.
        env.push(("VK_LAYER_PATH", layers.display().to_string()));
    }
    Ok(env)
}

/// chromium-common has the layer without the manifest that makes a loader find it.
fn chromium_layer_manifest() -> String {
    let extension = |name, version| json!({ "name": name, "spec_version": version });
    let manifest = json!({
        "file_format_version": "1.2.0",
        "layer": {
            "name": "VK_LAYER_KHRONOS_validation",
            "type": "GLOBAL",
            "library_path": chromium_layer(),
            // The loader wants at least the version of the instance; the library says no version by itself.
            "api_version": "1.4.300",
            "implementation_version": "1",
            "description": "Khronos validation layer",
            "instance_extensions": [
                extension("VK_EXT_debug_report", "9"),
                extension("VK_EXT_debug_utils", "1"),
                extension("VK_EXT_validation_features", "6"),
                extension("VK_EXT_layer_settings", "2"),
            ],
        },
    });
    format!("{manifest:#}\n")
}

fn chromium_layer() -> PathBuf {
    Path::new(CHROMIUM).join("libVkLayer_khronos_validation.so")
}

/// The manifest of the packaged layer.
pub(crate) fn debian_layer() -> PathBuf {
    "/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json".into()
}

/// The manifest of Mesa's CPU driver.
pub(crate) fn lavapipe() -> Option<PathBuf> {
    manifests().into_iter().find(|path| name(path).starts_with("lvp_icd"))
}

/// The manifest of Google's CPU driver.
pub(crate) fn swiftshader() -> Option<PathBuf> {
    Some(Path::new(CHROMIUM).join("vk_swiftshader_icd.json")).filter(|path| path.exists())
}

/// Whether this machine shows a GPU to user programs: a DRM render node, NVIDIA's or WSL's own.
pub(crate) fn gpu_exists() -> bool {
    let render_node =
        fs::read_dir("/dev/dri").is_ok_and(|nodes| nodes.flatten().any(|n| name(&n.path()).starts_with("renderD")));
    render_node || ["/dev/nvidia0", "/dev/dxg"].iter().any(|node| Path::new(node).exists())
}

/// Whether a driver for the GPU, or without one for the CPU, is installed or named in the environment.
pub(crate) fn any_device_has_one() -> bool {
    let named = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].iter().any(|name| env::var_os(name).is_some());
    named || lavapipe().is_some() || gpu_exists() && !manifests().is_empty()
}

/// Whether the loader is here.
pub(crate) fn loader_exists() -> bool {
    shared_library("libvulkan.so.1").is_some()
}

/// An allocator that suits CPU drivers: they make pipelines of many small pieces, and take a seventh less time with it
/// than with glibc's.
pub(crate) fn allocator() -> Option<PathBuf> {
    shared_library("libjemalloc.so.2")
}

/// In whichever folder of shared libraries it is.
fn shared_library(name: &str) -> Option<PathBuf> {
    let triplet = format!("/usr/lib/{}-linux-gnu", env::consts::ARCH);
    let folders = ["/usr/lib", "/usr/lib64", "/usr/local/lib", &triplet];
    folders.iter().map(|folder| Path::new(folder).join(name)).find(|path| path.exists())
}

fn manifests() -> Vec<PathBuf> {
    let folders = MANIFESTS.iter().map(|folder| Path::new(folder).join("icd.d"));
    folders.filter_map(|folder| workspace::files(&folder, "json").ok()).flatten().collect()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
