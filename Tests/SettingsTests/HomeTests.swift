import Testing

struct HomeTests {
  @Test("Without homes there is one, on the base topic of `mqtt`") func one() throws {
    #expect(try settings("mqtt: {base_topic: a/b}\nhomes: {}").homes == [.init(name: "home", base: "a/b")])
  }

  @Test("Homes come in the order of the file") func several() throws {
    let yaml = "homes:\n  z: {base_topic: t/z}\n  a-1_b: {base_topic: t/zz}\n"
    #expect(try settings(yaml).homes == [.init(name: "z", base: "t/z"), .init(name: "a-1_b", base: "t/zz")])
  }

  @Test(
    "Base topics that are equal or nested are refused",
    arguments: [
      ("a", "a"), ("a", "a/b"), ("a/b/c", "a"), ("a/b", "a/b/c/d"), ("a", "a/in"), ("a", "a/in/hub"),
      ("a/in/hub/x", "a"), ("a", "a/\u{301}b"), ("a/\u{301}b/c", "a"),
    ]) func overlap(first: String, second: String) throws
  {
    let yaml = "homes:\n  x: {base_topic: \(first)}\n  y: {base_topic: \(second)}\n"
    #expect(try problem(yaml).hasPrefix("3:19: error: homes.y.base_topic: "))
  }

  @Test("Each of many base topics that lie in another is refused, and names a home that has it") func overlaps() throws
  {
    let homes = (1...200).map { "  h\($0): {base_topic: a/\($0)/b}" } + ["  x: {base_topic: a/150}"]
    #expect(
      try problem("homes:\n" + homes.joined(separator: "\n")).contains(
        "`a/150` equals the base topic of the home `h150`"))
  }

  @Test(
    "Base topics beside each other are fine, however alike",
    arguments: [("a", "ab"), ("a/b", "a/c"), ("a/in", "a/inn"), ("e\u{301}", "\u{E9}"), ("a", "A")]) func neighbours(
      first: String, second: String
    ) throws
  { #expect(try problems("homes:\n  x: {base_topic: \(first)}\n  y: {base_topic: \(second)}\n") == []) }

  @Test(
    "A base topic of `mqtt` on what a home listens to is refused",
    arguments: ["a/in", "a/in/hub", "a/in/hub/announce", "a/in/\u{301}x"]) func spareTopicInHome(topic: String) throws
  {
    let expected = "mqtt.base_topic: `\(topic)` lies where routers speak to the home `x` (`a/in/#`)"
    #expect(try problem("mqtt:\n  base_topic: \(topic)\nhomes: {x: {base_topic: a}}") == "2:15: error: \(expected)")
    #expect(
      try problem("homes: {x: {base_topic: a}}", ["THREADKEEPER_MQTT_BASE_TOPIC": topic])
        == "THREADKEEPER_MQTT_BASE_TOPIC: error: \(expected)")
  }

  @Test("A base topic of `mqtt` above or beside what a home listens to is only without effect")
  func spareTopicElsewhere() throws {
    for topic in ["a/inn", "a/b", "b", "a/in2/in"] {
      #expect(
        try problem("mqtt: {base_topic: \(topic)}\nhomes: {x: {base_topic: a}}").hasPrefix(
          "1:20: warning: mqtt.base_topic: has no effect"))
    }
    #expect(try problems("mqtt: {base_topic: b}\nhomes: {h: {base_topic: b}}") == [])
  }

  @Test("What is wrong in a home of a bad name is told along with the name") func badNameAndTopic() throws {
    let found = try problems("homes:\n  A: {base_topic: a/#}\n  b: {base_topic: c}\n")
    #expect(found.count == 2)
    #expect(found.first?.hasPrefix("2:3: error: homes: ") == true, "\(found)")
    #expect(found.last?.contains("base_topic: expected a topic") == true, "\(found)")
  }

  @Test("Wrong homes are refused") func wrong() throws {
    for yaml in [
      "homes: [a]", "homes: x", "homes: {a: x}", "homes: {a: [x]}", "homes: {a: }", "homes: {a: {base_topic: }}",
      "homes: {a: {base_topic: [x]}}", "homes: {a: {base_topic: /}}", "homes: {A: {base_topic: x}}",
      "homes: {a.b: {base_topic: x}}", "homes: {'': {base_topic: x}}", "homes: {a: {base_topic: x, port: 1}}",
      "homes: {a: {base_topic: !secret x}}", "homes: {\(String(repeating: "x", count: 33)): {base_topic: x}}",
    ] { _ = try problem(yaml) }
  }
}
