// SPDX-License-Identifier: Apache-2.0

/// Messages read and not yet handed over. A pure value.
struct IntakeBatch {
  /// Messages after which the batch is handed over; at least 1.
  var maximumMessages: Int
  let maximumOctets: Int
  private(set) var messages: [IncomingMessage] = []
  private(set) var octets = 0

  init(maximumMessages: Int, maximumOctets: Int) {
    self.maximumMessages = maximumMessages
    self.maximumOctets = maximumOctets
  }

  var isEmpty: Bool { messages.isEmpty }
  var isFull: Bool { messages.count >= maximumMessages || octets >= maximumOctets }

  mutating func append(_ message: IncomingMessage) {
    octets += message.octets
    messages.append(message)
  }

  /// Empties the batch, but keeps its storage for the next.
  mutating func clear() {
    messages.removeAll(keepingCapacity: true)
    octets = 0
  }
}
