import Testing

@testable import Bridge

@Suite("Connections of the daemon that take over each other's session") struct MutualEndsTests {
  private typealias Connection = MutualEnds.Connection

  private let start = ContinuousClock.now
  private var ends = MutualEnds()

  private func at(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }

  /// One comes, and the other ends, as the two threads may see it.
  private mutating func turn(to link: Connection, at seconds: Double, endFirst: Bool) {
    let other: Connection = link == .intake ? .status : .intake
    if endFirst { ends.ended(other, at: at(seconds)) }
    ends.accepted(link, at: at(seconds + 0.01))
    if !endFirst { ends.ended(other, at: at(seconds + 0.02)) }
  }

  @Test("Three turns in a row are no coincidence, in whichever order the threads find out, however far apart")
  mutating func turns() {
    ends.accepted(.intake, at: at(0))
    for (turn, link) in [Connection.status, .intake, .status].enumerated() {
      #expect(!ends.isOpen)
      self.turn(to: link, at: Double(turn * 50 + 1), endFirst: turn % 2 == 0)
    }
    #expect(ends.isOpen)
  }

  @Test("Ends of both together are a broker that goes, as often as it does") mutating func broker() {
    for round in 0..<10 {
      ends.accepted(.intake, at: at(Double(round * 10)))
      ends.accepted(.status, at: at(Double(round * 10) + 0.01))
      ends.ended(.intake, at: at(Double(round * 10) + 5))
      ends.ended(.status, at: at(Double(round * 10) + 5.01))
    }
    #expect(!ends.isOpen)
  }

  @Test("One that comes and goes beside the other is another client's doing") mutating func oneAlone() {
    ends.accepted(.intake, at: at(0))
    for round in 1..<10 {
      ends.accepted(.status, at: at(Double(round * 3)))
      ends.ended(.status, at: at(Double(round * 3) + 0.5))
    }
    #expect(!ends.isOpen)
  }

  @Test("It is over once both have lived together for longer than one of them would wait") mutating func over() {
    ends.accepted(.intake, at: at(0))
    for (turn, link) in [Connection.status, .intake, .status].enumerated() {
      self.turn(to: link, at: Double(turn + 1), endFirst: true)
    }
    ends.accepted(.intake, at: at(5))
    ends.tick(at: at(60))
    #expect(ends.isOpen)
    ends.tick(at: at(81))
    #expect(!ends.isOpen)
  }
}
