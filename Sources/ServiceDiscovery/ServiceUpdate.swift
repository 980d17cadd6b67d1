// SPDX-License-Identifier: Apache-2.0

/// What a `ServiceBrowser` has noticed.
package enum ServiceUpdate: Sendable, Equatable {
  /// A service is there, or what it says has changed.
  case found(ServiceRecord)
  /// It withdrew its records (RFC 6762, section 10.1), they expired, or its host has no address any more. Only after
  /// `found`.
  ///
  /// - silence: for how long it had not answered by then.
  case lost(name: String, silence: Duration = .zero)
  /// All that was there when browsing began has been reported. Once after the start, and once after each `unavailable`.
  case listed
  /// Nothing can be found at present, and none of the services found before is known any more. When it ends, they are
  /// found anew. Another one follows when the reason changes.
  case unavailable(DiscoveryObstacle)
}
