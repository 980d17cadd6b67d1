// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import Glibc
import Settings

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Has something done with the enrolments: by the keeper that holds the store, or without one in the
/// store itself.
struct ClientsDesk: Sendable {
  /// Seconds.
  private static let patience = 60

  let settings: Settings

  func perform(_ request: ClientsRequest) async throws -> ClientsReport {
    // Whatever it is: done twice, it is the same.
    try await RunningKeeper.orStore(isRepeatable: request.command != .revoke) {
      guard
        let octets = try await RunningKeeper(settings: settings).ask(
          request.octets, within: Self.patience)
      else { return nil }
      guard let answer = try? JSONDecoder().decode(ClientsAnswer.self, from: octets) else {
        throw DaemonAnswer.unreadable
      }
      return try answer.result()
    } store: {
      // The keeper's keys may have to be made.
      let keychain =
        try request.command == .list
        ? OpenStore.forReading(settings) : OpenStore.forWriting(settings)
      defer { keychain.close() }
      return try ClientsWork(
        enrolments: ClientEnrolmentStore(keychain), actor: "command of user \(geteuid())"
      ).answer(request)
    }
  }
}
