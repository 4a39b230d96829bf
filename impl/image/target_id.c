/* Target ids: from ISA names and from ELF flags, and the rule that decides whether an image runs on a device.
 */
#include "image/target_id.h"

#include <stdio.h>
#include <string.h>

enum {
  EM_AMDGPU_MACHINE = 224,
  OSABI_AMDGPU_HSA = 64,
  FLAGS_MACH = 0xff,
  FLAGS_V3_XNACK = 0x100,
  FLAGS_V3_SRAMECC = 0x200,
  FLAGS_V4_XNACK_SHIFT = 8,
  FLAGS_V4_SRAMECC_SHIFT = 10,
  FLAGS_V6_GENERIC_VERSION_SHIFT = 24,
};

/* Of a generic processor: its images run on all processors that are of it. Other processors: the generic one
 * that they are of. */
typedef enum generic {
  NO_GENERIC,
  GFX9,
  GFX9_4,
  GFX10_1,
  GFX10_3,
  GFX11,
  GFX12,
} generic_t;

/* EF_AMDGPU_MACH values and what each processor can switch: code object v3 has one bit per feature, which
 * cannot tell "off" from "not supported". */
static const struct {
  uint8_t mach;
  char name[sizeof((atmi_target_id_t *)0)->processor];
  bool sramecc, xnack;
  generic_t generic;
} processors[] = {
    {0x20, "gfx600", false, false, NO_GENERIC},
    {0x21, "gfx601", false, false, NO_GENERIC},
    {0x3a, "gfx602", false, false, NO_GENERIC},
    {0x22, "gfx700", false, false, NO_GENERIC},
    {0x23, "gfx701", false, false, NO_GENERIC},
    {0x24, "gfx702", false, false, NO_GENERIC},
    {0x25, "gfx703", false, false, NO_GENERIC},
    {0x26, "gfx704", false, false, NO_GENERIC},
    {0x3b, "gfx705", false, false, NO_GENERIC},
    {0x28, "gfx801", false, true, NO_GENERIC},
    {0x29, "gfx802", false, false, NO_GENERIC},
    {0x2a, "gfx803", false, false, NO_GENERIC},
    {0x3c, "gfx805", false, false, NO_GENERIC},
    {0x2b, "gfx810", false, true, NO_GENERIC},
    {0x51, "gfx9-generic", false, true, GFX9},
    {0x2c, "gfx900", false, true, GFX9},
    {0x2d, "gfx902", false, true, GFX9},
    {0x2e, "gfx904", false, true, GFX9},
    {0x2f, "gfx906", true, true, GFX9},
    {0x30, "gfx908", true, true, NO_GENERIC},
    {0x31, "gfx909", false, true, GFX9},
    {0x32, "gfx90c", false, true, GFX9},
    {0x3f, "gfx90a", true, true, NO_GENERIC},
    {0x5f, "gfx9-4-generic", true, true, GFX9_4},
    {0x40, "gfx940", true, true, GFX9_4},
    {0x4b, "gfx941", true, true, GFX9_4},
    {0x4c, "gfx942", true, true, GFX9_4},
    {0x4f, "gfx950", true, true, GFX9_4},
    {0x52, "gfx10-1-generic", false, true, GFX10_1},
    {0x33, "gfx1010", false, true, GFX10_1},
    {0x34, "gfx1011", false, true, GFX10_1},
    {0x35, "gfx1012", false, true, GFX10_1},
    {0x42, "gfx1013", false, true, GFX10_1},
    {0x53, "gfx10-3-generic", false, false, GFX10_3},
    {0x36, "gfx1030", false, false, GFX10_3},
    {0x37, "gfx1031", false, false, GFX10_3},
    {0x38, "gfx1032", false, false, GFX10_3},
    {0x39, "gfx1033", false, false, GFX10_3},
    {0x3e, "gfx1034", false, false, GFX10_3},
    {0x3d, "gfx1035", false, false, GFX10_3},
    {0x45, "gfx1036", false, false, GFX10_3},
    {0x54, "gfx11-generic", false, false, GFX11},
    {0x41, "gfx1100", false, false, GFX11},
    {0x46, "gfx1101", false, false, GFX11},
    {0x47, "gfx1102", false, false, GFX11},
    {0x44, "gfx1103", false, false, GFX11},
    {0x43, "gfx1150", false, false, GFX11},
    {0x4a, "gfx1151", false, false, GFX11},
    {0x55, "gfx1152", false, false, GFX11},
    {0x58, "gfx1153", false, false, GFX11},
    {0x59, "gfx12-generic", false, false, GFX12},
    {0x48, "gfx1200", false, false, GFX12},
    {0x4e, "gfx1201", false, false, GFX12},
};
enum { PROCESSORS = sizeof processors / sizeof *processors };

static bool is_generic(const char *processor) {
  return strchr(processor, '-');
}

/* The generic processor that one is or is of. */
static generic_t generic_of(const char *processor) {
  for (size_t i = 0; i < PROCESSORS; i++)
    if (!strcmp(processors[i].name, processor))
      return processors[i].generic;
  return NO_GENERIC;
}

/* Reads one ":feature+" or ":feature-" at *text, and moves behind it. */
static bool parse_feature(const char **text, const char *name, atmi_feature_t *feature) {
  size_t length = strlen(name);
  if ((*text)[0] != ':' || strncmp(*text + 1, name, length))
    return false;
  char sign = (*text)[1 + length];
  if (sign != '+' && sign != '-')
    return false;
  *feature = sign == '+' ? ATMI_FEATURE_ON : ATMI_FEATURE_OFF;
  *text += length + 2;
  return true;
}

bool atmi_target_id_can_switch_xnack(const atmi_target_id_t *device) {
  static const char *const processors_that_can[] = {"gfx90a", "gfx940", "gfx941", "gfx942", "gfx950"};
  for (size_t i = 0; i < sizeof processors_that_can / sizeof *processors_that_can; i++)
    if (!strcmp(device->processor, processors_that_can[i]))
      return true;
  return false;
}

bool atmi_target_id_is_apu(const atmi_target_id_t *device, uint32_t chip_id) {
  return !strcmp(device->processor, "gfx940") || (!strcmp(device->processor, "gfx942") && !(chip_id & 1));
}

atmi_status_t atmi_target_id_parse(const char *text, atmi_target_id_t *id) {
  const char *triple = "amdgcn-amd-amdhsa--";
  if (!strncmp(text, triple, strlen(triple)))
    text += strlen(triple);
  size_t length = strcspn(text, ":");
  if (length < 4 || length >= sizeof id->processor || strncmp(text, "gfx", 3))
    return ATMI_INVALID;
  atmi_target_id_t result = {.sramecc = ATMI_FEATURE_ANY, .xnack = ATMI_FEATURE_ANY};
  memcpy(result.processor, text, length);
  text += length;
  while (*text)
    if (!parse_feature(&text, "sramecc", &result.sramecc) && !parse_feature(&text, "xnack", &result.xnack))
      return ATMI_INVALID;
  *id = result;
  return ATMI_OK;
}

static atmi_feature_t v3_feature(bool supported, uint32_t bit) {
  if (!supported)
    return ATMI_FEATURE_UNSUPPORTED;
  return bit ? ATMI_FEATURE_ON : ATMI_FEATURE_OFF;
}

/* Images for generic processors came with v6, and their versions begin with 1, in which all processors were
 * added; an image of any version runs on what was added up to it. */
static bool is_version_known(const atmi_elf_identity_t *identity, const char *processor) {
  return !is_generic(processor) || (identity->abi_version >= ATMI_ELF_CODE_OBJECT_V6 &&
                                    identity->flags >> FLAGS_V6_GENERIC_VERSION_SHIFT);
}

atmi_status_t atmi_target_id_from_elf(const atmi_elf_identity_t *identity, atmi_target_id_t *id) {
  if (identity->machine != EM_AMDGPU_MACHINE || identity->os_abi != OSABI_AMDGPU_HSA ||
      identity->abi_version < ATMI_ELF_CODE_OBJECT_V3 || identity->abi_version > ATMI_ELF_CODE_OBJECT_V6)
    return ATMI_UNSUPPORTED;
  for (size_t i = 0; i < PROCESSORS; i++) {
    if (processors[i].mach != (identity->flags & FLAGS_MACH) ||
        !is_version_known(identity, processors[i].name))
      continue;
    *id = (atmi_target_id_t){.sramecc = ATMI_FEATURE_UNSUPPORTED};
    memcpy(id->processor, processors[i].name, sizeof id->processor);
    if (identity->abi_version == ATMI_ELF_CODE_OBJECT_V3) {
      id->xnack = v3_feature(processors[i].xnack, identity->flags & FLAGS_V3_XNACK);
      id->sramecc = v3_feature(processors[i].sramecc, identity->flags & FLAGS_V3_SRAMECC);
    } else {
      /* The two-bit fields of v4 to v6 hold our enumeration's values. */
      id->xnack = (atmi_feature_t)(identity->flags >> FLAGS_V4_XNACK_SHIFT & 3);
      id->sramecc = (atmi_feature_t)(identity->flags >> FLAGS_V4_SRAMECC_SHIFT & 3);
    }
    return ATMI_OK;
  }
  return ATMI_UNSUPPORTED;
}

static bool feature_fits(atmi_feature_t image, atmi_feature_t device) {
  if (image == ATMI_FEATURE_UNSUPPORTED || image == ATMI_FEATURE_ANY)
    return true;
  /* A device whose name leaves the feature out does not have it, which for code is the same as off. */
  if (device == ATMI_FEATURE_UNSUPPORTED || device == ATMI_FEATURE_ANY)
    return image == ATMI_FEATURE_OFF;
  return image == device;
}

static bool processor_fits(const char *image, const char *device) {
  if (!strcmp(image, device))
    return true;
  generic_t generic = generic_of(image);
  return is_generic(image) && generic != NO_GENERIC && generic == generic_of(device);
}

atmi_mismatch_t atmi_target_id_match(const atmi_target_id_t *image, const atmi_target_id_t *device) {
  if (!processor_fits(image->processor, device->processor))
    return ATMI_MISMATCH_PROCESSOR;
  if (!feature_fits(image->sramecc, device->sramecc))
    return ATMI_MISMATCH_SRAMECC;
  if (!feature_fits(image->xnack, device->xnack))
    return ATMI_MISMATCH_XNACK;
  return ATMI_MATCH;
}

static const char *feature_text(atmi_feature_t feature, const char *on, const char *off) {
  return feature == ATMI_FEATURE_ON ? on : feature == ATMI_FEATURE_OFF ? off : "";
}

void atmi_target_id_format(const atmi_target_id_t *id, char text[ATMI_TARGET_ID_TEXT]) {
  snprintf(text, ATMI_TARGET_ID_TEXT, "%s%s%s", id->processor,
           feature_text(id->sramecc, ":sramecc+", ":sramecc-"),
           feature_text(id->xnack, ":xnack+", ":xnack-"));
}
