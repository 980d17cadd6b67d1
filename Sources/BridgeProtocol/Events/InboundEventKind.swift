// SPDX-License-Identifier: Apache-2.0

/// What a border router or a Wi-Fi watcher can tell.
package enum InboundEventKind: String, CaseIterable, Sendable {
  /// The router is on the Thread network.
  case announce
  /// Its active operational dataset changed.
  case dataset
  /// It left the Thread network: its credentials go.
  case leave
  /// It can be reached.
  case heartbeat
  /// It cannot be reached. Being switched off is not leaving.
  case offline
  /// The Wi-Fi network of its access point has another name.
  case ssid
}
