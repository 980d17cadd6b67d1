import BorderAgentDouble
import MeshCoP
import SodiumCrypto

/// A conversation with a border router, in which a datagram is another one. The first byte decides at which moment, the
/// second whether the datagram or the answer in it is changed or replaced; a change is an operation, a place in two
/// bytes, a value.
enum MeshCoPFuzz {
  private struct Moment {
    var client: Conversation
    /// What the router has sent then.
    var datagram: [UInt8]
  }

  private static let now = ContinuousClock.now
  private static let active: [UInt8] = [0x03, 0x03, 0x41, 0x42, 0x43]
  private static let secret = SecretBytes(copying: Array("916371366".utf8))

  /// The moments of a conversation that is not disturbed.
  private static let moments: [Moment] = {
    let random = KnownRandom()
    guard let router = try? BorderAgentDouble(secret: secret, active: active, random: random.fill),
      let client = try? Conversation(secret: secret, random: random.fill, at: now)
    else { return [] }
    var (parts, moments) = ((client: client, router: router), [Moment]())
    var underway = datagrams(parts.client.start(at: now))
    while !underway.isEmpty, moments.count < 16 {
      let answers = parts.router.receive(underway.removeFirst())
      for answer in answers {
        moments.append(Moment(client: parts.client, datagram: answer))
        underway += datagrams(parts.client.receive(answer, at: now))
      }
    }
    return moments
  }()

  static func check(_ bytes: [UInt8]) throws {
    var input = InputReader(bytes)
    try expect(moments.count == 5, "a conversation has five answers")
    var moment = input.pick(moments)
    let choice = input.byte()
    if choice & 2 != 0 { return try checkAnswer(choice & 1 == 0 ? changed([0x62, 0x44], &input) : input.remainder()) }
    let mutant = choice & 1 == 0 ? changed(moment.datagram, &input) : input.remainder()
    var events = moment.client.receive(mutant, at: now)
    events += moment.client.receive(moment.datagram, at: now)
    let sent = datagrams(events)
    try expect(sent.count <= 6 && sent.allSatisfy { $0.count <= 1_500 }, "little is sent")
    for case .ended(let result) in events {
      switch result {
      case .success(let reading): try expect(reading.active?.bytes == active, "only what the router has said is taken")
      case .failure(let error):
        try expect(error.description.utf8.count < 300 && error.description.hasSuffix("."), "an error is a sentence")
      }
    }
  }

  private static func checkAnswer(_ bytes: [UInt8]) throws {
    let request = CoAPRequest(
      path: ["c", "ag"], random: { $0.copyBytes(from: [UInt8](repeating: 0, count: $0.count)) })
    guard case .response(_, let payload, let acknowledgement) = bytes.withUnsafeBytes(request.read) else { return }
    try expect(bytes.suffix(payload.count) == payload[...], "a payload ends a message")
    try expect((bytes[0] >> 4 & 3 == 0) == (acknowledgement != nil), "what is confirmable is acknowledged")
  }

  private static func changed(_ bytes: [UInt8], _ input: inout InputReader) -> [UInt8] {
    var bytes = bytes
    while !input.isAtEnd {
      let operation = input.byte()
      let place = min(Int(input.byte()) << 8 | Int(input.byte()), bytes.count)
      let value = input.byte()
      switch operation % 4 {
      case 0 where place < bytes.count: bytes[place] = value
      case 1 where place < bytes.count: bytes[place] ^= value
      case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int(value)))
      default: bytes.insert(value, at: place)
      }
    }
    return bytes
  }

  private static func datagrams(_ events: [Conversation.Event]) -> [[UInt8]] {
    events.compactMap { if case .send(let datagram) = $0 { datagram } else { nil } }
  }
}
