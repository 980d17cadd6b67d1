// SPDX-License-Identifier: Apache-2.0

import VarlinkSocket

extension VarlinkInterface {
  /// The text of docs/interfaces/io.threadkeeper.Routers.varlink; a test compares the two.
  package static let routers = VarlinkInterface(
    """
    # Removes routers, and accepts routers and networks that are there on purpose. Every method but AcceptNetwork
    # fails with `not_found` for an id that the daemon does not know.
    interface io.threadkeeper.Routers

    # Ends the alert UnknownRouter of a router.
    method Accept(home: string, border_agent_id: string) -> (
      home: string,
      border_agent_id: string,
      changed: bool
    )

    # Ends the alerts about routers on a network that is not the preferred one and never was theirs. `ext_pan_id` is 16
    # hexadecimal digits. `accepted`: false takes it back.
    method AcceptNetwork(home: string, ext_pan_id: string, accepted: bool) -> (
      home: string,
      ext_pan_id: string,
      changed: bool,
      # Whether it is listed.
      known: bool
    )

    # Removes a router that is gone, with all that is stored of it. The next team that announces its id owns it.
    # `border_agent_id` is 16 or 32 hexadecimal digits.
    method Remove(home: string, border_agent_id: string) -> (
      home: string,
      border_agent_id: string,
      # Absent where nobody owned the id.
      previous_team: ?string,
      # Whether credentials were stored under the id.
      credentials: bool
    )

    """)
}
