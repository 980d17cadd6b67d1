// SPDX-License-Identifier: Apache-2.0

import Settings
import Testing

struct TeamTests {
  @Test("A user speaks for the team that lists it, and else for a team of its own")
  func teamOfUser() throws {
    let settings = try #require(try load("teams:\n  crew: [a, 7]\n  b: [c]\n").settings)
    #expect(settings.teams == ["crew": ["a", "7"], "b": ["c"]])
    #expect(settings.team(ofUser: "a") == "crew")
    #expect(settings.team(ofUser: "7") == "crew")
    #expect(settings.team(ofUser: "other") == "other")
  }

  @Test("Nobody gets into a team by another spelling of the same letters")
  func spelling() throws {
    let settings = try #require(try load("teams: {crew: [jos\u{E9}]}").settings)
    #expect(settings.team(ofUser: "jos\u{E9}") == "crew")
    #expect(Array(settings.team(ofUser: "jose\u{301}").utf8) == Array("jose\u{301}".utf8))
  }

  @Test("Nobody gets into a team by bearing its name, or into threadkeeper's own")
  func namesake() throws {
    let settings = try #require(try load("teams: {crew: [a], b: [b]}").settings)
    #expect(settings.team(ofUser: "crew") == "user/crew")
    #expect(settings.team(ofUser: "b") == "b")
    #expect(settings.team(ofUser: "threadkeeper.internal") == "user/threadkeeper.internal")
    #expect(settings.team(ofUser: "threadkeeper") == "threadkeeper")
  }

  @Test("Names that can't be a team or a user are refused")
  func names() throws {
    for team in [
      "''", "a/b", "a b", "é", "threadkeeper.internal", "[a]", String(repeating: "x", count: 65),
    ] {
      #expect(try problems("teams: {? \(team) : [u]}").count == 1, "\(team)")
    }
    for user in [
      "''", "a/b", "'a+'", "'#'", "\"a\\tb\"", "[a]", "{a: b}", "null", "!secret x",
      String(repeating: "x", count: 129),
    ] {
      let found = try problems("teams:\n  t: [ok, \(user)]")
      #expect(found.count == 1, "\(user)")
      #expect(found.first?.hasPrefix("2:11: error: teams.t: expected ") == true)
    }
    #expect(try problems("teams: {t: }").count == 1)
    #expect(try problems("teams: {t: []}") == [])
    #expect(
      try problems("teams: [a]").first?.hasPrefix("1:8: error: teams: expected a mapping") == true)
  }
}
