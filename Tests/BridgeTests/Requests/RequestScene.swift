import Broker
import FoundationEssentials
import KeychainCore
import Synchronization
import TestKit
import Testing
import ThreadDataset
import ThreadRequests
import ThreadkeeperSupport

@testable import Bridge
@testable import Home
@testable import HomeStore

/// A home with requests over MQTT and of programs on this machine, through the loop. `phone` and `hub` are enrolled with
/// keys of their own.
final class RequestScene {
  let kit: LoopKit
  let service: RequestService
  let rules: RequestRules
  let log = RecordingLog()
  let daemon: Identity
  private(set) var clients: [ExactName: Identity] = [:]
  private let follower: Follower
  private let surroundings: Surroundings

  /// What may change while the service runs.
  private final class Surroundings: Sendable {
    let keys: Mutex<Identity?>
    let buttonsAltered = Atomic(false)

    init(_ keys: Identity) { self.keys = Mutex(keys) }
  }

  private final class Follower: LoopFollower {
    let service: RequestService
    /// What the home has to handle.
    let owed = Mutex<[RequestService.OwedInput]>([])

    init(_ service: RequestService) { self.service = service }

    func messages(of outcome: LoopOutcome, at now: WireTime) -> [[UInt8]] { [] }

    func committed(_ batch: CommittedBatch, _ homes: CommittedHomes) {
      let new = service.answer(batch, of: homes)
      owed.withLock { $0 += new }
    }

    func willHandle() { service.callers.look() }
    func hasHandled() { service.callers.wake() }
  }

  init(_ change: (inout RequestRules) -> Void = { _ in }) throws {
    daemon = try Identity()
    let surroundings = Surroundings(daemon)
    self.surroundings = surroundings
    let key = LoopKit.hashKey
    var parts = RequestService.Parts(try DatasetReader(key: key))
    change(&parts.rules)
    rules = parts.rules
    parts.version = "1.0"
    parts.logger = log.logger
    parts.exchange = { SealedExchange(surroundings.keys.withLock { $0 }) }
    parts.buttonsAltered = { _ in surroundings.buttonsAltered.load(ordering: .relaxed) }
    let callers = WaitingCallers()
    var rules = LoopKit.rules()
    rules.isAwaited = { callers.isAwaited($0) }
    rules.settings.adoptTimeout = 300
    let home = ServedHome(name: "home", base: "tk/home", rules: rules)
    let service = RequestService([home], parts, callers)
    let follower = Follower(service)
    let kit = try LoopKit(serving: [home], following: follower) { $0.request = service.read }
    (self.service, self.follower, self.kit) = (service, follower, kit)
    for user: ExactName in ["phone", "hub"] { try enroll(user) }
  }

  var home: Home { kit.home }
  var now: WireTime { kit.time.now }
  var buttonsAltered: Bool {
    get { surroundings.buttonsAltered.load(ordering: .relaxed) }
    set { surroundings.buttonsAltered.store(newValue, ordering: .relaxed) }
  }

  func enroll(_ user: ExactName, trust: EnrolledClient.Trust = .broker) throws {
    let keys = try Identity()
    clients[user] = keys
    try kit.enroll(user, keys.keys, trust: trust)
  }

  /// The daemon's own keys cannot be read any more.
  func loseKeys() { surroundings.keys.withLock { $0 = nil } }

  @discardableResult func handle(_ input: HomeInput) throws -> HomeOutput { try kit.loop.perform(input, in: "home") }

  /// A second passes, and everything that routers publish has been received for a minute.
  func tick() throws {
    kit.time.advance(seconds: 1)
    try kit.loop.tick(Link(connection: 1, listeningSince: now.adding(seconds: -60)))
  }

  /// What the home has to handle of what became of its answers.
  var owed: [RequestService.OwedInput] { follower.owed.withLock { $0 } }

  /// The home handles what became of its answers.
  func handleOwed() throws {
    let owed = follower.owed.withLock { owed in
      defer { owed = [] }
      return owed
    }
    for one in owed { try kit.loop.perform(one.input, in: one.home) }
  }

  // MARK: What is stored

  /// It becomes another one, or does not open any more.
  func damage(_ dataset: OperationalDataset, with other: OperationalDataset? = nil) {
    kit.memory.contents.withLock { contents in
      for id in contents.rows.keys where contents.rows[id]?.secret == dataset.bytes {
        contents.rows[id]?.secret = other?.bytes
      }
    }
  }

  func audit(_ action: AuditAction) -> [String] { kit.memory.audit.filter { $0.action == action }.map(\.subject) }

  // MARK: Over MQTT

  /// What is published since the last call.
  func published() -> [Publication] { service.queue.next(100, connection: 1, at: now) }

  static func message(_ command: String, _ json: String = "{}", from user: ExactName = "phone") -> IncomingMessage {
    .of("tk/home/in/\(user.text)/request/\(command)", json)
  }

  /// The first publication that follows; nil where a person is asked first.
  func receive(_ message: IncomingMessage) throws -> Publication? {
    _ = published()
    try kit.receive(message)
    return service.queue.next(1, connection: 1, at: now).first
  }

  @discardableResult func ask(_ command: String, _ json: String = "{}", from user: ExactName = "phone") throws
    -> Publication?
  { try receive(Self.message(command, json, from: user)) }

  /// The same in an envelope.
  @discardableResult func askSealed(
    _ command: String, _ json: String = "{}", from user: ExactName = "phone", id: String = "1"
  ) throws -> Publication? { try receive(sealed(command, json, from: user, id: id)) }

  func sealed(
    _ command: String, _ json: String = "{}", from user: ExactName = "phone", id: String = "1",
    by signer: ExactName? = nil
  ) throws -> IncomingMessage {
    let topic = Self.message(command, from: user).topic
    let envelope = try Envelope.seal(
      Array(json.utf8), to: daemon.keys, from: #require(clients[signer ?? user]),
      at: .init(topic: topic, order: .identifier(id), now: now.unixSeconds, lifetime: Envelope.requestLifetime)
    ).json()
    return .of(topic, #"{"sealed":\#(envelope.text)}"#)
  }

  /// What only this user can read in an answer.
  func unsealed(_ publication: Publication?, for user: ExactName = "phone") throws -> AnswerData {
    let publication = try #require(publication)
    let sealed = try #require(publication.answer?.data?.sealed)
    return try AnswerData(reading: open(sealed.json(), of: publication.topic, for: user).body)
  }

  /// What only this user can read in the message of an adoption.
  func opened(_ publication: Publication, for user: ExactName = "phone") throws -> OpenedEnvelope {
    let envelope = UntrustedJSON.value(of: "sealed", in: publication.payload, depth: 4)
    return try open(#require(envelope), of: publication.topic, for: user)
  }

  /// The same as it was sent, also of an adoption's message; nil: nothing is sealed.
  func unsealedText(_ publication: Publication, for user: ExactName) throws -> String? {
    let data = UntrustedJSON.value(of: "data", in: publication.payload, depth: 8)
    let envelope = UntrustedJSON.value(of: "sealed", in: data ?? publication.payload, depth: 8)
    return try envelope.map { try open($0, of: publication.topic, for: user).body.text }
  }

  private func open(_ envelope: [UInt8], of topic: String, for user: ExactName) throws -> OpenedEnvelope {
    try Envelope.open(envelope, with: #require(clients[user]), from: [daemon.keys], topic: topic, now: now.unixSeconds)
  }

  // MARK: On the socket

  /// A call of the daemon's own user, or of another one.
  func call(
    _ command: RequestCommand, as user: UInt32 = 0, isAdministrator: Bool? = nil,
    isThere: @escaping @Sendable () -> Bool = { true }, wake: @escaping @Sendable () -> Void = {},
    _ change: (inout ThreadRequest) -> Void = { _ in }
  ) -> RequestService.Outcome {
    var request = ThreadRequest(command)
    request.transaction = "t"
    change(&request)
    var local = LocalRequest(request, user: user, team: user == 0 ? "root" : "bob")
    local.isAdministrator = isAdministrator ?? (user == 0)
    return service.answer(local, by: kit.loop, isOwnUser: user == 0, at: now, isThere: isThere, wake: wake)
  }

  /// What is answered at once.
  @discardableResult func answered(
    _ command: RequestCommand, as user: UInt32 = 0, isAdministrator: Bool? = nil, isThere: Bool = true,
    _ change: (inout ThreadRequest) -> Void = { _ in }
  ) throws -> ThreadAnswer {
    let outcome = call(command, as: user, isAdministrator: isAdministrator, isThere: { isThere }, change)
    guard case .answer(let answer) = outcome else { throw AnswerFailure.nobodyWaits }
    return answer
  }

  /// Where the caller of a command waits for a person.
  func waits(
    _ command: RequestCommand, isThere: @escaping @Sendable () -> Bool = { true },
    wake: @escaping @Sendable () -> Void = {}
  ) throws -> WaitingCallers.Place {
    guard case .waiting(let place) = call(command, isThere: isThere, wake: wake) else {
      throw AnswerFailure.nobodyWaits
    }
    return place
  }

  /// The first question that waits, or another one.
  func approve(_ question: ConsentID? = nil, _ scope: ThreadRequests.ConsentScope = .once) throws {
    let id = try #require(question ?? home.questions.first?.id)
    let answer = try answered(.approveConsent) { ($0.id, $0.scope) = (id.questionText, scope) }
    #expect(answer.status == .ok)
  }
}

extension Publication {
  var answer: ThreadAnswer? { ThreadAnswer(json: payload) }
  var failure: AnswerFailure? { answer?.error }
}
