import Foundation
import Testing

@testable import Settings

@Suite("What is wrong with a settings file") struct ProblemTests {
  @Test("All problems come at once, in the order of the file, each with its line and column") func everythingAtOnce()
    throws
  {
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
    let found = try problems(yaml, ["THREADKEEPER_MQTT_HOTS": "1", "THREADKEEPER_PRESENCE_OFFLINE_AFTER": "-1"])
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
      "14:16: error: preferred.on_mismatch: expected `alert` or `adopt`, found `adapt`; did you " + "mean `adopt`?",
      "15:11: error: presence: expected a mapping of keys, found a list",
      "16:1: error: unknown key `host`; did you mean `mqtt.host`?",
      "18:13: error: teams.a: the user `x` is listed twice",
      "18:16: error: teams.a: expected a user name of 1 to 128 characters without `/`, `+`, `#` "
        + "and control characters, found `a/b`", "19:7: error: teams.b: the user `y` is already in the team `a`",
      "20:6: error: teams.c: expected a list of user names, found text",
      "22:3: error: homes: expected a home's name of 1 to 32 small letters, digits, `-` or `_`, " + "found `Main`",
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

  @Test("The parts of a problem are there for programs") func parts() throws {
    let problem = try #require(try load("mqtt:\n  port: x").problems.first)
    #expect((problem.file, problem.line, problem.column) == ("threadkeeper.yaml", 2, 9))
    #expect((problem.key, problem.severity, problem.variable) == ("mqtt.port", .error, nil))
    let other = try #require(try load("", ["THREADKEEPER_MQTT_PORT": "x"]).problems.first)
    #expect((other.variable, other.key) == ("THREADKEEPER_MQTT_PORT", "mqtt.port"))
    #expect((other.file, other.line) == (nil, nil))
  }

  @Test("Nothing, comments, a mark or empty sections mean the defaults") func empty() throws {
    let defaults = try settings()
    for yaml in ["# nothing\n", "---\n", "{}", "null", "mqtt:\nlog:\n", "\u{FEFF}mqtt: {}", "\n\n"] {
      #expect(try problems(yaml) == [])
      #expect(try settings(yaml) == defaults)
    }
  }

  @Test(
    "Broken YAML is named with line and column",
    arguments: [("mqtt:\n  host: a\n port: 1\n", "3:2"), ("mqtt: [a", "2:1"), ("mqtt:\n\thost: a\n", "2:1")])
  func broken(yaml: String, place: String) throws {
    #expect(try problem(yaml).hasPrefix("\(place): error: not YAML: "))
  }

  @Test("A file that holds no mapping is refused, and not repeated") func noMapping() throws {
    for (yaml, kind) in [("hunter2", "text"), ("- a", "a list")] {
      #expect(try problem(yaml) == "1:1: error: expected sections such as `mqtt:`, found \(kind)")
    }
  }

  @Test("Control characters and bytes that are no text have a place too") func noText() throws {
    #expect(try problem("log: {}\n# \u{1}").hasPrefix("2:3: error: YAML allows no"))
    let directory = try ConfigurationDirectory()
    try directory.write(Data("log: {}\n# é".utf8 + [0xFF]), to: "threadkeeper.yaml")
    #expect(
      directory.load().problems.map(\.description) == [
        "threadkeeper.yaml:2:4: error: the configuration is not UTF-8 text"
      ])
    try directory.write(Data(repeating: 0x20, count: (1 << 20) + 1), to: "threadkeeper.yaml")
    #expect(directory.load().problems.first?.message.hasSuffix("is larger than 1024 KiB") == true)
  }

  @Test("Keys given twice are all found, at every depth, quoted or not, beside other problems") func duplicates() throws
  {
    let yaml = """
      mqtt:
        host: a
        "host": b
        'host': c
        tls:
          ca_file: x
          ca_file: x
      log: {level: info, level: debug}
      teams:
        a: [b]
        a: [c]
      homes:
        h: {base_topic: a, base_topic: b}
        h: {base_topic: c}
      mqtt: {}
      alerts: {hold: x}
      """
    #expect(
      try problems(yaml).filter { !$0.contains("ca_file: ") } == [
        "3:3: error: duplicate key `mqtt.host`, first given on line 2: keep one of them",
        "4:3: error: duplicate key `mqtt.host`, first given on line 2: keep one of them",
        "7:5: error: duplicate key `mqtt.tls.ca_file`, first given on line 6: keep one of them",
        "8:20: error: duplicate key `log.level`, first given on line 8: keep one of them",
        "11:3: error: duplicate key `teams.a`, first given on line 10: keep one of them",
        "13:22: error: duplicate key `homes.h.base_topic`, first given on line 13: keep one of them",
        "14:3: error: duplicate key `homes.h`, first given on line 13: change it there: `base_topic` on line 13",
        "15:1: error: duplicate key `mqtt`, first given on line 1: put the lines of this one below that",
        "16:16: error: alerts.hold: expected whole seconds from 0 to 86400, found `x`",
      ])
  }

  @Test("Odd duplicates are still refused") func oddDuplicates() throws {
    for yaml in ["'': 1\n'': 2", "&a x: 1\nx: 2", "? x\n: 1\n? x\n: 2", "_x: 1\n_x: 2"] {
      #expect(try problems(yaml).contains { $0.contains("duplicate key") }, "\(yaml)")
    }
    let many = (0..<500).map { "k\($0 / 2): 1" }.joined(separator: "\n")
    #expect(try problems(many).isEmpty == false)
  }

  @Test("An unknown tag is not taken for text") func tags() throws {
    #expect(
      try problem("mqtt:\n  host: !env BROKER")
        == "2:9: error: mqtt.host: unknown tag `!env`; the known ones are `!secret` and `!credential`")
    #expect(try settings("mqtt: {host: !!str 12ab}").mqtt.host == .named("12ab"))
  }

  @Test(
    "A name with a dot, or none at all, is no key",
    arguments: [
      ("mqtt.host: a\nmqtt: {host: b}", "1:1", "`mqtt.host`; write it as `host` below `mqtt`"),
      ("mqtt:\n  tls.ca_file: a", "2:3", "`mqtt.tls.ca_file`; write it as `ca_file` below `tls`"),
      ("mqtt.tls.ca_file: a", "1:1", "`mqtt.tls.ca_file`; write it as `ca_file` below `tls` below `mqtt`"),
      ("mqtt.tls: {ca_file: a}", "1:1", "`mqtt.tls`; write it as `tls` below `mqtt`"),
      ("log.levels: info", "1:1", "`log.levels`; did you mean `log`?"),
      ("log: {'': a}", "1:7", "`log.`; known here: `level`, `format`"),
    ]) func dottedNames(yaml: String, place: String, problem: String) throws
  { #expect(try problems(yaml) == ["\(place): error: unknown key \(problem)"]) }

  @Test("Unknown keys: the nearest name, the right section, or what there is") func unknownKeys() throws {
    #expect(try problem("'': {mqtt: {host: a}}").hasPrefix("1:1: error: unknown key ``; known here: "))
    let hints = [
      "mqtt: {user: a}": "unknown key `mqtt.user`; did you mean `username`?",
      "mqtt: {Host: a}": "unknown key `mqtt.Host`; did you mean `host`?",
      "mqtt: {client-id: a}": "unknown key `mqtt.client-id`; did you mean `client_id`?",
      "mqtt: {topic: a}": "unknown key `mqtt.topic`; did you mean `base_topic`?",
      "mqtt: {ca_file: a}": "unknown key `mqtt.ca_file`; did you mean `mqtt.tls.ca_file`?",
      "mqtt: {tls: {cafile: a}}": "unknown key `mqtt.tls.cafile`; did you mean `ca_file`?",
      "log: {colour: a}": "unknown key `log.colour`; known here: `level`, `format`",
      "team: {}": "unknown key `team`; did you mean `teams`?",
      "homes: {h: {topic: a, base_topic: b}}": "unknown key `homes.h.topic`; did you mean `base_topic`?",
    ]
    for (yaml, hint) in hints { #expect(try problem(yaml).trimmingPrefix(#/[0-9:]+ error: /#) == hint) }
  }

  @Test("One slip is forgiven, a new word is not") func nearest() {
    let names = ["host", "port", "username", "password", "client_id", "base_topic"]
    for (word, name) in [
      ("hots", "host"), ("hst", "host"), ("hosst", "host"), ("HOST", "host"), ("passwd", "password"),
      ("pasword", "password"), ("base-topic", "base_topic"), ("clientid", "client_id"), ("user", "username"),
      ("topic", "base_topic"), ("mqtt_host", "host"), ("poort", "port"),
    ] { #expect(NearestName.nearest(to: word, among: names) == name, "\(word)") }
    for word in ["", "x", "keepalive", "qos", "zzzzzzzz", "retain"] {
      #expect(NearestName.nearest(to: word, among: names) == nil, "\(word)")
    }
    #expect(NearestName.nearest(to: String(repeating: "x", count: 100_000), among: names) == nil)
    #expect(NearestName.nearest(to: "host", among: []) == nil)
  }
}
