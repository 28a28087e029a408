"""One sort, a split and a merge of its result from Python, with ctypes alone: python3 sort.py LIBTROMMEL.

The Vulkan device is created with ctypes, too.
"""

import ctypes as c
import sys

vk = c.CDLL("libvulkan.so.1")
trm = c.CDLL(sys.argv[1])
trm.trmGetLastError.restype = c.c_char_p
trm.trmResultString.restype = c.c_char_p

u32, u64, pointer = c.c_uint32, c.c_uint64, c.c_void_p
COUNT = 20000
BUCKETS = 5
LAST = 5000


def struct(name, fields):
    """A struct of "name:type" members, as C lays it out."""
    types = {"u": u32, "q": u64, "p": pointer, "f": c.c_float}
    members = []
    for field in fields.split():
        member, kind = field.split(":")
        members.append((member, types[kind] if kind in types else globals()[kind]))
    return type(name, (c.Structure,), {"_fields_": members})


VkApplicationInfo = struct(
    "VkApplicationInfo", "sType:u pNext:p name:p version:u engine:p engineVersion:u apiVersion:u"
)
VkInstanceCreateInfo = struct(
    "VkInstanceCreateInfo", "sType:u pNext:p flags:u application:p layerCount:u layers:p extensionCount:u extensions:p"
)
VkDeviceQueueCreateInfo = struct("VkDeviceQueueCreateInfo", "sType:u pNext:p flags:u family:u count:u priorities:p")
VkDeviceCreateInfo = struct(
    "VkDeviceCreateInfo",
    "sType:u pNext:p flags:u queueCount:u queues:p layerCount:u layers:p extensionCount:u extensions:p features:p",
)
VkBufferCreateInfo = struct(
    "VkBufferCreateInfo", "sType:u pNext:p flags:u size:q usage:u sharingMode:u familyCount:u families:p"
)
VkMemoryRequirements = struct("VkMemoryRequirements", "size:q alignment:q typeBits:u")
VkMemoryAllocateFlagsInfo = struct("VkMemoryAllocateFlagsInfo", "sType:u pNext:p flags:u deviceMask:u")
VkMemoryAllocateInfo = struct("VkMemoryAllocateInfo", "sType:u pNext:p size:q type:u")
VkBufferDeviceAddressInfo = struct("VkBufferDeviceAddressInfo", "sType:u pNext:p buffer:q")
VkCommandPoolCreateInfo = struct("VkCommandPoolCreateInfo", "sType:u pNext:p flags:u family:u")
VkCommandBufferAllocateInfo = struct("VkCommandBufferAllocateInfo", "sType:u pNext:p pool:q level:u count:u")
VkCommandBufferBeginInfo = struct("VkCommandBufferBeginInfo", "sType:u pNext:p flags:u inheritance:p")
VkMemoryBarrier = struct("VkMemoryBarrier", "sType:u pNext:p source:u destination:u")
VkSubmitInfo = struct(
    "VkSubmitInfo",
    "sType:u pNext:p waitCount:u waits:p stages:p commandCount:u commands:p signalCount:u signals:p",
)


class VkPhysicalDeviceMemoryProperties(c.Structure):
    _fields_ = [("typeCount", u32), ("types", (u32 * 2) * 32), ("heapCount", u32), ("heaps", (u64 * 2) * 16)]


def features(name, structure_type, switches):
    return type(name, (c.Structure,), {
        "_fields_": [("sType", u32), ("pNext", pointer), ("switches", u32 * switches)],
        "made": classmethod(lambda cls, following=None: cls(structure_type, following)),
    })


VkPhysicalDeviceFeatures2 = features("VkPhysicalDeviceFeatures2", 1000059000, 55)
VkPhysicalDeviceVulkan12Features = features("VkPhysicalDeviceVulkan12Features", 51, 47)
VkPhysicalDeviceVulkan13Features = features("VkPhysicalDeviceVulkan13Features", 53, 15)

TrmCount = struct("TrmCount", "max:u address:q")
TrmRange = struct("TrmRange", "address:q size:q")
TrmScratch = struct("TrmScratch", "buffer:q offset:q size:q")
TrmTimestamps = struct("TrmTimestamps", "pool:q first:u")
TrmDeviceRequirementsInfo = struct(
    "TrmDeviceRequirementsInfo",
    "sType:u structSize:u pNext:p getInstanceProcAddr:p instance:p physicalDevice:p apiVersion:u reserved:u",
)
TrmDeviceCreateInfo = struct(
    "TrmDeviceCreateInfo",
    "sType:u structSize:u pNext:p getInstanceProcAddr:p instance:p physicalDevice:p device:p enabledFeatures:p "
    "queueFamilyIndex:u debugUtils:u pipelineCache:q allocationCallbacks:p profile:p "
    "creationThreads:u reserved:u",
)
TrmSorterCreateInfo = struct(
    "TrmSorterCreateInfo", "sType:u structSize:u pNext:p keyType:u valueType:u strategy:u flags:u"
)
TrmSortInfo = struct(
    "TrmSortInfo",
    "sType:u structSize:u pNext:p sorter:p count:TrmCount keys:TrmRange values:TrmRange scratch:TrmScratch status:q "
    "timestamps:TrmTimestamps",
)
TrmSplitterCreateInfo = struct(
    "TrmSplitterCreateInfo",
    "sType:u structSize:u pNext:p keyType:u valueType:u strategy:u flags:u bucketCount:u bucketFunction:u beginBit:u "
    "valueSize:u layout:u maxCount:u",
)
TrmSplitInfo = struct(
    "TrmSplitInfo",
    "sType:u structSize:u pNext:p splitter:p count:TrmCount keys:TrmRange values:TrmRange keysOut:TrmRange "
    "valuesOut:TrmRange keyStride:u valueStride:u low:q width:q splitters:TrmRange bucketIds:TrmRange userAddress:q "
    "userWords0:u userWords1:u userWords2:u userWords3:u offsets:TrmRange counts:TrmRange commands:TrmRange "
    "commandItems:u scratch:TrmScratch status:q timestamps:TrmTimestamps",
)
TrmMergerCreateInfo = struct(
    "TrmMergerCreateInfo",
    "sType:u structSize:u pNext:p keyType:u valueType:u valueSize:u flags:u order:u layout:u maxCount:u method:u "
    "operation:u reserved:u",
)
TrmMergeInfo = struct(
    "TrmMergeInfo",
    "sType:u structSize:u pNext:p merger:p countA:TrmCount countB:TrmCount keysA:TrmRange valuesA:TrmRange "
    "keysB:TrmRange valuesB:TrmRange keysOut:TrmRange valuesOut:TrmRange scratch:TrmScratch status:q "
    "timestamps:TrmTimestamps countOut:q",
)


def address(thing):
    return c.cast(c.pointer(thing), pointer)


def check(result):
    if result != 0:
        sys.exit(f"{result}: {trm.trmResultString(result).decode()}: {trm.trmGetLastError().decode()}")


def made(function, *arguments, kind=pointer):
    """What a vkCreate or trmCreate function makes."""
    result = kind()
    check(function(*arguments, c.byref(result)))
    return result


def info(kind, structure_type, **members):
    return kind(sType=structure_type, structSize=c.sizeof(kind), **members)


# An instance and its first device.
application = VkApplicationInfo(apiVersion=1 << 22 | 3 << 12)
instance = made(vk.vkCreateInstance, c.byref(VkInstanceCreateInfo(sType=1, application=address(application))), None)
physical_device = pointer()
# VK_INCOMPLETE where there are more.
vk.vkEnumeratePhysicalDevices(instance, c.byref(u32(1)), c.byref(physical_device))

# A device with what trommel needs.
v13 = VkPhysicalDeviceVulkan13Features.made()
v12 = VkPhysicalDeviceVulkan12Features.made(address(v13))
enabled = VkPhysicalDeviceFeatures2.made(address(v12))
get_instance_proc_addr = c.cast(vk.vkGetInstanceProcAddr, pointer)
asked = info(
    TrmDeviceRequirementsInfo,
    1,
    getInstanceProcAddr=get_instance_proc_addr,
    instance=instance,
    physicalDevice=physical_device,
    apiVersion=application.apiVersion,
)
missing, missing_size = c.create_string_buffer(1024), u32(1024)
check(
    trm.trmGetDeviceRequirements(
        c.byref(asked), c.byref(v12), c.byref(v13), None, None, c.byref(missing_size), missing
    )
)
if missing.value:
    sys.exit(f"the device lacks\n{missing.value.decode()}")
priority = c.c_float(1)
queue_info = VkDeviceQueueCreateInfo(sType=2, count=1, priorities=address(priority))
device_info = VkDeviceCreateInfo(sType=3, pNext=address(enabled), queueCount=1, queues=address(queue_info))
device = made(vk.vkCreateDevice, physical_device, c.byref(device_info), None)
queue = pointer()
vk.vkGetDeviceQueue(device, 0, 0, c.byref(queue))

# Memory that the host sees.
memory_properties = VkPhysicalDeviceMemoryProperties()
vk.vkGetPhysicalDeviceMemoryProperties(physical_device, c.byref(memory_properties))
vk.vkGetBufferDeviceAddress.restype = u64


class Buffer:
    def __init__(self, size):
        usage = 0x20000 | 0x20 | 0x100 | 0x2  # SHADER_DEVICE_ADDRESS | STORAGE_BUFFER | INDIRECT_BUFFER | TRANSFER_DST
        self.size = size
        buffer_info = VkBufferCreateInfo(sType=12, size=size, usage=usage)
        self.handle = made(vk.vkCreateBuffer, device, c.byref(buffer_info), None, kind=u64)
        needs = VkMemoryRequirements()
        vk.vkGetBufferMemoryRequirements(device, self.handle, c.byref(needs))
        host_visible_and_coherent = 2 | 4
        fitting = (
            i
            for i in range(memory_properties.typeCount)
            if needs.typeBits >> i & 1
            and memory_properties.types[i][0] & host_visible_and_coherent == host_visible_and_coherent
        )
        with_address = VkMemoryAllocateFlagsInfo(sType=1000060000, flags=2)
        allocation = VkMemoryAllocateInfo(sType=5, pNext=address(with_address), size=needs.size, type=next(fitting))
        self.memory = made(vk.vkAllocateMemory, device, c.byref(allocation), None, kind=u64)
        check(vk.vkBindBufferMemory(device, self.handle, self.memory, u64(0)))
        mapped = pointer()
        check(vk.vkMapMemory(device, self.memory, u64(0), u64(2**64 - 1), 0, c.byref(mapped)))
        self.items = c.cast(mapped, c.POINTER(u32))
        self.address = vk.vkGetBufferDeviceAddress(
            device, c.byref(VkBufferDeviceAddressInfo(sType=1000244001, buffer=self.handle))
        )

    def range(self, first=0):
        return TrmRange(self.address + first, self.size - first)

    def destroy(self):
        vk.vkDestroyBuffer(device, self.handle, None)
        vk.vkFreeMemory(device, self.memory, None)


# The sort, the split and the merge.
library = made(trm.trmCreateDevice, c.byref(info(
    TrmDeviceCreateInfo,
    2,
    getInstanceProcAddr=get_instance_proc_addr,
    instance=instance,
    physicalDevice=physical_device,
    device=device,
    enabledFeatures=address(enabled),
)))
sorter = made(trm.trmCreateSorter, library, c.byref(info(TrmSorterCreateInfo, 1000, valueType=1)))
scratch_size = made(trm.trmGetSorterScratch, sorter, u32(COUNT), kind=u64)
splitter_info = info(TrmSplitterCreateInfo, 2000, valueType=1, bucketCount=BUCKETS, beginBit=7)
splitter = made(trm.trmCreateSplitter, library, c.byref(splitter_info))
split_scratch_size = made(trm.trmGetSplitterScratch, splitter, u32(COUNT), kind=u64)
merger = made(trm.trmCreateMerger, library, c.byref(info(TrmMergerCreateInfo, 3000, valueType=1)))
merge_scratch_size = made(trm.trmGetMergerScratch, merger, u32(COUNT + LAST), kind=u64)
keys, values, keys_out, values_out = (Buffer(COUNT * 4) for _ in range(4))
keys_merged, values_merged = (Buffer((COUNT + LAST) * 4) for _ in range(2))
sizes = (scratch_size, split_scratch_size, merge_scratch_size)
offsets, scratch = Buffer((BUCKETS + 1) * 4), Buffer(max(size.value for size in sizes))
unsorted = [((i * 2654435761 & 0xFFFFFFFF) >> 20) * 0x00080401 for i in range(COUNT)]
for i in range(COUNT):
    keys.items[i], values.items[i] = unsorted[i], i

pool = made(vk.vkCreateCommandPool, device, c.byref(VkCommandPoolCreateInfo(sType=39)), None, kind=u64)
commands = made(vk.vkAllocateCommandBuffers, device, c.byref(VkCommandBufferAllocateInfo(sType=40, pool=pool, count=1)))
check(vk.vkBeginCommandBuffer(commands, c.byref(VkCommandBufferBeginInfo(sType=42, flags=1))))
sort = info(
    TrmSortInfo,
    1001,
    count=TrmCount(COUNT, 0),
    keys=keys.range(),
    values=values.range(),
    scratch=TrmScratch(scratch.handle, 0, scratch.size),
)
check(trm.trmCmdSort(commands, sorter, c.byref(sort)))
compute_shader, shader_read_and_write = 0x800, 0x20 | 0x40
between_calls = VkMemoryBarrier(sType=46, source=shader_read_and_write, destination=shader_read_and_write)
vk.vkCmdPipelineBarrier(
    commands, compute_shader, compute_shader, 0, 1, c.byref(between_calls), 0, None, 0, None
)
split = info(
    TrmSplitInfo,
    2001,
    count=sort.count,
    keys=keys.range(),
    values=values.range(),
    keysOut=keys_out.range(),
    valuesOut=values_out.range(),
    offsets=offsets.range(),
    scratch=sort.scratch,
)
check(trm.trmCmdSplit(commands, splitter, c.byref(split)))
vk.vkCmdPipelineBarrier(
    commands, compute_shader, compute_shader, 0, 1, c.byref(between_calls), 0, None, 0, None
)
first = (COUNT - LAST) * 4
merge = info(
    TrmMergeInfo,
    3001,
    countA=sort.count,
    countB=TrmCount(LAST, 0),
    keysA=keys.range(),
    valuesA=values.range(),
    keysB=keys.range(first),
    valuesB=values.range(first),
    keysOut=keys_merged.range(),
    valuesOut=values_merged.range(),
    scratch=sort.scratch,
)
check(trm.trmCmdMerge(commands, merger, c.byref(merge)))
check(vk.vkEndCommandBuffer(commands))
submit = VkSubmitInfo(sType=4, commandCount=1, commands=address(commands))
check(vk.vkQueueSubmit(queue, 1, c.byref(submit), u64(0)))
check(vk.vkQueueWaitIdle(queue))

expected = sorted(range(COUNT), key=unsorted.__getitem__)
right = values.items[:COUNT] == expected and keys.items[:COUNT] == [unsorted[i] for i in expected]
# Of the case that every language sorts, splits and merges: see package.rs.
digest = 0xCBF29CE484222325
results = (keys, values, keys_out, values_out, offsets, keys_merged, values_merged)
for buffer in results:
    for word in buffer.items[: buffer.size // 4]:
        digest = (digest ^ word) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
print(f"{COUNT} pairs sorted, {'all right' if right else 'WRONG'}, split and merged, digest {digest:016x}")

vk.vkDestroyCommandPool(device, pool, None)
for buffer in (*results, scratch):
    buffer.destroy()
trm.trmDestroyMerger(merger)
trm.trmDestroySplitter(splitter)
trm.trmDestroySorter(sorter)
trm.trmDestroyDevice(library)
vk.vkDestroyDevice(device, None)
vk.vkDestroyInstance(instance, None)
sys.exit(0 if right else 1)
