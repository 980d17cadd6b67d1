// SPDX-License-Identifier: Apache-2.0

import VarlinkSocket

extension VarlinkInterface {
  /// The text of docs/interfaces/io.threadkeeper.Consent.varlink; a test compares the two.
  package static let consent = VarlinkInterface(
    """
    # Requests that wait for consent, what was decided, and what is given without a question.
    interface io.threadkeeper.Consent

    type Network (
      # 16 hexadecimal digits.
      ext_pan_id: string,
      network_name: ?string,
      # Absent for the preferred network.
      team: ?string
    )

    type Router (
      border_agent_id: string,
      router_name: ?string,
      network_name: string
    )

    type Pending (
      id: string,
      requester: string,
      # Of the key that the answer is sealed to; absent on this machine, where nothing is sealed.
      fingerprint: ?string,
      team: string,
      home: string,
      # What is asked for: a request of MQTT.
      command: string,
      networks: []Network,
      # That would be given credentials; absent where the requester asks for itself.
      router: ?Router,
      # Times are in RFC 3339.
      created_at: string,
      # One sentence: why it matters.
      reason: string,
      expires_at: string
    )

    type Grant (
      id: string,
      requester: string,
      fingerprint: ?string,
      team: string,
      home: string,
      command: string,
      networks: []Network,
      router: ?Router,
      created_at: string,
      granted_by: string,
      # True: it covers nothing any more, because the network has another key.
      asks_again: ?bool
    )

    type Decision (
      id: string,
      requester: string,
      fingerprint: ?string,
      team: string,
      home: string,
      command: string,
      networks: []Network,
      router: ?Router,
      created_at: string,
      outcome: (approved, denied, expired, revoked),
      decided_at: string,
      decided_by: ?string,
      scope: ?string,
      # The id of the grant that was made.
      grant: ?string,
      # False: it is approved, and nothing was given.
      given: ?bool,
      not_given: ?Obstacle
    )

    # Why nothing was given.
    type Obstacle (
      code: string,
      message: string
    )

    # What waits. As long as `revision` is the same, nothing was decided.
    method List() -> (pending: []Pending, revision: ?string)

    # The same now, and again whenever it has changed. Has to be called with `more`. The stream ends when the client
    # closes the connection, or the daemon ends.
    method Watch() -> (pending: []Pending, revision: ?string)

    # Approves a request. It fails with `stale_id` when nothing of that id waits any more.
    method Approve(id: string, scope: (once, always)) -> (decision: Decision)

    # Refuses a request. It fails with `stale_id` when nothing of that id waits any more.
    method Deny(id: string) -> (decision: Decision)

    # Has a person asked again whether a router gets the preferred credentials, after that was denied, expired or failed.
    # It fails with `not_found` and `conflict`.
    method Ask(home: string, border_agent_id: string) -> ()

    # Who is given credentials without a question.
    method Grants() -> (grants: []Grant)

    # Ends a grant. It fails with `not_found`.
    method Revoke(id: string) -> (grant: Grant)

    # The last decisions, the newest first.
    method History(limit: ?int) -> (history: []Decision)

    """)
}
