// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainCore
import ThreadkeeperDaemon

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The file of an export, read from the front.
final class ExportFile {
  private let path: String
  private let descriptor: Int32
  private var offset = 0

  /// - Parameters:
  ///   - descriptor: it stays the caller's.
  ///   - path: for messages.
  /// - Throws: `CommandFailure` for what is no ordinary file.
  init(_ descriptor: Int32, path: String) throws(CommandFailure) {
    self.path = path
    self.descriptor = descriptor
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw CommandFailure(exchanging: KeychainError(.param, "\(path) is no ordinary file"))
    }
  }

  /// - Throws: `decode` for what is no export; `io`.
  func checkHeader() throws(KeychainError) {
    try ItemImport.checkHeader(Array(try read(ItemImport.headerLength, at: 0)), path: path)
  }

  /// The next bytes; none at the end.
  func next(_ most: Int) throws(KeychainError) -> Data {
    let bytes = try read(most, at: offset)
    offset += bytes.count
    return bytes
  }

  private func read(_ most: Int, at offset: Int) throws(KeychainError) -> Data {
    var bytes = [UInt8](repeating: 0, count: most)
    var count = -1
    repeat {
      count = pread(descriptor, &bytes, most, off_t(offset))
    } while count < 0 && errno == EINTR
    guard count >= 0 else {
      throw KeychainError(.io, "can't read \(path): \(String(cString: strerror(errno)))")
    }
    return Data(bytes.prefix(count))
  }
}
