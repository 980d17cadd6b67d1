// SPDX-License-Identifier: Apache-2.0

import CLibMosquitto

extension Connection {
  /// Reads a batch and has it stored. The acknowledgements are queued in the library meanwhile; a
  /// throw ends the connection, and they are never sent.
  func intake() throws(ConnectionLoss) {
    let result = handle.read()
    hasMore = record.batch.isFull || (!isAccepted && record.answer != nil)
    if !isAccepted, let answer = record.answer, answer.code == 0 {
      accepted(answer)
      try subscribe()
    }
    settle()
    try deliver()
    try settleSubscriptions()
    try check(result)
  }

  /// Hands the batch over, even when the connection was lost while it was read: with a session
  /// that the broker does not keep nobody sends these messages again.
  private func deliver() throws(ConnectionLoss) {
    guard !record.batch.isEmpty else { return }
    defer {
      record.batch.clear()
      limitBatch()
    }
    do {
      try handler.received(record.batch.messages)
    } catch {
      throw ConnectionLoss(.handler(error), cause: error)
    }
    queued += record.batch.messages.count
    needsPublish = true
  }

  func limitBatch() {
    record.batch.maximumMessages = max(1, min(configuration.batchMessages, handler.batchLimit))
  }

  private func subscribe() throws(ConnectionLoss) {
    for filter in configuration.unsubscriptions { try unsubscribe(filter) }
    guard !configuration.subscriptions.isEmpty else { return handler.subscribed(refused: []) }
    for subscription in configuration.subscriptions {
      do throws(MosquittoError) {
        subscribing[try handle.subscribe(subscription)] = subscription
      } catch {
        throw ConnectionLoss(error)
      }
      queued += 1
    }
  }

  private func unsubscribe(_ filter: String) throws(ConnectionLoss) {
    do throws(MosquittoError) {
      try handle.unsubscribe(filter)
    } catch {
      throw ConnectionLoss(error)
    }
    queued += 1
  }

  private func settleSubscriptions() throws(ConnectionLoss) {
    guard !record.granted.isEmpty else { return }
    let answers = record.granted
    record.granted.removeAll(keepingCapacity: true)
    for answer in answers {
      guard let subscription = subscribing.removeValue(forKey: answer.identifier) else { continue }
      guard let code = answer.codes.first(where: { $0 >= 0x80 }) else {
        if subscription.retained == .ownOnce, configuration.protocolVersion == .v311 {
          try unsubscribe(subscription.filter)
        }
        continue
      }
      let error = MosquittoError(suback: code, filter: subscription.filter, configuration)
      if subscription.isRequired { throw ConnectionLoss(error) }
      refusals.append(SubscriptionRefusal(filter: subscription.filter, error: error))
    }
    if subscribing.isEmpty { handler.subscribed(refused: refusals) }
  }
}

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
