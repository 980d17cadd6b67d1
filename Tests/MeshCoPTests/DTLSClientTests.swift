import BorderAgentDouble
import MeshCoP
import SodiumCrypto
import Testing

/// What the questions of a conversation do not show.
struct DTLSClientTests {
  private static let now = ContinuousClock.now

  /// A client and its router after the handshake, and what followed from the router's last flight.
  private static func open(_ alter: @escaping @Sendable (inout BorderAgentDouble.Outgoing) -> Void = { _ in }) throws
    -> (client: DTLSClient, router: BorderAgentDouble, last: [DTLSClient.Event])
  {
    var router = try Simulation().router
    router.alter = alter
    var client = try DTLSClient(secret: Simulation.code, random: KnownRandom(seed: 1).fill, at: now)
    var events = client.start(at: now)
    for _ in 0..<3 {
      let answers = events.sent.flatMap { router.receive($0) }
      events = answers.flatMap { client.receive($0, at: now) }
    }
    return (client, router, events)
  }

  @Test("A record is received once") func replayed() throws {
    var (client, router, _) = try Self.open()
    let answer = try Self.answer(of: &router, to: &client)
    let counts = (0..<2).map { _ in client.receive(answer, at: Self.now).received.count }
    #expect(counts == [1, 0])
  }

  @Test("A record whose body repeats another number is dropped") func otherNumber() throws {
    var (client, router, _) = try Self.open()
    var answer = try Self.answer(of: &router, to: &client)
    // The last byte of the number in the body.
    answer[13 + 7] ^= 1
    let events = client.receive(answer, at: Self.now)
    #expect(events.isEmpty)
  }

  @Test("Data before the Finished is not received") func early() throws {
    let (_, _, events) = try Self.open {
      if $0.part == .changeCipherSpec { ($0.content, $0.epoch, $0.body) = (.applicationData, 1, [7]) }
    }
    #expect(events.received.isEmpty && events.count == 1)
    guard case .opened? = events.first else {
      Issue.record("it is not open")
      return
    }
  }

  private static func answer(of router: inout BorderAgentDouble, to client: inout DTLSClient) throws -> [UInt8] {
    // POST c/ag with the message id 1 and the token 2.
    let request = client.protect([0x42, 0x02, 0, 1, 0, 2, 0xB1, 0x63, 0x02, 0x61, 0x67])
    let answers = router.receive(try #require(request))
    return try #require(answers.first)
  }
}

extension [DTLSClient.Event] {
  fileprivate var sent: [[UInt8]] { compactMap { if case .send(let datagram) = $0 { datagram } else { nil } } }
  fileprivate var received: [SecretBytes] { compactMap { if case .received(let bytes) = $0 { bytes } else { nil } } }
}
