// SPDX-License-Identifier: Apache-2.0

/// Of the form of requests to the daemon and of its answers. Another one is not guessed at.
package enum DaemonRequestVersion {
  package static let current = 1

  package static func check(_ version: Int) throws(CommandFailure) {
    guard version == current else {
      throw CommandFailure(
        .usage, "the running daemon does not know requests of version \(version)",
        remedy: "is it of another version? Start it again")
    }
  }
}
