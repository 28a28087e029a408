/* Hash tables from C: each key of an array is counted once, and searches find the first index of each. Then some keys
 * are erased, in a batch with a sort and with a count on the device. */
#include "../../examples/c/engine.h"

#define COUNT 20000u
#define DISTINCT 6000u
#define CAPACITY 10000u
#define ERASED 1234u
#define BITS_WORDS ((COUNT + 31u) / 32u)

static void expect(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

/* One of DISTINCT keys, the key of all ones among them. */
static uint32_t key_of(uint32_t index)
{
    return ~(index * 2654435761u >> 8) % DISTINCT - 1u;
}

static TrmRange range_of(const Buffer *buffer)
{
    const TrmRange range = {buffer->address, buffer->size};
    return range;
}

static int has_bit(const Buffer *bits, uint32_t index)
{
    return (int)(bits->mapped[index / 32] >> index % 32 & 1);
}

static TrmHasher create_hasher(TrmDevice device, TrmHashOperation operation)
{
    const TrmHasherCreateInfo info = {
        .sType = TRM_STRUCTURE_TYPE_HASHER_CREATE_INFO,
        .structSize = sizeof info,
        .valueType = TRM_VALUE_TYPE_U32,
        .flags = TRM_HASHER_CREATE_BATCHES_BIT,
        .operation = operation,
        .maxCapacity = CAPACITY,
    };
    TrmHasher hasher;
    CHECK(trmCreateHasher(device, &info, &hasher));
    return hasher;
}

static void wait_for_writes(const Engine *engine)
{
    barrier(engine, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
            VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
}

int main(void)
{
    Engine engine;
    create_engine(&engine);
    const TrmDeviceCreateInfo deviceInfo = library_info(&engine);
    TrmDevice device;
    CHECK(trmCreateDevice(&deviceInfo, &device));
    TrmHasher clear = create_hasher(device, TRM_HASH_OPERATION_CLEAR);
    TrmHasher insert = create_hasher(device, TRM_HASH_OPERATION_INSERT);
    TrmHasher erase = create_hasher(device, TRM_HASH_OPERATION_ERASE);
    TrmHasher find = create_hasher(device, TRM_HASH_OPERATION_FIND);
    const TrmSorterCreateInfo sorterInfo = {
        .sType = TRM_STRUCTURE_TYPE_SORTER_CREATE_INFO,
        .structSize = sizeof sorterInfo,
        .flags = TRM_SORTER_CREATE_BATCHES_BIT,
    };
    TrmSorter sorter;
    CHECK(trmCreateSorter(device, &sorterInfo, &sorter));

    VkDeviceSize tableSize, scratchSize, batchScratchSize;
    CHECK(trmGetHasherTableSize(find, CAPACITY, &tableSize));
    CHECK(trmGetHasherScratch(insert, COUNT, &scratchSize));
    Buffer table = create_buffer(&engine, tableSize);
    Buffer keys = create_buffer(&engine, COUNT * 4);
    Buffer indices = create_buffer(&engine, COUNT * 4);
    Buffer toSort = create_buffer(&engine, COUNT * 4);
    Buffer deviceCount = create_buffer(&engine, 4);
    Buffer leftoverCount = create_buffer(&engine, 4);
    Buffer status = create_buffer(&engine, 4);
    Buffer values[2], found[2];
    for (int i = 0; i < 2; i++) {
        values[i] = create_buffer(&engine, COUNT * 4);
        found[i] = create_buffer(&engine, BITS_WORDS * 4);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        keys.mapped[i] = toSort.mapped[i] = key_of(i);
        indices.mapped[i] = i;
    }
    deviceCount.mapped[0] = ERASED;
    leftoverCount.mapped[0] = status.mapped[0] = 77;

    TrmHashInfo cleared = {.sType = TRM_STRUCTURE_TYPE_HASH_INFO, .structSize = sizeof cleared};
    cleared.table = range_of(&table);
    cleared.capacity = CAPACITY;
    TrmHashInfo inserted = cleared;
    inserted.count.max = COUNT;
    inserted.keys = range_of(&keys);
    inserted.values = range_of(&indices);
    inserted.leftoverCount = leftoverCount.address;
    inserted.status = status.address;
    TrmHashInfo erased = cleared;
    erased.hasher = erase;
    erased.count.max = COUNT;
    erased.count.address = deviceCount.address;
    erased.keys = range_of(&keys);
    TrmHashInfo searched[2];
    for (int i = 0; i < 2; i++) {
        searched[i] = cleared;
        searched[i].count.max = COUNT;
        searched[i].keys = range_of(&keys);
        searched[i].values = range_of(&values[i]);
        searched[i].found = range_of(&found[i]);
    }
    const TrmSortInfo sortInfo = {
        .sType = TRM_STRUCTURE_TYPE_SORT_INFO,
        .structSize = sizeof sortInfo,
        .sorter = sorter,
        .count = {.max = COUNT},
        .keys = range_of(&toSort),
    };
    const TrmInfoHeader *const both[] = {(const TrmInfoHeader *)&sortInfo, (const TrmInfoHeader *)&erased};
    TrmBatchInfo batch = {
        .sType = TRM_STRUCTURE_TYPE_BATCH_INFO,
        .structSize = sizeof batch,
        .infoCount = 2,
        .infos = both,
    };
    CHECK(trmGetBatchScratch(&batch, &batchScratchSize));
    Buffer scratch = create_buffer(&engine, scratchSize);
    Buffer batchScratch = create_buffer(&engine, batchScratchSize);
    inserted.scratch.buffer = scratch.handle;
    inserted.scratch.size = scratch.size;
    batch.scratch.buffer = batchScratch.handle;
    batch.scratch.size = batchScratch.size;

    begin(&engine);
    CHECK(trmCmdHash(engine.commands, clear, &cleared));
    wait_for_writes(&engine);
    CHECK(trmCmdHash(engine.commands, insert, &inserted));
    wait_for_writes(&engine);
    CHECK(trmCmdHash(engine.commands, find, &searched[0]));
    wait_for_writes(&engine);
    CHECK(trmCmdBatch(engine.commands, &batch));
    wait_for_writes(&engine);
    CHECK(trmCmdHash(engine.commands, find, &searched[1]));
    barrier(&engine, VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    submit_and_wait(&engine);

    static uint32_t first[DISTINCT];
    static int isErased[DISTINCT];
    memset(first, 0xff, sizeof first);
    for (uint32_t i = COUNT; i-- != 0;) {
        first[key_of(i) + 1u] = i;
    }
    for (uint32_t i = 0; i < ERASED; i++) {
        isErased[key_of(i) + 1u] = 1;
    }
    expect(leftoverCount.mapped[0] == 0 && status.mapped[0] == 0, "keys are left over");
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint32_t key = key_of(i) + 1u;
        expect(has_bit(&found[0], i) && values[0].mapped[i] == first[key], "a key that has been inserted");
        expect(has_bit(&found[1], i) == !isErased[key], "a key that has been erased");
        expect(values[1].mapped[i] == (isErased[key] ? 0xffffffffu : first[key]), "its value");
        expect(i == 0 || toSort.mapped[i - 1] <= toSort.mapped[i], "the sort of the batch");
    }
    printf("%u keys inserted and found, 0 wrong\n", COUNT);

    destroy_buffer(&engine, &batchScratch);
    destroy_buffer(&engine, &scratch);
    for (int i = 0; i < 2; i++) {
        destroy_buffer(&engine, &found[i]);
        destroy_buffer(&engine, &values[i]);
    }
    destroy_buffer(&engine, &status);
    destroy_buffer(&engine, &leftoverCount);
    destroy_buffer(&engine, &deviceCount);
    destroy_buffer(&engine, &toSort);
    destroy_buffer(&engine, &indices);
    destroy_buffer(&engine, &keys);
    destroy_buffer(&engine, &table);
    trmDestroySorter(sorter);
    trmDestroyHasher(find);
    trmDestroyHasher(erase);
    trmDestroyHasher(insert);
    trmDestroyHasher(clear);
    trmDestroyDevice(device);
    destroy_engine(&engine);
    return 0;
}
