// SPDX-License-Identifier: Apache-2.0

/// Where a threadkeeper that serves the whole machine has its files.
///
/// `$THREADKEEPER_SYSTEM_ROOT` stands for `/` in all of them, as `--root` does in other tools: for
/// tests, and for images that are prepared. It gives nobody more than `$THREADKEEPER_STATE_DIRECTORY`
/// and `$THREADKEEPER_SOCKET` do: each process decides for itself where it looks.
package struct SystemPlaces: Sendable {
  package static let rootVariable = "THREADKEEPER_SYSTEM_ROOT"

  /// Without a slash at its end; empty for `/`.
  private let root: String

  /// - Parameter environment: a root that is not absolute is ignored.
  package init(environment: [String: String]) {
    let named = environment[Self.rootVariable] ?? ""
    let path = named.hasPrefix("/") ? FilePath.absolute(named, in: "/", home: nil) : nil
    root = path == "/" ? "" : path ?? ""
  }

  /// The state of a daemon that root or a service's user runs.
  package var stateDirectory: String { root + "/var/lib/threadkeeper" }
  /// Where that daemon listens for programs of other users, if its settings say so.
  package var clientSocket: String { root + "/run/threadkeeper/client.sock" }
  /// Where members of that daemon's group look.
  package var readersSocket: String { root + "/run/threadkeeper/readers.sock" }
  package var configuration: String { root + "/etc/threadkeeper/threadkeeper.yaml" }

  /// Whether a path lies below the root. Without a root every path does.
  package func contains(_ path: String) -> Bool {
    root.isEmpty || FilePath.isInside(path, root)
  }
}
