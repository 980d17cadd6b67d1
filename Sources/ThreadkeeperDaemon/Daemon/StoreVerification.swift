// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Logging
import ServiceLifecycle
import SystemThreads

/// Checks the whole store once, in the background.
struct StoreVerification: Service {
  let keychain: Keychain
  let logger: Logger

  func run() async throws {
    do {
      // A million items take a second.
      let report = try await SystemThread.result { [keychain] in try keychain.verify() }
      if case .readOnly(let reason) = keychain.condition {
        logger.critical("the store is not as it was left", metadata: ["reason": "\(reason)"])
      } else {
        logger.debug("the store is verified", metadata: ["items": "\(report.items)"])
      }
    } catch {
      logger.error("the store could not be verified", metadata: ["reason": "\(error)"])
    }
    try? await gracefulShutdown()
  }
}
