/* The models of GPU, and reading the names of some. */
#include "exec/profile.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Device memory that the driver reports for a card with so many GiB: the firmware keeps 16 MiB. */
#define VRAM(gib) ((UINT64_C(gib) << 30) - (UINT64_C(16) << 20))

/* What belongs together stays on one line. */
/* clang-format off */
static const gs_profile_t profiles[] = {
    {
        .name = "gfx950",
        .marketing_name = "AMD Instinct MI350X",
        .family_name = "aqua_vanjaram",
        .target = GS_GFX950,
        .gfx_major = 9, .gfx_minor = 5, .gfx_stepping = 0,
        .device_id = 0x75a0, .family_id = 141,
        .cus = 256, .simds_per_cu = 4, .waves_per_simd = 8,
        .shader_engines = 32, .arrays_per_engine = 1, .xccs = 8, .scratch_slots_per_cu = 32,
        .engine_clock_mhz = 2200, .memory_clock_mhz = 2000, .memory_bus_bits = 8192,
        .memory_bytes = VRAM(288), .l1_kib = 32, .l2_kib = 4096, .lds_bytes = 163840,
        .sdma_engines = 2,
        .sramecc = true, .xnack = true, .packed_work_item_id = true, .unified_vgprs = true, .vgpr_granule = 8,
        .ready_scratch = true, .kernarg_preload = true,
    },
    {
        .name = "gfx942",
        .marketing_name = "AMD Instinct MI300X",
        .family_name = "aqua_vanjaram",
        .target = GS_GFX942,
        .gfx_major = 9, .gfx_minor = 4, .gfx_stepping = 2,
        .device_id = 0x74a1, .revision = 1, .family_id = 141,
        .cus = 304, .simds_per_cu = 4, .waves_per_simd = 8,
        .shader_engines = 32, .arrays_per_engine = 1, .xccs = 8, .scratch_slots_per_cu = 32,
        .engine_clock_mhz = 2100, .memory_clock_mhz = 1300, .memory_bus_bits = 8192,
        .memory_bytes = VRAM(192), .l1_kib = 32, .l2_kib = 4096, .lds_bytes = 65536,
        .sdma_engines = 2,
        .sramecc = true, .xnack = true, .packed_work_item_id = true, .unified_vgprs = true, .vgpr_granule = 8,
        .ready_scratch = true, .kernarg_preload = true,
    },
    {
        .name = "mi300a",
        .marketing_name = "AMD Instinct MI300A",
        .family_name = "aqua_vanjaram",
        .target = GS_GFX942,
        .gfx_major = 9, .gfx_minor = 4, .gfx_stepping = 2,
        .device_id = 0x74a0, .revision = 1, .family_id = 141,
        .cus = 228, .simds_per_cu = 4, .waves_per_simd = 8,
        .shader_engines = 24, .arrays_per_engine = 1, .xccs = 6, .scratch_slots_per_cu = 32,
        .engine_clock_mhz = 2100, .memory_clock_mhz = 1300, .memory_bus_bits = 8192,
        .memory_bytes = VRAM(128), .l1_kib = 32, .l2_kib = 4096, .lds_bytes = 65536,
        .sdma_engines = 2,
        .sramecc = true, .xnack = true, .packed_work_item_id = true, .unified_vgprs = true, .vgpr_granule = 8,
        .ready_scratch = true, .kernarg_preload = true,
    },
    {
        .name = "gfx90a",
        .marketing_name = "AMD Instinct MI210",
        .family_name = "aldebaran",
        .target = GS_GFX90A,
        .gfx_major = 9, .gfx_minor = 0, .gfx_stepping = 10,
        .device_id = 0x740f, .revision = 1, .pci_revision = 2, .family_id = 141,
        .cus = 104, .simds_per_cu = 4, .waves_per_simd = 8,
        .shader_engines = 8, .arrays_per_engine = 1, .scratch_slots_per_cu = 32,
        .engine_clock_mhz = 1700, .memory_clock_mhz = 1600, .memory_bus_bits = 4096,
        .memory_bytes = VRAM(64), .l1_kib = 16, .l2_kib = 8192, .lds_bytes = 65536,
        .sdma_engines = 2,
        .sramecc = true, .xnack = true, .packed_work_item_id = true, .unified_vgprs = true, .vgpr_granule = 8,
        .kernarg_preload = true,
    },
    {
        .name = "gfx908",
        .marketing_name = "AMD Instinct MI100",
        .family_name = "arcturus",
        .target = GS_GFX908,
        .gfx_major = 9, .gfx_minor = 0, .gfx_stepping = 8,
        .device_id = 0x738c, .revision = 2, .pci_revision = 1, .family_id = 141,
        .cus = 120, .simds_per_cu = 4, .waves_per_simd = 10,
        .shader_engines = 8, .arrays_per_engine = 1, .scratch_slots_per_cu = 32,
        .engine_clock_mhz = 1502, .memory_clock_mhz = 1200, .memory_bus_bits = 4096,
        .memory_bytes = VRAM(32), .l1_kib = 16, .l2_kib = 8192, .lds_bytes = 65536,
        .sdma_engines = 2,
        .sramecc = true, .acc_vgprs = true, .vgpr_granule = 4,
    },
    {
        .name = "gfx906",
        .marketing_name = "AMD Radeon Instinct MI50",
        .family_name = "vega20",
        .target = GS_GFX906,
        .gfx_major = 9, .gfx_minor = 0, .gfx_stepping = 6,
        .device_id = 0x66a1, .revision = 1, .pci_revision = 2, .family_id = 141,
        .cus = 60, .simds_per_cu = 4, .waves_per_simd = 10,
        .shader_engines = 4, .arrays_per_engine = 1, .scratch_slots_per_cu = 32,
        .engine_clock_mhz = 1725, .memory_clock_mhz = 1000, .memory_bus_bits = 4096,
        .memory_bytes = VRAM(16), .l1_kib = 16, .l2_kib = 8192, .lds_bytes = 65536,
        .sdma_engines = 2,
        .sramecc = true, .vgpr_granule = 4,
    },
    {
        .name = "gfx900",
        .marketing_name = "AMD Radeon Instinct MI25",
        .family_name = "vega10",
        .target = GS_GFX900,
        .gfx_major = 9, .gfx_minor = 0, .gfx_stepping = 0,
        .device_id = 0x6860, .family_id = 141,
        .cus = 64, .simds_per_cu = 4, .waves_per_simd = 10,
        .shader_engines = 4, .arrays_per_engine = 1, .scratch_slots_per_cu = 32,
        .engine_clock_mhz = 1500, .memory_clock_mhz = 945, .memory_bus_bits = 2048,
        .memory_bytes = VRAM(16), .l1_kib = 16, .l2_kib = 4096, .lds_bytes = 65536,
        .sdma_engines = 2, .link = GS_LINK_PCIE3,
        .vgpr_granule = 4,
    },
    {
        .name = "gfx1030",
        .marketing_name = "AMD Radeon RX 6900 XT",
        .family_name = "sienna_cichlid",
        .target = GS_GFX1030, .narrow_target = GS_GFX1030_W32,
        .gfx_major = 10, .gfx_minor = 3, .gfx_stepping = 0,
        .device_id = 0x73bf, .revision = 1, .pci_revision = 0xc0, .family_id = 143,
        .cus = 80, .simds_per_cu = 2, .waves_per_simd = 16,
        .shader_engines = 4, .arrays_per_engine = 2, .scratch_slots_per_cu = 32,
        .engine_clock_mhz = 2660, .memory_clock_mhz = 1000, .memory_bus_bits = 256,
        .memory_bytes = VRAM(16), .l1_kib = 16, .l2_kib = 4096, .lds_bytes = 65536,
        .sdma_engines = 2,
        .vgpr_granule = 4, .vgpr_file = 512, .vgpr_block = 8,
    },
    {
        .name = "gfx1100",
        .marketing_name = "AMD Radeon RX 7900 XTX",
        .family_name = "ip discovery",
        .target = GS_GFX1100, .narrow_target = GS_GFX1100_W32,
        .gfx_major = 11, .gfx_minor = 0, .gfx_stepping = 0,
        .device_id = 0x744c, .revision = 1, .pci_revision = 0xc8, .family_id = 145,
        .cus = 96, .simds_per_cu = 2, .waves_per_simd = 16,
        .shader_engines = 6, .arrays_per_engine = 2, .scratch_slots_per_cu = 32,
        .engine_clock_mhz = 2482, .memory_clock_mhz = 1249, .memory_bus_bits = 384,
        .memory_bytes = VRAM(24), .l1_kib = 32, .l2_kib = 6144, .lds_bytes = 65536,
        .sdma_engines = 2,
        .packed_work_item_id = true, .architected_scratch = true,
        .vgpr_granule = 4, .vgpr_file = 768, .vgpr_block = 12,
    },
    {
        .name = "gfx1101",
        .marketing_name = "AMD Radeon RX 7800 XT",
        .family_name = "ip discovery",
        .target = GS_GFX1100, .narrow_target = GS_GFX1100_W32,
        .gfx_major = 11, .gfx_minor = 0, .gfx_stepping = 1,
        .device_id = 0x747e, .revision = 1, .pci_revision = 0xc8, .family_id = 145,
        .cus = 60, .simds_per_cu = 2, .waves_per_simd = 16,
        .shader_engines = 3, .arrays_per_engine = 2, .scratch_slots_per_cu = 32,
        .engine_clock_mhz = 2430, .memory_clock_mhz = 1219, .memory_bus_bits = 256,
        .memory_bytes = VRAM(16), .l1_kib = 32, .l2_kib = 4096, .lds_bytes = 65536,
        .sdma_engines = 2,
        .packed_work_item_id = true, .architected_scratch = true,
        .vgpr_granule = 4, .vgpr_file = 768, .vgpr_block = 12,
    },
    { /* in processors, with a part of the host's memory that firmware keeps for it */
        .name = "gfx1036",
        .marketing_name = "AMD Radeon Graphics",
        .family_name = "ip discovery",
        .target = GS_GFX1030, .narrow_target = GS_GFX1030_W32,
        .gfx_major = 10, .gfx_minor = 3, .gfx_stepping = 6,
        .device_id = 0x164e, .revision = 1, .family_id = 149,
        .cus = 2, .simds_per_cu = 2, .waves_per_simd = 16,
        .shader_engines = 1, .arrays_per_engine = 1, .scratch_slots_per_cu = 32,
        .engine_clock_mhz = 2200, .memory_clock_mhz = 2400, .memory_bus_bits = 128,
        .memory_bytes = VRAM(1), .l1_kib = 16, .l2_kib = 256, .lds_bytes = 65536,
        .sdma_engines = 1,
        .vgpr_granule = 4, .vgpr_file = 512, .vgpr_block = 8,
    },
    { /* in processors, as gfx1036 is, of which firmware may keep more */
        .name = "gfx1151",
        .marketing_name = "AMD Radeon 8060S Graphics",
        .family_name = "ip discovery",
        .target = GS_GFX1151, .narrow_target = GS_GFX1151_W32,
        .gfx_major = 11, .gfx_minor = 5, .gfx_stepping = 1,
        .device_id = 0x1586, .pci_revision = 0xc1, .family_id = 150,
        .cus = 40, .simds_per_cu = 2, .waves_per_simd = 16,
        .shader_engines = 2, .arrays_per_engine = 2, .scratch_slots_per_cu = 32,
        .engine_clock_mhz = 2900, .memory_clock_mhz = 1000, .memory_bus_bits = 256,
        .memory_bytes = VRAM(4), .l1_kib = 32, .l2_kib = 2048, .lds_bytes = 65536,
        .sdma_engines = 1,
        .packed_work_item_id = true, .architected_scratch = true,
        .vgpr_granule = 4, .vgpr_file = 768, .vgpr_block = 12,
    },
};
/* clang-format on */

const gs_profile_t *gs_profile_at(size_t i) {
  return i < sizeof profiles / sizeof profiles[0] ? &profiles[i] : NULL;
}

const gs_profile_t *gs_profile_find(const char *name) {
  for (size_t i = 0; gs_profile_at(i); i++)
    if (strcmp(profiles[i].name, name) == 0)
      return &profiles[i];
  return NULL;
}

uint32_t gs_profile_engines(const gs_profile_t *profile, uint32_t cus) {
  const uint32_t arrays = profile->shader_engines * profile->arrays_per_engine;
  const uint32_t least = profile->xccs ? profile->xccs : 1;
  return cus == profile->cus || cus % arrays == 0 ? profile->shader_engines : least;
}

void gs_profile_scratch(const gs_profile_t *profile, uint32_t cus, uint32_t tmpring, uint32_t *waves,
                        uint32_t *wave_bytes) {
  enum {
    WAVES = 0xfff,
    SIZE_SHIFT = 12,
    SIZE = 0x1fff,
    SIZE_BYTES = 1024,
    LONG_SIZE = 0x7fff,
    LONG_SIZE_BYTES = 256
  };
  const uint32_t size = tmpring >> SIZE_SHIFT;
  const bool newer = profile->architected_scratch;
  *waves = (tmpring & WAVES) * (newer ? gs_profile_engines(profile, cus) : 1);
  *wave_bytes = newer ? (size & LONG_SIZE) * LONG_SIZE_BYTES : (size & SIZE) * SIZE_BYTES;
}

/* Parses the memory size of "gfx906:8G". Returns false when it is none. */
static bool parse_bytes(const char *text, uint64_t *bytes) {
  static const struct {
    char suffix;
    unsigned shift;
  } unit[] = {{'\0', 0}, {'K', 10}, {'M', 20}, {'G', 30}};
  enum { MOST_GIB = 1024, PAGE_BYTES = 4096 };
  char *end = NULL;
  if (!isdigit((unsigned char)*text))
    return false;
  const unsigned long long number = strtoull(text, &end, 10);
  for (unsigned i = 0; i < sizeof unit / sizeof *unit; i++) {
    if (toupper((unsigned char)*end) != unit[i].suffix || (*end && end[1]))
      continue;
    const uint64_t most = ((uint64_t)MOST_GIB << 30) >> unit[i].shift;
    *bytes = (number << unit[i].shift) & ~(uint64_t)(PAGE_BYTES - 1);
    return number <= most && *bytes > 0;
  }
  return false;
}

/* Why a description is none. */
static void explain(const char *description, char reason[GS_PARTS_REASON_BYTES]) {
  char known[256] = "";
  for (size_t i = 0; gs_profile_at(i); i++) {
    strncat(known, " ", sizeof known - strlen(known) - 1);
    strncat(known, profiles[i].name, sizeof known - strlen(known) - 1);
  }
  snprintf(reason, GS_PARTS_REASON_BYTES,
           "\"%.99s\" is not a device; known are:%s, each with :<size>[K|M|G] for another memory size",
           description, known);
}

static bool part_parse(const char *description, gs_part_t *part) {
  char name[32];
  const size_t length = strcspn(description, ":");
  if (length >= sizeof name)
    return false;
  memcpy(name, description, length);
  name[length] = '\0';
  part->profile = gs_profile_find(name);
  if (!part->profile)
    return false;
  part->memory_bytes = part->profile->memory_bytes;
  return !description[length] || parse_bytes(description + length + 1, &part->memory_bytes);
}

/* Returns how many parts there are then, or -1. */
static int add_part(const char *description, gs_part_t *parts, int count,
                    char reason[GS_PARTS_REASON_BYTES]) {
  if (count == GS_MOST_PARTS)
    snprintf(reason, GS_PARTS_REASON_BYTES, "more than %d devices", GS_MOST_PARTS);
  else if (part_parse(description, &parts[count]))
    return count + 1;
  else
    explain(description, reason);
  return -1;
}

int gs_parts_parse(const char *list, gs_part_t parts[GS_MOST_PARTS], char reason[GS_PARTS_REASON_BYTES]) {
  static const char between[] = ", ";
  char *rest = NULL, *copy = strdup(list);
  if (!copy) {
    snprintf(reason, GS_PARTS_REASON_BYTES, "out of host memory");
    return -1;
  }
  int count = 0;
  for (char *word = strtok_r(copy, between, &rest); word && count >= 0; word = strtok_r(NULL, between, &rest))
    count = add_part(word, parts, count, reason);
  free(copy);
  return count;
}
