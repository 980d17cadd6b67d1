import Broker
import Foundation
import Synchronization
import TestKit

/// Holds what passed a broker against `docs/reference/asyncapi.yaml` and its schemas.
///
/// - What is below the base topic of a home, but for `in/`, and every device of threadkeeper's in Home Assistant, is
///   the daemon's: its topic has to be in the document, and its payload and QoS as the document says.
/// - What is below `in/` is others', and tests send what is wrong on purpose. What the schemas do not allow the daemon
///   must have refused: there are as many refusals of this topic, or of this login's requests, as there were such
///   messages. Where a login was refused for its rate, not every refusal is published, so nothing is said.
///
/// A home is one that has published its `bridge/state`.
struct MessageCheck {
  private struct Question {
    let topic: String
    let isInbound: Bool
    let payload: [UInt8]
    /// It has to be valid by one of them.
    let schemas: [String]
  }

  private struct Pair: Hashable {
    let schema: String
    let payload: [UInt8]
  }

  let document: AsyncAPIDocument
  let library: SchemaLibrary

  /// What is wrong, each once: topic, JSON pointer and reason, never a value.
  func complaints(about messages: [IncomingMessage]) throws -> [String] {
    let homes = Set(messages.compactMap { $0.topic.base(before: "/bridge/state") })
    var complaints: [String] = []
    var questions: [Question] = []
    var unknown: [String] = []
    for message in messages {
      let base = homes.filter { message.topic.utf8.starts(with: "\($0)/".utf8) }.max { $0.utf8.count < $1.utf8.count }
      let isInbound = base.map { "\(message.topic)/".utf8.starts(with: "\($0)/in/".utf8) } ?? false
      guard let channel = channel(of: message.topic, below: base) else {
        if isInbound {
          unknown.append(message.topic)
        } else if base != nil {
          complaints.append("\(message.topic) is no topic of \(AsyncAPIDocument.path)")
        }
        continue
      }
      if !isInbound, let qos = document.sending(channel)?.qos, Int64(message.qos.rawValue) != qos {
        complaints.append("\(message.topic) has QoS \(message.qos.rawValue), not \(qos)")
      }
      // An empty payload is a message of its own, where a channel has one.
      let fitting = channel.messages.filter { $0.isText == message.payload.isEmpty }
      questions.append(
        Question(
          topic: message.topic, isInbound: isInbound, payload: message.payload,
          schemas: (fitting.isEmpty ? channel.messages : fitting).map(\.schema)))
    }
    let answers = try problems(questions)
    var invalid: [String: [String]] = [:]
    for topic in unknown { invalid[topic, default: []].append("is no event and no request") }
    for (question, problem) in zip(questions, answers) {
      guard let problem else { continue }
      if question.isInbound {
        invalid[question.topic, default: []].append("\(problem)")
      } else {
        complaints.append("\(question.topic): \(problem)")
      }
    }
    complaints += Refusals(messages).accepted(invalid)
    return complaints.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  private func channel(of topic: String, below base: String?) -> AsyncAPIDocument.Channel? {
    if let base { return document.channel(of: topic, below: base) }
    guard topic.hasSuffix("/config"), topic.contains("/device/threadkeeper/threadkeeper_") else { return nil }
    return document.channel(named: "homeAssistantDevice")
  }

  /// Nil for each that one of its schemas allows. Equal ones are asked about once: states are often published as they
  /// were.
  private func problems(_ questions: [Question]) throws -> [SchemaLibrary.Problem?] {
    let different = Set(questions.flatMap { one in one.schemas.map { Pair(schema: $0, payload: one.payload) } })
    let pairs = Array(different)
    let found = try library.problems(pairs.map { ($0.schema, $0.payload) })
    let answers = Dictionary(uniqueKeysWithValues: zip(pairs, found))
    return questions.map { one in
      let all = one.schemas.map { answers[Pair(schema: $0, payload: one.payload)] ?? nil }
      return all.contains(nil) ? nil : all.first ?? nil
    }
  }
}

/// What the daemon has refused.
private struct Refusals {
  /// By topic, of which `message_rejected` has the first bytes.
  private var events: [String: Int] = [:]
  /// By `<base>/out/<user>`.
  private var answers: [String: Int] = [:]
  private var isRateLimited = false

  init(_ messages: [IncomingMessage]) {
    for message in messages {
      let text = String(decoding: message.payload, as: UTF8.self)
      if message.topic.hasSuffix("/bridge/event"), text.contains("\"message_rejected\""),
        let topic = JSON(text)?["topic"]?.text
      {
        events[topic, default: 0] += 1
        isRateLimited = isRateLimited || text.contains("\"rate_limited\"")
      } else if let login = message.topic.login("/out/"), text.contains("\"status\":\"error\"") {
        answers[login, default: 0] += 1
        isRateLimited = isRateLimited || text.contains("\"rate_limited\"")
      }
    }
  }

  /// - Parameter invalid: topics, and what was wrong with the messages there.
  func accepted(_ invalid: [String: [String]]) -> [String] {
    guard !isRateLimited else { return [] }
    return invalid.compactMap { topic, problems in
      let start = String(decoding: topic.utf8.prefix(400), as: UTF8.self)
      let isRequest = topic.login("/in/").map { topic.hasPrefix("\($0)/request/") } ?? false
      let login = topic.login("/in/").map { $0.replacing("/in/", with: "/out/", maxReplacements: 1) }
      let refused = events[start, default: 0] + (isRequest ? login.flatMap { answers[$0] } ?? 0 : 0)
      guard problems.count > refused else { return nil }
      return "\(topic): the schema does not allow what the daemon has not refused: \(problems[0])"
    }
  }
}

extension String {
  /// What is before an end; nil for what does not end so.
  fileprivate func base(before end: String) -> String? { hasSuffix(end) ? String(dropLast(end.count)) : nil }

  /// `<base>/in/<user>` of a topic below it; nil for another one.
  fileprivate func login(_ direction: String) -> String? {
    guard let start = range(of: direction) else { return nil }
    let user = self[start.upperBound...].prefix { $0 != "/" }
    return user.isEmpty ? nil : String(self[..<user.endIndex])
  }
}

/// Validates payloads against JSON Schemas, by Debian's fastjsonschema in a process of its own, which ends with the
/// tests.
final class SchemaLibrary: Sendable {
  struct Problem: Hashable, Sendable, CustomStringConvertible {
    /// JSON pointer of what is wrong; empty for the payload itself.
    let pointer: String
    /// Never a value: it may be a key.
    let text: String

    var description: String { "\(pointer.isEmpty ? "the payload" : pointer) \(text)" }
  }

  struct Ended: Error, CustomStringConvertible {
    let description = "the process that validates payloads has ended; see .ci/schema-check.py"
  }

  /// Payloads of one question.
  private static let most = 500

  /// Nil where the package is not to be had.
  static let shared: SchemaLibrary? = DebianTool.jsonSchema.flatMap { try? SchemaLibrary($0) }

  private let process: ChildProcess
  private let input: PrivatePipe
  private let output: PrivatePipe
  /// One question at a time. What was read past an answer.
  private let turn = Mutex<[UInt8]>([])

  /// - Parameter packages: a folder of Python's.
  init(_ packages: String) throws {
    input = try PrivatePipe()
    output = try PrivatePipe()
    let root = ProjectFiles.root.path
    process = try ChildProcess(
      DebianTool.python, ["\(root)/.ci/schema-check.py", "\(root)/\(AsyncAPIDocument.schemas)"],
      environment: ["PYTHONPATH": packages],
      streams: (.descriptor(input.reading), .descriptor(output.writing), .nothing))
    input.closeReading()
    output.closeWriting()
  }

  deinit { process.signal(SIGKILL) }

  /// - Parameter payloads: each with its schema, as `AsyncAPIDocument.Message.schema`.
  /// - Returns: nil for each that is valid.
  func problems(_ payloads: [(schema: String, payload: [UInt8])]) throws -> [Problem?] {
    var problems: [Problem?] = []
    var rest = payloads[...]
    while !rest.isEmpty {
      let part = rest.prefix(Self.most)
      rest = rest.dropFirst(part.count)
      let question = part.map { [$0.schema, Data($0.payload).base64EncodedString()] }
      let answer = try turn.withLock { read in try ask(JSONEncoder().encode(question) + [0x0A], &read) }
      let found = try JSONDecoder().decode([[String]?].self, from: Data(answer))
      guard found.count == part.count else { throw Ended() }
      problems += found.map { $0.map { Problem(pointer: $0[0], text: $0[1]) } }
    }
    return problems
  }

  func problem(_ schema: String, _ payload: [UInt8]) throws -> Problem? { try problems([(schema, payload)])[0] }

  private func ask(_ question: Data, _ read: inout [UInt8]) throws -> [UInt8] {
    try question.withUnsafeBytes { bytes in
      var sent = 0
      while sent < bytes.count {
        // The pipe is a socket: its end must not end the tests.
        let count = send(input.writing, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw Ended() }
        sent += count
      }
    }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      if let end = read.firstIndex(of: 0x0A) {
        defer { read.removeFirst(end + 1) }
        return Array(read[..<end])
      }
      let count = Foundation.read(output.reading, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Ended() }
      read += buffer[..<count]
    }
  }
}
