// SPDX-License-Identifier: Apache-2.0

import Broker
import FoundationEssentials
import Synchronization
import Testing
import ThreadDataset
import ThreadRequests

@testable import Bridge
@testable import Home
@testable import HomeStore

/// A home with requests over MQTT and of programs on this machine, as the loop handles them. `phone` and `hub` are
/// enrolled with keys of their own.
struct RequestScene {
  static let base = "tk"

  var home: Home
  var homeRules: HomeRules
  var rules = RequestRules()
  var exchange: SealedExchange
  var sealedRequests = SealedRequests()
  let callers = WaitingCallers()
  let daemon: Identity
  private(set) var clients: [ExactName: Identity] = [:]
  var secrets: [RecordKey: OperationalDataset] = [:]
  var now = WireTime(milliseconds: 1_700_000_000_000)
  var buttonsAltered = false

  init() throws {
    let last = Mutex<UInt64>(0)
    homeRules = HomeRules {
      last.withLock {
        $0 += 1
        return $0
      }
    }
    let callers = callers
    homeRules.isAwaited = { callers.isAwaited($0) }
    home = Home(rules: homeRules)
    daemon = try Identity()
    exchange = SealedExchange(daemon)
    for user: ExactName in ["phone", "hub"] { try enroll(user) }
  }

  mutating func enroll(_ user: ExactName, trust: EnrolledClient.Trust = .broker) throws {
    let keys = try Identity()
    clients[user] = keys
    handle(
      .enroll(
        EnrolledClient(
          line: keys.keys.line, fingerprint: keys.keys.fingerprint, trust: trust, at: now,
          by: "test"), user, by: .commandLine(user: 0)))
  }

  @discardableResult
  mutating func handle(_ input: HomeInput, _ dataset: OperationalDataset? = nil) -> HomeOutput {
    let output = home.handle(input, at: now, rules: homeRules)
    for move in output.secrets {
      switch move.from {
      case .input: secrets[move.to] = dataset
      case .record(let key): secrets[move.to] = secrets[key]
      case .nothing: secrets[move.to] = nil
      }
    }
    return output
  }

  var writer: AnswerWriter {
    var writer = AnswerWriter(home: "home", summarize: \.summary) { [secrets] in secrets[$0] }
    let callers = callers
    writer.transactions = { callers.transactions(of: $0) }
    return writer
  }

  // MARK: Over MQTT

  /// What is published, and to which topic; nil where a person is asked first.
  struct Published {
    let message: WaitingMessage
    let isRefusal: Bool

    var answer: ThreadAnswer? { ThreadAnswer(json: message.publication.payload) }
    var failure: AnswerFailure? { answer?.error }
    var text: String { String(decoding: message.publication.payload, as: UTF8.self) }
  }

  static func message(_ command: String, _ json: String, from user: ExactName) -> IncomingMessage {
    IncomingMessage(
      topic: "\(base)/in/\(user.text)/request/\(command)", payload: Array(json.utf8))
  }

  mutating func ask(_ command: String, _ json: String = "{}", from user: ExactName) -> Published? {
    receive(Self.message(command, json, from: user), command, from: user)
  }

  /// The same in an envelope of the user's.
  mutating func askSealed(
    _ command: String, _ json: String = "{}", from user: ExactName, id: String = "1"
  ) throws -> Published? {
    try receive(
      sealed(command, json, from: user, id: id), command, from: user)
  }

  func sealed(
    _ command: String, _ json: String = "{}", from user: ExactName, id: String = "1",
    by signer: ExactName? = nil
  ) throws -> IncomingMessage {
    let topic = "\(Self.base)/in/\(user.text)/request/\(command)"
    let envelope = try Envelope.seal(
      Array(json.utf8), to: daemon.keys, from: #require(clients[signer ?? user]),
      at: .init(
        topic: topic, order: .identifier(id), now: now.unixSeconds,
        lifetime: Envelope.requestLifetime))
    return IncomingMessage(
      topic: topic, payload: Array(#"{"sealed":"#.utf8) + envelope + Array("}".utf8))
  }

  mutating func receive(
    _ message: IncomingMessage, _ command: String, from user: ExactName
  ) -> Published? {
    let inbound = MQTTRequest(message, command: command, user: user, base: Self.base)
    let read = rules.read(
      inbound, in: home, team: homeRules.team(user), with: exchange, &sealedRequests,
      buttonsAltered: buttonsAltered, at: now
    ) { $0.summary }
    var answer: Result<AnswerData, AnswerFailure>
    do throws(AnswerFailure) {
      guard let data = try take(read.step.get()) else { return nil }
      answer = .success(data)
    } catch {
      answer = .failure(error)
    }
    return exchange.message(
      answer, to: read.requester, at: read.reply, in: home, timeout: read.timeout, now: now
    ).map { Published(message: $0.message, isRefusal: $0.refusal != nil) }
  }

  private mutating func take(
    _ step: AskedRequest.Step
  ) throws(AnswerFailure) -> AnswerData? {
    switch step.route {
    case .ping: return .pong("1.0", at: now)
    case .states: return AnswerData()
    case .home(let input, let dataset):
      let output = handle(input, dataset)
      settled += output.settled
      guard let answer = output.answer else { return nil }
      return try writer.data(of: answer, to: step.request, step.context)
    }
  }

  /// Answers that are owed, as the home gives them.
  private(set) var settled: [SettledAnswer] = []

  /// Answers those that have waited: over MQTT what is published, else the callers.
  mutating func answerSettled() -> [Published] {
    defer { settled = [] }
    return settled.compactMap { one in
      let answer = Result { () throws(AnswerFailure) in
        try writer.data(of: one.answer) ?? AnswerData()
      }
      guard one.to != .caller else {
        callers.deliver(answer, for: one.id)
        return nil
      }
      return exchange.message(answer, to: one.requester, at: one.to, in: home, now: now)
        .map { Published(message: $0.message, isRefusal: $0.refusal != nil) }
    }
  }

  /// What only this user can read in an answer.
  func unsealed(_ published: Published, for user: ExactName) throws -> AnswerData {
    let sealed = try #require(published.answer?.data?.sealed)
    let opened = try Envelope.open(
      Array(JSONEncoder().encode(sealed)), with: #require(clients[user]), from: [daemon.keys],
      topic: published.message.publication.topic, now: now.unixSeconds)
    return try JSONDecoder().decode(AnswerData.self, from: Data(opened.body))
  }

  // MARK: On the socket

  mutating func call(
    _ command: RequestCommand, as user: UInt32 = 1_000, isAdministrator: Bool = false,
    _ change: (inout ThreadRequest) -> Void = { _ in }
  ) throws(AnswerFailure) -> AnswerData? {
    var request = ThreadRequest(command)
    change(&request)
    var local = LocalRequest(request, user: user, team: user == 0 ? "root" : "bob")
    local.isAdministrator = isAdministrator
    let route = try rules.route(
      of: request, local.context, buttonsAltered: buttonsAltered
    ) { $0.summary }
    return try take(.init(request: request, context: local.context, route: route))
  }
}

extension OperationalDataset {
  /// A complete one: equal numbers stand for equal values.
  static func sample(
    _ network: UInt8 = 1, key: UInt8 = 1, at seconds: UInt8 = 1, name: String = "home-thread"
  ) throws -> OperationalDataset {
    let keyHex = Hexadecimal.encode([UInt8](repeating: key, count: 16))
    let nameHex = Hexadecimal.encode([UInt8(name.utf8.count)] + Array(name.utf8))
    return try OperationalDataset(
      hex: "0e080000000000\(Hexadecimal.encode([seconds]))0000000300000f35060004001fffe00208"
        + Hexadecimal.encode([UInt8](repeating: network, count: 8))
        + "0708fdad70bfe5aa15dd0510\(keyHex)03\(nameHex)010212340410\(keyHex)0c0402a0f7f8")
  }

  var summary: DatasetSummary? {
    DatasetSummary(self) { bytes, kind in Hash128(hashing: [kind] + bytes) }
  }
}
