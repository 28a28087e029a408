/* Merges from C, each against one on the host: pairs, indices alone, and a batch of a sort, a split and a merge with a
 * count on the device. */
#include "../../examples/c/engine.h"

#define COUNT_A 20000u
#define COUNT_B 3000u
#define FEWER_B 1234u
#define COUNT (COUNT_A + COUNT_B)

static void expect(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

/* Sorted sequences with equal keys in each and in both. */
static uint32_t key_a(uint32_t index)
{
    return index / 4;
}

static uint32_t key_b(uint32_t index)
{
    return index * 5 / 3;
}

static uint32_t unsorted(uint32_t index)
{
    return index * 2654435761u >> 8;
}

static uint32_t expected_keys[COUNT];
/* Indices in the sequences, with TRM_SOURCE_B in those of B. */
static uint32_t expected_indices[COUNT];

/* What the merge of A with the first countB items of B must be; returns the number of items. */
static uint32_t merge_on_host(uint32_t countB)
{
    uint32_t a = 0, b = 0;
    while (a < COUNT_A || b < countB) {
        const int is_b = a == COUNT_A || (b < countB && key_b(b) < key_a(a));
        expected_keys[a + b] = is_b ? key_b(b) : key_a(a);
        expected_indices[a + b] = is_b ? b | TRM_SOURCE_B : a;
        b += is_b ? 1 : 0;
        a += is_b ? 0 : 1;
    }
    return a + b;
}

static int same(const Buffer *buffer, const uint32_t *expected, uint32_t count)
{
    return memcmp(buffer->mapped, expected, count * sizeof *expected) == 0;
}

static TrmRange range_of(const Buffer *buffer)
{
    const TrmRange range = {buffer->address, buffer->size};
    return range;
}

int main(void)
{
    Engine engine;
    create_engine(&engine);
    const TrmDeviceCreateInfo deviceInfo = library_info(&engine);
    TrmDevice device;
    CHECK(trmCreateDevice(&deviceInfo, &device));
    const TrmMergerCreateInfo pairsInfo = {
        .sType = TRM_STRUCTURE_TYPE_MERGER_CREATE_INFO,
        .structSize = sizeof pairsInfo,
        .valueType = TRM_VALUE_TYPE_U32,
        .flags = TRM_MERGER_CREATE_BATCHES_BIT,
    };
    const TrmMergerCreateInfo indicesInfo = {
        .sType = TRM_STRUCTURE_TYPE_MERGER_CREATE_INFO,
        .structSize = sizeof indicesInfo,
        .valueType = TRM_VALUE_TYPE_INDEX,
        .flags = TRM_MERGER_CREATE_DROP_KEYS_BIT,
    };
    const TrmSorterCreateInfo sorterInfo = {
        .sType = TRM_STRUCTURE_TYPE_SORTER_CREATE_INFO,
        .structSize = sizeof sorterInfo,
        .flags = TRM_SORTER_CREATE_BATCHES_BIT,
    };
    const TrmSplitterCreateInfo splitterInfo = {
        .sType = TRM_STRUCTURE_TYPE_SPLITTER_CREATE_INFO,
        .structSize = sizeof splitterInfo,
        .flags = TRM_SPLITTER_CREATE_BATCHES_BIT,
        .bucketCount = 2,
    };
    TrmMerger pairs, indices;
    TrmSorter sorter;
    TrmSplitter splitter;
    CHECK(trmCreateMerger(device, &pairsInfo, &pairs));
    CHECK(trmCreateMerger(device, &indicesInfo, &indices));
    CHECK(trmCreateSorter(device, &sorterInfo, &sorter));
    CHECK(trmCreateSplitter(device, &splitterInfo, &splitter));

    Buffer keysA = create_buffer(&engine, COUNT_A * 4);
    Buffer valuesA = create_buffer(&engine, COUNT_A * 4);
    Buffer keysB = create_buffer(&engine, COUNT_B * 4);
    Buffer valuesB = create_buffer(&engine, COUNT_B * 4);
    Buffer deviceCount = create_buffer(&engine, 4);
    Buffer toSort = create_buffer(&engine, COUNT_A * 4);
    Buffer toSplit = create_buffer(&engine, COUNT_A * 4);
    Buffer split = create_buffer(&engine, COUNT_A * 4);
    Buffer status = create_buffer(&engine, 4);
    for (uint32_t i = 0; i < COUNT_A; i++) {
        keysA.mapped[i] = key_a(i);
        valuesA.mapped[i] = i;
        toSort.mapped[i] = toSplit.mapped[i] = unsorted(i);
    }
    for (uint32_t i = 0; i < COUNT_B; i++) {
        keysB.mapped[i] = key_b(i);
        valuesB.mapped[i] = i | TRM_SOURCE_B;
    }
    deviceCount.mapped[0] = FEWER_B;
    status.mapped[0] = 77;

    /* 0: pairs. 1: the same in a batch, with as many items of B as the device says. 2: indices alone. */
    TrmMergeInfo merge[3];
    Buffer keysOut[3], valuesOut[3];
    memset(merge, 0, sizeof merge);
    for (int i = 0; i < 3; i++) {
        keysOut[i] = create_buffer(&engine, COUNT * 4);
        valuesOut[i] = create_buffer(&engine, COUNT * 4);
        merge[i].sType = TRM_STRUCTURE_TYPE_MERGE_INFO;
        merge[i].structSize = sizeof merge[i];
        merge[i].countA.max = COUNT_A;
        merge[i].countB.max = COUNT_B;
        merge[i].keysA = range_of(&keysA);
        merge[i].keysB = range_of(&keysB);
        merge[i].valuesOut = range_of(&valuesOut[i]);
    }
    for (int i = 0; i < 2; i++) {
        merge[i].valuesA = range_of(&valuesA);
        merge[i].valuesB = range_of(&valuesB);
        merge[i].keysOut = range_of(&keysOut[i]);
    }
    merge[1].merger = pairs;
    merge[1].countB.address = deviceCount.address;
    merge[1].status = status.address;
    const TrmSortInfo sortInfo = {
        .sType = TRM_STRUCTURE_TYPE_SORT_INFO,
        .structSize = sizeof sortInfo,
        .sorter = sorter,
        .count = {.max = COUNT_A},
        .keys = range_of(&toSort),
    };
    const TrmSplitInfo splitInfo = {
        .sType = TRM_STRUCTURE_TYPE_SPLIT_INFO,
        .structSize = sizeof splitInfo,
        .splitter = splitter,
        .count = {.max = COUNT_A},
        .keys = range_of(&toSplit),
        .keysOut = range_of(&split),
    };
    const TrmInfoHeader *const all[] = {
        (const TrmInfoHeader *)&sortInfo,
        (const TrmInfoHeader *)&splitInfo,
        (const TrmInfoHeader *)&merge[1],
    };
    TrmBatchInfo batch = {
        .sType = TRM_STRUCTURE_TYPE_BATCH_INFO,
        .structSize = sizeof batch,
        .infoCount = 3,
        .infos = all,
    };

    VkDeviceSize sizes[3];
    CHECK(trmGetMergerScratch(pairs, COUNT, &sizes[0]));
    CHECK(trmGetBatchScratch(&batch, &sizes[1]));
    CHECK(trmGetMergerScratch(indices, COUNT, &sizes[2]));
    Buffer scratch[3];
    for (int i = 0; i < 3; i++) {
        /* Small merges need no scratch, but Vulkan has no empty buffers. */
        scratch[i] = create_buffer(&engine, sizes[i] == 0 ? 4 : sizes[i]);
        merge[i].scratch.buffer = scratch[i].handle;
        merge[i].scratch.size = scratch[i].size;
    }
    batch.scratch = merge[1].scratch;

    begin(&engine);
    CHECK(trmCmdMerge(engine.commands, pairs, &merge[0]));
    CHECK(trmCmdBatch(engine.commands, &batch));
    CHECK(trmCmdMerge(engine.commands, indices, &merge[2]));
    barrier(&engine, VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    submit_and_wait(&engine);

    const uint32_t fewer = merge_on_host(FEWER_B);
    expect(same(&keysOut[1], expected_keys, fewer), "keys in a batch");
    expect(same(&valuesOut[1], expected_indices, fewer), "values in a batch");
    expect(status.mapped[0] == 0, "status");
    for (uint32_t i = fewer; i < COUNT; i++) {
        expect(keysOut[1].mapped[i] == 0 && valuesOut[1].mapped[i] == 0, "written past the count");
    }
    const uint32_t count = merge_on_host(COUNT_B);
    expect(count == COUNT, "the host merges all");
    expect(same(&keysOut[0], expected_keys, count), "keys");
    expect(same(&valuesOut[0], expected_indices, count), "values");
    expect(same(&valuesOut[2], expected_indices, count), "indices");
    for (uint32_t i = 1; i < COUNT_A; i++) {
        expect(toSort.mapped[i - 1] <= toSort.mapped[i], "the sort of the batch");
        expect((split.mapped[i - 1] & 1) <= (split.mapped[i] & 1), "the split of the batch");
    }
    printf("%u items merged, 0 wrong\n", COUNT);

    for (int i = 0; i < 3; i++) {
        destroy_buffer(&engine, &scratch[i]);
        destroy_buffer(&engine, &valuesOut[i]);
        destroy_buffer(&engine, &keysOut[i]);
    }
    destroy_buffer(&engine, &status);
    destroy_buffer(&engine, &split);
    destroy_buffer(&engine, &toSplit);
    destroy_buffer(&engine, &toSort);
    destroy_buffer(&engine, &deviceCount);
    destroy_buffer(&engine, &valuesB);
    destroy_buffer(&engine, &keysB);
    destroy_buffer(&engine, &valuesA);
    destroy_buffer(&engine, &keysA);
    trmDestroySplitter(splitter);
    trmDestroySorter(sorter);
    trmDestroyMerger(indices);
    trmDestroyMerger(pairs);
    trmDestroyDevice(device);
    destroy_engine(&engine);
    return 0;
}
