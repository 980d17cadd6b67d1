// SPDX-License-Identifier: Apache-2.0

import DaemonSocket
import KeychainCore
import Settings

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `{"v":1,"command":"daemon/status"}` on the socket in the store's directory; answered with the daemon's record.
///
/// `status` asks it only where `run.json` cannot be written, as on a disk that has failed or become read-only.
struct DaemonStatusRequest: Codable {
  static let command = "daemon/status"

  var v = KeeperVersion.current
  var command = Self.command

  /// Seconds that `status` waits for the answer.
  private static let timeout = 5

  /// - Returns: nil where the record can be read, no daemon runs, or it does not answer.
  static func ask(_ settings: Settings) async -> RuntimeRecord? {
    guard let process = StoreLock.holder(of: OpenStore.location(settings))?.processID,
      RuntimeRecord.read(settings, of: process) == nil,
      let request = try? JSONEncoder().encode(Self()),
      let answer = try? await RunningKeeper(settings: settings).ask(Array(request), within: timeout)
    else { return nil }
    return try? JSONDecoder().decode(RuntimeRecord.self, from: answer)
  }
}

struct DaemonStatusHandler: Sendable {
  let record: @Sendable () -> RuntimeRecord

  /// - Returns: nil when it is another request.
  func answer(_ octets: [UInt8]) -> [UInt8]? {
    guard let request = try? JSONDecoder().decode(DaemonStatusRequest.self, from: Data(octets)),
      request.v == KeeperVersion.current, request.command == DaemonStatusRequest.command,
      let answer = try? JSONEncoder().encode(record())
    else { return nil }
    return Array(answer)
  }
}
