import CLibMosquitto
import Dispatch
import Glibc
import ThreadkeeperSupport

/// One connection from CONNECT to its end, on the client's thread.
///
/// A turn of the loop is: wait, read a batch, have it stored, publish, write. Nothing is written
/// between the first read of a batch and the handler's return.
final class Connection {
  enum End {
    case stopped
    /// A stop came before the TCP connection was there, and nobody waits for this thread any more.
    case abandoned
    /// The configuration has changed, or the connection has waited too long for its handler.
    case reconnect
    case lost(ConnectionLoss, ReconnectSchedule.Acceptance?)
  }

  let configuration: MosquittoConfiguration
  /// That of the client, once the broker has accepted the connection and `run` was called.
  private(set) var handler: any MosquittoHandler = NoHandler()
  let mailbox: ClientMailbox
  let handle: MosquittoHandle
  var record: HandleRecord { handle.record }

  var window = PublishWindow(maximum: 0)
  /// Asked for, and not answered yet: packet identifier to subscription.
  var subscribing: [Int32: MosquittoConfiguration.Subscription] = [:]
  var refusals: [SubscriptionRefusal] = []
  /// When the last publication was acknowledged, or at QoS 0 written.
  var answeredAt: ContinuousClock.Instant?
  /// When the last message was handled, and the last retained one. The broker's answers come behind its messages.
  var lastMessageAt: ContinuousClock.Instant?
  var lastRetainedAt: ContinuousClock.Instant?
  /// Whether the handler may have something to publish.
  var needsPublish = false
  /// Packets queued since the last write.
  var queued = 0
  /// The socket has not taken all of the last write.
  private(set) var isBlocked = false
  /// In its handshake TLS wants to write what it can only write once something has come.
  private var waitsForRead = false
  /// More may be waiting than the socket shows: the last batch was full.
  var hasMore = false
  var disconnect: DisconnectProgress?

  /// Another client had the session, and may still want it.
  private var isContested: Bool
  /// One of `configuration.places`.
  private var hasPlace = false
  private var acceptedAt: ContinuousClock.Instant?
  /// When the TCP connection was there, and at its other end somebody who may be the broker.
  private var startedAt = ContinuousClock.now
  private var nextTick = ContinuousClock.now
  /// Seconds between pings. The broker may want another time than the configuration.
  private var keepAliveInterval: UInt16

  init(_ configuration: MosquittoConfiguration, mailbox: ClientMailbox, isContested: Bool = false)
    throws(MosquittoError)
  {
    self.configuration = configuration
    self.mailbox = mailbox
    self.isContested = isContested
    handle = try MosquittoHandle(configuration)
    keepAliveInterval = configuration.keepAlive
  }

  var isAccepted: Bool { acceptedAt != nil }

  /// The library wants a look "around once per second", to send pings. The broker waits for half a keep-alive more
  /// (MQTT 5.0, 3.1.2.10), so a look in each quarter of one is enough.
  static func tickInterval(_ keepAlive: UInt16) -> Duration {
    keepAlive == 0 ? .seconds(15) : .seconds(min(15, max(1, Int(keepAlive) / 4)))
  }

  private var acceptance: ReconnectSchedule.Acceptance? {
    guard let acceptedAt else { return nil }
    return ReconnectSchedule.Acceptance(
      lifetime: acceptedAt.duration(to: .now),
      wasPublishing: !window.isEmpty || answeredAt.map { $0 + .milliseconds(250) > .now } ?? false)
  }

  func run() -> End {
    guard mailbox.beginConnecting() else { return .stopped }
    defer { handle.close() }
    defer { leavePlace() }
    let failure = takePlace() ?? connect()
    guard mailbox.endConnecting() else { return .abandoned }
    if let failure { return .lost(ConnectionLoss(failure), nil) }
    startedAt = .now
    do throws(ConnectionLoss) { while true { if let end = try turn() { return end } } } catch {
      if let disconnect { return disconnect.end }
      return .lost(error, acceptance)
    }
  }

  /// Waits for a place until there is one, the session is not held any more, or a stop comes. After a stop the result
  /// is not read.
  private func takePlace() -> MosquittoError? {
    guard let places = configuration.places else { return nil }
    while true {
      hasPlace = places.wait(timeout: .now() + .milliseconds(250)) == .success
      guard mailbox.stopRequest == nil, configuration.isSessionHeld else { return .sessionNotHeld }
      if hasPlace { return nil }
    }
  }

  /// Another client may connect and subscribe.
  func leavePlace() {
    guard hasPlace else { return }
    hasPlace = false
    configuration.places?.signal()
  }

  private func connect() -> MosquittoError? {
    do throws(MosquittoError) {
      try handle.connect()
      return nil
    } catch { return error }
  }

  /// One round. Nil: and another.
  private func turn() throws(ConnectionLoss) -> End? {
    let ready = wait()
    if ready.isWoken {
      mailbox.signal.clear()
      needsPublish = true
      readControlRequests()
    }
    if let disconnect, !isAccepted {
      // A broker that has accepted it, and whose answer is on its way, shall publish no last will.
      handle.disconnect()
      _ = handle.write(packets: 1)
      return disconnect.end
    }
    try checkSession()
    try keepAlive()
    if ready.isReadable || hasMore {
      waitsForRead = false
      try intake()
      // To store it may have taken long.
      try checkSession()
    }
    // An answer that has come in time may only just have been read.
    if !hasMore { try checkAnswers() }
    if isAccepted { publish() }
    if let end = try continueDisconnect() { return end }
    try write(isReady: ready.isWritable)
    if let disconnect, disconnect.isSent, !handle.isOpen { return disconnect.end }
    if ready.isBroken, !isAccepted { throw lostBeforeAnswer() }
    return nil
  }

  // MARK: Waiting

  private struct Ready {
    var isReadable = false
    var isWritable = false
    var isBroken = false
    var isWoken = false
  }

  private func wait() -> Ready {
    let wantsWrite = handle.wantsWrite && !waitsForRead
    var descriptors = (
      pollfd(fd: handle.socket, events: Int16(POLLIN) | (wantsWrite ? Int16(POLLOUT) : 0), revents: 0),
      pollfd(fd: mailbox.signal.descriptor, events: Int16(POLLIN), revents: 0)
    )
    withUnsafeMutableBytes(of: &descriptors) { bytes in
      let list = bytes.bindMemory(to: pollfd.self)
      _ = poll(list.baseAddress, nfds_t(list.count), timeout)
    }
    let socket = Int32(descriptors.0.revents)
    var ready = Ready()
    ready.isBroken = socket & (POLLERR | POLLHUP | POLLNVAL) != 0
    ready.isReadable = socket & POLLIN != 0 || ready.isBroken
    ready.isWritable = socket & POLLOUT != 0
    ready.isWoken = descriptors.1.revents != 0
    return ready
  }

  private var timeout: Int32 {
    if hasMore || (needsPublish && canPublish) { return 0 }
    var deadline = nextTick
    if let answerDeadline { deadline = min(deadline, answerDeadline) }
    if let disconnect { deadline = min(deadline, disconnect.deadline) }
    return max(.zero, ContinuousClock.now.duration(to: deadline)).milliseconds
  }

  private func checkSession() throws(ConnectionLoss) {
    guard configuration.isSessionHeld else { throw ConnectionLoss(.sessionNotHeld) }
  }

  private func keepAlive() throws(ConnectionLoss) {
    let now = ContinuousClock.now
    guard now >= nextTick else { return }
    nextTick = now + Self.tickInterval(keepAliveInterval)
    // A CONNECT that is longer than the socket takes at once goes on.
    waitsForRead = false
    if isContested, let acceptedAt, now >= acceptedAt + configuration.reconnect.uncontestedAfter {
      isContested = false
      handler.sessionRegained()
    }
    // Before the answer to CONNECT there is nothing to keep alive: `answerLimit` is the limit.
    if isAccepted { try check(handle.tick()) }
  }

  /// When the answer that is awaited next must have come; nil when none is.
  private var answerDeadline: ContinuousClock.Instant? {
    guard let acceptedAt else { return startedAt + configuration.answerLimit }
    guard subscribing.isEmpty else { return max(acceptedAt, lastMessageAt ?? acceptedAt) + configuration.answerLimit }
    // A stop has a limit of its own.
    guard disconnect == nil else { return nil }
    return window.oldest.map {
      let answeredAt = window.isInOrder ? answeredAt ?? $0 : $0
      return max($0, lastRetainedAt ?? $0, answeredAt) + configuration.acknowledgementTimeout
    }
  }

  /// Throws when the broker owes an answer for too long.
  private func checkAnswers() throws(ConnectionLoss) {
    guard let answerDeadline, ContinuousClock.now >= answerDeadline else { return }
    guard isAccepted else { throw ConnectionLoss(.noAnswer(configuration)) }
    guard subscribing.isEmpty else { throw ConnectionLoss(.noSubscriptionAnswer(configuration)) }
    throw ConnectionLoss(.noAcknowledgement(configuration))
  }

  // MARK: Writing

  /// Sends acknowledgements and publications. Only called when no message waits for the handler.
  private func write(isReady: Bool) throws(ConnectionLoss) {
    guard handle.isOpen, handle.wantsWrite, isReady || queued > 0 else { return }
    let result = handle.write(packets: queued)
    queued = 0
    isBlocked = handle.wantsWrite
    waitsForRead = isBlocked && isReady && !isAccepted && configuration.tls != nil
    reportOutcomes()
    if disconnect?.isSent == true { return }
    try check(result)
  }

  // MARK: Ends

  /// Waits for the handler. Until it is there, nothing more is read: what the broker sends waits in the socket.
  ///
  /// - Returns: false: a stop came first, or the keep-alive is over, and the connection ends.
  func accepted(_ answer: HandleRecord.Answer) -> Bool {
    keepAliveInterval = answer.session.serverKeepAlive ?? configuration.keepAlive
    nextTick = min(nextTick, .now + Self.tickInterval(keepAliveInterval))
    let handler = mailbox.waitForHandler(within: keepAliveInterval == 0 ? nil : .seconds(keepAliveInterval))
    acceptedAt = .now
    handle.logErrors(false)
    guard let handler else {
      // A ping's answer would come behind what waits in the socket, so none is sent. The broker would soon publish the
      // last will.
      if mailbox.stopRequest == nil { mailbox.requestReconnect(nil) }
      readControlRequests()
      // Whoever has not run has nothing to publish.
      disconnect?.publications = []
      return false
    }
    self.handler = handler
    var session = answer.session
    let limit = Int(session.serverReceiveMaximum ?? .max)
    window = PublishWindow(maximum: min(limit, Int(configuration.sendMaximum)))
    session.protocolVersion = configuration.protocolVersion
    session.publishWindow = window.maximum
    handler.connected(session)
    limitBatch()
    needsPublish = true
    return true
  }

  /// Throws when a call of the library has failed, or has found the broker's DISCONNECT.
  func check(_ result: Int32) throws(ConnectionLoss) {
    if let code = record.answer?.code, code != 0 { throw ConnectionLoss(MosquittoError(connack: code, configuration)) }
    guard result == MOSQ_ERR_SUCCESS.rawValue else { throw ConnectionLoss(handle.error(result, answered: isAccepted)) }
    guard handle.isOpen else {
      throw ConnectionLoss(MosquittoError(disconnect: record.disconnectCode ?? 0, configuration))
    }
  }

  private func lostBeforeAnswer() -> ConnectionLoss {
    ConnectionLoss(.closedBeforeAnswer(configuration.address, configuration))
  }
}

/// Of a connection that waits for the broker's acceptance or for `run`, and of one that ends before both are there.
private final class NoHandler: MosquittoHandler {
  func connected(_ session: MosquittoSession) {}
  /// What nobody keeps is not acknowledged.
  func received(_ batch: [IncomingMessage]) throws { throw CancellationError() }
  func publications(upTo limit: Int) -> [Publication] { [] }
  func acknowledged(_ publication: SentPublication, _ outcome: PublicationOutcome) {}
  func disconnected(_ event: MosquittoDisconnection) {}
}

/// A disconnect in progress: last publications, their acknowledgements, DISCONNECT.
struct DisconnectProgress {
  var end: Connection.End
  /// In reverse order.
  var publications: [Publication]
  /// When the connection is closed whatever is still missing.
  var deadline: ContinuousClock.Instant
  /// DISCONNECT is queued.
  var isSent = false
}

extension Connection {
  /// Reads what other threads ask for. A stop replaces a disconnect before a new connection
  /// that is not sent yet: its publications would be lost with it.
  func readControlRequests() {
    if let disconnect { guard case .reconnect = disconnect.end, !disconnect.isSent else { return } }
    let deadline = ContinuousClock.now + configuration.stopLimit
    if let stop = mailbox.stopRequest {
      disconnect = DisconnectProgress(
        end: .stopped, publications: stop.finalPublications.reversed(), deadline: deadline)
    } else if disconnect == nil, mailbox.wantsReconnect {
      disconnect = DisconnectProgress(end: .reconnect, publications: [], deadline: deadline)
    }
  }

  /// Continues a disconnect, if there is one.
  ///
  /// - Returns: the end, when it is reached.
  func continueDisconnect() throws(ConnectionLoss) -> End? {
    guard var disconnect else { return nil }
    defer { self.disconnect = disconnect }
    guard handle.isOpen else { return disconnect.end }
    let isLate = ContinuousClock.now >= disconnect.deadline
    if disconnect.isSent { return isLate ? disconnect.end : nil }

    while window.room > 0, var publication = disconnect.publications.popLast() { send(&publication) }
    guard isLate || (disconnect.publications.isEmpty && window.isEmpty) else { return nil }
    // The acknowledgements queued before it belong to messages that are on disk.
    handle.disconnect()
    queued += 1
    disconnect.isSent = true
    // A broker that does not read any more gets one more second to take it.
    disconnect.deadline = .now + .seconds(1)
    return nil
  }
}
