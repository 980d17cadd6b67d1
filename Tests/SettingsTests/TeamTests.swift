import Testing

@testable import Settings

@Suite("The teams of logins and of users of this machine") struct TeamTests {
  @Test("A user speaks for the team that lists it, and else for a team of its own") func teamOfUser() throws {
    let settings = try settings("teams:\n  crew: [a, 7]\n  b: [c]\n")
    #expect(settings.teams == ["crew": ["a", "7"], "b": ["c"]])
    #expect(["a", "7", "other"].map(settings.team(ofUser:)) == ["crew", "crew", "other"])
  }

  @Test("Nobody gets into a team by another spelling of the same letters") func spelling() throws {
    let settings = try settings("teams: {crew: [jos\u{E9}]}")
    #expect(settings.team(ofUser: "jos\u{E9}") == "crew")
    #expect(Array(settings.team(ofUser: "jose\u{301}").utf8) == Array("jose\u{301}".utf8))
  }

  @Test("Nobody gets into a team by bearing its name, or into threadkeeper's own") func namesake() throws {
    let settings = try settings("teams: {crew: [a], b: [b]}\nclient_users: {1: hub}")
    for (user, team) in [
      ("crew", "user/crew"), ("b", "b"), ("threadkeeper.internal", "user/threadkeeper.internal"),
      ("threadkeeper", "threadkeeper"), ("hub", "user/hub"),
    ] { #expect(settings.team(ofUser: user) == team) }
  }

  @Test("Names that can't be a team or a user are refused") func names() throws {
    for team in ["''", "a/b", "a b", "é", "threadkeeper.internal", "[a]", String(repeating: "x", count: 65)] {
      _ = try problem("teams: {? \(team) : [u]}")
    }
    for user in [
      "''", "a/b", "'a+'", "'#'", "\"a\\tb\"", "[a]", "{a: b}", "null", "!secret x", String(repeating: "x", count: 129),
    ] { #expect(try problem("teams:\n  t: [ok, \(user)]").hasPrefix("2:11: error: teams.t: expected ")) }
    _ = try problem("teams: {t: }")
    #expect(try problems("teams: {t: []}") == [])
    #expect(try problem("teams: [a]").hasPrefix("1:8: error: teams: expected a mapping"))
  }

  @Test("Users of the machine are named or numbered, and speak for their team") func users() throws {
    let yaml = "client_users: {root: hub, 1234: phone, '1235': phone}"
    #expect(try problems(yaml) == [])
    let named = try settings(yaml)
    #expect(named.clientUsers == [0: "hub", 1234: "phone", 1235: "phone"])
    #expect([0, 1234, 1236].map { named.team(ofUID: $0, daemon: 7) } == ["hub", "phone", nil])
    let shared = try settings("client_users: {1: hub}\nteams: {hub: [hub, b]}")
    #expect(shared.team(ofUser: "hub") == "hub")
    #expect(shared.team(ofUser: "b") == shared.team(ofUID: 1, daemon: 7))
  }

  @Test("The daemon's own user and root are teams of their own, which no login can be") func own() throws {
    let settings = try settings()
    #expect([7, 0, 8].map { settings.team(ofUID: $0, daemon: 7) } == ["uid/7", "uid/0", nil])
    for yaml in ["teams: {uid/7: [a]}", "client_users: {0: uid/7}"] { _ = try problem(yaml) }
  }

  @Test("What is no user of the machine is said with its place, all at once") func mistakes() throws {
    let yaml = """
      client_users:
        root: a/b
        0: other
        nobody-of-that-name: hub
        4294967295: hub
        99999999999: hub
        '': hub
        1: [a]
        2: threadkeeper.internal
        3:
        0: x
      """
    let team = "expected a team name of 1 to 64 letters, digits, `-`, `_` or `.`"
    #expect(
      try problems(yaml) == [
        "2:9: error: client_users.root: \(team), found `a/b`",
        "4:3: warning: client_users.nobody-of-that-name: this machine has no user "
          + "`nobody-of-that-name`: nobody is let in by it. Give the number where the name is known "
          + "elsewhere only", "5:3: error: client_users: expected the name or number of a user, found `4294967295`",
        "6:3: error: client_users: expected the name or number of a user, found `99999999999`",
        "7:3: error: client_users: expected the name or number of a user, found ``",
        "8:6: error: client_users.1: expected the name of a team, found a list",
        "9:6: error: client_users.2: names that begin with `threadkeeper.` are kept for threadkeeper " + "itself",
        "10:5: error: client_users.3: expected the name of a team, found nothing",
        "11:3: error: duplicate key `client_users.0`, first given on line 3: keep one of them",
      ])
    #expect(
      try problem("client_users: [a]")
        == "1:15: error: client_users: expected a mapping from a user of this machine to a team, " + "found a list")
    #expect(
      try problem("client_users:\n  root: a\n  0: b\n")
        == "3:3: error: client_users.0: the user 0 is already in the team `a`, by another name")
    #expect(try problems("client_users: {root: a, 0: a}") == [])
  }

  @Test("The second socket lies outside of the store, and serves users that are named") func socket() throws {
    let yaml = "client_users: {1: a}\nclients:\n  socket: /run/x.sock\n"
    #expect(try settings(yaml).clientSocket == "/run/x.sock")
    #expect(try settings().clientSocket == nil)
    #expect(
      try problem("client_users: {1: a}\nstore: {path: /s}\nclients: {socket: /s/x}")
        == "3:19: error: clients.socket: expected a path outside `store.path`, whose directory is "
        + "closed to other users")
    #expect(
      try problem("clients:\n  socket: /s/x\n")
        == "2:11: warning: clients.socket: serves nobody who is not served without it: `client_users` "
        + "names no user")
  }

  @Test("A team is abandoned when nobody can speak for it any more") func abandoned() throws {
    let other = "teams: {crew: [a, b]}\nclient_users: {1000: phone}"
    for (text, team, login, expected) in [
      // Each login is its own team; without one it was stored by a request, or by a program.
      ("", "hub", "hub", false), ("", "hub", nil, false), ("", "uid/1000", nil, false), ("", "uid/1000", "hub", false),
      ("client_users: {1000: other}", "phone", nil, false),
      // It has a user, whoever spoke last.
      ("teams: {crew: [a]}", "crew", "other", false), ("client_users: {1000: phone}", "phone", "other", false),
      // Its login was put into a team later.
      ("teams: {crew: [hub]}", "hub", "hub", true), ("teams: {crew: [hub]}", "hub", nil, true),
      // The settings list it no more, and its login is another team now. Nothing shows that it was no login.
      ("", "crew", "hub", true), ("teams: {installers: [hub]}", "crew", "hub", true), ("", "crew", nil, false),
      // It has no user, or its user speaks for another team.
      ("teams: {crew: []}", "crew", "hub", true), (other, "a", nil, true), (other, "user/a", nil, true),
      (other, "uid/1000", nil, true), (other, "uid/0", nil, false), (other, "user/crew", nil, false),
    ] as [(String, String, String?, Bool)] {
      let seen = Set(login.map { [$0] } ?? [])
      #expect(
        try settings(text).isAbandoned(team, lastLogin: login, seen: seen) == expected,
        "\(team), \(login ?? "no login"), \(text)")
    }
    // A login of that name was seen.
    #expect(try !settings().isAbandoned("crew", lastLogin: "hub", seen: ["crew", "hub"]))
    let text = "teams: {crew: [a, b], empty: [], shared: []}\nclient_users: {1001: shared}\n"
    #expect(try settings(text).emptyTeams == ["empty"], "those without a login and a program")
  }
}
