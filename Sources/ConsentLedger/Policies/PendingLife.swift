// SPDX-License-Identifier: Apache-2.0

/// Whether a pending request can still be decided.
enum PendingLife {
  /// A clock that was set back must not make a request wait for hours: one from further in the
  /// future than it may wait is over too.
  static func isOver(_ pending: PendingConsent, now: Int64) -> Bool {
    now >= pending.expires || now < pending.created - PendingConsent.timeout
  }
}
