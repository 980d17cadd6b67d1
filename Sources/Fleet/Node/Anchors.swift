#if Fleet
import Broker
import Foundation
import Synchronization

/// Which generation of a shard there has been: retained at `<prefix>/fleet/anchor/<shard>`, outside of the database, so
/// that a database that was rolled back is noticed.
struct Anchor: Codable, Equatable {
  let shard: Int
  let generation: Int64
  /// Keyed, in 64 hex digits: see `ShardKeys.anchorHash(of:)`.
  let hash: String

  /// - Parameter prefix: of all topics of the fleet.
  static func topic(of shard: Int, below prefix: String) -> String { "\(prefix)/fleet/anchor/\(shard)" }

  /// Removes it, so that the next claim of the shard takes what the database has.
  static func removal(of shard: Int, below prefix: String) -> Publication {
    Publication(topic: topic(of: shard, below: prefix), payload: [], retain: true)
  }
}

/// The node's own connection to the broker: it has the anchors of all shards, and publishes those of this node.
///
/// What the broker keeps comes before a message that this connection publishes to itself, at shard 0: then it is ready.
final class Anchors: MosquittoHandler {
  private struct State {
    var isReady = false
    var known: [Int: Anchor] = [:]
    /// To be published.
    var due: [Int: Publication] = [:]
  }

  private let prefix: String
  /// What this connection publishes to itself: others of the fleet do so at the same topic.
  private let marker = [UInt8]("\(UInt64.random(in: .min ... .max))".utf8)
  private let state = Mutex(State())
  /// Called when it is ready, or has lost the broker with these words.
  private let changed: @Sendable (_ problem: String?) -> Void

  init(below prefix: String, changed: @escaping @Sendable (_ problem: String?) -> Void) {
    self.prefix = prefix
    self.changed = changed
  }

  var filter: String { "\(prefix)/fleet/anchor/+" }

  /// Whether the broker is there, and all anchors have come.
  var isReady: Bool { state.withLock { $0.isReady } }

  func anchor(of shard: Int) -> Anchor? { state.withLock { $0.known[shard] } }

  /// Returns at once; the client is to be woken then.
  ///
  /// - Returns: whether it is another one than before.
  func note(_ anchor: Anchor) -> Bool {
    guard let payload = try? JSONEncoder().encode(anchor) else { return false }
    return state.withLock { state in
      guard state.known[anchor.shard] != anchor else { return false }
      state.known[anchor.shard] = anchor
      state.due[anchor.shard] = publication(anchor.shard, Array(payload), retain: true)
      return true
    }
  }

  private func publication(_ shard: Int, _ payload: [UInt8], retain: Bool) -> Publication {
    Publication(topic: Anchor.topic(of: shard, below: prefix), payload: payload, retain: retain, token: UInt64(shard))
  }

  // MARK: The connection

  func connected(_ session: MosquittoSession) {
    // What the broker keeps comes again, and the next look at the shards publishes what differs.
    state.withLock { ($0.known, $0.due) = ([:], [:]) }
  }

  func subscribed(refused: [SubscriptionRefusal]) {
    state.withLock { $0.due[0] = publication(0, marker, retain: false) }
    // The client asks for publications when it is woken.
    changed(nil)
  }

  func received(_ batch: [IncomingMessage]) {
    for message in batch {
      guard let shard = message.topic.split(separator: "/").last.flatMap({ Int($0) }) else { continue }
      guard shard > 0 else {
        guard message.payload == marker else { continue }
        state.withLock { $0.isReady = true }
        changed(nil)
        continue
      }
      let anchor = try? JSONDecoder().decode(Anchor.self, from: Data(message.payload))
      state.withLock { $0.known[shard] = anchor?.shard == shard ? anchor : nil }
    }
  }

  func publications(upTo limit: Int) -> [Publication] {
    state.withLock { state in
      let next = state.due.prefix(limit)
      for shard in next.map(\.key) { state.due[shard] = nil }
      return next.map(\.value)
    }
  }

  func acknowledged(_ publication: SentPublication, _ outcome: PublicationOutcome) {
    if case .refused(let error) = outcome { changed(error.message) }
  }

  func disconnected(_ event: MosquittoDisconnection) {
    state.withLock { $0.isReady = false }
    changed(event.error.message)
  }
}

#endif
