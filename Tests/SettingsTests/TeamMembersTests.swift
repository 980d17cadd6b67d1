// SPDX-License-Identifier: Apache-2.0

import Settings
import Testing

@Suite("Who speaks for a team")
struct TeamMembersTests {
  private func settings() throws -> Settings {
    try #require(
      try load(
        "teams: {crew: [a, b], empty: [], shared: []}\nclient_users: {1000: phone, 1001: shared}\n"
      ).settings)
  }

  @Test(
    "A listed team has its users, and a login that no team lists is a team of its own",
    arguments: [
      ("crew", ["a", "b"]), ("other", ["other"]), ("user/crew", ["crew"]),
      ("jos\u{E9}", ["jos\u{E9}"]),
    ])
  func logins(_ team: String, _ logins: [String]) throws {
    #expect(try settings().members(ofTeam: team) == .logins(logins))
  }

  @Test(
    "A team of programs of this machine has no login", arguments: ["phone", "shared", "uid/0"])
  func programs(_ team: String) throws {
    #expect(try settings().members(ofTeam: team) == .logins([]))
  }

  @Test(
    "Nobody speaks for an empty team, nor for a name whose user speaks for another one",
    arguments: ["empty", "a", "user/a", "user/other", "uid/1000"])
  func nobody(_ team: String) throws {
    guard case .nobody = try settings().members(ofTeam: team) else {
      Issue.record("\(team) has members")
      return
    }
  }

  @Test(
    "What no team can be called is invalid",
    arguments: [
      "", "a/b", "a+", "#", "a\nb", "uid/x", "threadkeeper.internal",
      String(repeating: "x", count: 129),
    ])
  func invalid(_ team: String) throws {
    guard case .invalid = try settings().members(ofTeam: team) else {
      Issue.record("\(team) is taken for a team")
      return
    }
  }

  @Test("Empty teams are those without a login and without a program")
  func emptyTeams() throws {
    #expect(try settings().emptyTeams == ["empty"])
  }
}
