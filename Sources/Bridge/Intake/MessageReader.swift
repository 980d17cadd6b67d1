import Broker
import Home
import HomeStore
import Settings
import SodiumCrypto
import ThreadDataset
import ThreadkeeperSupport
import Wire

/// What reading messages needs beside the homes.
package struct IntakeReading: Sendable {
  package var limits = Settings.Limits()
  /// Of 32 bytes: hashes what must be compared and not kept.
  package var hashKey: SecretBytes
  /// The daemon's own keys; nil while there are none, or when they are damaged.
  package var identity: @Sendable () -> Identity? = { nil }
  package var request: RequestReader = { _, _ in .ignored }
  /// Whether one filter is for all homes, so that what others publish to a home that is not here comes, too.
  package var isOfShard = false
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
  /// Its user asks too often, and has had an answer that says so.
  case ignored
}

/// A message, after everything that can be found out without its home.
enum ReadMessage {
  case event(HomeInput, [UInt8]?, IntakeTopic)
  case sealed(SealedMessage, IntakeTopic)
  case request(command: String, IntakeTopic)
  case rejected(Rejection, IntakeTopic)
  /// Of a login that publishes too many, and whose rejection was published before.
  case dropped
  /// To a home that is not in this shard.
  case misplaced
  /// A probe of `threadkeeper doctor`, a retained topic that was cleared, or below no base topic: the broker sent what
  /// was not subscribed to.
  case skipped
}

/// An event in an envelope. Only its home knows who may have signed it.
struct SealedMessage {
  let kind: RouterMessage.Kind
  let envelope: [UInt8]
}

/// A topic below `in` of a home.
final class IntakeTopic: Sendable {
  /// Its place in the settings.
  let home: Int
  /// The login, also where the rest of the topic is wrong.
  let user: ExactName
  let read: Result<InboundTopic, Rejection>

  init(home: Int, _ rest: Substring) {
    self.home = home
    read = Result { () throws(Rejection) in try InboundTopic(rest, belowBaseOf: "") }
    user = ExactName((try? read.get().user) ?? InboundTopic.publisher(of: rest))
  }

  /// Requests have a limit of their own.
  var isRequest: Bool { if case .success(let topic) = read, case .request = topic.purpose { true } else { false } }
}

extension IncomingMessage {
  /// Bytes of a topic that are repeated in a rejection. Characters would be no limit: one can have any number of marks.
  private static let topicShown = 400

  /// Its topic, or the beginning of a long one.
  var shownTopic: String {
    guard topic.utf8.count > Self.topicShown else { return topic }
    // A character that is cut in two becomes a replacement character.
    return String(decoding: topic.utf8.prefix(Self.topicShown), as: UTF8.self)
  }
}

/// Where a message came in.
struct MessageArrival {
  let message: IncomingMessage
  let topic: IntakeTopic
  /// A request, when it is read.
  @Boxed var asked: AskedRequest?

  var mayBeAnswered: Bool { message.responseTopic != nil || asked != nil }

  /// - Parameter base: the base topic of its home.
  func origin(below base: String) -> MessageOrigin {
    var origin = MessageOrigin(topic: message.shownTopic)
    guard case .success(let read) = topic.read else { return origin }
    origin.user = read.user
    if let asked {
      origin.asked = asked
      origin.reply = asked.reply
    } else if !message.isRetained {
      origin.reply = ReplyAddress(asked: message, user: topic.user, base: base)
    }
    return origin
  }
}

/// Turns what the broker delivers into inputs of homes.
struct MessageReader {
  /// Topics that are remembered. Each publisher uses a few again and again. What is longer, or wrong, is read each
  /// time: a topic is remembered before its login is found to publish too many.
  static let topicsKept = 16_384
  static let topicBytesKept = 600

  private let places: [ExactName: Int]
  private let isOfShard: Bool
  private let identity: @Sendable () -> Identity?
  private var datasets: DatasetReader
  private(set) var topics: [ExactName: IntakeTopic] = [:]
  /// The keys that were read last.
  private var client: (line: String, keys: PublicIdentity, issuer: Hash128)?

  /// - Throws: for a key of hashes that has another length.
  init(_ bases: [String], _ reading: IntakeReading) throws {
    places = Dictionary(bases.enumerated().map { (ExactName($0.element), $0.offset) }, uniquingKeysWith: { $1 })
    isOfShard = reading.isOfShard
    identity = reading.identity
    datasets = try DatasetReader(key: reading.hashKey)
  }

  /// - Parameter limits: an event is taken from what its login has left.
  mutating func read(_ message: IncomingMessage, _ limits: inout TokenBuckets, at now: WireTime) -> ReadMessage {
    // A retained topic is cleared, as the daemon asks for.
    if message.isRetained, message.payload.isEmpty { return .skipped }
    guard let topic = topic(of: message) else {
      return isOfShard && !ProbeTopic.isInbound(message.topic) ? .misplaced : .skipped
    }
    do throws(Rejection) {
      if message.isRetained || !topic.isRequest {
        switch limits.judge(topic.user, at: now) {
        case .allowed: break
        case .refused: throw .tooManyEvents
        case .ignored: return .dropped
        }
      }
      guard !message.isRetained else { throw .retained }
      switch try topic.read.get().purpose {
      case .probe: return .skipped
      case .request(let command):
        return ProbeTopic.isPayload(message.payload) ? .skipped : .request(command: command, topic)
      case .event(let kind):
        var event = InboundEvent(kind)
        try event.read(message.payload)
        guard event.isSealed else {
          let (input, dataset) = try input(consume event, topic.user)
          return .event(input, dataset, topic)
        }
        guard let envelope = UntrustedJSON.value(of: "sealed", in: message.payload, depth: InboundLimits.nesting) else {
          throw Rejection(EnvelopeRefusal.notAnEnvelope)
        }
        return .sealed(SealedMessage(kind: kind, envelope: envelope), topic)
      }
    } catch { return .rejected(error, topic) }
  }

  /// What an envelope holds, of the user on whose topic it came.
  ///
  /// - Parameter client: as the user is enrolled in the home.
  mutating func open(
    _ sealed: SealedMessage, _ message: IncomingMessage, _ user: ExactName, _ client: EnrolledClient?, at now: WireTime
  ) throws(Rejection) -> (HomeInput, [UInt8]?) {
    guard let client, !client.isRevoked else { throw .clientNotEnrolled }
    guard let identity = identity() else { throw .noKeys }
    guard let (keys, issuer) = keys(of: client) else { throw .damagedEnrolment }
    let opened: OpenedEnvelope
    do throws(EnvelopeRefusal) {
      opened = try Envelope.open(
        sealed.envelope, with: identity, from: [keys], topic: message.topic, now: now.milliseconds / 1000)
    } catch { throw Rejection(error) }
    guard case .sequence(let number) = opened.order else { throw .needsSequence }
    var body = opened.body
    defer { wipe(&body) }
    var event = try InboundEvent(reading: body, sealedIn: message.payload, as: sealed.kind, sequence: number)
    event.message.signature = RouterMessage.Signature(issuer: issuer, number: number)
    return try input(consume event, user)
  }

  private mutating func input(_ event: consuming InboundEvent, _ user: ExactName) throws(Rejection) -> (
    HomeInput, [UInt8]?
  ) {
    if let dataset = event.dataset {
      let summary = datasets.summary(of: dataset.bytes)
      if summary?.isComplete != true { try event.checkDataset() }
      if let summary { event.message.dataset = summary }
    }
    return (.message(event.message, from: user), event.dataset?.bytes)
  }

  private mutating func keys(of client: EnrolledClient) -> (PublicIdentity, Hash128)? {
    if let known = self.client, known.line.hasBytes(of: client.line) { return (known.keys, known.issuer) }
    guard let keys = try? PublicIdentity(line: client.line) else { return nil }
    let issuer = datasets.hash(keys.signingKey, as: .signer)
    self.client = (client.line, keys, issuer)
    return (keys, issuer)
  }
}

// MARK: - Topics

extension MessageReader {
  /// - Returns: nil below no base topic.
  mutating func topic(of message: IncomingMessage) -> IntakeTopic? {
    let name = ExactName(message.topic)
    if let known = topics[name] { return known }
    guard let (home, rest) = split(message.topic) else { return nil }
    let topic = IntakeTopic(home: home, rest)
    if case .success = topic.read, message.topic.utf8.count <= Self.topicBytesKept {
      if topics.count >= Self.topicsKept { forgetTopics() }
      topics[name] = topic
    }
    return topic
  }

  /// Half of them, in no order: a login that uses many cannot make all others' be read again each time.
  private mutating func forgetTopics() {
    var isKept = false
    topics = topics.filter { _ in
      isKept.toggle()
      return isKept
    }
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
}
