/* Target ids: reading them from names and from ELF flags, and whether an image runs on a device. */
#include "plugin_test.h"

#include "image/target_id.h"
#include "openmp/refusal.h"

#include <string.h>

#define UNSUPPORTED ATMI_FEATURE_UNSUPPORTED
#define ANY         ATMI_FEATURE_ANY
#define OFF         ATMI_FEATURE_OFF
#define ON          ATMI_FEATURE_ON

static void parses_names(void **state) {
  (void)state;
  static const struct {
    const char *text, *processor;
    atmi_feature_t sramecc, xnack;
  } rows[] = {
      {"amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", "gfx90a", ON, OFF},
      {"amdgcn-amd-amdhsa--gfx900", "gfx900", ANY, ANY},
      {"gfx906:xnack+", "gfx906", ANY, ON},
      {"gfx908:sramecc-", "gfx908", OFF, ANY},
      {"gfx90a:xnack-:sramecc+", "gfx90a", ON, OFF}, /* the order is canonical, but nothing depends on it */
      {"gfx1030", "gfx1030", ANY, ANY},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    atmi_target_id_t id;
    assert_int_equal(atmi_target_id_parse(rows[i].text, &id), ATMI_OK);
    assert_string_equal(id.processor, rows[i].processor);
    assert_int_equal(id.sramecc, rows[i].sramecc);
    assert_int_equal(id.xnack, rows[i].xnack);
  }
  static const char *const wrong[] = {"",
                                      "amdgcn-amd-amdhsa--",
                                      "gfx",
                                      "sm_80",
                                      "gfx90a:",
                                      "gfx90a:xnack",
                                      "gfx90a:xnack*",
                                      "gfx90a:tgsplit+",
                                      "gfx90a:xnack-x",
                                      "gfx90123456789012345"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    atmi_target_id_t id;
    assert_int_equal(atmi_target_id_parse(wrong[i], &id), ATMI_INVALID);
  }
}

/* e_flags of images of Debian's compilers, and the encodings of the ABI documentation. */
static void reads_elf_flags(void **state) {
  (void)state;
  static const struct {
    uint8_t abi_version;
    uint32_t flags;
    const char *text;
  } rows[] = {
      {2, 0x52f, "gfx906"},                 /* v4: xnack any, sramecc any, as clang 13 to 16 write it */
      {1, 0x32f, "gfx906:sramecc+:xnack+"}, /* v3: both bits set */
      {1, 0x02f, "gfx906:sramecc-:xnack-"}, /* v3 cannot say "any" */
      {1, 0x130, "gfx908:sramecc-:xnack+"},
      {1, 0x036, "gfx1030"}, /* v3: has neither feature */
      {2, 0x53f, "gfx90a"},
      {2, 0xf3f, "gfx90a:sramecc+:xnack+"},
      {2, 0xa3f, "gfx90a:sramecc-:xnack-"},
      {2, 0xe3f, "gfx90a:sramecc+:xnack-"},
      {3, 0x73f, "gfx90a:xnack+"}, /* v5 uses v4's encoding */
      {2, 0x12c, "gfx900"},
      {2, 0x32c, "gfx900:xnack+"},
      {2, 0x036, "gfx1030"},
      {4, 0x54f, "gfx950"}, /* v6 has v5's, and the version of a generic processor on top */
      {4, 0x055, "gfx1152"},
      {4, 0x058, "gfx1153"},
      {4, 0xb4f, "gfx950:sramecc-:xnack+"},
      {4, 0x1000151, "gfx9-generic"},
      {4, 0x1000351, "gfx9-generic:xnack+"},
      {4, 0x100055f, "gfx9-4-generic"},
      {4, 0x2000052, "gfx10-1-generic"},
      {4, 0x1000053, "gfx10-3-generic"},
      {4, 0xff000054, "gfx11-generic"},
      {4, 0x1000059, "gfx12-generic"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const atmi_elf_identity_t identity = {
        .machine = 224, .os_abi = 64, .abi_version = rows[i].abi_version, .flags = rows[i].flags};
    atmi_target_id_t id;
    char text[ATMI_TARGET_ID_TEXT];
    assert_int_equal(atmi_target_id_from_elf(&identity, &id), ATMI_OK);
    atmi_target_id_format(&id, text);
    assert_string_equal(text, rows[i].text);
  }
}

static void refuses_other_images(void **state) {
  (void)state;
  static const atmi_elf_identity_t others[] = {
      {.machine = 62, .os_abi = 0, .abi_version = 0, .flags = 0},           /* x86-64 */
      {.machine = 190, .os_abi = 51, .abi_version = 7, .flags = 0x460},     /* CUDA */
      {.machine = 224, .os_abi = 65, .abi_version = 2, .flags = 0x53f},     /* AMDPAL, not HSA */
      {.machine = 224, .os_abi = 64, .abi_version = 0, .flags = 0x3f},      /* v2 */
      {.machine = 224, .os_abi = 64, .abi_version = 5, .flags = 0x53f},     /* after v6 */
      {.machine = 224, .os_abi = 64, .abi_version = 3, .flags = 0x1000053}, /* generic before v6 */
      {.machine = 224, .os_abi = 64, .abi_version = 4, .flags = 0x53},      /* generic without a version */
      {.machine = 224, .os_abi = 64, .abi_version = 2, .flags = 0x5ff},     /* no such processor */
      {.machine = 224, .os_abi = 64, .abi_version = 2, .flags = 0x500},
  };
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    atmi_target_id_t id;
    assert_int_equal(atmi_target_id_from_elf(&others[i], &id), ATMI_UNSUPPORTED);
  }
}

static void matches_images_with_devices(void **state) {
  (void)state;
  static const struct {
    atmi_target_id_t image;
    const char *device;
    atmi_mismatch_t expected;
  } rows[] = {
      {{"gfx90a", ANY, ANY}, "gfx90a:sramecc+:xnack-", ATMI_MATCH},
      {{"gfx90a", ANY, ANY}, "gfx90a:sramecc-:xnack+", ATMI_MATCH},
      {{"gfx906", ANY, ANY}, "gfx90a:sramecc+:xnack-", ATMI_MISMATCH_PROCESSOR},
      {{"gfx90", ANY, ANY}, "gfx90a:sramecc+:xnack-", ATMI_MISMATCH_PROCESSOR}, /* no prefix matching */
      {{"gfx90a", ANY, ANY}, "gfx90c:xnack-", ATMI_MISMATCH_PROCESSOR},
      {{"gfx90a", ON, OFF}, "gfx90a:sramecc+:xnack-", ATMI_MATCH},
      {{"gfx90a", OFF, ANY}, "gfx90a:sramecc+:xnack-", ATMI_MISMATCH_SRAMECC},
      {{"gfx90a", ANY, ON}, "gfx90a:sramecc+:xnack-", ATMI_MISMATCH_XNACK},
      {{"gfx90a", ANY, OFF}, "gfx90a:sramecc+:xnack+", ATMI_MISMATCH_XNACK},
      {{"gfx90a", OFF, ON},
       "gfx90a:sramecc+:xnack-",
       ATMI_MISMATCH_SRAMECC}, /* the first difference is named */
      {{"gfx900", UNSUPPORTED, ANY}, "gfx900:xnack-", ATMI_MATCH},
      {{"gfx900", UNSUPPORTED, ON},
       "gfx900",
       ATMI_MISMATCH_XNACK}, /* a device that does not name it lacks it */
      {{"gfx900", UNSUPPORTED, OFF}, "gfx900", ATMI_MATCH},
      {{"gfx1030", UNSUPPORTED, UNSUPPORTED}, "gfx1030", ATMI_MATCH},
      {{"gfx10-3-generic", UNSUPPORTED, UNSUPPORTED}, "gfx1030", ATMI_MATCH},
      {{"gfx10-3-generic", UNSUPPORTED, UNSUPPORTED}, "gfx1036", ATMI_MATCH},
      {{"gfx10-3-generic", UNSUPPORTED, UNSUPPORTED}, "gfx1013", ATMI_MISMATCH_PROCESSOR},
      {{"gfx10-1-generic", UNSUPPORTED, ANY}, "gfx1013:xnack-", ATMI_MATCH},
      {{"gfx11-generic", UNSUPPORTED, UNSUPPORTED}, "gfx1153", ATMI_MATCH},
      {{"gfx12-generic", UNSUPPORTED, UNSUPPORTED}, "gfx1201", ATMI_MATCH},
      {{"gfx12-generic", UNSUPPORTED, UNSUPPORTED}, "gfx1151", ATMI_MISMATCH_PROCESSOR},
      {{"gfx9-generic", UNSUPPORTED, ANY}, "gfx906:sramecc+:xnack-", ATMI_MATCH},
      {{"gfx9-generic", UNSUPPORTED, ON}, "gfx906:sramecc+:xnack-", ATMI_MISMATCH_XNACK},
      {{"gfx9-generic", UNSUPPORTED, ANY}, "gfx908:sramecc+:xnack-", ATMI_MISMATCH_PROCESSOR},
      {{"gfx9-generic", UNSUPPORTED, ANY}, "gfx90a:sramecc+:xnack-", ATMI_MISMATCH_PROCESSOR},
      {{"gfx9-4-generic", ANY, ANY}, "gfx942:sramecc+:xnack-", ATMI_MATCH},
      {{"gfx9-4-generic", OFF, ANY}, "gfx950:sramecc+:xnack-", ATMI_MISMATCH_SRAMECC},
      {{"gfx9-4-generic", ANY, ANY}, "gfx90a:sramecc+:xnack-", ATMI_MISMATCH_PROCESSOR},
      {{"gfx942", ANY, ANY},
       "gfx941:sramecc+:xnack-",
       ATMI_MISMATCH_PROCESSOR}, /* only generic ones are wide */
      {{"gfx800", ANY, ANY}, "gfx804", ATMI_MISMATCH_PROCESSOR},
      {{"gfx99-generic", ANY, ANY}, "gfx803", ATMI_MISMATCH_PROCESSOR}, /* unknown ones fit nothing */
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    atmi_target_id_t device;
    assert_int_equal(atmi_target_id_parse(rows[i].device, &device), ATMI_OK);
    assert_int_equal(atmi_target_id_match(&rows[i].image, &device), rows[i].expected);
  }
}

static void explains_a_mismatch_with_both_names(void **state) {
  (void)state;
  atmi_target_id_t image = {"gfx906", ANY, ANY}, device = {"gfx90a", ON, OFF};
  char text[256];
  atmi_refusal_explain(&image, &device, text, sizeof text);
  assert_string_equal(text,
                      "the image is for gfx906, the device is gfx90a:sramecc+:xnack-: the processors differ; "
                      "build with -march=gfx90a");
  image = (atmi_target_id_t){"gfx90a", ANY, ON};
  atmi_refusal_explain(&image, &device, text, sizeof text);
  assert_non_null(strstr(text, "gfx90a:xnack+"));
  assert_non_null(strstr(text, "xnack is on in the image and off on the device"));
  assert_non_null(strstr(text, "HSA_XNACK"));
  image = (atmi_target_id_t){"gfx908", ANY, ON};
  device = (atmi_target_id_t){"gfx908", ON, OFF};
  atmi_refusal_explain(&image, &device, text, sizeof text);
  assert_string_equal(text,
                      "the image is for gfx908:xnack+, the device is gfx908:sramecc+:xnack-: xnack is on in "
                      "the image and off on the device; build with -march=gfx908");
}

static void knows_apus(void **state) {
  (void)state;
  static const struct {
    const char *processor;
    uint32_t chip_id;
    bool is_apu;
  } rows[] = {{"gfx942", 0x74a0, true},  {"gfx942", 0x74a1, false}, {"gfx940", 0x7401, true},
              {"gfx90a", 0x740f, false}, {"gfx90a", 0x7408, false}, {"gfx950", 0x75a0, false}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    atmi_target_id_t device;
    assert_int_equal(atmi_target_id_parse(rows[i].processor, &device), ATMI_OK);
    assert_int_equal(atmi_target_id_is_apu(&device, rows[i].chip_id), rows[i].is_apu);
  }
}

/* Two images, one device that neither runs on for different reasons. */
static void describes_a_program_that_fits_nowhere(void **state) {
  (void)state;
  atmi_target_id_t images[4] = {0}, device, second;
  assert_int_equal(atmi_target_id_parse("gfx906", &images[0]), ATMI_OK);
  assert_int_equal(atmi_target_id_parse("gfx90a:xnack+", &images[1]), ATMI_OK);
  images[2] = images[0];
  assert_int_equal(atmi_target_id_parse("amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", &device), ATMI_OK);
  assert_int_equal(atmi_target_id_parse("gfx908:sramecc+:xnack-", &second), ATMI_OK);
  const atmi_refusal_device_t devices[] = {{&device, "AMD Instinct MI210"}, {&second, "AMD Instinct MI100"}};
  char text[4096];
  atmi_refusal_describe(images, 4, devices, 2, text, sizeof text);
  assert_string_equal(
      text, "cannot offload: no device image of the program runs on a GPU of this machine" ATMI_BREAK
            "the program is built for gfx906, gfx90a:xnack+, a processor that is not known here" ATMI_BREAK
            "device 0 is gfx90a:sramecc+:xnack- (AMD Instinct MI210)" ATMI_BREAK
            "  gfx906: the processors differ" ATMI_BREAK
            "  gfx90a:xnack+: xnack is on in the image and off on the device" ATMI_BREAK
            "device 1 is gfx908:sramecc+:xnack- (AMD Instinct MI100)" ATMI_BREAK
            "  gfx906: the processors differ" ATMI_BREAK "  gfx90a:xnack+: the processors differ" ATMI_BREAK
            "build with --offload-arch=gfx90a, which runs with either state of sramecc and xnack; in clang "
            "13 and "
            "14 it is -Xopenmp-target=amdgcn-amd-amdhsa -march=gfx90a" ATMI_BREAK
            "or set HSA_XNACK=1, if the driver allows xnack to be switched on; for unified shared memory the "
            "host must also reach device memory (large BAR): gfxsim-run --usm sets both on a simulated "
            "GPU" ATMI_BREAK
            "until then target regions run on the host, or fail with OMP_TARGET_OFFLOAD=MANDATORY");
  char small[40];
  atmi_refusal_describe(images, 4, devices, 2, small, sizeof small);
  assert_int_equal(strlen(small), sizeof small - 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parses_names),
      cmocka_unit_test(reads_elf_flags),
      cmocka_unit_test(refuses_other_images),
      cmocka_unit_test(matches_images_with_devices),
      cmocka_unit_test(knows_apus),
      cmocka_unit_test(explains_a_mismatch_with_both_names),
      cmocka_unit_test(describes_a_program_that_fits_nowhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
