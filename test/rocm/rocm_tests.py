"""Runs the test suites of AMD's libraries, as Debian packages them, and of ROCr itself on gfxsim; started by script/rocm-tests.

Here is what lists, runs and counts their cases. What a case tests, and whether it passed, is the suite's affair: their programs,
of GoogleTest or of Thrust's own frame, print something when a case begins and when it ends."""

import argparse
import collections
import fnmatch
import glob
import json
import os
import re
import select
import signal
import subprocess
import sys
import time

OWN = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(OWN))
WORK = os.path.join(ROOT, "build", "rocm-tests")
TABLE = os.path.join(ROOT, "doc", "generated", "rocm-tests.md")
REASONS = os.path.join(OWN, "rocm_exceptions.txt")

USAGE = """\
Runs cases of the named suites in the trees that script/trixie makes, below gfxsim, and prints those that do not pass. Those of
libraries are Debian 13's, or those of another release; rocrtst and kfdtest are compiled by script/rocr-tests in a tree of Debian
forky.
What was run is kept in build/rocm-tests: a second run takes up where the first ended, with --again from the beginning. The exit
status is 1 when a case fails for which test/rocm/rocm_exceptions.txt has no reason."""

# What programs of a frame want to hear, and say: the option that lists cases; words that run some; what begins a case, by its name,
# and what ends it, by its result and name.
Frame = collections.namedtuple("Frame", "listing selection begin end")
GOOGLE = Frame("--gtest_list_tests", lambda cases: ["--gtest_filter=" + ":".join(cases)],
               re.compile(r"\[ +RUN +\] ([\w/.]+)"), re.compile(r"\[ +(OK|FAILED|SKIPPED) +\] ([\w/.]+)"))
# Sizes up to 256: the default, 65,536, is for devices.
THRUST = Frame("--list", lambda cases: ["--verbose", "--sizes=small"] + cases,
               re.compile(r"Running (\w+)\.\.\."), re.compile(r".*\[(PASS|KNOWN FAILURE|FAILURE|ERROR|UNKNOWN EXCEPTION)\] +(?:\S+ ms )?(\w+)$"))

# A suite: the library whose package of tests it is in, or None if script/rocr-tests compiles it; what differs from MACHINE; the
# frame of its programs; what these are told always.
Suite = collections.namedtuple("Suite", "library machine frame arguments", defaults=({}, GOOGLE, ()))
LIBEXEC = "/usr/libexec/rocm/"  # packages have a folder of their programs here
ROCR = "/opt/rocr-tests"  # in the tree of forky, whose ROCr has its thunk inside
PEERS = {"GFXSIM_DEVICES": "gfx90a,gfx90a"}
SUITES = {
    "kfdtest": Suite(None, {"GFXSIM_SVM": "1", **PEERS}),
    "rocrtst": Suite(None),
    **{name: Suite("lib" + name.lower()) for name in ("rocRAND", "hipRAND", "rocPRIM", "hipCUB")},
    "rocThrust": Suite("librocthrust", frame=THRUST),
    "rocBLAS": Suite("librocblas", {"GTEST_LISTENER": "PASS_LINE_IN_LOG"}),  # of 6.4 it prints only what fails otherwise
    "hipBLAS": Suite("libhipblas"),
    "rocFFT": Suite("librocfft", arguments=("--seed=1",)),  # chance chooses its cases: a second run has others
    **{name: Suite("lib" + name.lower()) for name in ("rocSPARSE", "rocSOLVER", "rocALUTION")},
    "RCCL": Suite("librccl", PEERS),
}
ROCR_7 = "rocr-7"  # in the place of a release: forky with the ROCr of the script of that name
ROCR_PROGRAMS = {"kfdtest": "kfdtest", "rocrtst": "rocrtst64"}
# The machine: small, so that what a library sizes by the device takes little time. RCCL wants peers.
MACHINE = {"GFXSIM_CUS": "8", "GFXSIM_DEVICES": "gfx90a", "GFXSIM_HOST_VISIBLE": "1"}
RESULTS = {"OK": "pass", "FAILED": "FAIL", "SKIPPED": "skipped",
           "PASS": "pass", "KNOWN FAILURE": "skipped", "FAILURE": "FAIL", "ERROR": "FAIL", "UNKNOWN EXCEPTION": "FAIL"}
# kfdtest says so in words, and counts the case as passed.
SKIPS = re.compile(r"\[ +\] .*(Skip(ping|ped)? test|skipping the test|Test is skipped)")
NOT_RUN = "Not run: "  # how the reason begins for cases that would harm or hang the machine
CHUNK = 200  # cases of one process: the filter is an argument


def release_of(options, suite):
    return options.release if SUITES[suite].library or options.release == ROCR_7 else "forky"


def root_of(options, suite):
    release = release_of(options, suite)
    return "--root=" + (options.root or os.path.join(ROOT, "build", "forky" if release == ROCR_7 else release))


def tree_of(options, suite):
    """The script that enters it, and what this needs to find it."""
    release = release_of(options, suite)
    enter = [release] if release == ROCR_7 else ["trixie", "--release=" + release]
    return [os.path.join(ROOT, "script", enter[0])] + enter[1:] + [root_of(options, suite)]


def in_tree(options, suite, words, **more):
    command = tree_of(options, suite) + ["--bind=" + options.build]
    return subprocess.Popen(command + words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                            start_new_session=True, **more)


def output_of(options, suite, words):
    done = in_tree(options, suite, words)
    try:
        text = done.communicate()[0].decode(errors="replace")
        return text if done.returncode == 0 else None
    finally:
        stop(done)  # what this script's end leaves


def below_gfxsim(options, suite, words):
    machine = {**MACHINE, **SUITES[suite].machine}
    if options.device:
        machine["GFXSIM_DEVICES"] = re.sub(r"\w+", options.device, machine["GFXSIM_DEVICES"])  # as many as the suite wants
    folder = [] if SUITES[suite].library else ["-C", ROCR]  # where rocrtst looks for its kernels
    door = options.door if release_of(options, suite) == "trixie" else "kfd"
    return ["env"] + folder + [f"{name}={value}" for name, value in machine.items()] + [
        os.path.join(options.build, "bin", "gfxsim-run"), "--door=" + door] + words


def package_of(options, suite):
    """Its name in the release, with the number of the library's interface that it has there."""
    library = SUITES[suite].library
    if not library:
        return "libhsa-runtime64-1"
    names = output_of(options, suite, ["apt-cache", "pkgnames", library]) or ""
    found = [name for name in names.split("\n") if re.fullmatch(re.escape(library) + r"\d*-tests", name)]
    if not found:
        sys.exit(f"rocm-tests: {release_of(options, suite)} has no package of {suite}'s tests")
    return max(found)


def find_programs(options, suite):
    if not SUITES[suite].library:
        return [os.path.join(ROCR, ROCR_PROGRAMS[suite])]
    folder = LIBEXEC + package_of(options, suite)
    text = output_of(options, suite, ["find", folder, "-maxdepth", "1", "-type", "f", "-perm", "-u+x"])
    if not text:
        sys.exit(f"rocm-tests: there are no programs in {folder} of the tree")
    programs = (path for path in text.split("\n") if path.startswith(folder))
    return sorted(path for path in programs if os.path.basename(path) != "run-tests")  # which runs all the others


def list_cases(options, suite, program):
    """Full names, in the program's order; disabled ones left out as it does."""
    frame = SUITES[suite].frame
    of_release = "" if options.release == "trixie" else options.release + "."
    kept = os.path.join(WORK, f"{suite}.{of_release}{os.path.basename(program)}.list")  # some take minutes
    if options.again or not os.path.exists(kept):
        text = output_of(options, suite, below_gfxsim(options, suite, [program, frame.listing, *SUITES[suite].arguments]))
        if text is None:
            sys.exit(f"rocm-tests: {program} does not list its cases")
        with open(kept, "w") as file:
            file.write(text)
    with open(kept) as file:
        text = file.read()
    if frame is THRUST:
        return re.findall(r"^Test\w+$", text, re.MULTILINE)
    cases, group = [], None
    for line in text.split("\n"):
        name = line.split("#")[0].rstrip()
        if re.fullmatch(r"[\w/]+\.", name):
            group = name
        elif group and re.fullmatch(r"  [\w/]+", name) and "DISABLED_" not in group + name:
            cases.append(group + name.strip())
    return cases


def stop(process):
    """Ends what is left of it, also when this script is ended."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def lines_of(process, limit):
    """Lines of its output, the last of which may have no end; None when there was nothing for so long."""
    rest = b""
    while True:
        is_late = not select.select([process.stdout], [], [], limit)[0]
        block = b"" if is_late else os.read(process.stdout.fileno(), 65536)
        if not block:
            yield rest.decode(errors="replace")
            if is_late:
                yield None
            return
        rest += block
        *lines, rest = rest.split(b"\n")
        for line in lines:
            yield line.decode(errors="replace")


def run_cases(options, suite, program, cases):
    """Yields case, result and seconds, for as many as one process gets to: all, or up to one that ends it."""
    frame = SUITES[suite].frame
    process = in_tree(options, suite, below_gfxsim(options, suite, [program, *frame.selection(cases), *SUITES[suite].arguments]))
    running, begun, skips = None, time.monotonic(), False
    try:
        for line in lines_of(process, options.limit):
            if line is None or (running and time.monotonic() - begun >= options.limit):
                break
            begin, end = frame.begin.match(line), frame.end.match(line)
            skips = skips or bool(SKIPS.match(line))
            if begin and begin[1] in cases:
                running, skips = begin[1], False
                begun = begun if end else time.monotonic()
            if end and running == end[2]:
                result = "skipped" if skips and end[1] == "OK" else RESULTS[end[1]]
                yield running, result, time.monotonic() - begun
                running, begun = None, time.monotonic()
        late = line is None or time.monotonic() - begun >= options.limit
        if running:
            yield running, "late" if late else "crash", time.monotonic() - begun
    finally:
        stop(process)


def run_program(options, suite, program, done, log):
    name, label = os.path.basename(program), label_of(options, suite)
    cases = [case for case in list_cases(options, suite, program) if fnmatch.fnmatch(case, options.filter)]
    cases = [case for case in cases if not (reason_for(suite, label, f"{name}:{case}") or "").startswith(NOT_RUN)]
    cases = cases[options.first::options.every]
    left = [case for case in cases if f"{name}:{case}" not in done]
    while left:
        before = len(done)
        for case, result, seconds in run_cases(options, suite, program, left[:CHUNK]):
            done[f"{name}:{case}"] = result
            log.write(json.dumps([f"{name}:{case}", result, round(seconds, 1)]) + "\n")
            log.flush()
            if result not in ("pass", "skipped"):
                print(f"{suite}: {name}:{case}: {result}", flush=True)
        if len(done) == before:
            sys.exit(f"rocm-tests: {program} ends, or says nothing for {options.limit:g} s, before its first case, {left[0]}: "
                     "--limit gives it longer")
        left = [case for case in left if f"{name}:{case}" not in done]


def label_of(options, suite):
    """What its results are listed as."""
    with_release = options.release == ROCR_7 or SUITES[suite].library and options.release != "trixie"
    return suite + (f" of {options.release}" if with_release else "") + (f" on {options.device}" if options.device else "")


def path_of(label):
    return os.path.join(WORK, label + ".jsonl")


def labels_of(suite):
    """Those under which there are results, of this machine or in the table."""
    labels = {os.path.basename(path)[:-len(".jsonl")] for path in glob.glob(path_of(suite + " o[fn] *"))}
    with open(TABLE) as table:
        labels |= set(re.findall(rf"^\| ({suite} o[fn] [\w -]+) \|", table.read(), re.MULTILINE))
    return [suite] + sorted(labels)


def read_log(path):
    done = {}
    if os.path.exists(path):
        with open(path) as log:
            for line in log:
                case, result, _ = json.loads(line)
                done[case] = result
    return done


def read_reasons():
    """[(suite or label with _ for each space, pattern, reason)]"""
    reasons = []
    with open(REASONS) as text:
        for line in text:
            if line.strip() and not line.startswith("#"):
                suite, pattern, reason = line.rstrip("\n").split(None, 2)
                reasons.append((suite, pattern, reason))
    return reasons


def reason_for(suite, label, case):
    for wanted, pattern, reason in read_reasons():
        if (wanted == suite or fnmatch.fnmatchcase(label.replace(" ", "_"), wanted)) and re.fullmatch(pattern, case):
            return reason
    return None


def run_suite(options, suite):
    log_path = path_of(label_of(options, suite))
    if options.again and os.path.exists(log_path):
        os.remove(log_path)
    done = read_log(log_path)
    with open(log_path, "a") as log:
        for program in find_programs(options, suite):
            if not options.programs or any(word in os.path.basename(program) for word in options.programs):
                run_program(options, suite, program, done, log)
    count = collections.Counter(done.values())
    print(f"{label_of(options, suite)}: {len(done)} cases: " + ", ".join(f"{number} {result}" for result, number in count.most_common()))
    failed = [case for case, result in done.items() if result not in ("pass", "skipped")]
    return [case for case in failed if not reason_for(suite, label_of(options, suite), case)]


def read_rows(label):
    """What the table says of a suite: the row of its counts, how many cases these are, and the rows of what did not pass."""
    with open(TABLE) as table:
        rows = [line.rstrip("\n") for line in table if line.startswith(f"| {label} |")]
    counts = re.match(r"\|[^|]*\|[^|]*\| (\d+) \|", rows[0]) if rows else None
    return rows[:1], int(counts[1]) if counts else 0, rows[1:]


def with_reasons(suite, label, rows):
    """Rows of the table, of failures on another machine, with the reasons that are known now."""
    failure = re.compile(r"(\| [^|]* \| `(.*)` \| (?!not run)\w+ \| ).* \|")
    found = [(row, failure.fullmatch(row)) for row in rows]
    return [f"{match[1]}{reason_for(suite, label, match[2]) or 'not known'} |" if match else row for row, match in found]


def package_path_of(label):
    return os.path.join(WORK, label + ".package")


def version_of(options, suite):
    """The package that was run, and its version."""
    if options.release == ROCR_7 and not SUITES[suite].library:
        return "ROCr 7"
    package = package_of(options, suite)
    version = output_of(options, suite, ["dpkg-query", "-W", "-f", "${Version}", package])
    return f"{package} {(version or '?').strip()}"


def rows_of_failures(suite, label, done):
    rows = [f"| {label} | `{case}` | {result} | {reason_for(suite, label, case) or 'not known'} |"
            for case, result in sorted(done.items()) if result not in ("pass", "skipped")]
    if label == suite:
        cells = [(pattern.replace("|", "\\|"), reason[len(NOT_RUN):]) for wanted, pattern, reason in read_reasons()
                 if wanted == suite and reason.startswith(NOT_RUN)]
        rows += [f"| {suite} | `{cell}` | not run | {reason} |" for cell, reason in cells]
    return rows


COLUMNS = ("pass", "skipped", "FAIL", "crash", "late")


def row_of_counts(label, done):
    count = collections.Counter(done.values())
    package = "?"  # of results that an older version of this script left
    if os.path.exists(package_path_of(label)):
        with open(package_path_of(label)) as file:
            package = file.read()
    return f"| {label} | {package} | {len(done)} | " + " | ".join(str(count[c]) for c in COLUMNS) + " |"


def write_table(options):
    counts, failures = [], []
    for suite, label in ((suite, label) for suite in SUITES for label in labels_of(suite)):
        done = read_log(path_of(label))
        old_count, cases, old_failures = read_rows(label)
        if not done or len(done) < cases:  # another machine ran more
            counts += old_count
            failures += with_reasons(suite, label, old_failures)
        else:
            counts.append(row_of_counts(label, done))
            failures += rows_of_failures(suite, label, done)
    text = f"""\
# AMD's libraries on gfxsim

Written by `script/rocm-tests --write`; do not edit. Cases of the test suites that Debian 13 packages, or another release where
one is named, and of ROCr's own programs on the ROCr of Debian forky (`of rocr-7`: on that of `script/rocr-7`), run on gfxsim's
gfx90a with 8 compute units, or on the part that is named. They were written for hardware, by the authors of the libraries. Of
libraries samples: every n-th case, and not of all programs; of rocThrust sizes up to 256. `skipped`: by the suite itself. `late`:
more than {options.limit:g} s, or what was given when it was run.

| suite | package | cases run | {" | ".join(COLUMNS)} |
|---|---|{"---|" * (1 + len(COLUMNS))}
"""
    text += "\n".join(counts) + "\n\n## What does not pass\n\n"
    text += "\n".join(["| suite | case | result | reason |", "|---|---|---|---|"] + failures if failures else ["Nothing."]) + "\n"
    with open(TABLE, "w") as table:
        table.write(text)


def prepare(options, suite):
    tree = tree_of(options, suite)
    if SUITES[suite].library:
        commands = [tree + ["--packages=" + package_of(options, suite)]]
    else:
        commands = [[os.path.join(ROOT, "script", "rocr-tests"), root_of(options, suite)]] + ([tree] if options.release == ROCR_7 else [])
    if any(subprocess.run(command).returncode for command in commands):
        sys.exit("rocm-tests: the tree cannot be made")
    with open(package_path_of(label_of(options, suite)), "w") as file:
        file.write(version_of(options, suite))


def main():
    parser = argparse.ArgumentParser(prog="script/rocm-tests", description=USAGE,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"), metavar="DIR", help="of gfxsim (default: %(default)s)")
    parser.add_argument("--release", default="trixie", choices=("trixie", "forky", "unstable", ROCR_7), help="of Debian, for libraries (default: %(default)s); "
                        "rocr-7 is forky on the ROCr of script/rocr-7, also for rocrtst")
    parser.add_argument("--root", metavar="DIR", help="the tree (default: build/trixie, or build/forky for ROCr's own)")
    parser.add_argument("--door", default="thunk", choices=("thunk", "kfd"), help="which of gfxsim's, for libraries of trixie (default: %(default)s)")
    parser.add_argument("--device", metavar="PART", help="the GPU (default: the suite's own choice, of gfx90a); its results are listed apart")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each n-th case of a program")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="beginning with this one (default: %(default)s)")
    parser.add_argument("--programs", nargs="*", metavar="WORD", help="only programs with one of these in their names")
    parser.add_argument("--filter", default="*", metavar="PATTERN", help="only cases whose group.name is like this")
    parser.add_argument("--limit", type=float, default=300, metavar="SECONDS", help="for one case (default: %(default)s)")
    parser.add_argument("--again", action="store_true", help="forget what was run")
    parser.add_argument("--write", action="store_true", help="write doc/generated/rocm-tests.md of all that was run; a suite of which it has more cases stays")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help="of " + ", ".join(SUITES))
    options = parser.parse_args()
    unknown = [suite for suite in options.suites if suite not in SUITES]
    if unknown or not (options.suites or options.write):
        parser.error(f"no such suite: {', '.join(unknown)}" if unknown else "name a suite, or --write")
    if options.release == ROCR_7 and "kfdtest" in options.suites:
        parser.error("kfdtest has a thunk of its own, and no ROCr")
    options.build, options.root = os.path.abspath(options.build), options.root and os.path.abspath(options.root)
    os.makedirs(WORK, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    for suite in options.suites:
        prepare(options, suite)
    unexplained = [f"{suite}: {case}" for suite in options.suites for case in run_suite(options, suite)]
    if options.write:
        write_table(options)
    for case in unexplained:
        print(f"rocm-tests: no reason is known for {case}", file=sys.stderr)
    sys.exit(1 if unexplained else 0)


if __name__ == "__main__":
    main()
