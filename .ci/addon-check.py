#!/usr/bin/env python3
"""Checks the folder of a Home Assistant add-on against what the Supervisor takes.

    addon-check.py FOLDER

The keys, their kinds and patterns follow https://developers.home-assistant.io/docs/add-ons/configuration. A key that the
Supervisor does not know is a mistake here, because it passes it over without a word.
"""

import pathlib
import re
import sys

import yaml

folder = pathlib.Path(sys.argv[1])
problems = []


def one_of(*values):
    return lambda value: value in values


def match(pattern):
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None


def each(kind):
    return lambda value: isinstance(value, list) and value and all(map(kind, value))


def text(value):
    return isinstance(value, str) and value.strip() == value != ""


def flag(value):
    return isinstance(value, bool)


def whole(least, most):
    return lambda value: isinstance(value, int) and not flag(value) and least <= value <= most


def folder_map(value):
    return (
        isinstance(value, dict)
        and set(value) <= {"type", "read_only", "path"}
        and value.get("type")
        in ("data", "ssl", "share", "media", "backup", "local_apps", "homeassistant_config", "all_app_configs", "app_config")
        and flag(value.get("read_only", True))
    )


VERSION = r"\d+(\.\d+){1,2}([.-]?[a-z0-9.]+)?"
ELEMENT = re.compile(
    r"(?:bool|email|url|port|device(?:\(subsystem=[a-z]+\))?|(?:str|password|int)(?:\(\d*,\d*\))?"
    r"|float(?:\([\d.]*,[\d.]*\))?|match\((?P<match>.+)\)|list\((?P<list>.+)\))\??"
)
REQUIRED = {
    "name": text,
    "version": match(VERSION),
    "slug": match(r"[-_.A-Za-z0-9]+"),
    "description": text,
    "arch": each(one_of("aarch64", "amd64")),
}
KEYS = REQUIRED | {
    "url": match(r"https?://.+"),
    "startup": one_of("initialize", "system", "services", "application", "once"),
    "boot": one_of("auto", "manual", "manual_only"),
    "init": flag,
    "stage": one_of("stable", "experimental", "deprecated"),
    "homeassistant": match(VERSION),
    "watchdog": match(r"(?:https?|tcp|\[PROTO:\w+\])://\[HOST\]:(?:\[PORT:\d+\]|\d+).*"),
    "ingress": flag,
    "ingress_port": whole(0, 65535),
    "ingress_entry": text,
    "ingress_stream": flag,
    "panel_icon": match(r"mdi:[a-z0-9-]+"),
    "panel_title": text,
    "panel_admin": flag,
    "host_network": flag,
    "host_dbus": flag,
    "tmpfs": flag,
    "map": each(folder_map),
    "ports": lambda value: isinstance(value, dict),
    "ports_description": lambda value: isinstance(value, dict),
    "environment": lambda value: isinstance(value, dict) and all(map(text, value.values())),
    "privileged": each(text),
    "apparmor": flag,
    "hassio_api": flag,
    "homeassistant_api": flag,
    "auth_api": flag,
    "services": each(match(r"(?:mqtt|mysql):(?:provide|want|need)")),
    "discovery": each(text),
    "backup": one_of("hot", "cold"),
    "backup_pre": text,
    "backup_post": text,
    "backup_exclude": each(text),
    "timeout": whole(10, 300),
    "options": lambda value: isinstance(value, dict),
    "schema": lambda value: isinstance(value, dict),
    "image": text,
    "ulimits": lambda value: isinstance(value, dict),
}


def fits(value, element):
    """Whether a default is what its element of the schema takes."""
    found = ELEMENT.fullmatch(element)
    kind = element.rstrip("?").partition("(")[0]
    if kind == "list":
        return value in found["list"].split("|")
    if kind == "match":
        return re.match(found["match"], str(value)) is not None
    if kind in ("int", "port", "float"):
        return isinstance(value, (int, float)) and not flag(value)
    return flag(value) if kind == "bool" else isinstance(value, str)


def read(name):
    with open(folder / name, encoding="utf-8") as file:
        return yaml.safe_load(file)


config = read("config.yaml")
for key in REQUIRED.keys() - config.keys():
    problems.append(f"config.yaml: {key} is missing")
for key, value in config.items():
    if key not in KEYS:
        problems.append(f"config.yaml: the Supervisor does not know {key}")
    elif not KEYS[key](value):
        problems.append(f"config.yaml: {key}: it does not take {value!r}")
options, schema = config.get("options", {}), config.get("schema", {})
for key, element in schema.items():
    if not (isinstance(element, str) and ELEMENT.fullmatch(element)):
        problems.append(f"config.yaml: schema: {key}: {element!r} is no kind")
    elif key in options and not fits(options[key], element):
        problems.append(f"config.yaml: options: {key}: {options[key]!r} is no {element}")
    elif key not in options and not element.endswith("?"):
        problems.append(f"config.yaml: options: {key} has no default, and is needed")
for key in options.keys() - schema.keys():
    problems.append(f"config.yaml: options: {key} is not in the schema")
if config.get("ingress") and f"[PORT:{config.get('ingress_port', 8099)}]" not in config.get("watchdog", ""):
    problems.append("config.yaml: the watchdog asks another port than ingress")
if config.get("backup") == "cold" and {"backup_pre", "backup_post"} & config.keys():
    problems.append("config.yaml: a cold backup runs no command")

texts = read("translations/en.yaml").get("configuration", {})
for key in texts.keys() ^ schema.keys():
    problems.append(f"translations/en.yaml: {key} is only there, or only in the schema")
for key, value in texts.items():
    if set(value) != {"name", "description"} or not all(map(text, value.values())):
        problems.append(f"translations/en.yaml: {key} has a name and a description")

# The Supervisor replaces the name of the one profile.
profiles = re.findall(r"(?m)^profile ([^ ]+)", (folder / "apparmor.txt").read_text(encoding="utf-8"))
if profiles != [config.get("slug")]:
    problems.append(f"apparmor.txt: the profiles are {profiles}")
if (folder / "build.yaml").exists():
    problems.append("build.yaml: the Supervisor wants all of it in the Dockerfile, and warns")
for name in ("Dockerfile", "DOCS.md", "README.md", "CHANGELOG.md"):
    if not (folder / name).is_file():
        problems.append(f"{name} is missing")
source = (folder / "Dockerfile").read_text(encoding="utf-8")
for name in re.findall(r"(?m)^(?:ADD|COPY) (\S+)", source):
    if not (folder / name).is_file():
        problems.append(f"Dockerfile: {name} is missing")

for problem in problems:
    print(f"{folder}: {problem}", file=sys.stderr)
sys.exit(1 if problems else 0)
