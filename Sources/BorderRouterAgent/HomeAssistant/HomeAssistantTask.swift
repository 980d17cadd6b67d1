// SPDX-License-Identifier: Apache-2.0

import Broker
import FoundationEssentials
import Logging
import SodiumCrypto
import ThreadDataset
import ThreadkeeperSupport

/// Publishes what Home Assistant's Thread store has, and with `writes` puts the home's preferred network into it. It
/// looks only while it is connected to the broker.
///
/// ```
///  Thread store ◀── HomeAssistantClient ──▶ HomeAssistantMachine ──▶ CredentialsWriter ──▶ broker
///       ▲                                            │                                      ▲ │
///       └──────────────── PreferredSync ◀────────────┘       SealedRequester ◀──────────────┘─┘
/// ```
struct HomeAssistantTask: AgentTask {
  /// A token that was refused is not tried again before: Home Assistant bans who tries too often.
  private static let tokenPause = Duration.seconds(3_600)
  /// Between two tries to write what a person has agreed to.
  private static let writePause = Duration.seconds(5)

  private let configuration: HomeAssistantConfiguration
  private let context: AgentContext
  private var machine = HomeAssistantMachine()
  private var writer: CredentialsWriter
  private var sync: PreferredSync
  private var requester: SealedRequester?
  private var isConnected = false
  /// Events without an answer, and which ids they are about.
  private var unanswered: [UInt64: String] = [:]
  /// The hash of a token that Home Assistant does not know.
  private var refusedToken: (hash: [UInt8], at: Duration)?
  /// What was logged about the home's networks last.
  private var listRefusal: String?
  /// Since when no request for them was answered.
  private var silence: Duration?

  init(_ configuration: HomeAssistantConfiguration, _ context: AgentContext) {
    self.configuration = configuration
    self.context = context
    writer = configuration.writer
    requester = configuration.requester
    sync = PreferredSync(denied: requester == nil ? nil : configuration.denied)
  }

  private var now: Duration { context.now }

  var pause: Duration {
    sync.pending == nil ? machine.pause ?? configuration.poll : Self.writePause
  }

  var standing: AgentStanding? { machine.standing }

  func start() { context.connect(configuration.connection) }

  func finish() -> [Publication] { [] }

  // MARK: Home Assistant

  mutating func look() {
    guard isConnected || sync.pending != nil else { return }
    // The dataset is in memory that was freed, and in what calls have left on the stack.
    defer { wipeDeadStack() }
    let end = now + configuration.lookLimit
    do throws(HomeAssistantTrouble) {
      let client = try connect()
      defer { client.close() }
      if let dataset = sync.pending { try write(dataset, to: client) }
      try decide(on: .listed(client.datasets()), client, until: end)
      perform(machine.handle(.looked, at: now))
      request(.networks)
    } catch {
      guard error != .stopped else { return }
      perform(machine.handle(.troubled(error), at: now))
      perform(sync.handle(.troubled, at: now))
    }
  }

  private mutating func connect() throws(HomeAssistantTrouble) -> HomeAssistantClient {
    let token = try configuration.token()
    let hash = token.withUnsafeBytes { (try? BLAKE2b.hash256(Array($0))) ?? [] }
    if let refused = refusedToken, refused.hash == hash, now - refused.at < Self.tokenPause {
      throw .wrongToken
    }
    refusedToken = nil
    do throws(HomeAssistantTrouble) {
      return try HomeAssistantClient(
        configuration.address, of: configuration.users, token: token,
        timeout: configuration.requestTimeout, signal: context.stop)
    } catch {
      if error == .wrongToken { refusedToken = (hash, now) }
      throw error
    }
  }

  private mutating func decide(
    on event: HomeAssistantMachine.Event, _ client: HomeAssistantClient, until end: Duration
  ) throws(HomeAssistantTrouble) {
    for effect in machine.handle(event, at: now) {
      guard case .read(let entry) = effect else {
        perform([effect])
        continue
      }
      perform(machine.handle(.read(entry, try client.dataset(entry.id)), at: now))
      // The rest is read with the next look.
      guard now < end else { throw .timeout }
    }
  }

  /// What a person has agreed to. What is not newer is not added: Home Assistant would ignore it, and write both
  /// datasets into its log, with their keys.
  private mutating func write(
    _ dataset: OperationalDataset, to client: HomeAssistantClient
  ) throws(HomeAssistantTrouble) {
    guard let network = dataset.extendedPANID else { return }
    if Self.isNewer(dataset, than: try client.stored(network)?.reading) {
      do throws(HomeAssistantTrouble) {
        try client.add(dataset)
      } catch {
        guard case .refused(let code) = error else { throw error }
        return perform(
          sync.handle(.notTaken("it does not take the home's dataset (\(code))"), at: now))
      }
    }
    guard let (entry, reading) = try client.stored(network), case .complete(let there) = reading,
      there.networkKey == dataset.networkKey, there.pskc == dataset.pskc
    else { return perform(sync.handle(.notTaken(PreferredSync.keepsAnother), at: now)) }
    if !entry.isPreferred { try client.setPreferred(entry.id) }
    perform(sync.handle(.written, at: now))
  }

  /// As Home Assistant compares: seconds only.
  private static func isNewer(
    _ dataset: OperationalDataset, than reading: RouterReport.Reading?
  ) -> Bool {
    switch reading {
    case nil, .some(.none): true
    case .partial, .unusable: false
    case .complete(let there):
      (there.activeTimestamp?.seconds ?? .max) < (dataset.activeTimestamp?.seconds ?? 0)
    }
  }

  // MARK: The broker

  mutating func handle(_ news: AgentNews) {
    switch news {
    case .connected:
      isConnected = true
      perform(sync.handle(.connected, at: now))
      look()
    case .disconnected: (isConnected, silence) = (false, nil)
    case .refused(let publication, let message):
      if let command = requester?.command(refusedAt: publication.topic) {
        return take(.refused(command, code: "refused", message: "the broker: \(message)"))
      }
      rejected(publication.token, .init(who: "the broker", code: "refused", message: message))
    case .answered(let outcome):
      guard let code = outcome.code else {
        if let id = unanswered.removeValue(forKey: outcome.token) {
          perform(machine.handle(.accepted(id), at: now))
        }
        return
      }
      rejected(
        outcome.token, .init(code: code, field: outcome.field, message: outcome.message ?? ""))
    case .message(let message):
      if let answer = requester?.answer(message, now: Self.time) { take(answer) }
    }
  }

  private mutating func rejected(_ token: UInt64, _ rejection: SharingRejection) {
    guard let id = unanswered.removeValue(forKey: token) else { return }
    perform(machine.handle(.rejected(id, rejection), at: now))
  }

  private mutating func perform(_ effects: [HomeAssistantMachine.Effect]) {
    for effect in effects {
      switch effect {
      case .read: break
      case .log(let note): context.log(note)
      case .publish(let shared):
        let event = context.event(.credentials) { () throws(SealingError) in
          try writer.publication(of: shared, now: nanosecondsSince1970())
        }
        guard let event else { continue }
        unanswered = unanswered.filter { $0.value != shared.id }
        unanswered[event.token] = shared.id
        context.publish(event)
      }
    }
  }

  // MARK: The home's preferred network

  private static var time: Int64 { Int64(nanosecondsSince1970() / 1_000_000_000) }

  private mutating func take(_ answer: SealedRequester.Answer) {
    switch answer {
    case .home(let home):
      (listRefusal, silence) = (nil, nil)
      if let store = machine.store { perform(sync.handle(.compared(home, store), at: now)) }
    case .credentials(let dataset): perform(sync.handle(.credentials(dataset), at: now))
    case .refused(.preferred, let code, let message):
      perform(sync.handle(.refused(code: code, message: message), at: now))
    case .refused(.networks, let code, let message):
      silence = nil
      guard code != listRefusal else { return }
      listRefusal = code
      context.logger.warning("threadkeeper does not list the home's networks (\(code)): \(message)")
    }
  }

  private mutating func perform(_ effects: [PreferredSync.Effect]) {
    for effect in effects {
      switch effect {
      case .log(let note): context.log(note)
      case .ask: request(.preferred)
      case .reread(let network): perform(machine.handle(.doubted(network), at: now))
      case .remember(let denied): remember(denied)
      case .write: look()
      }
    }
  }

  private mutating func request(_ command: SealedRequester.Command) {
    guard requester != nil, isConnected else { return }
    if command == .networks, now - (silence ?? now) >= configuration.silence {
      take(
        .refused(
          .networks, code: "no_answer",
          message: "is its daemon running, and does this login read and publish there?"))
    }
    if command == .networks, silence == nil { silence = now }
    do throws(SealingError) {
      if let publication = try requester?.publication(command, now: Self.time) {
        context.publish(publication)
      }
    } catch {
      context.logger.error("\(command.rawValue) can't be sealed: \(error.message)")
    }
  }

  private func remember(_ denied: String?) {
    do {
      try configuration.remember(denied)
    } catch {
      context.logger.warning(
        "\(configuration.deniedFile ?? "") can't be written, so a person is asked again after a restart: \(error)"
      )
    }
  }
}

/// What the agent of one Home Assistant works with.
package struct HomeAssistantConfiguration: AgentConfiguration {
  package var login: AgentLogin
  package var address: HomeAssistantAddress
  /// Asked for each connection, so that it is not kept, and a new one is found.
  package var token: @Sendable () throws(HomeAssistantTrouble) -> SecretBytes
  /// What people call it.
  package var name = "Home Assistant"
  /// Between two lists.
  package var poll = Duration.seconds(60)
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
  /// For so long the daemon may leave requests without an answer, before that is logged.
  var silence = Duration.seconds(300)

  package init(
    _ login: AgentLogin, address: HomeAssistantAddress,
    token: @escaping @Sendable () throws(HomeAssistantTrouble) -> SecretBytes
  ) {
    self.login = login
    self.address = address
    self.token = token
  }

  package var label: (key: String, value: String) { ("home_assistant", "\(address)") }

  package var offersAgain: Bool { true }

  package func check() throws(MosquittoError) { try connection.check() }

  package func task(in context: AgentContext) -> any AgentTask { HomeAssistantTask(self, context) }

  /// Why no Home Assistant can be asked on this machine, and what to do about it.
  package static var obstacle: String? { HTTPTransfer.obstacle }

  /// Looks once, and publishes nothing.
  ///
  /// - Returns: what would be published, without keys, and why the rest would not.
  /// - Throws: `HomeAssistantTrouble`.
  package func preview() async throws -> [String] {
    try await SystemThread.result {
      let client = try HomeAssistantClient(
        address, of: users, token: token(), timeout: requestTimeout, signal: nil)
      defer { client.close() }
      return try client.datasets().map { entry in
        let reading = try client.dataset(entry.id)
        return switch reading {
        case .none: "\(entry.title): it is no more"
        case .unusable(let flaw): "\(entry.title): its dataset can't be used (\(flaw))"
        case .partial(let dataset), .complete(let dataset):
          writer.summary(of: SharedDataset(entry, dataset))
            + (reading.flaw.map { " (not right: \($0))" } ?? "")
        }
      }
    }
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
    try Data((denied.map { "\(address) \($0)" } ?? "").utf8)
      .write(to: URL(filePath: deniedFile), options: .atomic)
  }

  var writer: CredentialsWriter {
    CredentialsWriter(base: login.base, user: login.user, name: name, keys: login.keys)
  }

  var requester: SealedRequester? {
    guard writes, let keys = login.keys else { return nil }
    return SealedRequester(base: login.base, user: login.user, keys: keys)
  }

  var connection: MosquittoConfiguration {
    var result = login.connection("home-assistant \(address)", answers: CredentialsWriter.answers)
    for command in SealedRequester.Command.allCases {
      if let topic = requester?.answerTopic(command) {
        result.subscriptions.append(.init(topic, isRequired: false))
      }
    }
    return result
  }
}

/// Makes publications of `credentials` events.
struct CredentialsWriter: Sendable {
  /// The last level of the topic for their answers.
  static let answers = "home-assistant"

  private let name: String
  private let answerTopic: String
  private var encoder: EventEncoder

  init(base: String, user: String, name: String, keys: AgentKeys?) {
    self.name = name
    encoder = EventEncoder(base: base, user: user, keys: keys)
    answerTopic = encoder.answerTopic(Self.answers)
  }

  private struct Body: Encodable {
    var dataset: String
    var borderAgentID: String?
    var preferred: Bool
    var name: String
    var sequence: UInt64?

    enum CodingKeys: String, CodingKey {
      case dataset, preferred, name
      case borderAgentID = "border_agent_id"
      case sequence = "seq"
    }
  }

  /// - Parameter now: nanoseconds since 1970. The sequence number follows it, and rises in any case.
  /// - Throws: `SealingError`.
  mutating func publication(
    of shared: SharedDataset, now: UInt64
  ) throws(SealingError) -> Publication {
    let name = name
    return try encoder.publication(.credentials, responseTopic: answerTopic, now: now) { sequence in
      WireJSON().encode(Self.body(of: shared, name, dataset: shared.dataset.hex, sequence))
    }
  }

  /// For people: the topic and the fields, with the length of the dataset in place of it.
  func summary(of shared: SharedDataset) -> String {
    encoder.summary(
      .credentials,
      WireJSON().encode(Self.body(of: shared, name, dataset: "\(shared.dataset)", nil)))
  }

  private static func body(
    of shared: SharedDataset, _ name: String, dataset: String, _ sequence: UInt64?
  ) -> Body {
    Body(
      dataset: dataset, borderAgentID: shared.borderAgent.map { "\($0)" },
      preferred: shared.isPreferred, name: name, sequence: sequence)
  }
}
