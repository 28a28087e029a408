/* The case that every language sorts (see package.rs): prints a digest of keys and values, sorted. */
#include "../../examples/c/engine.h"

#define COUNT 20000u

/* Fowler, Noll and Vo's hash (FNV-1a), a word at a time. */
static uint64_t digest_of(uint64_t digest, const uint32_t *words)
{
    for (uint32_t i = 0; i < COUNT; i++) {
        digest = (digest ^ words[i]) * 0x100000001b3u;
    }
    return digest;
}

int main(void)
{
    Engine engine;
    create_engine(&engine);
    const TrmDeviceCreateInfo deviceInfo = library_info(&engine);
    TrmDevice device;
    CHECK(trmCreateDevice(&deviceInfo, &device));
    const TrmSorterCreateInfo sorterInfo = {
        .sType = TRM_STRUCTURE_TYPE_SORTER_CREATE_INFO,
        .structSize = sizeof sorterInfo,
        .valueType = TRM_VALUE_TYPE_U32,
    };
    TrmSorter sorter;
    CHECK(trmCreateSorter(device, &sorterInfo, &sorter));
    VkDeviceSize scratchSize;
    CHECK(trmGetSorterScratch(sorter, COUNT, &scratchSize));
    Buffer keys = create_buffer(&engine, COUNT * sizeof(uint32_t));
    Buffer values = create_buffer(&engine, COUNT * sizeof(uint32_t));
    Buffer scratch = create_buffer(&engine, scratchSize);
    for (uint32_t i = 0; i < COUNT; i++) {
        keys.mapped[i] = (i * 2654435761u >> 20) * 0x00080401u;
        values.mapped[i] = i;
    }

    begin(&engine);
    const TrmSortInfo sortInfo = {
        .sType = TRM_STRUCTURE_TYPE_SORT_INFO,
        .structSize = sizeof sortInfo,
        .count = {.max = COUNT},
        .keys = {keys.address, keys.size},
        .values = {values.address, values.size},
        .scratch = {scratch.handle, 0, scratch.size},
    };
    CHECK(trmCmdSort(engine.commands, sorter, &sortInfo));
    barrier(&engine, VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    submit_and_wait(&engine);
    printf("%016llx\n", (unsigned long long)digest_of(digest_of(0xcbf29ce484222325u, keys.mapped), values.mapped));

    destroy_buffer(&engine, &scratch);
    destroy_buffer(&engine, &values);
    destroy_buffer(&engine, &keys);
    trmDestroySorter(sorter);
    trmDestroyDevice(device);
    destroy_engine(&engine);
    return 0;
}
