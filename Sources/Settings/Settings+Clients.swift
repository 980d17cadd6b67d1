// SPDX-License-Identifier: Apache-2.0

extension Settings {
  /// A second socket, for programs of other users of this machine. The one in the store's directory
  /// is for the daemon's own user and root.
  package struct Clients: Sendable, Equatable {
    /// Its path; without one there is none.
    package var socket: String?
    /// Number of the group whose members may connect. Without one everybody may, and who is no
    /// client is sent away.
    package var group: UInt32?

    package init() {}
  }
}
