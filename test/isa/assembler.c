/* LLVM's assembler by its C interface. That takes assembly text as that of a module without functions; the
 * object is what the AMDGPU target makes of it, by the same parser as llvm-mc's. */
#include "assembler.h"

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <stdlib.h>
#include <string.h>

static const char triple[] = "amdgcn";

/* Keeps the first error. LLVM ends the process where nobody listens. */
static void hear(LLVMDiagnosticInfoRef info, void *context) {
  char **const wrong = context;
  if (LLVMGetDiagInfoSeverity(info) != LLVMDSError || *wrong)
    return;
  char *const text = LLVMGetDiagInfoDescription(info);
  *wrong = strdup(text);
  LLVMDisposeMessage(text);
}

/* Says what LLVM says, in memory of ours. */
static char *take_message(char *message) {
  char *const text = strdup(message ? message : "LLVM says nothing");
  LLVMDisposeMessage(message);
  return text;
}

/* NULL, and what is wrong in `wrong`. Registers the target: again and again is harmless. */
static LLVMTargetMachineRef make_machine(const char *processor, const char *features, char **wrong) {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTarget();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUAsmParser();
  LLVMInitializeAMDGPUAsmPrinter();
  LLVMTargetRef target;
  char *message = NULL;
  if (LLVMGetTargetFromTriple(triple, &target, &message)) {
    *wrong = take_message(message);
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
    free(*wrong);
    *wrong = take_message(message);
    buffer = NULL;
  }
  LLVMDisposeTargetData(layout);
  LLVMDisposeModule(module);
  return buffer;
}

char *isa_assembler_run(const char *processor, const char *features, const char *text, isa_object_t *object) {
  char *wrong = NULL;
  LLVMTargetMachineRef machine = make_machine(processor, features, &wrong);
  if (!machine)
    return wrong;
  LLVMContextRef context = LLVMContextCreate();
  LLVMContextSetDiagnosticHandler(context, hear, &wrong);
  LLVMMemoryBufferRef buffer = emit(context, machine, text, &wrong);
  LLVMContextDispose(context);
  LLVMDisposeTargetMachine(machine);
  if (wrong && buffer) {
    LLVMDisposeMemoryBuffer(buffer);
    buffer = NULL;
  }
  *object = (isa_object_t){buffer, buffer ? (const uint8_t *)LLVMGetBufferStart(buffer) : NULL,
                           buffer ? LLVMGetBufferSize(buffer) : 0};
  return wrong;
}

void isa_object_release(isa_object_t *object) {
  if (object->buffer)
    LLVMDisposeMemoryBuffer(object->buffer);
  *object = (isa_object_t){NULL, NULL, 0};
}
