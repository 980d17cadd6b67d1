// SPDX-License-Identifier: Apache-2.0

/// How the discovery of border routers on the local network is, for `status`.
package enum DiscoveryState: Sendable, Equatable {
  /// By the settings.
  case off
  /// The first list is not complete yet.
  case starting
  /// - routers: border routers that are advertised and listed.
  /// - refused: records that are not listed: without an id, of a router that is listed already, or too many.
  case running(routers: Int, refused: Int)
  /// What the daemon knew before stays listed as it was.
  case unavailable(message: String, remedy: String)
}
