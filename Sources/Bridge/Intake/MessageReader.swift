// SPDX-License-Identifier: Apache-2.0

import BoundedJSON
import BridgeProtocol
import ConsentLedger
import IngestRules
import MosquittoClient
import SealedEnvelope

/// Turns what the broker delivers into messages. Belongs to one thread.
struct MessageReader {
  /// Bytes of a topic that are repeated in a rejection. Characters would be no limit: one can have
  /// any number of marks.
  private static let topicShown = 400

  let topics: BaseTopics
  let ingest: IngestRules
  /// Whether a user may ask once more. Looked at before the payload is.
  private let judge: (_ user: String, _ command: String) -> RequestLimiter.Verdict
  /// Whether a login may publish one more event. Looked at before the payload is.
  let judgeEvent: (_ user: String) -> RequestLimiter.Verdict
  private let decoder = InboundEventDecoder()
  /// The topic that was read last: a router that publishes much does so on one topic.
  private var last: (text: String, home: String, topic: Result<InboundTopic, Rejection>)?

  init(
    topics: BaseTopics, ingest: IngestRules = IngestRules(),
    judge: @escaping (_ user: String, _ command: String) -> RequestLimiter.Verdict = { _, _ in
      .allowed
    },
    judgeEvent: @escaping (_ user: String) -> RequestLimiter.Verdict = { _ in .allowed }
  ) {
    self.topics = topics
    self.ingest = ingest
    self.judgeEvent = judgeEvent
    self.judge = judge
  }

  private mutating func readTopic(_ text: String) -> (
    home: String, topic: Result<InboundTopic, Rejection>
  )? {
    if let last, last.text.hasBytes(of: text) { return (last.home, last.topic) }
    guard let (home, rest) = topics.split(text) else { return nil }
    let topic = Result { () throws(Rejection) in
      try InboundTopic(rest, belowBaseOf: home.name)
    }
    last = (text, home.name, topic)
    return (home.name, topic)
  }

  static func shown(_ topic: String) -> String {
    guard topic.utf8.count > topicShown else { return topic }
    // A character that is cut in two becomes a replacement character.
    return String(decoding: topic.utf8.prefix(topicShown), as: UTF8.self)
  }

  /// Reads a message of any publisher. One that several rules of `ingest` take is several.
  mutating func read(_ message: IncomingMessage, into messages: inout [InboundMessage]) {
    let own = read(message)
    if case .foreign = own, readIngested(message, into: &messages) { return }
    messages.append(own)
  }

  /// Reads a message on threadkeeper's own topics.
  mutating func read(_ message: IncomingMessage) -> InboundMessage {
    guard let (home, topic) = readTopic(message.topic) else { return .foreign }
    // A retained topic is cleared, as the daemon asks for.
    if message.isRetained, message.payload.isEmpty { return .foreign }
    var origin = InboundMessage.Origin(
      home: home, user: try? topic.get().user, topic: Self.shown(message.topic))
    if let user = origin.user, !message.isRetained {
      origin.answer = ReplyTopic(asked: message, user: user, base: topics.base(of: home))
    }
    do throws(Rejection) {
      guard !message.isRetained else {
        throw Rejection(
          .retained,
          message: "retained messages are ignored, since they would act again at every start; "
            + "publish it without the retain flag and clear the topic")
      }
      let topic = try topic.get()
      switch topic.purpose {
      case .request(let command):
        let verdict = judge(topic.user, command)
        guard verdict != .ignored else { return .ignored }
        let reader = RequestReader(base: topics.base(of: home), decoder: decoder)
        var request = reader.read(message, command: command, user: topic.user)
        if verdict == .refused { request.fields = .failure(.tooManyRequests) }
        return .request(request, origin)
      case .event(let kind):
        switch judgeEvent(topic.user) {
        case .allowed: break
        case .refused: throw Rejection.tooManyEvents
        case .ignored: return .dropped
        }
        switch try decoder.read(message.payload, as: kind) {
        case .plain(let event): return .event(event, user: topic.user, origin)
        case .sealed(let event):
          guard
            let envelope = UntrustedJSON.value(
              of: "sealed", in: message.payload, depth: InboundLimits.nesting)
          else {
            throw Rejection(EnvelopeRefusal.notAnEnvelope)
          }
          return .sealed(
            .init(event: event, envelope: envelope, topic: message.topic), user: topic.user, origin)
        }
      }
    } catch {
      return .rejected(error, origin)
    }
  }
}

extension Rejection {
  static let tooManyEvents = Rejection(
    .rateLimited,
    message: "this login publishes too many events (setting `limits.events_per_second`); "
      + "slow down, and publish again what is still true")
}
