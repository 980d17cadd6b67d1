// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The open files that a running daemon needs.
///
/// Without them Dispatch cannot receive signals, so that SIGTERM would be ignored, or traps; and of store, broker and
/// sockets some work and some do not. So the limit is checked before anything is opened.
package enum OpenFiles {
  /// Files that can be opened at the start. An idle daemon with a private broker has about 30 open; the others are for
  /// connections of commands and programs, for datagrams of the resolver, and for files that are written now and then.
  static let needed = 48

  /// - Throws: `system` when the limit of this process (`RLIMIT_NOFILE`) is too low.
  package static func check() throws(CommandFailure) {
    var opened: [Int32] = []
    defer { for descriptor in opened { close(descriptor) } }
    while opened.count < needed {
      let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      guard descriptor >= 0 else {
        // Where the whole system has none left at the moment, the daemon tries again later.
        guard errno == EMFILE else { return }
        throw CommandFailure(
          .system, "this process may open \(opened.count) more files, and needs \(needed)",
          remedy: "Raise the limit: `ulimit -n 1024`, or `LimitNOFILE=1024` in the systemd unit.")
      }
      opened.append(descriptor)
    }
  }
}
