import Home
import ThreadDataset

/// Where Home Assistant finds the devices of one home: topics, and names that no other home can have.
package struct HomeAssistantPlace: Hashable, Sendable {
  /// Home Assistant's discovery prefix, `homeassistant` unless it was changed there.
  package let prefix: String
  /// The home's name and base topic.
  package let home: BaseTopics.Home
  /// The base topic of the first home, which has the last will of the daemon.
  package let firstBase: String
  /// Whether the daemon serves this home alone.
  package let isOnlyHome: Bool
  /// Of the program.
  package let version: String
  /// Where a browser of the home opens the page; nil where none can.
  package var page: String?

  /// - Returns: nil for a home that is not among `topics`.
  package init?(home name: String, in topics: BaseTopics, prefix: String, version: String) {
    guard let home = topics.homes.first(where: { $0.name == name }) else { return nil }
    self.init(home, in: topics, prefix: prefix, version: version)
  }

  /// - Parameter home: one of `topics`.
  package init(_ home: BaseTopics.Home, in topics: BaseTopics, prefix: String, version: String) {
    self.prefix = prefix
    self.home = home
    self.firstBase = topics.homes.first?.base ?? home.base
    self.isOnlyHome = topics.homes.count == 1
    self.version = version
  }

  /// Stands for the daemon's device: its object id, its identifier, and the beginning of its entities' unique ids.
  package var bridgeID: String { "threadkeeper_\(Self.escaped(home.base))" }

  /// The same of a border router.
  func routerID(_ agent: BorderAgentID) -> String { "\(bridgeID)_\(agent)" }

  /// Where the daemon's device is announced, retained.
  package var bridgeTopic: String { topic(bridgeID) }

  /// Where a border router is announced, retained.
  package func routerTopic(_ agent: BorderAgentID) -> String { topic(routerID(agent)) }

  /// Stands for the buttons of a request for consent: the object id, and the beginning of their unique ids. They are
  /// in the daemon's device.
  ///
  /// - Parameter request: `c-` and 16 hex digits.
  func questionID(_ request: String) -> String { "\(bridgeID)_\(request)" }

  /// Where the buttons of a request are announced, retained, while it waits.
  package func questionTopic(_ request: String) -> String { topic(questionID(request)) }

  /// The same of the button of a network that can be preferred while none is.
  ///
  /// - Parameter network: its Extended PAN ID.
  func choiceID(_ network: String) -> String { "\(bridgeID)_n-\(network)" }

  package func choiceTopic(_ network: String) -> String { topic(choiceID(network)) }

  /// The same of the button that keeps the keys of the preferred network while they are disputed.
  ///
  /// - Parameter since: when that network was changed last.
  func disputeID(_ since: WireTime) -> String { "\(bridgeID)_p-\(since.milliseconds)" }

  package func disputeTopic(_ since: WireTime) -> String { topic(disputeID(since)) }

  private func topic(_ objectID: String) -> String { "\(Self.devices(prefix))/\(objectID)/config" }

  /// What every device of the daemon is below: a node id, in Home Assistant's words. An access list can name it.
  package static func devices(_ prefix: String) -> String { "\(prefix)/device/threadkeeper" }

  /// Whether a topic can only be this home's.
  package func owns(_ topic: String) -> Bool {
    let start = "\(Self.devices(prefix))/\(bridgeID)"
    guard topic.utf8.starts(with: start.utf8) else { return false }
    // Another base topic may begin like this one.
    return [UInt8(ascii: "_"), UInt8(ascii: "/")].contains(topic.utf8.dropFirst(start.utf8.count).first)
  }

  /// Letters and digits stay; every other byte is `-` and two hex digits. So different topics have different
  /// names, of the characters that Home Assistant allows in an object id (`[a-zA-Z0-9_-]`). There is no `_` in
  /// it, which separates it from what follows.
  static func escaped(_ text: String) -> String {
    var escaped = ""
    for byte in text.utf8 {
      if isLetterOrDigit(byte) {
        escaped.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        escaped += "-" + Hexadecimal.encode([byte])
      }
    }
    return escaped
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }

  /// What the daemon's device is called.
  var bridgeName: String { isOnlyHome ? "Threadkeeper" : "Threadkeeper \(home.name)" }

  /// A name as a part of an entity's id, as Home Assistant makes it: small letters and digits, and `_` between them.
  /// Nil for what Home Assistant transliterates better itself.
  static func slug(_ name: String) -> String? {
    guard name.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    // By bytes: what Unicode says of each character takes a tenth of the time of announcing a device.
    let words = name.lowercased().utf8.split { !isLetterOrDigit($0) }
    return words.isEmpty ? nil : words.map { String(Substring($0)) }.joined(separator: "_")
  }
}
