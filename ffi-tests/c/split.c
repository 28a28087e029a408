/* Splits from C, each against one on the host: keys alone, pairs with bucket information, a count on the device, and a
 * batch of a sort and a split. With an argument, also a split by tests/kernels/spread.glsl, compiled here or before. */
#include "../../examples/c/engine.h"

#define COUNT 20000u
#define FEWER 12345u
#define BUCKETS 11u
/* Of a field of four bits, where there is one more for keys of no bucket. */
#define BINS (BUCKETS + 1)
#define BEGIN_BIT 5u
#define LOW 0x00400000u
#define WIDTH 0x00123456u
#define GROUP 64u

static void expect(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

static uint32_t key_of(uint32_t index)
{
    return index * 2654435761u >> 8;
}

static uint32_t field(uint32_t key)
{
    const uint32_t value = key >> BEGIN_BIT & 15;
    return value < BUCKETS ? value : BUCKETS;
}

static uint32_t range(uint32_t key)
{
    const uint32_t bucket = key < LOW ? 0 : (key - LOW) / WIDTH;
    return bucket < BUCKETS ? bucket : BUCKETS - 1;
}

/* What the first count pairs must become; returns where each bucket begins, and where the last one ends. */
static void split_on_host(uint32_t (*bucket_of)(uint32_t), uint32_t count, uint32_t *keys, uint32_t *values,
                          uint32_t *offsets)
{
    uint32_t written = 0;
    for (uint32_t bucket = 0; bucket < BINS; bucket++) {
        offsets[bucket] = written;
        for (uint32_t index = 0; index < count; index++) {
            if (bucket_of(key_of(index)) == bucket) {
                keys[written] = key_of(index);
                values[written++] = index;
            }
        }
    }
}

static uint32_t expected_keys[COUNT];
static uint32_t expected_values[COUNT];
static uint32_t expected_offsets[BINS];

static int same(const uint32_t *words, const uint32_t *expected, uint32_t count)
{
    return memcmp(words, expected, count * sizeof *words) == 0;
}

/* A file's bytes and a zero behind them, to be freed. */
static char *read_file(const char *name, size_t *size)
{
    FILE *file = fopen(name, "rb");
    expect(file != NULL, name);
    expect(fseek(file, 0, SEEK_END) == 0, name);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = calloc(*size + 1, 1);
    expect(bytes != NULL && fread(bytes, 1, *size, file) == *size, name);
    fclose(file);
    return bytes;
}

/* A bucket for each remainder of tests/kernels/spread.glsl. */
static const uint32_t table[] = {3, 0, 4, 1, 1, 2, 0};
#define REMAINDERS (sizeof table / sizeof *table)

static uint32_t remainder_bucket(uint32_t key)
{
    return table[key % REMAINDERS];
}

/* By a function of the caller, out of SPIR-V or GLSL. */
static void split_by_own_function(const Engine *engine, TrmDevice device, const Buffer *keys, const char *name)
{
    const TrmSplitterCreateInfo info = {
        .sType = TRM_STRUCTURE_TYPE_SPLITTER_CREATE_INFO,
        .structSize = sizeof info,
        .bucketCount = BUCKETS,
        .bucketFunction = TRM_BUCKET_FUNCTION_USER,
    };
    size_t size;
    char *file = read_file(name, &size);
    TrmSplitter splitter;
    if (strstr(name, ".glsl") != NULL) {
        CHECK(trmCreateSplitterFromGlsl(device, &info, file, &splitter));
    } else {
        CHECK(trmCreateSplitterFromSpirv(device, &info, (const uint32_t *)(const void *)file, size, &splitter));
    }
    free(file);
    /* Whether or not the library compiles, there is no such function. */
    TrmSplitter none;
    const TrmResult result = trmCreateSplitterFromGlsl(device, &info, "uint other() { return 0; }", &none);
    expect(result == TRM_ERROR_NOT_BUILT || result == TRM_ERROR_MALFORMED, "GLSL without the function");
    VkDeviceSize scratchSize;
    CHECK(trmGetSplitterScratch(splitter, COUNT, &scratchSize));
    Buffer scratch = create_buffer(engine, scratchSize);
    Buffer keysOut = create_buffer(engine, COUNT * 4);
    Buffer buckets = create_buffer(engine, sizeof table);
    memcpy(buckets.mapped, table, sizeof table);
    const TrmSplitInfo split = {
        .sType = TRM_STRUCTURE_TYPE_SPLIT_INFO,
        .structSize = sizeof split,
        .count = {.max = COUNT},
        .keys = {keys->address, keys->size},
        .keysOut = {keysOut.address, keysOut.size},
        .userAddress = buckets.address,
        .userWords = {REMAINDERS},
        .scratch = {scratch.handle, 0, scratch.size},
    };
    begin(engine);
    CHECK(trmCmdSplit(engine->commands, splitter, &split));
    barrier(engine, VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    submit_and_wait(engine);
    split_on_host(remainder_bucket, COUNT, expected_keys, expected_values, expected_offsets);
    expect(same(keysOut.mapped, expected_keys, COUNT), "keys by a function of the caller");
    destroy_buffer(engine, &buckets);
    destroy_buffer(engine, &keysOut);
    destroy_buffer(engine, &scratch);
    trmDestroySplitter(splitter);
    printf("%u items split by a function of the caller, 0 wrong\n", COUNT);
}

int main(int argc, char **argv)
{
    Engine engine;
    create_engine(&engine);
    const TrmDeviceCreateInfo deviceInfo = library_info(&engine);
    TrmDevice device;
    CHECK(trmCreateDevice(&deviceInfo, &device));
    const TrmSplitterCreateInfo fieldsInfo = {
        .sType = TRM_STRUCTURE_TYPE_SPLITTER_CREATE_INFO,
        .structSize = sizeof fieldsInfo,
        .valueType = TRM_VALUE_TYPE_U32,
        .flags = TRM_SPLITTER_CREATE_BATCHES_BIT,
        .bucketCount = BUCKETS,
        .beginBit = BEGIN_BIT,
    };
    const TrmSplitterCreateInfo rangesInfo = {
        .sType = TRM_STRUCTURE_TYPE_SPLITTER_CREATE_INFO,
        .structSize = sizeof rangesInfo,
        .bucketCount = BUCKETS,
        .bucketFunction = TRM_BUCKET_FUNCTION_RANGE,
    };
    const TrmSorterCreateInfo sorterInfo = {
        .sType = TRM_STRUCTURE_TYPE_SORTER_CREATE_INFO,
        .structSize = sizeof sorterInfo,
        .flags = TRM_SORTER_CREATE_BATCHES_BIT,
    };
    TrmSplitter fields, ranges;
    TrmSorter sorter;
    CHECK(trmCreateSplitter(device, &fieldsInfo, &fields));
    CHECK(trmCreateSplitter(device, &rangesInfo, &ranges));
    CHECK(trmCreateSorter(device, &sorterInfo, &sorter));

    Buffer keys = create_buffer(&engine, COUNT * 4);
    Buffer values = create_buffer(&engine, COUNT * 4);
    Buffer sorted = create_buffer(&engine, COUNT * 4);
    Buffer keysOut[3], valuesOut[2], bucketInfo[2];
    for (int i = 0; i < 3; i++) {
        keysOut[i] = create_buffer(&engine, COUNT * 4);
    }
    for (int i = 0; i < 2; i++) {
        valuesOut[i] = create_buffer(&engine, COUNT * 4);
        /* Offsets, counts, commands, status. */
        bucketInfo[i] = create_buffer(&engine, (BUCKETS + 1 + BUCKETS + 3 * BUCKETS + 1) * 4);
    }
    Buffer deviceCount = create_buffer(&engine, 4);
    for (uint32_t i = 0; i < COUNT; i++) {
        keys.mapped[i] = sorted.mapped[i] = key_of(i);
        values.mapped[i] = i;
    }
    deviceCount.mapped[0] = FEWER;

    TrmSplitInfo split[3];
    memset(split, 0, sizeof split);
    for (int i = 0; i < 3; i++) {
        split[i].sType = TRM_STRUCTURE_TYPE_SPLIT_INFO;
        split[i].structSize = sizeof split[i];
        split[i].count.max = COUNT;
        split[i].keys.address = keys.address;
        split[i].keys.size = keys.size;
        split[i].keysOut.address = keysOut[i].address;
        split[i].keysOut.size = keysOut[i].size;
    }
    /* 0: pairs by fields. 1: the same in a batch, as many as the device says. 2: keys alone by ranges. */
    for (int i = 0; i < 2; i++) {
        split[i].values.address = values.address;
        split[i].values.size = values.size;
        split[i].valuesOut.address = valuesOut[i].address;
        split[i].valuesOut.size = valuesOut[i].size;
        split[i].offsets.address = bucketInfo[i].address;
        split[i].offsets.size = (BUCKETS + 1) * 4;
        split[i].counts.address = split[i].offsets.address + split[i].offsets.size;
        split[i].counts.size = BUCKETS * 4;
        split[i].commands.address = split[i].counts.address + split[i].counts.size;
        split[i].commands.size = BUCKETS * sizeof(VkDispatchIndirectCommand);
        split[i].commandItems = GROUP;
        split[i].status = split[i].commands.address + split[i].commands.size;
    }
    split[1].splitter = fields;
    split[1].count.address = deviceCount.address;
    split[2].low = LOW;
    split[2].width = WIDTH;
    const TrmSortInfo sort = {
        .sType = TRM_STRUCTURE_TYPE_SORT_INFO,
        .structSize = sizeof sort,
        .sorter = sorter,
        .count = {.max = COUNT},
        .keys = {sorted.address, sorted.size},
    };
    const TrmInfoHeader *const both[] = {(const TrmInfoHeader *)&sort, (const TrmInfoHeader *)&split[1]};
    TrmBatchInfo batch = {
        .sType = TRM_STRUCTURE_TYPE_BATCH_INFO,
        .structSize = sizeof batch,
        .infoCount = 2,
        .infos = both,
    };

    VkDeviceSize sizes[3];
    CHECK(trmGetSplitterScratch(fields, COUNT, &sizes[0]));
    CHECK(trmGetBatchScratch(&batch, &sizes[1]));
    CHECK(trmGetSplitterScratch(ranges, COUNT, &sizes[2]));
    Buffer scratch[3];
    for (int i = 0; i < 3; i++) {
        scratch[i] = create_buffer(&engine, sizes[i]);
        split[i].scratch.buffer = scratch[i].handle;
        split[i].scratch.size = scratch[i].size;
    }
    batch.scratch = split[1].scratch;

    begin(&engine);
    CHECK(trmCmdSplit(engine.commands, fields, &split[0]));
    CHECK(trmCmdBatch(engine.commands, &batch));
    CHECK(trmCmdSplit(engine.commands, ranges, &split[2]));
    barrier(&engine, VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    submit_and_wait(&engine);

    for (int i = 0; i < 2; i++) {
        const uint32_t count = i == 0 ? COUNT : FEWER;
        split_on_host(field, count, expected_keys, expected_values, expected_offsets);
        expect(same(keysOut[i].mapped, expected_keys, count), "keys by fields");
        expect(same(valuesOut[i].mapped, expected_values, count), "values by fields");
        const uint32_t *offsets = bucketInfo[i].mapped;
        const uint32_t *counts = offsets + BUCKETS + 1;
        const uint32_t *commands = counts + BUCKETS;
        expect(same(offsets, expected_offsets, BUCKETS + 1), "offsets");
        for (uint32_t bucket = 0; bucket < BUCKETS; bucket++) {
            const uint32_t items = expected_offsets[bucket + 1] - expected_offsets[bucket];
            const uint32_t command[] = {(items + GROUP - 1) / GROUP, 1, 1};
            expect(counts[bucket] == items, "counts");
            expect(same(commands + 3 * bucket, command, 3), "commands");
        }
        expect(commands[3 * BUCKETS] == TRM_STATUS_NO_BUCKET, "status");
    }
    split_on_host(range, COUNT, expected_keys, expected_values, expected_offsets);
    expect(same(keysOut[2].mapped, expected_keys, COUNT), "keys by ranges");
    for (uint32_t i = 1; i < COUNT; i++) {
        expect(sorted.mapped[i - 1] <= sorted.mapped[i], "the sort of the batch");
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        expect(keys.mapped[i] == key_of(i) && values.mapped[i] == i, "the input is only read");
    }
    printf("%u items split, 0 wrong\n", COUNT);
    if (argc > 1) {
        split_by_own_function(&engine, device, &keys, argv[1]);
    }

    destroy_buffer(&engine, &deviceCount);
    for (int i = 0; i < 2; i++) {
        destroy_buffer(&engine, &bucketInfo[i]);
        destroy_buffer(&engine, &valuesOut[i]);
    }
    for (int i = 0; i < 3; i++) {
        destroy_buffer(&engine, &scratch[i]);
        destroy_buffer(&engine, &keysOut[i]);
    }
    destroy_buffer(&engine, &sorted);
    destroy_buffer(&engine, &values);
    destroy_buffer(&engine, &keys);
    trmDestroySorter(sorter);
    trmDestroySplitter(ranges);
    trmDestroySplitter(fields);
    trmDestroyDevice(device);
    destroy_engine(&engine);
    return 0;
}
