import Synchronization
import ThreadkeeperSupport

/// A client of one MQTT broker that never acknowledges what is not on disk.
///
/// ```
///            ┌──────────────── the client's own thread ─────────────────┐
///  broker ──▶│ poll ▸ read until nothing new or the batch is full       │
///            │      ▸ handler.received(batch)      returns: it is kept  │
///  broker ◀──│      ▸ write: acknowledgements, then publications        │
///            └──────────────────────────────────────────────────────────┘
/// ```
/// One thread owns the library's handle and calls the handler on that thread: the order read,
/// commit, acknowledge is the order of its statements. `run` and `stop` are a façade above it, so
/// that a handler that blocks does not block a Swift executor.
///
/// Every connection has a handle of its own. The old one's unsent acknowledgements and messages
/// under way go with it.
package final class MosquittoClient: Sendable {
  private let mailbox: ClientMailbox
  private let thread = Mutex<SystemThread?>(nil)

  /// The handler is held until the client goes.
  package init(_ configuration: MosquittoConfiguration, handler: any MosquittoHandler) {
    mailbox = ClientMailbox(configuration, handler: handler)
  }

  /// One that gets its handler later, by `serve`.
  ///
  /// - Parameter configuration: what CONNECT needs. Subscriptions may be missing still.
  package init(_ configuration: MosquittoConfiguration) { mailbox = ClientMailbox(configuration, handler: nil) }

  /// Connects before `run`, up to the broker's acceptance. What follows waits for `run`: nothing is subscribed,
  /// received, acknowledged, published or tried again until then. A connection that waits for as long as the keep-alive
  /// is made again, since it sends no ping. End it by `run` or `abandon`.
  package func connectEarly() {
    // Where the system has no thread now, `run` tries again.
    thread.withLock { thread in if thread == nil { thread = try? makeThread() } }
  }

  /// The handler, and the configuration with all subscriptions. Before `run`.
  package func serve(_ configuration: MosquittoConfiguration, by handler: any MosquittoHandler) {
    mailbox.serve(configuration, by: handler)
  }

  /// Ends what `connectEarly` has begun, where `run` will not be called; at once where there is nothing. A broker that
  /// is reached gets DISCONNECT, so that it publishes no last will.
  package func abandon() {
    mailbox.requestStop(finalPublications: [])
    let thread = thread.withLock { $0 }
    if mailbox.isAbandoned { thread?.detach() } else { thread?.join() }
  }

  /// Connects, and connects again for ever, until `stop()` or cancellation; then it returns.
  ///
  /// - Throws: `MosquittoError` when the configuration can't work. May be called once.
  package func run() async throws {
    guard mailbox.start() else { throw MosquittoError.runTwice }
    let end = await withTaskCancellationHandler {
      await runLoop()
    } onCancel: {
      stop()
    }
    let thread = thread.withLock { $0 }
    switch end {
    case .stopped: thread?.join()
    // It is in a look-up that nothing can interrupt, or waits for its place, and ends without calling the handler.
    case .abandoned: thread?.detach()
    case .failed(let error):
      thread?.join()
      throw error
    }
  }

  /// There is something to publish: `MosquittoHandler.publications` is asked. From any thread, at
  /// any time; cheap when said often.
  package func wake() { mailbox.signal.raise() }

  /// Ends `run` cleanly: the batch at hand is finished and acknowledged, `finalPublications` are
  /// published, what is under way is waited for (`stopLimit`), then DISCONNECT, so that no last will
  /// is sent. Without a connection nothing is published. Returns at once; from any thread.
  package func stop(finalPublications: [Publication] = []) { mailbox.requestStop(finalPublications: finalPublications) }

  /// Disconnects and connects again at once; also ends a waiting time.
  package func reconnect() { mailbox.requestReconnect(nil) }

  /// Connects again with another configuration, a new password for instance. One that can't work
  /// ends `run` as it would have at its start.
  package func reconfigure(_ configuration: MosquittoConfiguration) { mailbox.requestReconnect(configuration) }

  private func runLoop() async -> ClientMailbox.End {
    await withCheckedContinuation { continuation in
      mailbox.onEnd { continuation.resume(returning: $0) }
      do throws(SystemThreadError) {
        try thread.withLock { thread throws(SystemThreadError) in if thread == nil { thread = try makeThread() } }
      } catch { mailbox.finish(.failed(.system("pthread_create", error.code))) }
    }
  }

  private func makeThread() throws(SystemThreadError) -> SystemThread {
    try SystemThread { [mailbox] in ClientLoop(mailbox: mailbox).run() }
  }
}

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
  /// the client asks again after `MosquittoClient.wake()`, when all are acknowledged, and after a batch or `subscribed`.
  ///
  /// The client keeps no outbox. What was handed over and not acknowledged when a connection ends
  /// is forgotten: the handler offers it again after the next `connected`.
  func publications(upTo limit: Int) -> [Publication]

  /// A publication has been acknowledged by the broker (QoS 1) or written to the socket (QoS 0),
  /// or it was refused.
  func acknowledged(_ publication: SentPublication, _ outcome: PublicationOutcome)

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
}

extension MosquittoHandler {
  package var batchLimit: Int { .max }

  /// Nothing: only who has optional subscriptions needs to know.
  package func subscribed(refused: [SubscriptionRefusal]) {}

  package func sessionRegained() {}
}

/// What the broker said when it accepted the connection.
package struct MosquittoSession: Sendable, Equatable {
  /// False: the broker knows nothing of us. What was queued for an older session is lost.
  package var sessionPresent: Bool
  package var protocolVersion: MosquittoConfiguration.ProtocolVersion
  /// How many unacknowledged publications the broker takes, where it said so.
  var serverReceiveMaximum: UInt16?
  /// How many publications this client will have under way.
  var publishWindow: Int
  /// False: the broker keeps no retained message, and the library clears the flag in silence.
  var isRetainAvailable = true
  /// Largest packet that the broker takes, in bytes, where it said so.
  var maximumPacketSize: UInt32?
  /// Seconds that the broker keeps the session, where it differs from what was asked for.
  package var sessionExpiry: UInt32?
  /// Seconds between pings, where the broker wants it otherwise.
  var serverKeepAlive: UInt16?
  /// The highest quality of service that the broker takes: 2 where it does not say.
  var maximumQoS: UInt8 = 2
  /// Whether filters with `+` and `#` may be subscribed to.
  var areWildcardsAvailable = true
  /// Whether there are shared subscriptions.
  var areSharesAvailable = true
}

/// A connection that ended, or could not be made.
package struct MosquittoDisconnection: Sendable {
  /// Why, in words that say what to do.
  package var error: MosquittoError
  /// True when the broker had accepted the connection.
  package var wasConnected: Bool
  /// How many connections in a row have failed or were short-lived, this one included.
  package var failures: Int
  /// From the loss to the next attempt; nil when there will be none and `run` throws `error`.
  package var retryDelay: Duration?
  /// What the handler threw, when it was the handler that ended it.
  package var cause: (any Error)?

  package var isFatal: Bool { retryDelay == nil }
}
