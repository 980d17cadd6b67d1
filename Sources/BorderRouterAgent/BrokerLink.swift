import Broker
import SodiumCrypto
import Synchronization
import ThreadDataset
import ThreadkeeperSupport

/// One agent's connection to the broker. What was published and not acknowledged is offered again on the next
/// connection, in its order, or dropped then: what expires always is, because it may have.
final class BrokerLink: MosquittoHandler {
  /// What the agent's thread reads, in order.
  enum News: Sendable {
    case connected
    case disconnected(MosquittoDisconnection)
    case refused(Publication, MosquittoError)
    case notSubscribed(SubscriptionRefusal)
    case message(IncomingMessage)
    /// The configuration can't work.
    case failed(MosquittoError)
  }

  private struct State {
    /// Not acknowledged yet.
    var pending: [Publication] = []
    /// How many of them are on their way on this connection.
    var sent = 0
    var news: [News] = []
    var client: MosquittoClient?
    var task: Task<Void, Never>?
  }

  /// Messages that may wait for the agent's thread; more are dropped. An order among them comes again when it has
  /// expired, an answer does not.
  private static let newsLimit = 256

  private let offersAgain: Bool
  private let state = Mutex(State())
  /// Raised while there is news.
  let wake = WakeSignal()

  /// - Parameter offersAgain: whether what was published on an earlier connection is offered on the next one.
  init(offersAgain: Bool) { self.offersAgain = offersAgain }

  // MARK: For the agent's thread

  /// Connects, or connects again as another client.
  func connect(_ configuration: MosquittoConfiguration) {
    if let client = state.withLock({ $0.client }) {
      client.reconfigure(configuration)
      return
    }
    let client = MosquittoClient(configuration, handler: self)
    let task = Task { [weak self] in
      do { try await client.run() } catch let error as MosquittoError { self?.add(.failed(error)) } catch {}
    }
    state.withLock { ($0.client, $0.task) = (client, task) }
  }

  func publish(_ publication: Publication) {
    let client = state.withLock { state in
      state.pending.append(publication)
      return state.client
    }
    client?.wake()
  }

  func takeNews() -> [News] {
    wake.clear()
    return state.withLock { state in
      defer { state.news = [] }
      return state.news
    }
  }

  /// Publishes what is left, and ends.
  func end() async {
    let (client, task, unsent) = state.withLock { state in
      let unsent = Array(state.pending.dropFirst(state.sent))
      state.sent = state.pending.count
      return (state.client, state.task, unsent)
    }
    client?.stop(finalPublications: unsent)
    await task?.value
    // The client holds its handler.
    state.withLock { ($0.client, $0.task) = (nil, nil) }
  }

  // MARK: On the client's thread

  func connected(_ session: MosquittoSession) {
    state.withLock { state in
      state.sent = 0
      state.pending.removeAll { !offersAgain || $0.messageExpiry != nil }
    }
    add(.connected)
  }

  func subscribed(refused: [SubscriptionRefusal]) { for refusal in refused { add(.notSubscribed(refusal)) } }

  func received(_ batch: [IncomingMessage]) { for message in batch { add(.message(message)) } }

  func publications(upTo limit: Int) -> [Publication] {
    // Calls that have published plaintext have left some of it on this thread's stack.
    wipeDeadStack()
    return state.withLock { state in
      let next = Array(state.pending.dropFirst(state.sent).prefix(limit))
      state.sent += next.count
      return next
    }
  }

  func acknowledged(_ sent: SentPublication, _ outcome: PublicationOutcome) {
    let (client, publication) = state.withLock { state -> (MosquittoClient?, Publication?) in
      guard let index = state.pending.firstIndex(where: { $0.token == sent.token }) else { return (nil, nil) }
      if index < state.sent { state.sent -= 1 }
      return (state.client, state.pending.remove(at: index))
    }
    // It asks for publications once more, which wipes what this one has left.
    client?.wake()
    if case .refused(let error) = outcome, let publication { add(.refused(publication, error)) }
  }

  func disconnected(_ event: MosquittoDisconnection) { add(.disconnected(event)) }

  private func add(_ news: News) {
    state.withLock { state in
      if case .message = news, state.news.count >= Self.newsLimit { return }
      state.news.append(news)
    }
    wake.raise()
  }
}

/// Where an agent publishes, and as whom.
package struct AgentLogin: Sendable {
  /// Topics below it, for this login.
  var base: String
  var user: String
  /// Of an enrolled login; nil: all is published as plain text.
  package var keys: AgentKeys?
  /// How the broker is reached. Client id, session, subscriptions and last will are set by each agent.
  var broker: MosquittoConfiguration
  package var clientIDs = ClientIDs()
  /// What is wrong with the broker, in words of the options that configure it.
  package var brokerMessage: @Sendable (MosquittoError) -> String = { $0.message }

  package init(base: String, user: String, broker: MosquittoConfiguration) {
    (self.base, self.user, self.broker) = (base, user, broker)
  }

  /// Between two attempts to connect. An attempt takes up to 5 s, and after an outage of the network the agent is to be
  /// back within 15 s; a home has few of them.
  static let longestWait = Duration.seconds(5)

  /// The topics of answers to events begin with it.
  var answers: String { OutboundTopic(base: base).answer(to: user, command: "event") + "/" }

  /// A connection of this agent's own, without a session, that takes the answers to its events.
  ///
  /// - Parameters:
  ///   - name: of the agent among those of the login.
  ///   - answers: the last level of the topic for its answers.
  func connection(_ name: String, answers: String) -> MosquittoConfiguration {
    var result = broker
    result.clientID = clientIDs.id(of: "\(base)\n\(user)\n\(name)")
    result.subscriptions = [.init(self.answers + answers, isRequired: false)]
    result.cleanStart = true
    result.sessionExpiry = 0
    result.reconnect.ceiling = min(result.reconnect.ceiling, Self.longestWait)
    return result
  }

  var writer: EventWriter { EventWriter(base: base, user: user, keys: keys) }
}

/// The client ids of agents at the broker.
///
/// Whoever connects with a client id ends the connection that has it, and gets its session. So an id follows from a
/// secret, and from nothing that is published. All begin in the same way, for a broker with `clientid_prefixes`.
package struct ClientIDs: Sendable {
  /// Bytes of the secret, and of what follows the beginning.
  package static let size = 16

  private let secret: [UInt8]

  /// - Parameter secret: 16 bytes; without it, one for this process.
  package init(secret: [UInt8]? = nil) { self.secret = secret ?? RandomBytes.make(Self.size) }

  /// - Parameter name: of the connection; the same name always gets the same id.
  package func id(of name: String) -> String {
    // The lengths are right, so it does not fail.
    let id = secret.withUnsafeBytes { key in try? BLAKE2b.hash(Array(name.utf8), key: key, count: Self.size) }
    return "threadkeeper-" + Hexadecimal.encode(id ?? RandomBytes.make(Self.size))
  }
}
