"""Runs LLVM's own libomptarget tests on gfxsim, with LLVM's plugins and with ours; started by script/llvm-tests.

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
EXCEPTIONS = os.path.join(OWN, "exceptions")
BITCODE = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"

USAGE = """\
Downloads the sources of libomptarget's tests (Debian's source packages, with apt-get) and LLVM's test tools, compiles
every test for the GPU as its RUN lines say, and runs it on gfxsim with each plugin, under LLVM's test runner lit.
Prints what failed; fails when a test failed that test/llvm/exceptions does not explain, when one passed that
cannot according to it, and when our plugin fails a test that the stock plugin passes. Needs network and half an hour.

Everything is kept below build/llvm-tests: a second run compiles nothing. The system is not changed.
OMPTARGET_AMDGPU_LLVM_SOURCES=DIR takes the tests from DIR/N/openmp/libomptarget/test instead of downloading them,
OMPTARGET_AMDGPU_LLVM_DIR=DIR the OpenMP runtimes from DIR/N, as script/llvm unpacks them."""

# Columns of the table. `stock` is the plugin that this version of libomptarget uses unless told otherwise.
PLUGINS = {
    13: ["stock", "ours"],
    14: ["stock", "ours"],
    15: ["stock", "ours"],
    16: ["stock", "stock-classic", "ours"],
}
# What the tests of a version call the target; 14 has two device runtimes, Debian ships the one called new.
TARGETS = {13: "amdgcn-amd-amdhsa", 14: "amdgcn-amd-amdhsa-newRTL", 15: "amdgcn-amd-amdhsa", 16: "amdgcn-amd-amdhsa"}
# The processor to compile for and to simulate: 13's device runtime knows no gfx90a.
PROCESSORS = {13: "gfx908", 14: "gfx90a", 15: "gfx90a", 16: "gfx90a"}
OTHER_TARGETS = [
    "aarch64-unknown-linux-gnu", "powerpc64le-ibm-linux-gnu", "powerpc64-ibm-linux-gnu", "x86_64-pc-linux-gnu",
    "nvptx64-nvidia-cuda",
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
settings = {settings!r}
for name, value in settings["config"].items():
    setattr(config, name, value)
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


def download_tools(version, scratch):
    """FileCheck, not and lit of LLVM N. Unpacked, not installed: nothing else needs them."""
    command("apt-get", "-qq", "-o", SANDBOX, "download", f"llvm-{version}-tools", cwd=scratch)
    for package in os.listdir(scratch):
        if package.endswith(".deb"):
            command("dpkg", "-x", package, "tree", cwd=scratch)


def download_tests(version, scratch):
    """The tests out of Debian's source package, from the mirror that apt uses, with package lists of our own."""
    mirror = command("apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Origin: Debian",
                     "Label: Debian", "Codename: bookworm").split("\n")[0]
    if not mirror:
        fail("apt knows no Debian 12 mirror on this machine (apt-get update?)")
    with open(os.path.join(scratch, "sources.list"), "w", encoding="utf-8") as sources:
        sources.write(f"deb-src {mirror} bookworm main\n")
    os.makedirs(os.path.join(scratch, "lists/partial"))
    apt = ["apt-get", "-qq", "-o", SANDBOX, "-o", f"Dir::Etc::SourceList={scratch}/sources.list",
           "-o", "Dir::Etc::SourceParts=/dev/null", "-o", f"Dir::State::Lists={scratch}/lists",
           "-o", f"Dir::Cache::srcpkgcache={scratch}/sources.bin", "-o", f"Dir::Cache::pkgcache={scratch}/packages.bin"]
    command(*apt, "update", cwd=scratch)
    command(*apt, "source", "--download-only", f"llvm-toolchain-{version}", cwd=scratch)
    tar = [name for name in os.listdir(scratch) if ".orig.tar." in name]
    if len(tar) != 1:
        fail(f"the source package llvm-toolchain-{version} has {len(tar)} archives where one was expected")
    command("tar", "-xf", tar[0], "-C", "tree", "--strip-components=1", "--wildcards",
            "*/openmp/libomptarget/test/*", cwd=scratch)


class Suite:
    """The tests of one version of libomptarget, and what is needed to compile and run them."""

    def __init__(self, version, options):
        self.version = version
        self.options = options
        self.target = TARGETS[version]
        self.gfx = options.gfx or PROCESSORS[version]
        self.folder = os.path.join(options.folder, str(version))
        self.tools = unpack_into(os.path.join(options.folder, "tools", str(version)),
                                 lambda scratch: download_tools(version, scratch))
        self.tools = os.path.join(self.tools, f"usr/lib/llvm-{version}")
        own = os.environ.get("OMPTARGET_AMDGPU_LLVM_SOURCES")
        sources = os.path.join(own, str(version)) if own else unpack_into(
            os.path.join(options.folder, "src", str(version)), lambda scratch: download_tests(version, scratch))
        self.tests = os.path.join(sources, "openmp/libomptarget/test")
        if not os.path.exists(os.path.join(self.tests, "lit.cfg")):
            fail(f"no tests of LLVM {version} in {self.tests}")
        command(os.path.join(ROOT, "script/llvm"), str(version))
        runtimes = os.environ.get("OMPTARGET_AMDGPU_LLVM_DIR") or os.path.join(ROOT, "build/llvm")
        self.lib = os.path.join(runtimes, str(version), f"usr/lib/llvm-{version}/lib")
        headers = [path for path, _, files in os.walk(os.path.join(self.lib, "clang")) if "omp.h" in files]
        if not headers:
            fail(f"no omp.h below {self.lib}")
        self.headers = headers[0]

    def flags(self):
        runtime = {13: f"--libomptarget-amdgcn-bc-path={self.lib}/libomptarget-amdgcn-{self.gfx}.bc",
                   14: f"--libomptarget-amdgcn-bc-path={self.lib}"}
        tools = [f"-B{ROOT}/script/clang-13"] if self.version == 13 else []  # see there
        return " ".join(tools + ["-Xopenmp-target=amdgcn-amd-amdhsa", "-march=" + self.gfx,
                                 runtime.get(self.version, f"--libomptarget-amdgpu-bc-path={self.lib}"),
                                 "--rocm-device-lib-path=" + BITCODE, "-Wno-unused-command-line-argument"])

    def compiler(self, name):
        return f"{OWN}/compile {self.folder}/compiled {name}-{self.version}"

    def runner(self, plugin):
        """The words before a program that run it with a plugin."""
        which = "ours" if plugin == "ours" else self.lib
        words = [self.options.runner, f"--devices={self.gfx}", f"--plugin={which}", "--"]
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
        name = "libomptarget.rtl.amdgpu" + (".nextgen" if (self.version, plugin) == (16, "stock") else "") + ".so"
        stock = os.path.realpath(os.path.join(self.lib, name))
        rest = {path for path in mapped if "libhsakmt" not in path}
        build = os.path.dirname(os.path.dirname(os.path.realpath(self.options.runner)))
        if "runs on: device" not in said or len(mapped) != 2 or len(rest) != 1 or \
                not all(path.startswith(build) for path in mapped - rest) or \
                (plugin == "ours" and not all(path.startswith(build) for path in rest)) or \
                (plugin != "ours" and rest != {stock}):
            sys.stderr.write(said)
            fail(f"LLVM {self.version}: this is not the plugin {plugin} on gfxsim")

    def run(self, plugin):
        """Runs all tests with one plugin; returns {test: (word, seconds, log)}."""
        self.probe(plugin)
        # All plugins use the same folder, so that the compiler's command lines are the same too.
        work = os.path.join(self.folder, "work")
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        late = os.path.join(self.folder, "late")
        open(late, "w", encoding="utf-8").close()
        features = ["clang", f"clang-{self.version}"]
        settings = {
            "name": f"libomptarget {self.version} {plugin}",
            "suite": os.path.join(self.tests, "lit.cfg"),
            "run": " ".join([f"{OWN}/run", late, str(self.options.timeout)] + self.runner(plugin)),
            "environment": self.environment(plugin),
            "config": {
                "test_c_compiler": self.compiler("clang"), "test_cxx_compiler": self.compiler("clang++"),
                "test_compiler_features": features, "test_openmp_flags": "-fopenmp -pthread",
                "test_extra_flags": self.flags(), "cuda_path": "", "cuda_libdir": "", "cuda_test_arch": "",
                "libomptarget_obj_root": work, "library_dir": self.lib, "omp_header_directory": self.headers,
                "omp_host_rtl_directory": self.lib, "llvm_lib_directory": self.lib, "operating_system": "Linux",
                "libomptarget_all_targets": OTHER_TARGETS + sorted({"amdgcn-amd-amdhsa", self.target}),
                "libomptarget_current_target": self.target,
                "libomptarget_filecheck": f"{self.tools}/bin/FileCheck", "libomptarget_not": f"{self.tools}/bin/not",
                "libomptarget_debug": False,
            },
        }
        with open(os.path.join(work, "lit.site.cfg"), "w", encoding="utf-8") as config:
            config.write(SITE_CONFIG.format(settings=settings))
        report = os.path.join(self.folder, plugin + ".json")
        lit = [sys.executable, f"{self.tools}/build/utils/lit/lit.py", "-s", f"-j{self.options.jobs}", "-o", report]
        if self.options.filter:
            lit += ["--filter", self.options.filter]
        subprocess.run(lit + [work], stdout=subprocess.DEVNULL if self.options.quiet else None, check=False)
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
                    complaints.append(f"{version} {plugin}: {test}: {word}, but test/llvm/exceptions says it cannot")
                continue
            if not row:
                complaints.append(f"{version} {plugin}: {test}: {word}")
            if plugin == "ours":
                better = [p for p in PLUGINS[version] if not explanation(exceptions, version, p, test) and
                          results.get((version, p), {}).get(test) in ("pass", "xpass")]
                if better:
                    complaints.append(f"{version} ours: {test}: {word}, and {better[0]} passes")
    return complaints


def unused(results, exceptions):
    """Rows of the exceptions that name no test of the versions that ran."""
    return ["test/llvm/exceptions: no such test: " + " ".join(row.tests) for row in exceptions
            if any((v, p) in results for v in row.versions for p in row.plugins) and
            not any(explanation([row], v, p, test) for (v, p), tests in results.items() for test in tests)]


def write_table(results, exceptions, options):
    """doc/llvm-tests.md"""
    columns = [(v, p) for v in sorted(PLUGINS) for p in PLUGINS[v] if (v, p) in results]
    titles = {"stock": "stock", "stock-classic": "classic", "ours": "ours"}
    head = [f"{v} nextgen" if (v, p) == (16, "stock") else f"{v} {titles[p]}" for v, p in columns]
    lines = [
        "# LLVM's own tests", "",
        "Written by `script/llvm-tests --write`; do not edit. LLVM's libomptarget tests at the version of each",
        "libomptarget, compiled for gfx90a (13: gfx908) and run on gfxsim with LLVM's plugins (`stock`; 16 has two) and",
        "with this project's (`ours`).", "",
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
    with open(os.path.join(ROOT, "doc/llvm-tests.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def add_last_runs(results, options):
    for version, plugins in PLUGINS.items():
        for plugin in plugins:
            path = os.path.join(options.folder, str(version), plugin + ".results")
            if (version, plugin) in results:
                continue
            if not os.path.exists(path):
                fail(f"--write: LLVM {version} {plugin} was never run")
            with open(path, encoding="utf-8") as file:
                results[version, plugin] = json.load(file)


def parse():
    parser = argparse.ArgumentParser(prog="script/llvm-tests", description=USAGE,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--versions", default="13,14,15,16", help="versions of libomptarget (default: %(default)s)")
    parser.add_argument("--plugins", default="stock,stock-classic,ours",
                        help="stock-classic is 16's older plugin (default: %(default)s)")
    parser.add_argument("--filter", metavar="REGEX", help="only tests whose name matches")
    parser.add_argument("--gfx", help="processor to compile for and to simulate (default: gfx90a, for 13 gfx908)")
    parser.add_argument("--timeout", type=int, default=60, metavar="SECONDS",
                        help="for each run of a program (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="tests at a time (default: %(default)s)")
    parser.add_argument("--folder", default=os.path.join(ROOT, "build/llvm-tests"), help="default: build/llvm-tests")
    parser.add_argument("--runner", metavar="FILE",
                        help="gfxsim-run of a build that is ready (default: makes the release build)")
    parser.add_argument("--write", action="store_true",
                        help="write doc/llvm-tests.md; versions and plugins left out are taken from the last runs")
    parser.add_argument("--quiet", action="store_true", help="no output of lit")
    options = parser.parse_args()
    options.versions = [int(v) for v in options.versions.split(",") if v.isdigit()]
    options.plugins = options.plugins.split(",")
    if not set(options.versions) <= set(PLUGINS) or not options.versions:
        parser.error("--versions wants some of 13,14,15,16")
    if not set(options.plugins) <= {"stock", "stock-classic", "ours"}:
        parser.error("--plugins wants some of stock,stock-classic,ours")
    options.wanted = [(v, p) for v in options.versions for p in PLUGINS[v] if p in options.plugins]
    if options.write and (options.filter or options.gfx):
        parser.error("--write is for all tests, and for the default processors")
    options.folder = os.path.abspath(options.folder)
    options.runner = options.runner and os.path.abspath(options.runner)
    return options


def main():
    options = parse()
    if not options.runner:
        options.runner = os.path.join(ROOT, "build/release/bin/gfxsim-run")
        command(os.path.join(ROOT, "script/bootstrap"), *[str(v) for v in options.versions])
        command("cmake", "--preset", "release", cwd=ROOT)
        command("cmake", "--build", "--preset", "release", "--target", "hsakmt", "omptarget.rtl.amdgpu", cwd=ROOT)
    exceptions = read_exceptions()
    results = {}
    for version in options.versions:
        suite = Suite(version, options)
        for plugin in [p for v, p in options.wanted if v == version]:
            results[version, plugin] = suite.run(plugin)
            if not options.filter and not options.gfx:
                with open(os.path.join(suite.folder, plugin + ".results"), "w", encoding="utf-8") as file:
                    json.dump(results[version, plugin], file)
            counts = collections.Counter(results[version, plugin].values())
            print(f"llvm-tests: {version} {plugin}: " + ", ".join(f"{n} {w}" for w, n in sorted(counts.items())),
                  flush=True)
    if options.write:
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
