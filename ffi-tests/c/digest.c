/* The case that every language sorts, splits and merges (see package.rs). Prints a digest of the sorted items, the
 * split items, the bucket offsets, and the sorted items merged with their last ones. */
#include "../../examples/c/engine.h"

#define COUNT 20000u
#define BUCKETS 5u
#define LAST 5000u

/* Fowler, Noll and Vo's hash (FNV-1a), a word at a time. */
static uint64_t digest_of(uint64_t digest, const uint32_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
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
    const TrmSplitterCreateInfo splitterInfo = {
        .sType = TRM_STRUCTURE_TYPE_SPLITTER_CREATE_INFO,
        .structSize = sizeof splitterInfo,
        .valueType = TRM_VALUE_TYPE_U32,
        .bucketCount = BUCKETS,
        .beginBit = 7,
    };
    TrmSplitter splitter;
    CHECK(trmCreateSplitter(device, &splitterInfo, &splitter));
    const TrmMergerCreateInfo mergerInfo = {
        .sType = TRM_STRUCTURE_TYPE_MERGER_CREATE_INFO,
        .structSize = sizeof mergerInfo,
        .valueType = TRM_VALUE_TYPE_U32,
    };
    TrmMerger merger;
    CHECK(trmCreateMerger(device, &mergerInfo, &merger));
    VkDeviceSize scratchSize, splitScratchSize, mergeScratchSize;
    CHECK(trmGetSorterScratch(sorter, COUNT, &scratchSize));
    CHECK(trmGetSplitterScratch(splitter, COUNT, &splitScratchSize));
    CHECK(trmGetMergerScratch(merger, COUNT + LAST, &mergeScratchSize));
    scratchSize = scratchSize < splitScratchSize ? splitScratchSize : scratchSize;
    scratchSize = scratchSize < mergeScratchSize ? mergeScratchSize : scratchSize;
    Buffer keys = create_buffer(&engine, COUNT * sizeof(uint32_t));
    Buffer values = create_buffer(&engine, COUNT * sizeof(uint32_t));
    Buffer keysOut = create_buffer(&engine, COUNT * sizeof(uint32_t));
    Buffer valuesOut = create_buffer(&engine, COUNT * sizeof(uint32_t));
    Buffer offsets = create_buffer(&engine, (BUCKETS + 1) * sizeof(uint32_t));
    Buffer keysMerged = create_buffer(&engine, (COUNT + LAST) * sizeof(uint32_t));
    Buffer valuesMerged = create_buffer(&engine, (COUNT + LAST) * sizeof(uint32_t));
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
    barrier(&engine, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
            VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
    const TrmSplitInfo splitInfo = {
        .sType = TRM_STRUCTURE_TYPE_SPLIT_INFO,
        .structSize = sizeof splitInfo,
        .count = {.max = COUNT},
        .keys = {keys.address, keys.size},
        .values = {values.address, values.size},
        .keysOut = {keysOut.address, keysOut.size},
        .valuesOut = {valuesOut.address, valuesOut.size},
        .offsets = {offsets.address, offsets.size},
        .scratch = {scratch.handle, 0, scratch.size},
    };
    CHECK(trmCmdSplit(engine.commands, splitter, &splitInfo));
    barrier(&engine, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
            VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
    const VkDeviceSize first = (COUNT - LAST) * sizeof(uint32_t);
    const TrmMergeInfo mergeInfo = {
        .sType = TRM_STRUCTURE_TYPE_MERGE_INFO,
        .structSize = sizeof mergeInfo,
        .countA = {.max = COUNT},
        .countB = {.max = LAST},
        .keysA = {keys.address, keys.size},
        .valuesA = {values.address, values.size},
        .keysB = {keys.address + first, keys.size - first},
        .valuesB = {values.address + first, values.size - first},
        .keysOut = {keysMerged.address, keysMerged.size},
        .valuesOut = {valuesMerged.address, valuesMerged.size},
        .scratch = {scratch.handle, 0, scratch.size},
    };
    CHECK(trmCmdMerge(engine.commands, merger, &mergeInfo));
    barrier(&engine, VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    submit_and_wait(&engine);
    uint64_t digest = digest_of(digest_of(0xcbf29ce484222325u, keys.mapped, COUNT), values.mapped, COUNT);
    digest = digest_of(digest_of(digest, keysOut.mapped, COUNT), valuesOut.mapped, COUNT);
    digest = digest_of(digest, offsets.mapped, BUCKETS + 1);
    digest = digest_of(digest_of(digest, keysMerged.mapped, COUNT + LAST), valuesMerged.mapped, COUNT + LAST);
    printf("%016llx\n", (unsigned long long)digest);

    destroy_buffer(&engine, &scratch);
    destroy_buffer(&engine, &valuesMerged);
    destroy_buffer(&engine, &keysMerged);
    destroy_buffer(&engine, &offsets);
    destroy_buffer(&engine, &valuesOut);
    destroy_buffer(&engine, &keysOut);
    destroy_buffer(&engine, &values);
    destroy_buffer(&engine, &keys);
    trmDestroyMerger(merger);
    trmDestroySplitter(splitter);
    trmDestroySorter(sorter);
    trmDestroyDevice(device);
    destroy_engine(&engine);
    return 0;
}
