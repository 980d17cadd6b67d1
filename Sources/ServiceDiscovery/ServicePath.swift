// SPDX-License-Identifier: Apache-2.0

/// A way on which a service is seen. The same service is often seen on several.
struct ServicePath: Hashable, Sendable {
  /// The index of the network interface (`AvahiIfIndex`).
  var interface: Int32
  /// IPv4 or IPv6 (`AvahiProtocol`): what the query is sent over.
  var `protocol`: Int32
}
