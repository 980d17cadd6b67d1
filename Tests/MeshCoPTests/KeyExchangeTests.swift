import BorderAgentDouble
import MeshCoP
import SodiumCrypto
import Testing
import ThreadDataset

struct KeyExchangeTests {
  private static func side(_ role: KeyExchange.Role, _ secret: String, seed: UInt64) throws -> KeyExchange {
    try KeyExchange(role, secret: SecretBytes(copying: Array(secret.utf8)), random: KnownRandom(seed: seed).fill)
  }

  @Test(
    "Both sides get the same key if they have the same secret, and only then",
    arguments: [("123456789", "123456789"), ("123456789", "123456788")]) func agreement(_ own: String, _ other: String)
    throws
  {
    var client = try Self.side(.client, own, seed: 1)
    var server = try Self.side(.server, other, seed: 2)
    try server.receiveFirstRound(client.firstRound)
    try client.receiveFirstRound(server.firstRound)
    let keys = (
      try client.premasterSecret(from: server.secondRound()), try server.premasterSecret(from: client.secondRound())
    )
    #expect((keys.0 == keys.1) == (own == other))
  }

  /// Of the curve (FIPS 186-4, D.1.2.3).
  private static let order =
    Hexadecimal.decode("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551") ?? []

  /// A first round is twice 65, X, 65, V, a length, r.
  enum Fault: String, CaseIterable {
    case offCurve, hugeCoordinate, otherPoint, compressed, infinity, wrongCommitment, wrongNumber, emptyNumber, zero,
      order, hugeNumber, cut, longer, oneKey, reflected, exchanged

    fileprivate func apply(_ round: inout [UInt8], own: [UInt8]) {
      let (point, commitment, number) = (1, 67, 133)
      let response = (number - 1)..<(number + Int(round[number - 1]))
      let generator =
        Hexadecimal.decode(
          "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
            + "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5") ?? []
      switch self {
      case .offCurve: round[point + 64] ^= 1
      case .hugeCoordinate: round.replaceSubrange((point + 1)..<(point + 33), with: repeatElement(0xFF, count: 32))
      case .otherPoint: round.replaceSubrange(point..<point + 65, with: generator)
      case .compressed: round[point] = 2
      case .infinity: round.replaceSubrange(0..<66, with: [1, 0])
      case .wrongCommitment: round.replaceSubrange(commitment..<commitment + 65, with: generator)
      case .wrongNumber: round[number + 5] ^= 1
      case .emptyNumber: round.replaceSubrange(response, with: [0])
      case .zero: round.replaceSubrange(response, with: [1, 0])
      case .order: round.replaceSubrange(response, with: [32] + KeyExchangeTests.order)
      case .hugeNumber: round.replaceSubrange(response, with: [33, 1] + [UInt8](repeating: 0, count: 32))
      case .cut: round.removeLast()
      case .longer: round.append(0)
      case .oneKey: round.removeSubrange(response.upperBound...)
      case .reflected: round = own
      case .exchanged:
        let first = Array(round[..<response.upperBound])
        round = Array(round.dropFirst(first.count)) + first
      }
    }

    fileprivate var error: KeyExchangeError? {
      switch self {
      case .offCurve, .hugeCoordinate: .notOnCurve
      case .zero: .atInfinity
      case .compressed, .infinity: .notUncompressed
      case .otherPoint, .wrongCommitment, .wrongNumber, .reflected: .wrongProof
      case .emptyNumber, .order, .hugeNumber: .numberTooLarge
      case .cut, .oneKey: .truncated
      case .longer: .tooLong
      // Each of its points has its proof: the second round does not fit then.
      case .exchanged: nil
      }
    }
  }

  @Test("A first round that is wrong is refused with its reason", arguments: Fault.allCases) func first(_ fault: Fault)
    throws
  {
    var client = try Self.side(.client, "123456789", seed: 1)
    var server = try Self.side(.server, "123456789", seed: 2)
    try server.receiveFirstRound(client.firstRound)
    var round = server.firstRound
    fault.apply(&round, own: client.firstRound)
    #expect(Self.failure { try client.receiveFirstRound(round) } == fault.error)
    guard fault == .exchanged else { return }
    #expect(throws: KeyExchangeError.wrongProof) { try client.premasterSecret(from: server.secondRound()) }
  }

  @Test("A second round that is wrong is refused with its reason", arguments: Fault.allCases) func second(
    _ fault: Fault
  ) throws {
    var client = try Self.side(.client, "123456789", seed: 1)
    var server = try Self.side(.server, "123456789", seed: 2)
    try server.receiveFirstRound(client.firstRound)
    try client.receiveFirstRound(server.firstRound)
    var round = try server.secondRound()
    guard ![.oneKey, .exchanged].contains(fault) else { return }
    fault.apply(&round, own: try client.secondRound())
    #expect(Self.failure { _ = try client.premasterSecret(from: round) } == fault.error)
  }

  @Test("Points that add up to the one at infinity are refused") func cancellingPoints() throws {
    // A peer that knows x1 would send −x1·G. Here it is the client's own number, by the same random bytes.
    let values = KnownRandom(seed: 1)
    var bytes = [UInt8](repeating: 0, count: 160)
    bytes.withUnsafeMutableBytes { values.fill($0) }
    // x3 = 1, x4 = n − 1 − x1, so that X1 + X3 + X4 is nothing.
    var negative = Self.subtract(Array(bytes[..<32]), from: Self.order)
    negative = Self.subtract([UInt8](repeating: 0, count: 31) + [1], from: negative)
    let peer = [UInt8](repeating: 0, count: 31) + [1] + negative + bytes[64..<160]
    var client = try KeyExchange(.client, secret: SecretBytes(copying: [7]), random: KnownRandom(bytes).fill)
    let server = try KeyExchange(.server, secret: SecretBytes(copying: [7]), random: KnownRandom(peer).fill)
    try client.receiveFirstRound(server.firstRound)
    #expect(throws: KeyExchangeError.atInfinity) { try client.secondRound() }
  }

  @Test("A secret of 0, and rounds in another order, are refused") func misuse() throws {
    for secret in [[], [0], [UInt8](repeating: 0, count: 16)] {
      #expect(throws: KeyExchangeError.unusableSecret) {
        try KeyExchange(.client, secret: SecretBytes(copying: secret), random: KnownRandom().fill)
      }
    }
    var client = try Self.side(.client, "123456789", seed: 1)
    #expect(throws: KeyExchangeError.outOfOrder) { try client.secondRound() }
    #expect(throws: KeyExchangeError.outOfOrder) { try client.premasterSecret(from: [] as [UInt8]) }
  }

  @Test("A second round is made once, so that no two proofs have the same nonce") func secondRoundOnce() throws {
    var client = try Self.side(.client, "123456789", seed: 1)
    for seed in [2, 3] as [UInt64] {
      try client.receiveFirstRound(Self.side(.server, "123456789", seed: seed).firstRound)
      if seed == 2 { _ = try client.secondRound() }
    }
    #expect(throws: KeyExchangeError.outOfOrder) { try client.secondRound() }
  }

  @Test("Random numbers that are 0, or not below the curve's order, are drawn again") func drawnAgain() throws {
    let (zero, full) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0xFF, count: 32))
    var rest = [UInt8](repeating: 0, count: 160)
    rest.withUnsafeMutableBytes { KnownRandom(seed: 1).fill($0) }
    let secret = SecretBytes(copying: Array("123456789".utf8))
    let client = try KeyExchange(.client, secret: secret, random: KnownRandom(zero + full + rest).fill)
    #expect(client.firstRound == (try Self.side(.client, "123456789", seed: 1)).firstRound)
  }

  private static func failure(_ body: () throws -> Void) -> KeyExchangeError? {
    do { try body() } catch { return error as? KeyExchangeError }
    return nil
  }

  private static func subtract(_ right: [UInt8], from left: [UInt8]) -> [UInt8] {
    var (result, borrow) = (left, 0)
    for index in left.indices.reversed() {
      let difference = Int(left[index]) - Int(right[index]) - borrow
      result[index] = UInt8(truncatingIfNeeded: difference)
      borrow = difference < 0 ? 1 : 0
    }
    return result
  }
}
