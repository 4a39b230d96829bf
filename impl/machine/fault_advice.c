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

int atmi_fault_clang_without_malloc(const void *image, size_t bytes) {
  if (!mentions(image, bytes, "omptarget_device_environment") &&
      !mentions(image, bytes, "__omp_rtl_device_environment"))
    return 0;
  if (mentions(image, bytes, "__llvm_libc_rpc_client"))
    return 0;
  int version = newest_clang(image, bytes);
  return version >= 14 && version <= 16 ? version : 0;
}

void atmi_fault_advise(const char *where, const atmi_kernel_t *kernel) {
  int version = kernel ? atmi_fault_clang_without_malloc(kernel->owner->image, kernel->owner->bytes) : 0;
  if (version)
    atmi_warn(
        where,
        "the device runtime of clang %d stops like this in critical regions, locks, tasks, nested parallel "
        "regions and whatever else needs a malloc; with the option --config .../device/clang-%d.cfg of "
        "this plugin they work (doc/device-services.md)",
        version, version);
}
