// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import SystemThreads

// glibc declares it for _GNU_SOURCE only, which Swift's module of it does not set.
@_silgen_name("unshare")
private func unshare(_ what: Int32) -> Int32

/// Closes open files that somebody else has chosen. A socket that lingers is waited for by whoever closes it
/// last, for as long as its maker likes; but not by a thread that ends.
///
/// So a thread takes copies, by having the table of open files for itself (`CLONE_FILES`, unshare(2)). The
/// files are closed here while it has them, and it ends.
package enum PromptClose {
  /// CLONE_FILES of sched.h.
  private static let filesFlag: Int32 = 0x400

  /// Where the system has no such thread, or forbids it a table (some containers do), this waits.
  package static func close(_ descriptors: [Int32]) {
    guard !descriptors.isEmpty else { return }
    let (copied, closed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let thread = try? SystemThread {
      let isAlone = takeTable()
      copied.signal()
      // All that it may do with that table is to end.
      if isAlone { closed.wait() }
    }
    thread?.detach()
    if thread != nil { copied.wait() }
    for descriptor in descriptors { Glibc.close(descriptor) }
    closed.signal()
  }

  /// Gives the thread that calls a table of open files for itself, with copies. It is for threads that end
  /// at once: theirs are others' files, too.
  ///
  /// - Returns: false where the system forbids it.
  package static func takeTable() -> Bool { unshare(filesFlag) == 0 }
}
