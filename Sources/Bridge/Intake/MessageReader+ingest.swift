// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import IngestRules
import MosquittoClient

/// Messages of other publishers, by the rules of the setting `ingest`.
extension MessageReader {
  /// Appends what each rule makes of a message that it matches: an event like one of threadkeeper's own topics, which goes
  /// the same way from here on, or a rejection.
  ///
  /// - Returns: false when no rule matches.
  mutating func readIngested(
    _ message: IncomingMessage, into messages: inout [InboundMessage]
  ) -> Bool {
    // Below a base topic nothing is taken from others; the settings refuse such rules.
    guard !ingest.isEmpty, topics.split(message.topic) == nil,
      var reading = ingest.reading(message.topic, message.payload)
    else { return false }
    guard !message.isRetained else {
      // Others retain what they publish, and MQTT 3.1.1 sends it at every connection: no fault, and no event.
      messages.append(message.payload.isEmpty ? .skipped : .retained)
      return true
    }
    for match in reading.matches {
      messages.append(read(match, of: &reading, message))
    }
    return true
  }

  private func read(
    _ match: IngestReading.Match, of reading: inout IngestReading, _ message: IncomingMessage
  ) -> InboundMessage {
    var origin = InboundMessage.Origin(
      home: match.rule.home, user: nil, topic: Self.shown(message.topic))
    origin.rule = match.rule.name
    do throws(Rejection) {
      let user = try reading.user(of: match)
      origin.user = user
      switch judgeEvent(user) {
      case .allowed: break
      case .refused: throw Rejection.tooManyEvents
      case .ignored: return .dropped
      }
      switch try reading.outcome(of: match) {
      case .event(let event): return .event(event, user: user, origin)
      case .nothing: return .skipped
      }
    } catch {
      return .rejected(error, origin)
    }
  }
}
