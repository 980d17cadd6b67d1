import Broker
import Foundation
import Testing
import ThreadDataset
import ThreadkeeperSupport

/// What a border router says, as publications.
struct BorderRouter: Sendable {
  let agent: String
  var user = "border-router"
  var base = "threadkeeper"

  init(_ agent: String, user: String = "border-router", base: String = "threadkeeper") {
    self.agent = agent
    self.user = user
    self.base = base
  }

  /// A router of a fleet: the number in the last bytes of its id.
  init(number: Int, user: String = "border-router") {
    let digits = String(number, radix: 16)
    self.init("a1b2c3d4" + String(repeating: "0", count: 8 - digits.count) + digits, user: user)
  }

  var topic: String { "\(base)/router/\(agent)" }

  /// Of its device in Home Assistant.
  var device: String { "homeassistant/device/threadkeeper/threadkeeper_\(base)_\(agent)/config" }

  func says(_ kind: String, _ fields: (String, String)...) -> Publication {
    let all = [("border_agent_id", "\"\(agent)\"")] + fields
    let body = all.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",")
    return Publication(topic: "\(base)/in/\(user)/\(kind)", payload: Array("{\(body)}".utf8))
  }

  func announces(_ dataset: String, sequence: UInt64? = nil) -> Publication { says("announce", dataset, sequence) }

  func changes(to dataset: String, sequence: UInt64? = nil) -> Publication { says("dataset", dataset, sequence) }

  private func says(_ kind: String, _ dataset: String, _ sequence: UInt64?) -> Publication {
    let field = ("dataset", "\"\(dataset)\"")
    return sequence.map { says(kind, field, ("seq", "\($0)")) } ?? says(kind, field)
  }

  var leaves: Publication { says("leave") }
}

/// A login with keys, and one router that it speaks for under seal.
struct SealingLogin: Sendable {
  let user: String
  let agent: String
  let identity: Identity

  init(_ user: String, _ agent: String) throws {
    self.user = user
    self.agent = agent
    identity = try Identity()
  }

  /// - Parameter line: the daemon's.
  func says(_ kind: String, _ dataset: String?, to line: String) throws -> Publication {
    let more = dataset.map { #","name":"Living room","dataset":"\#($0)""# } ?? ""
    return try identity.seals(
      #"{"border_agent_id":"\#(agent)"\#(more)}"#, to: line, at: "threadkeeper/in/\(user)/\(kind)")
  }

  /// The topic of its router's state.
  var state: String { "threadkeeper/router/\(agent)" }
}

extension Identity {
  /// A message that is sealed to somebody.
  ///
  /// - Parameters:
  ///   - id: of one that counts once and lives for minutes; nil: the number of the message is the time.
  ///   - more: fields beside the envelope, with a comma before each.
  func seals(_ body: String, to line: String, at topic: String, id: String? = nil, _ more: String = "") throws
    -> Publication
  {
    let now = Date().timeIntervalSince1970
    let envelope = try Envelope.seal(
      Array(body.utf8), to: try PublicIdentity(line: line), from: self,
      at: .init(
        topic: topic, order: id.map { .identifier($0) } ?? .sequence(UInt64(now * 1_000_000)), now: Int64(now),
        lifetime: id.map { _ in Envelope.longestLifetime })
    ).json()
    return Publication(topic: topic, payload: Array(#"{"sealed":"#.utf8) + envelope + Array("\(more)}".utf8))
  }

  /// The body of a message that is sealed to this one.
  ///
  /// - Parameter line: of who has sealed it.
  func opens(_ message: IncomingMessage, from line: String) throws -> JSON {
    let envelope = try #require(UntrustedJSON.value(of: "sealed", in: message.payload, depth: 8))
    let opened = try Envelope.open(
      envelope, with: self, from: [PublicIdentity(line: line)], topic: message.topic,
      now: Int64(Date().timeIntervalSince1970))
    return try #require(JSON(String(decoding: opened.body, as: UTF8.self)))
  }
}

/// What a border router advertises on the local network.
struct AdvertisedRouter: Sendable {
  let agent: String
  var network: ThreadNetwork
  var partition: UInt8 = 1
  var activeSeconds: UInt8 = 1
  /// Whether its border agent takes a session by the PSKc.
  var takesPSKc = false
  /// The end of its off-mesh routable prefix.
  var omr: UInt8 = 1

  init(_ number: UInt8, _ network: ThreadNetwork, takesPSKc: Bool = false) {
    self.takesPSKc = takesPSKc
    agent = String(repeating: "0", count: 28) + "ab" + Hexadecimal.encode([number])
    self.network = network
  }

  var topic: String { "threadkeeper/router/\(agent)" }

  var text: [[UInt8]] {
    [
      Array("rv=1".utf8), Array("vn=Acme".utf8), Array("mn=BR-2".utf8), Array("nn=\(network.name)".utf8),
      Array("tv=1.4.0".utf8), Array("xp=".utf8) + (Hexadecimal.decode(network.extendedPANID) ?? []),
      Array("id=".utf8) + (Hexadecimal.decode(agent) ?? []), Array("at=".utf8) + [0, 0, 0, 0, 0, activeSeconds, 0, 0],
      Array("pt=".utf8) + [0, 0, 0, partition], Array("sb=".utf8) + [0, 0, 0b1000, takesPSKc ? 0b10_001 : 0b10_000],
      Array("omr=".utf8) + [64, 0xFD, 0x97, 0xFF, 0x26, 0x55, 0x34, 0, omr],
    ]
  }
}
