import LocalAPI

extension VarlinkInterface {
  /// The text of docs/interfaces/io.threadkeeper.Status.varlink; a test compares the two.
  static let status = VarlinkInterface(
    """
    # How the daemon is: the broker, the store, and what is in it.
    interface io.threadkeeper.Status

    # The same as `threadkeeper status --json`.
    type Status (
      version: string,
      pid: int,
      # All homes together; the following three are parts of it.
      routers: int,
      routers_offline: int,
      # Online, but attached to no network.
      routers_detached: int,
      # On another network than the one that they are configured for.
      routers_elsewhere: int,
      networks: int,
      # Firing alerts, and how many there are of each name, the worst first.
      alerts: int,
      alerts_firing: []Alert,
      credentials: int,
      # Of each home that has one.
      preferred_networks: []Preferred,
      # Of each home.
      protection: []Protection,
      homes: int,
      broker: Broker,
      # Absent while the broker takes everything.
      refused: ?Refused,
      discovery: Discovery,
      page: Page,
      login: Login,
      intake: Intake,
      store: Store,
      teams: Teams
    )

    type Alert (
      severity: (critical, warning, info),
      alertname: string,
      count: int
    )

    type Preferred (
      home: string,
      network_name: string,
      # 16 hexadecimal digits.
      ext_pan_id: string
    )

    type Protection (
      home: string,
      state: (not_protected, watching, protected),
      # Steps, in their order.
      missing: [](routers, preferred, key, alerts, recovery_code)
    )

    type Broker (
      host: string,
      port: int,
      # Whether the daemon has started it.
      embedded: bool,
      state: (connecting, connected),
      problem: ?string
    )

    # What the broker does not take from the daemon.
    type Refused (
      topics: int,
      last_topic: string,
      problem: string,
      remedy: string
    )

    # The search for border routers on the local network. The last two are there while it is `unavailable`.
    type Discovery (
      state: (off, starting, running, unavailable),
      # Border routers that are advertised now.
      routers: ?int,
      # Records that are not listed.
      unlisted: ?[]UnlistedRecord,
      problem: ?string,
      remedy: ?string,
      # The login of an agent that sees some of them, where the daemon does not.
      reporter: ?string
    )

    # A record on the local network, by the name of its service instance, and why it is not listed.
    type UnlistedRecord (
      name: string,
      reason: string
    )

    # The status page. Its URL is there while it is `listening`, unless only the trusted proxy opens it; the last two
    # while it is `unavailable`.
    type Page (
      state: (off, starting, listening, unavailable),
      # Without the token.
      url: ?string,
      # Whether it is shown with the token only, or through the trusted proxy.
      needs_token: ?bool,
      # The IP address of that proxy.
      trusted_proxy: ?string,
      problem: ?string,
      remedy: ?string
    )

    # Who the daemon is at the broker, and where the password comes from.
    type Login (
      username: ?string,
      password_from: (settings, keychain, none, unreadable, embedded)
    )

    # Whether events are taken.
    type Intake (
      state: (running, connecting, backing_off),
      reason: ?string
    )

    type Store (
      path: string,
      id: string,
      condition: string
    )

    # Teams for which nobody can speak any more.
    type Teams (
      empty: []string,
      abandoned_ids: []AbandonedID
    )

    type AbandonedID (
      home: string,
      border_agent_id: string,
      team: string
    )

    # The status now.
    method Get() -> (status: Status)

    # The status now, and again whenever it has changed; looked at once a second. Has to be called with `more`. The stream
    # ends when the client closes the connection, or the daemon ends.
    method Watch() -> (status: Status)

    """)
}
