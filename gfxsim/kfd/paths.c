/* One table of patterns. In them '#' stands for a number. */
#include "kfd/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/preload.h"
#include "kfd/drm.h"
#include "kfd/kfd.h"
#include "kfd/objects.h"
#include "kfd/real.h"
#include "machine/process.h"
#include "machine/topology.h"

#define KFD      "/sys/devices/virtual/kfd"
#define TOPOLOGY KFD "/kfd/topology"
#define NODE     TOPOLOGY "/nodes/#"
#define DRM      "/sys/dev/char/226:#"

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

static const gs_gpu_t *gpu_of_minor(gs_machine_t *machine, uint32_t minor) {
  const uint32_t ordinal = minor % GS_FIRST_RENDER_MINOR; /* cards count from 0 */
  return gs_machine_gpu(machine, ordinal + 1);
}

static void write_vendor(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  (void)machine;
  (void)numbers;
  fputs("0x1002\n", to);
}

static void write_device(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  fprintf(to, "0x%04x\n", gpu_of_minor(machine, numbers->of[0])->profile->device_id);
}

static void write_uevent(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  const gs_gpu_t *gpu = gpu_of_minor(machine, numbers->of[0]);
  fprintf(to, "DRIVER=amdgpu\nPCI_ID=1002:%04X\nPCI_SLOT_NAME=0000:%02x:00.0\n", gpu->profile->device_id,
          gpu->ordinal + 1);
}

static void write_zero(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  (void)machine;
  (void)numbers;
  fputs("0\n", to);
}

static void write_revision(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  fprintf(to, "0x%02x\n", gpu_of_minor(machine, numbers->of[0])->profile->pci_revision);
}

static void write_unique_id(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  HsaNodeProperties node;
  gs_topology_node(machine, gpu_of_minor(machine, numbers->of[0])->node, &node);
  fprintf(to, "%016" PRIx64 "\n", (uint64_t)node.UniqueID);
}

/* Of the memory of a GPU: all of it, and what this process holds. */

static void write_memory(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  fprintf(to, "%" PRIu64 "\n", gpu_of_minor(machine, numbers->of[0])->memory_bytes);
}

static void write_memory_used(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  fprintf(to, "%" PRIu64 "\n", gs_drm_used(machine, gpu_of_minor(machine, numbers->of[0])));
}

/* Where a device's folder really is: below its slot. */
static void write_place(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  const uint32_t minor = numbers->of[0];
  fprintf(to, "../../devices/pci0000:00/0000:%02x:00.0/drm/%s%u", gpu_of_minor(machine, minor)->ordinal + 1,
          minor < GS_FIRST_RENDER_MINOR ? "card" : "renderD", minor);
}

/* Names in folders. */

static bool names_none(gs_machine_t *machine, const gs_path_numbers_t *numbers, uint32_t i, char name[32]) {
  (void)machine;
  (void)numbers;
  (void)i;
  (void)name;
  return false;
}

static bool number_below(uint32_t count, uint32_t i, char name[32]) {
  snprintf(name, 32, "%u", i);
  return i < count;
}

static bool names_nodes(gs_machine_t *machine, const gs_path_numbers_t *numbers, uint32_t i, char name[32]) {
  (void)numbers;
  return number_below(gs_machine_nodes(machine), i, name);
}

#define DEFINE_NAMES(what, parts)                                                                            \
  static bool names_##what(gs_machine_t *machine, const gs_path_numbers_t *numbers, uint32_t i,              \
                           char name[32]) {                                                                  \
    return number_below(gs_kfd_count(machine, numbers->of[0], parts), i, name);                              \
  }
DEFINE_NAMES(banks, GS_PARTS_BANKS)
DEFINE_NAMES(caches, GS_PARTS_CACHES)
DEFINE_NAMES(links, GS_PARTS_LINKS)
DEFINE_NAMES(peers, GS_PARTS_PEERS)

static bool names_listed(const char *const *list, uint32_t count, uint32_t i, char name[32]) {
  if (i < count)
    snprintf(name, 32, "%s", list[i]);
  return i < count;
}

static bool names_in_topology(gs_machine_t *machine, const gs_path_numbers_t *numbers, uint32_t i,
                              char name[32]) {
  static const char *const list[] = {"generation_id", "system_properties", "nodes"};
  (void)machine;
  (void)numbers;
  return names_listed(list, sizeof list / sizeof *list, i, name);
}

static bool names_in_node(gs_machine_t *machine, const gs_path_numbers_t *numbers, uint32_t i,
                          char name[32]) {
  static const char *const list[] = {"gpu_id", "name",     "properties", "mem_banks",
                                     "caches", "io_links", "p2p_links"};
  (void)machine;
  (void)numbers;
  return names_listed(list, sizeof list / sizeof *list, i, name);
}

static bool names_properties(gs_machine_t *machine, const gs_path_numbers_t *numbers, uint32_t i,
                             char name[32]) {
  (void)machine;
  (void)numbers;
  snprintf(name, 32, "properties");
  return i == 0;
}

/* /dev/dri: a card and a render node for each GPU. */
static bool names_dri(gs_machine_t *machine, const gs_path_numbers_t *numbers, uint32_t i, char name[32]) {
  (void)numbers;
  const uint32_t gpu = i / 2;
  if (i % 2)
    snprintf(name, 32, "renderD%u", GS_FIRST_RENDER_MINOR + gpu);
  else
    snprintf(name, 32, "card%u", gpu);
  return gpu < machine->gpu_count;
}

static bool names_drm(gs_machine_t *machine, const gs_path_numbers_t *numbers, uint32_t i, char name[32]) {
  const gs_gpu_t *gpu = gpu_of_minor(machine, numbers->of[0]);
  return i < 2 && names_dri(machine, numbers, gpu->ordinal * 2 + i, name);
}

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

static bool is_render(gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  return numbers->of[0] >= GS_FIRST_RENDER_MINOR &&
         numbers->of[0] - GS_FIRST_RENDER_MINOR < machine->gpu_count;
}

static bool is_card(gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  return numbers->of[0] < machine->gpu_count;
}

static bool is_drm(gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  return is_render(machine, numbers) || is_card(machine, numbers);
}

typedef struct path_row {
  const char *pattern;
  bool (*exists)(gs_machine_t *machine,
                 const gs_path_numbers_t *numbers); /* NULL: always, without a machine */
  gs_answer_kind_t kind;
  gs_text_writer_t *write;
  gs_name_at_t *name_at;
  const char *target;
} path_row_t;

static const path_row_t path_table[] = {
    {"/dev/kfd", NULL, GS_ANSWER_OBJECT, NULL, NULL, NULL},
    {"/dev/dri", is_any, GS_ANSWER_FOLDER, NULL, names_dri, NULL},
    {"/dev/dri/renderD#", is_render, GS_ANSWER_OBJECT, NULL, NULL, NULL},
    {"/dev/dri/card#", is_card, GS_ANSWER_OBJECT, NULL, NULL, NULL},
    {"/proc/modules", NULL, GS_ANSWER_TEXT, write_modules, NULL, NULL},
    {"/sys/module/amdgpu", NULL, GS_ANSWER_FOLDER, NULL, names_none, NULL},
    {"/sys/module/amdgpu/holders", NULL, GS_ANSWER_FOLDER, NULL, names_none, NULL},
    {"/sys/module/amdgpu/initstate", NULL, GS_ANSWER_TEXT, write_live, NULL, NULL},
    {"/sys/module/amdgpu/refcnt", NULL, GS_ANSWER_TEXT, write_one, NULL, NULL},
    {TOPOLOGY, is_any, GS_ANSWER_FOLDER, NULL, names_in_topology, NULL},
    {TOPOLOGY "/generation_id", is_any, GS_ANSWER_TEXT, gs_write_generation, NULL, NULL},
    {TOPOLOGY "/system_properties", is_any, GS_ANSWER_TEXT, gs_write_system, NULL, NULL},
    {TOPOLOGY "/nodes", is_any, GS_ANSWER_FOLDER, NULL, names_nodes, NULL},
    {NODE, is_node, GS_ANSWER_FOLDER, NULL, names_in_node, NULL},
    {NODE "/gpu_id", is_node, GS_ANSWER_TEXT, gs_write_gpu_id, NULL, NULL},
    {NODE "/name", is_node, GS_ANSWER_TEXT, gs_write_node_name, NULL, NULL},
    {NODE "/properties", is_node, GS_ANSWER_TEXT, gs_write_node, NULL, NULL},
    {NODE "/mem_banks", is_node, GS_ANSWER_FOLDER, NULL, names_banks, NULL},
    {NODE "/mem_banks/#", is_bank, GS_ANSWER_FOLDER, NULL, names_properties, NULL},
    {NODE "/mem_banks/#/properties", is_bank, GS_ANSWER_TEXT, gs_write_bank, NULL, NULL},
    {NODE "/caches", is_node, GS_ANSWER_FOLDER, NULL, names_caches, NULL},
    {NODE "/caches/#", is_cache, GS_ANSWER_FOLDER, NULL, names_properties, NULL},
    {NODE "/caches/#/properties", is_cache, GS_ANSWER_TEXT, gs_write_cache, NULL, NULL},
    {NODE "/io_links", is_node, GS_ANSWER_FOLDER, NULL, names_links, NULL},
    {NODE "/io_links/#", is_link, GS_ANSWER_FOLDER, NULL, names_properties, NULL},
    {NODE "/io_links/#/properties", is_link, GS_ANSWER_TEXT, gs_write_link, NULL, NULL},
    {NODE "/p2p_links", is_node, GS_ANSWER_FOLDER, NULL, names_peers, NULL},
    {NODE "/p2p_links/#", is_peer, GS_ANSWER_FOLDER, NULL, names_properties, NULL},
    {NODE "/p2p_links/#/properties", is_peer, GS_ANSWER_TEXT, gs_write_peer, NULL, NULL},
    {"/sys/class/drm", is_any, GS_ANSWER_FOLDER, NULL, names_dri, NULL},
    {DRM, is_drm, GS_ANSWER_FOLDER, write_place, names_none, NULL},
    {DRM "/device", is_drm, GS_ANSWER_FOLDER, NULL, names_none, NULL},
    {DRM "/device/drm", is_drm, GS_ANSWER_FOLDER, NULL, names_drm, NULL},
    {DRM "/device/subsystem", is_drm, GS_ANSWER_LINK, NULL, NULL, "../../../../bus/pci"},
    {DRM "/device/driver", is_drm, GS_ANSWER_LINK, NULL, NULL, "../../../../bus/pci/drivers/amdgpu"},
    {DRM "/device/vendor", is_drm, GS_ANSWER_TEXT, write_vendor, NULL, NULL},
    {DRM "/device/subsystem_vendor", is_drm, GS_ANSWER_TEXT, write_vendor, NULL, NULL},
    {DRM "/device/device", is_drm, GS_ANSWER_TEXT, write_device, NULL, NULL},
    {DRM "/device/subsystem_device", is_drm, GS_ANSWER_TEXT, write_device, NULL, NULL},
    {DRM "/device/uevent", is_drm, GS_ANSWER_TEXT, write_uevent, NULL, NULL},
    {DRM "/device/numa_node", is_drm, GS_ANSWER_TEXT, write_zero, NULL, NULL},
    {DRM "/device/revision", is_drm, GS_ANSWER_TEXT, write_revision, NULL, NULL},
    {DRM "/device/unique_id", is_drm, GS_ANSWER_TEXT, write_unique_id, NULL, NULL},
    {DRM "/device/mem_info_vram_total", is_drm, GS_ANSWER_TEXT, write_memory, NULL, NULL},
    {DRM "/device/mem_info_vram_used", is_drm, GS_ANSWER_TEXT, write_memory_used, NULL, NULL},
};

/* Whether a path has a pattern's form; then its numbers. Slashes may be several, and stand at the end. */
static bool matches(const char *pattern, const char *path, gs_path_numbers_t *numbers) {
  unsigned found = 0;
  while (*pattern) {
    if (*pattern == '#') {
      char *end;
      if (*path < '0' || *path > '9')
        return false;
      const unsigned long number = strtoul(path, &end, 10);
      numbers->of[found++] = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
      path = end;
    } else if (*path++ != *pattern) {
      return false;
    }
    if (*pattern++ == '/')
      path += strspn(path, "/");
  }
  return !path[strspn(path, "/")];
}

/* Where else the driver's folders are known. A device there is named by its kind and number. */
static const struct {
  const char *alias, *folder;
} alias_table[] = {
    {"/sys/class/kfd/", KFD "/"},
    {"/sys/class/drm/card", "/sys/dev/char/226:"},
    {"/sys/class/drm/renderD", "/sys/dev/char/226:"},
};

static const char *resolve(const char *path, char resolved[256]) {
  for (size_t i = 0; i < sizeof alias_table / sizeof *alias_table; i++) {
    const size_t length = strlen(alias_table[i].alias);
    if (strncmp(path, alias_table[i].alias, length))
      continue;
    snprintf(resolved, 256, "%s%s", alias_table[i].folder, path + length);
    return resolved;
  }
  return path;
}

/* Where all that there is, is the driver's. */
static const char *const root_table[] = {"/dev/dri", KFD, "/sys/class/kfd", "/sys/class/drm",
                                         "/sys/module/amdgpu"};

static bool is_below_root(const char *path) {
  for (size_t i = 0; i < sizeof root_table / sizeof *root_table; i++) {
    const size_t length = strlen(root_table[i]);
    if (!strncmp(path, root_table[i], length) && (!path[length] || path[length] == '/'))
      return true;
  }
  return !strncmp(path, DRM, sizeof DRM - 2); /* up to the number */
}

static bool may_be_ours(const char *path) {
  return path && path[0] == '/' &&
         (!strncmp(path, "/sys/", 5) || !strncmp(path, "/dev/", 5) || !strcmp(path, "/proc/modules"));
}

static int object_of(const path_row_t *row, const gs_path_numbers_t *numbers) {
  if (!row->exists)
    return GS_OBJECT_KFD;
  return GS_OBJECT_RENDER + (int)(numbers->of[0] % GS_FIRST_RENDER_MINOR);
}

bool gs_path_answer(const char *path, gs_answer_t *answer) {
  char resolved[256];
  gs_path_numbers_t numbers = {{0, 0}};
  if (!may_be_ours(path))
    return false;
  const char *where = resolve(path, resolved);
  const path_row_t *row = NULL;
  for (size_t i = 0; i < sizeof path_table / sizeof *path_table && !row; i++)
    if (matches(path_table[i].pattern, where, &numbers))
      row = &path_table[i];
  gs_machine_t *machine = row && row->exists ? gs_kfd_machine() : NULL;
  if (!row || (row->exists && !(machine && row->exists(machine, &numbers)))) {
    *answer = (gs_answer_t){.kind = GS_ANSWER_NOTHING};
    return is_below_root(where);
  }
  *answer = (gs_answer_t){
      .kind = row->kind,
      .object = row->kind == GS_ANSWER_OBJECT ? object_of(row, &numbers) : GS_OBJECT_NONE,
      .write = row->write,
      .name_at = row->name_at,
      .target = row->target,
      .real = strcmp(row->pattern, "/proc/modules") == 0 ? row->pattern : NULL,
      .numbers = numbers,
  };
  return true;
}

/* What an answer's writer writes: to be freed, or NULL with errno. */
static char *text_of(const gs_answer_t *answer, size_t *size) {
  char *text = NULL;
  FILE *stream = open_memstream(&text, size);
  if (!stream)
    return NULL;
  answer->write(stream, gs_machine_current(), &answer->numbers);
  if (!fclose(stream))
    return text;
  free(text);
  return NULL;
}

ssize_t gs_answer_link(const gs_answer_t *answer, char *target, size_t size) {
  const bool written = answer->kind == GS_ANSWER_FOLDER && answer->write;
  if (answer->kind != GS_ANSWER_LINK && !written) {
    errno = answer->kind == GS_ANSWER_NOTHING ? ENOENT : EINVAL;
    return -1;
  }
  size_t length = written ? 0 : strlen(answer->target);
  char *text = written ? text_of(answer, &length) : NULL;
  if (written && !text)
    return -1;
  memcpy(target, written ? text : answer->target, length < size ? length : size);
  free(text);
  return (ssize_t)(length < size ? length : size);
}

/* Opening. */

static int open_text(const gs_answer_t *answer, int flags) {
  size_t size = 0;
  char *text = text_of(answer, &size);
  const int file = text ? gs_preload_text(gs_real_openat, answer->real, text, size, flags) : -1;
  const int error = errno;
  free(text);
  errno = error;
  return file;
}

int gs_answer_open(const gs_answer_t *answer, int flags) {
  if (answer->kind == GS_ANSWER_OBJECT)
    return gs_object_open(answer->object, flags);
  if (answer->kind == GS_ANSWER_NOTHING) {
    errno = ENOENT;
    return -1;
  }
  if ((flags & O_ACCMODE) != O_RDONLY) {
    errno = EACCES;
    return -1;
  }
  if (answer->kind == GS_ANSWER_TEXT)
    return open_text(answer, flags);
  if (answer->kind == GS_ANSWER_FOLDER) /* what it holds is told by whoever reads it (libc.c) */
    return gs_preload_folder(gs_real_openat, flags);
  errno = ELOOP;
  return -1;
}
