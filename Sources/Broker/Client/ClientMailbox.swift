// SPDX-License-Identifier: Apache-2.0

import Synchronization
import ThreadkeeperSupport

/// What other threads want of the client's thread, and how the thread tells that it is done.
final class ClientMailbox: Sendable {
  struct StopRequest {
    var finalPublications: [Publication]
  }

  /// How the work of the thread ended.
  enum End: Sendable {
    case stopped
    /// The thread still sits in a look-up; nobody waits for it any more.
    case abandoned
    case failed(MosquittoError)
  }

  private struct State {
    var configuration: MosquittoConfiguration
    var signal = WakeSignal()
    var stop: StopRequest?
    var wantsReconnect = false
    /// True while the thread is inside the library's look-up and TCP connection, which nothing can
    /// interrupt. There is no session then that could be harmed: a stop walks away from the thread.
    var isConnecting = false
    var isAbandoned = false
    var hasStarted = false
    var finish: (@Sendable (End) -> Void)?
  }

  private let state: Mutex<State>

  init(_ configuration: MosquittoConfiguration) {
    state = Mutex(State(configuration: configuration))
  }

  // MARK: From any thread

  var signal: WakeSignal { state.withLock { $0.signal } }

  /// False when it has been started before.
  func start(finish: @escaping @Sendable (End) -> Void) -> Bool {
    state.withLock {
      guard !$0.hasStarted else { return false }
      $0.hasStarted = true
      $0.finish = finish
      return true
    }
  }

  func requestStop(finalPublications: [Publication]) {
    let finish = state.withLock { state -> (@Sendable (End) -> Void)? in
      if state.stop == nil { state.stop = StopRequest(finalPublications: finalPublications) }
      guard state.isConnecting, !state.isAbandoned else { return nil }
      state.isAbandoned = true
      defer { state.finish = nil }
      return state.finish
    }
    finish?(.abandoned)
    signal.raise()
  }

  func requestReconnect(_ configuration: MosquittoConfiguration?) {
    state.withLock {
      if let configuration { $0.configuration = configuration }
      $0.wantsReconnect = true
    }
    signal.raise()
  }

  // MARK: From the client's thread

  /// Makes the signal where the system had no descriptor for it before.
  ///
  /// - Returns: whether there is one.
  func makeSignal() -> Bool {
    state.withLock {
      if $0.signal.descriptor < 0 { $0.signal = WakeSignal() }
      return $0.signal.descriptor >= 0
    }
  }

  var configuration: MosquittoConfiguration { state.withLock { $0.configuration } }
  var stopRequest: StopRequest? { state.withLock { $0.stop } }
  var wantsReconnect: Bool { state.withLock { $0.wantsReconnect } }

  /// Forgets the wish to reconnect: a connection with the newest configuration is about to be made.
  func takeReconnect() -> MosquittoConfiguration {
    state.withLock {
      $0.wantsReconnect = false
      return $0.configuration
    }
  }

  /// False when a stop came first: then the thread must not connect at all.
  func beginConnecting() -> Bool {
    state.withLock {
      guard $0.stop == nil else { return false }
      $0.isConnecting = true
      return true
    }
  }

  /// False when a stop has walked away from the thread: then it must end without a word.
  func endConnecting() -> Bool {
    state.withLock {
      $0.isConnecting = false
      return !$0.isAbandoned
    }
  }

  func finish(_ end: End) {
    let finish = state.withLock { state in
      defer { state.finish = nil }
      return state.finish
    }
    finish?(end)
  }
}
