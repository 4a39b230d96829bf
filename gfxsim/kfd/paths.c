/* One table of patterns. In them '#' stands for a number, and '@' for the name of a GPU's place on the bus.
 */
#include "kfd/paths.h"

#include <stdlib.h>
#include <string.h>

#include "kfd/cpu_text.h"
#include "kfd/kfd.h"
#include "kfd/objects.h"
#include "kfd/pci_text.h"

#define KFD      "/sys/devices/virtual/kfd"
#define TOPOLOGY KFD "/kfd/topology"
#define NODE     TOPOLOGY "/nodes/#"
#define SLOT     "/sys/devices/pci0000:00/@"
#define CPUS     "/sys/devices/system/node/node"
#define CACHE    CPUS "#/cpu#/cache"

/* Writers of files that are not the topology's. */

static void write_modules(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  (void)machine;
  (void)numbers;
  fputs("amdgpu 16384 1 - Live 0x0000000000000000\n", to);
}

static void write_live(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  (void)machine;
  (void)numbers;
  fputs("live\n", to);
}

static void write_one(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  (void)machine;
  (void)numbers;
  fputs("1\n", to);
}

static void write_kfd_number(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  (void)machine;
  (void)numbers;
  fprintf(to, "%d:0\n", GS_KFD_MAJOR);
}

static void write_kfd_event(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  (void)machine;
  (void)numbers;
  fprintf(to, "MAJOR=%d\nMINOR=0\nDEVNAME=kfd\n", GS_KFD_MAJOR);
}

/* Links that lead to one place, whatever the numbers. */
#define DEFINE_LINK(name, target)                                                                            \
  static void link_##name(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers) {               \
    (void)machine;                                                                                           \
    (void)numbers;                                                                                           \
    fputs(target, to);                                                                                       \
  }
DEFINE_LINK(kfd, "../../devices/virtual/kfd/kfd")
DEFINE_LINK(kfd_class, "../../../../class/kfd")
DEFINE_LINK(drm_class, "../../../../../class/drm")
DEFINE_LINK(pci, "../../../bus/pci")
DEFINE_LINK(driver, "../../../bus/pci/drivers/amdgpu")

/* Names in folders. */

static bool names_none(gs_machine_t *machine, const gs_path_numbers_t *numbers, uint32_t i,
                       char name[GS_NAME_BYTES]) {
  (void)machine;
  (void)numbers;
  (void)i;
  (void)name;
  return false;
}

static bool number_below(uint32_t count, uint32_t i, char name[GS_NAME_BYTES]) {
  snprintf(name, GS_NAME_BYTES, "%u", i);
  return i < count;
}

static bool names_nodes(gs_machine_t *machine, const gs_path_numbers_t *numbers, uint32_t i,
                        char name[GS_NAME_BYTES]) {
  (void)numbers;
  return number_below(gs_machine_nodes(machine), i, name);
}

#define DEFINE_NAMES(what, parts)                                                                            \
  static bool names_##what(gs_machine_t *machine, const gs_path_numbers_t *numbers, uint32_t i,              \
                           char name[GS_NAME_BYTES]) {                                                       \
    return number_below(gs_kfd_count(machine, numbers->of[0], parts), i, name);                              \
  }
DEFINE_NAMES(banks, GS_PARTS_BANKS)
DEFINE_NAMES(caches, GS_PARTS_CACHES)
DEFINE_NAMES(links, GS_PARTS_LINKS)
DEFINE_NAMES(peers, GS_PARTS_PEERS)

static bool names_listed(const char *const *list, uint32_t count, uint32_t i, char name[GS_NAME_BYTES]) {
  if (i < count)
    snprintf(name, GS_NAME_BYTES, "%s", list[i]);
  return i < count;
}

#define DEFINE_LIST(what, ...)                                                                               \
  static bool names_##what(gs_machine_t *machine, const gs_path_numbers_t *numbers, uint32_t i,              \
                           char name[GS_NAME_BYTES]) {                                                       \
    static const char *const list[] = {__VA_ARGS__};                                                         \
    (void)machine;                                                                                           \
    (void)numbers;                                                                                           \
    return names_listed(list, sizeof list / sizeof *list, i, name);                                          \
  }
DEFINE_LIST(kfd, "kfd")
DEFINE_LIST(in_kfd, "dev", "subsystem", "topology", "uevent")
DEFINE_LIST(in_cache, "index0")
DEFINE_LIST(in_index, "coherency_line_size", "level", "number_of_sets", "physical_line_partition",
            "shared_cpu_list", "shared_cpu_map", "size", "type", "ways_of_associativity")
DEFINE_LIST(in_topology, "generation_id", "system_properties", "nodes")
DEFINE_LIST(in_node, "gpu_id", "name", "properties", "mem_banks", "caches", "io_links", "p2p_links")
DEFINE_LIST(properties, "properties")
DEFINE_LIST(in_module, "holders", "initstate", "refcnt")
DEFINE_LIST(devices, "kfd", "dri")
DEFINE_LIST(classes, "kfd", "drm")
DEFINE_LIST(amdgpu, "amdgpu")
DEFINE_LIST(in_drm, "dev", "device", "subsystem", "uevent")
DEFINE_LIST(in_monitor, "device", "freq1_input", "freq1_label", "name")

/* /dev/dri: a card and a render node for each GPU. */
static bool names_dri(gs_machine_t *machine, const gs_path_numbers_t *numbers, uint32_t i,
                      char name[GS_NAME_BYTES]) {
  (void)numbers;
  const uint32_t gpu = i / 2;
  if (i % 2)
    snprintf(name, GS_NAME_BYTES, "renderD%u", GS_FIRST_RENDER_MINOR + gpu);
  else
    snprintf(name, GS_NAME_BYTES, "card%u", gpu);
  return gpu < machine->gpu_count;
}

/* Those of one GPU, by its bus. */
static bool names_drm(gs_machine_t *machine, const gs_path_numbers_t *numbers, uint32_t i,
                      char name[GS_NAME_BYTES]) {
  return i < 2 && names_dri(machine, numbers, (numbers->of[0] - 1) * 2 + i, name);
}

/* Numbers of all devices, as /sys/dev/char has them. */
static bool names_numbers(gs_machine_t *machine, const gs_path_numbers_t *numbers, uint32_t i,
                          char name[GS_NAME_BYTES]) {
  (void)numbers;
  const uint32_t gpu = (i - 1) / 2;
  if (!i)
    snprintf(name, GS_NAME_BYTES, "%d:0", GS_KFD_MAJOR);
  else
    snprintf(name, GS_NAME_BYTES, "%d:%u", GS_DRM_MAJOR, gpu + (i % 2 ? 0U : GS_FIRST_RENDER_MINOR));
  return !i || gpu < machine->gpu_count;
}

static bool names_slots(gs_machine_t *machine, const gs_path_numbers_t *numbers, uint32_t i,
                        char name[GS_NAME_BYTES]) {
  (void)numbers;
  snprintf(name, GS_NAME_BYTES, "0000:%02x:00.0", i + 1);
  return i < machine->gpu_count;
}

static bool names_monitors(gs_machine_t *machine, const gs_path_numbers_t *numbers, uint32_t i,
                           char name[GS_NAME_BYTES]) {
  (void)machine;
  snprintf(name, GS_NAME_BYTES, "hwmon%u", numbers->of[0] - 1);
  return i == 0;
}

static gs_name_at_t names_in_slot; /* those of the table that are in such a folder */

/* Whether a path's numbers mean something. */

static bool is_any(gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  (void)machine;
  (void)numbers;
  return true;
}

static bool is_node(gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  return numbers->of[0] < gs_machine_nodes(machine);
}

#define DEFINE_IS_PART(what, parts)                                                                          \
  static bool is_##what(gs_machine_t *machine, const gs_path_numbers_t *numbers) {                           \
    return is_node(machine, numbers) && numbers->of[1] < gs_kfd_count(machine, numbers->of[0], parts);       \
  }
DEFINE_IS_PART(bank, GS_PARTS_BANKS)
DEFINE_IS_PART(cache, GS_PARTS_CACHES)
DEFINE_IS_PART(link, GS_PARTS_LINKS)
DEFINE_IS_PART(peer, GS_PARTS_PEERS)

static bool is_render_minor(const gs_machine_t *machine, uint32_t minor) {
  return minor >= GS_FIRST_RENDER_MINOR && minor - GS_FIRST_RENDER_MINOR < machine->gpu_count;
}

static bool is_render(gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  return is_render_minor(machine, numbers->of[0]);
}

static bool is_card(gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  return numbers->of[0] < machine->gpu_count;
}

static bool is_drm(gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  return is_render(machine, numbers) || is_card(machine, numbers);
}

/* Of a bus; then also of what has the GPU's own number there. */
static bool is_slot(gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  return gs_pci_gpu(machine, numbers->of[0]) != NULL;
}

static bool is_numbered(gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  return is_slot(machine, numbers) && numbers->of[1] == numbers->of[0] - 1;
}

static bool is_render_of_slot(gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  return is_slot(machine, numbers) && numbers->of[1] == numbers->of[0] - 1 + GS_FIRST_RENDER_MINOR;
}

typedef struct path_row {
  const char *pattern;
  bool (*exists)(gs_machine_t *machine,
                 const gs_path_numbers_t *numbers); /* NULL: always, without a machine */
  gs_answer_kind_t kind;
  gs_text_writer_t *write;
  gs_name_at_t *name_at;
} path_row_t;

static const path_row_t path_table[] = {
    {"/dev/kfd", NULL, GS_ANSWER_OBJECT, NULL, NULL},
    {"/dev/dri", is_any, GS_ANSWER_FOLDER, NULL, names_dri},
    {"/dev/dri/renderD#", is_render, GS_ANSWER_OBJECT, NULL, NULL},
    {"/dev/dri/card#", is_card, GS_ANSWER_OBJECT, NULL, NULL},
    {"/proc/modules", NULL, GS_ANSWER_TEXT, write_modules, NULL},
    {"/sys/module/amdgpu", NULL, GS_ANSWER_FOLDER, NULL, names_in_module},
    {"/sys/module/amdgpu/holders", NULL, GS_ANSWER_FOLDER, NULL, names_none},
    {"/sys/module/amdgpu/initstate", NULL, GS_ANSWER_TEXT, write_live, NULL},
    {"/sys/module/amdgpu/refcnt", NULL, GS_ANSWER_TEXT, write_one, NULL},
    {"/sys/class/kfd", NULL, GS_ANSWER_FOLDER, NULL, names_kfd},
    {"/sys/class/kfd/kfd", NULL, GS_ANSWER_LINK, link_kfd, NULL},
    {"/sys/dev/char/234:0", NULL, GS_ANSWER_LINK, link_kfd, NULL},
    {KFD, NULL, GS_ANSWER_FOLDER, NULL, names_kfd},
    {KFD "/kfd", NULL, GS_ANSWER_FOLDER, NULL, names_in_kfd},
    {KFD "/kfd/dev", NULL, GS_ANSWER_TEXT, write_kfd_number, NULL},
    {KFD "/kfd/uevent", NULL, GS_ANSWER_TEXT, write_kfd_event, NULL},
    {KFD "/kfd/subsystem", NULL, GS_ANSWER_LINK, link_kfd_class, NULL},
    {TOPOLOGY, is_any, GS_ANSWER_FOLDER, NULL, names_in_topology},
    {TOPOLOGY "/generation_id", is_any, GS_ANSWER_TEXT, gs_write_generation, NULL},
    {TOPOLOGY "/system_properties", is_any, GS_ANSWER_TEXT, gs_write_system, NULL},
    {TOPOLOGY "/nodes", is_any, GS_ANSWER_FOLDER, NULL, names_nodes},
    {NODE, is_node, GS_ANSWER_FOLDER, NULL, names_in_node},
    {NODE "/gpu_id", is_node, GS_ANSWER_TEXT, gs_write_gpu_id, NULL},
    {NODE "/name", is_node, GS_ANSWER_TEXT, gs_write_node_name, NULL},
    {NODE "/properties", is_node, GS_ANSWER_TEXT, gs_write_node, NULL},
    {NODE "/mem_banks", is_node, GS_ANSWER_FOLDER, NULL, names_banks},
    {NODE "/mem_banks/#", is_bank, GS_ANSWER_FOLDER, NULL, names_properties},
    {NODE "/mem_banks/#/properties", is_bank, GS_ANSWER_TEXT, gs_write_bank, NULL},
    {NODE "/caches", is_node, GS_ANSWER_FOLDER, NULL, names_caches},
    {NODE "/caches/#", is_cache, GS_ANSWER_FOLDER, NULL, names_properties},
    {NODE "/caches/#/properties", is_cache, GS_ANSWER_TEXT, gs_write_cache, NULL},
    {NODE "/io_links", is_node, GS_ANSWER_FOLDER, NULL, names_links},
    {NODE "/io_links/#", is_link, GS_ANSWER_FOLDER, NULL, names_properties},
    {NODE "/io_links/#/properties", is_link, GS_ANSWER_TEXT, gs_write_link, NULL},
    {NODE "/p2p_links", is_node, GS_ANSWER_FOLDER, NULL, names_peers},
    {NODE "/p2p_links/#", is_peer, GS_ANSWER_FOLDER, NULL, names_properties},
    {NODE "/p2p_links/#/properties", is_peer, GS_ANSWER_TEXT, gs_write_peer, NULL},
    {"/sys/class/drm", is_any, GS_ANSWER_FOLDER, NULL, names_dri},
    {"/sys/class/drm/card#", is_card, GS_ANSWER_LINK, gs_link_class_drm, NULL},
    {"/sys/class/drm/renderD#", is_render, GS_ANSWER_LINK, gs_link_class_drm, NULL},
    {"/sys/dev/char/226:#", is_drm, GS_ANSWER_LINK, gs_link_dev_char, NULL},
    {"/sys/bus/pci/devices/@", is_slot, GS_ANSWER_LINK, gs_link_bus, NULL},
    {"/sys/bus/pci/drivers/amdgpu", is_any, GS_ANSWER_FOLDER, NULL, names_slots},
    {"/sys/bus/pci/drivers/amdgpu/@", is_slot, GS_ANSWER_LINK, gs_link_bus_of_driver, NULL},
    {SLOT, is_slot, GS_ANSWER_FOLDER, NULL, names_in_slot},
    {SLOT "/subsystem", is_slot, GS_ANSWER_LINK, link_pci, NULL},
    {SLOT "/driver", is_slot, GS_ANSWER_LINK, link_driver, NULL},
    {SLOT "/vendor", is_slot, GS_ANSWER_TEXT, gs_write_vendor, NULL},
    {SLOT "/subsystem_vendor", is_slot, GS_ANSWER_TEXT, gs_write_vendor, NULL},
    {SLOT "/device", is_slot, GS_ANSWER_TEXT, gs_write_device, NULL},
    {SLOT "/subsystem_device", is_slot, GS_ANSWER_TEXT, gs_write_device, NULL},
    {SLOT "/class", is_slot, GS_ANSWER_TEXT, gs_write_class, NULL},
    {SLOT "/revision", is_slot, GS_ANSWER_TEXT, gs_write_revision, NULL},
    {SLOT "/uevent", is_slot, GS_ANSWER_TEXT, gs_write_pci_event, NULL},
    {SLOT "/numa_node", is_slot, GS_ANSWER_TEXT, gs_write_numa_node, NULL},
    {SLOT "/unique_id", is_slot, GS_ANSWER_TEXT, gs_write_unique_id, NULL},
    {SLOT "/product_name", is_slot, GS_ANSWER_TEXT, gs_write_product, NULL},
    {SLOT "/current_link_speed", is_slot, GS_ANSWER_TEXT, gs_write_link_speed, NULL},
    {SLOT "/max_link_speed", is_slot, GS_ANSWER_TEXT, gs_write_link_speed, NULL},
    {SLOT "/current_link_width", is_slot, GS_ANSWER_TEXT, gs_write_link_width, NULL},
    {SLOT "/max_link_width", is_slot, GS_ANSWER_TEXT, gs_write_link_width, NULL},
    {SLOT "/power_dpm_force_performance_level", is_slot, GS_ANSWER_TEXT, gs_write_level, NULL},
    {SLOT "/pp_dpm_sclk", is_slot, GS_ANSWER_TEXT, gs_write_engine_clock, NULL},
    {SLOT "/pp_dpm_mclk", is_slot, GS_ANSWER_TEXT, gs_write_memory_clock, NULL},
    {SLOT "/mem_info_vram_total", is_slot, GS_ANSWER_TEXT, gs_write_total, NULL},
    {SLOT "/mem_info_vram_used", is_slot, GS_ANSWER_TEXT, gs_write_used, NULL},
    {SLOT "/mem_info_vis_vram_total", is_slot, GS_ANSWER_TEXT, gs_write_visible_total, NULL},
    {SLOT "/mem_info_vis_vram_used", is_slot, GS_ANSWER_TEXT, gs_write_visible_used, NULL},
    {SLOT "/mem_info_gtt_total", is_slot, GS_ANSWER_TEXT, gs_write_system_total, NULL},
    {SLOT "/mem_info_gtt_used", is_slot, GS_ANSWER_TEXT, gs_write_system_used, NULL},
    {SLOT "/hwmon", is_slot, GS_ANSWER_FOLDER, NULL, names_monitors},
    {SLOT "/hwmon/hwmon#", is_numbered, GS_ANSWER_FOLDER, NULL, names_in_monitor},
    {SLOT "/hwmon/hwmon#/device", is_numbered, GS_ANSWER_LINK, gs_link_device, NULL},
    {SLOT "/hwmon/hwmon#/name", is_numbered, GS_ANSWER_TEXT, gs_write_chip, NULL},
    {SLOT "/hwmon/hwmon#/freq1_input", is_numbered, GS_ANSWER_TEXT, gs_write_engine_hertz, NULL},
    {SLOT "/hwmon/hwmon#/freq1_label", is_numbered, GS_ANSWER_TEXT, gs_write_clock_label, NULL},
    {SLOT "/drm", is_slot, GS_ANSWER_FOLDER, NULL, names_drm},
#define DRM_ROWS(folder, exists)                                                                             \
  {folder, exists, GS_ANSWER_FOLDER, NULL, names_in_drm},                                                    \
      {folder "/dev", exists, GS_ANSWER_TEXT, gs_write_drm_number, NULL},                                    \
      {folder "/device", exists, GS_ANSWER_LINK, gs_link_device, NULL},                                      \
      {folder "/subsystem", exists, GS_ANSWER_LINK, link_drm_class, NULL}, {                                 \
    folder "/uevent", exists, GS_ANSWER_TEXT, gs_write_drm_event, NULL                                       \
  }
    DRM_ROWS(SLOT "/drm/card#", is_numbered),
    DRM_ROWS(SLOT "/drm/renderD#", is_render_of_slot),
#define CACHE_ROW(file, name)                                                                                \
  { CACHE "/index0/" file, gs_cpu_lacks_caches, GS_ANSWER_TEXT, gs_write_cpu_##name, NULL }
    {CACHE, gs_cpu_lacks_caches, GS_ANSWER_FOLDER, NULL, names_in_cache},
    {CACHE "/index0", gs_cpu_lacks_caches, GS_ANSWER_FOLDER, NULL, names_in_index},
    CACHE_ROW("coherency_line_size", line),
    CACHE_ROW("level", level),
    CACHE_ROW("number_of_sets", sets),
    CACHE_ROW("physical_line_partition", partition),
    CACHE_ROW("shared_cpu_list", list),
    CACHE_ROW("shared_cpu_map", map),
    CACHE_ROW("size", size),
    CACHE_ROW("type", type),
    CACHE_ROW("ways_of_associativity", ways),
};
enum { PATHS = sizeof path_table / sizeof *path_table };

/* Folders of the system in which there are some of ours. */
static const struct {
  const char *path;
  gs_name_at_t *name_at;
} shared_table[] = {
    {"/dev", names_devices},
    {"/sys/class", names_classes},
    {"/sys/module", names_amdgpu},
    {"/sys/dev/char", names_numbers},
    {"/sys/devices/virtual", names_kfd},
    {"/sys/devices/pci0000:00", names_slots},
    {"/sys/bus/pci/devices", names_slots},
    {"/sys/bus/pci/drivers", names_amdgpu},
};

static bool names_in_slot(gs_machine_t *machine, const gs_path_numbers_t *numbers, uint32_t i,
                          char name[GS_NAME_BYTES]) {
  (void)machine;
  (void)numbers;
  for (unsigned row = 0; row < PATHS; row++) {
    const char *pattern = path_table[row].pattern;
    if (strncmp(pattern, SLOT "/", sizeof SLOT) != 0 || strchr(pattern + sizeof SLOT, '/') || i-- > 0)
      continue;
    snprintf(name, GS_NAME_BYTES, "%s", pattern + sizeof SLOT);
    return true;
  }
  return false;
}

/* The place on the bus that a path names: behind its number, or NULL. */
static const char *match_slot(const char *path, uint32_t *bus) {
  static const char digits[] = "0123456789abcdef";
  enum { BEFORE = sizeof "0000:" - 1, NUMBER = 2, BASE = 16 };
  if (strncmp(path, "0000:", BEFORE) != 0)
    return NULL;
  const char *high = path[BEFORE] ? strchr(digits, path[BEFORE]) : NULL;
  const char *low = high && path[BEFORE + 1] ? strchr(digits, path[BEFORE + 1]) : NULL;
  path += low ? BEFORE + NUMBER : 0;
  if (!low || strncmp(path, ":00.0", sizeof ":00.0" - 1) != 0)
    return NULL;
  *bus = (uint32_t)((high - digits) * BASE + (low - digits));
  return path + sizeof ":00.0" - 1;
}

/* Behind a decimal number, or NULL: numbers have one spelling. */
static const char *match_number(const char *path, uint32_t *value) {
  char *end;
  if (*path < '0' || *path > '9' || (path[0] == '0' && path[1] >= '0' && path[1] <= '9'))
    return NULL;
  const unsigned long number = strtoul(path, &end, 10);
  *value = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
  return end;
}

/* Whether a path has a pattern's form; then its numbers. */
static bool matches(const char *pattern, const char *path, gs_path_numbers_t *numbers) {
  unsigned found = 0;
  for (; *pattern; pattern++) {
    if (*pattern == '#')
      path = match_number(path, &numbers->of[found++]);
    else if (*pattern == '@')
      path = match_slot(path, &numbers->of[found++]);
    else if (*path++ != *pattern)
      return false;
    if (!path)
      return false;
  }
  return !*path;
}

/* Where all that there is, is the driver's. */
static const char *const root_table[] = {"/dev/dri",
                                         "/dev/kfd",
                                         KFD,
                                         "/sys/class/kfd",
                                         "/sys/class/drm",
                                         "/sys/module/amdgpu",
                                         "/sys/bus/pci/drivers/amdgpu",
                                         "/sys/dev/char/226:",
                                         "/sys/dev/char/234:"};
/* And below a folder for each GPU. */
static const char *const slots_table[] = {"/sys/devices/pci0000:00/", "/sys/bus/pci/devices/"};

static bool is_below_root(const char *path) {
  for (size_t i = 0; i < sizeof root_table / sizeof *root_table; i++) {
    const size_t length = strlen(root_table[i]);
    const bool is_number = root_table[i][length - 1] == ':';
    if (!strncmp(path, root_table[i], length) && (is_number || !path[length] || path[length] == '/'))
      return true;
  }
  for (size_t i = 0; i < sizeof slots_table / sizeof *slots_table; i++) {
    const size_t length = strlen(slots_table[i]);
    uint32_t bus = 0;
    gs_machine_t *machine = NULL;
    if (!strncmp(path, slots_table[i], length) && match_slot(path + length, &bus) &&
        (machine = gs_kfd_machine()))
      return gs_pci_gpu(machine, bus) != NULL;
  }
  return false;
}

static int object_of(const path_row_t *row, const gs_path_numbers_t *numbers) {
  if (row->kind != GS_ANSWER_OBJECT)
    return GS_OBJECT_NONE;
  if (!row->exists)
    return GS_OBJECT_KFD;
  const uint32_t minor = numbers->of[0];
  return minor < GS_FIRST_RENDER_MINOR ? GS_OBJECT_CARD + (int)minor
                                       : GS_OBJECT_RENDER + (int)(minor - GS_FIRST_RENDER_MINOR);
}

/* The row of a path without dots and links, or NULL. */
static const path_row_t *find_row(const char *path, gs_path_numbers_t *numbers) {
  for (size_t i = 0; i < PATHS; i++) {
    *numbers = (gs_path_numbers_t){{0, 0}};
    if (!matches(path_table[i].pattern, path, numbers))
      continue;
    gs_machine_t *machine = path_table[i].exists ? gs_kfd_machine() : NULL;
    if (!path_table[i].exists || (machine && path_table[i].exists(machine, numbers)))
      return &path_table[i];
  }
  return NULL;
}

static bool link_at(const char *path, char target[GS_PATH_BYTES]) {
  gs_answer_t answer = {.kind = GS_ANSWER_LINK};
  const path_row_t *row = is_below_root(path) ? find_row(path, &answer.numbers) : NULL;
  if (!row || row->kind != GS_ANSWER_LINK)
    return false;
  answer.write = row->write;
  const ssize_t size = gs_answer_link(&answer, target, GS_PATH_BYTES - 1);
  if (size > 0)
    target[size] = '\0';
  return size > 0;
}

bool gs_path_answer(int folder, const char *path, bool follows, gs_answer_t *answer) {
  const int links = gs_path_resolve(folder, path, follows, link_at, answer->path);
  if (links < 0)
    return false;
  const bool is_modules = strcmp(answer->path, "/proc/modules") == 0;
  const bool is_ours = is_modules || is_below_root(answer->path);
  const bool may_be = is_ours || strncmp(answer->path, CPUS, sizeof CPUS - 1) == 0;
  const path_row_t *row = may_be ? find_row(answer->path, &answer->numbers) : NULL;
  answer->kind = row ? row->kind : GS_ANSWER_NOTHING;
  if (!row)
    return is_ours || links > 0; /* links that lead to folders of other drivers lead nowhere */
  answer->object = object_of(row, &answer->numbers);
  answer->write = row->write;
  answer->name_at = row->name_at;
  answer->real = is_modules ? row->pattern : NULL;
  return true;
}

bool gs_path_shared(int folder, const char *path, gs_answer_t *answer) {
  if (gs_path_resolve(folder, path, true, link_at, answer->path) != 0)
    return false;
  answer->kind = GS_ANSWER_FOLDER;
  for (size_t i = 0; i < sizeof shared_table / sizeof *shared_table; i++) {
    answer->name_at = shared_table[i].name_at;
    if (strcmp(answer->path, shared_table[i].path) == 0)
      return true;
  }
  return false;
}
