/*
 * A sort in an engine's own command buffer: a dispatch generates items, trommel sorts them by key, another dispatch
 * checks them. The host waits once, at the end.
 */
#include "engine.h"

#define COUNT 100000u

int main(void)
{
    Engine engine;
    create_engine(&engine);

    /* Once: the library's handle on the engine's device, and a sorter of keys with values. */
    const TrmDeviceCreateInfo deviceInfo = library_info(&engine);
    TrmDevice device;
    CHECK(trmCreateDevice(&deviceInfo, &device));
    const TrmSorterCreateInfo sorterInfo = {
        .sType = TRM_STRUCTURE_TYPE_SORTER_CREATE_INFO,
        .structSize = sizeof sorterInfo,
        .keyType = TRM_KEY_TYPE_U32,
        .valueType = TRM_VALUE_TYPE_U32,
    };
    TrmSorter sorter;
    CHECK(trmCreateSorter(device, &sorterInfo, &sorter));

    /* The engine allocates all memory, including scratch. */
    VkDeviceSize scratchSize;
    CHECK(trmGetSorterScratch(sorter, COUNT, &scratchSize));
    Buffer keys = create_buffer(&engine, COUNT * sizeof(uint32_t));
    Buffer values = create_buffer(&engine, COUNT * sizeof(uint32_t));
    Buffer faults = create_buffer(&engine, sizeof(uint32_t));
    Buffer scratch = create_buffer(&engine, scratchSize);

    /* Every frame. */
    begin(&engine);
    const Args args = {keys.address, values.address, faults.address, COUNT};
    dispatch(&engine, engine.generate, &args);
    barrier(&engine, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
            VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
    const TrmSortInfo sortInfo = {
        .sType = TRM_STRUCTURE_TYPE_SORT_INFO,
        .structSize = sizeof sortInfo,
        .count = {.max = COUNT},
        .keys = {keys.address, keys.size},
        .values = {values.address, values.size},
        .scratch = {scratch.handle, 0, scratch.size},
    };
    CHECK(trmCmdSort(engine.commands, sorter, &sortInfo));
    barrier(&engine, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_STORAGE_READ_BIT);
    dispatch(&engine, engine.check, &args);
    barrier(&engine, VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    submit_and_wait(&engine);

    uint32_t wrong = faults.mapped[0];
    for (uint32_t i = 1; i < COUNT; i++) {
        wrong += keys.mapped[i - 1] > keys.mapped[i];
    }
    printf("%u pairs sorted, %u wrong, keys %u to %u\n", COUNT, (unsigned)wrong, (unsigned)keys.mapped[0],
           (unsigned)keys.mapped[COUNT - 1]);

    destroy_buffer(&engine, &scratch);
    destroy_buffer(&engine, &faults);
    destroy_buffer(&engine, &values);
    destroy_buffer(&engine, &keys);
    trmDestroySorter(sorter);
    trmDestroyDevice(device);
    destroy_engine(&engine);
    return wrong == 0 ? 0 : 1;
}
