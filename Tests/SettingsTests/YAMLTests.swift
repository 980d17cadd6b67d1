// SPDX-License-Identifier: Apache-2.0

import Foundation
import Settings
import Testing

struct YAMLTests {
  @Test("Nothing, comments, a mark or empty sections mean the defaults")
  func empty() throws {
    let defaults = try load("").settings
    for yaml in ["# nothing\n", "---\n", "{}", "null", "mqtt:\nlog:\n", "\u{FEFF}mqtt: {}", "\n\n"]
    {
      let result = try load(yaml)
      #expect(result.problems.isEmpty, "\(yaml)")
      #expect(result.settings == defaults)
    }
  }

  @Test(
    "Broken YAML is named with line and column",
    arguments: [
      ("mqtt:\n  host: a\n port: 1\n", "3:2"), ("mqtt: [a", "2:1"), ("mqtt: {a", "2:1"),
      ("mqtt:\n  host: \"a\n", "3:1"), ("a: b: c", "1:5"), ("mqtt:\n\thost: a\n", "2:1"),
      ("- a\nb: c\n", "2:1"), ("a: *x", "1:4"), ("%bad\n---\n", "1:5"), ("a: @b", "1:4"),
    ])
  func broken(yaml: String, place: String) throws {
    let found = try problems(yaml)
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix("\(place): error: not YAML: ") == true, "\(found)")
  }

  @Test("A file that holds no mapping is refused, and not repeated")
  func noMapping() throws {
    #expect(
      try problems("hunter2") == ["1:1: error: expected sections such as `mqtt:`, found text"])
    #expect(
      try problems("- a") == ["1:1: error: expected sections such as `mqtt:`, found a list"])
  }

  @Test("Control characters and bytes that are no text have a place too")
  func noText() throws {
    #expect(try problems("log: {}\n# \u{1}").first?.hasPrefix("2:3: error: YAML allows no") == true)
    let directory = try ConfigurationDirectory()
    try directory.write(Data("log: {}\n# é".utf8 + [0xFF]), to: "threadkeeper.yaml")
    #expect(
      directory.load().problems.map(\.description) == [
        "threadkeeper.yaml:2:4: error: the configuration is not UTF-8 text"
      ])
    try directory.write(Data(repeating: 0x20, count: (1 << 20) + 1), to: "threadkeeper.yaml")
    #expect(directory.load().problems.first?.message.hasSuffix("is larger than 1024 KiB") == true)
  }

  @Test("Keys given twice are all found, at every depth, quoted or not, beside other problems")
  func duplicates() throws {
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

  @Test("Odd duplicates are still refused")
  func oddDuplicates() throws {
    for yaml in ["'': 1\n'': 2", "&a x: 1\nx: 2", "? x\n: 1\n? x\n: 2", "_x: 1\n_x: 2"] {
      #expect(try problems(yaml).contains { $0.contains("duplicate key") }, "\(yaml)")
    }
    let many = (0..<500).map { "k\($0 / 2): 1" }.joined(separator: "\n")
    #expect(try problems(many).isEmpty == false)
  }

  @Test("An unknown tag is not taken for text")
  func tags() throws {
    #expect(
      try problems("mqtt:\n  host: !env BROKER") == [
        "2:9: error: mqtt.host: unknown tag `!env`; the known ones are `!secret` and `!credential`"
      ])
    #expect(try load("mqtt: {host: !!str 12ab}").settings?.mqtt.host == .named("12ab"))
  }

  @Test(
    "A name with a dot, or none at all, is no key",
    arguments: [
      ("mqtt.host: a\nmqtt: {host: b}", "1:1", "`mqtt.host`; write it as `host` below `mqtt`"),
      ("mqtt:\n  tls.ca_file: a", "2:3", "`mqtt.tls.ca_file`; write it as `ca_file` below `tls`"),
      (
        "mqtt.tls.ca_file: a", "1:1",
        "`mqtt.tls.ca_file`; write it as `ca_file` below `tls` below `mqtt`"
      ),
      ("mqtt.tls: {ca_file: a}", "1:1", "`mqtt.tls`; write it as `tls` below `mqtt`"),
      ("log.levels: info", "1:1", "`log.levels`; did you mean `log`?"),
      ("log: {'': a}", "1:7", "`log.`; known here: `level`, `format`"),
    ])
  func dottedNames(yaml: String, place: String, problem: String) throws {
    #expect(try problems(yaml) == ["\(place): error: unknown key \(problem)"])
  }

  @Test("A section without a name is none")
  func unnamedSection() throws {
    let found = try problems("'': {mqtt: {host: a}}")
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix("1:1: error: unknown key ``; known here: ") == true, "\(found)")
  }

  @Test("Unknown keys: the nearest name, the right section, or what there is")
  func unknownKeys() throws {
    let hints = [
      "mqtt: {user: a}": "unknown key `mqtt.user`; did you mean `username`?",
      "mqtt: {Host: a}": "unknown key `mqtt.Host`; did you mean `host`?",
      "mqtt: {client-id: a}": "unknown key `mqtt.client-id`; did you mean `client_id`?",
      "mqtt: {topic: a}": "unknown key `mqtt.topic`; did you mean `base_topic`?",
      "mqtt: {ca_file: a}": "unknown key `mqtt.ca_file`; did you mean `mqtt.tls.ca_file`?",
      "mqtt: {tls: {cafile: a}}": "unknown key `mqtt.tls.cafile`; did you mean `ca_file`?",
      "log: {colour: a}": "unknown key `log.colour`; known here: `level`, `format`",
      "team: {}": "unknown key `team`; did you mean `teams`?",
      "homes: {h: {topic: a, base_topic: b}}":
        "unknown key `homes.h.topic`; did you mean `base_topic`?",
    ]
    for (yaml, hint) in hints {
      #expect(try problems(yaml).map { String($0.trimmingPrefix(#/[0-9:]+ error: /#)) } == [hint])
    }
  }
}
