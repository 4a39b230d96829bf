/* A device image loaded on one device: its kernels and its variables. Not here: which names a program's
 * tables hold, and what LLVM's device runtimes mean by their symbols (src). */
#ifndef ATMI_DEVICE_CODE_OBJECT_H
#define ATMI_DEVICE_CODE_OBJECT_H

#include "base/name.h"
#include "image/elf.h"
#include "image/metadata.h"

#include <hsa/hsa.h>

typedef struct atmi_device atmi_device_t;

/* A kernel ready to launch: everything that a launch needs, so that it looks nothing up. Lives as long as its
 * code object. */
typedef struct atmi_kernel {
  uint64_t id; /* never 0, and of no other kernel of the machine, before or after */
  const char *name;
  uint64_t object;        /* address of the descriptor, for the packet */
  uint32_t group_bytes;   /* static LDS */
  uint32_t private_bytes; /* scratch per work-item */
  const atmi_kernel_metadata_t *metadata;
  const struct atmi_code_object *owner;
  uint64_t entry;     /* address of its code in the image, for reports; 0 if the image does not say */
  bool uses_hostcall; /* calls by the buffer that its hidden argument points to */
  bool calls_host;    /* may call, so somebody must serve while it runs */
  bool alone;         /* must not run while another such kernel of the device does */
} atmi_kernel_t;

typedef struct atmi_code_object {
  atmi_device_t *device;
  const void *image; /* the caller's */
  size_t bytes;
  atmi_elf_t *elf; /* for look-ups while loading; closed by atmi_code_object_seal */
  atmi_metadata_t metadata;
  hsa_code_object_reader_t reader;
  hsa_executable_t executable;
  bool has_bias;
  /* Who serves the calls of the image's code, and how to end that before the image goes; NULL: nobody. */
  void *served;
  void (*end_service)(void *served);
  uint64_t load_bias; /* address on the device minus address in the image; found on first use */
} atmi_code_object_t;

/* Loads an image on the device; the image must outlive the code object. Serialised per machine, since ROCr's
 * loader wants it. Fails, described, with ATMI_CORRUPT, ATMI_NO_MEMORY or ATMI_HSA_FAILED. fini accepts a
 * half-made or zeroed object, and makes all its kernels invalid. */
ATMI_MUST_CHECK atmi_status_t atmi_code_object_init(atmi_device_t *device, const void *image, size_t bytes,
                                                    atmi_code_object_t *object);
/* Ends the look-ups: drops what only they need. */
void atmi_code_object_seal(atmi_code_object_t *object);
void atmi_code_object_fini(atmi_code_object_t *object);

/* The kernel of this name. Fails with ATMI_NOT_FOUND, not described, if the image has no such kernel. */
ATMI_MUST_CHECK atmi_status_t atmi_code_object_find_kernel(atmi_code_object_t *object, const char *name,
                                                           atmi_kernel_t *kernel);

/* What messages call a kernel, as the user wants it: see atmi_name_of_kernel. */
atmi_name_t atmi_kernel_label(const atmi_kernel_t *kernel);

/* Address and size on the device of a variable, also of one that is local to the image. Fails with
 * ATMI_NOT_FOUND, not described. */
ATMI_MUST_CHECK atmi_status_t atmi_code_object_find_variable(atmi_code_object_t *object, const char *name,
                                                             void **address, uint64_t *bytes);

#endif
