import CLibMosquitto

extension Connection {
  /// Reads a batch and has it stored. The acknowledgements are queued in the library meanwhile; a
  /// throw ends the connection, and they are never sent.
  func intake() throws(ConnectionLoss) {
    let result = handle.read()
    hasMore = record.batch.isFull || handle.hasInput || (!isAccepted && record.answer != nil)
    if !isAccepted, let answer = record.answer, answer.code == 0 {
      accepted(answer)
      try subscribe()
    }
    reportOutcomes()
    try deliver()
    try noteSubscriptions()
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
    do { try handler.received(record.batch.messages) } catch { throw ConnectionLoss(.handler(error), cause: error) }
    lastMessageAt = .now
    if record.batch.messages.contains(where: \.isRetained) { lastRetainedAt = .now }
    queued += record.batch.messages.count
    needsPublish = true
  }

  func limitBatch() { record.batch.maximumMessages = max(1, min(configuration.batchMessages, handler.batchLimit)) }

  private func subscribe() throws(ConnectionLoss) {
    for filter in configuration.unsubscriptions { try unsubscribe(filter) }
    guard !configuration.subscriptions.isEmpty else { return subscribed() }
    for subscription in configuration.subscriptions {
      do throws(MosquittoError) { subscribing[try handle.subscribe(subscription)] = subscription } catch {
        throw ConnectionLoss(error)
      }
      queued += 1
    }
  }

  private func unsubscribe(_ filter: String) throws(ConnectionLoss) {
    do throws(MosquittoError) { try handle.unsubscribe(filter) } catch { throw ConnectionLoss(error) }
    queued += 1
  }

  private func noteSubscriptions() throws(ConnectionLoss) {
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
    if subscribing.isEmpty { subscribed() }
  }

  private func subscribed() {
    leavePlace()
    handler.subscribed(refused: refusals)
    needsPublish = true
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

extension Connection {
  /// Whether a publication handed over now could leave soon: the broker's window has room, and the
  /// socket takes what is written.
  var canPublish: Bool { window.room > 0 && !isBlocked && disconnect == nil }

  /// Asks the handler for as many publications as there is room for.
  func publish() {
    guard needsPublish, canPublish, handle.isOpen else { return }
    let limit = window.room
    let publications = handler.publications(upTo: limit)
    // Fewer than asked for: there is no more until somebody says so.
    needsPublish = publications.count >= limit
    for publication in publications { send(publication) }
  }

  func send(_ publication: Publication) {
    do throws(MosquittoError) {
      window.add(publication, identifier: try handle.publish(publication))
      queued += 1
    } catch { handler.acknowledged(publication.token, .refused(error)) }
  }

  /// Reports to the handler what has been acknowledged, written or refused.
  func reportOutcomes() {
    guard !record.published.isEmpty else { return }
    let published = record.published
    record.published.removeAll(keepingCapacity: true)
    for one in published {
      let entry = one.wasWritten ? window.written(one.identifier) : window.acknowledge(one.identifier)
      guard let entry else { continue }
      // Below 0x80 is success: 0x10 says that nobody has subscribed.
      let outcome: PublicationOutcome =
        one.code < 0x80 ? .delivered : .refused(MosquittoError(puback: one.code, topic: entry.topic, configuration))
      handler.acknowledged(entry.token, outcome)
    }
    answeredAt = .now
    needsPublish = true
  }
}

/// The publications under way: what they are called here (token) and at the broker (packet
/// identifier). A pure value.
///
/// Only QoS 1 counts against the broker's receive maximum (MQTT 5.0, section 4.9). The library must
/// never have to hold one back: it would send it from inside the handling of an acknowledgement.
struct PublishWindow {
  struct Entry {
    var token: UInt64
    var topic: String
    var sentAt: ContinuousClock.Instant
  }

  let maximum: Int
  private var acknowledging: [UInt16: Entry] = [:]
  /// As they were sent; the first one is not acknowledged, others may be.
  private var order: ArraySlice<(identifier: UInt16, sentAt: ContinuousClock.Instant)> = []
  private var writing: [UInt16: Entry] = [:]

  init(maximum: Int) { self.maximum = maximum }

  var room: Int { maximum - acknowledging.count }
  var isEmpty: Bool { acknowledging.isEmpty && writing.isEmpty }

  /// No publication was acknowledged before an older one: so no acknowledgement got lost (MQTT 5.0, section 4.6: they
  /// come in the order of the publications).
  var isInOrder: Bool { acknowledging.count == order.count }

  /// When the oldest publication was sent that the broker has not acknowledged.
  var oldest: ContinuousClock.Instant? { order.first?.sentAt }

  mutating func add(_ publication: Publication, identifier: UInt16, at now: ContinuousClock.Instant = .now) {
    let entry = Entry(token: publication.token, topic: publication.topic, sentAt: now)
    switch publication.qos {
    case .atLeastOnce:
      acknowledging[identifier] = entry
      order.append((identifier, now))
    case .atMostOnce: writing[identifier] = entry
    }
  }

  mutating func acknowledge(_ identifier: UInt16) -> Entry? {
    let entry = acknowledging.removeValue(forKey: identifier)
    while let first = order.first, acknowledging[first.identifier]?.sentAt != first.sentAt { order.removeFirst() }
    return entry
  }

  mutating func written(_ identifier: UInt16) -> Entry? { writing.removeValue(forKey: identifier) }
}
