import Dispatch
import Glibc
import ThreadkeeperSupport

// Swift's module of glibc does not have sys/eventfd.h.
@_silgen_name("eventfd") private func eventfd(_ count: UInt32, _ flags: Int32) -> Int32

/// Wakes a thread that waits in poll(2).
final class Wakeup: Sendable {
  /// EFD_CLOEXEC and EFD_NONBLOCK of sys/eventfd.h.
  private static let flags = O_CLOEXEC | O_NONBLOCK

  private let file: Int32

  init() throws(SocketError) {
    file = eventfd(0, Self.flags)
    guard file >= 0 else { throw .system("eventfd", "the connection") }
  }

  deinit { if file >= 0 { close(file) } }

  /// From any thread.
  func wake() {
    var one: UInt64 = 1
    _ = write(file, &one, 8)
  }

  /// Waits for events on a socket, for the next wake-up, or for a moment. For one thread.
  ///
  /// - Parameters:
  ///   - events: of poll(2). Its end, or an error, is always one.
  ///   - deadline: nil: without an end.
  /// - Returns: the events of the socket; nil when the moment has come.
  func wait(for events: Int16, on socket: Int32, until deadline: ContinuousClock.Instant?) -> Int16? {
    var entries = [pollfd(fd: socket, events: events, revents: 0), pollfd(fd: file, events: Int16(POLLIN), revents: 0)]
    while true {
      let left = deadline.map { ContinuousClock.now.duration(to: $0) }
      if let left, left <= .zero { return nil }
      let ready = poll(&entries, 2, left.map(SocketWait.milliseconds) ?? -1)
      guard ready > 0 else { continue }
      if entries[1].revents != 0 {
        var count: UInt64 = 0
        _ = read(file, &count, 8)
      }
      return entries[0].revents
    }
  }
}

/// Waits for a socket, but no longer than until a moment. A limit for each system call would be none: who
/// sends or takes a byte at a time stays below it for ever.
package enum SocketWait {
  /// Returns also when the other side has gone: the next call shows it.
  ///
  /// - Parameters:
  ///   - events: of poll(2).
  ///   - deadline: nil: without an end.
  package static func wait(for events: Int32, on socket: Int32, until deadline: ContinuousClock.Instant?)
    throws(SocketError)
  {
    while true {
      let left = deadline.map { ContinuousClock.now.duration(to: $0) }
      if let left, left <= .zero { throw .timedOut }
      var entry = pollfd(fd: socket, events: Int16(events), revents: 0)
      let ready = poll(&entry, 1, left.map(milliseconds) ?? -1)
      if ready > 0 { return }
      if ready < 0, errno != EINTR { throw .system("poll", "the connection") }
    }
  }

  /// Rounded up, so that it does not turn in a circle at the end.
  static func milliseconds(_ duration: Duration) -> Int32 {
    let (seconds, attoseconds) = duration.components
    guard seconds < 1_000_000 else { return 1_000_000_000 }
    return Int32(seconds * 1_000 + attoseconds / 1_000_000_000_000_000 + 1)
  }
}

// glibc declares it for _GNU_SOURCE only, which Swift's module of it does not set.
@_silgen_name("unshare") private func unshare(_ what: Int32) -> Int32

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
