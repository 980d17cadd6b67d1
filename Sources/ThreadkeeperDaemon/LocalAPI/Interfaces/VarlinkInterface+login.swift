// SPDX-License-Identifier: Apache-2.0

import VarlinkSocket

extension VarlinkInterface {
  /// The text of docs/interfaces/io.threadkeeper.Login.varlink; a test compares the two.
  package static let login = VarlinkInterface(
    """
    # The password for the broker.
    interface io.threadkeeper.Login

    # Tries a login at the broker and stores it; without trying where `validate` is false. `broker` is the one that
    # the caller's settings name, as `mqtt://broker.local:1883`; another than the daemon's is a `conflict`. `in_use`
    # is false while the daemon's settings have a password. It fails with `refused` when the broker refuses the
    # login. Nothing is stored when the client has gone before.
    method Store(broker: string, username: string, password: string, validate: ?bool) -> (
      stored: (added, updated),
      in_use: bool
    )

    # Deletes the logins for a broker; `deleted` has their users.
    method Delete(broker: string) -> (deleted: []string, in_use: bool)

    """)
}
