//! Times the library on a GPU and prints one line a case, in the format of the CUDA peers.

mod args;
mod cases;
mod creation;
mod gpu;
mod inputs;
mod job;
mod kernels;
mod primitives;
mod recording;
mod report;
mod stats;
mod timing;
mod tune;
mod verify;

use anyhow::Context as _;
use args::Args;
use cases::Case;
use clap::Parser as _;
use gpu::Gpu;
use inputs::Sources;
use job::Job;
use primitives::Primitives;
use report::Report;
use serde_json::json;
use stats::PipelineStats;
use timing::Timer;
use trommel::{Error, Profile};
use verify::Verifier;

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
        return recording::measure(&gpu, &gpu.library(&profile)?, &report);
    }
    if args.creation {
        return creation::measure(&args, &gpu, &profile);
    }
    let cases = cases::select(&args.filter, &args.n, gpu.context.device().facts().is_cpu);
    anyhow::ensure!(!cases.is_empty(), "no case is called that; --list names them");
    let mut report = Report::new(cases.len());
    report.device(&gpu);
    let profile = match &args.tune {
        Some(path) => {
            let profile = tune::tune(&gpu, &profile, args.strategy.into(), &mut report)?;
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
    let primitives = Primitives::new(&gpu.context, &library, args, cases, &mut report);
    let mut timer = Timer::new(gpu)?;
    let mut sources = Sources::default();
    let mut verifier = Verifier::default();
    for case in cases {
        report.step(case.name);
        let result = (|| {
            let primitives = primitives.of(case)?;
            if job::memory(case, &primitives)? > gpu.about.memory {
                return Err(Error::Allocation("more than the device has".into()));
            }
            let job = Job::new(&gpu.context, primitives, &mut sources, *case)?;
            let samples = timer.measure(&job)?;
            let output = args.verifies(case.n).then(|| job.output()).transpose()?;
            let passes = if args.passes { timer.measure_passes(&job)? } else { Vec::new() };
            Ok((samples, passes, output))
        })();
        match result {
            Ok((samples, passes, output)) => {
                report.case(case, &samples, &passes);
                output.into_iter().for_each(|output| verifier.take(output));
            }
            // Neither memory nor every format reaches as far as counts do.
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
