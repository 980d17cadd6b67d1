// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import IngestRules

/// Topics: the base topic or filter is the first line, the topic the rest.
enum TopicFuzz {
  static func check(_ bytes: [UInt8]) throws {
    var input = InputReader(bytes)
    let first = String(decoding: input.line(), as: UTF8.self)
    let topic = String(decoding: input.remainder(), as: UTF8.self)
    try checkInbound(topic, base: first)
    try checkInbound("\(first)/\(topic)", base: first)
    try checkFilter(first, topic)
  }

  private static func checkInbound(_ topic: String, base: String) throws {
    let homes = BaseTopics([.init(name: "home", base: base)])
    guard let (home, rest) = homes.split(topic) else {
      return try expect(
        !bytes(topic).starts(with: bytes(base + "/")), "what is below the base belongs to the home")
    }
    try expect(bytes("\(home.base)/\(rest)") == bytes(topic), "a topic is its base and the rest")
    let publisher = InboundTopic.publisher(of: rest)
    try expect(publisher.utf8.count <= InboundLimits.userBytes * 3, "a publisher's name is short")
    do {
      let read = try InboundTopic(rest, belowBaseOf: home.name)
      try expect(bytes(read.user) == bytes(publisher), "the user is the publisher")
      try expect(
        !read.user.isEmpty && !bytes(read.user).contains(UInt8(ascii: "/"))
          && read.user.utf8.count <= InboundLimits.userBytes, "a user is one level, and short")
      let end =
        switch read.purpose {
        case .event(let kind): kind.rawValue
        case .request(let command): "request/\(command)"
        case .probe: ProbeTopic.name
        }
      try expect(bytes("in/\(read.user)/\(end)") == bytes(String(rest)), "its parts make the topic")
    } catch let error as Rejection {
      let codes: [Rejection.Code] = [.invalidTopic, .unknownEvent]
      try expect(codes.map(\.rawValue).contains(error.code), error.code)
    }
  }

  /// Against a matcher that follows the text of MQTT 5.0, section 4.7.
  private static func checkFilter(_ text: String, _ topic: String) throws {
    guard let filter = try? TopicFilter(text) else { return }
    try expect(filter.covers(filter), "a filter covers itself")
    // MQTT 5.0, section 4.7.1: a broker ends the connection that subscribes to anything else.
    let wildcards = levels(filter.subscription).filter { level in
      level.contains { "+#".utf8.contains($0) }
    }
    try expect(wildcards.allSatisfy { $0.count == 1 }, "a wildcard is a whole level")
    let again = try need("what the broker gets is a filter") {
      try TopicFilter(filter.subscription)
    }
    try expect(again.covers(filter) && filter.covers(again), "and means the same")
    guard !topic.contains(where: { "+#{}".contains($0) }),
      let literal = try? TopicFilter(topic)
    else { return }
    let expected = matches(levels(filter.subscription)[...], levels(topic)[...])
    try expect(filter.covers(literal) == expected, "a filter covers what the broker delivers")
    try expect(!expected || filter.reaches(base: topic), "a filter that matches a base reaches it")
  }

  private static func matches(_ filter: ArraySlice<[UInt8]>, _ topic: ArraySlice<[UInt8]>) -> Bool {
    guard let level = filter.first else { return topic.isEmpty }
    if level == bytes("#") { return true }
    guard let other = topic.first, level == bytes("+") || level == other else { return false }
    return matches(filter.dropFirst(), topic.dropFirst())
  }

  private static func levels(_ topic: String) -> [[UInt8]] {
    bytes(topic).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(
      Array.init)
  }

  private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
}
