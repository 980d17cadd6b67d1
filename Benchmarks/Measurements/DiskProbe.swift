import CBareSubscriber
import Foundation

/// What this disk needs to keep the bytes of a small transaction: an append and `fdatasync`, as
/// SQLite does it with its log.
final class DiskProbe {
  private let descriptor: Int32
  private let bytes = [UInt8](repeating: 0x5A, count: 16_384)

  init(path: String) throws {
    descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
  }

  deinit { close(descriptor) }

  /// - Returns: seconds.
  func sync() throws -> Double {
    let begin = bare_now()
    guard write(descriptor, bytes, bytes.count) == bytes.count, fdatasync(descriptor) == 0 else {
      throw POSIXError(.init(rawValue: errno) ?? .EIO)
    }
    return Double(bare_now() - begin) / 1e9
  }
}
