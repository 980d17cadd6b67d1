import SodiumCrypto

/// A client of DTLS 1.2 (RFC 6347) with the one suite TLS_ECJPAKE_WITH_AES_128_CCM_8, as a value: it takes datagrams and
/// the time, and returns events. It has no socket and no clock, and takes random bytes at the beginning only.
///
/// | state | message | then |
/// |---|---|---|
/// | `hello` | HelloVerifyRequest, at most 3 | the same ClientHello with its cookie |
/// | | ServerHello with two keys and their proofs | `keyExchange` |
/// | `keyExchange` | ServerKeyExchange with the second round | `helloDone` |
/// | `helloDone` | ServerHelloDone | ClientKeyExchange, ChangeCipherSpec, Finished; `finished` |
/// | `finished` | Finished in epoch 1 | `open` |
/// | | fatal alert 20 in plaintext | ended: `refused` |
/// | `open` | data in epoch 1 | is received |
/// | any | another handshake message; an invalid one | fatal alert; ended: `protocolError` |
/// | any | fatal alert, close_notify; in `open` in epoch 1 only | ended: `closed` |
/// | all but `open` | nothing for 1, 2, 4 s | the last flight again |
/// | | nothing for 8 s | ended: `noAnswer` |
///
/// A record that is malformed, of another epoch, not authentic or a repetition is dropped (section 4.1.2.7). In epoch 0
/// nothing is authentic, so no window is kept there: one forged record would shut out all others. A repeated message is
/// recognized by its sequence number. A ChangeCipherSpec is ignored, because the epoch says the same.
package struct DTLSClient: Sendable {
  /// What follows from a datagram or the time.
  package enum Event: Sendable {
    case send([UInt8])
    /// The router has proved that it has the secret.
    case opened
    case received(SecretBytes)
    case ended(BorderAgentError)
  }

  private enum State { case hello, keyExchange, helloDone, finished, open, ended }

  private var state = State.hello
  private var hello: ClientHello
  private var cookies = 0
  /// Until the keys are there.
  private var keyExchange: KeyExchange?
  private var keys: SessionKeys?
  private var serverRandom: [UInt8] = []
  /// From the last ClientHello on, each with its header.
  private var transcript: [UInt8] = []

  private var assembly = HandshakeAssembly()
  private var nextMessage: UInt16 = 0
  /// By epoch.
  private var nextNumber: [UInt64] = [0, 1 << 48]
  private var window = ReplayWindow()
  private var flight: [(type: ContentType, epoch: Int, bytes: [UInt8])] = []
  private var timer: RetransmissionTimer

  /// Takes 192 random bytes: those of `KeyExchange`, then the hello's.
  package init(secret: SecretBytes, random: RandomSource, at now: ContinuousClock.Instant) throws(BorderAgentError) {
    do throws(KeyExchangeError) {
      let keyExchange = try KeyExchange(.client, secret: secret, random: random)
      var bytes = [UInt8](repeating: 0, count: 32)
      bytes.withUnsafeMutableBytes { random($0) }
      hello = ClientHello(random: bytes, firstRound: keyExchange.firstRound)
      self.keyExchange = keyExchange
    } catch { throw .cannotStart(error) }
    timer = RetransmissionTimer(at: now)
  }

  /// When `tick` is to be called.
  package var deadline: ContinuousClock.Instant? { state == .open || state == .ended ? nil : timer.deadline }

  /// What the client waits for; nil once the session is open.
  package var step: BorderAgentError.Step? {
    switch state {
    case .hello: .hello
    case .keyExchange, .helloDone: .keyExchange
    case .finished: .finished
    case .open, .ended: nil
    }
  }

  /// Sends the first ClientHello.
  package mutating func start(at now: ContinuousClock.Instant) -> [Event] { [.send(sendHello(at: now))] }

  /// Takes a datagram of the router.
  package mutating func receive(_ datagram: [UInt8], at now: ContinuousClock.Instant) -> [Event] {
    var events: [Event] = []
    for record in Record.split(datagram) {
      guard state != .ended else { break }
      do throws(BorderAgentError) { events += try receive(record, at: now) } catch { events += end(error) }
    }
    return events
  }

  /// Sends the last flight again, or gives up, when it is time.
  package mutating func tick(at now: ContinuousClock.Instant) -> [Event] {
    guard let step, let due = timer.due(at: now) else { return [] }
    if due == .sendAgain { return [.send(sendFlight())] }
    return (close().map { [.send($0)] } ?? []) + [.ended(.noAnswer(step))]
  }

  /// The datagram with data, once the session is open.
  package mutating func protect(_ data: [UInt8]) -> [UInt8]? { state == .open ? write(.applicationData, 1, data) : nil }

  /// Ends the session from here: a router keeps one that is not closed for minutes.
  ///
  /// - Returns: the datagram with close_notify (RFC 5246, section 7.2.1); nil where the router has no session.
  package mutating func close() -> [UInt8]? {
    defer { forget() }
    return state == .hello || state == .ended ? nil : write(.alert, writeEpoch, [1, 0])
  }

  // MARK: What comes in

  private mutating func receive(_ record: Record, at now: ContinuousClock.Instant) throws(BorderAgentError) -> [Event] {
    switch record.epoch {
    case 0 where state != .open: return try receive(record.type, record.body, epoch: 0, at: now)
    case 1 where state == .finished || state == .open:
      guard window.isNew(record.number), let plaintext = keys?.open(record, from: .server) else { return [] }
      window.insert(record.number)
      if ContentType(rawValue: record.type) == .applicationData {
        // Before the Finished nothing was requested.
        return state == .open ? [.received(plaintext)] : []
      }
      return try receive(record.type, plaintext.withUnsafeBytes { ArraySlice($0) }, epoch: 1, at: now)
    default: return []
    }
  }

  private mutating func receive(
    _ type: UInt8, _ bytes: ArraySlice<UInt8>, epoch: UInt16, at now: ContinuousClock.Instant
  ) throws(BorderAgentError) -> [Event] {
    switch ContentType(rawValue: type) {
    case .alert:
      var reader = ByteReader(bytes)
      guard let level = reader.number(1), let alert = reader.number(1), reader.isAtEnd else { return [] }
      if level == 2, alert == 20, epoch == 0, state == .finished { throw .refused }
      if level == 2 || alert == 0 { throw .closed(alert: UInt8(alert)) }
      return []
    case .handshake where epoch == (state == .finished ? 1 : 0):
      assembly.take(bytes)
      var events: [Event] = []
      while state != .open, let message = assembly.takeNext() {
        timer.extend(at: now)
        guard let type = HandshakeType(rawValue: message.type) else {
          throw .protocolError(part: "handshake message \(message.type)", flaw: "there is none of this number")
        }
        do { events += try receive(message, type, at: now) } catch {
          throw error as? BorderAgentError ?? .invalid(type.name, error as? KeyExchangeError ?? .libraryFailed)
        }
      }
      return events
    default: return []
    }
  }

  /// - Throws: `BorderAgentError`, `KeyExchangeError`.
  private mutating func receive(_ message: HandshakeMessage, _ type: HandshakeType, at now: ContinuousClock.Instant)
    throws -> [Event]
  {
    func flaw(_ flaw: String) -> BorderAgentError { .protocolError(part: type.name, flaw: flaw) }
    switch (state, type) {
    case (.hello, .helloVerifyRequest):
      // RFC 6347, section 4.3.2.
      var reader = ByteReader(message.body[...])
      guard reader.number(2) != nil, let cookie = reader.counted(), reader.isAtEnd else { throw flaw("it is invalid") }
      cookies += 1
      guard cookies <= 3 else { throw flaw("it comes again and again") }
      hello.cookie = Array(cookie)
      return [.send(sendHello(at: now))]
    case (.hello, .serverHello):
      let server = try ServerHello(message.body)
      try keyExchange?.receiveFirstRound(server.firstRound)
      (serverRandom, state) = (server.random, .keyExchange)
    case (.keyExchange, .serverKeyExchange):
      // Named curve, P-256 (RFC 4492, section 5.4).
      guard message.body.starts(with: [0x03, 0x00, 0x17]) else { throw flaw("it is not on the curve P-256") }
      keys = try keyExchange.map {
        try SessionKeys(
          premasterSecret: $0.premasterSecret(from: message.body.dropFirst(3)), clientRandom: hello.random,
          serverRandom: serverRandom)
      }
      state = .helloDone
    case (.helloDone, .serverHelloDone):
      guard message.body.isEmpty else { throw flaw("it is not empty") }
      transcript += message.bytes
      return [.send(try sendFinished(at: now))]
    case (.finished, .finished):
      let expected = try keys?.verifyData(.server, after: transcript)
      guard SecretBytes(copying: message.body) == expected else { throw flaw("its hash is wrong") }
      (state, flight, transcript) = (.open, [], [])
      return [.opened]
    default: throw flaw("it comes out of order")
    }
    transcript += message.bytes
    return []
  }

  // MARK: What goes out

  private mutating func sendHello(at now: ContinuousClock.Instant) -> [UInt8] {
    let message = self.message(.clientHello, hello.body)
    transcript = message
    return send([(.handshake, 0, message)], at: now)
  }

  private mutating func sendFinished(at now: ContinuousClock.Instant) throws(KeyExchangeError) -> [UInt8] {
    guard let keys, let secondRound = try keyExchange?.secondRound() else { throw .outOfOrder }
    keyExchange = nil
    let key = message(.clientKeyExchange, secondRound)
    transcript += key
    let finished = message(.finished, try keys.verifyData(.client, after: transcript).withUnsafeBytes { Array($0) })
    transcript += finished
    state = .finished
    assembly.discard()
    return send([(.handshake, 0, key), (.changeCipherSpec, 0, [1]), (.handshake, 1, finished)], at: now)
  }

  private mutating func message(_ type: HandshakeType, _ body: [UInt8]) -> [UInt8] {
    defer { nextMessage += 1 }
    return HandshakeMessage(type.rawValue, nextMessage, body).bytes
  }

  private mutating func send(
    _ flight: [(type: ContentType, epoch: Int, bytes: [UInt8])], at now: ContinuousClock.Instant
  ) -> [UInt8] {
    self.flight = flight
    timer = RetransmissionTimer(at: now)
    return sendFlight()
  }

  /// One datagram: the longest flight has 672 bytes, a ClientHello with a cookie of 255.
  private mutating func sendFlight() -> [UInt8] {
    let flight = flight
    return flight.flatMap { write($0.type, $0.epoch, $0.bytes) }
  }

  private var writeEpoch: Int { state == .finished || state == .open ? 1 : 0 }

  private mutating func write(_ type: ContentType, _ epoch: Int, _ bytes: [UInt8]) -> [UInt8] {
    let number = nextNumber[epoch]
    nextNumber[epoch] += 1
    guard epoch == 1 else { return Record.write(type, number, bytes) }
    let body = bytes.withUnsafeBytes { keys?.seal($0, type.rawValue, number, from: .client) }
    return body.map { Record.write(type, number, $0) } ?? []
  }

  /// Sends the fatal alert illegal_parameter where the router broke the protocol.
  private mutating func end(_ error: BorderAgentError) -> [Event] {
    var events = [Event.ended(error)]
    if case .protocolError = error { events.insert(.send(write(.alert, writeEpoch, [2, 47])), at: 0) }
    forget()
    return events
  }

  private mutating func forget() { (state, keyExchange, keys, flight, transcript) = (.ended, nil, nil, [], []) }
}

/// When a datagram without an answer is sent again (RFC 6347, section 4.2.4.1): after pauses of 1 s, 2 s, 4 s.
struct RetransmissionTimer: Sendable {
  enum Action { case sendAgain, giveUp }

  private static let limit = Duration.seconds(8)

  private var pause = Duration.seconds(1)
  private var next: ContinuousClock.Instant
  private var end: ContinuousClock.Instant

  /// For what is sent now for the first time.
  init(at now: ContinuousClock.Instant) { (next, end) = (now + pause, now + Self.limit) }

  var deadline: ContinuousClock.Instant { min(next, end) }

  /// A part of the answer has come.
  mutating func extend(at now: ContinuousClock.Instant) { end = now + Self.limit }

  mutating func due(at now: ContinuousClock.Instant) -> Action? {
    if now >= end { return .giveUp }
    guard now >= next else { return nil }
    pause *= 2
    next = now + pause
    return .sendAgain
  }
}
