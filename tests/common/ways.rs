//! Problems recorded in unusual ways.

use super::arena::{Arena, Poison, Together, barrier};
use super::problem::Problem;
use super::stranger::Stranger;
use ash::vk;
use trommel::host::Context;

/// Several problems in one command buffer, with a foreign pipeline, layout and push constants in between.
pub(crate) fn run_between_strangers(context: &Context, problems: &[impl Problem]) {
    let stranger = Stranger::new(context);
    let arena = Arena::new(context, problems, Together::Singles, Poison::Random(6));
    let recorded = context.run(|commands| {
        (0..problems.len()).try_for_each(|i| {
            stranger.record(commands);
            arena.record_one(commands, i)?;
            stranger.record(commands);
            barrier(context, commands, problems[i].begins_with_transfer());
            Ok(())
        })
    });
    recorded.expect("the problems are valid");
    arena.check();
}

/// In a secondary command buffer, recorded once and executed twice.
pub(crate) fn run_twice_from_secondary(context: &Context, problems: &[impl Problem]) {
    let vk = context.vk();
    let arena = Arena::new(context, problems, Together::Singles, Poison::Random(7));
    let pool_info = vk::CommandPoolCreateInfo::default().queue_family_index(context.queue_family());
    // SAFETY: the device is alive. The secondary is executable before its execution, and unused when the pool is
    // destroyed.
    unsafe {
        let pool = vk.create_command_pool(&pool_info, None).expect("pool");
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .level(vk::CommandBufferLevel::SECONDARY)
            .command_buffer_count(1);
        let secondary = vk.allocate_command_buffers(&info).expect("command buffer")[0];
        let inheritance = vk::CommandBufferInheritanceInfo::default();
        let begin = vk::CommandBufferBeginInfo::default().inheritance_info(&inheritance);
        vk.begin_command_buffer(secondary, &begin).expect("begin");
        arena.record(secondary, Together::Singles).expect("the problems are valid");
        vk.end_command_buffer(secondary).expect("end");
        for _ in 0..2 {
            arena.reset();
            let run = context.run(|commands| {
                vk.cmd_execute_commands(commands, &[secondary]);
                Ok(())
            });
            run.expect("submission");
            arena.check();
        }
        vk.destroy_command_pool(pool, None);
    }
}
