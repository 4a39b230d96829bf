/* A simulated device has one clock, which never changes, and is as warm as the host: files about power, fans
 * and temperatures are not there, as with drivers of parts that lack them. */
#include "kfd/pci_text.h"

#include <inttypes.h>

#include "kfd/drm.h"
#include "kfd/objects.h"
#include "machine/topology.h"

gs_gpu_t *gs_pci_gpu(gs_machine_t *machine, uint32_t bus) {
  return bus >= 1 && bus <= machine->gpu_count ? &machine->gpu[bus - 1] : NULL;
}

/* Defines a writer of what `format` and its values say of `gpu`; of no values if there are none. */
#define DEFINE_WRITER(name, ...)                                                                             \
  void gs_write_##name(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers) {                  \
    const gs_gpu_t *gpu = gs_pci_gpu(machine, numbers->of[0]);                                               \
    (void)gpu;                                                                                               \
    fprintf(to, __VA_ARGS__);                                                                                \
  }

static uint64_t used(const gs_gpu_t *gpu) {
  return gs_drm_used(gpu->machine, gpu);
}

static unsigned class_of(const gs_gpu_t *gpu) {
  enum { VGA = 0x030000, DISPLAY = 0x038000, ACCELERATOR = 0x120000 };
  if (gpu->profile->gfx_major >= 10)
    return VGA;
  return gpu->profile->architected_scratch ? ACCELERATOR : DISPLAY; /* from MI300 on */
}

static unsigned numa_node_of(const gs_gpu_t *gpu) {
  return gpu->machine->options.numa ? gpu->ordinal % 2 : 0;
}

static const char *link_speed(const gs_gpu_t *gpu) {
  static const char *const speeds[GS_LINK_COUNT] = {[GS_LINK_PCIE4] = "16.0", [GS_LINK_PCIE3] = "8.0"};
  return speeds[gpu->profile->link];
}

static uint64_t unique_id(const gs_gpu_t *gpu) {
  HsaNodeProperties node;
  gs_topology_node(gpu->machine, gpu->node, &node);
  return node.UniqueID;
}

DEFINE_WRITER(vendor, "0x1002\n")
DEFINE_WRITER(device, "0x%04x\n", gpu->profile->device_id)
DEFINE_WRITER(revision, "0x%02x\n", gpu->profile->pci_revision)
DEFINE_WRITER(class, "0x%06x\n", class_of(gpu))
DEFINE_WRITER(pci_event,
              "DRIVER=amdgpu\nPCI_CLASS=%X\nPCI_ID=1002:%04X\nPCI_SUBSYS_ID=1002:%04X\n"
              "PCI_SLOT_NAME=0000:%02x:00.0\n",
              class_of(gpu), gpu->profile->device_id, gpu->profile->device_id, numbers->of[0])
DEFINE_WRITER(unique_id, "%016" PRIx64 "\n", unique_id(gpu))
DEFINE_WRITER(numa_node, "%u\n", numa_node_of(gpu))
DEFINE_WRITER(product, "%s\n", gpu->profile->marketing_name)
DEFINE_WRITER(link_speed, "%s GT/s PCIe\n", link_speed(gpu))
DEFINE_WRITER(link_width, "16\n")
DEFINE_WRITER(level, "auto\n")
DEFINE_WRITER(engine_clock, "0: %uMhz *\n", gpu->profile->engine_clock_mhz)
DEFINE_WRITER(memory_clock, "0: %uMhz *\n", gpu->profile->memory_clock_mhz)
DEFINE_WRITER(engine_hertz, "%u000000\n", gpu->profile->engine_clock_mhz)
DEFINE_WRITER(chip, "amdgpu\n")
DEFINE_WRITER(clock_label, "sclk\n")
/* Memory: of the GPU's own, which the host sees all of or nothing of, and of the system's. What is used is
 * what this process holds, or those on one machine. */
DEFINE_WRITER(used, "%" PRIu64 "\n", used(gpu))
DEFINE_WRITER(total, "%" PRIu64 "\n", gpu->memory_bytes)
DEFINE_WRITER(visible_used, "%" PRIu64 "\n", gpu->host_visible ? used(gpu) : 0)
DEFINE_WRITER(visible_total, "%" PRIu64 "\n", gpu->host_visible ? gpu->memory_bytes : 0)
DEFINE_WRITER(system_used, "0\n")
DEFINE_WRITER(system_total, "%" PRIu64 "\n", machine->memory.system_bytes)

/* Cards and render nodes. */

static const char *drm_name(uint32_t minor) {
  return minor < GS_FIRST_RENDER_MINOR ? "card" : "renderD";
}

static uint32_t bus_of_minor(uint32_t minor) {
  return minor % GS_FIRST_RENDER_MINOR + 1; /* cards count from 0 */
}

DEFINE_WRITER(drm_number, "%d:%u\n", GS_DRM_MAJOR, numbers->of[1])
DEFINE_WRITER(drm_event, "MAJOR=%d\nMINOR=%u\nDEVNAME=dri/%s%u\nDEVTYPE=drm_minor\n", GS_DRM_MAJOR,
              numbers->of[1], drm_name(numbers->of[1]), numbers->of[1])

#define PCI_FOLDER "devices/pci0000:00/0000:%02x:00.0"

#define DEFINE_LINK(name, ...)                                                                               \
  void gs_link_##name(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers) {                   \
    const uint32_t number = numbers->of[0];                                                                  \
    (void)machine;                                                                                           \
    fprintf(to, __VA_ARGS__);                                                                                \
  }
DEFINE_LINK(class_drm, "../../" PCI_FOLDER "/drm/%s%u", bus_of_minor(number), drm_name(number), number)
DEFINE_LINK(dev_char, "../../" PCI_FOLDER "/drm/%s%u", bus_of_minor(number), drm_name(number), number)
DEFINE_LINK(bus, "../../../" PCI_FOLDER, number)
DEFINE_LINK(bus_of_driver, "../../../../" PCI_FOLDER, number)
DEFINE_LINK(device, "../../../0000:%02x:00.0", number)
