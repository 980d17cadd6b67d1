// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import ThreadkeeperSupport

/// Turns what the broker delivers into messages. Belongs to one thread.
struct MessageReader {
  /// Bytes of a topic that are repeated in a rejection. Characters would be no limit: one can have
  /// any number of marks.
  private static let topicShown = 400

  let topics: BaseTopics
  /// Whether a user may ask once more. Looked at before the payload is.
  private let judge: (_ user: String, _ command: String) -> RequestLimiter.Verdict
  /// Whether a login may publish one more event. Asked before anything is refused, since a refusal is published and
  /// kept too.
  private let judgeEvent: (_ user: String) -> RequestLimiter.Verdict
  private let decoder = InboundEventDecoder()
  /// The topic that was read last: a router that publishes much does so on one topic.
  private var last: (text: String, read: ReadTopic)?

  private struct ReadTopic {
    let home: String
    /// Whose limit counts, also when the rest of the topic is wrong.
    let publisher: String
    let topic: Result<InboundTopic, Rejection>

    /// Requests have a limit of their own.
    var isRequest: Bool {
      guard case .success(let topic) = topic, case .request = topic.purpose else { return false }
      return true
    }
  }

  init(
    topics: BaseTopics,
    judge: @escaping (_ user: String, _ command: String) -> RequestLimiter.Verdict = { _, _ in
      .allowed
    },
    judgeEvent: @escaping (_ user: String) -> RequestLimiter.Verdict = { _ in .allowed }
  ) {
    self.topics = topics
    self.judgeEvent = judgeEvent
    self.judge = judge
  }

  private mutating func readTopic(_ text: String) -> ReadTopic? {
    if let last, last.text.hasBytes(of: text) { return last.read }
    guard let (home, rest) = topics.split(text) else { return nil }
    let topic = Result { () throws(Rejection) in
      try InboundTopic(rest, belowBaseOf: home.name)
    }
    let read = ReadTopic(
      home: home.name, publisher: InboundTopic.publisher(of: rest), topic: topic)
    last = (text, read)
    return read
  }

  private static func shown(_ topic: String) -> String {
    guard topic.utf8.count > topicShown else { return topic }
    // A character that is cut in two becomes a replacement character.
    return String(decoding: topic.utf8.prefix(topicShown), as: UTF8.self)
  }

  mutating func read(_ message: IncomingMessage) -> InboundMessage {
    guard let read = readTopic(message.topic) else { return .skipped }
    // A retained topic is cleared, as the daemon asks for.
    if message.isRetained, message.payload.isEmpty { return .skipped }
    var origin = InboundMessage.Origin(
      home: read.home, user: try? read.topic.get().user, topic: Self.shown(message.topic))
    if let user = origin.user, !message.isRetained {
      origin.answer = ReplyTopic(asked: message, user: user, base: topics.base(of: read.home))
    }
    do throws(Rejection) {
      if message.isRetained || !read.isRequest {
        switch judgeEvent(read.publisher) {
        case .allowed: break
        case .refused: throw Rejection.tooManyEvents
        case .ignored: return .dropped
        }
      }
      guard !message.isRetained else { throw Rejection.retained }
      let topic = try read.topic.get()
      switch topic.purpose {
      case .probe: return .skipped
      case .request(let command):
        return readRequest(message, command, of: topic.user, origin)
      case .event(let kind):
        return try readEvent(message, kind, of: topic.user, origin)
      }
    } catch {
      return .rejected(error, origin)
    }
  }

  private func readRequest(
    _ message: IncomingMessage, _ command: String, of user: String, _ origin: InboundMessage.Origin
  ) -> InboundMessage {
    let verdict = judge(user, command)
    guard verdict != .ignored else { return .ignored }
    let reader = RequestReader(base: topics.base(of: origin.home), decoder: decoder)
    var request = reader.read(message, command: command, user: user)
    if verdict == .refused { request.fields = .failure(.tooManyRequests) }
    return .request(request, origin)
  }

  private func readEvent(
    _ message: IncomingMessage, _ kind: InboundEventKind, of user: String,
    _ origin: InboundMessage.Origin
  ) throws(Rejection) -> InboundMessage {
    switch try decoder.read(message.payload, as: kind) {
    case .plain(let event): return .event(event, user: user, origin)
    case .sealed(let event):
      guard
        let envelope = UntrustedJSON.value(
          of: "sealed", in: message.payload, depth: InboundLimits.nesting)
      else {
        throw Rejection(EnvelopeRefusal.notAnEnvelope)
      }
      return .sealed(
        .init(event: event, envelope: envelope, topic: message.topic), user: user, origin)
    }
  }
}

extension Rejection {
  fileprivate static let retained = Rejection(
    .retained,
    message: "retained messages are ignored, since they would act again at every start; "
      + "publish it without the retain flag and clear the topic")

  static let tooManyEvents = Rejection(
    .rateLimited,
    message: "this login publishes too many events (setting `limits.events_per_second`); "
      + "slow down, and publish again what is still true")
}
