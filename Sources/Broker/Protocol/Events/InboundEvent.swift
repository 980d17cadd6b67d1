// SPDX-License-Identifier: Apache-2.0

import Home
import ThreadDataset

/// An event as a border router, a Wi-Fi watcher or a store of credentials published it: checked, but not yet believed.
package struct InboundEvent: Hashable, Sendable {
  /// Whom the event is about.
  package enum Subject: Hashable, Sendable {
    case router(BorderAgentID)
    /// `ssid` events may name the access point instead of the border router.
    case accessPoint(String)
    /// `credentials` are of a network, that of their dataset.
    case network(ExtendedPANID)
    /// A program that is no border router reports itself by `heartbeat`, `offline` and `leave`.
    case agent(String)
  }

  /// How a repetition is told from news. Without it nothing is deduplicated.
  package enum Order: Hashable, Sendable {
    case none
    /// Rises for this user and subject.
    case sequence(UInt64)
    /// Any text, unique among the last eight of this user and subject.
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
  /// In place of it, of `announce` and `credentials`: one that is not complete.
  package var partial: OperationalDataset?
  /// Whatever it lacks.
  package var anyDataset: OperationalDataset? { dataset ?? partial }
  package var ssid: String?
  package var previousSSID: String?
  /// The network that the router is on, whatever dataset it has.
  package var currentNetwork: ExtendedPANID?
  package var threadState: ThreadState?
  package var partition: UInt32?
  /// Of an `offline` event.
  package var offlineReason: OfflineReason?
  /// Of one with the reason `failing`: the HTTP status, 100 to 599.
  package var httpStatus: UInt16?
  /// Of `announce` and `dataset`: why the router does not use what it was sent; one of `AdoptionState.reported`.
  package var adoptionFailure: AdoptionState?
  /// Of `credentials`: the border agent that the sender names for them.
  package var borderAgent: BorderAgentID?
  /// Of `credentials`: whether the sender prefers this network.
  package var isPreferred = false
  /// Of a program's `offline`: why it can't do its work.
  package var trouble: String?

  package init(kind: InboundEventKind, subject: Subject) {
    self.kind = kind
    self.subject = subject
  }
}

/// What a border router, a Wi-Fi watcher or a store of credentials can tell.
package enum InboundEventKind: String, CaseIterable, Sendable {
  /// The router is on the Thread network.
  case announce
  /// Its active operational dataset changed.
  case dataset
  /// It left the home: its credentials go.
  case leave
  /// It can be reached.
  case heartbeat
  /// It cannot be reached. Being switched off is not leaving.
  case offline
  /// The Wi-Fi network of its access point has another name.
  case ssid
  /// The sender, which is no border router, has credentials of a network.
  case credentials
}

/// How much of an untrusted message is read.
package enum InboundLimits {
  /// Bytes of a payload. The largest useful event holds a dataset of 254 bytes (508 hex digits)
  /// and a handful of names; sealed envelopes add a third and some. Ten times that is generous.
  package static let payloadBytes = 16_384
  /// Objects and arrays within each other. Events are flat; eight leaves room for a publisher's own
  /// additions.
  package static let nesting = 8
  /// Characters of a name, vendor, model, SSID, access point or event id. An SSID has at most 32
  /// bytes (IEEE 802.11), a DNS-SD instance name 63 (RFC 6763).
  package static let textCharacters = 128
  /// The same of a sentence.
  package static let sentenceCharacters = 512
  /// Bytes of a user's name. MQTT allows 65,535 (MQTT 5.0, section 3.1.3.5), and each would be
  /// repeated in states, events and alerts.
  package static let userBytes = 256
}
