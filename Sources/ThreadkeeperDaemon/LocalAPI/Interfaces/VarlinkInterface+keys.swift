// SPDX-License-Identifier: Apache-2.0

import VarlinkSocket

extension VarlinkInterface {
  /// The text of docs/interfaces/io.threadkeeper.Keys.varlink; a test compares the two.
  package static let keys = VarlinkInterface(
    """
    # The key slots, which open the store, and the renewal of its keys.
    interface io.threadkeeper.Keys

    type Slot (
      id: int,
      kind: (key_file, passphrase, systemd_credential, recovery_code),
      label: string,
      # RFC 3339.
      created: string,
      # Whether what is at hand opens it: the key file of the settings, and what systemd hands over.
      opens: (yes, no, not_tried)
    )

    # `value` is a path, a passphrase, the name of a credential, or a recovery code.
    type Secret (
      kind: (key_file, passphrase, systemd_credential, recovery_code, passphrase_or_code),
      value: string
    )

    # How far a rotation is.
    type Rotation (
      running: bool,
      finished: bool,
      # True while it waits for another one, which makes no new keys.
      queued: ?bool,
      # Whether it has finished one that was interrupted.
      resumed: bool,
      # Of `items`, so many have new keys; `locked` and `damaged` ones keep the old ones.
      renewed: int,
      items: int,
      locked: int,
      damaged: int,
      retired_keys: int,
      # Why it failed, and the exit status of a command then.
      problem: ?string,
      exit: ?int
    )

    # The key slots.
    method List() -> (slots: []Slot)

    # Adds a key slot. A key file is made where there is none: `key_file_made` is its path then.
    # `device_key_written`: the file of the device key was lost, and is written again.
    method Add(secret: Secret, label: ?string) -> (
      slots: []Slot,
      key_file_made: ?string,
      device_key_written: ?bool
    )

    # Removes a key slot; with `is_confirmed` also the last passphrase, or what leaves no slot that is known to
    # open.
    method Remove(slot: int, is_confirmed: ?bool) -> (removed: []Slot)

    # Renews the keys of the store, and with `roots` its root keys, too, which are sealed for these. `is_confirmed`
    # removes other slots; with `deletes_device_items` items for this device only are deleted whose device key is
    # gone. Has to be called with `more`: the first reply has what came with new root keys, and each has the
    # rotation, until it is not `running`. The rotation goes on when the client closes the connection.
    # With `roots` it is refused while another rotation is under way.
    method Rotate(roots: ?[]Secret, is_confirmed: ?bool, deletes_device_items: ?bool) -> (
      rotation: Rotation,
      removed: ?[]Slot,
      # Items for this device only that wait for their device key, and such that were deleted.
      waiting: ?int,
      deleted: ?int,
      # What is wrong with the device key in its place.
      device_key_problem: ?string,
      device_key_written: ?bool
    )

    """)
}
