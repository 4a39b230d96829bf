/* The models of GPU. */
#include "exec/profile.h"

#include <string.h>

/* Device memory that the driver reports for a card with so many GiB: the firmware keeps 16 MiB. */
#define VRAM(gib) ((UINT64_C(gib) << 30) - (UINT64_C(16) << 20))

static const gs_profile_t profiles[] = {
    {
        .name = "gfx90a",
        .marketing_name = "AMD Instinct MI210",
        .family_name = "aldebaran",
        .target = GS_GFX90A,
        .gfx_major = 9, .gfx_minor = 0, .gfx_stepping = 10,
        .device_id = 0x740f, .revision = 1, .family_id = 141,
        .cus = 104, .simds_per_cu = 4, .waves_per_simd = 8,
        .shader_engines = 8, .arrays_per_engine = 1, .scratch_slots_per_cu = 32,
        .engine_clock_mhz = 1700, .memory_clock_mhz = 1600, .memory_bus_bits = 4096,
        .memory_bytes = VRAM(64), .l1_kib = 16, .l2_kib = 8192, .lds_bytes = 65536,
        .sdma_engines = 2,
        .sramecc = true, .xnack = true, .packed_work_item_id = true, .unified_vgprs = true, .vgpr_granule = 8,
    },
    {
        .name = "gfx908",
        .marketing_name = "AMD Instinct MI100",
        .family_name = "arcturus",
        .target = GS_GFX908,
        .gfx_major = 9, .gfx_minor = 0, .gfx_stepping = 8,
        .device_id = 0x738c, .revision = 2, .family_id = 141,
        .cus = 120, .simds_per_cu = 4, .waves_per_simd = 10,
        .shader_engines = 8, .arrays_per_engine = 1, .scratch_slots_per_cu = 32,
        .engine_clock_mhz = 1502, .memory_clock_mhz = 1200, .memory_bus_bits = 4096,
        .memory_bytes = VRAM(32), .l1_kib = 16, .l2_kib = 8192, .lds_bytes = 65536,
        .sdma_engines = 2,
        .sramecc = true, .vgpr_granule = 4,
    },
    {
        .name = "gfx906",
        .marketing_name = "AMD Radeon Instinct MI50",
        .family_name = "vega20",
        .target = GS_GFX906,
        .gfx_major = 9, .gfx_minor = 0, .gfx_stepping = 6,
        .device_id = 0x66a1, .revision = 1, .family_id = 141,
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
        .sdma_engines = 2,
        .vgpr_granule = 4,
    },
};

const gs_profile_t *gs_profile_at(size_t i) {
  return i < sizeof profiles / sizeof profiles[0] ? &profiles[i] : NULL;
}

const gs_profile_t *gs_profile_find(const char *name) {
  for (size_t i = 0; gs_profile_at(i); i++)
    if (strcmp(profiles[i].name, name) == 0)
      return &profiles[i];
  return NULL;
}
