import CLibMosquitto

extension Connection {
  /// Reads a batch and has it stored. The acknowledgements are queued in the library meanwhile; a
  /// throw ends the connection, and they are never sent.
  func intake() throws(ConnectionLoss) {
    let result = handle.read()
    hasMore = record.batch.isFull || handle.hasInput || (!isAccepted && record.answer != nil)
    if !isAccepted, let answer = record.answer, answer.code == 0 { if accepted(answer) { try subscribe() } }
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

  /// By the newest configuration: a client that connects early gets its subscriptions later.
  private func subscribe() throws(ConnectionLoss) {
    let newest = mailbox.configuration
    for filter in newest.unsubscriptions { try unsubscribe(filter) }
    guard !newest.subscriptions.isEmpty else { return subscribed() }
    for subscription in newest.subscriptions {
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

  mutating func append(_ message: consuming IncomingMessage) {
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
  /// Whether publications handed over now could leave soon: the broker's window has room, and the socket takes what is
  /// written. A full window waits until a quarter is free: the broker acknowledges one by one, and each publication that
  /// took its place at once would be a turn of its own, with two system calls.
  var canPublish: Bool { window.room >= max(1, window.maximum / 4) && !isBlocked && disconnect == nil }

  /// Asks the handler for as many publications as there is room for.
  func publish() {
    guard needsPublish, canPublish, handle.isOpen else { return }
    let limit = window.room
    var publications = handler.publications(upTo: limit)
    // Fewer than asked for: there is no more until somebody says so.
    needsPublish = publications.count >= limit
    let now = ContinuousClock.now
    for place in publications.indices { send(&publications[place], at: now) }
  }

  /// - Parameter publication: stays as it is; a list lends an element without a copy only for a change.
  func send(_ publication: inout Publication, at now: ContinuousClock.Instant = .now) {
    do throws(MosquittoError) {
      window.add(publication, identifier: try handle.publish(publication), at: now)
      queued += 1
    } catch { handler.acknowledged(SentPublication(publication), .refused(error)) }
  }

  /// Reports to the handler what has been acknowledged, written or refused.
  func reportOutcomes() {
    guard !record.published.isEmpty else { return }
    // Nothing is added meanwhile: only the library's functions do that.
    for one in record.published {
      let sent = one.wasWritten ? window.written(one.identifier) : window.acknowledge(one.identifier)
      guard let sent else { continue }
      // Below 0x80 is success: 0x10 says that nobody has subscribed.
      let outcome: PublicationOutcome =
        one.code < 0x80 ? .delivered : .refused(MosquittoError(puback: one.code, topic: sent.topic, configuration))
      handler.acknowledged(sent, outcome)
    }
    record.published.removeAll(keepingCapacity: true)
    answeredAt = .now
    // Acknowledgements come one by one. Where there was more than the window had room for, it is asked for anyway.
    if window.isEmpty { needsPublish = true }
  }
}

/// The publications under way: what they are here, and what they are called at the broker (packet identifier). A pure
/// value.
///
/// Only QoS 1 counts against the broker's receive maximum (MQTT 5.0, section 4.9). The library must
/// never have to hold one back: it would send it from inside the handling of an acknowledgement.
///
/// The library takes one identifier after the other, and after 65,535 begins again with 1. So those under way are in a
/// ring by their identifiers, which has gaps where SUBSCRIBE or QoS 0 took some.
/// ```
///           first                    span
/// … unused │ waiting acknowledged unused waiting waiting │ unused …
/// ```
struct PublishWindow {
  private struct Place {
    enum State {
      case unused
      case waiting
      /// Before an older one.
      case acknowledged
    }

    var state = State.unused
    var sent = SentPublication()
    /// From `start`. The compiler knows the size of this, and not that of an instant, which would make all of it slow.
    var sentAt = Duration.zero
  }

  let maximum: Int
  private let start = ContinuousClock.now
  /// The place of an identifier is its lower bits. Their number is a power of two, at most 65,536.
  private var ring: [Place] = []
  /// The oldest that waits; of no meaning where none does.
  private var first: UInt16 = 0
  /// Identifiers from the first up to the last one that was added.
  private var span = 0
  private var waiting = 0
  /// Places that are `acknowledged`.
  private var early = 0
  private var writing: [UInt16: SentPublication] = [:]

  init(maximum: Int) { self.maximum = maximum }

  var room: Int { maximum - waiting }
  var isEmpty: Bool { waiting == 0 && writing.isEmpty }

  /// No publication was acknowledged before an older one: so no acknowledgement got lost (MQTT 5.0, section 4.6: they
  /// come in the order of the publications).
  var isInOrder: Bool { early == 0 }

  /// When the oldest publication was sent that the broker has not acknowledged.
  var oldest: ContinuousClock.Instant? { span > 0 ? start + ring[place(of: first)].sentAt : nil }

  mutating func add(_ publication: Publication, identifier: UInt16, at now: ContinuousClock.Instant = .now) {
    let sent = SentPublication(publication)
    guard publication.qos == .atLeastOnce else {
      writing[identifier] = sent
      return
    }
    // All other identifiers were used while the oldest waited, and it is its turn again.
    while span > 0, Int(identifier &- first) < span { _ = acknowledge(first) }
    if span == 0 { first = identifier }
    let distance = Int(identifier &- first)
    if distance >= ring.count { grow(beyond: distance) }
    ring[place(of: identifier)] = Place(state: .waiting, sent: sent, sentAt: start.duration(to: now))
    span = distance + 1
    waiting += 1
  }

  mutating func acknowledge(_ identifier: UInt16) -> SentPublication? {
    guard Int(identifier &- first) < span else { return nil }
    let place = place(of: identifier)
    guard ring[place].state == .waiting else { return nil }
    var sent = SentPublication()
    swap(&sent, &ring[place].sent)
    ring[place].state = .acknowledged
    waiting -= 1
    early += 1
    skipAcknowledged()
    return sent
  }

  mutating func written(_ identifier: UInt16) -> SentPublication? { writing.removeValue(forKey: identifier) }

  private func place(of identifier: UInt16) -> Int { Int(identifier) & (ring.count - 1) }

  private mutating func skipAcknowledged() {
    while span > 0 {
      let place = place(of: first)
      switch ring[place].state {
      case .waiting: return
      case .acknowledged: early -= 1
      case .unused: break
      }
      ring[place].state = .unused
      first &+= 1
      span -= 1
    }
  }

  private mutating func grow(beyond distance: Int) {
    let old = ring
    var count = max(16, old.count)
    while count <= distance { count *= 2 }
    ring = [Place](repeating: Place(), count: count)
    for identifier in (0..<span).map({ first &+ UInt16($0) }) {
      ring[place(of: identifier)] = old[Int(identifier) & (old.count - 1)]
    }
  }
}
