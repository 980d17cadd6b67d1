import Broker
import Foundation
import TestKit
import Testing
import ThreadDataset

import enum Home.ThreadState

@testable import BorderRouterAgent

/// The REST answers of a real router in one state, from `Recorded/otbr.txt`, and changes to them.
struct RecordedRouter {
  /// By path; a path that is not there answers 404.
  var answers: [String: HTTPAnswer] = [:]
  var asked: [String] = []

  init(_ state: String) throws {
    let file = try #require(Bundle.module.url(forResource: "otbr", withExtension: "txt", subdirectory: "Recorded"))
    let text = try String(contentsOf: file, encoding: .utf8)
    let section = try #require(text.components(separatedBy: "=== ").first { $0.hasPrefix(state + "\n") })
    for answer in section.components(separatedBy: "--- ").dropFirst() {
      let lines = answer.split(separator: "\n", maxSplits: 1)
      let words = lines[0].split(separator: " ")
      let body = lines.count > 1 ? lines[1].trimmingCharacters(in: .newlines) : ""
      answers[String(words[0])] = HTTPAnswer(status: try #require(Int(words[1])), body: Array(body.utf8))
    }
  }

  mutating func answer(_ path: String, _ status: Int, _ body: String = "") {
    answers[path] = HTTPAnswer(status: status, body: Array(body.utf8))
  }

  /// A look at it with a reader of its own.
  func look() throws -> RouterLook {
    var reader = RouterReader()
    return try look(&reader)
  }

  func look(_ reader: inout RouterReader) throws -> RouterLook {
    try reader.look { [answers] request throws(HTTPFailure) in
      answers[request.path] ?? HTTPAnswer(status: 404, body: Array("{}".utf8))
    }
  }

  func report() throws -> RouterReport {
    guard case .report(let report) = try look() else { throw NoReport() }
    return report
  }

  struct NoReport: Error {}
}

/// Opens what is sealed in a payload, in which there is nothing else but `beside`.
func opened(
  _ payload: [UInt8], with daemon: Identity, from own: Identity, topic: String, now: Int64, beside: Set<String> = []
) throws -> OpenedEnvelope {
  let outside = try #require(try JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any])
  #expect(Set(outside.keys) == beside.union(["sealed"]))
  return try Envelope.open(
    Array(JSONSerialization.data(withJSONObject: try #require(outside["sealed"]))), with: daemon, from: [own.keys],
    topic: topic, now: now)
}

/// Reports of routers that a test makes up.
enum Sample {
  static func agent(_ digit: Character = "1") throws -> BorderAgentID {
    try #require(BorderAgentID(hex: String(repeating: digit, count: 32)))
  }

  /// For that router; it lives for 300 s.
  static func order(_ id: String, _ dataset: OperationalDataset, issuedAt: Int64 = 1_000) throws -> AdoptionOrder {
    AdoptionOrder(id: id, agent: try agent(), dataset: dataset, issuedAt: issuedAt, expiresAt: issuedAt + 300)
  }

  /// One that has no network.
  static func empty(_ digit: Character = "1") throws -> RouterReport {
    try report(.disabled, of: digit, dataset: RouterReport.Reading.none)
  }

  /// A router with a dataset of its own network.
  static func report(
    _ state: ThreadState = .leader, of digit: Character = "1", on network: SampleNetwork = .home,
    at seconds: UInt64 = 1, dataset: RouterReport.Reading? = nil
  ) throws -> RouterReport {
    RouterReport(
      agent: try agent(digit), extendedAddress: "0102030405060708", state: state,
      network: ExtendedPANID(hex: network.extendedPANID),
      dataset: try dataset ?? .complete(network.dataset(at: seconds)))
  }
}
