import Broker
import Home
import HomeStore
import SodiumCrypto
import ThreadDataset
import ThreadRequests
import Wire

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
    var content = SealedOrder()
    (content.agent, content.dataset, content.id) = (order.agent, WireDataset(dataset.bytes), order.messageText)
    var body = content.json()
    defer { wipe(&body) }
    let place = Place(topic: topic, transaction: order.messageText, lifetime: lifetime)
    guard let envelope = try? seal(body, to: order.user, in: home.value, at: place, now: now) else { return nil }
    return WaitingMessage(
      Publication(
        topic: topic, payload: SealedPayload(envelope, WireVersion()).json(), contentType: "application/json"),
      expires: now.adding(seconds: Int(lifetime)),
      order: .init(home: home.name, message: order.message, connection: order.connection))
  }
}
