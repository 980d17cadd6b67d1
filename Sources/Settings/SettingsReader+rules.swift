import Broker
import Glibc
import ThreadkeeperSupport

/// Rules about several settings together.
extension SettingsReader {
  mutating func applyRules(to settings: inout Settings) {
    broker(&settings.mqtt)
    store(settings.store)
    clients(settings)
    homes(&settings)
    homeAssistant(settings)
    http(&settings)
    fleet(settings)
  }

  /// Notes a problem where a setting, or else another one, was given.
  private mutating func report(
    _ name: String, else other: String? = nil, _ message: String, _ severity: SettingsProblem.Severity = .error
  ) {
    let place = given[name]?.place ?? other.flatMap { given[$0]?.place } ?? .defaults
    report(name, at: place, message, severity)
  }

  private mutating func broker(_ mqtt: inout Settings.MQTT) {
    let tls = ["mqtt.tls.ca_file", "mqtt.tls.cert_file", "mqtt.tls.key_file"]
    if !isGiven("mqtt.port"), tls.contains(where: isGiven) { mqtt.port = 8883 }
    need("mqtt.username", for: "mqtt.password", ": a password alone is no login")
    need(tls[2], for: tls[1], ": a certificate and its key go together")
    need(tls[1], for: tls[2], ": a key and its certificate go together")
    if let first = tls.first(where: isGiven) {
      need(tls[0], for: first, "; the authorities of the system are in /etc/ssl/certs/ca-certificates.crt")
    }
    // Who names a user but no broker has most likely forgotten the broker.
    guard mqtt.host == .embedded, !problems.contains(where: { $0.key == "mqtt.host" }) else { return }
    for name in ["mqtt.username", "mqtt.password"] + tls where isGiven(name) {
      report(name, "has no effect while `mqtt.host` is `embedded`; name your broker in `mqtt.host`", .warning)
    }
  }

  private mutating func need(_ other: String, for name: String, _ reason: String) {
    if isGiven(name), !isGiven(other) { report(name, "needs `\(other)`\(reason)") }
  }

  private mutating func store(_ store: Settings.Store) {
    if FilePath.isInside(store.keyFile, store.path) {
      report(
        "store.key_file", else: "store.path",
        "expected a path outside `store.path`: a copy of the store would carry its own key")
    }
    if [store.anchorPath, store.path].contains(where: { FilePath.isInside($0, store.keyFile) }) {
      report(
        "store.key_file", else: "store.path",
        "expected the path of a file, found the directory of the store or of its anchor")
    }
  }

  private mutating func clients(_ settings: Settings) {
    guard let socket = settings.clientSocket else { return }
    if FilePath.isInside(socket, settings.store.path) {
      report("clients.socket", "expected a path outside `store.path`, whose directory is closed to other users")
    }
    if settings.clientUsers.isEmpty {
      report("clients.socket", "serves nobody who is not served without it: `client_users` names no user", .warning)
    }
  }

  private mutating func fleet(_ settings: Settings) {
    let fleet = settings.fleet
    guard settings.store.url != nil else {
      guard !isGiven("store.url") else { return }
      for (name, command) in [("fleet.seal_command", fleet.sealCommand), ("fleet.unseal_command", fleet.unsealCommand)]
      where !command.isEmpty { report(name, "has no effect without `store.url`", .warning) }
      return
    }
    // By default both are the host name, which may be anything.
    if fleet.node == "localhost" || !Settings.Fleet.isNode(fleet.node) {
      report(
        "fleet.node", else: "store.url", "\(fleet.node.shown) does not tell this node from others; set `fleet.node`")
    } else if !isGiven("fleet.address"), fleet.address == "localhost" || !HostName.isFit(fleet.address) {
      report(
        "fleet.address", else: "store.url",
        "\(fleet.address.shown) is no name by which others reach this node; set `fleet.address`")
    }
    if fleet.unsealCommand.isEmpty {
      report("store.url", "needs `fleet.unseal_command`: without it no key of a shard can be used")
    }
    if settings.mqtt.host == .embedded {
      report(
        "mqtt.host", else: "store.url", "expected the broker of the fleet: a private one is not reached by other nodes")
    }
    if given["homes"]?.node?.isEmpty == false {
      report("homes", "are kept in the database of the fleet: run `threadkeeper fleet homes add`")
    }
    var useless = ["mqtt.client_id", "mqtt.take_over", "store.key_file", "store.passphrase", "clients.socket"]
    if settings.discovery != .off { useless.append("discovery.mdns") }
    if settings.reading != .off { useless.append("discovery.read") }
    if settings.matterController != .elsewhere { useless.append("discovery.matter_controller") }
    if settings.homeAssistant.discovery != .off { useless.append("home_assistant.discovery") }
    for name in useless where isGiven(name) { report(name, "has no effect with `store.url`", .warning) }
  }

  /// Beside `homes`, nobody receives what is published to `mqtt.base_topic`. Where it lies on what a home listens to,
  /// whoever publishes below it would be taken for a router of that home.
  private mutating func homes(_ settings: inout Settings) {
    let (topic, homes) = (settings.mqtt.baseTopic, settings.homes)
    guard given["homes"]?.node != nil, !homes.isEmpty else {
      settings.homes = [.init(name: "home", base: topic)]
      return
    }
    guard isGiven("mqtt.base_topic") else { return }
    if let other = homes.first(where: { BaseTopic.isHeard(topic, on: $0.base) }) {
      report(
        "mqtt.base_topic",
        "\(topic.shown) lies where routers speak to the home `\(other.name)` " + "(\((other.base + "/in/#").shown))")
    } else if topic != Settings.MQTT().baseTopic, !homes.contains(where: { $0.base == topic }) {
      report("mqtt.base_topic", "has no effect while `homes` names base topics of its own", .warning)
    }
  }

  private mutating func homeAssistant(_ settings: Settings) {
    let prefix = settings.homeAssistant.prefix
    guard isGiven("home_assistant.prefix") || settings.homeAssistant.discovery == .on,
      let home = settings.homes.first(where: { BaseTopic.overlap($0.base, prefix) })
    else { return }
    // Where no prefix was written, it is the base topic that a person has to look at.
    report(
      "home_assistant.prefix", else: "mqtt.base_topic",
      "\(prefix.shown) equals the base topic of the home `\(home.name)` (\(home.base.shown)), "
        + "or one lies in the other; choose another base topic, or set " + "`home_assistant.discovery: off`")
  }

  /// The token may lie beside the store, and other addresses than loopback need one.
  private mutating func http(_ settings: inout Settings) {
    let file = settings.http.tokenFile(besideStore: settings.store.path)
    if !isGiven("http.token") {
      if access(file, R_OK) == 0 {
        let entry = entry(inFile: file, of: "http.token", at: .defaults, isSecret: true)
        given["http.token"] = Given(place: .defaults, entry: entry)
        Setting.named["http.token"]?.read(&self, &settings)
        settings.http.isTokenFromFile = true
      } else {
        // Other users' commands cannot read it, and need not.
        settings.http.isTokenUnreadable = errno != ENOENT
      }
    }
    // A token that is unfit is reported already, and the daemon's user reads what another one cannot.
    let address = settings.http.address
    if !HostName.isLoopback(address), !isGiven("http.token"), !settings.http.isTokenUnreadable,
      !isGiven("http.trusted_proxy")
    {
      report(
        "http.address",
        "needs a token, because other machines reach \(address.shown): run "
          + "`threadkeeper page token`, or set `http.token`")
    }
  }
}

/// The topic that everything of one home lies below. Compared byte by byte, as a broker does: a level that begins with
/// a combining accent swallows the `/` before it for Swift's characters.
enum BaseTopic {
  static let expected =
    "a topic such as `threadkeeper` or `home/thread` (no `+`, `#`, `$`, `%` or control character, "
    + "no empty level, no space at the ends, at most 128 bytes)"

  /// Levels of text, no wildcard (MQTT 5.0, 4.7.1), no `$` as system topics have it (4.7.2), and
  /// no `%`, which the access list of a broker would replace by a user's name.
  static func isFit(_ topic: String) -> Bool {
    let levels = topic.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false)
    // Mosquitto drops a space at the end of a line of its access list.
    return (1...128).contains(topic.utf8.count) && topic.first != " " && topic.last != " "
      && levels.allSatisfy { level in
        !level.isEmpty && !level.contains { ASCII.isControl($0) || ["+", "#", "$", "%"].contains($0) }
      }
  }

  /// Whether a message below one could be taken for one below the other.
  static func overlap(_ left: String, _ right: String) -> Bool { isWithin(left, right) || isWithin(right, left) }

  /// The topic and all that it lies in, by their bytes.
  static func pathTo(_ topic: String) -> [ArraySlice<UInt8>] {
    let bytes = Array(topic.utf8)
    let ends = bytes.indices.filter { bytes[$0] == UInt8(ascii: "/") } + [bytes.count]
    return ends.map { bytes[..<$0] }
  }

  /// Whether the topic is among those that the daemon listens to for a home on `base`: `<base>/in/#`,
  /// which means `<base>/in` as well (MQTT 5.0, 4.7.1.2).
  static func isHeard(_ topic: String, on base: String) -> Bool { isWithin(topic, base + "/in") }

  /// Whether the first is the second or lies below it.
  private static func isWithin(_ topic: String, _ other: String) -> Bool {
    let (topic, other) = (topic.utf8, other.utf8)
    return topic.starts(with: other)
      && (topic.count == other.count || topic.dropFirst(other.count).first == UInt8(ascii: "/"))
  }
}

/// Base topics of homes. Thousands of them are not compared one by one.
struct TakenTopics {
  /// Homes by their base topics, and one of those whose base topics lie below a topic.
  private var homes: [ArraySlice<UInt8>: String] = [:]
  private var above: [ArraySlice<UInt8>: String] = [:]

  /// - Returns: the home that has the topic, one above it or one below it; else it is taken now.
  mutating func take(_ topic: String, for home: String) -> String? {
    let path = BaseTopic.pathTo(topic)
    let own = path[path.count - 1]
    for topic in path { if let other = homes[topic] { return other } }
    if let other = above[own] { return other }
    homes[own] = home
    for topic in path.dropLast() where above[topic] == nil { above[topic] = home }
    return nil
  }
}
