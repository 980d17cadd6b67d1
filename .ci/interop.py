"""What .ci/interop checks, with the package varlink. Arguments: threadkeeper, the socket, docs/interfaces."""
import json
import pathlib
import subprocess
import sys
import time

import varlink

program, socket, interfaces = sys.argv[1:]
# The example of OpenThread's documentation.
DATASET = (
    "0e080000000000010000000300000f35060004001fffe0020811111111222222220708fdad70bfe5aa15dd0510"
    "00112233445566778899aabbccddeeff030e4f70656e54687265616444656d6f010212340410445f2b5ca6f2a9"
    "3a55ce570a70efeecb0c0402a0f7f8")
files = {path.stem: path.read_text() for path in pathlib.Path(interfaces).glob("*.varlink")}


def fails(error, call):
    try:
        call()
    except varlink.VarlinkError as failure:
        assert failure.error() == error, failure
        return failure.parameters()
    raise AssertionError(f"{error} was expected")


def printed(*command):
    return json.loads(subprocess.check_output([program, *command, "--json"]))


def status():
    return printed("status")


with varlink.Client(address="unix:" + socket) as client:
    names = client.get_interfaces()
    assert set(names) == {"org.varlink.service", *files}, names
    assert client.info["product"] == "threadkeeper", client.info
    for name in names:
        # The package reads the description with a parser of its own.
        description = client.get_interface(name).get_description()
        assert name not in files or description == files[name], name

    with client.open("io.threadkeeper.Status") as api:
        # What the package does not find in the description is left out, so this compares both.
        for _ in range(50):
            if api.Get()["status"] == status():
                break
            time.sleep(0.1)
        assert api.Get()["status"] == status(), api.Get()
        fails("org.varlink.service.ExpectedMore", api.Watch)

    with client.open("io.threadkeeper.Admin") as api:
        slots = api.Perform("ListKeySlots", {})["reply"]
        assert slots == printed("keys", "list"), slots
        found = fails(
            "io.threadkeeper.Failed",
            lambda: api.Perform(
                "RemoveRouter", {"home": "home", "border_agent_id": "0123456789abcdef"}))
        assert (found["code"], found["exit"]) == ("not_found", 66), found

    with client.open("org.varlink.service") as service:
        found = fails(
            "org.varlink.service.InterfaceNotFound",
            lambda: service.GetInterfaceDescription("org.example.none"))
        assert found == {"interface": "org.example.none"}, found
        fails(
            "org.varlink.service.InvalidParameter",
            lambda: service.GetInterfaceDescription())

    with client.open("io.threadkeeper.Status") as api:
        replies = api.Watch(_more=True)
        assert next(replies)["status"]["preferred_networks"] == []
        subprocess.check_call([program, "preferred", "set", DATASET], stdout=subprocess.DEVNULL)
        while not next(replies)["status"]["preferred_networks"]:
            pass
