"""Runs LLVM libc's own GPU tests, and programs of ours linked with it, under amdhsa-loader on gfxsim; started by
script/libc-tests.

What builds them is LLVM libc's own CMake, with the compiler of the same version, in a tree of Debian 13. Here is what
prepares that, runs the images, and writes down the results."""

import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import urllib.request

from llvm_tests import ROOT, command, fail, unpack_into

OWN = os.path.dirname(os.path.realpath(__file__))
EXCEPTIONS = os.path.join(OWN, "libc_exceptions.txt")
PROGRAMS = os.path.join(OWN, "libc_programs")

USAGE = """\
Downloads the sources of LLVM (Debian's archive of them), builds its libc for the GPU with its own build system and clang
of the same version, which script/trixie provides, and runs every GPU test that it has under amdhsa-loader on gfxsim.
Then links the programs in test/llvm/libc_programs with that libc, and compares what they print, and how they end, with
what they do on the host. Prints what failed; fails when that is not explained in test/llvm/libc_exceptions. Needs root
(for script/trixie), network, 5 GB and half an hour.

Everything is kept below build/libc-tests: a second run compiles nothing. The system is not changed.
OMPTARGET_AMDGPU_LLVM_TARBALLS=DIR takes the archives from DIR/llvm-toolchain-N_RELEASE.orig.tar.xz."""

RELEASES = {18: "18.1.8"}
FOLDERS = ["libc", "cmake", "runtimes", "llvm/cmake", "llvm/utils/llvm-lit", "third-party/unittest"]
# Of Debian 13.
PACKAGES = "clang-{0} lld-{0} llvm-{0}-dev libstdc++-14-dev cmake ninja-build python3"
GOOD = ("pass",)

# What CMake calls the loader. Tests are run by the commands that LLVM's build system made for them.
LOADER = """\
#!/bin/sh
# Written by script/libc-tests.
exec {runner} --devices={gfx} --cus=8 {loader} --timeout {timeout} "$@"
"""

# What builds inside the tree does not see the CC, CFLAGS or CMAKE_... of the one who calls: they are for the outside.
CLEAN = ["env", "-i", "HOME=/tmp", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"]

BUILD = """\
set -eu
PATH=/usr/lib/llvm-{version}/bin:$PATH
cd {folder}
if [ ! -e libc-hdrgen ]; then
  clang++ -std=c++17 -O1 -fno-rtti -w $(llvm-config --cppflags) -I{source}/libc {source}/libc/utils/HdrGen/*.cpp \\
    {source}/libc/utils/LibcTableGenUtil/APIIndexer.cpp -o hdrgen.new \\
    -L/usr/lib/llvm-{version}/lib -lLLVMTableGen -lLLVM-{version}
  mv hdrgen.new libc-hdrgen
fi
if [ ! -e {gfx}/build.ninja ]; then
  rm -rf {gfx}
  cmake -G Ninja -S {source}/runtimes -B {gfx} -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER=clang \\
    -DCMAKE_CXX_COMPILER=clang++ -DLLVM_BINARY_DIR=/usr/lib/llvm-{version} -DCMAKE_DISABLE_FIND_PACKAGE_Clang=TRUE \\
    -DLLVM_ENABLE_RUNTIMES=libc -DLLVM_INCLUDE_TESTS=ON -DLLVM_LIBC_FULL_BUILD=ON -DLIBC_GPU_BUILD=ON \\
    -DLIBC_GPU_ARCHITECTURES={gfx} -DLIBC_GPU_TEST_ARCHITECTURE={gfx} -DLIBC_HDRGEN_EXE={folder}/libc-hdrgen \\
    -DLIBC_GPU_LOADER_EXECUTABLE={folder}/{gfx}.loader
fi
# Everything that can be built is; what is missing afterwards has failed. Twice, as LLVM's rules leave out that some files
# need headers that are generated, so that these fail now and then.
ninja -C {gfx} -t targets all | sed -n 's,^\\(libc/test/[^:]*\\.__build__\\): .*,\\1,p' >{gfx}.targets
for round in 1 2; do
  nice ninja -k 0 -j {jobs} -C {gfx} $(cat {gfx}.targets) libc && break || :
done
# LLVM puts the library beside its own. It holds images for several processors; this is one, as an archive of bitcode.
clang-offload-packager /usr/lib/llvm-{version}/lib/libcgpu.a --archive \\
  --image=file={gfx}.libc.a,triple=amdgcn-amd-amdhsa,arch={gfx}
"""

COMPILE = """\
set -eu
PATH=/usr/lib/llvm-{version}/bin:$PATH
for name in {names}; do
  clang --target=amdgcn-amd-amdhsa -mcpu={gfx} -mcode-object-version=5 -flto -O2 -nogpulib -nostdlib -static \\
    -ffreestanding -fno-builtin -isystem {folder}/{gfx}/libc/include {programs}/$name.c $(find {folder}/{gfx}/ -name start.cpp.o) \\
    {folder}/{gfx}.libc.a -Wl,-mllvm,-amdgpu-lower-global-ctor-dtor=0 \\
    -Wl,-mllvm,-amdhsa-code-object-version=5 -o {folder}/{gfx}.programs/$name
done
"""


def download(version, scratch):
    """The archive of a release, from the mirror that apt uses, and of it what libc needs."""
    name = f"llvm-toolchain-{version}_{RELEASES[version]}.orig.tar.xz"
    own = os.environ.get("OMPTARGET_AMDGPU_LLVM_TARBALLS")
    archive = os.path.join(own or scratch, name)
    if not own:
        mirror = command("apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Origin: Debian",
                         "Label: Debian").split("\n")[0]
        if not mirror:
            fail("apt knows no Debian mirror on this machine (apt-get update?)")
        address = f"{mirror.rstrip('/')}/pool/main/l/llvm-toolchain-{version}/{name}"
        try:
            urllib.request.urlretrieve(address, archive)
        except OSError as error:
            fail(f"cannot download {address}: {error}")
    command("tar", "-xf", archive, "-C", f"{scratch}/tree", "--strip-components=1", "--anchored",
            "--no-wildcards-match-slash", "--wildcards", *[f"*/{folder}" for folder in FOLDERS])


class Libc:
    """LLVM libc of one version for one processor."""

    def __init__(self, version, gfx, options):
        self.version, self.gfx, self.options = version, gfx, options
        self.folder = os.path.join(options.folder, str(version))
        os.makedirs(self.folder, exist_ok=True)
        self.source = unpack_into(os.path.join(options.folder, "src", str(version)),
                                  lambda scratch: download(version, scratch))
        self.wrapper = os.path.join(self.folder, gfx + ".loader")
        with open(self.wrapper, "w", encoding="utf-8") as file:
            file.write(LOADER.format(runner=options.runner, gfx=gfx, timeout=options.timeout,
                                     loader=os.path.join(os.path.dirname(options.runner), "amdhsa-loader")))
        os.chmod(self.wrapper, 0o755)
        os.makedirs(os.path.join(self.folder, gfx + ".programs"), exist_ok=True)

    def inside(self, text, log):
        """Runs shell commands in the tree of Debian 13."""
        values = dict(version=self.version, gfx=self.gfx, folder=self.folder, source=self.source,
                      jobs=self.options.jobs, programs=PROGRAMS,
                      names=" ".join(program_names()))
        script = os.path.join(self.folder, log + ".sh")
        with open(script, "w", encoding="utf-8") as file:
            file.write(text.format(**values))
        with open(os.path.join(self.folder, log + ".log"), "w", encoding="utf-8") as file:
            done = subprocess.run([os.path.join(ROOT, "script/trixie"), f"--root={self.options.trixie}",
                                   f"--bind={os.path.realpath(self.options.folder)}", "--packages=" + PACKAGES.format(self.version),
                                   *CLEAN, "sh", script], stdout=file, stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0:
            fail(f"cannot build LLVM libc {self.version}: see {self.folder}/{log}.log")

    def build(self):
        self.inside(BUILD, f"{self.gfx}.build")
        self.inside(COMPILE, f"{self.gfx}.compile")

    def tests(self):
        """{name: (shell command, image)} of LLVM's tests, out of what its build system wrote."""
        found = {}
        last = ""
        with open(os.path.join(self.folder, self.gfx, "build.ninja"), encoding="utf-8") as file:
            for line in file:
                running = re.match(r"\s*DESC = Running (?:hermetic|integration) test (libc\.\S+)$", line)
                if running:
                    image = re.search(r"(\S+\.__build__)\b", last)
                    name = running[1].removeprefix("libc.").removesuffix(".__hermetic__")
                    found[name] = (last.replace("$$", "$"), image[1])
                last = line.strip().removeprefix("COMMAND = ")
        if not found:
            fail(f"LLVM libc {self.version} has no tests in {self.folder}/{self.gfx}")
        return found

    def log(self, name, text):
        path = os.path.join(self.folder, "log", self.gfx, name + ".log")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def run_test(self, name, words):
        shell, image = words
        if not os.path.exists(image):
            return "not built"
        done = subprocess.run(shell, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        said = done.stdout.decode("utf-8", "replace")
        self.log(name, f"$ {shell}\n{said}\nexit status {done.returncode}\n")
        if done.returncode == 124:
            return "late"
        counts = re.search(r"Ran (\d+) tests\.\s+PASS: (\d+)\s+FAIL: (\d+)", said)
        # Integration tests have no such summary: their main returns how they went.
        summary = counts and counts[1] == counts[2] != "0" if ".integration." not in "." + name else True
        return "pass" if done.returncode == 0 and summary else "FAIL"

    def run_program(self, name):
        """A program of ours, with the arguments and environment that its first lines want, here and on the GPU."""
        arguments, options = setting(name, "arguments"), setting(name, "loader")
        work = os.path.join(self.folder, self.gfx + ".programs")
        host = os.path.join(work, name + ".host")
        command("cc", "-O1", "-w", os.path.join(PROGRAMS, name + ".c"), "-o", host)
        image = os.path.join(work, name)
        outcomes = []
        for words in ([host], [self.wrapper, *options, image]):
            where = os.path.join(work, name + (".on-host" if words[0] == host else ".on-gpu"))
            shutil.rmtree(where, ignore_errors=True)
            os.makedirs(where)
            began = time.monotonic()
            with open(os.path.join(PROGRAMS, name + ".c"), "rb") as source:
                done = subprocess.run(words + arguments, cwd=where, stdin=source, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, env=dict(os.environ, GREETING="hello world"), check=False)
            seconds = time.monotonic() - began
            files = {}
            for made in sorted(os.listdir(where)):
                with open(os.path.join(where, made), "rb") as file:
                    files[made] = file.read()
            # The loader ends by the signal; the shell around it may say so in its own way.
            status = 128 - done.returncode if done.returncode < 0 else done.returncode
            outcomes.append((status, done.stdout, done.stderr, files))
        self.log("program." + name, "host: {}\n\nGPU: {}\n".format(*outcomes))
        if outcomes[1][0] == 124:
            return "late"
        if seconds < int((setting(name, "seconds") or ["0"])[0]):
            return "FAIL"
        return "pass" if outcomes[0] == outcomes[1] else "FAIL"

    def run(self):
        """{name: word}"""
        work = {"programs/" + name: (self.run_program, (name,)) for name in program_names()}
        for name, words in self.tests().items():
            work[name] = (self.run_test, (name, words))
        if self.options.filter:
            work = {name: job for name, job in work.items() if re.search(self.options.filter, name)}
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            futures = {name: pool.submit(function, *words) for name, (function, words) in work.items()}
            return {name: future.result() for name, future in futures.items()}


def setting(name, what):
    """What a program's first lines say of it, in words: `arguments:`, options of the `loader:`, `seconds:` at least."""
    with open(os.path.join(PROGRAMS, name + ".c"), encoding="utf-8") as file:
        found = re.search(rf"\b{what}: (.*)", file.read(1000))
    return shlex.split(found[1].removesuffix("*/")) if found else []


def program_names():
    return sorted(name[:-2] for name in os.listdir(PROGRAMS) if name.endswith(".c"))


Row = collections.namedtuple("Row", "versions tests why")


def read_exceptions():
    """Lines of `versions | tests | why`, tests as patterns of the shell; # begins a comment."""
    rows = []
    with open(EXCEPTIONS, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip() or line.startswith("#"):
                continue
            fields = [field.strip() for field in line.split("|", 2)]
            if len(fields) != 3 or not all(fields):
                fail(f"{EXCEPTIONS}:{number}: not `versions | tests | why`")
            rows.append(Row(tuple(int(word) for word in fields[0].split()), tuple(fields[1].split()), fields[2]))
    return rows


def explanation(exceptions, version, test):
    for row in exceptions:
        if version in row.versions and any(fnmatch.fnmatch(test, pattern) for pattern in row.tests):
            return row
    return None


def judge(results, exceptions):
    complaints = []
    for (version, gfx), tests in sorted(results.items()):
        for test, word in sorted(tests.items()):
            row = explanation(exceptions, version, test)
            if word in GOOD and row:
                complaints.append(f"{version} {gfx}: {test}: {word}, but test/llvm/libc_exceptions.txt says it cannot")
            if word not in GOOD and not row:
                complaints.append(f"{version} {gfx}: {test}: {word}")
    return complaints


def write_table(results, exceptions, options):
    """doc/generated/libc-tests.md"""
    columns = sorted(results)
    head = " | ".join(f"{version} {gfx}" for version, gfx in columns)
    lines = [
        "# LLVM libc's own tests", "",
        "Written by `script/libc-tests --write`; do not edit. The GPU tests of LLVM libc 18.1.8, built from its sources by",
        "its own build system with clang of the same version, and run under `amdhsa-loader` on gfxsim. The tests named",
        "`programs/` are this project's (test/llvm/libc_programs), linked with that libc: what they write to standard",
        "output, standard error and files, and how they end, is compared with the same program on the host.", "",
        f"`late`: not ready after {options.timeout} s. `not built`: does not",
        "compile or link. A number in brackets leads to the reason.", "",
        f"| | {head} |", "|---|" + "---|" * len(columns),
    ]
    for word in ["pass", "FAIL", "late", "not built"]:
        counts = [sum(1 for w in results[c].values() if w == word) for c in columns]
        if any(counts):
            lines.append(f"| {word} | " + " | ".join(str(n) for n in counts) + " |")
    notes, body = [], []
    for test in sorted({test for tests in results.values() for test in tests}):
        cells = []
        for version, gfx in columns:
            word = results[version, gfx].get(test, "")
            row = explanation(exceptions, version, test)
            if row and word and word not in GOOD:
                if row not in notes:
                    notes.append(row)
                word += f" [{notes.index(row) + 1}]"
            cells.append(word)
        body.append(f"| {test} | " + " | ".join(cells) + " |")
    if notes:
        lines += ["", "## Why some fail", ""] + [f"{number}. {row.why}" for number, row in enumerate(notes, 1)]
    lines += ["", "## All tests", "", f"| test | {head} |", "|---|" + "---|" * len(columns)] + body
    with open(os.path.join(ROOT, "doc/generated/libc-tests.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def parse():
    parser = argparse.ArgumentParser(prog="script/libc-tests", description=USAGE,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--versions", default="18", help="versions of LLVM libc (default, and the only one that is known: 18)")
    parser.add_argument("--gfx", default="gfx90a", help="processors to build for and simulate (default: %(default)s)")
    parser.add_argument("--filter", metavar="REGEX", help="only tests whose name matches")
    parser.add_argument("--timeout", type=int, default=300, metavar="SECONDS", help="for each test (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="tests at a time (default: %(default)s)")
    parser.add_argument("--folder", default=os.path.join(ROOT, "build/libc-tests"), help="default: build/libc-tests")
    parser.add_argument("--trixie", default=os.path.join(ROOT, "build/trixie"), metavar="DIR",
                        help="the Debian 13 tree in which is compiled (default: build/trixie, made by script/trixie)")
    parser.add_argument("--no-build", action="store_true", help="run what the last call has built")
    parser.add_argument("--runner", metavar="FILE",
                        help="gfxsim-run of a build that is ready (default: makes the release build)")
    parser.add_argument("--write", action="store_true",
                        help="write doc/generated/libc-tests.md; versions left out are taken from the last runs")
    options = parser.parse_args()
    options.versions = [int(v) for v in options.versions.split(",") if v.isdigit()]
    options.gfx = options.gfx.split(",")
    if not options.versions or not set(options.versions) <= set(RELEASES):
        parser.error("--versions wants 18")
    if options.write and options.filter:
        parser.error("--write is for all tests")
    options.folder = os.path.abspath(options.folder)
    options.runner = options.runner and os.path.abspath(options.runner)
    os.makedirs(options.folder, exist_ok=True)
    return options


def last_runs(options):
    """{(version, gfx): {name: word}} of every whole run so far."""
    results = {}
    for version in RELEASES:
        folder = os.path.join(options.folder, str(version))
        for name in os.listdir(folder) if os.path.isdir(folder) else []:
            if name.endswith(".results"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    results[version, name.removesuffix(".results")] = json.load(file)
    return results


def main():
    options = parse()
    if not options.runner:
        options.runner = os.path.join(ROOT, "build/release/bin/gfxsim-run")
        command(os.path.join(ROOT, "script/bootstrap"))
        command("cmake", "--preset", "release", cwd=ROOT)
        command("cmake", "--build", "--preset", "release", "--target", "gfxsim-run", "amdhsa-loader", cwd=ROOT)
    exceptions = read_exceptions()
    results = {}
    for version in options.versions:
        for gfx in options.gfx:
            libc = Libc(version, gfx, options)
            if not options.no_build:
                libc.build()
            results[version, gfx] = libc.run()
            if not options.filter:
                with open(os.path.join(libc.folder, gfx + ".results"), "w", encoding="utf-8") as file:
                    json.dump(results[version, gfx], file)
            counts = collections.Counter(results[version, gfx].values())
            print(f"libc-tests: {version} {gfx}: " + ", ".join(f"{n} {w}" for w, n in sorted(counts.items())), flush=True)
    complaints = judge(results, exceptions)
    if options.write:
        write_table({**last_runs(options), **results}, exceptions, options)
    for line in complaints:
        print(line)
    print(f"libc-tests: {len(complaints)} unexplained; the output of all tests is in {options.folder}/N/log")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
