import Broker
import CTestSandbox
import Foundation
import Glibc
import Synchronization

/// Keeps the tests away from the store, the sockets and the home directory of whoever runs them. See
/// CTestSandbox.h: it is set up before the first test runs.
package enum TestSandbox {
  /// What every program that a test starts has in its environment, unless the test says otherwise.
  package static let environment: [String: String] = {
    let own = ProcessInfo.processInfo.environment
    return [
      "DBUS_SYSTEM_BUS_ADDRESS", "HOME", "THREADKEEPER_SYSTEM_ROOT",
      // Where the programs report to as well, when `make sanitize` runs.
      "ASAN_OPTIONS", "TSAN_OPTIONS", profile,
    ].reduce(into: uncounted) { $0[$1] = own[$1] ?? $0[$1] }
  }()

  /// What a program needs in its environment that cannot write where `make test` counts the lines that it runs, as
  /// another user: without a place, and where it cannot write, it complains on its error stream.
  package static let uncounted = [profile: "/dev/null"]
  private static let profile = "LLVM_PROFILE_FILE"

  /// Fails this process at its end if there is something at `path` then that is not there now.
  package static func watch(_ path: String) { test_sandbox_watch(path) }
}

/// A directory of a test's own, mode 0700, that is gone with this object.
package final class TemporaryDirectory: Sendable {
  /// Without a slash at its end.
  package let path: String

  package init() throws {
    let place = FileManager.default.temporaryDirectory.path
    var template = Array("\(place)/threadkeeper-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw CocoaError(.fileWriteUnknown) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of something in it.
  package func file(_ name: String) -> String { path + "/" + name }
}

/// Ports that nobody takes before the test that asked does: below those that the kernel gives to
/// connections and to whoever asks for any, and none twice in a process.
package enum UnusedPort {
  struct NoneLeft: Error {}

  private static let range: Range<UInt16> = 20_000..<30_000
  private static let last = Mutex(UInt16(Int(getpid()) * 97 % range.count))

  package static func next() throws -> UInt16 {
    for _ in range {
      let port = last.withLock { last in
        last = (last + 1) % UInt16(range.count)
        return range.lowerBound + last
      }
      if LoopbackPort.isFree(port) { return port }
    }
    throw NoneLeft()
  }
}
