// SPDX-License-Identifier: Apache-2.0

import IngestRules
import Settings
import Testing

@Suite("The setting ingest")
struct IngestTests {
  private static let broker = "mqtt: {host: broker}\n"

  private func found(_ yaml: String) throws -> [String] {
    // Without the line of the broker.
    try problems(yaml + "\n" + Self.broker)
  }

  @Test("A rule has all that it says")
  func rule() throws {
    let yaml = """
      ingest:
        status:
          topic: otbr/{router}/status
          event: announce
          user: otbr
          fields:
            border_agent_id: /id
            dataset: /thread/activeDataset
            name: Box {router}
        will:
          topic: otbr/{router}/LWT
          event: offline
          user: '{router}'
          when: {payload: [Offline, gone]}
          fields: {border_agent_id: '{router}'}

      """
    let result = try load(yaml + Self.broker)
    #expect(result.problems.isEmpty)
    let rules = try #require(result.settings).ingest
    #expect(rules.subscriptions == ["otbr/+/status", "otbr/+/LWT"])
    let will = try #require(rules.all.last)
    #expect(will.name == "will" && will.home == "home" && will.event == .offline)
    #expect(will.user.text == "{router}")
    #expect(will.conditions.map(\.values) == [["Offline", "gone"]])
    #expect(rules.all.first?.fields.count == 3)
  }

  @Test("Everything that is wrong is said at once, with line and column")
  func problemsOfRules() throws {
    let yaml = """
      ingest:
        Bad name:
          topic: threadkeeper/in/hub/announce
        two:
          topic: a/#/b
          event: anounce
          user: a/b
          color: red
        three:
          topic: a/{x}
          event: ssid
          user: '{payload}'
          fields: {ssid: '{y}', name: n, border_agent_id: {x}}
        four:
          topic: b
          event: announce
          user: otbr
          when: {state: on, /a~2: b}
          fields:
            border_agent_id: xyz
            dataset: 0e08
            name: "{{ value_json.name }}"
        five:
          topic: c
          event: dataset
          user: otbr
          home: cabin
          fields: {border_agent_id: /a/b/c/d/e/f/g/h/i}
      """
    let found = try found(yaml)
    let expected = [
      "2:3: error: ingest.Bad name.event: is missing",
      "2:3: error: ingest.Bad name.user: is missing",
      "2:3: error: ingest: expected a rule's name",
      "3:12: error: ingest.Bad name.topic: `threadkeeper/in/hub/announce` reaches threadkeeper's own topics",
      "5:12: error: ingest.two.topic: `#` can only be the last level",
      "6:12: error: ingest.two.event: expected one of `announce`",
      "7:11: error: ingest.two.user: the user name `a/b` can't be used",
      "8:5: error: unknown key `ingest.two.color`",
      "12:11: error: ingest.three.user: the user cannot come from the payload",
      "13:20: error: ingest.three.fields.ssid: `{y}` is no part of the topic, which has `{x}`",
      "13:27: error: unknown key `ingest.three.fields.name` for `ssid`",
      "13:53: error: ingest.three.fields.border_agent_id: expected a JSON pointer such as "
        + "`/border_agent_id`, or a text, found a mapping; put it in quotes: `'{x}'`",
      "18:12: error: ingest.four.when: expected `payload` or a JSON pointer",
      "18:23: error: ingest.four.when: expected a JSON pointer",
      "20:24: error: ingest.four.fields.border_agent_id: expected 16 or 32 hex digits",
      "21:16: error: ingest.four.fields.dataset: a dataset has keys in it",
      "22:13: error: ingest.four.fields.name: templates are not known here",
      "27:11: error: ingest.five.home: expected one of the homes `home`, found `cabin`",
      "28:31: error: ingest.five.fields.border_agent_id: payloads are read 8 levels deep",
    ]
    for (index, start) in expected.enumerated() {
      #expect(found.indices.contains(index) && found[index].hasPrefix(start), "\(start)\n\(found)")
    }
    #expect(found.count == expected.count, "\(found)")
    #expect(found[6].contains("`/`"))
    #expect(!found.contains { $0.contains("0e08") })
  }

  @Test(
    "A topic that reaches threadkeeper's own is refused",
    arguments: ["#", "+/#", "t/house/in/+/announce", "t/{home}/router/x", "t/#", "t/house"])
  func own(topic: String) throws {
    let yaml = """
      homes: {house: {base_topic: t/house}}
      ingest: {a: {topic: "\(topic)", event: leave, user: u, fields: {border_agent_id: /a}}}
      """
    let found = try found(yaml)
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix("2:21: error: ingest.a.topic: ") == true, "\(found)")
  }

  @Test("What an event needs has to be there, and one of several homes named")
  func needed() throws {
    let yaml = """
      homes: {house: {base_topic: h}, cabin: {base_topic: c}}
      ingest:
        a: {topic: a, event: dataset, user: u, home: cabin, fields: {border_agent_id: /a}}
        b: {topic: b, event: ssid, user: u, home: cabin, fields: {ssid: /a}}
        c: {topic: c1, event: ssid, user: u, home: cabin, fields: {ssid: /a, access_point: c}}
        d: {topic: d, event: leave, user: u, fields: {border_agent_id: /a}}
      """
    #expect(
      try found(yaml) == [
        "3:3: error: ingest.a.fields: `dataset` needs the field `dataset`",
        "4:3: error: ingest.b.fields: `ssid` needs the field `border_agent_id`, or `access_point`",
        "6:3: error: ingest.d.home: is missing; expected one of the homes `house`, `cabin`",
      ])
  }

  @Test("A text that a field can never be is refused, of each event")
  func constants() throws {
    func found(_ event: String, _ fields: String) throws -> String? {
      let yaml = """
        ingest:
          a: {topic: 'a/{x}', event: \(event), user: u, fields: {border_agent_id: '{x}', \(fields)}}
        """
      let found = try self.found(yaml)
      #expect(found.count <= 1, "\(found)")
      return found.first?.split(separator: ": ").dropFirst(3).joined(separator: ": ")
    }
    for event in ["announce", "dataset"] {
      for fields in ["ext_pan_id: xy", "thread_state: happy", "ext_address: '12'"] {
        let more = event == "dataset" ? ", dataset: /d" : ""
        #expect(try found(event, fields + more) != nil, "\(event) \(fields)")
      }
      #expect(try found(event, "dataset: /d, thread_state: leader") == nil)
    }
    for field in ["seq", "id"] {
      for text in ["'7'", "'{x}'"] {
        #expect(try found("leave", "\(field): \(text)")?.hasPrefix("has to change") == true)
      }
      #expect(try found("leave", "\(field): '{payload}'") == nil)
      #expect(try found("leave", "\(field): /n") == nil)
    }
  }

  @Test("One rule alone takes `seq` or `id` of a message for a router")
  func order() throws {
    func found(_ two: String, topic: String = "a/{x}", when: String = "") throws -> [String] {
      try self.found(
        """
        homes: {house: {base_topic: h}, cabin: {base_topic: c}}
        ingest:
          one:
            topic: a/{x}
            event: announce
            user: u
            home: house
            when: {/kind: [hello, again]}
            fields: {border_agent_id: '{x}', seq: /n}
          two:
            topic: \(topic)
            event: offline
            home: house
            user: u
            \(when)
            \(two)
        """)
    }
    let fields = "fields: {border_agent_id: '{x}', seq: /n}"
    let expected = [
      "10:3: error: ingest.two.fields.seq: the rule `one` takes it from the same message for the same "
        + "router, and one event only can have it; remove `seq` from one of the two"
    ]
    #expect(try found(fields) == expected)
    #expect(try found(fields, when: "when: {/kind: again}") == expected)
    #expect(try found(fields, topic: "a/{x}/#") == expected)
    // Another message, another router, another number.
    #expect(try found(fields, when: "when: {/kind: gone}").isEmpty)
    #expect(try found(fields, topic: "b/{x}").isEmpty)
    #expect(try found("fields: {border_agent_id: /other, seq: /n}").isEmpty)
    #expect(try found("fields: {border_agent_id: '{x}', id: /n}").isEmpty)
    #expect(try found("fields: {border_agent_id: '{x}'}").isEmpty)
  }

  @Test("Other forms are refused, and nothing is the default")
  func forms() throws {
    #expect(try found("ingest: {}").isEmpty)
    #expect(try found("ingest: null").isEmpty)
    #expect(
      try found("ingest: [a]") == [
        "1:9: error: ingest: expected a mapping from a rule's name to its keys, found a list"
      ])
    #expect(try found("ingest: {a: b}").first?.hasPrefix("1:13: error: ingest.a: ") == true)
    #expect(try found("ingest: {a: {}, a: {}}").contains { $0.contains("duplicate key") })
    let rule = "{topic: x, event: leave, user: u, fields: {border_agent_id: /a}}"
    let many = (0...64).map { "r\($0): \(rule)" }.joined(separator: ", ")
    #expect(
      try found("ingest: {\(many)}") == ["1:9: error: ingest: expected at most 64 rules, found 65"])
  }

  @Test("On the private broker rules have no effect, which is a warning")
  func embedded() throws {
    let found = try problems(
      "ingest: {a: {topic: x, event: leave, user: u, fields: {border_agent_id: /a}}}")
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix("1:9: warning: ingest: has no effect") == true)
  }

  @Test("A variable has rules, too")
  func variable() throws {
    let rule = "{a: {topic: x, event: leave, user: u, fields: {border_agent_id: /a}}}"
    let result = try load(Self.broker, ["THREADKEEPER_INGEST": rule])
    #expect(result.settings?.ingest.subscriptions == ["x"])
  }
}
