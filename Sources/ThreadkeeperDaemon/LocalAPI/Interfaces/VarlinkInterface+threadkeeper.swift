// SPDX-License-Identifier: Apache-2.0

import LocalAPI

extension VarlinkInterface {
  /// The text of docs/interfaces/io.threadkeeper.varlink; a test compares the two.
  package static let threadkeeper = VarlinkInterface(
    """
    # threadkeeper: what all of its interfaces have in common.
    interface io.threadkeeper

    # The call has failed. `code` is for programs: `invalid_payload` (a parameter has a value that it cannot have),
    # `refused` (this is not allowed, or a secret is wrong), `not_found` (there is nothing of that name), `conflict`
    # (the daemon has other settings), `unavailable` (something that the daemon needs does not answer), `ending`
    # (not now, as the daemon is ending or busy: try again), `store` (the store cannot do it), `too_large` (the
    # reply does not fit into a message), `internal`. Methods may have codes of their own. `message` is one sentence
    # for people, `help` is what they can do. `exit` is the exit status that a command ends with, one of sysexits.h.
    # Of a request: `field` is the parameter, `tlv` and `offset` the place in a dataset.
    error Failed (
      code: string,
      message: string,
      help: ?string,
      exit: int,
      field: ?string,
      tlv: ?string,
      offset: ?int
    )

    # This user, or all users together, have too many connections or streams open.
    error TooManyConnections ()

    """)
}
