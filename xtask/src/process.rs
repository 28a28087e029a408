//! Children in process groups of their own, so that one that hangs goes with all that it started.

use anyhow::{Context, Result, bail};
use rustix::{
    param::clock_ticks_per_second,
    process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid},
};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::{
    fs::{self, File},
    os::unix::process::CommandExt,
    process::{Command, ExitStatus, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// How often a running child is looked at.
const TICK: Duration = Duration::from_millis(50);

/// How a child ended.
pub(crate) enum End {
    Exited(ExitStatus),
    TimedOut,
}

/// Whether someone wants this program to end. A group of its own does not get the terminal's Ctrl-C, so it is passed
/// on.
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    pub(crate) fn watch() -> Result<Self> {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register(signal, flag.clone())?;
        }
        Ok(Self(flag))
    }

    /// An error once it is so.
    pub(crate) fn check(&self) -> Result<()> {
        if self.0.load(Ordering::Relaxed) {
            bail!("interrupted");
        }
        Ok(())
    }
}

/// A child that has ended.
pub(crate) struct Ended {
    pub(crate) end: End,
    /// CPU time of the child and of all descendants that were waited for. Those of a child that timed out were not.
    pub(crate) cpu: Duration,
}

/// Runs a command with both its outputs appended to `log`; `tick` is called while it runs and may end it with an error.
pub(crate) fn run_logged(
    mut command: Command,
    log: &File,
    deadline: Instant,
    mut tick: impl FnMut() -> Result<()>,
) -> Result<Ended> {
    let program = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log.try_clone()?);
    let mut child = command.process_group(0).spawn().with_context(|| format!("cannot run {program}"))?;
    let pid = Pid::from_child(&child);
    let exited = wait(pid, deadline, &mut tick);
    let cpu = cpu_time(pid);
    // What it left running ends with it; most often there is nothing left.
    let _ = kill_process_group(pid, Signal::KILL);
    let status = child.wait()?;
    Ok(Ended { end: if exited? { End::Exited(status) } else { End::TimedOut }, cpu })
}

/// Whether the child exits before the deadline. It stays a zombie, so that its CPU time can be read.
fn wait(pid: Pid, deadline: Instant, tick: &mut impl FnMut() -> Result<()>) -> Result<bool> {
    let exited = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    loop {
        if waitid(WaitId::Pid(pid), exited)?.is_some() {
            return Ok(true);
        }
        if Instant::now() >= deadline {
            return Ok(false);
        }
        tick()?;
        std::thread::sleep(TICK);
    }
}

/// User and system time of a child and its descendants; zero where /proc does not say.
fn cpu_time(pid: Pid) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    // The second field is the program's name in parentheses, which may contain anything. The times are fields 14 to 17.
    let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
    let ticks: u64 = fields.split(' ').skip(11).take(4).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_secs(ticks) / u32::try_from(clock_ticks_per_second()).unwrap_or(100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hangs_is_ended_with_its_children() {
        let path = std::env::temp_dir().join(format!("trommel-xtask-{}.log", std::process::id()));
        let log = File::create(&path).unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", "sleep 60 & echo $!; wait"]);
        let ended = run_logged(shell, &log, Instant::now() + Duration::from_millis(300), || Ok(())).unwrap();
        assert!(matches!(ended.end, End::TimedOut));
        let child = fs::read_to_string(&path).unwrap();
        fs::remove_file(&path).unwrap();
        // Gone, or a zombie that nobody has fetched yet; a busy machine takes a while to end it.
        let status = || fs::read_to_string(format!("/proc/{}/status", child.trim())).unwrap_or_default();
        let gone = |status: &str| status.is_empty() || status.contains("State:\tZ");
        let patience = Instant::now() + Duration::from_secs(20);
        while !gone(&status()) && Instant::now() < patience {
            std::thread::sleep(TICK);
        }
        assert!(gone(&status()), "{}", status());
    }

    #[test]
    fn cpu_time_of_descendants_counts() {
        let log = File::create("/dev/null").unwrap();
        let mut shell = Command::new("sh");
        // A grandchild that computes, then 0.3 s in which nothing does.
        shell.args(["-c", "sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; sleep 0.3"]);
        let start = Instant::now();
        let ended = run_logged(shell, &log, start + Duration::from_secs(60), || Ok(())).unwrap();
        assert!(matches!(ended.end, End::Exited(status) if status.success()));
        assert!(ended.cpu >= Duration::from_millis(20), "{:?}", ended.cpu);
        assert!(ended.cpu + Duration::from_millis(200) < start.elapsed(), "{:?}", ended.cpu);
    }
}
