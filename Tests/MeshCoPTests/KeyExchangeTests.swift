import MeshCoP
import SodiumCrypto
import Testing

struct KeyExchangeTests {
  @Test(
    "With its random values, the rounds of a recorded client are made again byte by byte",
    arguments: RecordedConversation.all) func recorded(_ conversation: RecordedConversation) throws
  {
    var client = try KeyExchange(
      .client, secret: conversation.secretBytes, random: KnownRandom(conversation.handshakeValues).fill)
    let sent = conversation.datagrams.map(\.bytes)
    #expect(sent[0].contains(client.firstRound))
    // After the headers of record and handshake: version, random, no session, suite, no compression, extensions, those of
    // the point formats; a type and a length.
    try client.receiveFirstRound(try #require(Self.firstRound(sent[3])))
    let second = try client.secondRound()
    #expect(sent[4].dropFirst(25).prefix(second.count) == second[...])
  }

  @Test("Both sides get the same premaster secret, if they have the same secret") func agreement() throws {
    for (own, other) in [("123456789", "123456789"), ("123456789", "123456788")] {
      var client = try KeyExchange(
        .client, secret: SecretBytes(copying: Array(own.utf8)), random: KnownRandom(seed: 1).fill)
      var server = try KeyExchange(
        .server, secret: SecretBytes(copying: Array(other.utf8)), random: KnownRandom(seed: 2).fill)
      try server.receiveFirstRound(client.firstRound)
      try client.receiveFirstRound(server.firstRound)
      let keys = (
        try client.premasterSecret(from: server.secondRound()), try server.premasterSecret(from: client.secondRound())
      )
      #expect((keys.0 == keys.1) == (own == other))
    }
  }

  /// In a datagram with a ServerHello, after the number of its extension.
  static func firstRound(_ datagram: [UInt8]) -> [UInt8]? {
    guard
      let start = datagram.indices.dropLast(4).first(where: { datagram[$0...].starts(with: [0x01, 0x00, 0x01, 0x4A]) })
    else { return nil }
    return Array(datagram[(start + 4)...].prefix(0x14A))
  }
}
