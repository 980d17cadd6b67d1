import FoundationEssentials
import Glibc
import Logging
import ServiceLifecycle
import ThreadkeeperSupport

/// Lets the kernel have the memory back that only the start needed, once the daemon has come to rest.
///
/// A start runs through most of the program's code, an idle daemon through a tenth of it. The kernel keeps mapped code
/// longer than any other copy of a file, on a small machine at the cost of what is in use.
struct StartMemory: Service {
  /// Connecting, reading what the broker has retained and checking the store are usually over by then.
  static let settled = Duration.seconds(5)

  let logger: Logger

  func run() async throws {
    do { try await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.settled) } } catch { return }
    do {
      let bytes = try ProgramCode.unmap()
      logger.debug("unmapped the program's code", metadata: ["KiB": "\(bytes / 1024)"])
    } catch { logger.debug("the program's code stays mapped", metadata: ["reason": "\(error)"]) }
    try? await gracefulShutdown()
  }
}

/// The code of the program and its libraries, as the kernel has mapped it from their files.
enum ProgramCode {
  /// Takes all of it out of this process's memory. What runs next is mapped from the kernel's copy of the file, 64 KiB
  /// at a time.
  ///
  /// - Returns: the bytes that are mapped, whether they were in memory or not.
  /// - Throws: why the mappings can't be read, or what madvise(2) refused with.
  static func unmap() throws -> Int {
    guard let maps = KernelFile.text("/proc/self/smaps") else { throw POSIXError(.EIO) }
    let segments = segments(in: maps)
    for segment in segments {
      let start = UnsafeMutableRawPointer(bitPattern: segment.lowerBound)
      guard madvise(start, segment.count, MADV_DONTNEED) == 0 else {
        throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EINVAL)
      }
    }
    return segments.reduce(0) { $0 + $1.count }
  }

  /// The addresses of what is executable, not writable, of a file, and as it is in the file: a page that somebody has
  /// written to, such as a tool that patches code, would be lost.
  ///
  /// - Parameter maps: proc_pid_smaps(5): for each mapping a line such as
  ///   `55f0a000-55f0c000 r-xp 00001000 fd:00 1234   /usr/bin/threadkeeper`, and after it lines such as
  ///   `Anonymous:             0 kB`.
  static func segments(in maps: String) -> [Range<UInt>] {
    var found: [Range<UInt>] = []
    var candidate: Range<UInt>?
    for line in maps.split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.first == "Anonymous:" {
        if let candidate, words.count > 1, words[1] == "0" { found.append(candidate) }
        candidate = nil
      } else if words.count >= 6, words[1] == "r-xp", words[5].hasPrefix("/") {
        let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        candidate = ends.count == 2 && ends[0] < ends[1] ? ends[0]..<ends[1] : nil
      } else if words.first?.last != ":" {
        candidate = nil
      }
    }
    return found
  }
}
