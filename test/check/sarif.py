#!/usr/bin/env python3
"""Whether SARIF files are as version 2.1.0 of the standard wants them, as far as gfxsim writes it: the table below was
written from the standard's sections 3.13 to 3.52. $SARIF_SCHEMA may name the published schema; with python's jsonschema the
files are compared with that, too. Called: sarif.py FILE..."""
import copy
import json
import os
import re
import sys

# Of each object its properties: whether they must be there, and what they are: a type, a set of values, another object, or
# [such] for an array. Nothing else may be there.
TABLE = {
    "sarifLog": {"$schema": (False, "uri"), "version": (True, {"2.1.0"}), "runs": (True, ["run"])},
    "run": {"tool": (True, "tool"), "columnKind": (False, {"utf16CodeUnits", "unicodeCodePoints"}), "results": (False, ["result"])},
    "tool": {"driver": (True, "toolComponent")},
    "toolComponent": {"name": (True, str), "rules": (False, ["reportingDescriptor"])},
    "reportingDescriptor": {"id": (True, str), "shortDescription": (False, "multiformatMessageString")},
    "multiformatMessageString": {"text": (True, str)},
    "result": {
        "ruleId": (False, str), "ruleIndex": (False, "index"), "level": (False, {"none", "note", "warning", "error"}),
        "occurrenceCount": (False, "count"), "message": (True, "message"), "locations": (False, ["location"]),
        "relatedLocations": (False, ["location"]), "partialFingerprints": (False, "strings"),
        "suppressions": (False, ["suppression"])},
    "message": {"text": (True, str)},
    "location": {"physicalLocation": (False, "physicalLocation"), "logicalLocations": (False, ["logicalLocation"]),
                 "message": (False, "message")},
    "physicalLocation": {"artifactLocation": (True, "artifactLocation"), "region": (False, "region")},
    "artifactLocation": {"uri": (True, "uri")},
    "region": {"startLine": (True, "count")},
    "logicalLocation": {"kind": (False, str), "fullyQualifiedName": (False, str)},
    "suppression": {"kind": (True, {"inSource", "external"}), "justification": (False, str)},
}
URI = re.compile(r"([a-z][a-z0-9+.-]*:)?[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]*\Z")


def wrong(what, value, kind):
    """Yields what is wrong with a value."""
    if isinstance(kind, list):
        if not isinstance(value, list):
            yield f"{what} is no array"
            return
        for i, item in enumerate(value):
            yield from wrong(f"{what}[{i}]", item, kind[0])
    elif isinstance(kind, set):
        if value not in kind:
            yield f"{what} is {value!r}"
    elif kind is str:
        if not isinstance(value, str) or not value:
            yield f"{what} is no text"
    elif kind == "uri":
        if not isinstance(value, str) or not URI.match(value):
            yield f"{what} is no URI: {value!r}"
    elif kind in ("index", "count"):
        if type(value) is not int or value < (kind == "count"):
            yield f"{what} is {value!r}"
    elif kind == "strings":
        if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
            yield f"{what} has other things than texts"
    else:
        yield from wrong_object(what, value, TABLE[kind])


def wrong_object(what, value, properties):
    if not isinstance(value, dict):
        yield f"{what} is no object"
        return
    for name, (needed, kind) in properties.items():
        if name in value:
            yield from wrong(f"{what}.{name}", value[name], kind)
        elif needed:
            yield f"{what} has no {name}"
    for name in value:
        if name not in properties:
            yield f"{what} has {name}"


def wrong_log(log):
    yield from wrong("log", log, "sarifLog")
    for run in log.get("runs", []):
        rules = run["tool"]["driver"].get("rules", [])
        ids = [rule["id"] for rule in rules]
        if len(set(ids)) != len(ids):
            yield "two rules have one id"
        for result in run.get("results", []):
            if "ruleIndex" in result and ids[result["ruleIndex"]] != result.get("ruleId"):
                yield f"rule {result['ruleIndex']} is not {result.get('ruleId')}"


def parts(value, path=()):
    """All objects in it, by their paths."""
    if isinstance(value, dict):
        yield path
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from parts(item, path + (key,))


def notices_changes(log):
    """Whether an unknown property is noticed in each object: a table that lets everything pass tells nothing."""
    for path in parts(log):
        changed = copy.deepcopy(log)
        at = changed
        for key in path:
            at = at[key]
        at["nonsense"] = 1
        if not list(wrong("log", changed, "sarifLog")):
            return False
    return True


def main():
    found = []
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as file:
            log = json.load(file)
        found += [f"{name}: {text}" for text in wrong_log(log)]
        if not notices_changes(log):
            found.append(f"{name}: an unknown property was not noticed")
        if os.environ.get("SARIF_SCHEMA"):
            import jsonschema
            with open(os.environ["SARIF_SCHEMA"], encoding="utf-8") as file:
                schema = json.load(file)
            validator = jsonschema.validators.validator_for(schema)(schema, format_checker=jsonschema.FormatChecker())
            found += [f"{name}: {error.message}" for error in validator.iter_errors(log)]
    for text in found:
        print(f"sarif: {text}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
