// SPDX-License-Identifier: Apache-2.0

import VarlinkSocket

extension VarlinkInterface {
  /// The text of docs/interfaces/io.threadkeeper.Store.varlink. See `failed`.
  package static let store = VarlinkInterface(
    """
    # What is accessible "when unlocked".
    interface io.threadkeeper.Store

    # `value` is a path, a passphrase, the name of a credential, or a recovery code.
    type Secret (
      kind: (key_file, passphrase, systemd_credential, recovery_code, passphrase_or_code),
      value: string
    )

    # Takes it out of reach. `guarded`: whether it takes a passphrase or a recovery code to reach it again. Waits
    # for nothing that is under way. The record in the audit may follow later.
    method Lock() -> (unlocked: bool, guarded: bool)

    # Brings it back into reach.
    method Unlock(secret: Secret) -> (unlocked: bool, guarded: bool)

    """)
}
