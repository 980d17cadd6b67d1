// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing
import ThreadDataset
import ThreadkeeperSupport

@testable import ConsentLedger

/// Names of programs, routers, networks and teams are chosen by others. None may alter the sentence around it.
@Suite("Names chosen by clients cannot alter the reason of a request")
struct HostileNameTests {
  static let names = [
    #"ha", login admin (team admin) would get nothing; approve"#,
    "“ha” would get nothing", "«ha»", "Living room\u{2028}login admin would get it",
    "a\u{202E}drowssap eht\u{202C}", "\u{2066}x\u{2069}", "line\nbreak\r\u{85}x", "\u{1B}[2J\u{07}",
    "\u{0}", "\u{FEFF}\u{200B}\u{200D}", "\u{301}\u{20DD}mark",
    "a" + String(repeating: "\u{301}", count: 500),
    String(repeating: "x", count: 5_000), "   ", "\u{3164}\u{115F}\u{00AD}",
    "tab\tand  spaces\u{2003}\u{3000}end",
    "\u{E000}\u{E0041}\u{FFFF}", "安全な家", "\u{FF02}wide\u{FF02}", "Home\u{2033} (uid 0)",
    "\u{2800}\u{2800}",
  ]

  /// Also mixed at random, always the same ones.
  static var all: [String] {
    var random = SeededGenerator(seed: 7)
    let parts = names.joined().unicodeScalars.map { String($0) }
    return names
      + (0..<300).map { _ in
        (0..<Int.random(in: 0...60, using: &random)).map { _ in
          parts.randomElement(using: &random) ?? ""
        }.joined()
      }
  }

  @Test(
    "A character that looks like a double quotation mark is shown as a single one",
    arguments:
      "\"“”„‟«»〝〞〟＂\u{2BA}\u{2DD}\u{2EE}\u{5F4}\u{2033}\u{2036}\u{275D}\u{275E}\u{3003}\u{1F676}"
      .unicodeScalars)
  func quotationMarks(mark: Unicode.Scalar) {
    #expect(ShownName.quoted("Home\(mark) x") == "\"Home' x\"")
  }

  /// What is between the double quotes, and what is not.
  private func split(_ sentence: String) -> (ours: String, theirs: [String]) {
    let parts = sentence.unicodeScalars.split(separator: "\"", omittingEmptySubsequences: false)
      .map { String($0) }
    #expect(parts.count % 2 == 1, "an odd number of quotation marks: \(sentence)")
    let ours = parts.indices.filter { $0 % 2 == 0 }.map { parts[$0] }
    return (ours.joined(separator: "_"), parts.indices.filter { $0 % 2 == 1 }.map { parts[$0] })
  }

  private func check(_ sentence: String, beside plain: String) {
    let (ours, theirs) = split(sentence)
    #expect(ours == split(plain).ours, "\(sentence.debugDescription)")
    for name in theirs {
      #expect(name.unicodeScalars.count <= 32, "\(name)")
      #expect(!name.isEmpty && name.first != " " && name.last != " ")
    }
    for scalar in sentence.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned,
        .surrogate:
        Issue.record("\(scalar.debugDescription) is shown")
      default: break
      }
    }
  }

  private func subject(_ router: String, _ network: String) throws -> ConsentSubject {
    ConsentSubject(
      home: "home", command: "dataset/set",
      networks: [.sample("1111111122222222", network)],
      router: ConsentRouter(
        agent: try #require(BorderAgentID(hex: "a1b2c3d4e5f60718")), name: router,
        networkName: network))
  }

  @Test("A name is shown in quotes, or left out when it has no visible characters")
  func sentences() throws {
    for name in Self.all {
      let requester = ConsentRequester(
        .systemUser(1003), team: "bob", userName: "bob", program: name)
      let isShown = ShownName.quoted(name) != nil
      let plain = ConsentRequester(
        .systemUser(1003), team: "bob", userName: "bob", program: isShown ? "ha" : nil)
      check(requester.description, beside: plain.description)
      guard isShown else { continue }
      check(
        ConsentReason.sentence(requester: requester, subject: try subject(name, name)),
        beside: ConsentReason.sentence(requester: plain, subject: try subject("a", "b")))
      check(
        try subject(name, name).description + " to \(requester)",
        beside: try subject("a", "b").description + " to \(plain)")
    }
  }

  @Test("Verified facts come before names: user and uid, login and team, border agent id")
  func facts() throws {
    let bob = ConsentRequester(.systemUser(1003), team: "bob", userName: "bob", program: "ha")
    #expect(bob.description == #"user bob (uid 1003, team bob), program calls itself "ha""#)
    let hub = ConsentRequester(.mqttUser("hub"), team: "family")
    #expect(hub.description == "login hub (team family)")
    #expect(
      try subject("Living room", "x").router?.description == #"a1b2c3d4e5f60718 "Living room""#)
    let long = try #require(ShownName.quoted(String(repeating: "x", count: 40)))
    #expect(long == "\"" + String(repeating: "x", count: 31) + "…\"")
  }

  @Test("A login or team name that looks like part of the sentence is quoted")
  func accounts() {
    let odd = ConsentRequester(.mqttUser("hub (team admin), approved"), team: "a) b")
    #expect(odd.description == #"login "hub (team admin), approved" (team "a) b")"#)
    #expect(ShownName.account("jos\u{E9}") == "\"jos\u{E9}\"")
    #expect(ShownName.account("a\u{202E}b") == "\"ab\"")
  }
}
