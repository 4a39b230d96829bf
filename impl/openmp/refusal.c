/* Why none of a program's images runs here. */
#include "openmp/refusal.h"

#include "base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *state_of(atmi_feature_t feature) {
  return feature == ATMI_FEATURE_ON ? "on" : feature == ATMI_FEATURE_OFF ? "off" : "absent";
}

void atmi_refusal_reason(const atmi_target_id_t *image, const atmi_target_id_t *device, char *text,
                         size_t size) {
  switch (atmi_target_id_match(image, device)) {
  case ATMI_MATCH: snprintf(text, size, "they match"); break;
  case ATMI_MISMATCH_PROCESSOR: snprintf(text, size, "the processors differ"); break;
  case ATMI_MISMATCH_SRAMECC:
    snprintf(text, size, "sramecc is %s in the image and %s on the device", state_of(image->sramecc),
             state_of(device->sramecc));
    break;
  case ATMI_MISMATCH_XNACK:
    snprintf(text, size, "xnack is %s in the image and %s on the device", state_of(image->xnack),
             state_of(device->xnack));
    break;
  }
}

void atmi_refusal_explain(const atmi_target_id_t *image, const atmi_target_id_t *device, char *text,
                          size_t size) {
  char of_image[ATMI_TARGET_ID_TEXT], of_device[ATMI_TARGET_ID_TEXT], reason[128];
  atmi_target_id_format(image, of_image);
  atmi_target_id_format(device, of_device);
  atmi_refusal_reason(image, device, reason, sizeof reason);
  snprintf(text, size, "the image is for %s, the device is %s: %s; build with -march=%s%s", of_image,
           of_device, reason, device->processor,
           atmi_target_id_match(image, device) == ATMI_MISMATCH_XNACK &&
                   atmi_target_id_can_switch_xnack(device)
               ? ", or switch xnack with HSA_XNACK"
               : "");
}

static bool same_target(const atmi_target_id_t *a, const atmi_target_id_t *b) {
  return !strcmp(a->processor, b->processor) && a->sramecc == b->sramecc && a->xnack == b->xnack;
}

/* Whether an earlier image is for the same target. */
static bool is_repeated(const atmi_target_id_t *images, size_t index) {
  for (size_t i = 0; i < index; i++)
    if (same_target(&images[i], &images[index]))
      return true;
  return false;
}

static void add_images(atmi_text_t *block, const atmi_target_id_t *images, size_t count) {
  char text[ATMI_TARGET_ID_TEXT];
  atmi_text_add(block, ATMI_BREAK "the program is built for ");
  for (size_t i = 0; i < count; i++) {
    if (is_repeated(images, i))
      continue;
    atmi_target_id_format(&images[i], text);
    atmi_text_add(block, "%s%s", i ? ", " : "",
                  *images[i].processor ? text : "a processor that is not known here");
  }
}

/* What the program does meanwhile. */
static const char until_then[] =
    ATMI_BREAK "until then target regions run on the host, or fail with OMP_TARGET_OFFLOAD=MANDATORY";

static void add_device(atmi_text_t *block, size_t number, const atmi_refusal_device_t *device,
                       const atmi_target_id_t *images, size_t count) {
  char text[ATMI_TARGET_ID_TEXT], reason[128];
  atmi_target_id_format(device->target, text);
  atmi_text_add(block, ATMI_BREAK "device %zu is %s (%s)", number, text, device->product);
  for (size_t i = 0; i < count; i++) {
    if (!*images[i].processor || is_repeated(images, i))
      continue;
    atmi_target_id_format(&images[i], text);
    atmi_refusal_reason(&images[i], device->target, reason, sizeof reason);
    atmi_text_add(block, ATMI_BREAK "  %s: %s", text, reason);
  }
}

/* Whether switching xnack, where that is possible, would make an image run. */
static bool wants_xnack(const atmi_target_id_t *images, size_t count, const atmi_target_id_t *device) {
  if (!atmi_target_id_can_switch_xnack(device))
    return false;
  for (size_t i = 0; i < count; i++)
    if (atmi_target_id_match(&images[i], device) == ATMI_MISMATCH_XNACK &&
        images[i].xnack == ATMI_FEATURE_ON && device->xnack == ATMI_FEATURE_OFF)
      return true;
  return false;
}

void atmi_refusal_describe(const atmi_target_id_t *images, size_t image_count,
                           const atmi_refusal_device_t *devices, size_t device_count, char *text,
                           size_t size) {
  atmi_text_t block = {text, size, 0};
  const atmi_target_id_t *first = devices[0].target;
  atmi_text_add(&block, "cannot offload: no device image of the program runs on a GPU of this machine");
  add_images(&block, images, image_count);
  for (size_t i = 0; i < device_count; i++)
    add_device(&block, i, &devices[i], images, image_count);
  atmi_text_add(
      &block,
      ATMI_BREAK
      "build with --offload-arch=%s, which runs with either state of sramecc and xnack; in clang 13 and "
      "14 it is "
      "-Xopenmp-target=amdgcn-amd-amdhsa -march=%s",
      first->processor, first->processor);
  if (wants_xnack(images, image_count, first))
    atmi_text_add(
        &block, ATMI_BREAK
        "or set HSA_XNACK=1, if the driver allows xnack to be switched on; for unified shared memory the "
        "host must also reach device memory (large BAR): gfxsim-run --usm sets both on a simulated GPU");
  atmi_text_add(&block, "%s", until_then);
}

void atmi_refusal_describe_no_runtime(const atmi_target_id_t *images, size_t image_count, const char *problem,
                                      const char *remedy, char *text, size_t size) {
  atmi_text_t block = {text, size, 0};
  atmi_text_add(&block, "cannot offload: ROCr, which programs reach AMD GPUs through, cannot be used: %s",
                problem);
  add_images(&block, images, image_count);
  atmi_text_add(&block, ATMI_BREAK "%s%s", remedy, until_then);
}
