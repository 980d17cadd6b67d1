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

@Suite("Teams that nobody can speak for any more")
struct AbandonedTeamTests {
  private func isAbandoned(
    _ team: String, _ lastLogin: String?, seen: Set<String> = [], _ text: String = ""
  ) throws -> Bool {
    try #require(try load(text + "\n").settings)
      .isAbandoned(team, lastLogin: lastLogin, seen: seen.union(lastLogin.map { [$0] } ?? []))
  }

  @Test("A home where each login is its own team is never reported")
  func ordinaryHome() throws {
    #expect(try !isAbandoned("hub", "hub"))
    #expect(try !isAbandoned("hub", nil), "stored by a request, or by a program")
    #expect(try !isAbandoned("uid/1000", nil))
    #expect(try !isAbandoned("uid/1000", "hub"))
    #expect(try !isAbandoned("phone", nil, "client_users: {1000: other}"))
  }

  @Test("A team with a user is not reported, whoever spoke last")
  func listed() throws {
    #expect(try !isAbandoned("crew", "other", "teams: {crew: [a]}"))
    #expect(try !isAbandoned("phone", "other", "client_users: {1000: phone}"))
  }

  @Test("A login that was put into a team later has left its own one")
  func listedLater() throws {
    #expect(try isAbandoned("hub", "hub", "teams: {crew: [hub]}"))
    #expect(try isAbandoned("hub", nil, "teams: {crew: [hub]}"))
  }

  @Test("A team that the settings list no more is reported where its login is another team now")
  func unlisted() throws {
    #expect(try isAbandoned("crew", "hub"))
    #expect(try isAbandoned("crew", "hub", "teams: {installers: [hub]}"))
    #expect(try !isAbandoned("crew", "hub", seen: ["crew"]), "a login of that name was seen")
    #expect(try !isAbandoned("crew", nil), "nothing shows that it was no login")
  }

  @Test("A team of the settings without a user is reported")
  func empty() throws {
    #expect(try isAbandoned("crew", "hub", "teams: {crew: []}"))
  }
}
