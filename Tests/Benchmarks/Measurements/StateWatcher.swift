// SPDX-License-Identifier: Apache-2.0

import CBareSubscriber
import Dispatch
import MosquittoClient
import Synchronization

/// Publishes one event and waits for the state that it brings about.
final class StateWatcher: MosquittoHandler {
  private struct State {
    var outbox: [Publication] = []
    var topic = ""
    var name = ""
    var seenAt: Int64 = 0
  }

  private let state = Mutex(State())
  private let isSubscribed = DispatchSemaphore(value: 0)
  private let isSeen = DispatchSemaphore(value: 0)

  func waitForSubscription() throws {
    try wait(isSubscribed, "a subscription")
  }

  /// - Returns: seconds from the publication to the state.
  func announce(_ fleet: Fleet, router: Int, name: String, _ client: MosquittoClient) throws
    -> Double
  {
    let event = Publication(
      topic: "\(DaemonProcess.base)/in/\(Fleet.user)/announce",
      payload: Array(fleet.announcement(router, name: name).utf8))
    state.withLock {
      $0.outbox = [event]
      $0.topic = "\(DaemonProcess.base)/router/\(Fleet.agent(router))"
      $0.name = "\"name\":\"\(name)\""
    }
    let begin = bare_now()
    client.wake()
    try wait(isSeen, "the state of a router")
    return Double(state.withLock { $0.seenAt } - begin) / 1e9
  }

  func connected(_ session: MosquittoSession) {}

  func subscribed(refused: [SubscriptionRefusal]) { isSubscribed.signal() }

  func received(_ batch: [IncomingMessage]) throws {
    let now = bare_now()
    for message in batch {
      let text = String(decoding: message.payload, as: UTF8.self)
      let isIt = state.withLock { state in
        guard message.topic == state.topic, text.contains(state.name) else { return false }
        state.topic = ""
        state.seenAt = now
        return true
      }
      if isIt { isSeen.signal() }
    }
  }

  func publications(upTo limit: Int) -> [Publication] {
    state.withLock { state in
      defer { state.outbox = [] }
      return state.outbox
    }
  }

  func acknowledged(_ token: UInt64, _ outcome: PublicationOutcome) {}

  func disconnected(_ event: MosquittoDisconnection) {
    Progress.say("disconnected: \(event.error)")
  }

  private func wait(_ semaphore: DispatchSemaphore, _ what: String) throws {
    guard semaphore.wait(timeout: .now() + .seconds(30)) == .success else {
      throw ChildProcess.Failure(description: "waited in vain for \(what)")
    }
  }
}
