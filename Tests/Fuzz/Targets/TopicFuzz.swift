import Broker
import Home
import Wire

/// Topics: the base topic is the first line, the topic the rest.
enum TopicFuzz {
  static func check(_ bytes: [UInt8]) throws {
    var input = InputReader(bytes)
    let first = String(decoding: input.line(), as: UTF8.self)
    let topic = String(decoding: input.remainder(), as: UTF8.self)
    try checkInbound(topic, base: first)
    try checkInbound("\(first)/\(topic)", base: first)
  }

  private static func checkInbound(_ topic: String, base: String) throws {
    let homes = BaseTopics([.init(name: "home", base: base)])
    guard let (home, rest) = homes.split(topic) else {
      return try expect(!bytes(topic).starts(with: bytes(base + "/")), "what is below the base belongs to the home")
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
        case .event(let kind): kind.word.description
        case .request(let command): "request/\(command)"
        case .probe: ProbeTopic.name
        }
      try expect(bytes("in/\(read.user)/\(end)") == bytes(String(rest)), "its parts make the topic")
    } catch let error as Rejection {
      let codes: [Rejection.Code] = [.invalidTopic, .unknownEvent]
      try expect(codes.map(\.rawValue).contains(error.code), error.code)
    }
  }

  private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
}
