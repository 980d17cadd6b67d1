import BorderAgentDouble
import Foundation
import MeshCoP
import Testing

/// What a real router has sent, changed at random, at the moment when the client waits for it.
struct MutantTests {
  /// For each recorded datagram; 100,000 with SOAK_ROUNDS=all in the environment.
  private static let rounds = ProcessInfo.processInfo.environment["SOAK_ROUNDS"] == "all" ? 100_000 : 100

  @Test(
    "No change of what a router has sent makes the client take another dataset, or send too much",
    arguments: RecordedConversation.all) func mutants(_ recorded: RecordedConversation) throws
  {
    let fromRouter = recorded.datagrams.filter(\.isFromRouter).map(\.bytes)
    let others = RecordedConversation.all.flatMap(\.datagrams).map(\.bytes)
    for (number, datagram) in fromRouter.enumerated() {
      let waiting = try recorded.client(answeredBy: number).client
      let source = KnownRandom(seed: UInt64(number))
      for round in 0..<Self.rounds {
        var client = waiting
        let mutant = Self.mutant(of: datagram, others, source)
        var events = client.receive(mutant, at: RecordedConversation.beginning)
        // That costs most: a flight has three proofs.
        if round % 8 == 0 { events += client.receive(datagram, at: RecordedConversation.beginning) }
        let place = "\(recorded.name), datagram \(number), round \(round)"
        #expect(events.datagrams.allSatisfy { $0.count <= 1_500 } && events.datagrams.count <= 6, "\(place)")
        guard case .success(let reading)? = events.result else { continue }
        #expect(reading.active?.hex == recorded.answers[0].payload, "\(place)")
        #expect(reading.pending?.hex ?? "" == recorded.answers[1].payload, "\(place)")
      }
    }
  }

  private static func mutant(of datagram: [UInt8], _ others: [[UInt8]], _ source: KnownRandom) -> [UInt8] {
    func below(_ bound: Int) -> Int {
      var bytes: [UInt8] = [0, 0, 0]
      bytes.withUnsafeMutableBytes { source.fill($0) }
      return bytes.reduce(0) { $0 << 8 | Int($1) } % max(1, bound)
    }
    var mutant = datagram
    for _ in 0...below(3) where !mutant.isEmpty {
      let place = below(mutant.count)
      let end = min(mutant.count, place + 1 + below(64))
      switch below(9) {
      case 0: mutant[place] ^= 1 << UInt8(below(8))
      case 1: mutant[place] = UInt8(below(256))
      case 2: mutant.removeSubrange(place..<end)
      case 3: mutant.insert(contentsOf: mutant[place..<end], at: below(mutant.count))
      case 4: mutant.removeSubrange(place...)
      case 5: mutant.insert(contentsOf: (0..<below(32)).map { _ in UInt8(below(256)) }, at: place)
      // Where lengths, epochs and sequence numbers are.
      case 6: mutant[below(min(30, mutant.count))] = [0, 1, 0x7F, 0x80, 0xFE, 0xFF][below(6)]
      case 7: mutant = Array(others[below(others.count)].prefix(below(700))) + mutant
      default: mutant.replaceSubrange(place..., with: others[below(others.count)].dropFirst(below(300)))
      }
    }
    return mutant
  }
}
