import Synchronization
import TestKit
import Testing

@testable import ServiceDiscovery

struct MissingBusTests {
  @Test("Without a D-Bus daemon it is unavailable with a remedy, once, and a stop returns at once") func noBus()
    async throws
  {
    // The tests' own process has none: see TestSandbox.
    let updates = Mutex<[ServiceUpdate]>([])
    let browser = ServiceBrowser(type: "_meshcop._udp") { update in updates.withLock { $0.append(update) } }
    try browser.start()
    try await eventually { updates.withLock { !$0.isEmpty } }
    browser.stop()
    browser.stop()
    guard case .unavailable(let obstacle) = updates.withLock(\.first) else {
      Issue.record("it is not unavailable")
      return
    }
    #expect(obstacle.message.contains("D-Bus"))
    #expect(obstacle.remedy.contains("`apt-get install dbus avahi-daemon`"))
    #expect(updates.withLock(\.count) == 1)
    #expect(browser.refused == 0)
  }

  @Test("What is not a service type is refused", arguments: ["", "meshcop", "_meshcop._xyz", "_meshcop._udp.local"])
  func invalidType(_ type: String) {
    let browser = ServiceBrowser(type: type) { _ in }
    #expect(throws: DiscoveryObstacle.self) { try browser.start() }
    browser.stop()
  }

  @Test("A browser that is stopped in its own handler ends") func stoppedInHandler() async throws {
    let stopped = Mutex(false)
    let box = Mutex<ServiceBrowser?>(nil)
    let browser = ServiceBrowser(type: "_meshcop._udp") { _ in
      box.withLock { $0 }?.stop()
      stopped.withLock { $0 = true }
    }
    box.withLock { $0 = browser }
    try browser.start()
    try await eventually { stopped.withLock { $0 } }
    box.withLock { $0 = nil }
  }

  @Test("A browser that is released without a stop ends") func released() async throws {
    final class Mark: Sendable {}
    weak var mark: Mark?
    do {
      let held = Mark()
      mark = held
      let browser = ServiceBrowser(type: "_meshcop._udp") { _ in withExtendedLifetime(held) {} }
      try browser.start()
    }
    try await eventually { mark == nil }
  }

  @Test("Pauses double from 1 second to 30, and begin again after a reset") func doubling() {
    var pause = RetryPause()
    #expect((0..<7).map { _ in pause.next() } == [1, 2, 4, 8, 16, 30, 30].map { .seconds($0) })
    pause.reset()
    #expect(pause.next() == .seconds(1))
  }
}
