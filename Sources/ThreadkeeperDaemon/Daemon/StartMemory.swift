// SPDX-License-Identifier: Apache-2.0

import Logging
import ServiceLifecycle

/// Lets the kernel have the memory back that only the start needed, once the daemon has come to rest.
///
/// A start runs through most of the program's code, an idle daemon through a tenth of it. The kernel keeps mapped code
/// longer than any other copy of a file, on a small machine at the cost of what is in use.
struct StartMemory: Service {
  /// Connecting, reading what the broker has retained and checking the store are usually over by then.
  static let settled = Duration.seconds(5)

  let logger: Logger

  func run() async throws {
    do {
      try await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.settled) }
    } catch { return }
    do {
      let bytes = try ProgramCode.unmap()
      logger.debug("unmapped the program's code", metadata: ["KiB": "\(bytes / 1024)"])
    } catch {
      logger.debug("the program's code stays mapped", metadata: ["reason": "\(error)"])
    }
    try? await gracefulShutdown()
  }
}
