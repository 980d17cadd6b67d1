// SPDX-License-Identifier: Apache-2.0

import EmbeddedBroker
import Testing

@Suite("The access list")
struct AccessListTests {
  @Test("It has a line for each home and each kind of login")
  func lines() throws {
    let text = try AccessList.text(
      baseTopics: ["threadkeeper", "flat/2"], keeper: "keeper", monitors: ["screen"])
    let lines = text.split(separator: "\n").map(String.init)
    for line in [
      "user keeper", "topic readwrite threadkeeper/#", "topic readwrite flat/2/#",
      "topic read $SYS/broker/#", "topic read homeassistant/status", "user screen",
      "topic write homeassistant/status",
      "topic read threadkeeper/#", "topic deny threadkeeper/in/#", "topic deny flat/2/out/#",
      "pattern write threadkeeper/in/%u/#", "pattern read threadkeeper/out/%u/#",
      "pattern write flat/2/in/%u/#",
    ] {
      #expect(lines.contains(line), "\(line) is missing in:\n\(text)")
    }
  }

  @Test(
    "A user name that reaches into another's topics, or breaks the list, is refused with a reason",
    arguments: [
      ("a/request", "for `a`"), ("a+", "wildcards"), ("#", "wildcards"), ("", "empty"),
      ("a:b", "password file"), ("a\ntopic readwrite #", "control"), (" a", "spaces"),
      ("..", "directory"),
    ])
  func refusedNames(name: String, why: String) throws {
    let error = try #require(throws: EmbeddedBrokerError.self) {
      try AccessList.text(baseTopics: ["t"], keeper: "keeper", monitors: [name])
    }
    #expect(error.reason == .userName)
    #expect(error.message.contains(why))
    #expect(throws: EmbeddedBrokerError.self) {
      try AccessList.text(baseTopics: ["t"], keeper: name)
    }
  }

  @Test("The keeper's login as a monitor would hear nothing and is refused; one named twice is one")
  func sameLogin() throws {
    let error = try #require(throws: EmbeddedBrokerError.self) {
      try AccessList.text(baseTopics: ["t"], keeper: "tk", monitors: ["screen", "tk"])
    }
    #expect(error.message.contains("cannot be a monitor too"))
    let twice = try AccessList.text(
      baseTopics: ["t"], keeper: "tk", monitors: ["screen", "screen"])
    #expect(
      try twice == AccessList.text(baseTopics: ["t"], keeper: "tk", monitors: ["screen"]))
  }

  @Test(
    "A base topic with wildcards, substitutions or line ends is refused",
    arguments: ["", "a/#", "a+", "/a", "a/", "%u", "a\nuser b", " a"])
  func refusedBaseTopics(topic: String) {
    #expect(throws: EmbeddedBrokerError.self) {
      try AccessList.text(baseTopics: [topic], keeper: "keeper")
    }
  }
}
