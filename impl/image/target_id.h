/* Target ids: which processor, with xnack and sramecc in which state, an image was built for and a device is.
 * The rules are those of LLVM's "User Guide for AMDGPU Backend" (target id, generic processors, ELF e_flags).
 * Pure functions. */
#ifndef ATMI_IMAGE_TARGET_ID_H
#define ATMI_IMAGE_TARGET_ID_H

#include "image/elf.h"

/* State of one target feature. */
typedef enum atmi_feature {
  ATMI_FEATURE_UNSUPPORTED, /* the processor has no such feature */
  ATMI_FEATURE_ANY,         /* image only: runs with the feature on or off */
  ATMI_FEATURE_OFF,
  ATMI_FEATURE_ON,
} atmi_feature_t;

typedef struct atmi_target_id {
  char processor[16]; /* "gfx90a", "gfx10-3-generic" */
  atmi_feature_t sramecc, xnack;
} atmi_target_id_t;

#define ATMI_TARGET_ID_TEXT 48 /* bytes that hold any target id as text, with its terminator */

/* Why an image does not run on a device. */
typedef enum atmi_mismatch {
  ATMI_MATCH,
  ATMI_MISMATCH_PROCESSOR,
  ATMI_MISMATCH_SRAMECC,
  ATMI_MISMATCH_XNACK,
} atmi_mismatch_t;

/* Reads "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", with or without the triple. A feature that is not named
 * is ATMI_FEATURE_ANY; for the name of a device that means that it lacks the feature, see
 * atmi_target_id_match. */
ATMI_MUST_CHECK atmi_status_t atmi_target_id_parse(const char *text, atmi_target_id_t *id);

/* Reads the identity of an image. ATMI_UNSUPPORTED if it is no AMDGPU HSA image of code object v3 to v6, or
 * is for a processor that we do not know. Prints nothing. */
ATMI_MUST_CHECK atmi_status_t atmi_target_id_from_elf(const atmi_elf_identity_t *identity,
                                                      atmi_target_id_t *id);

/* Whether an image runs on a device: the same processor or a generic one that the device is of, and each
 * feature that the image was built for on or off is in that state on the device. An image built without
 * regard to a feature runs either way. */
atmi_mismatch_t atmi_target_id_match(const atmi_target_id_t *image, const atmi_target_id_t *device);

/* Whether the driver lets each process switch xnack (HSA_XNACK), if all GPUs of the machine can do that; the
 * state of others was decided when the driver was loaded. From amdkfd (kfd_process_xnack_mode). */
bool atmi_target_id_can_switch_xnack(const atmi_target_id_t *device);

/* Whether GPU and host share one memory, of those that are made for computing: MI300A, which has the
 * processor of MI300X; the numbers of its chips are even, and those of MI300X odd. From LLVM's plugin of
 * version 18. */
bool atmi_target_id_is_apu(const atmi_target_id_t *device, uint32_t chip_id);

/* "gfx90a:sramecc+:xnack-": what -march takes. */
void atmi_target_id_format(const atmi_target_id_t *id, char text[ATMI_TARGET_ID_TEXT]);

#endif
