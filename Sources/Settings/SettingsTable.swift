import Broker
import Home

/// The table of settings, in the order of `config/threadkeeper.yaml`. After a change: `make settings`.
extension Setting {
  /// A section of the documents: keys below one name, or at the top.
  struct Section: Sendable {
    let title: String
    var help = ""
    let settings: [Setting]
  }

  static let sections = [
    Section(title: "The broker", settings: mqtt), Section(title: "The encrypted store", settings: store),
    Section(
      title: "Alerts",
      settings: [
        Setting(
          "alerts.hold", .seconds(0...86_400), \.eachHome.alertsHold,
          """
          How long a condition must hold before its alert is raised. When a network migrates, its routers follow within \
          some ten seconds: with less, every migration raises alerts that resolve by themselves.
          """)
      ]),
    Section(
      title: "The preferred network",
      settings: [
        Setting(
          "preferred.on_mismatch", .choice, \.eachHome.onMismatch,
          """
          What happens when a router is on another network. `alert` changes no router. With `adopt` a person is asked, \
          too, whether the router may have the preferred credentials, sealed for its enrolled login.
          """)
      ]),
    Section(
      title: "Presence of routers",
      settings: [
        Setting(
          "presence.offline_after", .seconds(0...604_800), \.eachHome.offlineAfter,
          """
          Silence after which a router that has sent heartbeats counts as offline; 0 = never. One is due each 60 to \
          120 seconds, so with 300 two may be lost without an alert.
          """)
      ]),
    Section(
      title: "Discovery on the local network",
      help: """
        What border routers of every maker say there fills the lists, and never changes credentials, owners or the \
        preferred network. With several homes, they belong to the first one.
        """,
      settings: [
        Setting(
          "discovery.mdns", .choice, \.discovery,
          "With `auto`, they are [looked for](../guides/discovery.md) where avahi-daemon runs."),
        Setting(
          "discovery.read", .choice, \.reading,
          "With `auto`, those of a network whose PSKc is stored are [read](../guides/discovery.md)."),
        Setting(
          "discovery.matter_controller", .choice, \.matterController,
          """
          Whether the Matter controller runs on this machine, whose [way to the \
          devices](../guides/troubleshooting.md#devices-cannot-be-reached) is then checked. With `auto`, it does while \
          something listens on port 5580.
          """),
      ]),
    Section(
      title: "Credentials by a code",
      settings: [
        Setting(
          "sharing.url",
          .text("`http://HOST:PORT`") { $0.hasPrefix("http://") && HostName.hasPort(String($0.dropFirst(7))) },
          \.sharingURL,
          """
          The REST interface of an OpenThread Border Router that [makes \
          codes](../guides/openthread-border-router.md#show-a-code-for-others).
          """)
      ]),
    Section(
      title: "The Wi-Fi beside routers",
      settings: [
        Setting(
          "ssid.reporters", .logins, \.eachHome.ssidReporters,
          """
          Logins of the broker that may [report the SSID](../guides/ssid.md) of every router: `[hall]`. Any other login \
          reports it for the routers of its own team only.
          """)
      ]),
    Section(
      title: "Limits of a login, a team or a home",
      help: """
        What goes beyond is refused by name on `bridge/event` (`rate_limited`, `too_many_routers`) and counted in \
        `bridge/health`.
        """,
      settings: [
        Setting(
          "limits.events_per_second", .whole(1...10_000), \.limits.eventsPerSecond,
          "Events of one login, a second. A router publishes one or two a minute."),
        Setting(
          "limits.events_burst", .whole(1...1_000_000), \.limits.eventsBurst,
          """
          How many of them may come at once, after a rest: what waited at the broker while the daemon was away. The \
          64 MiB of mosquitto.conf hold some 60,000.
          """),
        Setting(
          "limits.routers_per_team", .whole(1...100_000), \.eachHome.routersPerTeam,
          """
          Border agent ids that one team may have in one home, with those of stored credentials and of routers that \
          left, of which the oldest make room.
          """),
        Setting(
          "limits.routers", .whole(1...1_000_000), \.eachHome.routersPerHome,
          """
          Border agent ids that all teams together may have in one home, and networks that logins may share. At the \
          limit the id that came last makes room for a new one, but no member of the preferred network.
          """),
      ]),
    Section(
      title: "Programs of other users",
      settings: [
        Setting(
          "clients.socket", .path("the path of a socket"), \.clientSocket,
          """
          A second socket, for [programs of other users](../reference/threadnetwork.md#programs-of-other-users) of \
          this machine; not inside `store.path`. Best `/run/threadkeeper/client.sock`: programs look there by \
          themselves, and only root can make that directory.
          """)
      ]), Section(title: "Consent over MQTT", settings: consent),
    Section(title: "Home Assistant", settings: homeAssistant),
    Section(
      title: "The web server", help: "For [browsers](../guides/page.md) and [monitoring](../guides/monitoring.md).",
      settings: http),
    Section(
      title: "The log, on standard error",
      settings: [
        Setting(
          "log.level", .choice, \.log.level,
          "The least severe level written. `info`: what changes, not every message that changes nothing."),
        Setting(
          "log.format", .choice, \.log.format, "`text` for people, `json` (one object a line) for log collectors."),
      ]), Section(title: "Teams, users and homes", settings: names),
    Section(
      title: "A fleet",
      help: """
        For whoever looks after [thousands of homes](../guides/fleet.md), with `store.url`, in a program that was built for \
        it. One home needs nothing of it.
        """, settings: fleet),
  ]

  private static let mqtt = [
    Setting(
      "mqtt.host", .broker, yaml: "embedded", default: "`embedded`",
      "The broker. `embedded` starts a private one on 127.0.0.1, to try everything without border routers."
    ) { $0.mqtt.host = $1 },
    Setting(
      "mqtt.port", .whole(1...65_535), \.mqtt.port, default: "1883; 8883 with `mqtt.tls`",
      "TCP port. With `embedded`, the port of the private broker."),
    Setting(
      "mqtt.username", .userName, \.mqtt.username,
      """
      Login of the daemon. Give it one of its own: the access list in acl.conf is written for it. `threadkeeper login` \
      can also bring a name; one that stands here must be the same.
      """),
    Setting(
      "mqtt.password",
      .secret("1 to 65535 bytes of text") { (1...65_535).contains($0.utf8.count) && !$0.contains("\0") },
      \.mqtt.password, default: "that of `threadkeeper login` for this host, port and user",
      "Wins over the one in the encrypted store. Use `!secret mqtt_password`."),
    Setting(
      "mqtt.client_id",
      .secret("1 to 64 letters, digits, `-`, `_` or `.`") {
        (1...64).contains($0.utf8.count) && $0.utf8.allSatisfy(ASCII.isNameByte)
      }, \.mqtt.clientID, default: "derived from the store and the machine",
      """
      Start of the MQTT client ids. Keep it secret: who knows it and has a login can take the session with all waiting \
      events. Set it only for copies of one store on machines without `/etc/machine-id`.
      """),
    Setting(
      "mqtt.base_topic", .text(BaseTopic.expected, where: BaseTopic.isFit), \.mqtt.baseTopic,
      "All topics lie below it. The access list in acl.conf has the default."),
    Setting(
      "mqtt.take_over",
      .text("32 hex digits, as the alert `AnotherDaemon` names them") {
        $0.utf8.count == 32 && $0.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
      }, \.mqtt.takeOver, default: "none",
      """
      Whose topics this daemon takes over: the `instance_id` of one that is gone for good. Another daemon's topics are \
      left alone (alert `AnotherDaemon`).
      """),
    Setting(
      "mqtt.protocol", .choice, \.mqtt.protocolVersion,
      "MQTT version. Only with 5 a broker says why it refuses, and forgets old health reports."),
    Setting(
      "mqtt.tls.ca_file", .file(), default: "none",
      "PEM file of authorities; switches TLS on. For public ones: `/etc/ssl/certs/ca-certificates.crt`."
    ) { $0.mqtt.tls = .init(caFile: $1) },
    Setting(
      "mqtt.tls.cert_file", .file(), default: "none",
      "PEM file with the daemon's own certificate, for brokers that ask for one; with `key_file`."
    ) { $0.mqtt.tls?.certificateFile = $1 },
    Setting("mqtt.tls.key_file", .file(isPrivate: true), default: "none", "PEM file with its key; with `cert_file`.") {
      $0.mqtt.tls?.keyFile = $1
    },
    Setting(
      "mqtt.broker_users", .list("a list of users of this machine, by name or number") { $0.localUsers($1, of: $2) },
      \.mqtt.brokerUsers,
      """
      Who else may be a broker on this machine without TLS: the user that its program runs as, where that is not root, \
      `mosquitto` or the daemon's own, as in a container that shares the network of this machine: `[1883]`. Anybody \
      else who listens there is sent nothing.
      """),
  ]

  private static let store = [
    Setting(
      "store.path", .path("the path of a directory"), default: "`store` in the state directory",
      "Directory of the encrypted store."
    ) { $0.store = Settings.Store(path: $1) },
    Setting(
      "store.key_file", .path("the path of a file"), \.store.keyFile, default: "`store.path` with `.key` after it",
      "Key that opens the store, not inside `store.path`. Back it up, apart from the store."),
    Setting(
      "store.passphrase", .secret("1 to 4096 bytes of text") { (1...4_096).contains($0.utf8.count) },
      \.store.passphrase,
      """
      A passphrase or recovery code that opens the store instead of the key file. Use `!credential store_passphrase` \
      or `!secret store_passphrase`. Without it: the key file, then a systemd credential that the store has a slot \
      for, then a person at a terminal is asked.
      """),
    Setting(
      "store.url",
      .secret("`postgresql://…`, or `host=… dbname=…` and the like") {
        (1...4_096).contains($0.utf8.count) && !$0.unicodeScalars.contains(where: ASCII.isControl)
          && ($0.hasPrefix("postgresql://") || $0.hasPrefix("postgres://") || $0.contains("="))
      }, \.store.url,
      """
      The database of [a fleet](../guides/fleet.md), instead of a store of its own. Leave it out at home. A password \
      belongs in `~/.pgpass`, or use `!secret store_url`.
      """),
  ]

  private static let consent = [
    Setting(
      "consent.approvers", .list("a list of user names") { $0.users($1, of: $2) }, \.consent.approvers,
      """
      Logins of the broker that may decide over MQTT whether a program gets a network's credentials, never about what \
      they ask themselves: `[anna-phone]`. Name only logins that one person has for himself, and enrol them \
      (`threadkeeper clients enroll`). `threadkeeper acl --approver` prints what the broker has to allow. Without any, \
      `threadkeeper consent approve` on this machine decides.
      """),
    Setting(
      "consent.approvers_trust", .choice, \.consent.approversTrust,
      """
      `signed`: only decisions that are sealed and signed by the approver's enrolled key count. `broker`: plaintext \
      ones of logins that are not enrolled as `signed`, too; then whoever can publish as an approver decides, and all \
      rests on the broker's access list. Take a login out of `approvers` before `clients revoke --forget`.
      """),
  ]

  private static let homeAssistant = [
    Setting(
      "home_assistant.discovery", .choice, \.homeAssistant.discovery,
      """
      `on`: the daemon and its routers are devices of Home Assistant. `off`: those that were are removed at the next \
      start.
      """),
    Setting(
      "home_assistant.prefix", .text(BaseTopic.expected, where: BaseTopic.isFit), \.homeAssistant.prefix,
      """
      Home Assistant's discovery prefix, apart from every base topic. [How to change \
      it](../guides/home-assistant.md#change-the-prefix).
      """),
    Setting(
      "home_assistant.consent", .choice, \.homeAssistant.consent,
      """
      What a person may decide [through Home Assistant](../guides/home-assistant.md#decide-from-the-phone), in \
      plaintext, by buttons, once `login` is named. `adoptions`: whether the login of a router on another network gets \
      the preferred credentials, sealed to its enrolled key, whether Home Assistant's own agent gets them with \
      `--write`, whether credentials that another login shares are used for the preferred network, and what is \
      cleaned up in Home Assistant's Thread store. `all`: \
      whatever waits for consent; WHOEVER CAN PUBLISH THROUGH HOME ASSISTANT, as all its users and add-ons, can then approve every request for network keys, and an \
      alert says so.
      """),
    Setting(
      "home_assistant.login",
      .text("a user name of the broker (no `/`, `+`, `#`, `:` or control character)") {
        (try? AccessList.check(userName: $0)) != nil
      }, \.homeAssistant.login,
      """
      Home Assistant's login at the broker. Whoever can publish as it decides; without it nothing is decided through \
      Home Assistant. `threadkeeper acl --monitor LOGIN --approver LOGIN` prints what the broker has to allow, with \
      `--keep LOGIN` where Home Assistant does more there.
      """),
    Setting(
      "home_assistant.trusted", .logins, \.eachHome.trusted,
      """
      Logins of `threadkeeper agent home-assistant` whose signed credentials of a network that is preferred by its \
      Extended PAN ID alone are used without a question: `[home-assistant]`. Without it, and about what comes in \
      plaintext, a person is asked, or runs `threadkeeper networks accept-credentials`.
      """),
  ]

  private static let http = [
    Setting(
      "http.enabled", .flag, \.http.isEnabled,
      """
      Without a token, every user of this machine sees the page, which then changes nothing; network keys are never on \
      it. Choose `false`, or a token, where some must not see it.
      """),
    Setting(
      "http.address", .text("an IP address of this machine", where: HostName.isAddress), \.http.address,
      """
      `0.0.0.0` or `"::"` for all. Any other than loopback needs `http.token` or `http.trusted_proxy`. There is no \
      TLS: what other machines reach belongs behind a proxy that has it, or in a network that you trust.
      """), Setting("http.port", .whole(1...65_535), \.http.port, "TCP port."),
    Setting(
      "http.token",
      .secret("16 to 256 letters, digits, `-`, `_`, `.` or `~`") {
        (16...256).contains($0.utf8.count) && $0.utf8.allSatisfy(ASCII.isTokenByte)
      }, \.http.token, default: "that of `threadkeeper page token`, else none",
      "What a client has to show. Use `!secret http_token`."),
    Setting(
      "http.names",
      .list("a list of host names") {
        $0.texts($1, of: $2, "a list of host names", "a host name without a port") { HostName.isFit($0) }.map(\.text)
      }, \.http.names,
      """
      Names by which clients reach it, beside `localhost` and IP addresses: `[threadkeeper.home.arpa]`. A request for \
      another name is refused: a foreign web page could send it through a browser of the house.
      """),
    Setting(
      "http.trusted_proxy", .text("the IP address of another machine", where: HostName.isOtherMachine),
      \.http.trustedProxy,
      """
      A proxy on another machine or in another container that lets in only users that it knows, as [Home Assistant's \
      ingress](../guides/add-on.md) does, and passes on `Host`. Whoever comes from there sees the page without the \
      token. Never the gateway of a container network or a router that translates addresses: everybody behind it has \
      that address.
      """),
    Setting(
      "http.trusted_proxy_changes", .flag, \.http.trustedProxyChanges,
      """
      `true`: every user of the proxy may also change something without the token: choose the preferred network, forget \
      border routers, approve requests for credentials, share them by a code.
      """),
  ]

  private static let names = [
    Setting(
      "teams", .mapping("a mapping from a team to a list of user names") { $0.teams($1) }, \.teams, default: "none",
      """
      Which logins of the broker share their routers: `{installer: [hub-kitchen, hub-attic]}`. Every other login is a \
      team of its own. Routers that a login announced before it was listed stay with its own team until \
      `threadkeeper routers remove ID`; `threadkeeper status` names them.
      """),
    Setting(
      "client_users", .mapping("a mapping from a user of this machine to a team") { $0.clientUsers($1) }, \.clientUsers,
      default: "none",
      """
      Which team the programs of a user of this machine, by name or number, speak for: `{homeassistant: hub, 1000: \
      phone}`. One of `teams` shares its routers with them. Others are not served, except the daemon's own user and \
      root, each a team of its own.
      """),
    Setting(
      "homes", .mapping("a mapping from a home's name to its keys") { $0.homes($1) }, \.homes,
      default: "one home, `home`, on `mqtt.base_topic`",
      """
      Several homes on one daemon, each with a base topic of its own; none may equal another or lie inside it: \
      `{house: {base_topic: threadkeeper/house}, cabin: {base_topic: threadkeeper/cabin}}`. Names have 1 to 32 small \
      letters, digits, `-`, `_`.
      """),
  ]

  private static let fleet = [
    Setting(
      "fleet.node", .text("1 to 64 letters, digits, `-`, `_` or `.`", where: Settings.Fleet.isNode), \.fleet.node,
      default: "the host name", "Name of this node. No two have the same, and it stays the same over restarts."),
    Setting(
      "fleet.address", .text("a host name or an IP address", where: HostName.isFit), \.fleet.address,
      default: "the host name", "Where commands on other machines reach this node, by ssh."),
    Setting(
      "fleet.shards_at_most", .whole(1...4_096), \.fleet.shardsAtMost,
      "Shards that this node takes. What is left over waits for another node."),
    Setting(
      "fleet.connections", .whole(1...64), \.fleet.connections,
      "Connections to the database, for all shards of this node."),
    Setting(
      "fleet.seal_command", .command, \.fleet.sealCommand,
      """
      Command that seals the key of a shard for `threadkeeper fleet init`: a client of your key service, as `[kms, \
      encrypt, --key=tk]`. It reads the key on standard input and prints what is stored, within 30 seconds; the number \
      of the shard is in `THREADKEEPER_SHARD`.
      """),
    Setting(
      "fleet.unseal_command", .command, \.fleet.unsealCommand,
      "Command that unseals the key of a shard when a node claims it."),
  ]
}
