/* The machine as the host enumerates it: a CPU node with the system memory, or two with half of it each, and
 * one node per GPU, all joined by PCIe. What the fields mean to ROCr: its GpuAgent and BuildTopology. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "machine/topology.h"

#include "isa/wave.h"

enum {
  VENDOR_AMD = 0x1002,
  DOORBELLS_OF_64_BITS = 2,
  WATCH_POINTS_LOG2 = 2,
  FIRMWARE_VERSION =
      100, /* of the command processor and the DMA engine; ROCr compares with much higher ones */
  COMPUTE_QUEUES = 24,
  SDMA_QUEUES_PER_ENGINE = 8,
  SGPR_BYTES_PER_CU = 0x4000,
  GPU_CACHES = 2,
  GPU_BANKS = 4,
  FIRST_RENDER_MINOR = 128,
  PCIE_WEIGHT = 20, /* "distance" of one PCIe link in the driver's topology */
  CPU_WEIGHT = 12,  /* and of the link between two processors */
  XGMI_WEIGHT = 15, /* and of one between two GPUs of a hive */
  XGMI_ENGINES = 2, /* DMA engines of a GPU in a hive for copies within it, besides its others */
};

/* Fields that later thunks append in the reserved bytes: NumXcc, KFDGpuID and FamilyID (ROCr 6 reads the
 * first). */
typedef struct later_fields {
  uint32_t xcc_count, gpu_id, family_id;
} later_fields_t;
_Static_assert(sizeof(later_fields_t) == sizeof((HsaNodeProperties *)NULL)->Reserved,
               "layout of later thunks");

uint32_t gs_topology_xccs(const HsaNodeProperties *properties) {
  later_fields_t later;
  memcpy(&later, properties->Reserved, sizeof later);
  return later.xcc_count;
}

static void set_marketing_name(HsaNodeProperties *properties, const char *name) {
  for (size_t i = 0; name[i] && i < HSA_PUBLIC_NAME_SIZE - 1; i++)
    properties->MarketingName[i] = (unsigned char)name[i];
}

/* Names the CPU node after the host's processor. */
static void set_cpu_name(HsaNodeProperties *properties) {
#if defined(__x86_64__)
  enum { LEAVES = 3 };
  const unsigned first_leaf = 0x80000002;
  unsigned text[LEAVES * 4 + 1] = {0};
  bool known = true;
  for (unsigned i = 0; i < LEAVES; i++)
    known &=
        __get_cpuid(first_leaf + i, &text[4 * i], &text[4 * i + 1], &text[4 * i + 2], &text[4 * i + 3]) != 0;
  const char *name = (const char *)text;
  name += strspn(name, " ");
  if (known && *name) {
    set_marketing_name(properties, name);
    return;
  }
#endif
  struct utsname host;
  set_marketing_name(properties, uname(&host) ? "CPU" : host.machine);
}

/* Caches of the CPU, from the C library. */
static const struct {
  uint32_t level;
  int size_name, line_name;
} cpu_cache_table[] = {
    {1, _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL1_DCACHE_LINESIZE},
    {2, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL2_CACHE_LINESIZE},
    {3, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL3_CACHE_LINESIZE},
};

enum { CPU_CACHES = sizeof cpu_cache_table / sizeof *cpu_cache_table };
_Static_assert((int)GPU_BANKS <= (int)GS_MOST_BANKS && (int)GPU_CACHES <= (int)GS_MOST_CACHES &&
                   (int)CPU_CACHES <= (int)GS_MOST_CACHES,
               "callers have room");

/* Every node has one link to each other node. */
static uint32_t link_count(const gs_machine_t *machine) {
  return gs_machine_nodes(machine) - 1;
}

/* Highest frequency of the host's processor in MHz, as far as the kernel tells; else 0. */
static uint32_t cpu_clock_mhz(void) {
  enum { KHZ_PER_MHZ = 1000 };
  unsigned long khz = 0;
  double mhz = 0;
  FILE *file = fopen("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "re");
  if (file) {
    if (fscanf(file, "%lu", &khz) != 1)
      khz = 0;
    fclose(file);
    return (uint32_t)(khz / KHZ_PER_MHZ);
  }
  file = fopen("/proc/cpuinfo", "re");
  char line[256];
  while (file && mhz == 0 && fgets(line, sizeof line, file))
    if (sscanf(line, "cpu MHz : %lf", &mhz) != 1)
      mhz = 0;
  if (file)
    fclose(file);
  return (uint32_t)mhz;
}

static void describe_cpu(gs_machine_t *machine, HsaNodeProperties *properties) {
  set_cpu_name(properties);
  properties->MaxEngineClockMhzCCompute = cpu_clock_mhz();
  const uint32_t cores = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
  properties->NumCPUCores = machine->options.numa ? (cores + 1) / 2 : cores;
  properties->NumMemoryBanks = 1;
  properties->NumCaches = CPU_CACHES;
  properties->NumIOLinks = link_count(machine);
  properties->DrmRenderMinor = -1;
}

static void describe_shader_array(const gs_gpu_t *gpu, HsaNodeProperties *properties) {
  const gs_profile_t *profile = gpu->profile;
  const uint32_t cus = gs_device_cus(gpu->device);
  const uint32_t arrays = profile->shader_engines * profile->arrays_per_engine;
  /* ROCr divides compute units among engines: a few units cannot have many of them. Each XCC has its own. */
  const bool divides = cus == profile->cus || cus % arrays == 0;
  const uint32_t least = profile->xccs ? profile->xccs : 1;
  properties->NumShaderBanks = gs_profile_engines(profile, cus);
  properties->NumArrays = divides ? profile->arrays_per_engine : 1;
  properties->NumCUPerArray = divides ? (cus + arrays - 1) / arrays : cus / least;
  properties->NumSIMDPerCU = profile->simds_per_cu;
  properties->NumFComputeCores = cus * profile->simds_per_cu;
  properties->MaxWavesPerSIMD = profile->waves_per_simd;
  properties->MaxSlotsScratchCU = profile->scratch_slots_per_cu;
  properties->WaveFrontSize = profile->narrow_target ? 32 : 64;
  properties->LDSSizeInKB = profile->lds_bytes / 1024;
  enum { LANE_BYTES = 64 * sizeof(uint32_t) }; /* of a register for waves of 64 lanes */
  const uint32_t file = profile->vgpr_file                             ? profile->vgpr_file
                        : profile->unified_vgprs || profile->acc_vgprs ? 512
                                                                       : 256;
  properties->VGPRSizePerCU = file * LANE_BYTES * profile->simds_per_cu;
  properties->SGPRSizePerCU = SGPR_BYTES_PER_CU;
}

static void describe_identity(const gs_gpu_t *gpu, HsaNodeProperties *properties) {
  const gs_profile_t *profile = gpu->profile;
  properties->EngineId.ui32.uCode = FIRMWARE_VERSION;
  properties->EngineId.ui32.Major = profile->gfx_major & 0x3F;
  properties->EngineId.ui32.Minor = profile->gfx_minor & 0xFF;
  properties->EngineId.ui32.Stepping = profile->gfx_stepping & 0xFF;
  properties->uCodeEngineVersions.uCodeSDMA = FIRMWARE_VERSION;
  properties->VendorId = VENDOR_AMD;
  properties->DeviceId = (HSAuint16)profile->device_id;
  properties->LocationId = (gpu->ordinal + 1) << 8; /* bus, device 0, function 0 */
  properties->DrmRenderMinor = FIRST_RENDER_MINOR + (HSAint32)gpu->ordinal;
  properties->UniqueID = UINT64_C(0x67667873696d0000) + gpu->node; /* "gfxsim" */
  set_marketing_name(properties, profile->marketing_name);
  snprintf((char *)properties->AMDName, sizeof properties->AMDName, "%s", profile->family_name);
  const later_fields_t later = {.xcc_count = profile->xccs ? profile->xccs : 1,
                                .gpu_id = 0x1000 + gpu->node,
                                .family_id = profile->family_id};
  memcpy(properties->Reserved, &later, sizeof later);
}

/* Of a machine with hives, the first GPU that this one shares links with: of those of one kind. Itself, if it
 * is alone, or the first. */
static const gs_gpu_t *hive_of(const gs_gpu_t *gpu) {
  const gs_machine_t *machine = gpu->machine;
  for (uint32_t i = 0; gs_machine_has_links(machine, GS_LINKS_HIVE) && i < gpu->ordinal; i++)
    if (machine->gpu[i].profile == gpu->profile)
      return &machine->gpu[i];
  return gpu;
}

static bool in_one_hive(const gs_gpu_t *a, const gs_gpu_t *b) {
  return a && b && hive_of(a) == hive_of(b);
}

static void describe_hive(const gs_gpu_t *gpu, HsaNodeProperties *properties) {
  for (uint32_t i = 0; i < gpu->machine->gpu_count; i++) {
    const gs_gpu_t *other = &gpu->machine->gpu[i];
    if (other == gpu || !in_one_hive(other, gpu))
      continue;
    properties->HiveID = UINT64_C(0x6869766500000000) + hive_of(gpu)->node; /* "hive" */
    properties->NumSdmaXgmiEngines = XGMI_ENGINES;
  }
}

static void describe_gpu(const gs_gpu_t *gpu, HsaNodeProperties *properties) {
  const gs_profile_t *profile = gpu->profile;
  describe_identity(gpu, properties);
  describe_shader_array(gpu, properties);
  describe_hive(gpu, properties);
  properties->Capability.ui32.DoorbellType = DOORBELLS_OF_64_BITS;
  properties->NumGws = GS_GWS_COUNT;
  properties->Capability.ui32.WatchPointsSupported = 1;
  properties->Capability.ui32.WatchPointsTotalBits = WATCH_POINTS_LOG2;
  properties->Capability.ui32.QueueSizePowerOfTwo = 1;
  properties->Capability.ui32.SRAM_EDCSupport = profile->sramecc;
  properties->Capability.ui32.ASICRevision = profile->revision & 0xF;
  properties->NumMemoryBanks = GPU_BANKS;
  properties->NumCaches = GPU_CACHES;
  properties->NumIOLinks = link_count(gpu->machine);
  properties->MaxEngineClockMhzFCompute = profile->engine_clock_mhz;
  properties->NumSdmaEngines = profile->sdma_engines;
  properties->NumSdmaQueuesPerEngine = SDMA_QUEUES_PER_ENGINE;
  properties->NumCpQueues = COMPUTE_QUEUES;
}

static void describe_cpu_memory(const gs_machine_t *machine, HsaMemoryProperties *banks) {
  banks[0] =
      (HsaMemoryProperties){.HeapType = HSA_HEAPTYPE_SYSTEM, .SizeInBytes = machine->memory.system_bytes};
}

static void describe_gpu_memory(const gs_gpu_t *gpu, HsaMemoryProperties *banks) {
  const gs_machine_t *machine = gpu->machine;
  const bool visible = gpu->host_visible;
  banks[0] = (HsaMemoryProperties){
      .HeapType = visible ? HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC : HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE,
      .SizeInBytes = gpu->memory_bytes,
      .Width = gpu->profile->memory_bus_bits,
      .MemoryClockMax = gpu->profile->memory_clock_mhz,
  };
  banks[1] = (HsaMemoryProperties){
      .HeapType = HSA_HEAPTYPE_GPU_LDS,
      .SizeInBytes = gpu->profile->lds_bytes,
      .VirtualBaseAddress = GS_SHARED_APERTURE,
  };
  banks[2] = (HsaMemoryProperties){
      .HeapType = HSA_HEAPTYPE_GPU_SCRATCH,
      .SizeInBytes = UINT64_C(1) << 32,
      .VirtualBaseAddress = GS_PRIVATE_APERTURE,
  };
  banks[3] = (HsaMemoryProperties){
      .HeapType = HSA_HEAPTYPE_MMIO_REMAP,
      .SizeInBytes = sizeof machine->shared->hdp_flush[0],
      .VirtualBaseAddress = (uintptr_t)machine->shared->hdp_flush[gpu->ordinal],
  };
}

static void describe_cpu_cache(uint32_t i, HsaCacheProperties *cache) {
  const long size = sysconf(cpu_cache_table[i].size_name);
  const long line = sysconf(cpu_cache_table[i].line_name);
  cache->CacheLevel = cpu_cache_table[i].level;
  cache->CacheSize = size > 0 ? (uint32_t)(size / 1024) : 0;
  cache->CacheLineSize = line > 0 ? (uint32_t)line : 0;
  cache->CacheType.ui32.Data = 1;
  cache->CacheType.ui32.CPU = 1;
}

static void describe_gpu_cache(const gs_profile_t *profile, uint32_t i, HsaCacheProperties *cache) {
  cache->CacheLevel = i + 1;
  cache->CacheSize = i == 0 ? profile->l1_kib : profile->l2_kib;
  cache->CacheLineSize = 64;
  cache->CacheType.ui32.Data = 1;
  cache->CacheType.ui32.HSACU = 1;
}

/* What the doors ask for. */

void gs_topology_node(gs_machine_t *machine, uint32_t node, HsaNodeProperties *properties) {
  memset(properties, 0, sizeof *properties);
  const gs_gpu_t *gpu = gs_machine_gpu(machine, node);
  if (gpu)
    describe_gpu(gpu, properties);
  else
    describe_cpu(machine, properties);
}

uint32_t gs_topology_banks(gs_machine_t *machine, uint32_t node, HsaMemoryProperties banks[GS_MOST_BANKS]) {
  memset(banks, 0, GS_MOST_BANKS * sizeof *banks);
  const gs_gpu_t *gpu = gs_machine_gpu(machine, node);
  if (gpu)
    describe_gpu_memory(gpu, banks);
  else
    describe_cpu_memory(machine, banks);
  return gpu ? GPU_BANKS : 1;
}

uint32_t gs_topology_caches(gs_machine_t *machine, uint32_t node, HsaCacheProperties caches[GS_MOST_CACHES]) {
  memset(caches, 0, GS_MOST_CACHES * sizeof *caches);
  const gs_gpu_t *gpu = gs_machine_gpu(machine, node);
  const uint32_t known = gpu ? GPU_CACHES : CPU_CACHES;
  for (uint32_t i = 0; i < known; i++) {
    if (gpu)
      describe_gpu_cache(gpu->profile, i, &caches[i]);
    else
      describe_cpu_cache(i, &caches[i]);
  }
  return known;
}

/* The CPU node that a node is, or is next to. */
static uint32_t cpu_of(gs_machine_t *machine, uint32_t node) {
  const gs_gpu_t *gpu = gs_machine_gpu(machine, node);
  if (!gpu)
    return node;
  return machine->options.numa && gpu->ordinal % 2 ? gs_machine_nodes(machine) - 1 : GS_CPU_NODE;
}

/* Between GPUs the way leads through the root complex of a CPU: two links. */
static uint32_t distance(gs_machine_t *machine, uint32_t from, uint32_t to) {
  const uint32_t links = (gs_machine_gpu(machine, from) ? 1U : 0U) + (gs_machine_gpu(machine, to) ? 1U : 0U);
  return links * PCIE_WEIGHT + (cpu_of(machine, from) != cpu_of(machine, to) ? CPU_WEIGHT : 0);
}

uint32_t gs_topology_links(gs_machine_t *machine, uint32_t node, HsaIoLinkProperties links[GS_MOST_LINKS]) {
  uint32_t filled = 0;
  for (uint32_t other = 0; other < gs_machine_nodes(machine); other++) {
    if (other == node)
      continue;
    const bool xgmi = in_one_hive(gs_machine_gpu(machine, node), gs_machine_gpu(machine, other));
    const bool no_atomics = !machine->options.pcie_atomics && !xgmi;
    links[filled++] = (HsaIoLinkProperties){
        .IoLinkType = xgmi ? HSA_IOLINK_TYPE_XGMI : HSA_IOLINKTYPE_PCIEXPRESS,
        .NodeFrom = node,
        .NodeTo = other,
        .Weight = xgmi ? XGMI_WEIGHT : distance(machine, node, other),
        .Flags.ui32 = {.Override = no_atomics, .NoAtomics32bit = no_atomics, .NoAtomics64bit = no_atomics},
    };
  }
  return filled;
}
