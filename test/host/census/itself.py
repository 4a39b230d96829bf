"""Whether the census sees what nobody knows yet: each line of what a later clang might make."""

import sys

import census

KNOWN = {"__tgt_target_kernel": "15"}
ENTRY = ('@.offloading.entry.name = weak constant %struct.__tgt_offload_entry { i64 0, i16 1, i16 1, i32 FLAGS, ptr @f, '
         'ptr @n, i64 0, i64 0, ptr null }, section "llvm_offload_entries"\n')
CASES = [
    ("", None),
    ("  call void @__tgt_target_kernel(ptr null)\n", None),
    ("  call void @__tgt_target_later(ptr null)\n", "calls __tgt_target_later,"),
    ("  %1 = call i32 @__kmpc_omp_target_task_later(ptr null)\n", "calls __kmpc_omp_target_task_later,"),
    ("@.offload_maptypes.4 = private unnamed_addr constant [2 x i64] [i64 35, i64 16384]\n", None),
    ("@.offload_maptypes.4 = private unnamed_addr constant [2 x i64] [i64 35, i64 32769]\n", "unknown bit 0x8000"),
    ("define internal void @.omp_mapper.x() {\n  %1 = add nuw i64 2048, %0\n}\n", "unknown bit 0x800"),
    ("  %kernel_args = alloca %struct.__tgt_kernel_arguments\n  store i32 3, ptr %kernel_args, align 8\n", None),
    ("  %kernel_args = alloca %struct.__tgt_kernel_arguments\n  store i32 6, ptr %kernel_args, align 8\n", "unknown version 6"),
    (ENTRY.replace("FLAGS", "32"), None),
    (ENTRY.replace("FLAGS", "64"), "unknown flag 0x40"),
    (ENTRY.replace("FLAGS", "0").replace("i16 1, i16 1", "i16 2, i16 1"), "has version 2"),
]

bad = 0
for text, wanted in CASES:
    _, complaints = census.facts_of(text, KNOWN)
    if (len(complaints) != 1 or wanted not in complaints[0]) if wanted else complaints:
        print(f"census of:\n{text}wanted: {wanted}, and says: {complaints}")
        bad += 1
sys.exit(1 if bad else 0)
