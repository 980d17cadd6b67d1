import Home
import ServiceDiscovery
import Settings
import Synchronization

/// Looks whether this machine reaches the devices of the preferred network, after each round of discovery: soon after
/// changes, and once a minute, so that the alert ends soon after what it says was done. It takes a millisecond.
final class PathWatch: Sendable {
  private let loop: HomeLoop
  private let home: String
  private let controller: Settings.MatterController
  private let read: @Sendable () -> MachineNetwork?
  /// What the home has; nil: it is not known yet.
  private let current = Mutex<AlertFacts??>(nil)

  /// - Parameter read: what the kernel says; nil: nothing.
  init(
    _ loop: HomeLoop, home: String, _ controller: Settings.MatterController,
    read: @escaping @Sendable () -> MachineNetwork? = MachineNetwork.read
  ) { (self.loop, self.home, self.controller, self.read) = (loop, home, controller, read) }

  func look(_ home: Home) throws {
    var facts: AlertFacts?
    let routers = ThreadPath.routers(of: home)
    // Whether programs need them is looked for in all sockets of the machine.
    if !routers.isEmpty, ThreadPath.isWanted(controller) {
      // Of what the kernel does not say nothing is known: the alert stays as it is.
      guard let machine = read() else { return }
      facts = .threadPathBroken(ThreadPath(routers, machine).faults)
    }
    guard current.withLock({ $0 }) != .some(facts) else { return }
    try loop.perform(.condition(.threadPathBroken, facts), in: self.home)
    current.withLock { $0 = .some(facts) }
  }
}
