/* The page about a device. */
#include "openmp/info.h"

#include "base/hsa.h"

#include <stdio.h>

enum { TEXT_BYTES = 256 };

/* Prints a label and a value in two columns, with four spaces per level. */
static void print_row(FILE *out, int level, const char *label, const char *value) {
  fprintf(out, "%*s%-*s%s\n", 4 * level, "", *value ? 40 - 4 * level : 0, label, value);
}

static void print_number(FILE *out, int level, const char *label, uint64_t value, const char *unit) {
  char text[TEXT_BYTES];
  snprintf(text, sizeof text, "%llu%s%s", (unsigned long long)value, *unit ? " " : "", unit);
  print_row(out, level, label, text);
}

/* ---- the agent ---- */

typedef struct attribute {
  int id; /* hsa_agent_info_t or one of AMD's */
  enum { TEXT, BOOLEAN, NUMBER, LOCATION, DEVICE_TYPE, DIMENSIONS16, DIMENSIONS32, CACHES } type;
  char label[34], unit[8];
} attribute_t;

/* In the words and order of LLVM's plugins, which scripts may know. */
static const attribute_t attributes[] = {
    {HSA_AMD_AGENT_INFO_PRODUCT_NAME, TEXT, "Product Name:", ""},
    {HSA_AGENT_INFO_NAME, TEXT, "Device Name:", ""},
    {HSA_AGENT_INFO_VENDOR_NAME, TEXT, "Vendor Name:", ""},
    {HSA_AGENT_INFO_DEVICE, DEVICE_TYPE, "Device Type:", ""},
    {HSA_AMD_AGENT_INFO_CHIP_ID, NUMBER, "Chip ID:", ""},
    {HSA_AMD_AGENT_INFO_BDFID, LOCATION, "PCI Location:", ""},
    {HSA_AGENT_INFO_QUEUES_MAX, NUMBER, "Max Queues:", ""},
    {HSA_AGENT_INFO_QUEUE_MIN_SIZE, NUMBER, "Queue Min Size:", "packets"},
    {HSA_AGENT_INFO_QUEUE_MAX_SIZE, NUMBER, "Queue Max Size:", "packets"},
    {HSA_AGENT_INFO_CACHE_SIZE, CACHES, "Cache:", "bytes"},
    {HSA_AMD_AGENT_INFO_CACHELINE_SIZE, NUMBER, "Cacheline Size:", "bytes"},
    {HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY, NUMBER, "Max Clock Freq:", "MHz"},
    {HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY, NUMBER, "Max Memory Freq:", "MHz"},
    {HSA_AMD_AGENT_INFO_MEMORY_WIDTH, NUMBER, "Memory Width:", "bits"},
    {HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, NUMBER, "Compute Units:", ""},
    {HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU, NUMBER, "SIMD per CU:", ""},
    {HSA_AGENT_INFO_FAST_F16_OPERATION, BOOLEAN, "Fast F16 Operation:", ""},
    {HSA_AGENT_INFO_WAVEFRONT_SIZE, NUMBER, "Wavefront Size:", ""},
    {HSA_AGENT_INFO_WORKGROUP_MAX_SIZE, NUMBER, "Workgroup Max Size:", ""},
    {HSA_AGENT_INFO_WORKGROUP_MAX_DIM, DIMENSIONS16, "Workgroup Max Size per Dimension:", ""},
    {HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU, NUMBER, "Max Waves Per CU:", ""},
    {HSA_AGENT_INFO_GRID_MAX_SIZE, NUMBER, "Grid Max Size:", ""},
    {HSA_AGENT_INFO_GRID_MAX_DIM, DIMENSIONS32, "Grid Max Size per Dimension:", ""},
    {HSA_AGENT_INFO_FBARRIER_MAX_SIZE, NUMBER, "Max fbarriers/Workgrp:", ""},
};

/* What HSA answers, by type; never more than the largest. */
typedef union answer {
  char text[TEXT_BYTES];
  bool boolean;
  uint32_t numbers[4];
  hsa_device_type_t type;
  uint16_t dimensions16[3];
  hsa_dim3_t dimensions32;
} answer_t;

static void print_dimensions(FILE *out, uint32_t x, uint32_t y, uint32_t z) {
  print_number(out, 2, "x:", x, "");
  print_number(out, 2, "y:", y, "");
  print_number(out, 2, "z:", z, "");
}

static void print_caches(FILE *out, const attribute_t *attribute, const answer_t *answer) {
  static const char *const labels[] = {"L0:", "L1:", "L2:", "L3:"};
  for (size_t i = 0; i < 4; i++)
    if (answer->numbers[i])
      print_number(out, 2, labels[i], answer->numbers[i], attribute->unit);
}

/* Bus, device and function as lspci writes them. */
static void print_location(FILE *out, const char *label, uint32_t bdf) {
  char text[TEXT_BYTES];
  snprintf(text, sizeof text, "%02x:%02x.%x", bdf >> 8 & 0xff, bdf >> 3 & 0x1f, bdf & 7);
  print_row(out, 1, label, text);
}

static void print_attribute(FILE *out, hsa_agent_t agent, const attribute_t *attribute) {
  static const char *const types[] = {"CPU", "GPU", "DSP"};
  answer_t answer = {{0}};
  if (hsa_agent_get_info(agent, (hsa_agent_info_t)attribute->id, &answer) != HSA_STATUS_SUCCESS)
    return; /* older ROCr know less */
  switch (attribute->type) {
  case TEXT: print_row(out, 1, attribute->label, answer.text); return;
  case BOOLEAN: print_row(out, 1, attribute->label, answer.boolean ? "TRUE" : "FALSE"); return;
  case NUMBER: print_number(out, 1, attribute->label, answer.numbers[0], attribute->unit); return;
  case LOCATION: print_location(out, attribute->label, answer.numbers[0]); return;
  case DEVICE_TYPE:
    print_row(out, 1, attribute->label, (unsigned)answer.type < 3 ? types[answer.type] : "unknown");
    return;
  case DIMENSIONS16:
    print_row(out, 1, attribute->label, "");
    print_dimensions(out, answer.dimensions16[0], answer.dimensions16[1], answer.dimensions16[2]);
    return;
  case DIMENSIONS32:
    print_row(out, 1, attribute->label, "");
    print_dimensions(out, answer.dimensions32.x, answer.dimensions32.y, answer.dimensions32.z);
    return;
  case CACHES:
    print_row(out, 1, attribute->label, "");
    print_caches(out, attribute, &answer);
    return;
  }
}

/* ---- memory ---- */

static const char *pool_name(hsa_amd_segment_t segment, uint32_t flags) {
  switch (segment) {
  case HSA_AMD_SEGMENT_READONLY: return "Pool READONLY:";
  case HSA_AMD_SEGMENT_PRIVATE: return "Pool PRIVATE:";
  case HSA_AMD_SEGMENT_GROUP: return "Pool GROUP:";
  case HSA_AMD_SEGMENT_GLOBAL:
    if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)
      return "Pool GLOBAL; FLAGS: KERNARG, FINE GRAINED:";
    return flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED ? "Pool GLOBAL; FLAGS: FINE GRAINED:"
                                                                : "Pool GLOBAL; FLAGS: COARSE GRAINED:";
  }
  return "Pool of an unknown segment:";
}

static hsa_status_t print_pool(hsa_amd_memory_pool_t pool, void *context) {
  static const struct {
    hsa_amd_memory_pool_info_t id;
    const char *label;
    bool is_boolean;
  } rows[] = {
      {HSA_AMD_MEMORY_POOL_INFO_SIZE, "Size:", false},
      {HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, "Allocatable:", true},
      {HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE, "Runtime Alloc Granule:", false},
      {HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT, "Runtime Alloc Alignment:", false},
      {HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL, "Accessible by all:", true},
  };
  FILE *out = context;
  hsa_amd_segment_t segment = HSA_AMD_SEGMENT_GLOBAL;
  uint32_t flags = 0;
  hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
  if (segment == HSA_AMD_SEGMENT_GLOBAL)
    hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
  print_row(out, 2, pool_name(segment, flags), "");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    union {
      bool boolean;
      size_t number;
    } answer = {.number = 0};
    if (hsa_amd_memory_pool_get_info(pool, rows[i].id, &answer) != HSA_STATUS_SUCCESS)
      continue;
    if (rows[i].is_boolean)
      print_row(out, 3, rows[i].label, answer.boolean ? "TRUE" : "FALSE");
    else
      print_number(out, 3, rows[i].label, answer.number, "bytes");
  }
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t print_isa(hsa_isa_t isa, void *context) {
  char name[TEXT_BYTES] = "";
  if (hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, name) == HSA_STATUS_SUCCESS)
    print_row(context, 2, "Name:", name);
  return HSA_STATUS_SUCCESS;
}

void atmi_info_print(const atmi_omp_device_t *device, FILE *out) {
  hsa_agent_t agent = device->core->agent;
  const atmi_device_properties_t *properties = &device->core->properties;
  uint16_t major = 0, minor = 0;
  char version[TEXT_BYTES];
  hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major);
  hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MINOR, &minor);
  snprintf(version, sizeof version, "%u.%u", major, minor);
  flockfile(out);
  print_row(out, 1, "Plugin:", "omptarget-amdgpu " ATMI_VERSION);
  print_row(out, 1, "HSA Runtime Version:", version);
  print_number(out, 1, "HSA OpenMP Device Number:", device->core->number, "");
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
    print_attribute(out, agent, &attributes[i]);
  print_number(out, 1,
               "Max Work-item Per CU:", (uint64_t)properties->max_waves_per_cu * properties->wavefront, "");
  print_number(out, 1, "LDS Per Workgroup:", properties->lds_bytes, "bytes");
  print_number(out, 1, "Default Teams:", device->limits.default_teams, "");
  print_row(out, 1, "Memory Pools:", "");
  hsa_amd_agent_iterate_memory_pools(agent, print_pool, out);
  print_row(out, 1, "ISAs:", "");
  hsa_agent_iterate_isas(agent, print_isa, out);
  funlockfile(out);
}
