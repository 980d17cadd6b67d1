// SPDX-License-Identifier: Apache-2.0

import VarlinkSocket

extension VarlinkInterface {
  /// The text of docs/interfaces/io.threadkeeper.Store.varlink; a test compares the two.
  package static let store = VarlinkInterface(
    """
    # The lock of the store: it concerns items that are accessible only while it is unlocked.
    interface io.threadkeeper.Store

    # `value` is a path, a passphrase, the name of a credential, or a recovery code.
    type Secret (
      kind: (key_file, passphrase, systemd_credential, recovery_code, passphrase_or_code),
      value: string
    )

    # Locks the store, also while something else is under way. `guarded`: whether it takes a passphrase or a recovery
    # code to unlock it. The record in the audit may follow later.
    method Lock() -> (unlocked: bool, guarded: bool)

    # Unlocks the store.
    method Unlock(secret: Secret) -> (unlocked: bool, guarded: bool)

    """)
}
