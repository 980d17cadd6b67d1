// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension WaitingQuestion {
  /// For the terminal of who asked and may not decide: who does, and how. It holds what the daemon has
  /// sent, so it is to be made harmless before it is shown.
  package func words(now: Date = Date()) -> String {
    let seconds = (try? Date(expiresAt, strategy: .iso8601))
      .map { max(0, Int($0.timeIntervalSince(now).rounded(.up))) }
    let limit = seconds.map { ", up to \($0) s" } ?? ""
    return "Waiting for consent\(limit): `threadkeeper consent approve \(id)`, "
      + "by the daemon's user on its machine."
  }
}
