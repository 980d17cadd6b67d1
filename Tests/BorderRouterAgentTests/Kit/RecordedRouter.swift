// SPDX-License-Identifier: Apache-2.0

import BorderRouterAgent
import Foundation
import Testing

/// The REST answers of a real router in one state, from `Recorded/otbr.txt`, and changes to them.
struct RecordedRouter {
  /// By path; a path that is not there answers 404.
  var answers: [String: HTTPAnswer] = [:]
  var asked: [String] = []

  init(_ state: String) throws {
    let file = try #require(
      Bundle.module.url(forResource: "otbr", withExtension: "txt", subdirectory: "Recorded"))
    let text = try String(contentsOf: file, encoding: .utf8)
    let section = try #require(
      text.components(separatedBy: "=== ").first { $0.hasPrefix(state + "\n") })
    for answer in section.components(separatedBy: "--- ").dropFirst() {
      let lines = answer.split(separator: "\n", maxSplits: 1)
      let words = lines[0].split(separator: " ")
      let body = lines.count > 1 ? lines[1].trimmingCharacters(in: .newlines) : ""
      answers[String(words[0])] = HTTPAnswer(
        status: try #require(Int(words[1])), body: Array(body.utf8))
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
