/* Device images as programs carry them, raw or wrapped, and where they lie in this process. Not here: what is
 * inside the ELF file (image/elf). */
#ifndef ATMI_IMAGE_EMBEDDED_H
#define ATMI_IMAGE_EMBEDDED_H

#include <stdbool.h>
#include <stddef.h>

/* An image as it may be embedded: raw ELF [clang 13, 14, and what a runtime has unwrapped already], or
 * wrapped into an offload binary [15-]. Finds the ELF in it; `*arch` is the wrapper's "arch" or NULL. False
 * if the bytes are neither, or contradict themselves. */
bool atmi_embedded_unwrap(const void *image, size_t bytes, const void **elf, size_t *elf_bytes,
                          const char **arch);

/* Is shown the bytes of an ELF file that may be an image. */
typedef void atmi_embedded_visit_t(const void *elf, size_t bytes, void *context);

/* Visits the ELF file of every offload binary in the same mapping of this process as `image`: those of the
 * same executable or shared library. The mapping's address, which stands for the library; NULL if there is
 * none, for example because the image is not wrapped. */
const void *atmi_embedded_find_beside(const void *image, atmi_embedded_visit_t *visit, void *context);

/* Visits all that begins like an ELF file in the executable and shared libraries of this process that were
 * linked with a library: themselves, and the device images that they carry. `bytes` is what follows at most.
 * For when nobody registers images, because there is no device. Takes a lock of the dynamic linker.
 *   library  what the file's name begins with: "libomptarget.so" */
void atmi_embedded_find_all(const char *library, atmi_embedded_visit_t *visit, void *context);

#endif
