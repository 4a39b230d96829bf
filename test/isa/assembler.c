/* LLVM's assembler by its C interface. That takes assembly text as that of a module without functions; the
 * object is what the AMDGPU target makes of it, by the same parser as llvm-mc's. */
#include "assembler.h"

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <string.h>

static const char triple[] = "amdgcn";

/* Keeps what LLVM says first, which it takes. */
static void keep(char *message, char **wrong) {
  if (message && !*wrong)
    *wrong = strdup(message);
  LLVMDisposeMessage(message);
}

/* LLVM ends the process where nobody listens. */
static void hear(LLVMDiagnosticInfoRef info, void *context) {
  if (LLVMGetDiagInfoSeverity(info) == LLVMDSError)
    keep(LLVMGetDiagInfoDescription(info), context);
}

/* NULL, and what is wrong. Registers the target: again and again is harmless. */
static LLVMTargetMachineRef make_machine(const char *processor, const char *features, char **wrong) {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTarget();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUAsmParser();
  LLVMInitializeAMDGPUAsmPrinter();
  LLVMTargetRef target;
  char *message = NULL;
  if (LLVMGetTargetFromTriple(triple, &target, &message)) {
    keep(message, wrong);
    return NULL;
  }
  return LLVMCreateTargetMachine(target, triple, processor, features, LLVMCodeGenLevelNone, LLVMRelocPIC,
                                 LLVMCodeModelDefault);
}

/* NULL or LLVM's buffer; `wrong` as above. The text may have been refused although there is one. */
static LLVMMemoryBufferRef emit(LLVMContextRef context, LLVMTargetMachineRef machine, const char *text,
                                char **wrong) {
  LLVMModuleRef module = LLVMModuleCreateWithNameInContext("text", context);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
  LLVMSetTarget(module, triple);
  LLVMSetModuleDataLayout(module, layout);
  LLVMSetModuleInlineAsm2(module, text, strlen(text));
  LLVMMemoryBufferRef buffer = NULL;
  char *message = NULL;
  if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &message, &buffer)) {
    keep(message, wrong);
    buffer = NULL;
  }
  LLVMDisposeTargetData(layout);
  LLVMDisposeModule(module);
  return buffer;
}

bool isa_assembler_run(const char *processor, const char *features, const char *text, isa_object_t *object,
                       char **wrong) {
  *object = (isa_object_t){NULL, NULL, 0};
  *wrong = NULL;
  LLVMTargetMachineRef machine = make_machine(processor, features, wrong);
  if (!machine)
    return false;
  LLVMContextRef context = LLVMContextCreate();
  LLVMContextSetDiagnosticHandler(context, hear, wrong);
  LLVMMemoryBufferRef buffer = emit(context, machine, text, wrong);
  LLVMContextDispose(context);
  LLVMDisposeTargetMachine(machine);
  if (!buffer)
    return false;
  *object = (isa_object_t){buffer, (const uint8_t *)LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer)};
  if (*wrong)
    isa_object_release(object);
  return !*wrong;
}

void isa_object_release(isa_object_t *object) {
  if (object->buffer)
    LLVMDisposeMemoryBuffer(object->buffer);
  *object = (isa_object_t){NULL, NULL, 0};
}
