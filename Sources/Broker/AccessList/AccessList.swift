/// The access list that the topics of threadkeeper rely on, in Mosquitto's form.
///
/// MQTT does not say who published. So the broker must see to it that
/// `<base>/in/<user>/…` can only be written by `<user>`, and `<base>/out/<user>/…` only be read by
/// `<user>`.
///
/// Mosquitto (2.0.11) tries the `deny` lines of a user first, in whatever order they are written, then
/// the user's other lines, then the patterns. What no line allows is denied.
package struct AccessList: Sendable {
  /// One for each home, as the settings have them. Nobody but threadkeeper may use topics below them.
  package var baseTopics: [String]
  /// Logins of threadkeeper itself.
  package var daemons: [String]
  /// Logins that see states, events and alerts, and publish only that Home Assistant has started. They find the
  /// daemon's devices.
  package var monitors: [String] = []
  /// Logins that see `bridge/…`, and publish nothing but their decisions about consent and the preferred network.
  package var approvers: [String] = []
  /// All logins whose decisions threadkeeper takes, listed as approvers or not: none that is kept may speak for them.
  package var deciders: [String] = []
  /// Home Assistant's discovery prefix.
  package var discoveryPrefix = "homeassistant"
  /// Logins of others that may do everything outside the base topics. Those that see something below them may write to
  /// `keptWrites` alone.
  package var kept: [String] = []
  /// Filters of topics to which kept logins publish that are monitors or approvers, too; empty: what Home Assistant
  /// itself needs.
  package var keptWrites: [String] = []
  /// Whether clients without a login may do the same.
  package var keepsAnonymous = false
  /// Whether the text goes to the end of a list that is there, which says what the kept logins may do elsewhere.
  package var isAddition = false

  package init(baseTopics: [String], daemons: [String]) {
    self.baseTopics = baseTopics
    self.daemons = daemons
  }

  /// Where Home Assistant publishes that it has started.
  var birth: String { "\(discoveryPrefix)/status" }
  /// Where threadkeeper's devices are announced to Home Assistant.
  var devices: String { "\(discoveryPrefix)/device/threadkeeper/+/config" }
  /// Where zigbee2mqtt says how its network is, by its default base topic.
  package static let zigbee = "zigbee2mqtt/bridge/info"
  /// What threadkeeper publishes below a base topic for everybody who may look.
  static let published = ["alert", "bridge", "network", "router"]
  /// The requests that no approver needs: all but `alerts/test`, `alerts/confirm`, `consent` and `preferred/set`.
  private static let deniedRequests = [
    "alerts/list", "credentials", "network", "networks", "preferred/available", "preferred/check", "preferred/forget",
    "preferred/get", "routers",
  ]

  // Above each part. By them a list that is there is known as threadkeeper's own: see `takeRoles`.
  static let anonymousComment = "# Clients without a login: everything but threadkeeper's topics."
  static let daemonComment = "# threadkeeper itself."
  static let keptComment = "# As before"
  static let seesComment = "sees threadkeeper's states and alerts"
  static let monitorComment = "# Sees states and alerts, and may say that Home Assistant has started."
  static let approverComment = "# Decides about consent."
  static let everybodyComment = "# Everybody else publishes and is answered under the own user name."

  /// - Throws: `AccessListError` for a name that would break the list, and for a login with two roles that the list
  ///   cannot express.
  package func text() throws(AccessListError) -> String {
    try check()
    // The list that is there may lack the end of its last line.
    var lines: [String] = isAddition ? [""] : []
    if keepsAnonymous, !isAddition {
      lines += [Self.anonymousComment]
      lines += everythingElse + baseTopics.map { "topic deny \($0)/#" }
      lines += ["topic deny \(devices)", ""]
    }
    for daemon in daemons { lines += section(daemon: daemon) }
    var listed: Set<String> = []
    for login in kept where listed.insert(login).inserted { lines += section(kept: login) }
    for login in monitors + approvers where listed.insert(login).inserted { lines += section(reader: login) }

    lines.append(Self.everybodyComment)
    for base in baseTopics { lines += ["pattern write \(base)/in/%u/#", "pattern read \(base)/out/%u/#"] }
    return lines.joined(separator: "\n") + "\n"
  }

  // MARK: Sections

  private func section(daemon: String) -> [String] {
    [Self.daemonComment, "user \(daemon)"] + baseTopics.map { "topic readwrite \($0)/#" } + [
      "# Home Assistant has started: what it knew is published again.", "topic read \(birth)",
      "# The daemon and its routers are devices there. Written also to remove them, and read to see what another",
      "# client has altered.", "topic readwrite \(devices)", "# The broker's own counters: is it dropping messages?",
      "topic read $SYS/broker/#", "# The channel of a Zigbee network beside the Thread network.",
      "topic read \(Self.zigbee)", "",
    ]
  }

  /// `deny` is for reading and writing at once. So a kept login that sees states may not write everywhere else, or it
  /// could write them, too. In a list that is there, it has its rights elsewhere already.
  private func section(kept login: String) -> [String] {
    let (isMonitor, isApprover) = (monitors.contains(login), approvers.contains(login))
    let comment =
      switch (isMonitor, isApprover) {
      case (false, false): ", but none of threadkeeper's topics."
      case (true, false): ", and \(Self.seesComment)."
      case (false, true): ", and decides about consent."
      case (true, true): ", \(Self.seesComment), and decides about consent."
      }
    let visible = isMonitor ? Self.published : isApprover ? ["bridge"] : []
    var lines = [Self.keptComment + comment]
    if visible.isEmpty {
      lines.append("user \(login)")
      if !isAddition { lines += everythingElse }
    } else if !isAddition {
      lines += [
        "# A list cannot let it see threadkeeper's topics and write everywhere else: here is where it may publish",
        "# (`--writes`).", "user \(login)", "topic read #", "topic read $SYS/#",
      ]
      if isMonitor, !keptWrites.isEmpty { lines.append("topic write \(birth)") }
      lines += writes.map { "topic write \($0)" }
    } else {
      lines += [
        "# If lines above let it write everywhere, put `topic read #` there instead, and a line `topic write` for each",
        "# place where it publishes: or it can alter what threadkeeper publishes.", "user \(login)",
      ]
      if isMonitor { lines += ["topic write \(birth)", "topic read \(devices)"] }
      lines += baseTopics.flatMap { base in visible.map { "topic read \(base)/\($0)/#" } }
    }
    if !isMonitor { lines.append("topic deny \(devices)") }
    for base in baseTopics {
      if visible.isEmpty {
        lines.append("topic deny \(base)/#")
      } else {
        let hidden = Self.published.filter { !visible.contains($0) } + (isApprover ? [] : ["in"])
        lines += (hidden + ["out"]).map { "topic deny \(base)/\($0)/#" }
      }
      if isApprover { lines += othersRequests(login, below: base) }
    }
    return lines + [""]
  }

  /// A list cannot say "all of `in` but these requests of one login", because what is denied wins. So each level is
  /// denied that is not on the way to `in/+/request/consent/+`, `in/+/request/preferred/set` and the two of alerts, and
  /// that of all others who decide. Below further names, threadkeeper refuses what is sent there.
  private func othersRequests(_ login: String, below base: String) -> [String] {
    (["\(base)/in", "\(base)/in/+"] + othersEvents(login, below: base)).map { "topic deny \($0)" }
  }

  /// What a login that decides may not do in the names of others, as filters.
  func othersEvents(_ login: String, below base: String) -> [String] {
    let any = "\(base)/in/+"
    // The answer to `consent/pending` would be in `out`, which is denied.
    let requests =
      Self.deniedRequests.map { "\($0)/#" } + [
        "alerts/+/+/#", "consent/pending/#", "consent/+/+/#", "preferred/set/+/#",
      ]
    var others: [String] = []
    for other in approvers + deciders where other != login && !others.contains(other) { others.append(other) }
    return ["\(any)/+", "\(any)/request/+"] + requests.map { "\(any)/request/\($0)" }
      + others.map { "\(base)/in/\($0)/#" }
  }

  private var writes: [String] { keptWrites.isEmpty ? usualWrites : keptWrites }
  var usualWrites: [String] { ["\(discoveryPrefix)/#"] }

  /// What a client may do on a broker without an access list.
  private var everythingElse: [String] { ["topic readwrite #", "topic read $SYS/#"] }

  private func section(reader login: String) -> [String] {
    let (isMonitor, isApprover) = (monitors.contains(login), approvers.contains(login))
    var lines: [String] = []
    if isMonitor { lines.append(Self.monitorComment) }
    if isApprover { lines.append(Self.approverComment) }
    lines.append("user \(login)")
    if isMonitor { lines += ["topic write \(birth)", "topic read \(devices)"] }
    for base in baseTopics {
      let own = "\(base)/in/\(login)"
      lines += (isMonitor ? Self.published : ["bridge"]).map { "topic read \(base)/\($0)/#" }
      // The patterns below would allow these to everybody.
      lines +=
        isApprover
        ? ["topic deny \(own)/+", "topic deny \(own)/request/+"]
          + Self.deniedRequests.map { "topic deny \(own)/request/\($0)/#" }
        : ["topic deny \(own)/#", "topic deny \(base)/out/\(login)/#"]
    }
    return lines + [""]
  }
}

extension AccessList {
  /// How many base topics have lines of their own.
  private static let mostBases = 100

  /// One filter for very many base topics of the same depth: Mosquitto looks at line after line for each message. What
  /// it allows beside them is on topics that nobody listens to. For a broker that serves threadkeeper alone.
  package static func merged(_ baseTopics: [String]) -> [String] {
    let topics = baseTopics.map { Array($0.utf8).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) }
    guard let first = topics.first, topics.count > mostBases, topics.allSatisfy({ $0.count == first.count }) else {
      return baseTopics
    }
    let levels = first.indices.map { level in
      topics.allSatisfy { $0[level] == first[level] } ? String(decoding: first[level], as: UTF8.self) : "+"
    }
    return [levels.joined(separator: "/")]
  }

  /// - Throws: `AccessListError` for the first thing that would break the list.
  private func check() throws(AccessListError) {
    for user in daemons + monitors + approvers + deciders { try Self.check(userName: user) }
    for user in kept { try Self.check(line: user) }
    for filter in keptWrites { try check(writes: filter) }
    for user in daemons {
      // What is denied to the others wins: the daemon would receive nothing.
      guard !(monitors + approvers + kept).contains(user) else {
        throw .userName(user, "it is threadkeeper's own login. Give what is kept, monitors and approvers their own")
      }
    }
  }

  private func check(writes filter: String) throws(AccessListError) {
    // Mosquitto leaves out spaces at the ends.
    guard filter.isValidFilter, filter.first != " ", filter.last != " ",
      !filter.unicodeScalars.contains(where: { $0.value < 0x20 })
    else { throw AccessListError(message: "`\(AccessListError.shown(filter))` is no topic filter") }
    for base in baseTopics where Self.reaches(filter, below: base) {
      throw AccessListError(
        message: "`\(filter)` reaches threadkeeper's topics below `\(base)`, which nobody else may write: name what "
          + "lies beside them, such as `zigbee2mqtt/#`")
    }
  }

  /// Whether a filter is for a base topic, or for anything below it.
  private static func reaches(_ filter: String, below base: String) -> Bool {
    func levels(_ text: String) -> [Substring.UTF8View] {
      text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Substring($0).utf8 }
    }
    let filter = levels(filter)
    for (level, wanted) in levels(base).enumerated() {
      guard level < filter.count else { return false }
      if filter[level].elementsEqual("#".utf8) { return true }
      guard filter[level].elementsEqual("+".utf8) || filter[level].elementsEqual(wanted) else { return false }
    }
    return true
  }

  /// Whether a user name keeps its place in the topics.
  package static func check(userName: String) throws(AccessListError) {
    try check(line: userName)
    // At scalars: to Swift, a slash and an accent after it are one character.
    let scalars = userName.unicodeScalars
    if scalars.contains("/") {
      throw .userName(userName, "with `/` it reaches into the topics of another user (`a/request` could speak for `a`)")
    }
    if scalars.contains("+") || scalars.contains("#") {
      throw .userName(userName, "`+` and `#` are wildcards of MQTT, and Mosquitto denies everything to such a user")
    }
    // A name is also the name of a directory with the login's settings.
    if userName == "." || userName == ".." || userName.utf8.count > 200 {
      throw .userName(userName, "it can't be the name of a directory")
    }
  }

  /// Whether a user name can stand in a line of the list, and in a password file.
  private static func check(line userName: String) throws(AccessListError) {
    let scalars = userName.unicodeScalars
    if userName.isEmpty { throw .userName(userName, "it is empty") }
    if scalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
      throw .userName(userName, "control characters end a line of the list")
    }
    if scalars.contains(":") { throw .userName(userName, "`:` ends the name in Mosquitto's password file") }
    if userName.first == " " || userName.last == " " { throw .userName(userName, "Mosquitto drops spaces at its ends") }
  }
}

/// What an access list cannot have in it, in words that say what to do.
package struct AccessListError: Error, Equatable, CustomStringConvertible {
  package let message: String

  package var description: String { message }

  static func userName(_ name: String, _ why: String) -> AccessListError {
    AccessListError(message: "the user name `\(shown(name))` can't be used: \(why)")
  }

  /// What it contains must not break the line that reports it.
  static func shown(_ text: String) -> String {
    String(text.map { $0.isNewline || $0.asciiValue ?? 32 < 32 ? "?" : $0 })
  }
}
