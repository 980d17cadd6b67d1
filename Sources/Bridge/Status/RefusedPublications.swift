import Broker
import Logging
import Synchronization
import Wire

/// What the broker refuses: topics, or devices of Home Assistant, which are one matter, however many routers there are.
package struct Refusal: WirePart, WireMessage, WireReadable, Equatable, Sendable {
  package enum Kind: Sendable {
    case topic
    /// A device that is announced.
    case device
    /// One that is gone, or announced elsewhere: the topic was to be emptied.
    case removal
  }

  private(set) var kind = Kind.topic
  /// Topics; publications about devices on this connection: after the first ones no more are tried.
  package var count = 0
  /// The last. It is cut, and so are the words: a client may have chosen it.
  package var topic = ""
  /// The broker's answer to the last.
  package var problem = ""
  /// What a person can do.
  package var remedy = ""

  package init() {}

  package mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
    c.needed("last_topic", &topic)
    c.needed("problem", &problem)
    c.needed("remedy", &remedy)
    c.needed("topics", &count)
  }

  private static func cut(_ text: String, to most: Int) -> String {
    text.unicodeScalars.count > most ? String(String.UnicodeScalarView(text.unicodeScalars.prefix(most))) + "…" : text
  }

  package init(_ kind: Kind, topic: String, _ error: MosquittoError, count: Int) {
    (self.kind, self.count) = (kind, count)
    (self.topic, problem) = (Self.cut(topic, to: 200), Self.cut(error.message, to: 300))
    remedy =
      switch (kind, error.reason) {
      case (.topic, .notAuthorized):
        "Nobody receives what it refuses. Put what `threadkeeper acl` prints into the broker's access list; "
          + "`--daemon` names this login."
      case (.topic, _): "If that does not say why, the broker's log may."
      case (.device, .notAuthorized):
        "Generate the broker's access list again with `threadkeeper acl` and the options that you used "
          + "before, and restart the broker; or set `home_assistant.discovery: off`, and restart threadkeeper."
      case (.device, _):
        "Check the broker's log for the reason; or set `home_assistant.discovery: off`, and restart " + "threadkeeper."
      case (.removal, _):
        "A device that is gone stays in Home Assistant. Allow threadkeeper's login to write there and restart "
          + "it, or empty the topic with another login: `mosquitto_pub -r -n -t TOPIC`."
      }
  }
}

/// What the broker refuses of all that the daemon publishes, on the connection that is: shown by the monitor, and
/// logged once for each reason until the broker takes it.
final class RefusedPublications: Sendable {
  private struct State {
    /// Topics that are remembered; a broker that refuses more refuses enough.
    private static let most = 1_000

    private var topics: [String: MosquittoError] = [:]
    /// One of them.
    private var last: String?
    private var devices: Refusal?
    /// What the log has named of it.
    private var logged = Noticed<Matter>()

    private struct Matter: Hashable {
      let kind: Refusal.Kind
      let reason: String
    }

    /// As nearly always: then there is nothing that the broker could take again. Whatever is refused is in `logged`.
    var takesAll: Bool { logged.isEmpty }

    /// Topics before devices.
    var refused: Refusal? {
      guard let last, let error = topics[last] else { return devices }
      return Refusal(.topic, topic: last, error, count: topics.count)
    }

    /// Another connection: the broker may have another mind.
    mutating func restart() { (topics, last, devices) = ([:], nil, nil) }

    /// - Returns: it, where the log has not named it yet.
    mutating func refuse(_ topic: String, _ kind: Refusal.Kind, _ error: MosquittoError) -> Refusal? {
      let refusal = Refusal(kind, topic: topic, error, count: (devices?.count ?? 0) + 1)
      if kind != .topic {
        devices = refusal
      } else if topics.count < Self.most || topics[topic] != nil {
        (topics[topic], last) = (error, topic)
      }
      let reason = kind == .topic ? error.reason.rawValue : refusal.remedy
      return logged.begins(Matter(kind: kind, reason: reason)) ? refusal : nil
    }

    /// - Returns: whether it was refused before. Of a topic: by the access list, all of which may be another one then.
    mutating func take(_ topic: String, _ kind: Refusal.Kind) -> Bool {
      if kind != .topic {
        if devices?.kind == kind { devices = nil }
        return logged.end { $0.kind == kind } > 0
      }
      let isRegained = topics.removeValue(forKey: topic)?.reason == .notAuthorized
      if isRegained {
        topics.removeAll()
        logged.end { $0.kind == .topic }
      }
      if last == topic { last = topics.keys.min() }
      return isRegained
    }
  }

  private let monitor: BridgeMonitor
  private let devices: [String]
  private let logger: Logger
  private let state = Mutex(State())

  /// - Parameter devices: filters of the topics where devices are announced.
  init(monitor: BridgeMonitor, devices: [String], logger: Logger) {
    self.monitor = monitor
    self.devices = devices.map { String($0.prefix { $0 != "+" }) }
    self.logger = logger
  }

  /// A connection was made, or has ended.
  func restart() { change { $0.restart() } }

  private func change<R: Sendable>(_ body: (inout State) -> R) -> R {
    let (result, refused) = state.withLock { state in
      let result = body(&state)
      return (result, state.refused)
    }
    monitor.update { $0.refused = refused }
    return result
  }

  private func kind(of publication: SentPublication) -> Refusal.Kind {
    guard devices.contains(where: { publication.topic.utf8.starts(with: $0.utf8) }) else { return .topic }
    return publication.isEmpty ? .removal : .device
  }

  /// - Returns: whether the access list lets the daemon do what it did not before: then all is to be published again.
  func acknowledged(_ publication: SentPublication, _ outcome: PublicationOutcome) -> Bool {
    switch outcome {
    case .refused(let error):
      monitor.update { $0.publicationsRefused += 1 }
      if let refusal = change({ $0.refuse(publication.topic, kind(of: publication), error) }) { log(refusal) }
      return false
    case .delivered:
      guard !state.withLock({ $0.takesAll }) else { return false }
      let kind = kind(of: publication)
      guard change({ $0.take(publication.topic, kind) }) else { return false }
      let words: Logger.Message =
        switch kind {
        case .topic: "the broker takes again what it has refused"
        case .device: "the broker takes the devices of Home Assistant again"
        case .removal: "the broker lets devices of Home Assistant be removed again"
        }
      logger.notice(words)
      return kind == .topic
    }
  }

  private func log(_ refusal: Refusal) {
    guard refusal.kind != .topic else {
      return logger.error("the broker refuses publications", metadata: ["reason": "\(refusal.problem)"])
    }
    logger.warning(
      "the broker refuses a device of Home Assistant",
      metadata: ["topic": "\(refusal.topic)", "reason": "\(refusal.problem)", "remedy": "\(refusal.remedy)"])
  }
}
