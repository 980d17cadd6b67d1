// SPDX-License-Identifier: Apache-2.0

/// Whether a file is an export, before it is imported.
extension ItemImport {
  /// Bytes.
  package static let headerLength = ExportHeader.length

  /// - Parameters:
  ///   - bytes: the first `headerLength` bytes of the file, or all of them where it has fewer.
  ///   - path: for messages.
  /// - Throws: `decode`, as the import itself does: it is no export, of another format, or its header is damaged.
  package static func checkHeader(_ bytes: [UInt8], path: String) throws(KeychainError) {
    do {
      _ = try ExportHeader(decoding: bytes, path: path)
    } catch let error as KeychainError {
      throw error
    } catch {
      throw KeychainError(.decode, "the header of \(path) cannot be read: \(error)")
    }
  }
}
