import Broker
import Home
import Logging
import SodiumCrypto
import ThreadkeeperSupport

/// Gives a Matter server what the home prefers. A server that has forgotten it gets it again, also while the broker is
/// away.
///
/// ```
///  Matter server ◀── MatterClient ──▶ MatterFeed ◀── SealedRequester ◀──▶ AgentLoop ◀──▶ broker
/// ```
struct MatterSource: AgentSource {
  private let configuration: MatterConfiguration
  private let agent: AgentLoop
  private var feed = MatterFeed()
  private var requester: SealedRequester
  /// What was logged about the home's networks last.
  private var listRefusal: String?

  init(_ configuration: MatterConfiguration, _ agent: AgentLoop) {
    (self.configuration, self.agent) = (configuration, agent)
    requester = configuration.requester
    agent.connect(configuration.connection)
  }

  var pause: Duration { feed.pause ?? configuration.poll }

  var standing: AgentStanding? { feed.standing }

  mutating func look() {
    // The dataset is in memory that was freed, and in what calls have left on the stack.
    defer { wipeDeadStack() }
    do throws(HomeAssistantTrouble) {
      let client = try configuration.client(until: agent.stop)
      defer { client.close() }
      decide(.looked(try client.server()))
      if let action = feed.action(at: agent.now) { try take(action, client) }
    } catch {
      guard error != .stopped else { return }
      decide(.troubled(error))
    }
    request(.networks)
  }

  private mutating func take(_ action: MatterFeed.Action, _ client: MatterClient) throws(HomeAssistantTrouble) {
    do throws(HomeAssistantTrouble) {
      switch action {
      case .give(let dataset): try client.set(dataset)
      case .takeBack: try client.remove()
      }
    } catch {
      guard case .refused(let code) = error else { throw error }
      return decide(.notTaken(code))
    }
    decide(.done(action))
  }

  mutating func handle(_ news: AgentNews) {
    switch news {
    case .connected:
      decide(.connected)
      request(.networks)
    case .refused(let topic, let message):
      guard let command = requester.command(refusedAt: topic) else { return }
      take(.refused(command, code: EventOutcome.refused, message: "the broker: \(message)"))
    case .message(let message): if let answer = requester.answer(message, now: agent.time) { take(answer) }
    case .disconnected, .answered: break
    }
  }

  private mutating func take(_ answer: SealedRequester.Answer) {
    switch answer {
    case .home(let home):
      listRefusal = nil
      decide(.listed(home))
    case .credentials(let dataset):
      decide(.credentials(dataset))
      look()
    case .refused(.preferred, let code, let message): decide(.refused(code: code, message: message))
    case .refused(.networks, let code, let message):
      guard code != listRefusal else { return }
      listRefusal = code
      agent.logger.warning("threadkeeper does not list the home's networks (\(code)): \(message)")
    }
  }

  private mutating func decide(_ event: MatterFeed.Event) {
    for effect in feed.handle(event, at: agent.now) {
      switch effect {
      case .log(let note): agent.log(note)
      case .ask: request(.preferred)
      }
    }
  }

  private mutating func request(_ command: SealedRequester.Command) {
    guard agent.isConnected else { return }
    do throws(SealingError) { agent.publish(try requester.publication(command, now: agent.time)) } catch {
      agent.logger.error("\(command.rawValue) can't be sealed: \(error.message)")
    }
  }
}

/// What the agent of one Matter server works with.
package struct MatterConfiguration: AgentConfiguration {
  package var login: AgentLogin
  let address: HomeAssistantAddress
  private let keys: AgentKeys
  /// Between two looks.
  var poll = Duration.seconds(60)
  /// For a connection, and for each answer.
  var requestTimeout = Duration.seconds(10)
  /// Whose programs may listen there, where that is on this machine and without TLS.
  package var users: Set<UInt32> = [0]

  /// - Parameter keys: of the login, which are needed: credentials are sent sealed.
  package init(_ login: AgentLogin, keys: AgentKeys, address: HomeAssistantAddress) {
    (self.login, self.keys, self.address) = (login, keys, address)
    self.login.keys = keys
  }

  /// `matter_server ws://127.0.0.1:5580`. By the first word the daemon knows what it lacks when it does not work.
  package var label: (key: String, value: String) {
    ("matter_server", "\(address.isTLS ? "wss" : "ws")://\(address.authority)")
  }

  package func source(for agent: AgentLoop) -> any AgentSource { MatterSource(self, agent) }

  /// - Throws: `HomeAssistantTrouble`.
  package func preview() throws -> [String] {
    let client = try client(until: nil)
    defer { client.close() }
    let server = try client.server()
    let network = server.network.map { ", of network \($0)" } ?? ""
    let name = "\(label.key) \(label.value)"
    return [
      "\(name): schema \(server.schema), with\(server.hasCredentials ? "" : "out") Thread credentials\(network)",
      login.writer.summary(of: InboundEvent(.heartbeat, of: name)),
    ]
  }

  func client(until signal: WakeSignal?) throws(HomeAssistantTrouble) -> MatterClient {
    try MatterClient(address, of: users, timeout: requestTimeout, signal: signal)
  }

  var requester: SealedRequester { SealedRequester(base: login.base, user: login.user, keys: keys) }

  package var connection: MosquittoConfiguration {
    var result = login.connection("matter-server \(address)", answers: "matter-server")
    for command in SealedRequester.Command.allCases {
      result.subscriptions.append(.init(requester.answerTopic(command), isRequired: false))
    }
    return result
  }
}
