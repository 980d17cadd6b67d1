#!/usr/bin/env python3
"""Writes what a program is made of, as CycloneDX 1.5 (https://cyclonedx.org/docs/1.5/json/).

    .ci/sbom.py PROGRAM FILE

The Swift packages are those of Package.resolved, with the licences of their checkouts; the C libraries are those that
the program links or loads, from the Debian packages of this machine. The same program gives the same file.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import uuid

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Loaded when they are needed: see CLibMicroHTTPD and CLibCurl.
LOADED = ["libmicrohttpd.so.12", "libcurl.so.4"]
SWIFT_LICENCE = "Apache-2.0 WITH Swift-exception"


def output(*command):
    environment = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(command, capture_output=True, text=True, env=environment).stdout


def licences(text):
    """Of a Swift package: all that there are have one of these two."""
    if "Apache License" not in text:
        return []
    return [{"expression": SWIFT_LICENCE if "Runtime Library Exception" in text else "Apache-2.0"}]


def component(kind, name, version, purl, licence, **more):
    found = {"type": kind, "bom-ref": purl, "name": name, "version": version, "purl": purl}
    if licence:
        found["licenses"] = licence
    return {**found, **more}


def swift_packages(program):
    checkouts = next((path / "checkouts" for path in program.parents if (path / "checkouts").is_dir()), None)
    for pin in json.loads((ROOT / "Package.resolved").read_text())["pins"]:
        place = pin["location"].removesuffix(".git")
        text = ""
        for file in sorted((checkouts / place.split("/")[-1]).glob("LICENSE*")) if checkouts else []:
            text += file.read_text()
        version = pin["state"].get("version") or pin["state"]["revision"]
        yield component(
            "library", pin["identity"], version, f"pkg:swift/{place.removeprefix('https://')}@{version}",
            licences(text), externalReferences=[{"type": "vcs", "url": pin["location"]}])


def swift():
    version = re.search(r"Swift version ([0-9][0-9.]*)", output("swift", "--version"))
    if version:
        purl = f"pkg:swift/github.com/swiftlang/swift@{version[1]}"
        yield component(
            "framework", "swift", version[1], purl, [{"expression": SWIFT_LICENCE}],
            description="The standard library, Foundation and Dispatch, which are linked into the program.")


def debian_licence(package):
    """The name that the package gives to the licence of most of its files."""
    try:
        text = pathlib.Path(f"/usr/share/doc/{package}/copyright").read_text(errors="replace")
    except OSError:
        return []
    found = re.search(r"^Files:\s*\*\s*\n(?:(?!\n).*\n)*?License:[ \t]*(\S.*)$", text, re.M)
    return [{"license": {"name": found[1].strip()}}] if found else []


def libraries(program):
    """Path of each shared library, and whether the program does without it."""
    for path in re.findall(r"(?:=> |^\s*)(/\S+) \(0x", output("ldd", str(program)), re.M):
        yield path, False
    known = output("/sbin/ldconfig", "-p")
    for name in LOADED:
        path = re.search(rf"^\s*{re.escape(name)} .*=> (/\S+)$", known, re.M)
        if path:
            yield path[1], True


def debian_packages(program):
    release = dict(re.findall(r'^(ID|VERSION_ID)="?([^"\n]*)"?$', pathlib.Path("/etc/os-release").read_text(), re.M))
    distro = "-".join(filter(None, [release.get("ID"), release.get("VERSION_ID")]))
    for path, optional in libraries(program):
        # What is linked by way of /lib64 was installed below /usr/lib, or the other way round.
        paths = {path, os.path.realpath(path)}
        paths |= {each.removeprefix("/usr") for each in paths} | {f"/usr{each}" for each in paths}
        owner = next((found for each in sorted(paths) if (found := output("dpkg-query", "-S", each))), "")
        # Not of Debian: the libraries of a Swift toolchain, which a program that is not released links.
        if ": " not in owner:
            continue
        package = owner.splitlines()[0].split(": ")[0].split(",")[0].split(":")[0]
        fields = output("dpkg-query", "-W", "-f", "${Package}\t${Version}\t${Architecture}\n", package).splitlines()
        name, version, architecture = fields[0].split("\t")
        purl = f"pkg:deb/{release.get('ID', 'debian')}/{name}@{version.replace('+', '%2B')}"
        yield component(
            "library", name, version, f"{purl}?arch={architecture}&distro={distro}", debian_licence(name),
            scope="optional" if optional else "required")


def main():
    program, file = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    source = (ROOT / "Sources/Threadkeeper/Daemon/Version.swift").read_text()
    version = re.search(r'threadkeeperVersion = "(.*)"', source)[1]
    # One package may have several of the libraries. What one of them needs is not optional.
    parts = {}
    for part in [*swift(), *swift_packages(program), *debian_packages(program)]:
        parts.setdefault(part["bom-ref"], part)
    parts = sorted(parts.values(), key=lambda part: part["bom-ref"])
    own = component(
        "application", "threadkeeper", version, f"pkg:generic/threadkeeper@{version}",
        [{"expression": "Apache-2.0"}])
    bom = {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.5",
        "version": 1, "metadata": {"component": own}, "components": parts,
        "dependencies": [{"ref": own["bom-ref"], "dependsOn": [part["bom-ref"] for part in parts]}],
    }
    bom["serialNumber"] = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(bom, sort_keys=True)).urn
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(bom, indent=2, ensure_ascii=False) + "\n")
    print(f"wrote {file}: {len(parts)} parts")


if __name__ == "__main__":
    main()
