"""profile.py FILE SOURCE: whether a profile of `lint none` has its constructs, and its kernels within them."""
import json
import re
import sys

text = open(sys.argv[1]).read()
events = json.loads(text)
events = events["traceEvents"] if isinstance(events, dict) else events
lines = open(sys.argv[2]).read().splitlines()
begin = next(i for i, line in enumerate(lines) if "static void none(" in line)

# The construct of each pragma, in the order of the source; a `target data` begins and ends.
pragmas = [(i + 1, line) for i, line in enumerate(lines[begin:], begin) if "#pragma omp target" in line]
wanted = []
for number, line in pragmas:
    if "target data" in line:
        wanted += [("target enter data", number), ("target exit data", number)]
    elif "target update" in line:
        wanted += [("target update", number)]
    elif "nowait" in line:
        wanted += [("target nowait", number)] * 1
    else:
        wanted += [("target", number)]

spans, kernels = [], []
for event in events:
    if event.get("cat") == "construct":
        name, file, line = re.fullmatch(r"(.*) at (.*):(\d+):\d+", event["name"]).groups()
        assert file == "lint.c", event
        spans.append((name, int(line), event["ts"], event["ts"] + event["dur"]))
    elif event.get("cat") == "kernel" and "ts" in event:
        kernels.append(event["ts"])

failed = False
for entry in wanted:
    if entry not in [span[:2] for span in spans]:
        print("the profile lacks", entry)
        failed = True
for span in spans:
    if span[:2] not in wanted:
        print("the profile has", span)
        failed = True
if len(kernels) != 2:
    print("the profile has", len(kernels), "kernels")
    failed = True
# The second kernel is of a construct that may have been left to its task before the kernel began.
first = next((span for span in spans if span[0] == "target"), None)
if not first or not any(first[2] <= kernel <= first[3] for kernel in kernels):
    print("no kernel within", first, kernels)
    failed = True
sys.exit(failed)
