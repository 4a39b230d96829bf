/* Which libomptarget calls, and what its versions pass, in one form. */
#include "caller_abi.h"

#include "base/text.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

/* ---- which libomptarget ---- */

const char caller_abi_library_name[] = "libomptarget.so";

/* Functions that came with a version and are still exported by all later ones; none of them is libomp's too,
 * which has stand-ins for some of libomptarget's. */
static const struct {
  int version;
  const char *mark;
} marks[] = {
    {13, "__tgt_register_lib"},           {14, "__tgt_interop_init"},
    {15, "__tgt_target_kernel"},          {16, "__tgt_target_nowait_query"},
    {17, "omp_target_memcpy_rect_async"}, {18, "__tgt_activate_record_replay"},
};

int caller_abi_version_from_exports(bool (*exports)(const void *context, const char *name),
                                    const void *context) {
  int version = CALLER_ABI_UNKNOWN;
  for (size_t i = 0; i < sizeof marks / sizeof *marks && exports(context, marks[i].mark); i++)
    version = marks[i].version;
  return version;
}

/* A module of the process, sought by an address in it or, if that is 0, as a libomptarget. */
typedef struct module {
  uintptr_t address;
  uintptr_t begin, end;
  const char *name;
} module_t;

static int visit_module(struct dl_phdr_info *info, size_t bytes, void *data) {
  module_t *wanted = data;
  (void)bytes;
  uintptr_t begin = UINTPTR_MAX, end = 0;
  for (size_t i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type != PT_LOAD)
      continue;
    uintptr_t from = (uintptr_t)info->dlpi_addr + (uintptr_t)info->dlpi_phdr[i].p_vaddr;
    uintptr_t to = from + (uintptr_t)info->dlpi_phdr[i].p_memsz;
    begin = from < begin ? from : begin;
    end = to > end ? to : end;
  }
  bool found = wanted->address
                   ? begin <= wanted->address && wanted->address < end
                   : info->dlpi_name && atmi_text_names_file(info->dlpi_name, caller_abi_library_name);
  if (!found)
    return 0;
  *wanted = (module_t){wanted->address, begin, end, info->dlpi_name};
  return 1;
}

typedef struct exporter {
  void *handle;
  const module_t *module;
} exporter_t;

/* Whether the module itself exports the function; dlsym looks into what it needs, too. */
static bool module_exports(const void *context, const char *name) {
  const exporter_t *exporter = context;
  uintptr_t address = (uintptr_t)dlsym(exporter->handle, name);
  return address && exporter->module->begin <= address && address < exporter->module->end;
}

static int version_of(const module_t *module) {
  /* The program itself has an empty name. It is no libomptarget, but a test may be. */
  const exporter_t exporter = {
      dlopen(module->name && *module->name ? module->name : NULL, RTLD_LAZY | RTLD_NOLOAD), module};
  if (!exporter.handle)
    return CALLER_ABI_UNKNOWN;
  int version = caller_abi_version_from_exports(module_exports, &exporter);
  dlclose(exporter.handle);
  return version;
}

caller_abi_library_t caller_abi_find_caller(const void *return_address, const char **name) {
  module_t caller = {.address = (uintptr_t)return_address}, other = {0};
  *name = "an unknown place";
  if (!dl_iterate_phdr(visit_module, &caller))
    return (caller_abi_library_t){0};
  *name = caller.name && *caller.name ? caller.name : "the program itself";
  int version = version_of(&caller);
  if (version == CALLER_ABI_UNKNOWN && dl_iterate_phdr(visit_module, &other))
    version = version_of(&other);
  return (caller_abi_library_t){caller.begin, caller.end, version};
}

/* ---- copies ---- */

bool caller_abi_retrieve_waits(int version) {
  return version < 15;
}

/* ---- images ---- */

uintptr_t caller_abi_answer_load(int version, __tgt_target_table *table, void *handle,
                                 __tgt_device_binary *binary) {
  if (version < 18)
    return (uintptr_t)table;
  if (!handle)
    return (uintptr_t)(intptr_t)OFFLOAD_FAIL;
  binary->handle = (uintptr_t)handle;
  return OFFLOAD_SUCCESS;
}

bool caller_abi_registers_libraries(int version) {
  return version < 18;
}
