/* Device images: which of them run on which device, and loading them. */
#ifndef ATMI_OPENMP_IMAGE_H
#define ATMI_OPENMP_IMAGE_H

#include "openmp/context.h"

/* ---- what there is ---- */

/* What images of a library are for, so that one message can say why none of them runs here. More than these
 * are not described. An image whose processor is not known has an empty one. */
enum { ATMI_IMAGE_LIST_MOST = 32 };
typedef struct atmi_image_list {
  atmi_target_id_t ids[ATMI_IMAGE_LIST_MOST];
  size_t count;
} atmi_image_list_t;

/* Adds an ELF file to the list, if it is one for AMD GPUs. As atmi_embedded_visit_t. */
void atmi_image_note(const void *elf, size_t bytes, void *list);

/* Remembers an image of a library, which stands under any address that is its own, and adds it to the list.
 */
void atmi_image_register(atmi_context_t *context, const void *library, const atmi_image_bytes_t *image,
                         atmi_image_list_t *list);
/* Forgets the library's images, and unloads them from all devices, at once where nothing is running; not
 * when the program is ending. */
void atmi_image_unregister(atmi_context_t *context, const void *library);
/* The devices that none of the registered images fits, see atmi_machine_in_set. The caller holds the
 * context's lock. */
uint64_t atmi_image_misfits(const atmi_context_t *context);
/* Forgets the images of one library, or of all if it is NULL. The caller holds the context's lock. */
void atmi_image_forget(atmi_context_t *context, const void *library);

/* Whether its bytes are in memory still, for who is asked about images of libraries that were closed. */
bool atmi_image_is_there(const atmi_image_bytes_t *image);

/* Whether an image is there and runs on at least one device. Prints nothing. */
bool atmi_image_fits(const atmi_context_t *context, const atmi_image_bytes_t *image);

/* If there are images for AMD GPUs in the list but none runs on any of ours, says so at once in one block:
 * what they are for, what the devices are, which feature differs, and what would help. */
void atmi_image_explain(const atmi_context_t *context, const atmi_image_list_t *list);

/* Says in one block why a program with images for AMD GPUs cannot use any, where ROCr cannot be opened. A
 * program that has none hears of it only if debug is set.
 *   library  see atmi_context_options_t */
void atmi_image_explain_no_runtime(const char *library, bool debug);

/* ---- what is loaded ---- */

/* Loads an image on a device, with its entries. If this image does not fit the device, but the same library
 * has one that does, that one is taken: callers know only one image for all devices. The result lives until
 * the library is unregistered or the context stops. */
ATMI_MUST_CHECK atmi_status_t atmi_image_load(atmi_context_t *context, atmi_omp_device_t *device,
                                              const atmi_image_request_t *request,
                                              atmi_loaded_image_t **loaded);

/* The entry of this name in the image, or NULL. */
const atmi_entry_t *atmi_image_find(atmi_loaded_image_t *loaded, const char *name);

/* Runs the destructors of everything that is loaded on the device. The caller holds the context's lock. */
void atmi_image_destruct_all(atmi_omp_device_t *device);

/* Unloads everything from the device, on which nothing runs any more. The caller holds the context's lock. */
void atmi_image_release_all(atmi_omp_device_t *device);

#endif
