// SPDX-License-Identifier: Apache-2.0

/// Who describes a router. The raw values are stored and published.
package enum RouterSource: String, Sendable {
  /// A login of the broker has announced it. What it says wins over its record on the local network.
  case mqtt
  /// Its record on the local network alone, which anybody there can publish.
  case mdns
}
