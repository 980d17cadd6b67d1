// SPDX-License-Identifier: Apache-2.0

import Bridge
import ServiceDiscovery
import Synchronization
import ThreadDataset
import ThreadkeeperDaemon

/// One look at the local network, without a daemon.
struct NetworkScan {
  /// What the browser's thread has found so far.
  private final class Findings: Sendable {
    private struct State {
      var routers: [String: BorderRouterAdvertisement] = [:]
      var obstacle: DiscoveryObstacle?
    }

    private let state = Mutex(State())

    var result: (routers: [BorderRouterAdvertisement], obstacle: DiscoveryObstacle?) {
      state.withLock { (Array($0.routers.values), $0.obstacle) }
    }

    func take(_ update: ServiceUpdate) {
      state.withLock { state in
        switch update {
        case .found(let record):
          state.routers[record.name] = BorderRouterAdvertisement(record)
          state.obstacle = nil
        case .lost(let name, _): state.routers[name] = nil
        case .listed: state.obstacle = nil
        case .unavailable(let obstacle): state = State(obstacle: obstacle)
        }
      }
    }
  }

  let seconds: Int

  /// - Throws: `CommandFailure`: 69 where avahi-daemon does not answer in that time.
  func run() async throws -> [NetworkListing] {
    let findings = Findings()
    let browser = ServiceBrowser(type: BorderRouterAdvertisement.serviceType) { findings.take($0) }
    do {
      try browser.start()
    } catch let obstacle as DiscoveryObstacle {
      throw CommandFailure(obstacle)
    }
    let line = WaitingLine()
    line.show("Looking for border routers")
    defer { line.end() }
    try await Task.sleep(for: .seconds(seconds))
    browser.stop()
    let (routers, obstacle) = findings.result
    if let obstacle {
      throw CommandFailure(obstacle)
    }
    return Dictionary(grouping: routers, by: \.network).map { network, routers in
      NetworkListing(
        network: network?.description, name: routers.compactMap(\.networkName).min(), home: nil,
        routers: routers.map(NetworkListing.Router.init))
    }.sorted { $0.cells.lexicographicallyPrecedes($1.cells) }
  }
}

extension CommandFailure {
  fileprivate init(_ obstacle: DiscoveryObstacle) {
    let message =
      obstacle.message.hasSuffix(".") ? obstacle.message.dropLast() : obstacle.message[...]
    self.init(.unavailable, String(message), remedy: obstacle.remedy)
  }
}
