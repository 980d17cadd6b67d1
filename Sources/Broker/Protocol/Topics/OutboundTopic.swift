import Home
import SodiumCrypto
import ThreadDataset
import Wire

/// Every topic that the daemon publishes, below the base topic of a home.
package struct OutboundTopic: Sendable {
  package let base: String

  package init(base: String) { self.base = base }

  // Retained, about the daemon.
  package var state: String { "\(base)/bridge/state" }
  package var info: String { "\(base)/bridge/info" }
  package var health: String { "\(base)/bridge/health" }
  package var alerts: String { "\(base)/bridge/alerts" }
  package var consent: String { "\(base)/bridge/consent" }

  // Not retained.
  package var event: String { "\(base)/bridge/event" }
  package var alertEvent: String { "\(base)/bridge/event/alert" }
  /// Who the daemon is.
  package var daemon: String { "\(base)/bridge/daemon" }

  // Retained, about one thing.
  package func router(_ agent: BorderAgentID) -> String { "\(base)/router/\(agent)" }
  package func availability(_ agent: BorderAgentID) -> String { "\(base)/router/\(agent)/availability" }
  package func network(_ network: ExtendedPANID) -> String { "\(base)/network/\(network)" }
  package func alert(_ fingerprint: AlertFingerprint) -> String { "\(base)/alert/\(fingerprint)" }

  // Not retained.
  package func routerEvent(_ agent: BorderAgentID) -> String { "\(base)/router/\(agent)/event" }

  /// Where a user of the broker gets the dataset that a router of its shall use. No answer comes here,
  /// see `isAnswer`.
  package func setDataset(of user: String) -> String { "\(base)/out/\(user)/dataset/set" }

  /// Where a user of the broker gets what is to be changed in the store whose credentials it shares.
  package func changeStore(of user: String) -> String { "\(base)/out/\(user)/dataset/change" }

  /// Where a user of the broker is answered, unless the request names another topic of the user's.
  ///
  /// - Parameter command: what came, which may be anything: what cannot be a command is `unknown`.
  package func answer(to user: String, command: String) -> String {
    let bytes = command.utf8
    let isSound =
      (1...64).contains(bytes.count)
      && bytes.allSatisfy { $0 &- UInt8(ascii: "a") < 26 || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "/") }
      && Self.hasSoundLevels(bytes[...])
    return "\(base)/out/\(user)/response/\(isSound ? command : "unknown")"
  }

  /// Whether a topic is one that only this user may read: below `out/<user>/`, and nothing that a
  /// broker or a reader of topics could take for another place.
  package func isAnswer(_ topic: String, to user: String) -> Bool {
    var topic = topic
    return topic.withUTF8 { bytes in
      guard bytes.count <= Self.topicBytes else { return false }
      var rest = bytes[...]
      for part in [base, "/out/", user, "/"] {
        guard rest.starts(with: part.utf8) else { return false }
        rest = rest.dropFirst(part.utf8.count)
      }
      // Where a router gets what it shall do: no answer may look like that.
      guard !rest.starts(with: "dataset/".utf8), !rest.elementsEqual("dataset".utf8) else { return false }
      return Self.hasSoundLevels(rest)
    }
  }

  /// Bytes of a Response Topic that is honoured: its levels are names that a program chose.
  private static let topicBytes = 1_024

  /// Whether no level is empty, `.` or `..`, and no character may not be published to.
  private static func hasSoundLevels(_ rest: some Sequence<UInt8>) -> Bool {
    // Bytes of the level so far, and whether all of them are dots.
    var (count, areDots) = (0, true)
    func isSound() -> Bool { count > 2 || count > 0 && !areDots }
    for byte in rest {
      // A wildcard may not be published to, a control character is no part of a name.
      guard byte >= 0x20, byte != 0x7F, byte != 0x23, byte != 0x2B else { return false }
      guard byte == UInt8(ascii: "/") else {
        count += 1
        areDots = areDots && byte == UInt8(ascii: ".")
        continue
      }
      guard isSound() else { return false }
      (count, areDots) = (0, true)
    }
    return isSound()
  }
}

/// The base topic of every home, and the way back from a topic to its home.
package struct BaseTopics: Hashable, Sendable {
  /// A home's name and the topic below which all of its messages live.
  package struct Home: Hashable, Sendable {
    package let name: String
    package let base: String

    package init(name: String, base: String) {
      self.name = name
      self.base = base
    }
  }

  /// In the order of the settings. The first one carries what concerns the daemon as a whole.
  package let homes: [Home]
  /// Of a shard: its homes lie one level below this topic, and nobody else does. So a filter is for all of them.
  package let parent: String?
  /// Their places, by the bytes of their base topics.
  private let places: [[UInt8]: Int]

  package init(_ homes: [Home], below parent: String? = nil) {
    self.homes = homes
    self.parent = parent
    places = Dictionary(
      homes.enumerated().map { (Array($0.element.base.utf8), $0.offset) }, uniquingKeysWith: { first, _ in first })
  }

  /// Splits a topic into its home and what follows the base topic; `nil` for a foreign topic.
  ///
  /// No base topic lies below another one: the settings see to that.
  package func split(_ topic: String) -> (home: Home, rest: Substring)? {
    let bytes = topic.utf8
    var end = bytes.firstIndex(of: UInt8(ascii: "/"))
    while let slash = end {
      let next = bytes.index(after: slash)
      if let place = places[Array(bytes[..<slash])] { return (homes[place], topic[next...]) }
      end = bytes[next...].firstIndex(of: UInt8(ascii: "/"))
    }
    return nil
  }

  /// Everything that is said to the daemon.
  package var intakeFilters: [String] { roots.map { "\($0)/in/#" } }

  /// What filters begin with: each base topic, or what is for all of a shard.
  package var roots: [String] { parent.map { ["\($0)/+"] } ?? homes.map(\.base) }

  /// The same for base topics that are in use no more, without those of `roots`.
  package func formerRoots(of bases: [String]) -> [String] {
    var known = Set(roots.map { ExactName($0) })
    return bases.map { base in
      guard parent != nil, let slash = base.utf8.lastIndex(of: UInt8(ascii: "/")) else { return base }
      return "\(base[..<slash])/+"
    }.filter { known.insert(ExactName($0)).inserted }
  }
}

extension String {
  /// Equal byte by byte, as the broker sees it: `==` also takes texts for equal that are written
  /// differently and only look the same.
  package func hasBytes(of other: String) -> Bool {
    utf8.withContiguousStorageIfAvailable { mine in
      other.utf8.withContiguousStorageIfAvailable { mine.elementsEqual($0) }
    }.flatMap { $0 } ?? utf8.elementsEqual(other.utf8)
  }
}

/// Names one alert for good: the same home, alert and subject have the same fingerprint.
///
/// 8 bytes of BLAKE2b (RFC 7693) over length-prefixed texts, written as 16 lower-case hex digits.
package struct AlertFingerprint: Hashable, Sendable, CustomStringConvertible {
  private let bytes: [UInt8]

  /// Public: it keeps these hashes apart from others, and hides nothing.
  private static let domain = Array("threadkeeper/alert-fingerprint/1".utf8)

  package init(home: String, name: AlertName, subject: String) {
    var input: [UInt8] = []
    for text in [home, name.word.description, subject] {
      let length = UInt32(truncatingIfNeeded: text.utf8.count)
      for shift in [24, 16, 8, 0] { input.append(UInt8(truncatingIfNeeded: length >> shift)) }
      input.append(contentsOf: text.utf8)
    }
    // The lengths are constants that the function allows.
    let hash = Self.domain.withUnsafeBytes { try? BLAKE2b.hash(input, key: $0, count: 16) }
    bytes = Array((hash ?? []).prefix(8))
  }

  package var description: String { Hexadecimal.encode(bytes) }
}
