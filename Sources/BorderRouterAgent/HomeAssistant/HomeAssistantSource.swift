import Broker
import FoundationEssentials
import Home
import Logging
import SodiumCrypto
import ThreadDataset
import ThreadkeeperSupport
import Wire

/// Publishes what Home Assistant's Thread store has, and with `writes` puts the home's preferred network into it. It
/// looks only while it is connected to the broker.
///
/// ```
///  Thread store ◀── HomeAssistantClient ──▶ HomeAssistantMachine ──▶ AgentLoop ──▶ broker
///       ▲                                            │                 ▲     │
///       └──────────────── PreferredSync ◀────────────┘   SealedRequester ◀───┘
/// ```
struct HomeAssistantSource: AgentSource {
  /// A token that was refused is not tried again before: Home Assistant bans who tries too often.
  private static let tokenPause = Duration.seconds(3_600)
  /// Between two tries to write what a person has agreed to.
  private static let writePause = Duration.seconds(5)

  private let configuration: HomeAssistantConfiguration
  private let agent: AgentLoop
  private var machine = HomeAssistantMachine()
  private var sync: PreferredSync
  private var requester: SealedRequester?
  /// The hash of a token that Home Assistant does not know.
  private var refusedToken: (hash: [UInt8], at: Duration)?
  /// When its list was read last, all of it; nil: not since the connection to the broker.
  private var listedAt: Duration?
  /// What was logged about the home's networks last.
  private var listRefusal: String?
  /// Since when no request for them was answered.
  private var silence: Duration?
  /// What a person has agreed to, not carried out yet.
  private var changes: [StoreChange] = []
  /// The ids of those that were carried out: a message may be repeated by others.
  private var done: Set<String> = []

  init(_ configuration: HomeAssistantConfiguration, _ agent: AgentLoop) {
    (self.configuration, self.agent) = (configuration, agent)
    requester = configuration.requester
    sync = PreferredSync(denied: requester == nil ? nil : configuration.denied)
    agent.connect(configuration.connection)
  }

  private var now: Duration { agent.now }

  var pause: Duration {
    guard sync.pending == nil else { return Self.writePause }
    return machine.pause ?? configuration.pause(listed: listedAt, at: now, isConnected: agent.isConnected)
  }

  private var isListDue: Bool {
    sync.pending != nil || machine.pause != nil || listedAt.map { now - $0 >= configuration.poll } ?? true
  }

  var standing: AgentStanding? { machine.standing }

  // MARK: Home Assistant

  mutating func look() {
    guard agent.isConnected || sync.pending != nil else { return }
    // The dataset is in memory that was freed, and in what calls have left on the stack.
    defer { wipeDeadStack() }
    let end = now + configuration.lookLimit
    do throws(HomeAssistantTrouble) {
      let client = try connect()
      defer { client.close() }
      if isListDue {
        if let dataset = sync.pending { try write(dataset, to: client) }
        try carryOut(with: client)
        for effect in machine.handle(.listed(try client.datasets()), at: now) {
          guard case .read(let entry) = effect else {
            follow(effect)
            continue
          }
          decide(.read(entry, try client.dataset(entry.id)))
          // The rest is read with the next look.
          guard now < end else { throw .timeout }
        }
        listedAt = now
        decide(.looked)
        request(.networks)
      }
      // What goes wrong here goes wrong with the next look, too, which says so.
      if let sighting = try? client.routers(quiet: configuration.quiet) { decide(.sighted(sighting)) }
    } catch {
      guard error != .stopped else { return }
      decide(.troubled(error))
      follow(.troubled)
    }
  }

  private mutating func connect() throws(HomeAssistantTrouble) -> HomeAssistantClient {
    let token = try configuration.token()
    let hash = token.withUnsafeBytes { (try? BLAKE2b.hash256(Array($0))) ?? [] }
    if let refused = refusedToken, refused.hash == hash, now - refused.at < Self.tokenPause { throw .wrongToken }
    refusedToken = nil
    do throws(HomeAssistantTrouble) { return try configuration.client(token, until: agent.stop) } catch {
      if error == .wrongToken { refusedToken = (hash, now) }
      throw error
    }
  }

  /// What a person has agreed to. What is not newer is not added: Home Assistant would ignore it, and write both
  /// datasets into its log, with their keys.
  private mutating func write(_ dataset: OperationalDataset, to client: HomeAssistantClient)
    throws(HomeAssistantTrouble)
  {
    guard let network = dataset.extendedPANID else { return }
    if Self.isNewer(dataset, than: try client.stored(network)?.reading) {
      do throws(HomeAssistantTrouble) { try client.add(dataset) } catch {
        guard case .refused(let code) = error else { throw error }
        return follow(.notTaken("it does not take the home's dataset (\(code))"))
      }
    }
    guard let (entry, reading) = try client.stored(network), case .complete(let there) = reading,
      there.networkKey == dataset.networkKey, there.pskc == dataset.pskc
    else { return follow(.notTaken(PreferredSync.keepsAnother)) }
    if !entry.isPreferred { try client.setPreferred(entry.id) }
    follow(.written)
  }

  /// What a person has agreed to, about just what threadkeeper knows to be there. The daemon repeats what is not done.
  private mutating func carryOut(with client: HomeAssistantClient) throws(HomeAssistantTrouble) {
    while let change = changes.popLast() {
      guard let (entry, reading) = try client.stored(change.network) else {
        follow(.gone(change.network))
        continue
      }
      guard !done.contains(change.id), let dataset = reading.dataset,
        machine.hasPublished(SharedDataset(entry, dataset))
      else { continue }
      do throws(HomeAssistantTrouble) {
        switch change.action {
        case .delete: try client.delete(entry.id)
        case .prefer(let agent, let address): try client.setBorderAgent(agent, address, of: entry.id)
        }
      } catch {
        guard case .refused(let code) = error else { throw error }
        agent.log(RouterNote(.warning, "it refuses what a person has agreed to, about \(entry.title) (\(code))"))
        continue
      }
      done.insert(change.id)
      agent.log(RouterNote(.info, change.sentence))
    }
  }

  private mutating func take(order message: IncomingMessage) {
    guard let keys = requester?.keys else { return }
    do throws(AdoptionOrder.Refusal) {
      let change = try StoreChange(message, keys: keys, now: agent.time)
      changes = changes.filter { $0.network != change.network } + [change]
      listedAt = nil
      look()
    } catch { agent.log(RouterNote(.warning, "a change that was sent is not made: \(error)")) }
  }

  /// As Home Assistant compares: seconds only.
  private static func isNewer(_ dataset: OperationalDataset, than reading: RouterReport.Reading?) -> Bool {
    switch reading {
    case nil, .some(.none): true
    case .partial, .unusable: false
    case .complete(let there): (there.activeTimestamp?.seconds ?? .max) < (dataset.activeTimestamp?.seconds ?? 0)
    }
  }

  // MARK: The broker

  mutating func handle(_ news: AgentNews) {
    switch news {
    case .connected:
      listedAt = nil
      follow(.connected)
      look()
    case .disconnected: silence = nil
    case .refused(let topic, let message):
      guard let command = requester?.command(refusedAt: topic) else { return }
      take(.refused(command, code: EventOutcome.refused, message: "the broker: \(message)"))
    case .answered(let outcome): decide(.answered(outcome))
    case .message(let message) where message.topic == configuration.changeTopic: take(order: message)
    case .message(let message): if let answer = requester?.answer(message, now: agent.time) { take(answer) }
    }
  }

  private mutating func decide(_ event: HomeAssistantMachine.Event) {
    for effect in machine.handle(event, at: now) { follow(effect) }
  }

  private func follow(_ effect: HomeAssistantMachine.Effect) {
    switch effect {
    case .read: break
    case .log(let note): agent.log(note)
    case .publish(let shared): agent.publish(configuration.event(shared), about: shared.id)
    case .gone(let network):
      var event = InboundEvent(.leave)
      event.message.thread.network = network
      agent.publish(event, about: "\(network)")
      agent.log(RouterNote(.info, "network \(network) is not there any more"))
    case .sight(let routers):
      agent.publish(configuration.event(routers, by: agent.name), expiry: 60, about: "sightings")
    }
  }

  // MARK: The home's preferred network

  private mutating func take(_ answer: SealedRequester.Answer) {
    switch answer {
    case .home(let home):
      (listRefusal, silence) = (nil, nil)
      if let store = machine.store { follow(.compared(home, store)) }
    case .credentials(let dataset): follow(.credentials(dataset))
    case .refused(.preferred, let code, let message): follow(.refused(code: code, message: message))
    case .refused(.networks, let code, let message):
      silence = nil
      guard code != listRefusal else { return }
      listRefusal = code
      agent.logger.warning("threadkeeper does not list the home's networks (\(code)): \(message)")
    }
  }

  private mutating func follow(_ event: PreferredSync.Event) {
    for effect in sync.handle(event, at: now) {
      switch effect {
      case .log(let note): agent.log(note)
      case .ask: request(.preferred)
      case .reread(let network): decide(.doubted(network))
      case .remember(let denied):
        do { try configuration.remember(denied) } catch {
          agent.logger.warning(
            "\(configuration.deniedFile ?? "") can't be written, so a person is asked again after a restart: \(error)")
        }
      case .write: look()
      }
    }
  }

  private mutating func request(_ command: SealedRequester.Command) {
    guard requester != nil, agent.isConnected else { return }
    if command == .networks, now - (silence ?? now) >= configuration.silence {
      take(
        .refused(
          .networks, code: "no_answer", message: "is its daemon running, and does this login read and publish there?"))
    }
    if command == .networks, silence == nil { silence = now }
    do throws(SealingError) {
      if let publication = try requester?.publication(command, now: agent.time) { agent.publish(publication) }
    } catch { agent.logger.error("\(command.rawValue) can't be sealed: \(error.message)") }
  }
}

/// What the agent of one Home Assistant works with.
package struct HomeAssistantConfiguration: AgentConfiguration {
  package var login: AgentLogin
  var address: HomeAssistantAddress
  /// Asked for each connection, so that it is not kept, and a new one is found.
  let token: @Sendable () throws(HomeAssistantTrouble) -> SecretBytes
  /// What people call it.
  package var name = "Home Assistant"
  /// Between two lists.
  package var poll = Duration.seconds(60)
  /// Between two looks for border routers at most: the daemon takes what it was not sent for three minutes as unknown.
  var sightingInterval = Duration.seconds(60)
  /// For a connection, and for each answer.
  package var requestTimeout = Duration.seconds(10)
  /// Whether the home's preferred network is written to it; needs keys.
  package var writes = false
  /// Whose programs may listen there, where that is on this machine and without TLS.
  package var users: Set<UInt32> = [0]
  /// Keeps what a person has denied for the next run; nil: it is asked again then.
  package var deniedFile: String?
  /// After that, and an answer, a look is ended. What was not read is read with the next one.
  var lookLimit = Duration.seconds(60)
  /// After so long without another border router its list of them is complete.
  package var quiet = Duration.seconds(3)
  /// For so long the daemon may leave requests without an answer, before that is logged.
  var silence = Duration.seconds(300)

  package init(
    _ login: AgentLogin, address: HomeAssistantAddress,
    token: @escaping @Sendable () throws(HomeAssistantTrouble) -> SecretBytes
  ) { (self.login, self.address, self.token) = (login, address, token) }

  package var label: (key: String, value: String) { ("home_assistant", "\(address)") }

  /// Until the next look. A list that was not due before a look for border routers, and is after it, comes soon; without
  /// the broker no look does anything.
  ///
  /// - Parameter listed: when the list was read last, of the same origin as `now`.
  func pause(listed: Duration?, at now: Duration, isConnected: Bool) -> Duration {
    let rest = (listed ?? now) + poll - now
    let list = rest > .zero ? rest : isConnected ? min(poll, .seconds(1)) : poll
    return min(list, sightingInterval)
  }

  package func source(for agent: AgentLoop) -> any AgentSource { HomeAssistantSource(self, agent) }

  /// - Throws: `HomeAssistantTrouble`.
  package func preview() throws -> [String] {
    let client = try client(token(), until: nil)
    defer { client.close() }
    return try client.datasets().map { entry in
      let reading = try client.dataset(entry.id)
      return switch reading {
      case .none: "\(entry.title): it is no more"
      case .unusable(let flaw): "\(entry.title): its dataset can't be used (\(flaw))"
      case .partial(let dataset), .complete(let dataset):
        login.writer.summary(of: event(SharedDataset(entry, dataset)))
          + (reading.flaw.map { " (not right: \($0))" } ?? "")
      }
    }
  }

  /// - Parameter signal: raised when the agent stops.
  func client(_ token: SecretBytes, until signal: WakeSignal?) throws(HomeAssistantTrouble) -> HomeAssistantClient {
    try HomeAssistantClient(address, of: users, token: token, timeout: requestTimeout, signal: signal)
  }

  func event(_ shared: SharedDataset) -> InboundEvent {
    var event = InboundEvent(.credentials)
    event.agent = shared.borderAgent
    event.dataset = WireDataset(shared.dataset.bytes)
    event.isPreferred = shared.isPreferred
    if requester != nil { event.writes = true }
    event.message.name = name
    return event
  }

  /// An envelope makes twice as much of it: base64 of base64, filled up.
  private static let mostEventBytes = 6_500

  /// As many as an event can hold, also in an envelope.
  func event(_ routers: [SightedRouter], by agent: String) -> InboundEvent {
    var event = InboundEvent(.sightings, of: agent)
    event.routers = routers
    while let all = event.routers, !all.isEmpty, event.json().count > Self.mostEventBytes {
      event.routers = all.dropLast()
    }
    return event
  }

  /// Of this Home Assistant: another agent of this user may have the same file.
  var denied: String? {
    guard let deniedFile, let text = try? String(contentsOfFile: deniedFile, encoding: .utf8),
      text.hasPrefix("\(address) ")
    else { return nil }
    return String(text.dropFirst("\(address) ".count))
  }

  func remember(_ denied: String?) throws {
    guard let deniedFile else { return }
    try Data((denied.map { "\(address) \($0)" } ?? "").utf8).write(to: URL(filePath: deniedFile), options: .atomic)
  }

  var requester: SealedRequester? {
    guard writes, let keys = login.keys else { return nil }
    return SealedRequester(base: login.base, user: login.user, keys: keys)
  }

  package var connection: MosquittoConfiguration {
    var result = login.connection("home-assistant \(address)", answers: "home-assistant")
    for command in SealedRequester.Command.allCases {
      if let topic = requester?.answerTopic(command) { result.subscriptions.append(.init(topic, isRequired: false)) }
    }
    if let changeTopic { result.subscriptions.append(.init(changeTopic, isRequired: false)) }
    return result
  }

  /// Nil where it does not write.
  var changeTopic: String? { requester.map { _ in OutboundTopic(base: login.base).changeStore(of: login.user) } }
}
