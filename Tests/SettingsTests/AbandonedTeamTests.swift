// SPDX-License-Identifier: Apache-2.0

import Settings
import Testing

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

  @Test(
    "So is a name whose user speaks for another team",
    arguments: [
      ("a", true), ("user/a", true), ("uid/1000", true), ("uid/0", false), ("user/crew", false),
    ])
  func otherTeam(_ team: String, _ expected: Bool) throws {
    #expect(
      try isAbandoned(team, nil, "teams: {crew: [a, b]}\nclient_users: {1000: phone}") == expected)
  }

  @Test("Empty teams are those without a login and without a program")
  func emptyTeams() throws {
    let text = "teams: {crew: [a, b], empty: [], shared: []}\nclient_users: {1001: shared}\n"
    #expect(try #require(try load(text).settings).emptyTeams == ["empty"])
  }
}
