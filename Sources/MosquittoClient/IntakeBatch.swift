// SPDX-License-Identifier: Apache-2.0

/// Messages read and not yet handed over. A pure value.
struct IntakeBatch {
  /// Messages after which the batch is handed over; at least 1.
  var maximumMessages: Int
  let maximumBytes: Int
  private(set) var messages: [IncomingMessage] = []
  private(set) var bytes = 0

  init(maximumMessages: Int, maximumBytes: Int) {
    self.maximumMessages = maximumMessages
    self.maximumBytes = maximumBytes
  }

  var isEmpty: Bool { messages.isEmpty }
  var isFull: Bool { messages.count >= maximumMessages || bytes >= maximumBytes }

  mutating func append(_ message: IncomingMessage) {
    bytes += message.bytes
    messages.append(message)
  }

  /// Empties the batch, but keeps its storage for the next.
  mutating func clear() {
    messages.removeAll(keepingCapacity: true)
    bytes = 0
  }
}
