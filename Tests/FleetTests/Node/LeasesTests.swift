#if Fleet
import Testing

@testable import Fleet

/// A test for each row of the table of `Leases`.
struct LeasesTests {
  private let start = ContinuousClock.now
  private let claim = Leases.Claim(shard: 17, epoch: 3)

  /// With shard 17, which has started unless it is said otherwise.
  private func leases(started: Bool = true) -> Leases {
    var leases = Leases()
    _ = leases.claimed(claim, homesVersion: 1, sent: start)
    if started { _ = leases.started(claim) }
    return leases
  }

  private func renewed(
    _ leases: inout Leases, homes: Int64 = 1, heldBack: Bool = false, draining: Bool = false, after seconds: Int = 2
  ) -> [Leases.Action] {
    leases.renewed(
      [claim], [.init(claim: claim, homesVersion: homes, isHeldBack: heldBack)], isDraining: draining,
      sent: start + .seconds(seconds))
  }

  @Test("A shard that was claimed is started, and served for as long as it is renewed") func serve() {
    var leases = Leases()
    #expect(leases.claimed(claim, homesVersion: 1, sent: start) == [.start(claim, homes: 1)])
    #expect(leases.starting == 1)
    #expect(leases.started(claim) == [])
    #expect(leases.starting == 0)
    #expect(leases.end(of: claim) == start + .seconds(8))
    #expect(renewed(&leases) == [])
    #expect(leases.end(of: claim) == start + .seconds(10))
    #expect(leases.passed(start + .seconds(9)) == [])
    #expect(leases.unclaimable(at: start) == [17])
  }

  @Test("Other homes: stopped, and started again with the same claim") func homes() {
    var leases = leases()
    #expect(renewed(&leases, homes: 2) == [.stop(claim)])
    #expect(renewed(&leases, homes: 3) == [])
    #expect(leases.end(of: claim) != nil)
    #expect(leases.ended(17, nil, at: start) == [.start(claim, homes: 3)])
    #expect(leases.started(claim) == [])
    #expect(leases.count == 1)
  }

  @Test("Held back, drained, or its store lost: stopped, then released") func release() {
    for change in 0...2 {
      var leases = leases()
      let actions =
        switch change {
        case 0: renewed(&leases, heldBack: true)
        case 1: renewed(&leases, draining: true)
        default: leases.storeLost(17)
        }
      #expect(actions == [.stop(claim)])
      // It may write until it has ended.
      #expect(leases.end(of: claim) != nil)
      #expect(leases.renewable == [claim])
      #expect(leases.ended(17, nil, at: start) == [.release(claim, .free)])
      #expect(leases.count == 0)
      #expect(leases.unclaimable(at: start) == [])
    }
  }

  @Test("Held back while it starts again for other homes: released") func restartThenRelease() {
    var leases = leases()
    #expect(renewed(&leases, homes: 2) == [.stop(claim)])
    #expect(renewed(&leases, homes: 2, heldBack: true) == [])
    #expect(leases.ended(17, nil, at: start) == [.release(claim, .free)])
  }

  @Test("Not renewed: stopped at once, may write nothing, and is not released") func taken() {
    var leases = leases()
    #expect(leases.renewed([claim], [], isDraining: false, sent: start + .seconds(2)) == [.stop(claim)])
    #expect(leases.end(of: claim) == nil)
    #expect(leases.renewable == [])
    #expect(leases.ended(17, nil, at: start) == [])
    #expect(leases.count == 0)
  }

  @Test("Its time is over: the same, and a renewal that comes later changes nothing") func late() {
    var leases = leases()
    #expect(leases.passed(start + .milliseconds(7_999)) == [])
    #expect(leases.passed(start + .seconds(8)) == [.stop(claim)])
    #expect(renewed(&leases, after: 9) == [])
    #expect(leases.end(of: claim) == nil)
    #expect(leases.ended(17, nil, at: start) == [])
  }

  @Test("Its time is over while it is given back: it is not released") func lateRelease() {
    var leases = leases()
    #expect(renewed(&leases, heldBack: true, after: 1) == [.stop(claim)])
    #expect(leases.passed(start + .seconds(9)) == [])
    #expect(leases.ended(17, nil, at: start) == [])
  }

  @Test("What is to end while it is started is stopped when it has started") func stopWhileStarting() {
    var leases = leases(started: false)
    #expect(leases.passed(start + .seconds(8)) == [])
    #expect(leases.started(claim) == [.stop(claim)])
    #expect(leases.ended(17, nil, at: start) == [])
  }

  @Test("What could not start is released with the reason, and not claimed for 30 s") func failed() {
    // Of a database that was not there it may be claimed at once; and nobody claims what was rolled back.
    for (failure, state, pause) in [(.noKey, .noKey, 30), (nil, .free, 0), (.rolledBack, .rolledBack, 0)]
      as [(LeaseState?, LeaseState, Int)]
    {
      var leases = leases(started: false)
      #expect(leases.ended(17, failure, at: start) == [.release(claim, state)])
      #expect(leases.count == 0)
      #expect(leases.unclaimable(at: start + .seconds(pause - 1)) == (pause > 0 ? [17] : []))
      #expect(leases.unclaimable(at: start + .seconds(pause)) == [])
    }
  }

  @Test("A node that leaves gives everything back, and what has not ended in time as well") func leave() {
    var leases = leases()
    let other = Leases.Claim(shard: 18, epoch: 1)
    _ = leases.claimed(other, homesVersion: 1, sent: start)
    let end = start + .seconds(1)
    #expect(leases.leave(by: end) == [.stop(claim)])
    #expect(leases.end(of: claim) == end)
    #expect(leases.ended(17, nil, at: start) == [.release(claim, .free)])
    #expect(leases.passed(end) == [.release(other, .free)])
    #expect(leases.count == 0)
    #expect(leases.started(other) == [.stop(other)])
    #expect(leases.ended(18, nil, at: end) == [])
  }

  @Test("What ends of an earlier claim is not taken for the new one") func epochs() {
    var leases = leases()
    let old = Leases.Claim(shard: 17, epoch: 2)
    #expect(leases.end(of: old) == nil)
    #expect(leases.renewed([old], [], isDraining: false, sent: start) == [])
    #expect(leases.end(of: claim) != nil)
  }
}
#endif
