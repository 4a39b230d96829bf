/* What programs' constructors and destructors call, and what concerns the library as a whole. */
#include "entry.h"
#include "lint.h"
#include "runtime.h"

TGT_EXPORT void __tgt_register_lib(const tgt_descriptor_t *descriptor) {
  tgt_runtime_register(tgt_runtime(), descriptor);
}

TGT_EXPORT void __tgt_unregister_lib(const tgt_descriptor_t *descriptor) {
  tgt_runtime_unregister(tgt_runtime(), descriptor);
}

TGT_EXPORT void __tgt_register_requires(int64_t flags) {
  /* The number that LLVM's library of the program's clang gives to this failure. */
  bool is_new = atomic_load(&tgt_runtime()->newest_version) >= 18;
  tgt_runtime_require(tgt_runtime(), flags, is_new ? 2 : 1);
}

/* Devices are found at registration, and this library is never closed. */
TGT_EXPORT void __tgt_init_all_rtls(void) {}
TGT_EXPORT void __tgt_rtl_init(void) {}
TGT_EXPORT void __tgt_rtl_deinit(void) {}

/* After the program's own destructors; what others still call finds no device. */
__attribute__((destructor)) static void stop(void) {
  tgt_runtime_stop(tgt_runtime());
  tgt_lint_stop();
  tgt_ompt_stop();
  tgt_machine_stop();
}
