// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ThreadkeeperDaemon

@Suite("Notices for the service manager")
struct ServiceNoticesTests {
  private let start = ContinuousClock.now

  @Test("The first turn says that the daemon is ready, and how it is")
  func ready() {
    var notices = ServiceNotices(watchdogLimit: nil)
    #expect(notices.turn("Connected to a", at: start) == ["READY=1", "STATUS=Connected to a"])
    #expect(notices.turn("Connected to a", at: start + .seconds(1)) == [])
  }

  @Test("A status is sent when it changes")
  func status() {
    var notices = ServiceNotices(watchdogLimit: nil)
    _ = notices.turn("Not connected to a", at: start)
    #expect(notices.turn("Connected to a", at: start) == ["STATUS=Connected to a"])
    #expect(notices.turn("Connected to a", at: start) == [])
  }

  @Test("With a watchdog, a sign of life is sent each third of its limit")
  func watchdog() {
    var notices = ServiceNotices(watchdogLimit: .seconds(9))
    #expect(notices.turn("a", at: start).contains("WATCHDOG=1"))
    #expect(notices.turn("a", at: start + .milliseconds(2_999)) == [])
    #expect(notices.turn("a", at: start + .seconds(3)) == ["WATCHDOG=1"])
    #expect(notices.turn("a", at: start + .seconds(5)) == [])
    #expect(notices.turn("a", at: start + .seconds(6)) == ["WATCHDOG=1"])
  }

  @Test("After the stop nothing more is sent, also no second stop")
  func stop() {
    var notices = ServiceNotices(watchdogLimit: .seconds(9))
    _ = notices.turn("a", at: start)
    #expect(notices.stop() == ["STOPPING=1", "STATUS=Stopping"])
    #expect(notices.turn("b", at: start + .seconds(60)) == [])
    #expect(notices.stop() == [])
  }

  @Test("A stop before the first turn never says that the daemon is ready")
  func earlyStop() {
    var notices = ServiceNotices(watchdogLimit: nil)
    #expect(notices.stop() == ["STOPPING=1", "STATUS=Stopping"])
    #expect(notices.turn("a", at: start) == [])
  }

  @Test("What a broker has said makes no line of its own, and no long one")
  func oneLine() {
    var notices = ServiceNotices(watchdogLimit: nil)
    let lines = notices.turn(
      "a\nWATCHDOG=trigger\r" + String(repeating: "b", count: 9_999), at: start)
    #expect(lines.count == 2)
    #expect(lines[1].hasPrefix(#"STATUS=a\u{a}WATCHDOG=trigger\u{d}bb"#))
    #expect(lines[1].utf8.count < 400)
  }

  @Test(
    "The watchdog's limit is taken from the variables, where they are about this process",
    arguments: [
      (["WATCHDOG_USEC": "2000000"], Duration.seconds(2)),
      (["WATCHDOG_USEC": "2000000", "WATCHDOG_PID": "7"], .seconds(2)),
      (["WATCHDOG_USEC": "2000000", "WATCHDOG_PID": "8"], nil),
      (["WATCHDOG_USEC": "2000000", "WATCHDOG_PID": ""], nil),
      (["WATCHDOG_USEC": "0"], nil), (["WATCHDOG_USEC": "-1"], nil), (["WATCHDOG_USEC": "2s"], nil),
      ([:], nil),
    ] as [([String: String], Duration?)])
  func limit(environment: [String: String], expected: Duration?) {
    #expect(WatchdogLimit.duration(environment: environment, process: 7) == expected)
  }
}
