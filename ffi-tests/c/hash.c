/* Hash tables from C: each key of an array is counted once, and searches find the first index of each. Then some keys
 * are erased, in a batch with a sort and with a count on the device. A multimap has all indices of each key; they are
 * retrieved from it, and from a larger one that receives its items. */
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

static TrmHasher create_hasher_of(TrmDevice device, TrmHashOperation operation, TrmHashScheme scheme, uint32_t flags)
{
    const TrmHasherCreateInfo info = {
        .sType = TRM_STRUCTURE_TYPE_HASHER_CREATE_INFO,
        .structSize = sizeof info,
        .valueType = TRM_VALUE_TYPE_U32,
        .flags = TRM_HASHER_CREATE_BATCHES_BIT | flags,
        .operation = operation,
        .scheme = scheme,
        .maxCapacity = 4 * CAPACITY,
    };
    TrmHasher hasher;
    CHECK(trmCreateHasher(device, &info, &hasher));
    return hasher;
}

static TrmHasher create_hasher(TrmDevice device, TrmHashOperation operation)
{
    return create_hasher_of(device, operation, TRM_HASH_SCHEME_BUCKETED, 0);
}

static TrmHasher create_multimap_hasher(TrmDevice device, TrmHashOperation operation)
{
    return create_hasher_of(device, operation, TRM_HASH_SCHEME_LINEAR, TRM_HASHER_CREATE_MULTIMAP_BIT);
}

static void wait_for_writes(const Engine *engine)
{
    barrier(engine, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
            VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
}

/* Compares the indices that have been retrieved for the keys from 0 on, less one. */
static void expect_indices(const Buffer *offsets, const Buffer *indices)
{
    static int isThere[COUNT];
    memset(isThere, 0, sizeof isThere);
    expect(offsets->mapped[0] == 0 && offsets->mapped[DISTINCT] == COUNT, "the number of all indices");
    for (uint32_t key = 0; key < DISTINCT; key++) {
        for (uint32_t i = offsets->mapped[key]; i < offsets->mapped[key + 1]; i++) {
            const uint32_t index = indices->mapped[i];
            expect(index < COUNT && key_of(index) == key - 1u, "an index of the key");
            expect(!isThere[index]++, "an index that has been retrieved once");
        }
    }
}

/* Inserts all keys with their indices into a multimap, and its items into a larger one. */
static void run_multimaps(Engine *engine, TrmDevice device, const Buffer *keys, const Buffer *indices)
{
    TrmHasher clear = create_multimap_hasher(device, TRM_HASH_OPERATION_CLEAR);
    TrmHasher insert = create_multimap_hasher(device, TRM_HASH_OPERATION_INSERT);
    TrmHasher count = create_multimap_hasher(device, TRM_HASH_OPERATION_COUNT);
    TrmHasher retrieve = create_multimap_hasher(device, TRM_HASH_OPERATION_RETRIEVE);
    TrmHasher rehash = create_multimap_hasher(device, TRM_HASH_OPERATION_REHASH);
    TrmHasher none;
    const TrmHasherCreateInfo bucketed = {
        .sType = TRM_STRUCTURE_TYPE_HASHER_CREATE_INFO,
        .structSize = sizeof bucketed,
        .flags = TRM_HASHER_CREATE_MULTIMAP_BIT,
    };
    expect(trmCreateHasher(device, &bucketed, &none) == TRM_ERROR_MALFORMED && none == NULL, "a bucketed multimap");

    VkDeviceSize sizes[5];
    CHECK(trmGetHasherTableSize(insert, 2 * COUNT, &sizes[0]));
    CHECK(trmGetHasherTableSize(insert, 4 * CAPACITY, &sizes[1]));
    CHECK(trmGetHasherScratch(insert, COUNT, &sizes[2]));
    CHECK(trmGetHasherScratch(retrieve, DISTINCT, &sizes[3]));
    CHECK(trmGetHasherScratch(rehash, COUNT, &sizes[4]));
    Buffer tables[2] = {create_buffer(engine, sizes[0]), create_buffer(engine, sizes[1])};
    Buffer scratch[3];
    for (int i = 0; i < 3; i++) {
        scratch[i] = create_buffer(engine, sizes[2 + i]);
    }
    Buffer queries = create_buffer(engine, DISTINCT * 4);
    Buffer counts = create_buffer(engine, DISTINCT * 4);
    Buffer words = create_buffer(engine, 5 * 4);
    Buffer offsets[2], values[2];
    for (int i = 0; i < 2; i++) {
        offsets[i] = create_buffer(engine, (DISTINCT + 1) * 4);
        values[i] = create_buffer(engine, COUNT * 4);
    }
    for (uint32_t key = 0; key < DISTINCT; key++) {
        queries.mapped[key] = key - 1u;
    }

    TrmHashInfo cleared = {.sType = TRM_STRUCTURE_TYPE_HASH_INFO, .structSize = sizeof cleared};
    cleared.table = range_of(&tables[0]);
    cleared.capacity = 2 * COUNT;
    TrmHashInfo inserted = cleared;
    inserted.count.max = COUNT;
    inserted.keys = range_of(keys);
    inserted.values = range_of(indices);
    inserted.leftoverCount = words.address;
    inserted.scratch.buffer = scratch[0].handle;
    inserted.scratch.size = scratch[0].size;
    TrmHashInfo counted = cleared;
    counted.count.max = DISTINCT;
    counted.keys = range_of(&queries);
    counted.counts = range_of(&counts);
    TrmHashInfo rehashed = cleared;
    rehashed.table = range_of(&tables[1]);
    rehashed.capacity = 4 * CAPACITY;
    rehashed.source = range_of(&tables[0]);
    rehashed.sourceCapacity = 2 * COUNT;
    rehashed.count.max = COUNT;
    rehashed.status = words.address + 4;
    rehashed.scratch.buffer = scratch[2].handle;
    rehashed.scratch.size = scratch[2].size;
    TrmHashInfo retrieved[2];
    for (int i = 0; i < 2; i++) {
        retrieved[i] = counted;
        retrieved[i].table = range_of(&tables[i]);
        retrieved[i].capacity = i == 0 ? 2 * COUNT : 4 * CAPACITY;
        retrieved[i].offsets = range_of(&offsets[i]);
        retrieved[i].valuesOut = range_of(&values[i]);
        retrieved[i].maxValues = i == 0 ? COUNT - 1 : COUNT;
        retrieved[i].countOut = words.address + 8;
        retrieved[i].status = words.address + 12 + 4 * (VkDeviceAddress)i;
        retrieved[i].scratch.buffer = scratch[1].handle;
        retrieved[i].scratch.size = scratch[1].size;
    }
    values[0].mapped[COUNT - 1] = 0xdeadbeefu;

    begin(engine);
    CHECK(trmCmdHash(engine->commands, clear, &cleared));
    wait_for_writes(engine);
    CHECK(trmCmdHash(engine->commands, insert, &inserted));
    wait_for_writes(engine);
    CHECK(trmCmdHash(engine->commands, count, &counted));
    CHECK(trmCmdHash(engine->commands, retrieve, &retrieved[0]));
    CHECK(trmCmdHash(engine->commands, rehash, &rehashed));
    wait_for_writes(engine);
    CHECK(trmCmdHash(engine->commands, retrieve, &retrieved[1]));
    barrier(engine, VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    submit_and_wait(engine);

    expect(words.mapped[0] == 0 && words.mapped[1] == 0 && words.mapped[2] == COUNT, "all items are in both tables");
    expect(words.mapped[3] == TRM_STATUS_OUTPUT_CLAMPED && words.mapped[4] == 0, "the room of the first retrieval");
    expect(values[0].mapped[COUNT - 1] == 0xdeadbeefu, "an index without room");
    expect(memcmp(offsets[0].mapped, offsets[1].mapped, (DISTINCT + 1) * 4) == 0, "the same offsets");
    for (uint32_t key = 0; key < DISTINCT; key++) {
        const uint32_t number = offsets[1].mapped[key + 1] - offsets[1].mapped[key];
        expect(counts.mapped[key] == number, "the number of indices");
    }
    expect_indices(&offsets[1], &values[1]);
    CHECK(trmCheckHasherTable(insert, 4 * CAPACITY, tables[1].mapped, sizes[1]));

    for (int i = 0; i < 2; i++) {
        destroy_buffer(engine, &values[i]);
        destroy_buffer(engine, &offsets[i]);
        destroy_buffer(engine, &tables[i]);
    }
    for (int i = 0; i < 3; i++) {
        destroy_buffer(engine, &scratch[i]);
    }
    destroy_buffer(engine, &words);
    destroy_buffer(engine, &counts);
    destroy_buffer(engine, &queries);
    const TrmHasher all[] = {clear, insert, count, retrieve, rehash};
    for (int i = 0; i < 5; i++) {
        trmDestroyHasher(all[i]);
    }
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
    run_multimaps(&engine, device, &keys, &indices);
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
