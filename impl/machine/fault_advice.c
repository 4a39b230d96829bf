/* Advice for regions that their device runtime has stopped. */
#include "machine/fault_advice.h"

#include "base/status.h"
#include "device/code_object.h"

#include <string.h>

static bool mentions(const void *image, size_t bytes, const char *text) {
  return memmem(image, bytes, text, strlen(text)) != NULL;
}

/* The newest compiler that had a part in the image: libraries may be older. */
static int newest_clang(const void *image, size_t bytes) {
  static const char text[] = "clang version ";
  const char *at = image, *end = at + bytes;
  int newest = 0;
  while ((at = memmem(at, (size_t)(end - at), text, sizeof text - 1))) {
    at += sizeof text - 1;
    int version = 0;
    for (; at < end && *at >= '0' && *at <= '9' && version < 1000; at++)
      version = 10 * version + (*at - '0');
    newest = version > newest ? version : newest;
  }
  return newest;
}

/* What stops in the device runtimes of these compilers, and works with the library for them. */
static const struct {
  int first, last;
  const char *constructs;
} library[] = {
    {14, 16, "critical regions, locks, tasks, nested parallel regions and whatever else needs a malloc"},
    {17, 17, "locks, nested parallel regions and whatever else needs a malloc"},
    {18, 19,
     "locks, nested parallel regions, dynamic loops in them, regions of more than 32 variables, and when "
     "the pool of its malloc is used up"},
};

/* What stops in an OpenMP image that its compiler's own device runtime is in; sets the compiler's version.
 * NULL for other images, and for those that have the library. */
static const char *what_stops(const void *image, size_t bytes, int *version) {
  if (!mentions(image, bytes, "omptarget_device_environment") &&
      !mentions(image, bytes, "__omp_rtl_device_environment"))
    return NULL;
  if (mentions(image, bytes, "__llvm_libc_rpc_client"))
    return NULL;
  *version = newest_clang(image, bytes);
  for (size_t i = 0; i < sizeof library / sizeof *library; i++)
    if (*version >= library[i].first && *version <= library[i].last)
      return library[i].constructs;
  return NULL;
}

void atmi_fault_advise(const char *where, const atmi_kernel_t *kernel) {
  int version;
  const char *constructs = kernel ? what_stops(kernel->owner->image, kernel->owner->bytes, &version) : NULL;
  if (constructs)
    atmi_warn(where,
              "the device runtime of clang %d stops like this in %s; with the option "
              "--config .../device/clang-%d.cfg of this plugin they work (doc/device-services.md)",
              version, constructs, version);
}
