// SPDX-License-Identifier: Apache-2.0

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
  private let handler: any MosquittoHandler

  /// The handler is held until the client goes.
  package init(_ configuration: MosquittoConfiguration, handler: any MosquittoHandler) {
    mailbox = ClientMailbox(configuration)
    self.handler = handler
  }

  /// Connects, and connects again for ever, until `stop()` or cancellation; then it returns.
  ///
  /// - Throws: `MosquittoError` when the configuration can't work. May be called once.
  package func run() async throws {
    let (thread, end) = await withTaskCancellationHandler {
      await runLoop()
    } onCancel: {
      stop()
    }
    switch end {
    case .stopped: thread?.join()
    // It sits in a look-up that nothing can interrupt, and ends without calling the handler.
    case .abandoned: thread?.detach()
    case .failed(let error):
      thread?.join()
      throw error
    }
  }

  /// There is something to publish: `MosquittoHandler.publications` is asked. From any thread, at
  /// any time; cheap when said often.
  package func wake() {
    mailbox.signal.raise()
  }

  /// Ends `run` cleanly: the batch at hand is finished and acknowledged, `finalPublications` are
  /// published, what is under way is waited for (`stopLimit`), then DISCONNECT, so that no last will
  /// is sent. Without a connection nothing is published. Returns at once; from any thread.
  package func stop(finalPublications: [Publication] = []) {
    mailbox.requestStop(finalPublications: finalPublications)
  }

  /// Disconnects and connects again at once; also ends a waiting time.
  package func reconnect() {
    mailbox.requestReconnect(nil)
  }

  /// Connects again with another configuration, a new password for instance. One that can't work
  /// ends `run` as it would have at its start.
  package func reconfigure(_ configuration: MosquittoConfiguration) {
    mailbox.requestReconnect(configuration)
  }

  private func runLoop() async -> (SystemThread?, ClientMailbox.End) {
    var thread: SystemThread?
    let end = await withCheckedContinuation { continuation in
      guard mailbox.start(finish: { continuation.resume(returning: $0) }) else {
        continuation.resume(returning: .failed(.runTwice))
        return
      }
      do throws(SystemThreadError) {
        thread = try SystemThread { [mailbox, handler] in
          ClientLoop(mailbox: mailbox, handler: handler).run()
        }
      } catch {
        mailbox.finish(.failed(.system("pthread_create", error.code)))
      }
    }
    return (thread, end)
  }
}
