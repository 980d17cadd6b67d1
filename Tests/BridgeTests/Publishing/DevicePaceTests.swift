import Home
import Testing
import ThreadDataset

@testable import Bridge

@Suite("When a device may be announced again") struct DevicePaceTests {
  private func device(_ number: Int) -> RetainedPlace {
    RetainedPlace(home: 0, subject: .routerDevice(BorderAgentID(high: UInt64(number) + 1, low: 0)))
  }

  @Test("Only the last announcements of a burst are remembered") func burst() {
    var pace = DevicePace()
    let now = WireTime(milliseconds: 1_000_000)
    func admits(_ number: Int) -> Bool { pace.admits(device(number), at: now) }
    let numbers = 0..<3 * DevicePace.most
    #expect(numbers.allSatisfy { admits($0) })
    let last = 2 * DevicePace.most
    let others = [admits(last), admits(numbers.upperBound - 1), admits(0)]
    #expect(others == [false, false, true])
    // What was held comes when its time is over.
    let released = [4, 5].map { Set(pace.released(at: now.adding(seconds: $0))) }
    #expect(released == [[], [device(last), device(numbers.upperBound - 1)]])
  }
}
