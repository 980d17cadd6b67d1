import Settings
import TestKit
import Testing

@testable import Bridge
@testable import Threadkeeper

@Suite("The socket of the service manager") struct NotifySocketTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func socket(_ address: String) throws -> NotifySocket {
    try #require(NotifySocket(environment: ["NOTIFY_SOCKET": address]))
  }

  @Test("The lines of a notice arrive as one datagram") func path() throws {
    let receiver = try NoticeReceiver(directory.file("notify"))
    let socket = try socket(receiver.address)
    #expect(socket.send(["READY=1", "STATUS=Connected to broker.local:1883"]))
    #expect(receiver.next() == ["READY=1", "STATUS=Connected to broker.local:1883"])
    #expect(receiver.next() == nil)
  }

  @Test("A name that begins with @ is that of an abstract socket") func abstract() throws {
    let receiver = try NoticeReceiver("@threadkeeper-test-\(UInt64.random(in: 0 ... .max))")
    #expect(try socket(receiver.address).send(["WATCHDOG=1"]))
    #expect(receiver.next() == ["WATCHDOG=1"])
  }

  @Test(
    "Without an address, or with one of another kind, there is no socket",
    arguments: [nil, "", "/", "@", "relative", "vsock:2:1234", "/" + String(repeating: "a", count: 107)]) func none(
      address: String?
    )
  { #expect(NotifySocket(environment: address.map { ["NOTIFY_SOCKET": $0] } ?? [:]) == nil) }

  @Test("The longest path is reached") func longest() throws {
    let name = String(repeating: "a", count: 107 - directory.path.utf8.count - 1)
    let receiver = try NoticeReceiver(directory.file(name))
    #expect(receiver.address.utf8.count == 107)
    #expect(try socket(receiver.address).send(["READY=1"]))
    #expect(receiver.next() == ["READY=1"])
  }

  @Test("Where nobody listens, a notice is lost and nothing else happens") func gone() throws {
    #expect(try !socket(directory.file("notify")).send(["READY=1"]))
  }

  @Test("Where nobody reads, sending does not wait") func full() throws {
    let receiver = try NoticeReceiver(directory.file("notify"))
    let socket = try socket(receiver.address)
    var sent = 0
    while sent < 100_000, socket.send(["WATCHDOG=1"]) { sent += 1 }
    #expect(sent < 100_000)
    #expect(receiver.next() == ["WATCHDOG=1"])
    #expect(socket.send(["WATCHDOG=1"]))
  }
}

@Suite("A service manager that reads late") struct ServiceManagerTests {
  private let directory: TemporaryDirectory
  private let receiver: NoticeReceiver
  private let environment: [String: String]

  init() throws {
    directory = try TemporaryDirectory()
    receiver = try NoticeReceiver(directory.file("notify"))
    environment = ["NOTIFY_SOCKET": receiver.address, "WATCHDOG_USEC": "120000000"]
  }

  private func manager() throws -> ServiceManager {
    let settings = Settings(stateDirectory: directory.path)
    return try #require(ServiceManager(settings, environment: environment))
  }

  /// Until the receiver takes nothing more, of nobody: what one socket may have on the way is limited, too.
  private func fill() throws {
    var sent = 0
    repeat {
      let socket = try #require(NotifySocket(environment: environment))
      sent = 0
      while socket.send(["STATUS=full"]) { sent += 1 }
    } while sent > 0
  }

  @Test("A notice that could not be sent is sent at the next turn") func late() throws {
    let manager = try manager()
    try fill()
    manager.turn(BridgeMonitor.Snapshot())
    while let notice = receiver.next() { #expect(notice == ["STATUS=full"]) }
    manager.turn(BridgeMonitor.Snapshot())
    let notice = try #require(receiver.next())
    #expect(notice.first == "READY=1")
    #expect(notice.last == "WATCHDOG=1")
    #expect(receiver.next() == nil)
    manager.turn(BridgeMonitor.Snapshot())
    #expect(receiver.next() == nil)
  }
}

@Suite("Notices for the service manager") struct ServiceNoticesTests {
  private let start = ContinuousClock.now

  @Test("The first turn says that the daemon is ready, and how it is; a later one how it changed") func ready() {
    var notices = ServiceNotices(watchdogLimit: nil)
    #expect(notices.turn("Connected to a", at: start) == ["READY=1", "STATUS=Connected to a"])
    #expect(notices.turn("Connected to a", at: start + .seconds(1)) == [])
    #expect(notices.turn("Connected to b", at: start) == ["STATUS=Connected to b"])
    #expect(notices.turn("Connected to b", at: start) == [])
  }

  @Test("With a watchdog, a sign of life is sent each third of its limit") func watchdog() {
    var notices = ServiceNotices(watchdogLimit: .seconds(9))
    #expect(notices.turn("a", at: start).contains("WATCHDOG=1"))
    for (milliseconds, notice) in [(2_999, []), (3_000, ["WATCHDOG=1"]), (5_000, []), (6_000, ["WATCHDOG=1"])] {
      #expect(notices.turn("a", at: start + .milliseconds(milliseconds)) == notice)
    }
  }

  @Test("After the stop nothing more is sent, also no second stop") func stop() {
    var notices = ServiceNotices(watchdogLimit: .seconds(9))
    _ = notices.turn("a", at: start)
    #expect(notices.stop() == ["STOPPING=1", "STATUS=Stopping"])
    #expect(notices.turn("b", at: start + .seconds(60)) == [])
    #expect(notices.stop() == [])
  }

  @Test("A stop before the first turn never says that the daemon is ready") func earlyStop() {
    var notices = ServiceNotices(watchdogLimit: nil)
    #expect(notices.stop() == ["STOPPING=1", "STATUS=Stopping"])
    #expect(notices.turn("a", at: start) == [])
  }

  @Test("What a broker has said makes no line of its own, and no long one") func oneLine() {
    var notices = ServiceNotices(watchdogLimit: nil)
    let lines = notices.turn("a\nWATCHDOG=trigger\r" + String(repeating: "b", count: 9_999), at: start)
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
      (["WATCHDOG_USEC": "2000000", "WATCHDOG_PID": ""], nil), (["WATCHDOG_USEC": "0"], nil),
      (["WATCHDOG_USEC": "-1"], nil), (["WATCHDOG_USEC": "2s"], nil), ([:], nil),
    ] as [([String: String], Duration?)]) func limit(environment: [String: String], expected: Duration?)
  { #expect(WatchdogLimit.duration(environment: environment, process: 7) == expected) }
}
