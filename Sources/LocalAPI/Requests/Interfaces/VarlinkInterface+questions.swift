extension VarlinkInterface {
  /// The text of docs/interfaces/io.threadkeeper.Questions.varlink. See `io.threadkeeper.Failed`.
  package static let questions = VarlinkInterface(
    """
    # What the caller's own calls wait for. They are the MQTT requests `consent/…`. The operation `ListConsents` of
    # io.threadkeeper.Admin has what waits for anybody's.
    #
    # `border_agent_id` has 16 or 32 hexadecimal digits, `ext_pan_id` 16, `dataset` those of its TLVs. `home` is the
    # first one of the settings where it is absent. With `administrator` the daemon's own user and root act for every
    # team. What fails is `io.threadkeeper.Failed` with the codes of the MQTT requests.
    interface io.threadkeeper.Questions

    type Question (
      id: string,
      # The MQTT request that it is about: `preferred/get`.
      command: string,
      # Of `network/get`.
      ext_pan_id: ?string,
      # RFC 3339.
      expires_at: string,
      # Of the calls that wait for it.
      transactions: ?[]string,
      # Who would get what, and why it matters: with `administrator` only.
      reason: ?string
    )

    method Pending(home: ?string, administrator: ?bool) -> (pending: []Question)

    # `scope` is `once` where it is absent. A decision with `home` is `stale_id` for a question of another home.
    method Approve(home: ?string, id: string, scope: ?(once, always), administrator: ?bool) -> ()

    method Deny(home: ?string, id: string, administrator: ?bool) -> ()

    # Has a person asked again whether a router gets the preferred credentials.
    method Ask(home: ?string, border_agent_id: string, administrator: ?bool) -> ()

    """)
}
