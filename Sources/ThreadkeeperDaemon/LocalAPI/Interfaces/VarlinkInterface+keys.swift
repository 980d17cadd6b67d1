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

    # Gives the store new root keys, sealed for `secrets`, and every item new keys, in one transaction. An earlier
    # key opens nothing then but earlier records of the audit. `is_confirmed` removes the other slots. Items for this
    # device only whose device key is gone stop it; `deletes_device_items` deletes them.
    method Rotate(secrets: []Secret, is_confirmed: ?bool, deletes_device_items: ?bool) -> (
      removed: []Slot,
      # Items with new keys, and such of a device that is gone, which were deleted.
      items: int,
      deleted: int,
      device_key_written: bool
    )

    """)
}
