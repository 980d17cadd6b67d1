// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Whether the server can be reached.
package final class PageCondition: Sendable {
  package enum State: Sendable, Equatable {
    case starting
    case listening(port: Int)
    /// It is tried again. What is wrong, and what to do.
    case unavailable(String, remedy: String)
  }

  private let state = Mutex(State.starting)

  package var current: State { state.withLock { $0 } }

  /// - Returns: whether it was another one before.
  @discardableResult
  func set(_ new: State) -> Bool {
    state.withLock { state in
      defer { state = new }
      return state != new
    }
  }
}

extension PageCondition.State {
  /// Why a server cannot listen.
  init(failure error: any Error, at configuration: PageConfiguration) {
    let (address, port) = (configuration.address, configuration.port)
    switch (error as? IOError)?.errnoCode {
    case EADDRINUSE:
      self = .unavailable(
        "port \(port) of \(address) is taken by another program",
        remedy: "Choose another `http.port` and restart, or end that program.")
    case EADDRNOTAVAIL:
      self = .unavailable(
        "this machine has no address \(address)",
        remedy: "Correct `http.address` and restart, or bring the interface up.")
    case EACCES:
      self = .unavailable(
        "the daemon's user may not listen on port \(port)",
        remedy: "Choose an `http.port` of 1024 or above, and restart.")
    default:
      self = .unavailable("\(error)", remedy: "It is tried again.")
    }
  }
}
