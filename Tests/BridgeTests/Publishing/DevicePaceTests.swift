import Home
import Testing
import ThreadDataset

@testable import Bridge

@Suite("When a device may be announced again") struct DevicePaceTests {
  private func device(_ number: Int) -> RetainedPlace {
    RetainedPlace(home: 0, subject: .routerDevice(BorderAgentID(high: UInt64(number) + 1, low: 0)))
  }

  @Test("Of a storm the last ones are remembered, so that its end costs no memory") func storm() {
    var pace = DevicePace()
    let now = WireTime(milliseconds: 1_000_000)
    for number in 0..<3 * DevicePace.most { #expect(pace.admits(device(number), at: now)) }
    let last = 2 * DevicePace.most
    #expect(!pace.admits(device(last), at: now))
    #expect(!pace.admits(device(last + DevicePace.most - 1), at: now))
    #expect(pace.admits(device(0), at: now))
    // What was held comes when its time is over.
    #expect(pace.released(at: now.adding(seconds: 4)).isEmpty)
    #expect(Set(pace.released(at: now.adding(seconds: 5))) == [device(last), device(last + DevicePace.most - 1)])
  }
}
