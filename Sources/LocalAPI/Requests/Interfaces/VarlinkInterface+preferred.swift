extension VarlinkInterface {
  /// The text of docs/interfaces/io.threadkeeper.Preferred.varlink. See `io.threadkeeper.Failed`.
  package static let preferred = VarlinkInterface(
    """
    # The preferred network of a home. They are the MQTT requests `preferred/…`.
    #
    # `border_agent_id` has 16 or 32 hexadecimal digits, `ext_pan_id` 16, `dataset` those of its TLVs. `home` is the
    # first one of the settings where it is absent. With `administrator` the daemon's own user and root act for every
    # team. What fails is `io.threadkeeper.Failed` with the codes of the MQTT requests.
    interface io.threadkeeper.Preferred

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
      # For `Set`.
      id: string,
      network_name: string,
      ext_pan_id: string,
      channel: ?int,
      active_timestamp: ?int,
      # When it was replaced; RFC 3339.
      until: string
    )

    # Whether there is one, and its credentials are here.
    method IsAvailable(home: ?string) -> (available: bool)

    # `differs`: names of essential parameters. `none` also where the credentials of the preferred network are not here.
    method Check(home: ?string, dataset: string) -> (result: (match, mismatch, none), differs: ?[]string)

    # Its credentials. A person is asked first, for two minutes; the call waits. `transaction`, any text that no other
    # call has, shows in `io.threadkeeper.Questions` what it waits for. `program` is what the person reads.
    method Get(home: ?string, transaction: ?string, program: ?string) -> (credentials: []Credential)

    # Another network: named in one of four ways, the first one perhaps with the router whose dataset is meant.
    # `id` is one of the history, or `p-current`: the one that is preferred, whose keys are confirmed by it.
    # `available`: false where its credentials are not here, else absent. `source`: whose keys were taken, where they
    # have changed: the id of a border router or of the history, or `login` and its name.
    method Set(
      home: ?string,
      ext_pan_id: ?string,
      network_name: ?string,
      id: ?string,
      dataset: ?string,
      border_agent_id: ?string,
      administrator: ?bool
    ) -> (changed: bool, available: ?bool, source: ?string)

    # None. `forgotten`: what is kept in the history.
    method Forget(home: ?string, administrator: ?bool) -> (forgotten: ?[]FormerNetwork)

    """)
}
