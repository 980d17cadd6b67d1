// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@Suite("threadkeeper dataset compare", .timeLimit(.minutes(30)))
struct DatasetCompareTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let a: String
    let b: String
    let relation: String
    let differs: [String]
    let line: String

    var testDescription: String { line }
  }

  static let cases: [Case] = [
    Case(
      a: DatasetSamples.home, b: DatasetSamples.home.uppercased(), relation: "match", differs: [],
      line: "match"),
    Case(
      a: DatasetSamples.homeWithWakeUpChannel, b: DatasetSamples.home, relation: "match",
      differs: [], line: "match"),
    Case(
      a: DatasetSamples.homeLater, b: DatasetSamples.home, relation: "newer", differs: [],
      line: "newer"),
    Case(
      a: DatasetSamples.homeWithOtherKey, b: DatasetSamples.homeLater, relation: "older",
      differs: ["network_key", "channel"], line: "older"),
    Case(
      a: DatasetSamples.homeWithOtherKey, b: DatasetSamples.home, relation: "conflict",
      differs: ["network_key", "channel"], line: "conflict: network_key, channel"),
    Case(
      a: DatasetSamples.guest, b: DatasetSamples.homeLater, relation: "mismatch",
      differs: ["ext_pan_id"], line: "mismatch: ext_pan_id"),
  ]

  @Test("What A is to B, by word, by names and by exit status", arguments: cases)
  func relation(of example: Case) async throws {
    let status: Int32 = example.relation == "match" ? 0 : 1
    let text = try await ThreadkeeperBinary.run("dataset", "compare", example.a, example.b)
    #expect(text.status == status)
    #expect(text.output == example.line + "\n")
    #expect(text.error == DatasetSamples.warning, "once for both")
    let json = try await ThreadkeeperBinary.run(
      "dataset", "compare", "--json", example.a, example.b)
    #expect(json.status == status)
    let object = try json.object()
    #expect(Set(object.keys) == ["relation", "differs"])
    #expect(object["relation"] as? String == example.relation)
    #expect(object["differs"] as? [String] == example.differs)
  }

  @Test("Either of the two can come on standard input, but not both")
  func standardInput() async throws {
    let first = try await ThreadkeeperBinary.run(
      "dataset", "compare", "-", DatasetSamples.home, input: .text(DatasetSamples.homeLater))
    #expect(first.output == "newer\n")
    let second = try await ThreadkeeperBinary.run(
      "dataset", "compare", DatasetSamples.home, "-", input: .text(DatasetSamples.homeLater))
    #expect(second.output == "older\n")
    let both = try await ThreadkeeperBinary.run(
      "dataset", "compare", "-", "-", input: .text(DatasetSamples.home))
    #expect(both.status == 64)
  }

  @Test("Each of the two can come from a file, so that no key stands on the command line")
  func files() async throws {
    let directory = try TemporaryDirectory()
    func file(_ name: String, _ text: String) throws -> String {
      try Data(text.utf8).write(to: URL(fileURLWithPath: directory.file(name)))
      return "@" + directory.file(name)
    }
    let home = try file("home", DatasetSamples.home + "\n")
    let later = try file("later", DatasetSamples.homeLater)
    for (a, b, line) in [(home, later, "older"), (later, home, "newer"), ("-", home, "match")] {
      let outcome = try await ThreadkeeperBinary.run(
        "dataset", "compare", a, b, input: .text(DatasetSamples.home))
      #expect(outcome.output == line + "\n", "\(outcome.error)")
      #expect(outcome.error.isEmpty)
    }
    let none = try await ThreadkeeperBinary.run("dataset", "decode", "@" + directory.file("none"))
    #expect(none.status == 66)
    let long = try await ThreadkeeperBinary.run(
      "dataset", "decode", try file("long", String(repeating: "0", count: 5000)))
    #expect(long.status == 65)
  }

  @Test("A bad one is named", arguments: [0, 1])
  func bad(place: Int) async throws {
    let datasets = place == 0 ? ["aa", DatasetSamples.home] : [DatasetSamples.home, "aa"]
    let json = try await ThreadkeeperBinary.run(
      "dataset", "compare", "--json", datasets[0], datasets[1])
    #expect(json.status == 65)
    let error = try #require(try json.object()["error"] as? [String: any Sendable])
    #expect(error["code"] as? String == "truncated")
    #expect(error["argument"] as? String == ["A", "B"][place])
    let text = try await ThreadkeeperBinary.run("dataset", "compare", datasets[0], datasets[1])
    #expect(text.status == 65)
    #expect(text.output.isEmpty)
    #expect(text.error.contains("error: bad dataset \(["A", "B"][place]), truncated: "))
  }

  @Test("Partial datasets are compared only where that is asked for")
  func partial() async throws {
    let refused = try await ThreadkeeperBinary.run(
      "dataset", "compare", DatasetSamples.home, DatasetSamples.partial)
    #expect(refused.status == 65)
    let accepted = try await ThreadkeeperBinary.run(
      "dataset", "compare", "--partial", DatasetSamples.home, DatasetSamples.partial)
    #expect(accepted.status == 1)
    #expect(accepted.output == "conflict: network_key\n")
  }
}
