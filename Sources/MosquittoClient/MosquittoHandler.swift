// SPDX-License-Identifier: Apache-2.0

/// What a `MosquittoClient` works for.
///
/// Every function is called on the client's own thread, one at a time, and may block: the broker
/// waits. None is called after `run` has returned.
package protocol MosquittoHandler: AnyObject, Sendable {
  /// The broker accepted the connection. The client sends its subscriptions right after this
  /// returns. A kept session (`sessionPresent`) may deliver before they are answered.
  func connected(_ session: MosquittoSession)

  /// The broker has answered every subscription; `refused` lists those it would not grant and that
  /// were not required. A grant proves little: Mosquitto grants every filter and sieves later.
  func subscribed(refused: [SubscriptionRefusal])

  /// Messages in the order of arrival. **When this returns, they must be on disk**: the
  /// acknowledgements leave only then.
  ///
  /// Throwing ends the connection without acknowledging: the broker delivers the same messages
  /// again to the next connection, which is made after a back-off. A message may come twice (a
  /// connection that dies between commit and acknowledgement), so handling must bear repetition.
  func received(_ batch: [IncomingMessage]) throws

  /// The most messages that the handler takes in the next batch, at least 1; never more than
  /// `MosquittoConfiguration.batchMessages`. Asked after `connected` and after each batch. A smaller
  /// batch is acknowledged sooner.
  var batchLimit: Int { get }

  /// Asks for what is to be published, at most `limit`; fewer means that there is no more now, and
  /// the client asks again after `MosquittoClient.wake()`, an acknowledgement or a batch.
  ///
  /// The client keeps no outbox. What was handed over and not acknowledged when a connection ends
  /// is forgotten: the handler offers it again after the next `connected`.
  func publications(upTo limit: Int) -> [Publication]

  /// A publication has been acknowledged by the broker (QoS 1) or written to the socket (QoS 0),
  /// or it was refused.
  func acknowledged(_ token: UInt64, _ outcome: PublicationOutcome)

  /// The session, which another client had taken over, has been this client's own for longer than
  /// `MosquittoConfiguration.Backoff.uncontestedAfter`.
  func sessionRegained()

  /// A connection ended or could not be made. Not called for a stop that was asked for.
  func disconnected(_ event: MosquittoDisconnection)
}

/// A subscription that the broker would not grant.
package struct SubscriptionRefusal: Sendable, Equatable {
  package var filter: String
  package var error: MosquittoError

  package init(filter: String, error: MosquittoError) {
    self.filter = filter
    self.error = error
  }
}

extension MosquittoHandler {
  package var batchLimit: Int { .max }

  /// Nothing: only who has optional subscriptions needs to know.
  package func subscribed(refused: [SubscriptionRefusal]) {}

  package func sessionRegained() {}
}
