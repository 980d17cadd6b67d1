import Foundation
import KeychainCore

/// `make stress`: threads at work on the keychain in every way at once, under the thread sanitizer. Ends
/// with 0 when every answer was one that may come, and the stores are whole afterwards; the sanitizer ends
/// it with 66 after a race.
///
///     keychain-stress [seconds, 10] [threads, 8]
@main enum KeychainStress {
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
    let seconds = arguments.first ?? 10
    let threads = arguments.dropFirst().first ?? 8
    let path = directory()
    defer { try? FileManager.default.removeItem(atPath: path) }
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])

    let journal = Journal()
    let loads: [any Load] = [SecItemLoad(directory: path + "/program"), try KeychainLoad(directory: path + "/core")]
    let end = DispatchTime.now() + .seconds(seconds)
    let group = DispatchGroup()
    for number in 0..<threads {
      group.enter()
      Thread.detachNewThread {
        var random = SystemRandomNumberGenerator()
        while DispatchTime.now() < end { for load in loads { load.step(thread: number, &random, journal) } }
        group.leave()
      }
    }
    group.wait()
    for load in loads { load.finish(journal) }
    print(journal.summary(threads: threads, seconds: seconds))
    guard journal.isClean else { exit(1) }
  }

  /// In memory if possible: that a transaction is durable is no business of this.
  private static func directory() -> String {
    let places = ["/dev/shm", NSTemporaryDirectory()]
    let place = places.first { FileManager.default.isWritableFile(atPath: $0) } ?? "/tmp"
    return place + "/keychain-stress-\(getpid())"
  }
}
