import BorderAgentDouble
import MeshCoP
import SodiumCrypto
import ThreadDataset

/// A client and a router on a network that a test disturbs. Time passes only here.
struct Simulation {
  enum Direction: CaseIterable { case toRouter, fromRouter }

  struct Outcome {
    var result: Result<RouterReading, BorderAgentError>?
    var router: BorderAgentDouble
    /// When the client sent something, from the beginning on.
    var sentAt: [Duration] = []
    var sent: [[UInt8]] = []
    var elapsed = Duration.zero
  }

  static let active =
    Hexadecimal.decode(
      "0e08000000000001000000030000164a0300000f35060004001fffe0020811111111222222220708fddead00beef0000051000112233"
        + "445566778899aabbccddeeff030a54657374486f6d653136010212340410b5e0c1f2a3948576685a4b3c2d1e0f000c0402a0f7f8")
    ?? []
  static let pending = Hexadecimal.decode("0e080000000000020000330800000000000200000003000019340400014aa1") ?? []
  static let code = SecretBytes(copying: Array("916371366".utf8))
  static let latency = Duration.milliseconds(10)

  var secret = Self.code
  var random = KnownRandom(seed: 1)
  var router: BorderAgentDouble
  /// What arrives of the datagram with this number in this direction, and after how long.
  var disturb: (Direction, Int, [UInt8]) -> [(Duration, [UInt8])] = { [(Self.latency, $2)] }

  init(seed: UInt64 = 2) throws {
    router = try BorderAgentDouble(
      secret: Self.code, active: Self.active, pending: Self.pending, random: KnownRandom(seed: seed).fill)
  }

  func run() throws -> Outcome {
    let beginning = ContinuousClock.now
    var now = beginning
    var outcome = Outcome(router: router)
    var client = try Conversation(secret: secret, random: random.fill, at: now)
    var counts: [Direction: Int] = [:]
    var underway: [(at: ContinuousClock.Instant, to: Direction, bytes: [UInt8])] = []
    func send(_ datagrams: [[UInt8]], _ direction: Direction) {
      for datagram in datagrams {
        let number = counts[direction, default: 0]
        counts[direction] = number + 1
        underway += disturb(direction, number, datagram).map { (now + $0, direction, $1) }
      }
    }
    func take(_ events: [Conversation.Event]) {
      outcome.sent += events.datagrams
      outcome.sentAt += events.datagrams.map { _ in now - beginning }
      send(events.datagrams, .toRouter)
      if let result = events.result { (outcome.result, outcome.elapsed) = (result, now - beginning) }
    }
    take(client.start(at: now))
    for _ in 0..<2_000 where outcome.result == nil || !underway.isEmpty {
      let next = underway.indices.min { underway[$0].at < underway[$1].at }
      if let next, outcome.result != nil || underway[next].at <= client.deadline {
        let arrived = underway.remove(at: next)
        now = max(now, arrived.at)
        switch arrived.to {
        case .toRouter: send(outcome.router.receive(arrived.bytes), .fromRouter)
        case .fromRouter: take(client.receive(arrived.bytes, at: now))
        }
      } else {
        now = client.deadline
        take(client.tick(at: now))
      }
    }
    return outcome
  }
}

extension Result where Success == RouterReading {
  var error: BorderAgentError? { if case .failure(let error) = self { error as? BorderAgentError } else { nil } }
}
