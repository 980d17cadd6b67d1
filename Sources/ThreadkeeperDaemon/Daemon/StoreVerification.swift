// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeychainCore
import Logging
import ServiceLifecycle

/// Checks the whole store once, beside the work: nobody waits for it.
struct StoreVerification: Service {
  let keychain: Keychain
  let logger: Logger

  func run() async throws {
    let keychain = keychain
    let logger = logger
    // A thread of its own: a million items take a second, and the pool has few threads.
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      DispatchQueue.global(qos: .utility).async {
        do {
          let report = try keychain.verify()
          if case .readOnly(let reason) = keychain.condition {
            logger.critical("the store is not as it was left", metadata: ["reason": "\(reason)"])
          } else {
            logger.debug("the store is verified", metadata: ["items": "\(report.items)"])
          }
        } catch {
          logger.error("the store could not be verified", metadata: ["reason": "\(error)"])
        }
        done.resume()
      }
    }
    try? await gracefulShutdown()
  }
}
