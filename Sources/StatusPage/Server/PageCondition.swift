// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

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

/// Why a server cannot be reached.
enum PageObstacle: Error {
  /// The library that speaks HTTP cannot be loaded: what the loader says.
  case library(String)
  /// The `errno` of what was asked of the system.
  case system(Int32)
}

extension PageCondition.State {
  init(_ obstacle: PageObstacle, at configuration: PageConfiguration) {
    let (address, port) = (configuration.address, configuration.port)
    switch obstacle {
    case .library(let reason):
      self = .unavailable(
        "libmicrohttpd cannot be loaded: \(reason)", remedy: "Run `apt install libmicrohttpd12`.")
    case .system(EADDRINUSE):
      self = .unavailable(
        "port \(port) of \(address) is taken by another program",
        remedy: "Choose another `http.port` and restart, or end that program.")
    case .system(EADDRNOTAVAIL):
      self = .unavailable(
        "this machine has no address \(address)",
        remedy: "Correct `http.address` and restart, or bring the interface up.")
    case .system(EACCES):
      self = .unavailable(
        "the daemon's user may not listen on port \(port)",
        remedy: "Choose an `http.port` of 1024 or above, and restart.")
    case .system(let code):
      self = .unavailable(String(cString: strerror(code)), remedy: "It is tried again.")
    }
  }
}
