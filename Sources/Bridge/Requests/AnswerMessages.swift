import Broker
import Home
import HomeStore
import SodiumCrypto
import ThreadDataset
import ThreadRequests
import Wire

extension SealedExchange {
  /// Bytes of an answer: with its topic and properties it fits into the packets that clients take
  /// (`MosquittoConfiguration.packetLimit`).
  private static let mostBytes = 63_488

  /// An answer as it is published, sealed where it is secret.
  ///
  /// - Parameters:
  ///   - timeout: seconds for which the requester waits for it.
  /// - Returns: with why it was refused, if it was; nil for a requester that waits on a connection.
  package func message(
    _ answer: Result<AnswerData, AnswerFailure>, to requester: Requester, at reply: ReplyAddress, in home: Home,
    timeout: Int = Int(MQTTRequest.timeout), now: WireTime
  ) -> (message: WaitingMessage, refusal: AnswerFailure?)? {
    guard case .topic(let topic, let correlation, let transaction) = reply else { return nil }
    var written: ThreadAnswer
    do throws(AnswerFailure) {
      var data = try answer.get()
      if data.isSecret { data = try sealed(data, to: requester, at: reply, in: home, now: now) }
      written = ThreadAnswer(data, transaction: transaction)
    } catch { written = ThreadAnswer(error, transaction: transaction) }
    // Those are for people at the daemon's own terminal.
    written.error?.help = nil
    written.error?.exit = nil
    var payload = written.json()
    if payload.count > Self.mostBytes {
      written = ThreadAnswer(
        AnswerFailure(.tooLarge, "the answer has more than \(Self.mostBytes) bytes, which no client takes"),
        transaction: transaction)
      payload = written.json()
    }
    let publication = Publication(
      topic: topic, payload: payload, contentType: "application/json", correlationData: correlation)
    return (WaitingMessage(publication, expires: now.adding(seconds: timeout)), written.error)
  }

  private func sealed(_ data: AnswerData, to requester: Requester, at reply: ReplyAddress, in home: Home, now: WireTime)
    throws(AnswerFailure) -> AnswerData
  {
    guard case .login(let user) = requester.identity, let place = Place(reply) else { throw .noKey }
    return AnswerData(sealed: try seal(data.json(), to: user, in: home, at: place, now: now))
  }
}

extension SealedExchange.Place {
  /// Of an answer; nil on a connection.
  init?(_ reply: ReplyAddress) {
    guard case .topic(let topic, _, let transaction) = reply else { return nil }
    self.init(topic: topic, transaction: transaction)
  }
}

extension SealedExchange {
  /// A change of a store, on `out/<user>/dataset/change`. The home repeats it.
  ///
  /// - Returns: nil where nothing can be sealed.
  package func message(_ order: StoreOrder, in home: Home, base: String, now: WireTime) -> WaitingMessage? {
    let topic = OutboundTopic(base: base).changeStore(of: order.user.text)
    var content = SealedOrder()
    (content.id, content.network) = (order.consent.questionText, order.network)
    switch order.change {
    case .delete: content.deletes = true
    case .name(let agent, let address): (content.agent, content.extendedAddress) = (agent, WireHex(address))
    }
    let lifetime = Envelope.requestLifetime
    let place = Place(topic: topic, transaction: content.id, lifetime: lifetime)
    guard let envelope = try? seal(content.json(), to: order.user, in: home, at: place, now: now) else { return nil }
    return WaitingMessage(
      Publication(
        topic: topic, payload: SealedPayload(envelope, WireVersion()).json(), contentType: "application/json"),
      expires: now.adding(seconds: Int(lifetime)))
  }

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
