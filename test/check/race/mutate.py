#!/usr/bin/env python3
"""Takes the barriers out of a program's kernels, one at a time, and says what gfxsim-run --check=race makes of it.

Called: mutate.py GFXSIM_RUN PROGRAM FOLDER [OPTION...]     options are gfxsim-run's, as --plugin=ours

In the device image within PROGRAM each s_barrier becomes an s_nop. A trace says which of them several waves of a group
come to; the others order nothing. Prints a line for each barrier, and a sum; status 1 if the program as it is
has a finding, or a barrier that several waves come to is taken out unnoticed.
"""
import os
import re
import subprocess
import sys

BARRIER, NOP = bytes.fromhex("00008abf"), bytes.fromhex("000080bf")


def check(run, program, options, log):
    if os.path.exists(log):
        os.remove(log)
    try:
        ended = subprocess.run([run, "--check=race", "--check-log=" + log, *options, program], timeout=60,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        status = ended.returncode
    except subprocess.TimeoutExpired:
        status = "timeout"
    text = open(log).read() if os.path.exists(log) else ""
    found = re.search(r"ERROR SUMMARY: (\d+) errors", text)
    return status, int(found.group(1)) if found else text.count("Data race:")


def code_of(data):
    """Device code within the file: for each section with instructions its image's place, its own, and its length."""
    for image in [m.start() for m in re.finditer(b"\x7fELF\x02\x01\x01\x40", data)]:
        header = data[image:image + 64]
        if int.from_bytes(header[18:20], "little") != 224:
            continue
        at, size, count = (int.from_bytes(header[a:b], "little") for a, b in ((40, 48), (58, 60), (60, 62)))
        for i in range(count):
            section = data[image + at + i * size:image + at + (i + 1) * size]
            flags, _, offset, length = (int.from_bytes(section[8 + 8 * k:16 + 8 * k], "little") for k in range(4))
            if flags & 4:  # SHF_EXECINSTR
                yield image, image + offset, length


def met(run, program, options, folder):
    """Barriers that several waves of a group came to, by the low bits of their addresses: pages of a code object keep their
    bytes when it is loaded."""
    trace = os.path.join(folder, "trace")
    subprocess.run([run, "--deterministic", "--trace=" + trace, *options, program], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    waves, came = {}, {}
    for line in open(trace):
        place, wave, address, _, name = line.split(" ", 5)[:5] if line.count(" ") >= 4 else (None,) * 5
        if name and name.strip() == "s_barrier":
            came.setdefault(int(address, 16) & 0xfff, set()).add(wave)
    os.remove(trace)
    return {address for address, seen in came.items() if len(seen) > 1}


def main():
    run, program, folder, options = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
    os.makedirs(folder, exist_ok=True)
    data = open(program, "rb").read()
    places = []
    for image, start, length in code_of(data):
        places += [(at, at - image & 0xfff) for at in range(start, start + length, 4) if data[at:at + 4] == BARRIER]
    log = os.path.join(folder, "log")
    status, found = check(run, program, options, log)
    print(f"{os.path.basename(program)}: as it is: status {status}, {found} findings; {len(places)} barriers")
    several = met(run, program, options, folder)
    mutant, sums = os.path.join(folder, "mutant"), {}
    for at, low in places:
        with open(mutant, "wb") as out:
            out.write(data[:at] + NOP + data[at + 4:])
        os.chmod(mutant, 0o755)
        after, races = check(run, mutant, options, log)
        if races:
            verdict = "reported"
        elif low not in several:
            verdict = "met by one wave at most"
        else:
            verdict = "not reported" if after == status else "wrong or stuck, and not reported"
        print(f"  barrier at {at:#x}: {verdict} ({races} findings, status {after})", flush=True)
        sums[verdict] = sums.get(verdict, 0) + 1
    print(f"{os.path.basename(program)}: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(sums.items())))
    os.remove(mutant)
    return 1 if found or any("not reported" in verdict for verdict in sums) else 0


sys.exit(main())
