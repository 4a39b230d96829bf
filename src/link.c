/* libomptarget-amdgpu.so, which programs link to that shall offload through this plugin wherever they run. It
 * lies beside the plugin and is an auxiliary filter for it under both names that libomptarget opens: the
 * dynamic linker loads filtees together with the filter, before any constructor, and finds them by the
 * filter's own DT_RPATH, which it searches before LD_LIBRARY_PATH. When libomptarget then opens one of these
 * names, it gets what is loaded already. Not here: the plugin. */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

static const char plugin[] = "libomptarget.rtl.amdgpu.so";

/* The file of the plugin beside this library. False if there is no room for its name. */
static int find_plugin(char path[PATH_MAX]) {
  Dl_info self;
  const char *slash = dladdr(plugin, &self) && self.dli_fname ? strrchr(self.dli_fname, '/') : NULL;
  int folder = slash ? (int)(slash - self.dli_fname) + 1 : 0;
  return slash && snprintf(path, PATH_MAX, "%.*s%s", folder, self.dli_fname, plugin) < PATH_MAX;
}

/* Where the plugin did not come with the filter, as in set-user-id programs, for which the dynamic linker
 * does not search paths relative to a library, loading it now is in time for libomptarget 13 and 14. */
__attribute__((constructor)) static void check(void) {
  char path[PATH_MAX];
  if (!find_plugin(path))
    return;
  void *ours = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!ours) {
    const char *reason = dlerror();
    fprintf(stderr,
            "AMDGPU warning: this program is linked to use the plugin %s, which cannot be loaded: %s\n", path,
            reason ? reason : "no reason is known");
    return;
  }
  void *used = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
  struct link_map *map;
  if (used && used != ours && !dlinfo(used, RTLD_DI_LINKMAP, &map))
    fprintf(
        stderr,
        "AMDGPU warning: this program is linked to use the plugin %s, but %s is loaded already (preloaded, "
        "perhaps) and is used\n",
        path, map->l_name);
}
