extension VarlinkInterface {
  /// The text of docs/interfaces/io.threadkeeper.Networks.varlink. See `io.threadkeeper.Failed`.
  package static let networks = VarlinkInterface(
    """
    # Networks of a home, and what is known of it. They are the MQTT requests `network/get`, `networks/…`,
    # `routers/list` and `alerts/list`.
    #
    # `border_agent_id` has 16 or 32 hexadecimal digits, `ext_pan_id` 16, `dataset` those of its TLVs. `home` is the
    # first one of the settings where it is absent. With `administrator` the daemon's own user and root act for every
    # team. What fails is `io.threadkeeper.Failed` with the codes of the MQTT requests.
    interface io.threadkeeper.Networks

    type Credential (
      # Absent for the preferred network where the caller has no router on it.
      border_agent_id: ?string,
      ext_pan_id: string,
      network_name: string,
      channel: ?int,
      pan_id: ?int,
      # Seconds.
      active_timestamp: ?int,
      # RFC 3339.
      created_at: ?string,
      modified_at: ?string,
      # Whether its router is there and can be reached.
      active: bool,
      # The Active Operational Dataset, keys included, as hexadecimal digits.
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

    # Credentials of a network, whoever has stored them. A person is asked first: see `Get` of
    # `io.threadkeeper.Preferred`.
    method Get(home: ?string, ext_pan_id: string, transaction: ?string, program: ?string) -> (
      credentials: []Credential
    )

    # Credentials of all networks whose routers are there. A person is asked first.
    method Nearby(home: ?string, transaction: ?string, program: ?string) -> (
      credentials: []Credential,
      damaged: ?[]string
    )

    # Deletes the credentials of a network that was preferred, or that a login shares, or one entry of the history.
    # `remaining`: border agent ids whose own credentials of it stay. `shared_by`: logins whose shared ones were deleted.
    method Forget(home: ?string, ext_pan_id: ?string, id: ?string, administrator: ?bool) -> (
      forgotten: ?[]FormerNetwork,
      remaining: ?[]string,
      shared_by: ?[]string
    )

    # As they are published on the broker.
    method List(home: ?string) -> (networks: []object)

    method ListRouters(home: ?string) -> (routers: []object)

    method ListAlerts(home: ?string) -> (alerts: []object)

    """)
}
