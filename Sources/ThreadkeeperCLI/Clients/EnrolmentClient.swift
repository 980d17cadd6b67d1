// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import Glibc
import Settings
import ThreadkeeperDaemon

/// Has something done with the enrolments: by the daemon that holds the store, or without one in the
/// store itself.
struct EnrolmentClient: Sendable {
  /// Seconds.
  private static let patience = 60

  let settings: Settings

  func perform(_ request: EnrolmentRequest) async throws -> EnrolmentReport {
    // Whatever it is: done twice, it is the same.
    try await DaemonClient.orStore(isRepeatable: request.command != .revoke) {
      try await DaemonClient(settings: settings).ask(request, within: Self.patience)
    } store: {
      // The daemon's keys may have to be made.
      let keychain =
        try request.command == .list
        ? OpenStore.forReading(settings) : OpenStore.forWriting(settings)
      defer { keychain.close() }
      return try EnrolmentService(
        enrolments: ClientEnrolmentStore(keychain), actor: "command of user \(geteuid())"
      ).answer(request)
    }
  }
}
