// SPDX-License-Identifier: Apache-2.0

import VarlinkSocket

extension VarlinkInterface {
  /// The text of docs/interfaces/io.threadkeeper.Lists.varlink; a test compares the two.
  package static let lists = VarlinkInterface(
    """
    # What `threadkeeper routers`, `alerts`, `networks`, `credentials` and `preferred` show. Members of the daemon's group
    # may call all that shows no secret.
    #
    # Lists have to be called with `more`: a long one comes in several replies. Their rows are what the command prints
    # with `--json`; those of alerts, routers and networks are what is published on the broker.
    interface io.threadkeeper.Lists

    type Credential (
      home: string,
      border_agent_id: string,
      team: string,
      network_name: ?string,
      ext_pan_id: ?string,
      pan_id: ?int,
      channel: ?int,
      # Seconds.
      active_timestamp: ?int,
      # The Active Operational Dataset, keys included, as hexadecimal digits. Only where a secret was asked for.
      dataset: ?string
    )

    type FormerNetwork (
      id: string,
      network_name: string,
      ext_pan_id: string,
      channel: ?int,
      active_timestamp: ?int,
      until: string
    )

    # With `all` also those that were resolved within the last day.
    method Alerts(all: bool) -> (rows: []object)

    # `note`: why there are none.
    method Routers() -> (rows: []object, note: ?string)

    method Networks() -> (rows: []object)

    # `unreadable`: how many more there are that cannot be read; `damaged`: those among them that have a name.
    method Credentials() -> (rows: []Credential, unreadable: ?int, damaged: ?[]string)

    # The networks that were preferred before, the newest first.
    method Former(home: string) -> (rows: []FormerNetwork)

    method Credential(home: string, border_agent_id: string) -> (
      home: string,
      border_agent_id: string,
      team: string,
      network_name: ?string,
      ext_pan_id: ?string,
      pan_id: ?int,
      channel: ?int,
      active_timestamp: ?int,
      dataset: ?string
    )

    # The same with `dataset`, for the daemon's own user and root.
    method CredentialSecret(home: string, border_agent_id: string) -> (
      home: string,
      border_agent_id: string,
      team: string,
      network_name: ?string,
      ext_pan_id: ?string,
      pan_id: ?int,
      channel: ?int,
      active_timestamp: ?int,
      dataset: ?string
    )

    # `credentials`: whether its dataset is here; `reported_by`: routers that report one which nobody has vouched for.
    method Preferred(home: string) -> (
      home: string,
      network_name: string,
      ext_pan_id: string,
      channel: ?int,
      pan_id: ?int,
      active_timestamp: ?int,
      changed_at: string,
      credentials: bool,
      reported_by: []string,
      dataset: ?string
    )

    # The same with `dataset`, for the daemon's own user and root.
    method PreferredSecret(home: string) -> (
      home: string,
      network_name: string,
      ext_pan_id: string,
      channel: ?int,
      pan_id: ?int,
      active_timestamp: ?int,
      changed_at: string,
      credentials: bool,
      reported_by: []string,
      dataset: ?string
    )

    """)
}
