extension VarlinkInterface {
  /// The text of docs/interfaces/io.threadkeeper.Credentials.varlink. See `io.threadkeeper.Failed`.
  package static let credentials = VarlinkInterface(
    """
    # The Thread credentials of the caller's team, by border router. They are the MQTT requests `credentials/…`.
    #
    # `border_agent_id` has 16 or 32 hexadecimal digits, `ext_pan_id` 16, `dataset` those of its TLVs. `home` is the
    # first one of the settings where it is absent. With `administrator` the daemon's own user and root act for every
    # team. What fails is `io.threadkeeper.Failed` with the codes of the MQTT requests.
    interface io.threadkeeper.Credentials

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

    # `preferred`: the dataset beside the preferred network.
    method Store(home: ?string, border_agent_id: string, dataset: string) -> (
      change: (stored, updated, unchanged),
      preferred: ?(match, mismatch, none)
    )

    method Delete(home: ?string, border_agent_id: string, administrator: ?bool) -> (deleted: bool)

    # One.
    method Get(home: ?string, border_agent_id: string) -> (credentials: []Credential)

    # `damaged`: border agent ids of what cannot be opened.
    method List(home: ?string) -> (credentials: []Credential, damaged: ?[]string)

    # Those whose router is there and can be reached.
    method ListActive(home: ?string) -> (credentials: []Credential, damaged: ?[]string)

    # Not in this version: it fails with `unsupported`.
    method Share(home: ?string, ext_pan_id: string) -> ()

    """)
}
