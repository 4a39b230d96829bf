/* Target ids: from ISA names and from ELF flags, and the rule that decides whether an image runs on a device.
 */
#include "image/target_id.h"

#include <stdio.h>
#include <string.h>

enum {
  EM_AMDGPU_MACHINE = 224,
  OSABI_AMDGPU_HSA = 64,
  ABI_V3 = 1,
  ABI_V4 = 2,
  ABI_V5 = 3,
  FLAGS_MACH = 0xff,
  FLAGS_V3_XNACK = 0x100,
  FLAGS_V3_SRAMECC = 0x200,
  FLAGS_V4_XNACK_SHIFT = 8,
  FLAGS_V4_SRAMECC_SHIFT = 10,
};

/* EF_AMDGPU_MACH values and what each processor can switch: code object v3 has one bit per feature, which
 * cannot tell "off" from "not supported". */
static const struct {
  uint8_t mach;
  char processor[10];
  bool sramecc, xnack;
} processors[] = {
    {0x20, "gfx600", false, false},  {0x21, "gfx601", false, false},  {0x3a, "gfx602", false, false},
    {0x22, "gfx700", false, false},  {0x23, "gfx701", false, false},  {0x24, "gfx702", false, false},
    {0x25, "gfx703", false, false},  {0x26, "gfx704", false, false},  {0x3b, "gfx705", false, false},
    {0x28, "gfx801", false, true},   {0x29, "gfx802", false, false},  {0x2a, "gfx803", false, false},
    {0x3c, "gfx805", false, false},  {0x2b, "gfx810", false, true},   {0x2c, "gfx900", false, true},
    {0x2d, "gfx902", false, true},   {0x2e, "gfx904", false, true},   {0x2f, "gfx906", true, true},
    {0x30, "gfx908", true, true},    {0x31, "gfx909", false, true},   {0x32, "gfx90c", false, true},
    {0x3f, "gfx90a", true, true},    {0x40, "gfx940", true, true},    {0x4b, "gfx941", true, true},
    {0x4c, "gfx942", true, true},    {0x33, "gfx1010", false, true},  {0x34, "gfx1011", false, true},
    {0x35, "gfx1012", false, true},  {0x42, "gfx1013", false, true},  {0x36, "gfx1030", false, false},
    {0x37, "gfx1031", false, false}, {0x38, "gfx1032", false, false}, {0x39, "gfx1033", false, false},
    {0x3e, "gfx1034", false, false}, {0x3d, "gfx1035", false, false}, {0x45, "gfx1036", false, false},
    {0x41, "gfx1100", false, false}, {0x46, "gfx1101", false, false}, {0x47, "gfx1102", false, false},
    {0x44, "gfx1103", false, false}, {0x43, "gfx1150", false, false}, {0x4a, "gfx1151", false, false},
    {0x48, "gfx1200", false, false}, {0x4e, "gfx1201", false, false},
};

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
  static const char *const processors_that_can[] = {"gfx90a", "gfx940", "gfx941", "gfx942"};
  for (size_t i = 0; i < sizeof processors_that_can / sizeof *processors_that_can; i++)
    if (!strcmp(device->processor, processors_that_can[i]))
      return true;
  return false;
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

atmi_status_t atmi_target_id_from_elf(const atmi_elf_identity_t *identity, atmi_target_id_t *id) {
  if (identity->machine != EM_AMDGPU_MACHINE || identity->os_abi != OSABI_AMDGPU_HSA ||
      identity->abi_version < ABI_V3 || identity->abi_version > ABI_V5)
    return ATMI_UNSUPPORTED;
  for (size_t i = 0; i < sizeof processors / sizeof *processors; i++) {
    if (processors[i].mach != (identity->flags & FLAGS_MACH))
      continue;
    *id = (atmi_target_id_t){.sramecc = ATMI_FEATURE_UNSUPPORTED};
    memcpy(id->processor, processors[i].processor, strlen(processors[i].processor) + 1);
    if (identity->abi_version == ABI_V3) {
      id->xnack = v3_feature(processors[i].xnack, identity->flags & FLAGS_V3_XNACK);
      id->sramecc = v3_feature(processors[i].sramecc, identity->flags & FLAGS_V3_SRAMECC);
    } else {
      /* The two-bit fields of v4 and v5 hold our enumeration's values. */
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

atmi_mismatch_t atmi_target_id_match(const atmi_target_id_t *image, const atmi_target_id_t *device) {
  if (strcmp(image->processor, device->processor))
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
