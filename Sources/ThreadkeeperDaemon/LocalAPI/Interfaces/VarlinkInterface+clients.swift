// SPDX-License-Identifier: Apache-2.0

import VarlinkSocket

extension VarlinkInterface {
  /// The text of docs/interfaces/io.threadkeeper.Clients.varlink; a test compares the two.
  package static let clients = VarlinkInterface(
    """
    # Users of the broker whose keys the daemon knows.
    interface io.threadkeeper.Clients

    # What an enrolment line has, and its fingerprint, for people to compare.
    type Client (
      home: string,
      user: string,
      # `broker`: what the user sends as plaintext counts too. `signed`: only what it has signed.
      trust: (broker, signed),
      label: string,
      fingerprint: string,
      line: string,
      # RFC 3339.
      enrolled_at: string,
      enrolled_by: string
    )

    type Keys (
      line: string,
      fingerprint: string
    )

    # Enrols a user, or replaces its keys. `trust` is `broker` where it is left out. `daemon` has the daemon's own
    # public keys, for which the client seals what it sends.
    method Enroll(home: string, user: string, line: string, trust: ?string, label: ?string) -> (
      clients: []Client,
      change: (enrolled, updated),
      daemon: Keys
    )

    # The enrolled users: of one home, or of all. `damaged` and `revoked` have names of users. `daemon` is absent before
    # the first enrolment.
    method List(home: ?string) -> (
      clients: []Client,
      damaged: ?[]string,
      revoked: ?[]string,
      daemon: ?Keys
    )

    # Revokes the keys of a user, whose plaintext does not count afterwards either. With `forgets` the user is one that
    # was never enrolled. Fails with `not_found`.
    method Revoke(home: string, user: string, forgets: ?bool) -> ()

    """)
}
