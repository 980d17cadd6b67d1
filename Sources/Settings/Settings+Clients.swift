// SPDX-License-Identifier: Apache-2.0

extension Settings {
  /// A second socket, for programs of other users of this machine. The one in the store's directory
  /// is for the daemon's own user and root.
  package struct Clients: Sendable, Equatable {
    /// Its path; without one there is none. Everybody may connect, and who is no client is sent away.
    package var socket: String?

    package init() {}
  }
}
