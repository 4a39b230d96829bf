/* From the machine's description to the names that the driver has for its parts. */
#include "kfd/topology_text.h"

#include <inttypes.h>

#include "kfd/objects.h"
#include "machine/topology.h"

enum { FIRST_GPU_ID = 0x1000 };

/* The driver has attributes of shared virtual memory. */
#define SVM_API (UINT32_C(1) << 27)
/* The driver tells debuggers' needs by this bit; ROCr initialises itself a second time only with it. */
#define FIRMWARE_CAN_DEBUG (UINT32_C(1) << 29)

uint32_t gs_kfd_gpu_id(const gs_gpu_t *gpu) {
  return FIRST_GPU_ID + gpu->node;
}

gs_gpu_t *gs_kfd_gpu_of(gs_machine_t *machine, uint32_t id) {
  return id > FIRST_GPU_ID ? gs_machine_gpu(machine, id - FIRST_GPU_ID) : NULL;
}

static uint32_t whole_pages(uint32_t bytes) {
  enum { PAGE = 4096 };
  return (bytes + PAGE - 1) / PAGE * PAGE;
}

gs_save_sizes_t gs_kfd_save_sizes(const gs_gpu_t *gpu) {
  enum { HEADER = 40, HARDWARE_REGISTERS = 0x1000, MOST_OF_GFX10 = 0x7000 };
  HsaNodeProperties node;
  gs_topology_node(gpu->machine, gpu->node, &node);
  const uint32_t cus = node.NumFComputeCores / node.NumSIMDPerCU / gs_topology_xccs(&node);
  const bool gfx9 = gpu->profile->gfx_major < 10;
  const uint32_t most = node.NumShaderBanks * 512;
  const uint32_t waves = !gfx9 ? cus * 32 : cus * 40 < most ? cus * 40 : most;
  uint32_t stack = whole_pages(HEADER + waves * (gfx9 ? 8 : 12) + 8);
  if (gpu->profile->gfx_major == 10 && stack > MOST_OF_GFX10)
    stack = MOST_OF_GFX10;
  const uint32_t unit =
      node.VGPRSizePerCU + node.SGPRSizePerCU + (node.LDSSizeInKB << 10) + HARDWARE_REGISTERS;
  return (gs_save_sizes_t){.control_stack = stack, .area = stack + whole_pages(cus * unit)};
}

static void write_value(FILE *to, const char *name, uint64_t value) {
  fprintf(to, "%s %" PRIu64 "\n", name, value);
}

void gs_write_generation(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  (void)machine; /* which never changes */
  (void)numbers;
  fputs("1\n", to);
}

void gs_write_system(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  (void)machine;
  (void)numbers;
  fputs("platform_oem 0\nplatform_id 0\nplatform_rev 0\n", to);
}

void gs_write_gpu_id(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  const gs_gpu_t *gpu = gs_machine_gpu(machine, numbers->of[0]);
  fprintf(to, "%" PRIu32 "\n", gpu ? gs_kfd_gpu_id(gpu) : 0);
}

void gs_write_node_name(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  const gs_gpu_t *gpu = gs_machine_gpu(machine, numbers->of[0]);
  fprintf(to, "%s\n", gpu ? gpu->profile->family_name : "");
}

/* Links. The driver lists those to peers on the same bus apart, and one from a processor to a GPU only if the
 * processor reaches all of that GPU's memory: ROCr then copies code there by itself. */

static bool is_listed(gs_machine_t *machine, const HsaIoLinkProperties *link, gs_parts_of_t what) {
  const gs_gpu_t *from = gs_machine_gpu(machine, link->NodeFrom), *to = gs_machine_gpu(machine, link->NodeTo);
  const bool peers = from && to && link->IoLinkType == HSA_IOLINKTYPE_PCIEXPRESS;
  if (!from && to && !to->host_visible)
    return false;
  return peers == (what == GS_PARTS_PEERS);
}

/* The links of a kind that are listed; how many they are. */
static uint32_t list_links(gs_machine_t *machine, uint32_t node, gs_parts_of_t what,
                           HsaIoLinkProperties links[GS_MOST_LINKS]) {
  const uint32_t all = gs_topology_links(machine, node, links);
  uint32_t count = 0;
  for (uint32_t i = 0; i < all; i++)
    if (is_listed(machine, &links[i], what))
      links[count++] = links[i];
  return count;
}

uint32_t gs_kfd_count(gs_machine_t *machine, uint32_t node, gs_parts_of_t what) {
  HsaIoLinkProperties links[GS_MOST_LINKS];
  HsaCacheProperties caches[GS_MOST_CACHES];
  const bool is_gpu = gs_machine_gpu(machine, node) != NULL;
  switch (what) {
  case GS_PARTS_BANKS: return 1; /* the thunk knows the others by itself */
  case GS_PARTS_CACHES:
    return is_gpu ? gs_topology_caches(machine, node, caches)
                  : 0; /* it looks for the processor's where Linux has them */
  default: return list_links(machine, node, what, links);
  }
}

/* The values of a node, in the driver's words and order. */
static void write_units(FILE *to, const HsaNodeProperties *node) {
  write_value(to, "cpu_cores_count", node->NumCPUCores);
  write_value(to, "simd_count", node->NumFComputeCores);
  write_value(to, "cpu_core_id_base", node->CComputeIdLo);
  write_value(to, "simd_id_base", node->FComputeIdLo);
  write_value(to, "max_waves_per_simd", node->MaxWavesPerSIMD);
  write_value(to, "lds_size_in_kb", node->LDSSizeInKB);
  write_value(to, "gds_size_in_kb", 0);
  write_value(to, "num_gws", node->NumGws);
  write_value(to, "wave_front_size", node->WaveFrontSize);
  write_value(to, "array_count", (uint64_t)node->NumShaderBanks * node->NumArrays);
  write_value(to, "simd_arrays_per_engine", node->NumArrays);
  write_value(to, "cu_per_simd_array", node->NumCUPerArray);
  write_value(to, "simd_per_cu", node->NumSIMDPerCU);
  write_value(to, "max_slots_scratch_cu", node->MaxSlotsScratchCU);
}

static void write_identity(FILE *to, const HsaNodeProperties *node) {
  const HSA_ENGINE_ID engine = node->EngineId;
  write_value(to, "gfx_target_version",
              engine.ui32.Major * UINT64_C(10000) + engine.ui32.Minor * UINT64_C(100) + engine.ui32.Stepping);
  write_value(to, "vendor_id", node->VendorId);
  write_value(to, "device_id", node->DeviceId);
  write_value(to, "location_id", node->LocationId);
  write_value(to, "domain", 0);
  write_value(to, "drm_render_minor", node->DrmRenderMinor > 0 ? (uint64_t)node->DrmRenderMinor : 0);
  write_value(to, "hive_id", node->HiveID);
  write_value(to, "num_sdma_engines", node->NumSdmaEngines);
  write_value(to, "num_sdma_xgmi_engines", node->NumSdmaXgmiEngines);
  write_value(to, "num_sdma_queues_per_engine", node->NumSdmaQueuesPerEngine);
  write_value(to, "num_cp_queues", node->NumCpQueues);
}

static void write_of_gpu(FILE *to, const gs_gpu_t *gpu, const HsaNodeProperties *node) {
  const uint32_t svm = gpu->machine->options.svm ? SVM_API : 0;
  const gs_save_sizes_t save = gs_kfd_save_sizes(gpu);
  write_value(to, "cwsr_size", save.area);
  write_value(to, "ctl_stack_size", save.control_stack);
  write_value(to, "max_engine_clk_fcompute", node->MaxEngineClockMhzFCompute);
  write_value(to, "local_mem_size", 0);
  write_value(to, "fw_version", node->EngineId.ui32.uCode);
  write_value(to, "capability", node->Capability.Value | FIRMWARE_CAN_DEBUG | svm);
  write_value(to, "debug_prop", 0);
  write_value(to, "sdma_fw_version", node->uCodeEngineVersions.uCodeSDMA);
  write_value(to, "unique_id", node->UniqueID);
  write_value(to, "num_xcc", gs_topology_xccs(node));
}

void gs_write_node(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  const uint32_t n = numbers->of[0];
  const gs_gpu_t *gpu = gs_machine_gpu(machine, n);
  HsaNodeProperties node;
  gs_topology_node(machine, n, &node);
  write_units(to, &node);
  write_value(to, "mem_banks_count", gs_kfd_count(machine, n, GS_PARTS_BANKS));
  write_value(to, "caches_count", gs_kfd_count(machine, n, GS_PARTS_CACHES));
  write_value(to, "io_links_count", gs_kfd_count(machine, n, GS_PARTS_LINKS));
  write_value(to, "p2p_links_count", gs_kfd_count(machine, n, GS_PARTS_PEERS));
  write_identity(to, &node);
  if (gpu)
    write_of_gpu(to, gpu, &node);
  write_value(to, "max_engine_clk_ccompute", node.MaxEngineClockMhzCCompute);
}

void gs_write_bank(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  HsaMemoryProperties banks[GS_MOST_BANKS];
  gs_topology_banks(machine, numbers->of[0], banks);
  const HsaMemoryProperties *bank = &banks[numbers->of[1]];
  write_value(to, "heap_type", bank->HeapType);
  write_value(to, "size_in_bytes", bank->SizeInBytes);
  write_value(to, "flags", bank->Flags.MemoryProperty);
  write_value(to, "width", bank->Width);
  write_value(to, "mem_clk_max", bank->MemoryClockMax);
}

void gs_write_cache(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  HsaCacheProperties caches[GS_MOST_CACHES];
  gs_topology_caches(machine, numbers->of[0], caches);
  const HsaCacheProperties *cache = &caches[numbers->of[1]];
  write_value(to, "processor_id_low", cache->ProcessorIdLow);
  write_value(to, "level", cache->CacheLevel);
  write_value(to, "size", cache->CacheSize);
  write_value(to, "cache_line_size", cache->CacheLineSize);
  write_value(to, "cache_lines_per_tag", cache->CacheLinesPerTag);
  write_value(to, "association", cache->CacheAssociativity);
  write_value(to, "latency", cache->CacheLatency);
  write_value(to, "type", cache->CacheType.Value);
  fputs("sibling_map 1\n", to);
}

static void write_link(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers,
                       gs_parts_of_t what) {
  HsaIoLinkProperties links[GS_MOST_LINKS];
  list_links(machine, numbers->of[0], what, links);
  const HsaIoLinkProperties *link = &links[numbers->of[1]];
  write_value(to, "type", link->IoLinkType);
  write_value(to, "version_major", 0);
  write_value(to, "version_minor", 0);
  write_value(to, "node_from", link->NodeFrom);
  write_value(to, "node_to", link->NodeTo);
  write_value(to, "weight", link->Weight);
  write_value(to, "min_latency", 0);
  write_value(to, "max_latency", 0);
  write_value(to, "min_bandwidth", 0);
  write_value(to, "max_bandwidth", 0);
  write_value(to, "recommended_transfer_size", 0);
  write_value(to, "recommended_sdma_engine_id_mask", 0); /* one is as good as another */
  write_value(to, "flags", link->Flags.LinkProperty);
}

void gs_write_link(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  write_link(to, machine, numbers, GS_PARTS_LINKS);
}

void gs_write_peer(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  write_link(to, machine, numbers, GS_PARTS_PEERS);
}
