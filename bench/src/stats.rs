//! Statistics of pipelines: sizes of modules, and the driver's numbers.

use crate::gpu::Gpu;
use ash::{khr, vk};
use serde_json::{Map, Value, json};
use trommel::Device;
use trommel::kernels::{Kernel, Variant};

/// Bytes of the SPIR-V modules of a set of pipelines. Each module counts once.
pub(crate) fn spirv_bytes(pipelines: &[(Variant, vk::Pipeline)]) -> usize {
    let used = |kernel: &&Kernel| pipelines.iter().any(|(variant, _)| variant.kernel == **kernel);
    Kernel::ALL.iter().filter(used).map(|kernel| kernel.spirv().map_or(0, |code| size_of_val(&code[..]))).sum()
}

/// A pipeline with its statistics by `VK_KHR_pipeline_executable_properties`.
pub(crate) struct PipelineStats {
    kernel: &'static str,
    constants: String,
    statistics: Vec<(String, Value)>,
}

impl PipelineStats {
    /// The statistics of every pipeline of `library`. Empty if the device has none.
    pub(crate) fn query(gpu: &Gpu, library: &Device) -> trommel::Result<Vec<Self>> {
        if !gpu.has_statistics {
            return Ok(Vec::new());
        }
        let vk = khr::pipeline_executable_properties::Device::new(gpu.context.instance(), gpu.context.vk());
        let mut stats = Vec::new();
        for (variant, pipeline) in library.pipelines() {
            let info = vk::PipelineInfoKHR::default().pipeline(pipeline);
            let mut statistics = Vec::new();
            // SAFETY: the pipeline is alive and was created to keep statistics.
            let executables = unsafe { vk.get_pipeline_executable_properties(&info) }?;
            for (index, _) in (0u32..).zip(executables) {
                let info = vk::PipelineExecutableInfoKHR::default().pipeline(pipeline).executable_index(index);
                // SAFETY: as above.
                statistics.extend(unsafe { vk.get_pipeline_executable_statistics(&info) }?.iter().map(named));
            }
            let constants = variant.constants().map(|(constant, value)| format!("{constant:?}={value}"));
            stats.push(Self {
                kernel: variant.kernel.name(),
                constants: constants.collect::<Vec<_>>().join(" "),
                statistics,
            });
        }
        stats.sort_by(|a, b| (a.kernel, &a.constants).cmp(&(b.kernel, &b.constants)));
        Ok(stats)
    }

    /// The statistics as a line of text.
    pub(crate) fn line(&self) -> String {
        let statistics: Vec<_> = self.statistics.iter().map(|(name, value)| format!("{name} {value}")).collect();
        format!("pipeline {} {}: {}", self.kernel, self.constants, statistics.join(", "))
    }

    /// The statistics as JSON, for the record.
    pub(crate) fn json(&self) -> Value {
        let statistics: Map<_, _> = self.statistics.iter().cloned().collect();
        json!({ "kernel": self.kernel, "constants": self.constants, "statistics": statistics })
    }
}

fn named(statistic: &vk::PipelineExecutableStatisticKHR<'_>) -> (String, Value) {
    let name = statistic.name_as_c_str().map_or_else(|_| "?".into(), |name| name.to_string_lossy().into_owned());
    // SAFETY: the format says which member was written.
    let value = unsafe {
        match statistic.format {
            vk::PipelineExecutableStatisticFormatKHR::BOOL32 => json!(statistic.value.b32 != 0),
            vk::PipelineExecutableStatisticFormatKHR::INT64 => json!(statistic.value.i64),
            vk::PipelineExecutableStatisticFormatKHR::UINT64 => json!(statistic.value.u64),
            _ => json!(statistic.value.f64),
        }
    };
    (name, value)
}
