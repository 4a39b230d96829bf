/* Why none of a program's images runs here: the text that the user gets. Pure. Not here: when it is printed
 * (src). */
#ifndef ATMI_OPENMP_REFUSAL_H
#define ATMI_OPENMP_REFUSAL_H

#include "image/target_id.h"

/* One GPU of the machine. */
typedef struct atmi_refusal_device {
  const atmi_target_id_t *target;
  const char *product; /* "AMD Instinct MI210" */
} atmi_refusal_device_t;

/* Why an image does not run on a device, in a few words: "sramecc is on in the image and off on the device".
 */
void atmi_refusal_reason(const atmi_target_id_t *image, const atmi_target_id_t *device, char *text,
                         size_t size);

/* One image and one device in one line: what they are, the reason, and how to build instead. */
void atmi_refusal_explain(const atmi_target_id_t *image, const atmi_target_id_t *device, char *text,
                          size_t size);

/* The whole message, of several lines (see ATMI_BREAK): what the images are for, what the devices
 * are, why none of the former runs on the latter, and how to build instead. images     an image whose
 * processor is not known has an empty processor name devices    at least one */
void atmi_refusal_describe(const atmi_target_id_t *images, size_t image_count,
                           const atmi_refusal_device_t *devices, size_t device_count, char *text,
                           size_t size);

/* As atmi_refusal_describe, where ROCr cannot be opened: `problem` says why, `remedy` what to do. */
void atmi_refusal_describe_no_runtime(const atmi_target_id_t *images, size_t image_count, const char *problem,
                                      const char *remedy, char *text, size_t size);

#endif
