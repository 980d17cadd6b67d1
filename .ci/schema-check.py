"""Validates payloads for the tests, against the JSON Schemas of docs/reference/schemas, with Debian's fastjsonschema.

Argument: the folder of the schemas. Each line of standard input is a JSON array of [schema, payload]: a file with the
JSON pointer of one of its definitions, and base64. Each is answered by a line: an array with null for a valid payload,
else [JSON pointer, what is wrong]. No value is repeated: it may be a key. Ends with its input.
"""
import base64
import json
import pathlib
import re
import sys

import fastjsonschema

folder = pathlib.Path(sys.argv[1])
compiled = {}


def validator(name):
    if name not in compiled:
        file, _, pointer = name.partition("#")
        schema = json.loads((folder / file).read_text(encoding="utf-8"))
        if pointer:
            # The whole file is kept, because definitions refer to each other.
            schema = {"$schema": schema["$schema"], "definitions": schema["definitions"], "$ref": "#" + pointer}
        # What is a text as a whole is published as one, and not as JSON.
        compiled[name] = fastjsonschema.compile(schema, use_default=False), schema.get("type") == "string"
    return compiled[name]


def pointer(error):
    path = [text.strip("'\"") for text in error.path[1:]]
    return "".join("/" + text.replace("~", "~0").replace("/", "~1") for text in path)


def reason(error):
    if error.rule == "required":
        return "has no " + ", ".join(sorted(set(error.rule_definition) - set(error.value)))
    return re.sub(r"^data\S* ", "", error.message)


def problem(name, payload):
    validate, is_text = validator(name)
    try:
        text = base64.b64decode(payload).decode("utf-8-sig")
        value = text if is_text else json.loads(text)
    except (ValueError, RecursionError):
        return ["", "is no text" if is_text else "is no JSON"]
    try:
        validate(value)
    except fastjsonschema.JsonSchemaValueException as error:
        return [pointer(error), reason(error)]
    return None


for line in sys.stdin:
    print(json.dumps([problem(*one) for one in json.loads(line)]), flush=True)
