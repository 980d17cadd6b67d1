// SPDX-License-Identifier: Apache-2.0

import Broker
import Testing

@Suite("Base topics")
struct BaseTopicsTests {
  let topics = BaseTopics([
    .init(name: "home", base: "threadkeeper"),
    .init(name: "cabin", base: "cabin"),
    .init(name: "flat", base: "lets/flats/3b"),
    .init(name: "longer", base: "threadkeeper2"),
  ])

  @Test(
    "A topic belongs to the home whose base it lies below",
    arguments: [
      ("threadkeeper/in/anna/announce", "home", "in/anna/announce"),
      ("threadkeeper2/in/anna/announce", "longer", "in/anna/announce"),
      ("lets/flats/3b/in/anna/announce", "flat", "in/anna/announce"),
      ("cabin/in/anna/announce", "cabin", "in/anna/announce"),
      ("threadkeeper/cabins/in/anna/announce", "home", "cabins/in/anna/announce"),
      ("threadkeeper/", "home", ""),
      ("threadkeeper//", "home", "/"),
    ])
  func ownTopic(topic: String, home: String, rest: String) {
    let split = topics.split(topic)
    #expect(split?.home.name == home)
    #expect(split.map { String($0.rest) } == rest)
  }

  @Test(
    "A topic that is not below a base topic is foreign",
    arguments: [
      "", "/", "threadkeeper", "threadkeeper3/in/a/announce", "thread/in/a/announce",
      "/threadkeeper/in/a/announce", "Threadkeeper/in/a/announce", "lets/flats/in/a/announce",
      "lets/flats/3bb/in/a/announce", "homeassistant/status", "$SYS/broker/uptime",
      // One more accent on the last letter: other bytes, so another topic.
      "threadkeeper\u{301}/in/a/announce",
    ])
  func foreignTopic(topic: String) {
    #expect(topics.split(topic) == nil)
  }

  @Test("Base topics are compared byte by byte, like the broker does")
  func bytes() {
    let composed = BaseTopics([.init(name: "home", base: "caf\u{E9}")])
    #expect(composed.split("caf\u{E9}/in/a/announce") != nil)
    #expect(composed.split("cafe\u{301}/in/a/announce") == nil)
  }

  @Test("One subscription for each home, and nothing that the daemon itself publishes")
  func filters() {
    #expect(
      topics.intakeFilters == [
        "threadkeeper/in/#", "cabin/in/#", "lets/flats/3b/in/#", "threadkeeper2/in/#",
      ])
    #expect(topics.roots == ["threadkeeper", "cabin", "lets/flats/3b", "threadkeeper2"])
    #expect(topics.formerRoots(of: ["old", "cabin", "old"]) == ["old"])
    #expect(BaseTopics([]).intakeFilters.isEmpty)
    #expect(BaseTopics([]).split("threadkeeper/in/a/announce") == nil)
  }

  @Test("One subscription for all homes of a shard, also where it has none")
  func shard() {
    let shard = BaseTopics(
      [.init(name: "smith", base: "tk/17/smith"), .init(name: "ada", base: "tk/17/ada")],
      below: "tk/17")
    #expect(shard.intakeFilters == ["tk/17/+/in/#"] && shard.roots == ["tk/17/+"])
    #expect(BaseTopics([], below: "tk/17").intakeFilters == ["tk/17/+/in/#"])
    #expect(shard.split("tk/17/ada/in/a/announce")?.home.name == "ada")
    #expect(shard.split("tk/17/jones/in/a/announce") == nil)
    #expect(
      shard.formerRoots(of: ["tk/17/gone", "old/17/smith", "old/17/ada", "alone"]) == [
        "old/17/+", "alone",
      ])
  }
}
