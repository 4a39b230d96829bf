#!/usr/bin/env python3
"""Weakens each s_waitcnt and s_nop of a program's kernels, one at a time, and says what gfxsim-run --check=wait makes of it.

Called: mutate.py [--most=N] GFXSIM_RUN PROGRAM FOLDER [OPTION...]     options are gfxsim-run's, as --plugin=ours

Each counter that an s_waitcnt waits for is one mutant without that wait, and one with a wait for one less where that is
another. Each s_nop is one with no wait states but its own, and one that changes places with the instruction behind it. Between two instructions of memory it is
there for XNACK, and nothing else. Only
what the program comes to is changed. A trace of the program as it is tells which of them matter: this script follows what
is outstanding a second time, by the text of instructions, and looks whether a register is used before the weakened program
would have waited for it. The text does not tell which flat addresses are of local memory: it follows once as if none were, which
tells what has to be reported, and once as if all were, which tells what may be. Where only stores or atomics without a result are
outstanding the tool race is asked, too. Of wait states it only says what was reported.
--most=N takes N mutants, evenly from all. Prints a line for each mutant, and a sum; status 1 if the program as it is has a
finding of another kind than barriers without a wait, or a mutant that matters is not reported, or one that does not is.
"""
import collections
import os
import re
import subprocess
import sys

VM, LGKM = "vmcnt", "lgkmcnt"
FULL = {VM: 63, LGKM: 15}
MEMORY = "orders memory only"
FLAT = "redundant: flat addresses are not of local memory"
LOCAL = "Missing wait: access to local memory"  # of barriers that device runtimes have as they are
MFMA_LANES = re.compile(r"v_mfma|_dpp|v_readlane|v_writelane|row_|quad_perm|wave_")


# ---- The program's code ----

def segments_of(data):
    """Of each device image in the file: its place there, and its segments as (offset, address, length)."""
    for image in [m.start() for m in re.finditer(b"\x7fELF\x02\x01\x01\x40", data)]:
        header = data[image:image + 64]
        if int.from_bytes(header[18:20], "little") != 224:
            continue
        at, size, count = (int.from_bytes(header[a:b], "little") for a, b in ((32, 40), (54, 56), (56, 58)))
        segments = []
        for i in range(count):
            s = data[image + at + i * size:image + at + (i + 1) * size]
            kind, flags = int.from_bytes(s[0:4], "little"), int.from_bytes(s[4:8], "little")
            offset, address, length = (int.from_bytes(s[a:a + 8], "little") for a in (8, 16, 32))
            if kind == 1 and flags & 1:
                segments.append((image + offset, address, length))
        yield segments


def is_sopp(data, at, opcode):
    return data[at + 2] == opcode and data[at + 3] == 0xbf


def sites_of(data, pcs):
    """Where in the file the traced instructions are, by their addresses: {pc: offset}. The image is loaded as a whole, at
    the distance that explains the most s_waitcnt of the trace."""
    best = {}
    for segments in segments_of(data):
        votes = collections.Counter()
        for offset, address, length in segments:
            waits = collections.defaultdict(list)
            for at in range(offset, offset + length - 3, 4):
                if is_sopp(data, at, 0x8c):
                    waits[(address + at - offset) & 0xfff].append(address + at - offset)
            for pc in pcs:
                for place in waits.get(pc & 0xfff, ()):
                    votes[pc - place] += 1
        if not votes:
            continue
        base = votes.most_common(1)[0][0]
        found = {}
        for offset, address, length in segments:
            for pc in pcs:
                at = pc - base - address + offset
                if offset <= at < offset + length and is_sopp(data, at, 0x8c):
                    found[pc] = at
        if len(found) > len(best):
            best = found
            best_base = (base, segments)
    return best, best_base if best else None


# ---- Following a trace ----

Operation = collections.namedtuple("Operation", "line number counters registers lanes loads")


def registers_of(text):
    """All that a text names."""
    found = set()
    for file, one, first, last in re.findall(r"(?<![a-z0-9_.])([vas])(?:(\d+)|\[(\d+):(\d+)\])(?![a-z0-9_])", text):
        for n in range(int(one or first), int(one or last) + 1):
            found.add(file + str(n))
    if re.search(r"\bvcc\b|\bvccz\b|v_div_fmas|cbranch_vcc", text):
        found |= {"vcc"}
    if "vcc_lo" in text or "vcc_hi" in text:
        found |= {"vcc"}
    return found


def operation_of(text, flat_is_local):
    """What a memory instruction counts in, in which line it stands, and which registers it returns to."""
    name = text.split(" ", 1)[0]
    operands = text[len(name):].split(",")
    if name.startswith("s_"):
        if not re.match(r"s_(load|buffer_load|scratch_load|memtime|memrealtime|store|buffer_store|dcache|atc|sendmsg)", name):
            return None
        line, counters = ("message" if "sendmsg" in name else None), (LGKM,)
        returns = "load" in name or "mem" in name
    elif name.startswith("ds_"):
        line, counters = "lds", (LGKM,)
        returns = re.match(r"ds_(read|swizzle|permute|bpermute|append|consume|.*_rtn)", name)
    elif name.startswith("flat_"):
        line, counters = (None, (VM, LGKM)) if flat_is_local else ("vm", (VM,))
        returns = "load" in name or " glc" in text
    elif name.startswith(("global_", "scratch_", "buffer_", "tbuffer_")):
        line, counters = "vm", (VM,)
        returns = ("load" in name or ("atomic" in name and " glc" in text)) and not re.search(r" lds\b", text)
    else:
        return None
    return line, counters, frozenset(registers_of(operands[0])) if returns else frozenset()


def waits_of(text):
    """What an s_waitcnt leaves at most, by counter."""
    return {c: int(n) for c, n in re.findall(r"(vmcnt|lgkmcnt)\((\d+)\)", text)}


class Instruction:
    def __init__(self, text, flat_is_local):
        self.text = text
        self.name = text.split(" ", 1)[0]
        self.operation = operation_of(text, flat_is_local)
        self.waits = waits_of(text) if self.name == "s_waitcnt" else None
        self.registers = registers_of(text)
        self.all_lanes = bool(MFMA_LANES.search(text))
        operands = text[len(self.name):].split(",")
        # What it reads, of a load: a result may come behind another one in the same line.
        self.reads = registers_of(",".join(operands[1:])) if self.operation and self.operation[2] else self.registers


class Ghost:
    """An operation that a mutant does not wait for."""
    __slots__ = ("operation", "counter", "mutant")

    def __init__(self, operation, counter, mutant):
        self.operation, self.counter, self.mutant = operation, counter, mutant


class Wave:
    """What one wave has outstanding, as it is and as in each mutant."""

    def __init__(self):
        self.issued = collections.Counter()  # by line and counter
        self.outstanding = []  # [operation, {counters}]
        self.ghosts = []

    def is_over(self, operation, counter, most):
        behind = self.issued[operation.line, counter] - operation.number[counter] if operation.line else 0
        return behind + 1 > most

    def wait(self, pc, waits, mutants, seen):
        kept = []
        for ghost in self.ghosts:
            most = waits.get(ghost.counter, FULL[ghost.counter])
            if ghost.mutant[0] == pc and ghost.mutant[1] == ghost.counter:
                most = ghost.mutant[2]
            if most >= FULL[ghost.counter] or not self.is_over(ghost.operation, ghost.counter, most):
                kept.append(ghost)
        self.ghosts = kept
        for counter, most in waits.items():
            for entry in self.outstanding:
                operation, counters = entry
                if counter not in counters or not self.is_over(operation, counter, most):
                    continue
                counters.discard(counter)
                for mutant in mutants.get((pc, counter), ()):
                    if mutant[2] < FULL[counter] and self.is_over(operation, counter, mutant[2]):
                        continue
                    seen[mutant].add("register" if operation.registers else "memory")
                    if operation.registers:
                        self.ghosts.append(Ghost(operation, counter, mutant))
        self.outstanding = [entry for entry in self.outstanding if entry[1]]

    def step(self, pc, exec_mask, instruction, mutants, seen):
        if instruction.waits is not None:
            self.wait(pc, instruction.waits, mutants, seen)
            return
        if self.ghosts and instruction.registers:
            self.use(exec_mask, instruction, seen)
        if instruction.operation:
            line, counters, registers = instruction.operation
            for counter in counters:
                if len(self.outstanding) >= FULL[counter]:
                    self.wait(None, {counter: FULL[counter] - 1}, {}, seen)
                self.issued[line, counter] += 1
            scalar = instruction.name.startswith("s_")
            lanes = -1 if scalar else exec_mask
            number = {counter: self.issued[line, counter] for counter in counters}
            operation = Operation(line, number, counters, registers if lanes else frozenset(), lanes, True)
            self.outstanding.append([operation, set(counters)])

    def use(self, exec_mask, instruction, seen):
        kept = []
        for ghost in self.ghosts:
            operation = ghost.operation
            touched = operation.registers & instruction.registers
            if touched and instruction.operation and instruction.operation[0] == operation.line and operation.line:
                touched = operation.registers & instruction.reads
            lanes = exec_mask if not instruction.all_lanes else -1
            if instruction.name == "v_readfirstlane_b32":
                lanes = exec_mask & -exec_mask
            if touched and (operation.lanes == -1 or operation.lanes & lanes):
                seen[ghost.mutant].add("maybe" if "lane_b32" in instruction.name and "first" not in instruction.name else "used")
            else:
                kept.append(ghost)
        self.ghosts = kept


def follow(trace, mutants, flat_is_local):
    """What is known of each mutant: a set of "register", "memory" (what it lets be outstanding), "used"."""
    seen, waves, known = collections.defaultdict(set), {}, {}
    for line in open(trace):
        place, group, wave, address, mask, text = line.rstrip("\n").split(" ", 5)
        instruction = known.get(text)
        if not instruction:
            instruction = known[text] = Instruction(text, flat_is_local)
        key = (place, group, wave)
        state = waves.get(key)
        if state is None:
            state = waves[key] = Wave()
        state.step(int(address, 16), int(mask[5:], 16), instruction, mutants, seen)
        if instruction.name == "s_endpgm":
            del waves[key]
    return seen


def follow_both(trace, mutants):
    """As follow; and of what is so only if flat addresses are of local memory, "flat", and "maybe" if that could be told of."""
    seen, local = follow(trace, mutants, False), follow(trace, mutants, True)
    for mutant, known in local.items():
        more = known - seen[mutant]
        if more:
            seen[mutant] |= {"flat", "maybe"} if more & {"used", "memory"} else {"flat"}
    return seen


# ---- Mutants ----

def waitcnt(vm, lgkm, old):
    """The immediate with these two, and the rest as it was."""
    return (old & 0x3070) | (vm & 0xf) | (vm >> 4) << 14 | lgkm << 8


def mutants_of_wait(pc, data, at):
    imm = int.from_bytes(data[at:at + 2], "little")
    now = {VM: imm & 0xf | imm >> 10 & 0x30, LGKM: imm >> 8 & 0xf}
    for counter in (VM, LGKM):
        if now[counter] == FULL[counter]:
            continue
        for most in sorted({now[counter] + 1, FULL[counter]}):
            values = dict(now, **{counter: most})
            changed = waitcnt(values[VM], values[LGKM], imm).to_bytes(2, "little")
            yield (pc, counter, most), data[:at] + changed + data[at + 2:]


def is_memory(data, at):
    """Whether an instruction of scalar or vector memory is there, which has 8 bytes."""
    return data[at + 3] >> 2 in (0x30, 0x36, 0x37, 0x38, 0x3a)


def size_of(data, at):
    word = int.from_bytes(data[at:at + 4], "little")
    if is_memory(data, at) or word >> 26 == 0x34:  # VOP3 and VOP3P
        return 8
    if word >> 31 == 0:  # short forms of VALU: SDWA, DPP, literals
        return 8 if word & 0x1ff in (0xf9, 0xfa, 0xff) else 4
    literal = word & 0xff == 0xff or (word >> 30 == 2 and word >> 23 != 0x17d and word >> 8 & 0xff == 0xff)
    return 8 if literal and word >> 23 != 0x17f and word >> 28 != 0xb else 4


def mutants_of_nop(pc, data, at):
    if data[at] & 0xf:
        yield (pc, "nop", 0), data[:at] + bytes([0]) + data[at + 1:]
    size = size_of(data, at + 4)
    kind = "clause" if is_memory(data, at - 8) and is_memory(data, at + 4) else "swap"
    yield (pc, kind, 0), data[:at] + data[at + 4:at + 4 + size] + data[at:at + 4] + data[at + 4 + size:]


def check(run, program, options, log, tool="wait"):
    if os.path.exists(log):
        os.remove(log)
    try:
        ended = subprocess.run([run, "--deterministic", "--check=" + tool, "--check-most=1000",
                                "--check-log=" + log, *options, program],
                               timeout=120, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        status = ended.returncode
    except subprocess.TimeoutExpired:
        status = "timeout"
    text = open(log).read() if os.path.exists(log) else ""
    # By the instructions: a finding that was there before is none of the mutant's.
    blocks = re.findall(r"^==\d+== ((?:Missing wait|Data race).*)\n((?:==\d+==  .*\n)*)", text, re.M)
    return status, {(title, *re.findall(r"   at (.*)", block)) for title, block in blocks}


def verdict_of(mutant, seen, found):
    if mutant[1] == "clause" and not found:
        return "redundant: breaks a clause of loads, for XNACK"
    if mutant[1] in ("nop", "swap", "clause"):
        return "wait states, reported" if found else "wait states, not reported"
    known = seen.get(mutant, set())
    if found:
        if known & {"used", "maybe"}:
            return "reported"
        return "local memory, reported" if "memory" in known else "REPORTED, and not used"
    if "used" in known:
        return "NOT REPORTED"
    if "flat" in known and ("maybe" in known or not known & {"register", "memory"}):
        return FLAT
    if "register" in known:
        return "redundant: registers not used before another wait"
    return MEMORY if "memory" in known else "redundant: nothing outstanding"


def main():
    arguments = sys.argv[1:]
    most = int(arguments.pop(0)[7:]) if arguments[0].startswith("--most=") else None
    run, program, folder, options = arguments[0], arguments[1], arguments[2], arguments[3:]
    os.makedirs(folder, exist_ok=True)
    data, name = open(program, "rb").read(), os.path.basename(program)
    log, trace = os.path.join(folder, "log"), os.path.join(folder, "trace")
    status, known = check(run, program, options, log)
    races = check(run, program, options, log, "race")[1]
    subprocess.run([run, "--deterministic", "--trace=" + trace, *options, program], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    pcs = collections.defaultdict(set)
    for line in open(trace):
        address, _, text = line.rstrip("\n").split(" ", 5)[3:]
        if text.startswith(("s_waitcnt", "s_nop")):
            pcs[text.split(" ", 1)[0]].add(int(address, 16))
    places, where = sites_of(data, pcs["s_waitcnt"])
    work, by_wait = [], collections.defaultdict(list)
    for pc, at in sorted(places.items()):
        for mutant, changed in mutants_of_wait(pc, data, at):
            by_wait[pc, mutant[1]].append(mutant)
            work.append((mutant, at, changed))
    base, segments = where
    for offset, address, length in segments:
        for pc in sorted(pcs["s_nop"]):
            at = pc - base - address + offset
            if offset <= at < offset + length and is_sopp(data, at, 0x80):
                work += [(mutant, at, changed) for mutant, changed in mutants_of_nop(pc, data, at)]
    seen = follow_both(trace, by_wait)
    os.remove(trace)
    print(f"{name}: as it is: status {status}, {len(known)} findings; {len(places)} s_waitcnt, {len(work)} mutants")
    if most and len(work) > most:
        work = [work[i * len(work) // most] for i in range(most)]
    mutant_file, sums = os.path.join(folder, "mutant"), collections.Counter()
    for mutant, at, changed in work:
        with open(mutant_file, "wb") as out:
            out.write(changed)
        os.chmod(mutant_file, 0o755)
        after, found = check(run, mutant_file, options, log)
        errors = len(found - known)
        verdict = verdict_of(mutant, seen, errors)
        if verdict == MEMORY:
            verdict += ", and race reports" if check(run, mutant_file, options, log, "race")[1] - races else ""
        print(f"  {mutant[1]} at {at:#x}, {mutant[2]}: {verdict} ({errors} findings, status {after})", flush=True)
        sums[verdict] += 1
    print(f"{name}: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(sums.items())))
    os.remove(mutant_file)
    return 1 if any(not title.startswith(LOCAL) for title, *_ in known) or not work or any("REPORTED" in verdict for verdict in sums) else 0


sys.exit(main())
