import Broker
import Home
import HomeStore
import SodiumCrypto
import ThreadDataset
import ThreadRequests

extension SealedExchange {
  /// The message of an adoption on `out/<user>/dataset/set`. It is not retained, and worth nothing when the wait is
  /// over.
  ///
  /// - Parameters:
  ///   - dataset: of the preferred network.
  ///   - home: with its name.
  ///   - base: the home's base topic.
  /// - Returns: nil where nothing can be sealed; the clock finds that out, too.
  package func message(
    _ order: AdoptionOrder, _ dataset: OperationalDataset, in home: (name: String, value: Home), base: String,
    now: WireTime
  ) -> WaitingMessage? {
    let left = max(1, (order.deadline.milliseconds - now.milliseconds) / 1_000)
    let lifetime = min(left, Envelope.longestLifetime)
    let topic = OutboundTopic(base: base).setDataset(of: order.user.text)
    // Nothing in it needs an escape.
    var body = Array(#"{"border_agent_id":"\#(order.agent)","dataset":"\#(dataset.hex)","#.utf8)
    body += Array(#""id":"\#(order.messageText)"}"#.utf8)
    defer { wipe(&body) }
    let place = Place(topic: topic, transaction: order.messageText, lifetime: lifetime)
    guard let envelope = try? seal(body, to: order.user, in: home.value, at: place, now: now) else { return nil }
    return WaitingMessage(
      Publication(
        topic: topic, payload: Array(#"{"sealed":"#.utf8) + envelope + Array(#","v":1}"#.utf8),
        contentType: "application/json"), expires: now.adding(seconds: Int(lifetime)),
      order: .init(home: home.name, message: order.message, connection: order.connection))
  }
}
