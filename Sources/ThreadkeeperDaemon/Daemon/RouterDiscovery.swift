// SPDX-License-Identifier: Apache-2.0

import Bridge
import Logging
import ServiceDiscovery
import ServiceLifecycle

/// Looks for border routers on the local network, and hands what is found to the bridge.
struct RouterDiscovery: Service {
  /// Nil where the settings want none.
  let intake: DiscoveryIntake?
  let logger: Logger

  func run() async throws {
    if let intake {
      let browser = ServiceBrowser(
        type: BorderRouterAdvertisement.serviceType, handler: { intake.receive($0) })
      intake.start()
      do {
        try browser.start()
      } catch let obstacle as DiscoveryObstacle {
        intake.receive(.unavailable(obstacle))
      }
      try? await gracefulShutdown()
      browser.stop()
      intake.stop()
    } else {
      try? await gracefulShutdown()
    }
  }
}
