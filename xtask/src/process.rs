//! Children in process groups of their own, so that one that hangs goes with all that it started.

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::{
    fs::File,
    os::unix::process::CommandExt,
    process::{Child, Command, ExitStatus, Stdio},
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

/// Whether someone wants this program to end. A group of its own does not get the terminal's Ctrl-C, so it is passed on.
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

/// Runs a command with both its outputs appended to `log`; `tick` is called while it runs and may end it with an error.
pub(crate) fn run_logged(mut command: Command, log: &File, deadline: Instant, mut tick: impl FnMut() -> Result<()>) -> Result<End> {
    let program = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log.try_clone()?);
    let mut child = command.process_group(0).spawn().with_context(|| format!("cannot run {program}"))?;
    let end = wait(&mut child, deadline, &mut tick);
    // What it left running ends with it; most often there is nothing left.
    if let Some(group) = Pid::from_raw(i32::try_from(child.id())?) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    child.wait()?;
    end
}

fn wait(child: &mut Child, deadline: Instant, tick: &mut impl FnMut() -> Result<()>) -> Result<End> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(End::Exited(status));
        }
        if Instant::now() >= deadline {
            return Ok(End::TimedOut);
        }
        tick()?;
        std::thread::sleep(TICK);
    }
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
        let end = run_logged(shell, &log, Instant::now() + Duration::from_millis(300), || Ok(())).unwrap();
        assert!(matches!(end, End::TimedOut));
        let child = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        // Gone, or a zombie that nobody has fetched yet; a busy machine takes a while to end what it has been told to.
        let status = || std::fs::read_to_string(format!("/proc/{}/status", child.trim())).unwrap_or_default();
        let ended = |status: &str| status.is_empty() || status.contains("State:\tZ");
        let patience = Instant::now() + Duration::from_secs(20);
        while !ended(&status()) && Instant::now() < patience {
            std::thread::sleep(TICK);
        }
        assert!(ended(&status()), "{}", status());
    }
}
