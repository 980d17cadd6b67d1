import MeshCoP
import SodiumCrypto

/// Stands for the border agent of a router: a server of DTLS 1.2 with the suite TLS_ECJPAKE_WITH_AES_128_CCM_8 that
/// answers `c/ag` and `c/pg`. It is a value: datagrams come in, datagrams go out. It notes what the client does wrong, and
/// `alter` changes what it sends.
package struct BorderAgentDouble: Sendable {
  /// A part of an answer, before it is sent.
  package struct Outgoing: Sendable {
    package enum Part: Sendable, Equatable {
      case helloVerifyRequest, serverHello, serverKeyExchange, serverHelloDone, changeCipherSpec, finished
      /// With the path that was asked for.
      case answer(String)
      case alert
    }

    package let part: Part
    package var content: ContentType
    /// The number of a handshake message's type.
    package var type: UInt8
    package var body: [UInt8]
    package var epoch: UInt16
    /// Sent instead, if not nil: none, or more than one.
    package var instead: [[UInt8]]?
  }

  /// How a flight is cut: a datagram for each record, fragments of at most so many bytes.
  package var hasOwnDatagrams = false
  package var fragmentLength = Int.max
  package var asksForCookie = true
  /// What it says for each path: code and payload. Others are 4.04.
  package var answers: [String: (code: UInt8, payload: [UInt8])]
  package var alter: @Sendable (inout Outgoing) -> Void = { _ in }

  /// What the client did wrong.
  package private(set) var clientErrors: [String] = []
  /// Paths that were asked for, in their order, each once for each message id.
  package private(set) var asked: [String] = []
  package private(set) var isOpen = false
  /// The client has said close_notify.
  package private(set) var isClosed = false

  private let cookie: [UInt8]
  private let random: [UInt8]
  private var keyExchange: KeyExchange
  private var premasterSecret: SecretBytes?
  private var keys: SessionKeys?
  private var clientRandom: [UInt8] = []
  private var transcript: [UInt8] = []
  private var assembly = HandshakeAssembly()
  private var nextMessage: UInt16 = 0
  private var nextNumber: [UInt64] = [0, 1 << 48]
  private var seen: Set<UInt64> = []
  private var lastFlight: [Outgoing] = []
  /// By message id: a question that comes again is not asked again.
  private var answered: [[UInt8]: [UInt8]] = [:]

  /// What both sides of the session have derived, for a search for it. Keys and nonces are parts of the key block.
  package var derivedSecrets: [(name: String, bytes: SecretBytes)] {
    [("premaster secret", premasterSecret), ("master secret", keys?.masterSecret), ("key block", keys?.keyBlock)]
      .compactMap { name, secret in secret.map { (name, $0) } }
  }

  /// - Parameter secret: the PSKc's 16 bytes, or the digits of a code.
  package init(secret: SecretBytes, active: [UInt8], pending: [UInt8] = [], random source: RandomSource) throws {
    keyExchange = try KeyExchange(.server, secret: secret, random: source)
    var bytes = [UInt8](repeating: 0, count: 52)
    bytes.withUnsafeMutableBytes { source($0) }
    (random, cookie) = (Array(bytes[..<32]), Array(bytes[32...]))
    answers = ["c/ag": (0x44, active), "c/pg": (0x44, pending)]
  }

  /// Takes a datagram of the client, and says what it sends.
  package mutating func receive(_ datagram: [UInt8]) -> [[UInt8]] {
    var datagrams: [[UInt8]] = []
    if datagram.count > Record.mostDatagramBytes { clientErrors.append("a datagram of \(datagram.count) bytes") }
    for record in Record.split(datagram) {
      do { datagrams += try receive(record) } catch { clientErrors.append("\(error)") }
    }
    return datagrams
  }

  private struct ClientError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  private mutating func receive(_ record: Record) throws -> [[UInt8]] {
    guard seen.insert(record.number).inserted else { return [] }
    guard record.epoch == 1 else { return try receive(record, Array(record.body)) }
    guard let plaintext = keys?.open(record, from: .client) else {
      // What a router answers to one that has another secret.
      if keys != nil, !isOpen { return send([part(.alert, .alert, 0, [2, 20])]) }
      return []
    }
    return try receive(record, plaintext.withUnsafeBytes { Array($0) })
  }

  private mutating func receive(_ record: Record, _ bytes: [UInt8]) throws -> [[UInt8]] {
    switch ContentType(rawValue: record.type) {
    case .alert:
      if bytes == [1, 0] { isClosed = true } else { throw ClientError("alert \(bytes)") }
      return []
    case .handshake:
      let before = assembly.next
      assembly.take(bytes)
      var datagrams: [[UInt8]] = []
      while let message = assembly.takeNext() { datagrams += try receive(message, record.epoch) }
      // The flight has come again, so the answer to it was lost.
      let isRepeated = assembly.next == before && (record.epoch == 1 || !isOpen && keys == nil)
      return isRepeated ? send(lastFlight) : datagrams
    case .applicationData where record.epoch == 1: return try answer(bytes)
    case .changeCipherSpec: return []
    default: throw ClientError("a record of type \(record.type) in epoch \(record.epoch)")
    }
  }

  private mutating func receive(_ message: HandshakeMessage, _ epoch: UInt16) throws -> [[UInt8]] {
    switch (HandshakeType(rawValue: message.type), epoch) {
    case (.clientHello, 0) where keys == nil: return try greet(message)
    case (.clientKeyExchange, 0) where keys == nil && !transcript.isEmpty:
      transcript += message.bytes
      let secret = try keyExchange.premasterSecret(from: message.body)
      keys = try SessionKeys(premasterSecret: secret, clientRandom: clientRandom, serverRandom: random)
      premasterSecret = secret
      return []
    case (.finished, 1):
      guard let keys, SecretBytes(copying: message.body) == (try keys.verifyData(.client, after: transcript)) else {
        throw ClientError("the hash of its Finished is wrong")
      }
      transcript += message.bytes
      let own = try keys.verifyData(.server, after: transcript).withUnsafeBytes { Array($0) }
      isOpen = true
      return answer(with: [
        part(.changeCipherSpec, .changeCipherSpec, 0, [1]),
        part(.finished, .handshake, HandshakeType.finished.rawValue, own, epoch: 1),
      ])
    default: throw ClientError("handshake message \(message.type) in epoch \(epoch)")
    }
  }

  private mutating func greet(_ message: HandshakeMessage) throws -> [[UInt8]] {
    let expected: [UInt8] = [0xFE, 0xFD]
    let cookieLength = message.body.count > 35 ? Int(message.body[35]) : 0
    let start = 36 + cookieLength
    guard message.body.starts(with: expected), message.body.count > start + 16, message.body[34] == 0 else {
      throw ClientError("its ClientHello is no ClientHello")
    }
    let hasCookie = message.body[36..<start].elementsEqual(cookie)
    guard hasCookie || !asksForCookie else {
      return answer(with: [
        part(
          .helloVerifyRequest, .handshake, HandshakeType.helloVerifyRequest.rawValue,
          [0xFE, 0xFD, UInt8(cookie.count)] + cookie)
      ])
    }
    let rest = message.body[start...]
    // One suite, no compression, then the extensions: the keys first.
    let head: [UInt8] = [0x00, 0x02, 0xC0, 0xFF, 0x01, 0x00]
    let length = rest.count - 8
    let lengths = [UInt8(length >> 8), UInt8(length & 0xFF), 0x01, 0x00]
    guard rest.starts(with: head + lengths) else { throw ClientError("its ClientHello offers something else") }
    let keysLength = Int(rest[start + 10]) << 8 | Int(rest[start + 11])
    let others: [UInt8] = [0, 10, 0, 4, 0, 2, 0, 23, 0, 11, 0, 2, 1, 0]
    guard rest.dropFirst(12 + keysLength).elementsEqual(others) else { throw ClientError("it has other extensions") }
    try keyExchange.receiveFirstRound(rest.dropFirst(12).prefix(keysLength))
    clientRandom = Array(message.body[2..<34])
    transcript = message.bytes
    let round = keyExchange.firstRound
    let extensions: [UInt8] = [0, 11, 0, 2, 1, 0, 1, 0, UInt8(round.count >> 8), UInt8(round.count & 0xFF)] + round
    let hello =
      [0xFE, 0xFD] + random + [0, 0xC0, 0xFF, 0, UInt8(extensions.count >> 8), UInt8(extensions.count & 0xFF)]
      + extensions
    return answer(with: [
      part(.serverHello, .handshake, HandshakeType.serverHello.rawValue, hello),
      part(
        .serverKeyExchange, .handshake, HandshakeType.serverKeyExchange.rawValue,
        [3, 0, 23] + (try keyExchange.secondRound())),
      part(.serverHelloDone, .handshake, HandshakeType.serverHelloDone.rawValue, []),
    ])
  }

  /// A confirmable POST with a token of two bytes, a path of two segments, nothing else.
  private mutating func answer(_ bytes: [UInt8]) throws -> [[UInt8]] {
    if bytes.count == 4, bytes[0] == 0x60, bytes[1] == 0 { return [] }  // It acknowledges.
    guard isOpen, bytes.count == 11, bytes.starts(with: [0x42, 0x02]), bytes[6] == 0xB1, bytes[8] == 0x02 else {
      throw ClientError("it asks in another way")
    }
    let identifier = Array(bytes[2..<4])
    let path = String(decoding: [bytes[7], UInt8(ascii: "/")] + bytes[9...], as: UTF8.self)
    if answered[identifier] == nil {
      asked.append(path)
      let (code, payload) = answers[path] ?? (0x84, [])
      answered[identifier] = [0x62, code] + identifier + bytes[4..<6] + (payload.isEmpty ? [] : [0xFF] + payload)
    }
    return send([part(.answer(path), .applicationData, 0, answered[identifier] ?? [], epoch: 1)])
  }

  // MARK: What goes out

  private func part(_ part: Outgoing.Part, _ content: ContentType, _ type: UInt8, _ body: [UInt8], epoch: UInt16 = 0)
    -> Outgoing
  { Outgoing(part: part, content: content, type: type, body: body, epoch: epoch) }

  /// A flight of handshake messages, which get their sequence numbers.
  private mutating func answer(with flight: [Outgoing]) -> [[UInt8]] {
    lastFlight = flight.map { outgoing in
      guard outgoing.content == .handshake else { return outgoing }
      let message = HandshakeMessage(outgoing.type, nextMessage, outgoing.body)
      nextMessage += 1
      // The client counts its own.
      if outgoing.part != .helloVerifyRequest, outgoing.part != .finished { transcript += message.bytes }
      return outgoing
    }
    firstOfFlight = nextMessage - UInt16(flight.count { $0.content == .handshake })
    return send(lastFlight)
  }

  private var firstOfFlight: UInt16 = 0

  private mutating func send(_ flight: [Outgoing]) -> [[UInt8]] {
    var records: [[UInt8]] = []
    var sequence = firstOfFlight
    for var outgoing in flight {
      alter(&outgoing)
      if let instead = outgoing.instead {
        records += instead
      } else if outgoing.content == .handshake {
        let message = HandshakeMessage(outgoing.type, sequence, outgoing.body)
        for fragment in fragments(of: message) { records.append(record(outgoing, fragment)) }
      } else {
        records.append(record(outgoing, outgoing.body))
      }
      if outgoing.content == .handshake { sequence += 1 }
    }
    return hasOwnDatagrams ? records : records.isEmpty ? [] : [records.flatMap { $0 }]
  }

  private func fragments(of message: HandshakeMessage) -> [[UInt8]] {
    guard message.body.count > fragmentLength else { return [message.bytes] }
    let number = { (value: Int) in [UInt8(value >> 16), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)] }
    return stride(from: 0, to: message.body.count, by: fragmentLength).map { offset in
      let fragment = message.body[offset..<min(offset + fragmentLength, message.body.count)]
      return message.bytes[..<6] + number(offset) + number(fragment.count) + fragment
    }
  }

  private mutating func record(_ outgoing: Outgoing, _ bytes: [UInt8]) -> [UInt8] {
    let epoch = Int(outgoing.epoch)
    let number = nextNumber[epoch]
    nextNumber[epoch] += 1
    guard epoch == 1 else { return Record.write(outgoing.content, number, bytes) }
    let body = bytes.withUnsafeBytes { keys?.seal($0, outgoing.content.rawValue, number, from: .server) }
    return Record.write(outgoing.content, number, body ?? [])
  }
}
