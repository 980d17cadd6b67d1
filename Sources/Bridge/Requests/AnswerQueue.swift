import Broker
import Home
import Synchronization
import ThreadRequests
import Wire

/// An answer, or the message of an adoption, that waits for the connection that publishes.
package struct WaitingMessage: Sendable {
  /// Of an adoption, which is worth nothing on another connection.
  package struct Order: Hashable, Sendable {
    /// Its name.
    package let home: String
    package let message: UInt64
    package let connection: Int64
  }

  package let publication: Publication
  /// It is worth nothing after that.
  package let expires: WireTime
  package let order: Order?

  init(_ publication: Publication, expires: WireTime, order: Order? = nil) {
    self.publication = publication
    self.expires = expires
    self.order = order
  }

  /// What became of an event whose publisher asks for it.
  ///
  /// - Returns: nil where nobody asks.
  init?(ofEvent outcome: LoopOutcome, at now: WireTime) {
    guard case .topic(let topic, let correlation, _)? = outcome.origin?.reply else { return nil }
    self.init(
      Publication(
        topic: topic, payload: ThreadAnswer(outcome.rejection).json(), contentType: "application/json",
        correlationData: correlation), expires: now.adding(seconds: Int(MQTTRequest.timeout)))
  }
}

/// Answers that wait for the connection that publishes, and messages of adoptions.
///
/// They are in memory only: an answer may hold secrets, and is of use for seconds. Who gets none asks again; to do the
/// same once more changes nothing. A message of an adoption is of use for minutes, in which what it is sent by may end:
/// so it waits for one connection only, and for the next one the home makes it again, if it still holds.
package final class AnswerQueue: Sendable {
  /// Messages, and bytes of them, that wait at most.
  static let most = 4_000
  static let mostBytes = 4 << 20
  /// Those of the outbox count from 1, those of greetings from 1 << 63.
  private static let firstToken: UInt64 = 1 << 62

  package struct Dropped: Equatable, Sendable {
    package var count = 0
    /// Names of the homes that have to handle `deliveriesAreDue`, as the message of an adoption is among them.
    package var homes: Set<String> = []
  }

  private struct State {
    var waiting: [WaitingMessage] = []
    var bytes = 0
    /// Orders that the connection has, by token.
    var sent: [UInt64: WaitingMessage.Order] = [:]
    var connection: Int64 = 0
    var nextToken = AnswerQueue.firstToken
  }

  private let state = Mutex(State())

  package init() {}

  var isEmpty: Bool { state.withLock { $0.waiting.isEmpty } }

  /// - Returns: what is dropped, because too many wait.
  package func add(_ messages: [WaitingMessage], at now: WireTime) -> Dropped {
    var dropped = Dropped()
    guard !messages.isEmpty else { return dropped }
    state.withLock { state in
      let bytes = messages.reduce(0) { $0 + $1.publication.bytes }
      if state.waiting.count + messages.count > Self.most || state.bytes + bytes > Self.mostBytes {
        state.waiting.removeAll { $0.expires <= now }
        state.bytes = state.waiting.reduce(0) { $0 + $1.publication.bytes }
      }
      for message in messages {
        let bytes = message.publication.bytes
        guard state.waiting.count < Self.most, state.bytes + bytes <= Self.mostBytes else {
          dropped.count += 1
          if let order = message.order { dropped.homes.insert(order.home) }
          continue
        }
        state.waiting.append(message)
        state.bytes += bytes
      }
    }
    return dropped
  }

  /// The next ones, at most `limit`, each with the seconds that are left to it. What is for another connection goes.
  ///
  /// - Parameter connection: the number of the one that takes them.
  package func next(_ limit: Int, connection: Int64, at now: WireTime) -> [Publication] {
    state.withLock { state in
      if connection != state.connection {
        state.connection = connection
        state.sent = [:]
      }
      var taken: [Publication] = []
      var index = 0
      while index < state.waiting.count, taken.count < limit {
        let waiting = state.waiting[index]
        index += 1
        state.bytes -= waiting.publication.bytes
        let left = waiting.expires.milliseconds - now.milliseconds
        guard left > 0, waiting.order.map({ $0.connection == connection }) ?? true else { continue }
        var publication = waiting.publication
        if let order = waiting.order {
          publication.token = state.nextToken
          state.sent[state.nextToken] = order
          state.nextToken += 1
        }
        publication.messageExpiry = UInt32((min(left, 86_400_000) + 999) / 1_000)
        taken.append(publication)
      }
      state.waiting.removeFirst(index)
      return taken
    }
  }

  /// The broker has taken what was sent with this token; or it refuses it, which is due again when its time on the
  /// broker would be over.
  ///
  /// - Returns: the message of an adoption, which its home has to handle; nil for another token.
  package func settled(_ token: UInt64, isDelivered: Bool) -> WaitingMessage.Order? {
    let order = state.withLock { $0.sent.removeValue(forKey: token) }
    return isDelivered ? order : nil
  }
}
