// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// An event as a border router or a Wi-Fi watcher published it: checked, but not yet believed.
package struct InboundEvent: Hashable, Sendable {
  /// Whom the event is about.
  package enum Subject: Hashable, Sendable {
    case router(BorderAgentID)
    /// `ssid` events may name the access point instead of the border router.
    case accessPoint(String)
  }

  /// How a repetition is told from news. Without it nothing is deduplicated.
  package enum Order: Hashable, Sendable {
    case none
    /// Rises for this user and router.
    case sequence(UInt64)
    /// Any text, unique among the last eight of this user and router.
    case identifier(String)
  }

  package let kind: InboundEventKind
  package let subject: Subject
  package var order = Order.none
  /// It came in an envelope that its user has signed, so the broker has seen nothing of it.
  package var wasSealed = false
  package var name: String?
  package var vendor: String?
  package var model: String?
  /// The extended address, 8 bytes.
  package var extendedAddress: [UInt8]?
  package var accessPoint: String?
  package var dataset: OperationalDataset?
  package var ssid: String?
  package var previousSSID: String?
  /// The network that the router is on, whatever dataset it has.
  package var currentNetwork: ExtendedPANID?
  package var threadState: ThreadState?
  /// Of an `offline` event.
  package var offlineReason: OfflineReason?
  /// Of `announce` and `dataset`: why the router does not use what it was sent; one of `AdoptionState.reported`.
  package var adoptionFailure: AdoptionState?

  package init(kind: InboundEventKind, subject: Subject) {
    self.kind = kind
    self.subject = subject
  }
}
