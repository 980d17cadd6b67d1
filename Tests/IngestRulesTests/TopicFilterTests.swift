// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import IngestRules

@Suite("Topics of ingest rules")
struct TopicFilterTests {
  private func match(_ filter: String, _ topic: String) throws -> [String: String]? {
    try TopicFilter(filter).match(TopicFilter.split(topic))
  }

  @Test("A part takes one level and has its text")
  func parts() throws {
    let filter = "otbr/{router}/{what}/status"
    #expect(try match(filter, "otbr/kitchen/a/status") == ["router": "kitchen", "what": "a"])
    #expect(try TopicFilter(filter).subscription == "otbr/+/+/status")
    #expect(try TopicFilter(filter).parts == ["router", "what"])
  }

  @Test(
    "A topic matches as a broker has it",
    arguments: [
      ("a/b", "a/b"), ("a/+", "a/b"), ("a/+", "a/"), ("a/#", "a"), ("a/#", "a/b/c"), ("+/+", "/a"),
      ("/a", "/a"), ("#", "a"), ("a/{x}/#", "a/b"),
    ])
  func matches(filter: String, topic: String) throws {
    #expect(try match(filter, topic) != nil)
  }

  @Test(
    "Other topics do not match",
    arguments: [
      ("a/b", "a/b/c"), ("a/b", "a"), ("a/+", "a"), ("a/+", "a/b/c"), ("a/b", "A/b"),
      ("a", "a/"), ("\u{e9}", "e\u{301}"), ("a/+/c", "a/\u{301}b/d"),
    ])
  func others(filter: String, topic: String) throws {
    #expect(try match(filter, topic) == nil)
  }

  @Test(
    "What is no such topic is refused",
    arguments: [
      "", "a/#/b", "a#", "a/b+", "$SYS/a", "$share/g/a", "a/{x", "a/x}", "a/{x}y", "a/{}",
      "a/+\u{301}", "a/#\u{301}", "a/{x}\u{301}", "a/{x y}", "{x}/{x}", "a/{payload}", " a", "a ",
      "a\nb", "a\u{0}",
      String(repeating: "a/", count: 16) + "a", String(repeating: "x", count: 257),
    ])
  func refused(text: String) {
    #expect(throws: IngestFlaw.self) { try TopicFilter(text) }
  }

  @Test("A filter covers those whose topics it has all of, and no others")
  func covers() throws {
    for (one, other) in [
      ("a/#", "a/+/status"), ("a/#", "a"), ("a/#", "a/#"), ("a/+", "a/{x}"), ("a/{x}", "a/+"),
      ("+/b", "a/b"), ("a/b", "a/b"), ("+/#", "a/#"),
    ] {
      #expect(try TopicFilter(one).covers(TopicFilter(other)), "\(one) \(other)")
    }
    for (one, other) in [
      ("a/+", "a/#"), ("a/b", "a/+"), ("a/+", "a"), ("a", "a/+"), ("a/+/c", "a/b/+"),
      ("a/#", "b/#"), ("+", "#"), ("a/b", "a/c"),
    ] {
      #expect(try !TopicFilter(one).covers(TopicFilter(other)), "\(one) \(other)")
    }
  }

  @Test("A filter that names any topic at or below a base topic reaches it")
  func reaches() throws {
    for filter in [
      "#", "+/#", "t/#", "t/b", "t/b/#", "t/+", "t/+/in/x", "+/b/in", "t/b/in/+/announce",
    ] {
      #expect(try TopicFilter(filter).reaches(base: "t/b"), "\(filter)")
    }
    for filter in ["t", "t/c/#", "u/#", "+", "tt/b", "t/bb", "t/{x}/c/d"]
    where filter != "t/{x}/c/d" {
      #expect(try !TopicFilter(filter).reaches(base: "t/b"), "\(filter)")
    }
    #expect(try TopicFilter("t/{x}/c/d").reaches(base: "t/b"))
  }
}
