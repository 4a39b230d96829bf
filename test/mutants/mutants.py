#!/usr/bin/env python3
"""Takes what orders host and device out of the sources, one thing at a time, and says whether a test notices.

Called: mutants.py check SOURCE
        mutants.py run SOURCE FOLDER [--report FILE] [--llvm FOLDER] [--images FOLDER] [--gfxsim FOLDER] [--jobs N] [--resume] [NAME...]

table.txt says what is changed, where, and which tests should notice. `check` looks whether each place is still there, once.
`run` copies the sources to FOLDER, puts all mutants into the copy, each behind a condition (MUTANT=N chooses one at run
time, so that two builds serve all), builds it as it is released and with ThreadSanitizer, and runs the tests: without
any mutant, where all must pass, and then with each. Status 1 if a place is gone, a test fails without a mutant, or a mutant
survives that the table does not argue for or call open, or is noticed though it does.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TIMEOUT = 60

# What notices: build, program, arguments, environment. {images} is the folder of unit/plugin/images, {bin} the build's.
DEVICE = {"LD_LIBRARY_PATH": "{gfxsim}"}
IMAGES = ["{plugin}", "{images}/program-16-gfx90a", "{images}/program-16-O2"]
STREAM = ["{bin}/test/unit/plugin_kernels.co"]
TESTS = {
    "packet": ("release", "plugin_packet", [], {}),
    "queue": ("release", "plugin_queue", [], {}),
    "queue-tsan": ("tsan", "plugin_queue", [], {}),
    "pool": ("release", "plugin_pool", [], {}),
    "pool-tsan": ("tsan", "plugin_pool", [], {}),
    "stream": ("release", "plugin_stream", STREAM, DEVICE),
    "stream-tsan": ("tsan", "plugin_stream", STREAM, DEVICE),
    "stream-slow": ("release", "plugin_stream", STREAM, {**DEVICE, "GFXSIM_COPY_US": "300"}),
    "stream-order": ("release", "plugin_stream", STREAM,
                     {**DEVICE, "GFXSIM_STRICT": "order", "GFXSIM_STRICT_SEED": "{seed}"}),
    "calls": ("release", "plugin_abi", ["calls", *IMAGES], DEVICE),
    "calls-slow": ("release", "plugin_abi", ["calls", *IMAGES], {**DEVICE, "GFXSIM_COPY_US": "300"}),
    "calls-order": ("release", "plugin_abi", ["calls", *IMAGES],
                    {**DEVICE, "GFXSIM_STRICT": "order", "GFXSIM_STRICT_SEED": "{seed}"}),
    "threads": ("release", "plugin_abi", ["threads", *IMAGES], DEVICE),
    "threads-order": ("release", "plugin_abi", ["threads", *IMAGES],
                      {**DEVICE, "GFXSIM_STRICT": "order", "GFXSIM_STRICT_SEED": "{seed}"}),
    "threads-tsan": ("tsan", "plugin_abi", ["threads", *IMAGES], DEVICE),
    "fault": ("release", "plugin_abi", ["fault", *IMAGES], DEVICE),
    "faults": ("release", "plugin_faults", IMAGES, DEVICE),
    "rpc": ("release", "plugin_rpc", [], {}),
    "rpc-tsan": ("tsan", "plugin_rpc", [], {}),
    "hostcall": ("release", "plugin_hostcall", [], {}),
    "hostcall-tsan": ("tsan", "plugin_hostcall", [], {}),
    "stress": ("release", "map_stress", ["2000"], {}),
    "stress-tsan": ("tsan", "map_stress", ["8000"], {}),
    "model": ("release", "map_model", [], {}),
    "map-plan": ("release", "map_plan", [], {}),
    "rules": ("release", "map_rules", [], {}),
    "kernels-tsan": ("tsan", "host_kernels", [], {}),
}
SEEDS = 2
WITH_IMAGES = {name for name, test in TESTS.items() if any("{images}" in word for word in test[2])}


class Mutant:
    def __init__(self, number, name, file):
        self.number, self.name, self.file = number, name, file
        self.before, self.after, self.tests = "", "", []
        self.why, self.argument, self.open = "", "", ""


def read_table(path):
    mutants = []
    for line in open(path, encoding="utf-8"):
        mark, text = line[:2], line[2:].rstrip("\n")
        if mark == "@ ":
            name, file = text.split()
            mutants.append(Mutant(len(mutants) + 1, name, file))
        elif mark == "- ":
            mutants[-1].before += text + "\n"
        elif mark == "+ ":
            mutants[-1].after += text + "\n"
        elif mark == "? ":
            mutants[-1].tests += text.split()
        elif mark == "! ":
            mutants[-1].why = (mutants[-1].why + " " + text.strip()).strip()
        elif mark == "~ ":
            mutants[-1].open = (mutants[-1].open + " " + text.strip()).strip()
        elif mark == "= ":
            mutants[-1].argument = (mutants[-1].argument + " " + text.strip()).strip()
        elif line.strip() and not line.startswith("#"):
            sys.exit("table.txt: what is this? " + line)
    names = [m.name for m in mutants]
    for m in mutants:
        if names.count(m.name) > 1 or not m.tests or not m.why or any(t not in TESTS for t in m.tests):
            sys.exit("table.txt: %s: a name twice, no tests, an unknown test, or no reason" % m.name)
    return mutants


def spaced(text):
    """A pattern that finds the text however it is broken into lines."""
    return r"\s*".join(re.escape(word) for word in re.findall(r"\w+|[^\w\s]", text))


def find(mutant, text):
    """Where it is, or what is wrong. Of what stands around {{ }} only the place counts."""
    parts = re.split(r"\{\{|\}\}", mutant.before)
    pattern = spaced(parts[0]) if len(parts) == 1 else r"\s*".join(
        filter(None, (spaced(parts[0]), "(?P<it>" + spaced(parts[1]) + ")", spaced(parts[2]))))
    found = list(re.finditer(pattern, text))
    if len(found) != 1:
        return None, "%s: found %d times in %s:\n%s" % (mutant.name, len(found), mutant.file, mutant.before)
    return found[0].span("it" if len(parts) > 1 else 0), None


def places(mutants, source):
    spans, wrong = {}, []
    for m in mutants:
        span, problem = find(m, open(os.path.join(source, m.file), encoding="utf-8").read())
        if problem:
            wrong.append(problem)
        else:
            spans.setdefault((m.file, span), []).append(m)
    files = {}
    for (file, span), here in spans.items():
        for other, _ in files.setdefault(file, []):
            if other[0] < span[1] and span[0] < other[1]:
                wrong.append("%s: overlaps another place in %s; give both the same lines" % (here[0].name, file))
        files[file].append((span, here))
    return files, wrong


def replacement(original, here):
    is_statement = original.rstrip().endswith((";", "}"))
    text = ""
    for m in here:
        text += ("if (mutant_chosen == %d) { %s } else " if is_statement else "mutant_chosen == %d ? (%s) : ") % (
            m.number, m.after.strip())
    return "{ %s{ %s } }" % (text, original) if is_statement else "(%s(%s))" % (text, original)


def mutate(files, source, copy):
    for file, found in files.items():
        text = open(os.path.join(source, file), encoding="utf-8").read()
        for span, here in sorted(found, key=lambda entry: entry[0], reverse=True):
            text = text[:span[0]] + replacement(text[span[0]:span[1]], here) + text[span[1]:]
        text = '#include "%s"\n' % os.path.join(HERE, "mutant.h") + text
        path = os.path.join(copy, file)
        if not os.path.exists(path) or open(path, encoding="utf-8").read() != text:
            open(path, "w", encoding="utf-8").write(text)


def copy_sources(source, copy, changed):
    listed = subprocess.run(["git", "-C", source, "ls-files", "-co", "--exclude-standard"], capture_output=True,
                            text=True, check=True).stdout.split("\n")
    for file in filter(None, listed):
        here, there = os.path.join(source, file), os.path.join(copy, file)
        if file in changed or not os.path.isfile(here):
            continue
        if os.path.exists(there) and open(here, "rb").read() == open(there, "rb").read():
            continue
        os.makedirs(os.path.dirname(there), exist_ok=True)
        shutil.copy2(here, there)
    for file in changed:
        os.makedirs(os.path.dirname(os.path.join(copy, file)), exist_ok=True)


def build(copy, folder, kind, targets, options):
    flags = ["-DOMPTARGET_AMDGPU_WERROR=OFF", "-DCMAKE_EXPORT_COMPILE_COMMANDS=OFF"]
    if options.llvm:
        flags.append("-DOMPTARGET_AMDGPU_LLVM_DIR=" + options.llvm)
    steps = [["cmake", "-S", copy, "--preset", kind, "-B", folder, *flags],
             ["cmake", "--build", folder, "-j", str(options.jobs), "--target", *targets, "--", "-k", "0"]]
    for step in steps:
        done = subprocess.run(step, cwd=copy, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            errors = [line for line in done.stdout.split("\n") if "error" in line or "FAILED" in line]
            sys.exit("%s\n%s failed" % ("\n".join(errors[:40]) or done.stdout[-4000:], " ".join(step)))


def run_test(name, number, seed, folder, options):
    """None if it passes, else how it ended."""
    kind, program, arguments, environment = TESTS[name]
    binary = os.path.join(folder, kind)
    words = {"bin": binary, "images": options.images, "seed": seed, "gfxsim": options.gfxsim.format(kind=kind) if options.gfxsim else os.path.join(binary, "lib/gfxsim"),
             "plugin": os.path.join(binary, "src/libomptarget.rtl.amdgpu.so")}
    folder_of = "test/host" if program.startswith("host_") else "test/unit"
    variables = dict(os.environ, MUTANT=str(number), PLUGIN_ABI_SECONDS="2",
                     TSAN_OPTIONS="halt_on_error=1:report_thread_leaks=0" + (
                         ":ignore_noninstrumented_modules=1:suppressions=" + os.path.join(folder, "source/test/tsan.supp")
                         if environment else ""))
    variables.update({key: str(value).format(**words) for key, value in environment.items()})
    command = [os.path.join(binary, folder_of, program)] + [word.format(**words) for word in arguments]
    try:
        done = subprocess.run(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT,
                              cwd=folder, start_new_session=True)
    except subprocess.TimeoutExpired:
        return "does not end"
    if not done.returncode:
        return None
    text = done.stdout.decode(errors="replace")
    if "ThreadSanitizer: data race" in text:
        return "data race"
    failed = re.findall(r"\[  FAILED  \] (\w+)$", text, re.M)
    return failed[0] if failed else "status %d" % done.returncode


def seeds_of(name):
    return range(1, SEEDS + 1) if any("{seed}" in v for v in TESTS[name][3].values()) else (1,)


def try_tests(tests, number, folder, options):
    for name in tests:
        for seed in seeds_of(name):
            ended = run_test(name, number, seed, folder, options)
            if ended:
                seed_text = " (seed %d)" % seed if len(seeds_of(name)) > 1 else ""
                return "%s%s: %s" % (name, seed_text, ended)
    return None


def write_report(path, mutants, results):
    killed = [m for m in mutants if results[m.name]]
    with open(path, "w", encoding="utf-8") as out:
        out.write("""# Mutants of the order between host and device

Written by `test/mutants/mutants.py run`, with `--report`, as `ctest -R mutants/long` runs it; not by hand. `test/mutants/table.txt` has
the changes. Of %d, each of them one barrier bit, fence scope, wait, memory order or order of two writes that was taken out
or weakened, tests notice %d; for the others the last table has the argument, or says what is not known yet.

| Mutant | File | What it takes away | Noticed by |
|---|---|---|---|
""" % (len(mutants), len(killed)))
        for m in killed:
            out.write("| %s | `%s` | %s | %s |\n" % (m.name, m.file, m.why, results[m.name]))
        out.write("\nNot noticed:\n\n| Mutant | File | What it takes away | Why that is so |\n|---|---|---|---|\n")
        for m in mutants:
            if not results[m.name] and not m.open:
                out.write("| %s | `%s` | %s | %s |\n" % (m.name, m.file, m.why, m.argument or "**nobody knows**"))
        unknown = [m for m in mutants if not results[m.name] and m.open]
        if unknown:
            out.write("\nNot noticed, and open:\n\n| Mutant | File | What it takes away | What was found |\n|---|---|---|---|\n")
        for m in unknown:
            out.write("| %s | `%s` | %s | %s |\n" % (m.name, m.file, m.why, m.open))


def run(options):
    mutants = read_table(os.path.join(HERE, "table.txt"))
    files, wrong = places(mutants, options.source)
    if wrong:
        sys.exit("\n".join(wrong))
    chosen = [m for m in mutants if not options.names or m.name in options.names]
    tests = sorted({test for m in chosen for test in m.tests})
    folder = os.path.abspath(options.folder)
    copy = os.path.join(folder, "source")
    copy_sources(options.source, copy, files)
    mutate(files, options.source, copy)
    for kind in sorted({TESTS[test][0] for test in tests}):
        targets = {TESTS[test][1] for test in tests if TESTS[test][0] == kind}
        if any("{gfxsim}" in v for t in tests if TESTS[t][0] == kind for v in TESTS[t][3].values()):
            targets |= {"omptarget.rtl.amdgpu"} | (set() if options.gfxsim else {"hsakmt"})
        build(copy, os.path.join(folder, kind), kind, sorted(targets), options)
    begin, failed, results = time.time(), 0, {}
    for test in tests:
        ended = try_tests([test], 0, folder, options) and try_tests([test], 0, folder, options)
        if ended:
            print("without a mutant: %s" % ended, flush=True)
            failed += 1
    if failed:
        return 1
    known = os.path.join(folder, "results.json")
    before = {}
    if options.resume and os.path.exists(known):
        with open(known, encoding="utf-8") as file:
            before = json.load(file)
    for m in chosen:
        key = " ".join([m.name, m.before, m.after, *m.tests])
        noticed = before[key] if key in before else try_tests(m.tests, m.number, folder, options)
        before[key] = results[m.name] = noticed
        with open(known, "w", encoding="utf-8") as file:
            json.dump(before, file)
        as_said = bool(noticed) != bool(m.argument or m.open)
        failed += not as_said
        print("%-36s %s%s" % (m.name, noticed or "survives", "" if as_said else "   <- NOT AS THE TABLE SAYS"), flush=True)
    print("%d mutants, %d noticed, %d not as the table says, %d s" % (
        len(chosen), sum(map(bool, results.values())), failed, time.time() - begin))
    if options.report and not options.names:
        write_report(options.report, mutants, results)
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["check", "run"])
    parser.add_argument("source")
    parser.add_argument("folder", nargs="?")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--report")
    parser.add_argument("--llvm")
    parser.add_argument("--images", default="")
    parser.add_argument("--resume", action="store_true", help="take the results that an earlier run has left")
    parser.add_argument("--gfxsim", help="folder of libhsakmt.so.1 that is built already, {kind} in it: release, tsan")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_intermixed_args()
    if options.what == "run":
        sys.exit(run(options))
    mutants = read_table(os.path.join(HERE, "table.txt"))
    wrong = places(mutants, options.source)[1]
    print("\n".join(wrong) or "%d places" % len(mutants))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
