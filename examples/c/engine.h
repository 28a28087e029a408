/*
 * A minimal engine: an instance, a device, buffers, two pipelines and a command buffer.
 * Plain C99 that is also C++.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trommel.h>
#include <vulkan/vulkan.h>

#define CHECK(call) check((int)(call), #call)

static void check(int result, const char *call)
{
    if (result != 0) {
        fprintf(stderr, "%s: %d, %s: %s\n", call, result, trmResultString((TrmResult)result), trmGetLastError());
        exit(1);
    }
}

typedef struct Engine {
    VkInstance instance;
    VkPhysicalDevice physicalDevice;
    VkPhysicalDeviceVulkan12Features features12;
    VkPhysicalDeviceVulkan13Features features13;
    VkPhysicalDeviceFeatures2 features;
    uint32_t queueFamily;
    VkDevice device;
    VkQueue queue;
    VkPipelineLayout layout;
    VkPipeline generate;
    VkPipeline check;
    VkCommandPool pool;
    VkCommandBuffer commands;
} Engine;

typedef struct Buffer {
    VkBuffer handle;
    VkDeviceMemory memory;
    VkDeviceSize size;
    VkDeviceAddress address;
    uint32_t *mapped;
} Buffer;

/* The push constants of both dispatches. */
typedef struct Args {
    VkDeviceAddress keys;
    VkDeviceAddress values;
    VkDeviceAddress faults;
    uint32_t count;
} Args;

/* glslc --target-env=vulkan1.3 -O -mfmt=num -o NAME.spv.h NAME.comp */
static const uint32_t generate_code[] = {
#include "generate.spv.h"
};

static const uint32_t check_code[] = {
#include "check.spv.h"
};

/* Picks the first device that meets the requirements, and enables the library's features. The engine itself needs
 * none. */
static void choose_device(Engine *engine)
{
    VkPhysicalDevice devices[16];
    uint32_t count = 16;
    vkEnumeratePhysicalDevices(engine->instance, &count, devices);
    for (uint32_t i = 0; i < count && !engine->physicalDevice; i++) {
        char missing[1024];
        uint32_t size = sizeof missing;
        TrmDeviceRequirementsInfo info;
        memset(&info, 0, sizeof info);
        info.sType = TRM_STRUCTURE_TYPE_DEVICE_REQUIREMENTS_INFO;
        info.structSize = sizeof info;
        info.getInstanceProcAddr = vkGetInstanceProcAddr;
        info.instance = engine->instance;
        info.physicalDevice = devices[i];
        info.apiVersion = VK_API_VERSION_1_3;
        CHECK(trmGetDeviceRequirements(&info, &engine->features12, &engine->features13, NULL, NULL, &size, missing));
        if (missing[0] == '\0') {
            engine->physicalDevice = devices[i];
        } else {
            fprintf(stderr, "device %u lacks:\n%s\n", (unsigned)i, missing);
        }
    }
    if (!engine->physicalDevice) {
        fprintf(stderr, "no device will do\n");
        exit(1);
    }
}

static VkPipeline create_pipeline(const Engine *engine, const uint32_t *code, size_t size)
{
    VkShaderModuleCreateInfo moduleInfo;
    memset(&moduleInfo, 0, sizeof moduleInfo);
    moduleInfo.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    moduleInfo.codeSize = size;
    moduleInfo.pCode = code;
    VkShaderModule module;
    CHECK(vkCreateShaderModule(engine->device, &moduleInfo, NULL, &module));

    VkComputePipelineCreateInfo info;
    memset(&info, 0, sizeof info);
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module;
    info.stage.pName = "main";
    info.layout = engine->layout;
    VkPipeline pipeline;
    CHECK(vkCreateComputePipelines(engine->device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline));
    vkDestroyShaderModule(engine->device, module, NULL);
    return pipeline;
}

static void create_engine(Engine *engine)
{
    memset(engine, 0, sizeof *engine);
    VkApplicationInfo application;
    memset(&application, 0, sizeof application);
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.apiVersion = VK_API_VERSION_1_3;
    VkInstanceCreateInfo instanceInfo;
    memset(&instanceInfo, 0, sizeof instanceInfo);
    instanceInfo.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    instanceInfo.pApplicationInfo = &application;
    CHECK(vkCreateInstance(&instanceInfo, NULL, &engine->instance));

    engine->features12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    engine->features12.pNext = &engine->features13;
    engine->features13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
    engine->features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    engine->features.pNext = &engine->features12;
    choose_device(engine);

    VkQueueFamilyProperties families[16];
    uint32_t count;
    vkGetPhysicalDeviceQueueFamilyProperties(engine->physicalDevice, &count, NULL);
    count = count < 16 ? count : 16;
    vkGetPhysicalDeviceQueueFamilyProperties(engine->physicalDevice, &count, families);
    while (engine->queueFamily < count && !(families[engine->queueFamily].queueFlags & VK_QUEUE_COMPUTE_BIT)) {
        engine->queueFamily++;
    }

    const float priority = 1;
    VkDeviceQueueCreateInfo queueInfo;
    memset(&queueInfo, 0, sizeof queueInfo);
    queueInfo.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queueInfo.queueFamilyIndex = engine->queueFamily;
    queueInfo.queueCount = 1;
    queueInfo.pQueuePriorities = &priority;
    VkDeviceCreateInfo deviceInfo;
    memset(&deviceInfo, 0, sizeof deviceInfo);
    deviceInfo.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    deviceInfo.pNext = &engine->features;
    deviceInfo.queueCreateInfoCount = 1;
    deviceInfo.pQueueCreateInfos = &queueInfo;
    CHECK(vkCreateDevice(engine->physicalDevice, &deviceInfo, NULL, &engine->device));
    vkGetDeviceQueue(engine->device, engine->queueFamily, 0, &engine->queue);

    VkPushConstantRange push;
    push.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    push.offset = 0;
    push.size = sizeof(Args);
    VkPipelineLayoutCreateInfo layoutInfo;
    memset(&layoutInfo, 0, sizeof layoutInfo);
    layoutInfo.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    layoutInfo.pushConstantRangeCount = 1;
    layoutInfo.pPushConstantRanges = &push;
    CHECK(vkCreatePipelineLayout(engine->device, &layoutInfo, NULL, &engine->layout));
    engine->generate = create_pipeline(engine, generate_code, sizeof generate_code);
    engine->check = create_pipeline(engine, check_code, sizeof check_code);

    VkCommandPoolCreateInfo poolInfo;
    memset(&poolInfo, 0, sizeof poolInfo);
    poolInfo.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    poolInfo.queueFamilyIndex = engine->queueFamily;
    CHECK(vkCreateCommandPool(engine->device, &poolInfo, NULL, &engine->pool));
    VkCommandBufferAllocateInfo commandsInfo;
    memset(&commandsInfo, 0, sizeof commandsInfo);
    commandsInfo.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    commandsInfo.commandPool = engine->pool;
    commandsInfo.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    commandsInfo.commandBufferCount = 1;
    CHECK(vkAllocateCommandBuffers(engine->device, &commandsInfo, &engine->commands));
}

static void destroy_engine(Engine *engine)
{
    vkDestroyCommandPool(engine->device, engine->pool, NULL);
    vkDestroyPipeline(engine->device, engine->generate, NULL);
    vkDestroyPipeline(engine->device, engine->check, NULL);
    vkDestroyPipelineLayout(engine->device, engine->layout, NULL);
    vkDestroyDevice(engine->device, NULL);
    vkDestroyInstance(engine->instance, NULL);
}

/* Creates a buffer in host-visible memory, because this example checks everything. Engines use device-local memory. */
static Buffer create_buffer(const Engine *engine, VkDeviceSize size)
{
    Buffer buffer;
    memset(&buffer, 0, sizeof buffer);
    buffer.size = size;
    VkBufferCreateInfo info;
    memset(&info, 0, sizeof info);
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = size;
    info.usage = VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                 VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    CHECK(vkCreateBuffer(engine->device, &info, NULL, &buffer.handle));

    VkMemoryRequirements requirements;
    vkGetBufferMemoryRequirements(engine->device, buffer.handle, &requirements);
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(engine->physicalDevice, &memory);
    const VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t type = 0;
    while (!(requirements.memoryTypeBits >> type & 1) || (memory.memoryTypes[type].propertyFlags & wanted) != wanted) {
        type++;
    }
    VkMemoryAllocateFlagsInfo flags;
    memset(&flags, 0, sizeof flags);
    flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    VkMemoryDedicatedAllocateInfo dedicated;
    memset(&dedicated, 0, sizeof dedicated);
    dedicated.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO;
    dedicated.pNext = &flags;
    dedicated.buffer = buffer.handle;
    VkMemoryAllocateInfo allocation;
    memset(&allocation, 0, sizeof allocation);
    allocation.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    allocation.pNext = &dedicated;
    allocation.allocationSize = requirements.size;
    allocation.memoryTypeIndex = type;
    CHECK(vkAllocateMemory(engine->device, &allocation, NULL, &buffer.memory));
    CHECK(vkBindBufferMemory(engine->device, buffer.handle, buffer.memory, 0));
    void *mapped;
    CHECK(vkMapMemory(engine->device, buffer.memory, 0, VK_WHOLE_SIZE, 0, &mapped));
    buffer.mapped = (uint32_t *)mapped;
    memset(mapped, 0, (size_t)size);

    VkBufferDeviceAddressInfo address;
    memset(&address, 0, sizeof address);
    address.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
    address.buffer = buffer.handle;
    buffer.address = vkGetBufferDeviceAddress(engine->device, &address);
    return buffer;
}

static void destroy_buffer(const Engine *engine, Buffer *buffer)
{
    vkDestroyBuffer(engine->device, buffer->handle, NULL);
    vkFreeMemory(engine->device, buffer->memory, NULL);
}

static void begin(const Engine *engine)
{
    VkCommandBufferBeginInfo info;
    memset(&info, 0, sizeof info);
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    CHECK(vkResetCommandPool(engine->device, engine->pool, 0));
    CHECK(vkBeginCommandBuffer(engine->commands, &info));
}

/* Inline, because not every example has dispatches of its own. */
static inline void dispatch(const Engine *engine, VkPipeline pipeline, const Args *args)
{
    vkCmdBindPipeline(engine->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdPushConstants(engine->commands, engine->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof *args, args);
    vkCmdDispatch(engine->commands, (args->count + 63) / 64, 1, 1);
}

/* Records a barrier from the writes of preceding compute shaders to the given stage and access. */
static void barrier(const Engine *engine, VkPipelineStageFlags2 stage, VkAccessFlags2 access)
{
    VkMemoryBarrier2 memory;
    memset(&memory, 0, sizeof memory);
    memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2;
    memory.srcStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
    memory.srcAccessMask = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT;
    memory.dstStageMask = stage;
    memory.dstAccessMask = access;
    VkDependencyInfo dependency;
    memset(&dependency, 0, sizeof dependency);
    dependency.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
    dependency.memoryBarrierCount = 1;
    dependency.pMemoryBarriers = &memory;
    vkCmdPipelineBarrier2(engine->commands, &dependency);
}

static void submit_and_wait(const Engine *engine)
{
    CHECK(vkEndCommandBuffer(engine->commands));
    VkSubmitInfo info;
    memset(&info, 0, sizeof info);
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &engine->commands;
    CHECK(vkQueueSubmit(engine->queue, 1, &info, VK_NULL_HANDLE));
    CHECK(vkQueueWaitIdle(engine->queue));
}

/* The parameters of the library's handle on the engine's device. */
static TrmDeviceCreateInfo library_info(const Engine *engine)
{
    TrmDeviceCreateInfo info;
    memset(&info, 0, sizeof info);
    info.sType = TRM_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    info.structSize = sizeof info;
    info.getInstanceProcAddr = vkGetInstanceProcAddr;
    info.instance = engine->instance;
    info.physicalDevice = engine->physicalDevice;
    info.device = engine->device;
    info.enabledFeatures = &engine->features;
    info.queueFamilyIndex = engine->queueFamily;
    return info;
}

#endif
