// SPDX-License-Identifier: Apache-2.0

import Broker
import Home
import SodiumCrypto
import ThreadDataset
import ThreadkeeperSupport

import struct Home.WireTime

/// What reading messages needs beside the homes.
package struct IntakeReading: Sendable {
  /// Events a second of each login, and how many may come at once after a rest.
  package var eventsPerSecond = 50
  package var eventsBurst = 500
  /// Of 32 bytes: hashes what must be compared and not kept.
  package var hashKey: SecretBytes
  /// The daemon's own keys; nil while there are none, or when they are damaged.
  package var identity: @Sendable () -> Identity? = { nil }
  package var request: RequestReader = { _, _ in .ignored }

  package init(hashKey: SecretBytes) { self.hashKey = hashKey }
}

/// Reads requests. Those that were sealed are noted, and are on disk before anything follows from them.
package typealias RequestReader = @Sendable (ArrivedRequest, inout SealedRequests) -> ReadRequest

/// A request, and where it came in.
package struct ArrivedRequest: Sendable {
  package let message: IncomingMessage
  /// As it came, which may be anything.
  package let command: String
  package let user: ExactName
  package let home: ServedHome
  /// As it is now.
  package let state: Home
  package let time: WireTime
}

/// What a request on a topic asks for.
package enum ReadRequest: Sendable {
  case input(HomeInput, dataset: OperationalDataset?, AskedRequest)
  /// Changes nothing: it is answered when the messages before it are on disk.
  case other(@Sendable () -> Void)
  /// Its user asks too often, and was told so.
  case ignored
}

/// A message, after everything that can be found out without its home.
enum ReadMessage {
  case event(HomeInput, OperationalDataset?, MessageOrigin, home: Int)
  case sealed(SealedMessage, MessageOrigin, home: Int)
  case request(command: String, user: ExactName, MessageOrigin, home: Int)
  case rejected(Rejection, MessageOrigin, home: Int)
  /// Of a login that publishes too many, and whose rejection was published before.
  case dropped
  /// A probe of `threadkeeper doctor`, a retained topic that was cleared, or below no base topic: the broker sent what
  /// was not subscribed to.
  case skipped
}

/// An event in an envelope. Only its home knows who may have signed it.
struct SealedMessage {
  let event: SealedEvent
  let envelope: [UInt8]
  /// All of it, which the envelope is bound to.
  let topic: String
  let user: ExactName
}

/// Turns what the broker delivers into inputs of homes.
struct MessageReader {
  /// Bytes of a topic that are repeated in a rejection. Characters would be no limit: one can have any number of marks.
  private static let topicShown = 400
  /// Topics that are remembered. Each publisher uses a few again and again.
  private static let topicsKept = 4_096

  private struct Topic {
    let home: Int
    /// Whose limit counts, also when the rest of the topic is wrong.
    let publisher: ExactName
    let user: ExactName
    let read: Result<InboundTopic, Rejection>

    /// Requests have a limit of their own.
    var isRequest: Bool {
      if case .success(let topic) = read, case .request = topic.purpose { true } else { false }
    }
  }

  /// In the order of the homes.
  private let bases: [String]
  private let places: [ExactName: Int]
  private let identity: @Sendable () -> Identity?
  private let decoder = InboundEventDecoder()
  private let limiter: RequestLimiter
  private var datasets: DatasetReader
  private var topics: [ExactName: Topic] = [:]
  /// The keys that were read last.
  private var client: (line: String, keys: PublicIdentity, issuer: Hash128)?

  init(_ bases: [String], _ reading: IntakeReading) {
    self.bases = bases
    places = Dictionary(
      bases.enumerated().map { (ExactName($0.element), $0.offset) }, uniquingKeysWith: { $1 })
    identity = reading.identity
    limiter = RequestLimiter(rate: reading.eventsPerSecond, burst: reading.eventsBurst)
    datasets = DatasetReader(key: reading.hashKey)
  }

  mutating func read(_ message: IncomingMessage, at now: WireTime) -> ReadMessage {
    guard let topic = readTopic(message.topic) else { return .skipped }
    // A retained topic is cleared, as the daemon asks for.
    if message.isRetained, message.payload.isEmpty { return .skipped }
    let home = topic.home
    do throws(Rejection) {
      if message.isRetained || !topic.isRequest {
        switch limiter.judge(topic.publisher, at: now) {
        case .allowed: break
        case .refused: throw .tooManyEvents
        case .ignored: return .dropped
        }
      }
      guard !message.isRetained else { throw .retained }
      switch try topic.read.get().purpose {
      case .probe: return .skipped
      case .request(let command):
        return .request(command: command, user: topic.user, origin(message, topic), home: home)
      case .event(let kind):
        switch try decoder.read(message.payload, as: kind) {
        case .plain(let event):
          return .event(input(event, topic.user), event.dataset, origin(message, topic), home: home)
        case .sealed(let event):
          guard
            let envelope = UntrustedJSON.value(
              of: "sealed", in: message.payload, depth: InboundLimits.nesting)
          else { throw Rejection(EnvelopeRefusal.notAnEnvelope) }
          let sealed = SealedMessage(
            event: event, envelope: envelope, topic: message.topic, user: topic.user)
          return .sealed(sealed, origin(message, topic), home: home)
        }
      }
    } catch {
      return .rejected(error, origin(message, topic), home: home)
    }
  }

  /// What an envelope holds, of the user on whose topic it came.
  ///
  /// - Parameter client: as the user is enrolled in the home.
  mutating func open(
    _ message: SealedMessage, _ client: EnrolledClient?, at now: WireTime
  ) throws(Rejection) -> (HomeInput, OperationalDataset?) {
    guard let client, !client.isRevoked else {
      throw Rejection(HomeRejection.notEnrolled, home: nil)
    }
    guard let identity = identity() else { throw .noKeys }
    guard let (keys, issuer) = keys(of: client) else { throw .damagedEnrolment }
    let opened: OpenedEnvelope
    do throws(EnvelopeRefusal) {
      opened = try Envelope.open(
        message.envelope, with: identity, from: [keys], topic: message.topic,
        now: now.milliseconds / 1000)
    } catch {
      throw Rejection(error)
    }
    guard case .sequence(let number) = opened.order else { throw .needsSequence }
    var body = opened.body
    defer { wipe(&body) }
    let event = try decoder.decode(body, inside: message.event, sequence: number)
    let signature = RouterMessage.Signature(issuer: issuer, number: number)
    return (input(event, message.user, signature), event.dataset)
  }

  /// Where a message comes from that is not read at all.
  ///
  /// - Returns: nil for one that would be skipped.
  mutating func origin(of message: IncomingMessage) -> (MessageOrigin, home: Int)? {
    readTopic(message.topic).map { (origin(message, $0), $0.home) }
  }

  private mutating func input(
    _ event: InboundEvent, _ user: ExactName, _ signature: RouterMessage.Signature? = nil
  ) -> HomeInput {
    let summary = event.dataset.flatMap { datasets.summary(of: $0) }
    return .message(RouterMessage(event, dataset: summary, signature: signature), from: user)
  }

  private mutating func keys(of client: EnrolledClient) -> (PublicIdentity, Hash128)? {
    if let known = self.client, known.line.hasBytes(of: client.line) {
      return (known.keys, known.issuer)
    }
    guard let keys = try? PublicIdentity(line: client.line) else { return nil }
    let issuer = datasets.hash(keys.signingKey, as: .signer)
    self.client = (client.line, keys, issuer)
    return (keys, issuer)
  }
}

// MARK: - Topics

extension MessageReader {
  private mutating func readTopic(_ text: String) -> Topic? {
    if let known = topics[ExactName(text)] { return known }
    guard let (home, rest) = split(text) else { return nil }
    let read = Result { () throws(Rejection) in try InboundTopic(rest, belowBaseOf: "") }
    let publisher = InboundTopic.publisher(of: rest)
    let user = (try? read.get())?.user
    let topic = Topic(
      home: home, publisher: ExactName(publisher), user: ExactName(user ?? publisher), read: read)
    if topics.count >= Self.topicsKept { topics.removeAll() }
    topics[ExactName(text)] = topic
    return topic
  }

  /// The home whose base topic a topic is below, and what follows that. Only what is below `in` was subscribed to, so
  /// that thousands of bases are not compared one by one.
  private func split(_ topic: String) -> (home: Int, rest: Substring)? {
    let bytes = topic.utf8
    var start = bytes.startIndex
    while let slash = bytes[start...].firstIndex(of: UInt8(ascii: "/")) {
      let next = bytes.index(after: slash)
      let rest = bytes[next...]
      if rest.starts(with: "in".utf8), rest.dropFirst(2).first ?? 0x2F == UInt8(ascii: "/"),
        let home = places[ExactName(String(topic[..<slash]))]
      {
        return (home, topic[next...])
      }
      start = next
    }
    return nil
  }

  private func origin(_ message: IncomingMessage, _ topic: Topic) -> MessageOrigin {
    var origin = MessageOrigin(topic: Self.shown(message.topic))
    guard let read = try? topic.read.get() else { return origin }
    origin.user = read.user
    if message.responseTopic != nil, !message.isRetained {
      origin.reply = ReplyAddress(asked: message, user: topic.user, base: bases[topic.home])
    }
    return origin
  }

  private static func shown(_ topic: String) -> String {
    guard topic.utf8.count > topicShown else { return topic }
    // A character that is cut in two becomes a replacement character.
    return String(decoding: topic.utf8.prefix(topicShown), as: UTF8.self)
  }
}
