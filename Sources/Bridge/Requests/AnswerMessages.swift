import Broker
import Home
import HomeStore
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
