// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Settings

struct ClientTests {
  @Test("Users of the machine are named or numbered, and speak for their team")
  func users() throws {
    let result = try load("client_users: {root: hub, 1234: phone, '1235': phone}")
    let settings = try #require(result.settings)
    #expect(result.problems == [])
    #expect(settings.clientUsers == [0: "hub", 1234: "phone", 1235: "phone"])
    #expect(settings.team(ofUID: 0, daemon: 7) == "hub")
    #expect(settings.team(ofUID: 1234, daemon: 7) == "phone")
    #expect(settings.team(ofUID: 1236, daemon: 7) == nil)
  }

  @Test("The daemon's own user and root are teams of their own, which no login can be")
  func own() throws {
    let settings = try #require(try load("").settings)
    #expect(settings.team(ofUID: 7, daemon: 7) == "uid/7")
    #expect(settings.team(ofUID: 0, daemon: 7) == "uid/0")
    #expect(settings.team(ofUID: 8, daemon: 7) == nil)
    #expect(try problems("teams: {uid/7: [a]}").count == 1)
    #expect(try problems("client_users: {0: uid/7}").count == 1)
  }

  @Test("No login gets into the team of a user by bearing its name, unless it is listed there")
  func namesake() throws {
    let settings = try #require(try load("client_users: {1: hub}").settings)
    #expect(settings.team(ofUser: "hub") == "user/hub")
    let shared = try #require(
      try load("client_users: {1: hub}\nteams: {hub: [hub, b]}").settings)
    #expect(shared.team(ofUser: "hub") == "hub")
    #expect(shared.team(ofUser: "b") == shared.team(ofUID: 1, daemon: 7))
  }

  @Test("What is no user and no team is said with its place, all at once")
  func mistakes() throws {
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
    let found = try problems(yaml)
    #expect(
      found == [
        "2:9: error: client_users.root: \(team), found `a/b`",
        "4:3: warning: client_users.nobody-of-that-name: this machine has no user "
          + "`nobody-of-that-name`: nobody is let in by it. Give the number where the name is known "
          + "elsewhere only",
        "5:3: error: client_users: expected the name or number of a user, found `4294967295`",
        "6:3: error: client_users: expected the name or number of a user, found `99999999999`",
        "7:3: error: client_users: expected the name or number of a user, found ``",
        "8:6: error: client_users.1: expected the name of a team, found a list",
        "9:6: error: client_users.2: names that begin with `threadkeeper.` are kept for threadkeeper "
          + "itself",
        "10:5: error: client_users.3: expected the name of a team, found nothing",
        "11:3: error: duplicate key `client_users.0`, first given on line 3: keep one of them",
      ])
    #expect(
      try problems("client_users: [a]") == [
        "1:15: error: client_users: expected a mapping from a user of this machine to a team, "
          + "found a list"
      ])
    #expect(
      try problems("client_users:\n  root: a\n  0: b\n") == [
        "3:3: error: client_users.0: the user 0 is already in the team `a`, by another name"
      ])
    #expect(try problems("client_users: {root: a, 0: a}") == [])
  }

  @Test("The second socket lies outside of the store")
  func socket() throws {
    let yaml = "client_users: {1: a}\nclients:\n  socket: /run/x.sock\n"
    let settings = try #require(try load(yaml).settings)
    #expect(settings.clients.socket == "/run/x.sock")
    #expect(try load("").settings?.clients == .init(socket: nil))
    let inside = try problems(
      "client_users: {1: a}\nstore: {path: /s}\nclients: {socket: /s/x}")
    #expect(
      inside == [
        "3:19: error: clients.socket: expected a path outside `store.path`, whose directory is "
          + "closed to other users"
      ])
    let nobody = try problems("clients:\n  socket: /s/x\n")
    #expect(
      nobody == [
        "2:11: warning: clients.socket: serves nobody who is not served without it: `client_users` "
          + "names no user"
      ])
  }

  @Test("Variables for programs are not the daemon's, and do not stop it")
  func variables() throws {
    let found = try problems(
      "",
      [
        "THREADKEEPER_SOCKET": "/run/x", "THREADKEEPER_NETWORK_TEAM": "a",
        "THREADKEEPER_CLIENT_USERS": "{7: a}",
      ])
    #expect(found == [])
    #expect(
      try load("", ["THREADKEEPER_CLIENT_USERS": "{7: a}"]).settings?.clientUsers == [7: "a"])
  }
}
