"""Runs the programs of the OpenMP validation and verification suite on gfxsim, with LLVM's libomptarget and with ours;
started by script/openmp-vv.

Here is what compiles, runs and compares them. What a program tests, and whether it passed, is the suite's affair: it ends
with 0 then."""

import argparse
import concurrent.futures
import os
import subprocess
import sys

OWN = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(OWN))
SUITE = "https://github.com/OpenMP-Validation-and-Verification/OpenMP_VV"
WORK = os.path.join(ROOT, "build", "openmp-vv")

USAGE = """\
Compiles each C and C++ program of the OpenMP validation suite that offloads, for the GPU and with the options that the
suite has for clang, and runs it on gfxsim with the libomptarget that belongs to the compiler and LLVM's plugin (stock),
with our plugin below it (ours), and with our libomptarget (runtime). Prints what differs, and fails when a program passes
with stock and not with one of ours. Programs are kept below build/openmp-vv; a second run compiles only what is new."""

# How each is asked of gfxsim-run. From 19 on LLVM's libomptarget has its plugin inside, and opens none.
WAYS = {"stock": ["--plugin=stock"], "ours": ["--plugin=ours"], "runtime": ["--runtime=ours"]}
# What the checker says of them, only where it is asked for: the programs are compiled with line numbers then.
CHECK = {"check": [*WAYS["runtime"], "--check", "--check-fail"]}
LAST_WITH_PLUGINS = 18
# The suite's own choice of language version, by folder.
OPTIONS = {"4.5": [], "5.0": ["-fopenmp-version=50"], "5.1": ["-fopenmp-version=51"], "5.2": ["-fopenmp-version=52"],
           "6.0": ["-fopenmp-version=60"]}


def ways_of(version):
    if version <= LAST_WITH_PLUGINS:
        return WAYS | CHECK
    return {"stock": ["--runtime=stock"], "runtime": WAYS["runtime"]} | CHECK


def find_suite(given):
    """The folder of the suite: what was given, or a clone of it."""
    folder = given or os.path.join(WORK, "source")
    if not os.path.isdir(os.path.join(folder, "tests")):
        if given:
            sys.exit(f"openmp-vv: {folder} has no folder tests")
        os.makedirs(WORK, exist_ok=True)
        if subprocess.run(["git", "clone", "--quiet", "--depth=1", SUITE, folder]).returncode:
            sys.exit(f"openmp-vv: cannot fetch {SUITE}; give a copy of it with --source=DIR")
    return os.path.abspath(folder)


def find_programs(suite, wanted):
    """Paths below tests/ of those that use a device and have one of the words in their names."""
    found = []
    for folder, _, files in os.walk(os.path.join(suite, "tests")):
        for file in files:
            path = os.path.relpath(os.path.join(folder, file), os.path.join(suite, "tests"))
            if not file.endswith((".c", ".cpp")) or (wanted and not any(word in path for word in wanted)):
                continue
            with open(os.path.join(folder, file), errors="replace") as text:
                if "omp target" in text.read():
                    found.append(path)
    return sorted(found)


def compile_program(suite, path, options):
    """Returns the program's file, or None after keeping what the compiler said."""
    lines = "check" in options.ways
    folder = f"clang-{options.version}" + ("-lines" if lines else "")
    program = os.path.join(WORK, folder, path.replace(".c", "_c")) # there are twins in C and C++
    source = os.path.join(suite, "tests", path)
    if os.path.exists(program) and os.path.getmtime(program) >= os.path.getmtime(source):
        return program
    os.makedirs(os.path.dirname(program), exist_ok=True)
    # Some make a clang run for ever.
    command = ["prlimit", "--cpu=60:70", os.path.join(ROOT, "script", "omp-cc"), "-v", str(options.version), "-g",
               options.device, "-O3", "-w", *(["-gline-tables-only"] if lines else []), "-I", os.path.join(suite, "ompvv"),
               *OPTIONS.get(path.split(os.sep)[0], []), source, "-o", program]
    done = subprocess.run(command, capture_output=True, text=True)
    with open(program + ".log", "w") as log:
        log.write(done.stdout + done.stderr)
    return program if done.returncode == 0 else None


def run_program(program, way, options, unified):
    """"pass", or how it ended: the exit status, a signal's number, or "late"."""
    environment = dict(os.environ, OMP_TARGET_OFFLOAD="MANDATORY", KMP_WARNINGS="0")
    command = [os.path.join(ROOT, "build", "release", "bin", "gfxsim-run"), f"--devices={options.device}", "--cus=8",
               *ways_of(options.version)[way], *(["--xnack"] if unified else []), program]
    try:
        done = subprocess.run(command, capture_output=True, env=environment, timeout=options.limit,
                              cwd=os.path.dirname(program), errors="replace", text=True)
    except subprocess.TimeoutExpired:
        return "late"
    with open(f"{program}.{way}", "w") as log:
        log.write(done.stdout + done.stderr)
    return "pass" if done.returncode == 0 else str(done.returncode)


def judge(options, suite, path):
    """A row of results by way; "-" everywhere if the compiler refuses the program."""
    program = compile_program(suite, path, options)
    with open(os.path.join(suite, "tests", path), errors="replace") as text:
        unified = "unified_shared_memory" in text.read() # the device reaches all of the host's memory with XNACK only
    return {way: run_program(program, way, options, unified) if program else "-" for way in options.ways}


def main():
    parser = argparse.ArgumentParser(prog="script/openmp-vv", description=USAGE,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", type=int, default=16, metavar="N", help="of clang (default: %(default)s)")
    parser.add_argument("--source", metavar="DIR", help="a copy of the suite (default: it is cloned)")
    parser.add_argument("--device", default="gfx90a", metavar="GFX", help="part to compile for (default: %(default)s)")
    parser.add_argument("--limit", type=int, default=120, metavar="SECONDS", help="for each run (default: %(default)s)")
    parser.add_argument("--ways", metavar="LIST", help="some of " + ",".join(WAYS) + "; 19 and later have no ours (default: all "
                        "of those), and check, with the checker: 99 then is that it finds something")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="at once (default: %(default)s)")
    parser.add_argument("words", nargs="*", metavar="WORD", help="only programs with one of these in their names")
    options = parser.parse_args()
    known = ways_of(options.version)
    options.ways = options.ways.split(",") if options.ways else [way for way in known if way not in CHECK]
    unknown = set(options.ways) - set(known)
    if unknown:
        parser.error(f"no such way: {', '.join(sorted(unknown))}; with {options.version} there are {', '.join(known)}")
    suite = find_suite(options.source)
    programs = find_programs(suite, options.words)
    if not programs:
        sys.exit("openmp-vv: no such programs")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        rows = dict(zip(programs, pool.map(lambda path: judge(options, suite, path), programs)))
    report(options, rows)


def report(options, rows):
    worse = []
    for path, row in rows.items():
        if len(set(row.values())) > 1 or set(row.values()) - {"pass", "-"}:
            print(f"{path}: " + ", ".join(f"{way} {result}" for way, result in row.items()))
        if row.get("stock") == "pass" and set(row.values()) != {"pass"}:
            worse.append(path)
    for way in options.ways:
        results = [row[way] for row in rows.values()]
        print(f"{way}: {results.count('pass')} of {len(results)} pass, {results.count('-')} not compiled by clang {options.version}")
    for path in worse:
        print(f"openmp-vv: {path} passes with stock only", file=sys.stderr)
    sys.exit(1 if worse else 0)


if __name__ == "__main__":
    main()
