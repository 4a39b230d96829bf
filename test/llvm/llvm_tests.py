"""Runs LLVM's own libomptarget tests on gfxsim, with LLVM's plugins and with ours, and with any libomptarget in place
of LLVM's; started by script/llvm-tests.

What runs a test is LLVM's lit with LLVM's configuration of the suite; here is what prepares it, and what judges and
writes down the results."""

import argparse
import collections
import fnmatch
import json
import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile

OWN = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(OWN))
EXCEPTIONS = os.path.join(OWN, "llvm_exceptions.txt")
TABLE = os.path.join(ROOT, "doc/generated/llvm-tests.md")
# The libm for the GPU, where Debian's releases have it.

USAGE = """\
Downloads the sources of libomptarget's tests (Debian's source packages, with apt-get) and LLVM's test tools, compiles
every test for the GPU as its RUN lines say, and runs it on gfxsim with each plugin, under LLVM's test runner lit.
From 19 on libomptarget opens no plugins, and is run as it is. --library=DIR runs the tests with the libomptarget.so of
that folder, too, as "runtime". Prints what failed; fails when a test failed that test/llvm/llvm_exceptions.txt does not
explain, and when one passed that cannot according to it; says where our plugin or the runtime is worse than stock.
Needs network and half an hour, for 17, 18 and 21 root as well (script/toolchain).

Everything is kept below build/llvm-tests: a second run compiles nothing, and --resume takes a run up where it was
interrupted. The system is not changed.
OMPTARGET_AMDGPU_LLVM_SOURCES=DIR takes the tests from DIR/N, as script/llvm-source unpacks them,
OMPTARGET_AMDGPU_LLVM_DIR=DIR the OpenMP runtimes from DIR/N, as script/llvm unpacks them."""

# Columns of the table. `stock` is the plugin that this version of libomptarget uses unless told otherwise, `runtime` not a
# plugin but the libomptarget of --library in place of LLVM's.
PLUGINS = {
    13: ["stock", "ours", "runtime"],
    14: ["stock", "ours", "runtime"],
    15: ["stock", "ours", "runtime"],
    16: ["stock", "stock-classic", "ours", "runtime"],
    17: ["stock", "ours", "runtime"],
    18: ["stock", "ours", "runtime"],
    19: ["stock", "runtime"],
    21: ["stock", "runtime"],
    22: ["stock", "runtime"],
}
# What must not fail what LLVM's own passes.
JUDGED = ("ours", "runtime")
# Where script/toolchain runs them in a tree of another release.
ELSEWHERE = (17, 18, 21)
# LLVM's lit is in Debian's packages up to here.
LAST_LIT = 19
# With OMPT in Debian's build.
OMPT = (18, 19)
OTHER_TARGETS = [
    "aarch64-unknown-linux-gnu", "powerpc64le-ibm-linux-gnu", "powerpc64-ibm-linux-gnu", "x86_64-pc-linux-gnu",
    "nvptx64-nvidia-cuda", "x86_64-unknown-linux-gnu", "s390x-ibm-linux-gnu", "spirv64-intel",
]

# lit's names for how a test ended, in the words of the table. "late" is ours: it ran out of time.
WORDS = {
    "PASS": "pass", "FLAKYPASS": "pass", "XFAIL": "xfail", "UNSUPPORTED": "n/a", "XPASS": "xpass", "FAIL": "FAIL",
    "TIMEOUT": "late", "UNRESOLVED": "broken", "SKIPPED": "n/a",
}
GOOD = ("pass", "xfail", "n/a", "xpass")

# apt-get wants to download as a user of its own, who may not be able to write into our folder.
SANDBOX = "APT::Sandbox::User=" + pwd.getpwuid(os.getuid()).pw_name

SITE_CONFIG = """\
# Written by script/llvm-tests.
import re
import lit.llvm
settings = {settings!r}
for name, value in settings["config"].items():
    setattr(config, name, value)
if settings["initialize"]:
    lit.llvm.initialize(lit_config, config)
lit_config.load_config(config, settings["suite"])
config.name = settings["name"]
for name, value in settings["environment"].items():
    config.environment[name] = value
# Programs run on the simulated GPU and under a time limit. Substitutions are regular expressions for lit.
run = re.compile(r"%t$")
config.substitutions = [
    (key, run.sub(lambda _: settings["run"] + " %t", value)
     if str(key).startswith("%libomptarget-run-") and value != "echo ignored-command" else value)
    for key, value in config.substitutions
]
"""


def fail(message):
    sys.exit(os.path.basename(sys.argv[0]).removesuffix(".py").replace("_", "-") + ": " + message)


def command(*arguments, **options):
    """Runs a tool that prepares things; its output is shown only when it fails."""
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        sys.stderr.write(done.stdout)
        fail("failed: " + " ".join(arguments))
    return done.stdout


def unpack_into(folder, fill):
    """Makes `folder` with what fill(scratch) puts into scratch/tree; a half-made folder is never seen."""
    if os.path.isdir(folder):
        return folder
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(folder), prefix=".unpack-") as scratch:
        os.chmod(scratch, 0o755)  # apt-get downloads as the user _apt where it can
        os.mkdir(os.path.join(scratch, "tree"))
        fill(scratch)
        os.rename(os.path.join(scratch, "tree"), folder)
    return folder


def target_of(version):
    """What the tests of a version call the target; 14 has two device runtimes, Debian ships the one called new."""
    return "amdgcn-amd-amdhsa-newRTL" if version == 14 else "amdgcn-amd-amdhsa"


def processor_of(version):
    """The processor to compile for and to simulate: 13's device runtime knows no gfx90a."""
    return "gfx908" if version == 13 else "gfx90a"


PROCESSORS_IN_WORDS = f"{processor_of(16)} (13: {processor_of(13)})"


def download_tools(version, scratch):
    """FileCheck, not and lit of LLVM N. Unpacked, not installed: nothing else needs them."""
    command("apt-get", "-qq", "-o", SANDBOX, "download", f"llvm-{version}-tools", cwd=scratch)
    for package in os.listdir(scratch):
        if package.endswith(".deb"):
            command("dpkg", "-x", package, "tree", cwd=scratch)


class Suite:
    """The tests of one version of libomptarget, and what is needed to compile and run them."""

    def __init__(self, version, options):
        self.version = version
        self.options = options
        self.target = target_of(version)
        self.gfx = options.gfx or processor_of(version)
        self.folder = os.path.join(options.folder, str(version))
        self.tools = self.tools_of(version)
        self.lit = os.path.join(self.tools_of(min(version, LAST_LIT)), "build/utils/lit/lit.py")
        sources = command(os.path.join(ROOT, "script/llvm-source"), str(version)).strip().split("\n")[-1]
        self.tests = os.path.join(sources, "offload/test" if version >= 19 else "openmp/libomptarget/test")
        if not os.path.exists(os.path.join(self.tests, "lit.cfg")):
            fail(f"no tests of LLVM {version} in {self.tests}")
        runtimes = os.environ.get("OMPTARGET_AMDGPU_LLVM_DIR") or os.path.join(ROOT, "build/llvm")
        self.lib = os.path.join(runtimes, str(version), f"usr/lib/llvm-{version}/lib")
        headers = [path for path, _, files in os.walk(os.path.join(self.lib, "clang")) if "omp.h" in files]
        if not headers:
            fail(f"no omp.h below {self.lib}")
        self.headers = headers[0]

    def tools_of(self, version):
        folder = unpack_into(os.path.join(self.options.folder, "tools", str(version)),
                             lambda scratch: download_tools(version, scratch))
        return os.path.join(folder, f"usr/lib/llvm-{version}")

    def flags(self):
        bitcode = command(os.path.join(ROOT, "script/omp-cc"), "-v", str(self.version), "-g", self.gfx, "--print-bitcode").strip()
        runtime = {13: f"--libomptarget-amdgcn-bc-path={self.lib}/libomptarget-amdgcn-{self.gfx}.bc",
                   14: f"--libomptarget-amdgcn-bc-path={self.lib}"}
        if self.version >= 20:  # as script/omp-cc
            runtime[self.version] = f"-Xoffload-linker -L{self.lib}/amdgcn-amd-amdhsa -mcode-object-version=5"
        tools = [f"-B{ROOT}/script/clang-13"] if self.version == 13 else []  # see there
        return " ".join(tools + ["-Xopenmp-target=amdgcn-amd-amdhsa", "-march=" + self.gfx,
                                 runtime.get(self.version, f"--libomptarget-amdgpu-bc-path={self.lib}"),
                                 "--rocm-device-lib-path=" + bitcode, "-Wno-unused-command-line-argument"])

    def compiler(self, name):
        return f"{OWN}/cached_compile.sh {self.folder}/compiled {name}-{self.version}"

    def runner(self, plugin):
        """The words before a program that run it with a plugin."""
        which = self.lib if plugin.startswith("stock") and self.version < 19 else "ours"
        words = [self.options.runner, f"--devices={self.gfx}", f"--plugin={which}", "--"]
        if self.options.gfx:
            words = [os.path.join(ROOT, "script/with-rocr"), self.gfx] + words
        folders = [self.options.library] if plugin == "runtime" else []
        if self.version in OMPT:  # it opens libomp.so, from libLLVM, which is not where our runtimes are
            folders.append(self.lib)
        if folders:
            words = ["env", "LD_LIBRARY_PATH=" + ":".join(folders)] + words
        if (self.version, plugin) == (15, "stock"):
            # See there: programs would crash at exit, and nothing could be said about the test itself.
            words = ["env", f"LD_PRELOAD={self.stay_registered()}"] + words
        return words

    def stay_registered(self):
        library = os.path.join(self.folder, "stay_registered.so")
        command(f"clang-{self.version}", "-shared", "-fPIC", f"{OWN}/stay_registered.c", "-o", library)
        return library

    def environment(self, plugin):
        variables = {"PATH": f"/usr/lib/llvm-{self.version}/bin:" + os.environ["PATH"]}
        if plugin == "stock-classic":
            variables["LIBOMPTARGET_NEXTGEN_PLUGINS"] = "false"
        for name, value in os.environ.items():
            if name.startswith("GFXSIM_"):
                variables[name] = value
        return variables

    def probe(self, plugin):
        """Makes sure that programs run on the device, with the plugin that they are to run with."""
        os.makedirs(self.folder, exist_ok=True)
        program = os.path.join(self.folder, "probe")
        environment = dict(os.environ, **self.environment(plugin), OMP_TARGET_OFFLOAD="mandatory")
        new = "-fopenmp-target-new-runtime" if self.target.endswith("-newRTL") else ""
        command("sh", "-c", f"{self.compiler('clang')} -fopenmp -fopenmp-targets=amdgcn-amd-amdhsa {self.flags()} "
                f"{new} -I {self.headers} -L {self.lib} -Wl,-rpath,{self.lib} {OWN}/probe.c -o {program}", env=environment)
        said = command(*self.runner(plugin), program, env=environment)
        mapped = {os.path.realpath(path) for path in re.findall(r"^mapped: (.*)$", said, re.M)}
        missing = self.expected(plugin) - mapped
        if "runs on: device" not in said or missing or len(mapped) != len(self.expected(plugin)):
            sys.stderr.write(said)
            fail(f"LLVM {self.version}: this is not {plugin} on gfxsim")

    def expected(self, plugin):
        """The files of libomptarget, its plugin and the thunk that a program is to have."""
        build = os.path.dirname(os.path.dirname(os.path.realpath(self.options.runner)))
        nextgen = ".nextgen" if (self.version, plugin) == (16, "stock") else ""
        files = [os.path.join(build, "lib/gfxsim/libhsakmt.so.1"),
                 os.path.join(self.options.library if plugin == "runtime" else self.lib, "libomptarget.so")]
        if plugin == "ours":
            files.append(os.path.join(build, "src/libomptarget.rtl.amdgpu.so"))
        elif plugin != "runtime" and self.version < 19:
            files.append(os.path.join(self.lib, f"libomptarget.rtl.amdgpu{nextgen}.so"))
        return {os.path.realpath(path) for path in files}

    def run(self, plugin):
        """Runs all tests with one plugin, folder by folder; returns {test: word}."""
        self.probe(plugin)
        # All plugins use the same folder, so that the compiler's command lines are the same too.
        work = os.path.join(self.folder, "work")
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        late = os.path.join(self.folder, "late")
        open(late, "w", encoding="utf-8").close()
        with open(os.path.join(work, "lit.site.cfg"), "w", encoding="utf-8") as config:
            config.write(SITE_CONFIG.format(settings=self.settings(plugin, work, late)))
        partial = os.path.join(self.folder, plugin + ".partial")
        folders = read_json(partial) if self.options.resume and os.path.exists(partial) else {}
        for folder in self.test_folders():
            if folder not in folders:
                folders[folder] = self.run_folder(folder, work, late, plugin)
                write_json(partial, folders)
        os.unlink(partial)
        return {test: word for tests in folders.values() for test, word in tests.items()}

    def settings(self, plugin, work, late):
        return {
            "name": f"libomptarget {self.version} {plugin}",
            "suite": os.path.join(self.tests, "lit.cfg"),
            "initialize": self.version == 17,  # whose suite alone uses lit's part for LLVM
            "run": " ".join([f"{OWN}/time_limit.sh", late, str(self.options.timeout)] + self.runner(plugin)),
            "environment": self.environment(plugin),
            "config": {
                "test_c_compiler": self.compiler("clang"), "test_cxx_compiler": self.compiler("clang++"),
                "test_compiler_features": ["clang", f"clang-{self.version}"], "test_openmp_flags": "-fopenmp -pthread",
                "test_extra_flags": self.flags(), "cuda_path": "", "cuda_libdir": "", "cuda_test_arch": "",
                "libomptarget_obj_root": work, "library_dir": self.lib, "omp_header_directory": self.headers,
                "omp_host_rtl_directory": self.lib, "llvm_lib_directory": self.lib, "operating_system": "Linux",
                "libomptarget_all_targets": OTHER_TARGETS + sorted({"amdgcn-amd-amdhsa", self.target}),
                "libomptarget_current_target": self.target,
                "libomptarget_filecheck": f"{self.tools}/bin/FileCheck", "libomptarget_not": f"{self.tools}/bin/not",
                "libomptarget_debug": False,
                # Of 17 and later.
                "bin_llvm_tools_dir": f"{self.tools}/bin", "test_fortran_compiler": "", "amdgpu_test_arch": self.gfx,
                "llvm_library_dir": self.lib, "llvm_library_intdir": self.lib,
                "has_libomptarget_ompt": self.version in OMPT, "libomptarget_has_libc": False,
                "libomptarget_test_pgo": False, "offload_device_info": "false", "offload_tblgen": "false",
                "llvm_enabled_projects": [],  # 17 looks for flang there
            },
        }

    def test_folders(self):
        """Those that lit looks into, and that are about libomptarget: not liboffload's own tools. With a filter, all at once."""
        if self.options.filter:
            return [""]
        return sorted(name for name in os.listdir(self.tests)
                      if os.path.isdir(os.path.join(self.tests, name)) and name not in ("Inputs", "tools", "unit"))

    def run_folder(self, folder, work, late, plugin):
        report = os.path.join(self.folder, plugin + ".json")
        lit = [sys.executable, self.lit, "-s", f"-j{self.options.jobs}", "-o", report]
        if self.version >= 20:  # CUDA through libomptarget: compiled for the card that is in the machine
            lit += ["--filter-out", r"\.cu$"]
        if self.options.filter:
            lit += ["--filter", self.options.filter, "--allow-empty-runs"]
        subprocess.run(lit + [os.path.join(work, folder)], stdout=subprocess.DEVNULL if self.options.quiet else None,
                       check=False)
        if self.options.filter and not os.path.exists(report):
            return {}
        return self.read(report, late, plugin)

    def read(self, report, late, plugin):
        try:
            with open(report, encoding="utf-8") as file:
                tests = json.load(file)["tests"]
            os.unlink(report)
        except OSError:
            fail(f"lit wrote no report for LLVM {self.version} {plugin}")
        with open(late, encoding="utf-8") as file:
            slow = file.read()
        results = {}
        for test in tests:
            name = test["name"].split(" :: ", 1)[1]
            word = WORDS[test["code"]]
            if f"/work/{os.path.dirname(name)}/Output/{os.path.basename(name)}.tmp" in slow:
                word = "late"
            log = os.path.join(self.folder, "log", plugin, name + ".log")
            os.makedirs(os.path.dirname(log), exist_ok=True)
            with open(log, "w", encoding="utf-8") as file:
                file.write(test["output"])
            results[name] = word
        return results


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def write_json(path, value):
    """A run may be interrupted at any time: the old file or the new one is there."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(value, file)
    os.rename(path + ".new", path)


ExceptionRow = collections.namedtuple("ExceptionRow", "versions sometimes plugins tests why")


def read_exceptions():
    """Lines of `versions [sometimes] | plugins | tests | why`, tests as patterns of the shell; # begins a comment."""
    rows = []
    with open(EXCEPTIONS, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            fields = [field.strip() for field in line.split("|", 3)]
            versions = fields[0].split()
            sometimes = "sometimes" in versions
            versions = [word for word in versions if word != "sometimes"]
            if len(fields) != 4 or not all(fields) or not all(word.isdigit() for word in versions):
                fail(f"{EXCEPTIONS}:{number}: not `versions [sometimes] | plugins | tests | why`")
            rows.append(ExceptionRow(tuple(int(word) for word in versions), sometimes, tuple(fields[1].split()),
                                     tuple(fields[2].split()), fields[3]))
    return rows


def explanation(exceptions, version, plugin, test):
    for row in exceptions:
        if version in row.versions and plugin in row.plugins and any(fnmatch.fnmatch(test, p) for p in row.tests):
            return row
    return None


def judge(results, exceptions):
    """Returns the complaints, one line each."""
    complaints = []
    used = set()
    for (version, plugin), tests in sorted(results.items()):
        for test, word in sorted(tests.items()):
            row = explanation(exceptions, version, plugin, test)
            used.add(row)
            if word in GOOD:
                if row and not row.sometimes and word in ("pass", "xpass"):
                    complaints.append(f"{version} {plugin}: {test}: {word}, but test/llvm/llvm_exceptions.txt says it cannot")
                continue
            if row:
                continue
            complaints.append(f"{version} {plugin}: {test}: {word}")
            if plugin in JUDGED:
                better = [p for p in PLUGINS[version] if p != plugin and not explanation(exceptions, version, p, test) and
                          results.get((version, p), {}).get(test) in ("pass", "xpass")]
                if better:
                    complaints.append(f"{version} {plugin}: {test}: {word}, and {better[0]} passes")
    return complaints


def unused(results, exceptions):
    """Rows of the exceptions that name no test of the versions that ran."""
    return ["test/llvm/llvm_exceptions.txt: no such test: " + " ".join(row.tests) for row in exceptions
            if any((v, p) in results for v in row.versions for p in row.plugins) and
            not any(explanation([row], v, p, test) for (v, p), tests in results.items() for test in tests)]


def title_of(version, plugin):
    """How the table calls a column."""
    if (version, plugin) == (16, "stock"):
        return "16 nextgen"
    return f"{version} {plugin.removeprefix('stock-')}"


def read_table():
    """The results in the table as it is: {(version, plugin): {test: word}}."""
    columns = {title_of(v, p): (v, p) for v, plugins in PLUGINS.items() for p in plugins}
    results = collections.defaultdict(dict)
    titles = []
    with open(TABLE, encoding="utf-8") as file:
        for cells in ([cell.strip() for cell in line.split("|")[1:-1]] for line in file if line.startswith("| ")):
            if cells[0] == "test":
                titles = cells[1:]
            for title, cell in zip(titles, cells[1:]) if titles and cells[0] != "test" else []:
                if cell and title in columns:
                    results[columns[title]][cells[0]] = cell.split(" [")[0]
    return results


def write_table(results, exceptions, options):
    """doc/generated/llvm-tests.md"""
    columns = [(v, p) for v in sorted(PLUGINS) for p in PLUGINS[v] if (v, p) in results]
    head = [title_of(v, p) for v, p in columns]
    lines = [
        "# LLVM's own tests", "",
        "Written by `script/llvm-tests --write`; do not edit. LLVM's libomptarget tests at the version of each",
        f"libomptarget, compiled for {PROCESSORS_IN_WORDS} and run on gfxsim with LLVM's plugins (`stock`; 16 has two) and",
        "with this project's (`ours`), and with this project's libomptarget in place of LLVM's (`runtime`). From 19 on",
        "libomptarget has its plugin inside. Tests in Fortran are `n/a`; those of CUDA and of liboffload's own interface are",
        "left out.", "",
        "- What the tests require, exclude, or expect to fail on this target is honoured: `xfail` failed as LLVM",
        "  expects, `xpass` passed although LLVM expects a failure, `n/a` does not apply (needs a debug build, unified",
        "  shared memory, another target). An empty cell: not a test of this version.",
        f"- `FAIL`, and `late` for a run that took more than {options.timeout} s, have a number in brackets that leads",
        "  to the reason. Where a test fails at times only, the number is there in either case.",
        "- With LLVM 15's own plugin, every program crashes at exit on Debian 12: it unregisters its images after the",
        "  plugin's destructor has run, and the plugin looks for its agents in a vector that was freed (in a debugger:",
        "  `hsa_agent_iterate_isas` is called with a mangled free-list pointer as agent). For this plugin alone,",
        "  `__tgt_unregister_lib` is replaced by an empty function, so that the tests themselves can be judged.", "",
        "| | " + " | ".join(head) + " |", "|---|" + "---|" * len(columns),
    ]
    for word in ["pass", "xpass", "xfail", "n/a", "FAIL", "late", "broken"]:
        counts = [sum(1 for w in results[c].values() if w == word) for c in columns]
        if any(counts):
            lines.append(f"| {word} | " + " | ".join(str(n) for n in counts) + " |")
    notes = []
    body = []
    for test in sorted({test for tests in results.values() for test in tests}):
        cells = []
        for version, plugin in columns:
            word = results[version, plugin].get(test, "")
            row = explanation(exceptions, version, plugin, test)
            if row and word and (word not in GOOD or row.sometimes):
                if row not in notes:
                    notes.append(row)
                word += f" [{notes.index(row) + 1}]"
            cells.append(word)
        body.append(f"| {test} | " + " | ".join(cells) + " |")
    if notes:
        lines += ["", "## Why some fail", ""]
        lines += [f"{number}. {row.why}" for number, row in enumerate(notes, 1)]
    lines += ["", "## All tests", "", "| test | " + " | ".join(head) + " |", "|---|" + "---|" * len(columns)] + body
    with open(TABLE, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def add_last_runs(results, options):
    """Adds what ran before: on this machine, or else for the table as it is."""
    table = read_table()
    for version, plugins in PLUGINS.items():
        for plugin in plugins:
            path = os.path.join(options.folder, str(version), plugin + ".results")
            if (version, plugin) in results:
                continue
            if os.path.exists(path):
                results[version, plugin] = read_json(path)
            elif (version, plugin) in table:
                results[version, plugin] = table[version, plugin]
            else:
                print(f"llvm-tests: LLVM {version} {plugin} was never run, and is not in the table")


def parse():
    parser = argparse.ArgumentParser(prog="script/llvm-tests", description=USAGE,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--versions", default=",".join(str(version) for version in PLUGINS), help="versions of libomptarget (default: %(default)s)")
    parser.add_argument("--plugins", default="stock,stock-classic,ours,runtime",
                        help="stock-classic is 16's older plugin (default: %(default)s)")
    parser.add_argument("--library", metavar="DIR",
                        help="where the libomptarget.so is that runs as `runtime` (default: does not run)")
    parser.add_argument("--resume", action="store_true", help="go on where the last run of a version was interrupted")
    parser.add_argument("--filter", metavar="REGEX", help="only tests whose name matches")
    parser.add_argument("--gfx", help=f"processor to compile for and to simulate (default: {PROCESSORS_IN_WORDS})")
    parser.add_argument("--timeout", type=int, default=60, metavar="SECONDS",
                        help="for each run of a program (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="tests at a time (default: %(default)s)")
    parser.add_argument("--folder", default=os.path.join(ROOT, "build/llvm-tests"), help="default: build/llvm-tests")
    parser.add_argument("--runner", metavar="FILE",
                        help="gfxsim-run of a build that is ready (default: makes the release build)")
    parser.add_argument("--write", action="store_true",
                        help="write doc/generated/llvm-tests.md; versions and plugins left out are taken from the last runs")
    parser.add_argument("--report", action="store_true", help="run nothing: judge and write what the last runs left")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)  # called by itself in a tree
    parser.add_argument("--quiet", action="store_true", help="no output of lit")
    options = parser.parse_args()
    options.versions = [int(v) for v in options.versions.split(",") if v.isdigit()]
    options.plugins = options.plugins.split(",")
    if not set(options.versions) <= set(PLUGINS) or not options.versions:
        parser.error("--versions wants some of " + parser.get_default("versions"))
    if not set(options.plugins) <= {"stock", "stock-classic", "ours", "runtime"}:
        parser.error("--plugins wants some of stock,stock-classic,ours,runtime")
    if not options.library:
        options.plugins = [plugin for plugin in options.plugins if plugin != "runtime"]
    elif not os.path.exists(os.path.join(options.library, "libomptarget.so")):
        parser.error(f"--library: no libomptarget.so in {options.library}")
    options.library = options.library and os.path.abspath(options.library)
    options.wanted = [(v, p) for v in options.versions for p in PLUGINS[v] if p in options.plugins]
    if options.report and options.library:
        parser.error("--report runs nothing with a --library")
    if options.write and (options.filter or options.gfx):
        parser.error("--write is for all tests, and for the default processors")
    options.folder = os.path.abspath(options.folder)
    options.runner = options.runner and os.path.abspath(options.runner)
    return options


def run_here(version, options):
    """{plugin: {test: word}}, with files of them for a caller outside and for --write."""
    suite = Suite(version, options)
    results = {}
    for plugin in [p for v, p in options.wanted if v == version]:
        results[plugin] = suite.run(plugin)
        write_json(os.path.join(suite.folder, plugin + ".last"), results[plugin])
        if not options.filter and not options.gfx:
            write_json(os.path.join(suite.folder, plugin + ".results"), results[plugin])
        counts = collections.Counter(results[plugin].values())
        print(f"llvm-tests: {version} {plugin}: " + ", ".join(f"{n} {w}" for w, n in sorted(counts.items())), flush=True)
    return results


def run_elsewhere(version, options):
    """The same in the tree where this version's compiler runs."""
    toolchain = [os.path.join(ROOT, "script/toolchain"), str(version)]
    command(os.path.join(ROOT, "script/llvm-source"), str(version))
    Suite.tools_of(argparse.Namespace(options=options), LAST_LIT)
    words = [f"--{name}={value}" for name, value in [
        ("versions", version), ("plugins", ",".join(options.plugins)), ("library", options.library), ("filter", options.filter),
        ("gfx", options.gfx), ("timeout", options.timeout), ("jobs", options.jobs), ("folder", options.folder),
        ("runner", options.runner)] if value] + [f"--{name}" for name in ("resume", "quiet") if getattr(options, name)]
    done = subprocess.run(toolchain + ["python3", os.path.join(OWN, "llvm_tests.py"), "--inside"] + words, check=False)
    if done.returncode != 0:
        fail(f"the tests of LLVM {version} could not be run in its tree")
    return {plugin: read_json(os.path.join(options.folder, str(version), plugin + ".last"))
            for v, plugin in options.wanted if v == version}


def main():
    options = parse()
    os.environ.setdefault("IS_APU", "0")  # asked by LLVM's tests of gfx942: it is MI300X
    if not options.runner and not options.report:
        options.runner = os.path.join(ROOT, "build/release/bin/gfxsim-run")
        command(os.path.join(ROOT, "script/bootstrap"))
        command("cmake", "--preset", "release", cwd=ROOT)
        command("cmake", "--build", "--preset", "release", "--target", "gfxsim-run", cwd=ROOT)
    if options.inside:
        for version in options.versions:
            run_here(version, options)
        return 0
    exceptions = read_exceptions()
    results = {}
    for version in [] if options.report else options.versions:
        command(os.path.join(ROOT, "script/toolchain"), str(version))
        run = run_elsewhere if version in ELSEWHERE else run_here
        results.update({(version, plugin): tests for plugin, tests in run(version, options).items()})
    if options.write or options.report:
        add_last_runs(results, options)
    complaints = judge(results, exceptions) + ([] if options.filter else unused(results, exceptions))
    if options.write:
        write_table(results, exceptions, options)
    for line in complaints:
        print(line)
    print(f"llvm-tests: {len(complaints)} unexplained; the output of all tests is in {options.folder}/N/log")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
