// SPDX-License-Identifier: Apache-2.0

import Settings
import Testing

struct OnePassTests {
  @Test("All problems come at once, in the order of the file, each with its line and column")
  func everythingAtOnce() throws {
    let yaml = """
      mqtt:
        hots: broker
        port: abc
        port: 99999
        base_topic: /x/#
        password: {a: 1}
        protocol: 4
        tls: yes
      stor:
        path: x
      alerts:
        hold: 30s
      preferred:
        on_mismatch: adapt
      presence: [1]
      host: x
      teams:
        a: [x, y, x, a/b]
        b: [y]
        c: z
      homes:
        Main: {base_topic: x}
        one: {base_topic: a}
        two: {base_topic: a/b}
        three: {}
        four:
      log:
        level: warn
        format: "json"
      """
    let topics =
      "expected a topic such as `threadkeeper` or `home/thread` (no `+`, `#`, `$`, `%` or control "
      + "character, no empty level, no space at the ends, at most 128 bytes)"
    let found = try problems(
      yaml, ["THREADKEEPER_MQTT_HOTS": "1", "THREADKEEPER_PRESENCE_OFFLINE_AFTER": "-1"])
    let expected = [
      "2:3: error: unknown key `mqtt.hots`; did you mean `host`?",
      "3:9: error: mqtt.port: expected a whole number from 1 to 65535, found `abc`",
      "4:3: error: duplicate key `mqtt.port`, first given on line 3: keep one of them",
      "5:15: error: mqtt.base_topic: \(topics), found `/x/#`",
      "6:13: error: mqtt.password: expected 1 to 65535 bytes of text, found a mapping",
      "7:13: error: mqtt.protocol: expected `5` or `3.1.1`, found `4`",
      "8:8: error: mqtt.tls: expected a mapping of keys, found text",
      "9:1: error: unknown key `stor`; did you mean `store`?",
      "12:9: error: alerts.hold: expected whole seconds from 0 to 86400, found `30s`",
      "14:16: error: preferred.on_mismatch: expected `alert` or `adopt`, found `adapt`; did you "
        + "mean `adopt`?",
      "15:11: error: presence: expected a mapping of keys, found a list",
      "16:1: error: unknown key `host`; did you mean `mqtt.host`?",
      "18:13: error: teams.a: the user `x` is listed twice",
      "18:16: error: teams.a: expected a user name of 1 to 128 characters without `/`, `+`, `#` "
        + "and control characters, found `a/b`",
      "19:7: error: teams.b: the user `y` is already in the team `a`",
      "20:6: error: teams.c: expected a list of user names, found text",
      "22:3: error: homes: expected a home's name of 1 to 32 small letters, digits, `-` or `_`, "
        + "found `Main`",
      "24:21: error: homes.two.base_topic: `a/b` equals the base topic of the home `one`, or one "
        + "lies in the other",
      "25:3: error: homes.three.base_topic: is missing; every home needs a base topic of its own",
      "26:3: error: homes.four: expected the key `base_topic`, found nothing",
      "28:10: error: log.level: expected `trace`, `debug`, `info`, `notice`, `warning`, `error` or "
        + "`critical`, found `warn`; did you mean `warning`?",
      "THREADKEEPER_MQTT_HOTS: error: unknown variable; did you mean `THREADKEEPER_MQTT_HOST`?",
      "THREADKEEPER_PRESENCE_OFFLINE_AFTER: error: presence.offline_after: expected whole seconds "
        + "from 0 to 604800, found `-1`",
    ]
    #expect(found.count == expected.count)
    for (found, expected) in zip(found, expected) { #expect(found == expected) }
  }

  @Test("The parts of a problem are there for programs")
  func parts() throws {
    let problem = try #require(try load("mqtt:\n  port: x").problems.first)
    #expect(problem.file == "threadkeeper.yaml")
    #expect(problem.line == 2)
    #expect(problem.column == 9)
    #expect(problem.key == "mqtt.port")
    #expect(problem.severity == .error)
    #expect(problem.variable == nil)
    let other = try #require(try load("", ["THREADKEEPER_MQTT_PORT": "x"]).problems.first)
    #expect(other.variable == "THREADKEEPER_MQTT_PORT")
    #expect(other.key == "mqtt.port")
    #expect(other.file == nil)
    #expect(other.line == nil)
  }
}
