#!/usr/bin/env python3
"""Compares what each clang makes of each OpenMP construct, of all that a host runtime has to do with, with the table that is
checked in: entry points that are called, map types, offload entries, versions. What clang makes, a host runtime must know:
entry points and bits that nobody knows are said even where the table was written by a program."""

import argparse
import collections
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

OWN = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(OWN)))
TABLE = os.path.join(OWN, "table.txt")
OLDEST, NEWEST = 13, 40
TRIPLE = "x86_64-pc-linux-gnu"

# No bit of a map type ever changed its meaning. The upper 16 are a number: of which entry this is a member.
MAP_BITS = {
    0x1: "TO", 0x2: "FROM", 0x4: "ALWAYS", 0x8: "DELETE", 0x10: "PTR_AND_OBJ", 0x20: "PARAM", 0x40: "RETURN",
    0x80: "PRIVATE", 0x100: "LITERAL", 0x200: "IMPLICIT", 0x400: "CLOSE", 0x1000: "PRESENT", 0x2000: "HOLD",
    0x4000: "ATTACH", 1 << 44: "NON_CONTIG",
}
ENTRY_BITS = {0x1: "link", 0x2: "ctor", 0x4: "dtor", 0x8: "indirect", 0x10: "requires", 0x20: "vtable"}
KERNEL_ARGUMENTS = (1, 2, 3, 5)

HEADER = """\
# What clang makes of the constructs in constructs.cpp, written by `census.py --update`; do not edit, but read every change.
#   construct | clangs | calls; versions of the kernel arguments; map types of each list; offset:count:stride of the
#   dimensions of sections; map types that mappers add; offload entries; what is registered as required
"""


def fail(message):
    sys.exit("census: " + message)


def named(value, bits):
    """The names of the bits, and the hexadecimal rest if there are others: (text, rest)."""
    names = [name for bit, name in bits.items() if value & bit]
    rest = value & ~sum(bits)
    return "|".join(names + ([hex(rest)] if rest else [])) or "0", rest


def map_type(value, complaints):
    text, rest = named(value & ((1 << 48) - 1), MAP_BITS)
    if rest:
        complaints.append(f"unknown bit {rest:#x} in map type {value:#x}")
    member = value >> 48
    return f"{text}|MEMBER_{member}".replace("0|", "", 1 if text == "0" else 0) if member else text


def integers(text):
    return [int(value) & (2**64 - 1) for value in re.findall(r"i64 (-?\d+)", text)]


def calls_of(ir, known, complaints):
    called = []
    for name in re.findall(r"call [^@\n]*@(\w+)\(", ir):
        if re.match(r"__tgt_|__kmpc_\w*(target|task|wait_deps|event)|_{0,2}(llvm_?)?ompx?_[a-z]", name) and name not in called and \
                not re.search(rf"^define [^@\n]*@{name}\(", ir, re.M):
            called.append(name)
    for name in sorted(called):
        if name not in known:
            complaints.append(f"calls {name}, which test/host/census/entry_points.txt does not have")
    return sorted(called)


def arguments_of(ir, complaints):
    """The versions that are stored into the first word of kernel arguments."""
    places = re.findall(r"(%\S+) = alloca %struct.__tgt_kernel_arguments", ir)
    places += re.findall(r"(%\S+) = getelementptr inbounds (?:nuw )?%struct.__tgt_kernel_arguments, [^,]*, i32 0, i32 0\n", ir)
    found = set()
    for place in places:
        found |= {int(word) for word in re.findall(rf"store i32 (\d+), (?:ptr|\S+\*) {re.escape(place)},", ir)}
    complaints += [f"unknown version {version} of the kernel arguments" for version in sorted(found - set(KERNEL_ARGUMENTS))]
    return sorted(found)


def maps_of(ir, complaints):
    lists = []
    for count, values in re.findall(r"@\.offload_maptypes\S* = [^\[]*\[(\d+) x i64\] (\[[^\]]*\]|zeroinitializer)", ir):
        numbers = [0] * int(count) if values == "zeroinitializer" else integers(values)
        lists.append("[" + ", ".join(map_type(value, complaints) for value in numbers) + "]")
    return lists


def sections_of(ir):
    """Offset:count:stride of each dimension of non-contiguous updates; the last one is the element."""
    field = r"getelementptr inbounds (?:nuw )?%struct\.descriptor_dim[.\d]*, [^\n]*, i32 0, i32 (\d)\n *store i64 (\S+),"
    dimensions = []
    for number, value in re.findall(field, ir):
        if number == "0":
            dimensions.append([])
        dimensions[-1].append(value if re.match(r"-?\d", value) else "n")
    return [":".join(fields) for fields in dimensions]


def mapper_types(ir, complaints):
    """What a mapper adds its components' numbers to."""
    types = []
    for body in re.findall(r"^define [^\n]*omp_mapper[^\n]*\{\n(.*?)^\}", ir, re.M | re.S):
        types += [map_type(value, complaints) for value in integers("\n".join(re.findall(r"= add nuw (i64 -?\d+), %", body)))]
    return types


def entries_of(ir, complaints):
    """Layout and kind of the offload entries, without names: lines of constructs.cpp would be part of them."""
    found = collections.Counter()
    for name, fields in re.findall(r'@"?\.(?:omp_)?offloading\.entry\.([^" ]+)"? = [^{]*\{ (.*) \}, section', ir):
        numbers = [int(word) for word in re.findall(r"i(?:16|32|64) (\d+)", re.sub(r"getelementptr inbounds \([^()]*(?:\([^()]*\))?[^()]*\)", "", fields))]
        new = fields.startswith("i64 0, i16")
        if new:
            _, version, kind, flags, size, data = numbers
            if (version, kind) != (1, 1):
                complaints.append(f"entry {name} has version {version} and kind {kind}")
        else:
            size, flags, data = numbers
        text, rest = named(flags, ENTRY_BITS)
        if rest:
            complaints.append(f"unknown flag {rest:#x} of entry {name}")
        words = ["new" if new else "old", "region" if name.startswith("__omp_offloading_") and size == 0 else f"{size} bytes"]
        words += [text] * bool(flags) + [f"data {data}"] * bool(data)
        found[" ".join(words)] += 1
    return [f"{count} x {text}" if count > 1 else text for text, count in sorted(found.items())]


def facts_of(ir, known):
    """One line about a module, and the complaints about what nobody knows."""
    complaints = []
    facts = {
        "calls": calls_of(ir, known, complaints),
        "kernel arguments": [str(version) for version in arguments_of(ir, complaints)],
        "maps": maps_of(ir, complaints),
        "sections": sections_of(ir),
        "mapper": mapper_types(ir, complaints),
        "entries": entries_of(ir, complaints),
        "requires": re.findall(r"call void @__tgt_register_requires\(i64 (\d+)\)", ir),
    }
    separators = {"calls": " ", "maps": " ", "sections": " "}
    line = "; ".join(f"{key}: {separators.get(key, ', ').join(values)}" for key, values in facts.items() if values)
    return line, complaints


def read_constructs():
    """{name: (first clang, last clang, source)}"""
    with open(os.path.join(OWN, "constructs.cpp"), encoding="utf-8") as file:
        blocks = re.split(r"^//: (\w+)(?: (\d+)(?: to (\d+))?)?\n", file.read(), flags=re.M)
    return {blocks[i]: (int(blocks[i + 1] or OLDEST), int(blocks[i + 2] or NEWEST), blocks[0] + blocks[i + 3])
            for i in range(1, len(blocks), 4)}


def read_entry_points():
    with open(os.path.join(OWN, "entry_points.txt"), encoding="utf-8") as file:
        return {words[1]: words[0] for words in (line.split() for line in file if not line.startswith("#")) if words}


def read_table():
    """{(construct, clang): line}"""
    table = {}
    if os.path.exists(TABLE):
        with open(TABLE, encoding="utf-8") as file:
            for line in file:
                if not line.startswith("#"):
                    construct, versions, facts = line.rstrip("\n").split(" | ", 2)
                    table.update({(construct, int(version)): facts for version in versions.split()})
    return table


def write_table(table, constructs):
    with open(TABLE, "w", encoding="utf-8") as file:
        file.write(HEADER)
        for construct in constructs:
            versions = collections.OrderedDict()
            for version in sorted(version for name, version in table if name == construct):
                versions.setdefault(table[construct, version], []).append(str(version))
            for facts, numbers in versions.items():
                file.write(f"{construct} | {' '.join(numbers)} | {facts}\n")


def compilers(wanted):
    """{version: words that start this clang}: those of this machine, and others where script/toolchain has them."""
    if not wanted:
        return {v: [f"clang-{v}"] for v in range(OLDEST, NEWEST) if shutil.which(f"clang-{v}")}
    return {v: [f"clang-{v}"] if shutil.which(f"clang-{v}") else [os.path.join(ROOT, "script/toolchain"), str(v), f"clang-{v}"]
            for v in wanted}


def compile_construct(clang, source):
    done = subprocess.run(clang + ["-cc1", "-x", "c++", "-std=c++17", "-triple", TRIPLE, "-fopenmp", "-fopenmp-version=51",
                                   "-fopenmp-targets=amdgcn-amd-amdhsa", "-emit-llvm", "-w", "-o", "-", source],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return (done.stdout, None) if done.returncode == 0 else (None, (done.stderr.strip() or "no message").split("\n")[0])


def census(version, clang, constructs, known, options):
    """{construct: line} of one clang, and complaints."""
    lines, complaints = {}, []
    work = {name: source for name, (first, last, source) in constructs.items() if first <= version <= last}
    for name, source in work.items():
        with open(os.path.join(options.folder, name + ".cpp"), "w", encoding="utf-8") as file:
            file.write(source)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        compiled = pool.map(lambda name: compile_construct(clang, os.path.join(options.folder, name + ".cpp")), work)
        for name, (ir, message) in zip(work, compiled):
            if message:
                complaints.append(f"clang {version}: {name}: does not compile: {message}")
                continue
            lines[name], unknown = facts_of(ir, known)
            complaints += [f"clang {version}: {name}: {text}" for text in unknown]
    return lines, complaints


def compare(version, lines, table, constructs):
    if not any(clang == version for _, clang in table):
        return [f"clang {version}: the table has no rows of it: census.py --versions={version} --update writes them"]
    complaints = []
    for name in constructs:
        now, then = lines.get(name), table.get((name, version))
        if now and now != then:
            complaints.append(f"clang {version}: {name}: now {now}\n    and in the table {then}")
        elif then and not now:
            complaints.append(f"clang {version}: {name}: in the table, but not made of constructs.cpp")
    return complaints


def exported(library, known):
    """What a libomptarget does not export."""
    done = subprocess.run(["nm", "-D", "--defined-only", library], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        fail(f"nm cannot read {library}")
    has = set(re.findall(r"^\S+ [TWtwiV] (\w+)", done.stdout, re.M))
    return [f"{library} does not export {name} (of LLVM {first})" for name, first in known.items()
            if first != "libomp" and name not in has]


def parse():
    parser = argparse.ArgumentParser(prog="census.py", description=__doc__)
    parser.add_argument("--versions", help="clangs (default: all of this machine); others run as script/toolchain says")
    parser.add_argument("--update", action="store_true", help="write the rows of these clangs into the table")
    parser.add_argument("--library", metavar="FILE", help="nothing but: does this libomptarget.so export every entry point?")
    parser.add_argument("--jobs", type=int, default=2, help="compilers at a time (default: 2)")
    parser.add_argument("--folder", default=os.path.join(ROOT, "build/census"), help="for the sources (default: build/census)")
    options = parser.parse_args()
    options.versions = [int(word) for word in re.findall(r"\d+", options.versions or "")]
    return options


def main():
    options = parse()
    os.makedirs(options.folder, exist_ok=True)
    constructs, known, table = read_constructs(), read_entry_points(), read_table()
    if options.library:
        for line in (missing := exported(options.library, known)):
            print("census: " + line)
        return 1 if missing else 0
    complaints = []
    present = compilers(options.versions)
    if not present:
        fail("no clang on this machine (script/bootstrap)")
    for version, clang in present.items():
        lines, unknown = census(version, clang, constructs, known, options)
        complaints += unknown
        if options.update:
            table = {key: facts for key, facts in table.items() if key[1] != version}
            table.update({(name, version): facts for name, facts in lines.items()})
        else:
            complaints += compare(version, lines, table, constructs)
        print(f"census: clang {version}: {len(lines)} constructs")
    if options.update:
        write_table(table, constructs)
    for line in complaints:
        print("census: " + line)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
