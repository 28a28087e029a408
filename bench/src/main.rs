//! Times the library on a GPU and prints one line a case, in the format of the CUDA peers.
//!
//! A module uses modules of lower lines alone. A test compares this drawing with the sources.
//!
//! ```text
//! main
//! tune       recording  creation             the modes besides measuring
//! report
//! timing     cases      stats
//! primitives                                 split uses sort; copy is independent
//! job        problems   items
//! workload                                   the traits of a primitive
//! arrays     handles    shapes     gpu
//! inputs     verify     key_order  args      commands
//! ```
//!
//! A primitive brings its cases, inputs and checks in a file or folder of `primitives`, and adds a line to the list
//! there. Other modules know primitives by the traits of `workload`.

mod args;
mod arrays;
mod cases;
mod commands;
mod creation;
mod gpu;
mod handles;
mod inputs;
mod items;
mod job;
mod key_order;
#[cfg(test)]
mod module_graph;
mod primitives;
mod problems;
mod recording;
mod report;
mod shapes;
mod stats;
mod timing;
mod tune;
mod verify;
mod workload;

use anyhow::Context as _;
use args::Args;
use clap::Parser as _;
use gpu::Gpu;
use handles::Handles;
use inputs::Sources;
use job::Job;
use primitives::{PRIMITIVES, heating};
use report::Report;
use serde_json::json;
use stats::PipelineStats;
use timing::Timer;
use trommel::{Error, Profile};
use verify::Verifier;
use workload::{Case, Operation};

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    if args.list {
        for case in cases::select(&args.filter, &args.n, false) {
            println!("{:<34} n={}", case.name, case.n);
        }
        return Ok(());
    }
    let gpu = Gpu::open(&args)?;
    let profile = args.reshape(load_profile(&args, &gpu)?)?;
    if args.recording {
        let report = Report::new(0);
        return recording::measure(&gpu, &profile, PRIMITIVES, &report);
    }
    if args.creation {
        return creation::measure(&args, &gpu, &profile, PRIMITIVES);
    }
    let cases = cases::select(&args.filter, &args.n, gpu.context.device().facts().is_cpu);
    anyhow::ensure!(!cases.is_empty(), "no case is called that; --list names them");
    let mut report = Report::new(cases.len());
    report.device(&gpu);
    let profile = match &args.tune {
        Some(path) => {
            let profile = tune::tune(&gpu, &profile, args.strategy.into(), PRIMITIVES, &heating(), &mut report)?;
            std::fs::write(path, profile.to_string()).with_context(|| path.display().to_string())?;
            profile
        }
        None => profile,
    };
    measure(&args, &gpu, &profile, &cases, report)
}

fn load_profile(args: &Args, gpu: &Gpu) -> anyhow::Result<Profile> {
    let Some(path) = &args.profile else { return Ok(gpu.context.device().profile().clone()) };
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    text.parse().with_context(|| path.display().to_string())
}

fn measure(args: &Args, gpu: &Gpu, profile: &Profile, cases: &[Case], mut report: Report) -> anyhow::Result<()> {
    report.profile(profile);
    let library = gpu.library(profile)?;
    let mut handles = Handles::new(&gpu.context, &library, args.strategy.into());
    let operations: Vec<_> = cases.iter().map(|case| case.work.prepare(case.n, &mut handles)).collect();
    report.handles(&handles.created, stats::spirv_bytes(&library.pipelines()));
    let mut timer = Timer::new(gpu, heating())?;
    let mut sources = Sources::default();
    let mut verifier = Verifier::default();
    for (case, operation) in cases.iter().zip(operations) {
        report.step(&case.name);
        let run = |operation: Box<dyn Operation>| {
            if job::memory(operation.as_ref(), case.work.item_count(case.n))? > gpu.about.memory {
                return Err(Error::Allocation("more than the device has".into()));
            }
            let job = Job::new(&gpu.context, &mut sources, case.clone(), operation)?;
            let samples = timer.measure(&job)?;
            let output = args.verifies(case.n).then(|| job.output()).transpose()?;
            let passes = if args.passes { timer.measure_passes(&job)? } else { Vec::new() };
            Ok((samples, passes, output))
        };
        match operation.and_then(run) {
            Ok((samples, passes, output)) => {
                report.case(case, &samples, &passes);
                if let Some(output) = output {
                    output.remark().into_iter().for_each(|remark| report.comment(&remark));
                    verifier.start(move || output.check());
                }
            }
            // Memory is smaller than the largest counts, and so are the limits of some formats.
            Err(why @ (Error::Allocation(_) | Error::TooLarge { .. })) => {
                report.comment(&format!("{} {} left out: {why}", case.name, case.n));
            }
            Err(error) => return Err(error).with_context(|| format!("{} {}", case.name, case.n)),
        }
        report.stepped();
    }

    if args.stats {
        let stats = PipelineStats::query(gpu, &library)?;
        if stats.is_empty() {
            report.comment("the driver keeps no statistics of pipelines");
        }
        stats.iter().for_each(|stats| report.comment(&stats.line()));
        report.keep("pipelines", stats.iter().map(PipelineStats::json).collect());
    }
    let (right, wrong) = verifier.finish();
    wrong.iter().for_each(|what| report.comment(&format!("WRONG {what}")));
    report.comment(&format!("{right} of {} cases verified, {} wrong", cases.len(), wrong.len()));
    report.keep("verified", json!({ "right": right, "wrong": wrong }));
    let record = report.finish();
    if let Some(path) = &args.json {
        std::fs::write(path, record).with_context(|| path.display().to_string())?;
    }
    anyhow::ensure!(wrong.is_empty(), "{} wrong outputs", wrong.len());
    Ok(())
}
