// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainCore

extension StoreActions {
  package func add(_ request: KeysMethods.Addition) throws -> StoreReport {
    try request.secret.checkAsNew()
    guard let way = try request.secret.ways().first else {
      throw CommandFailure(.usage, "which key is to be added?")
    }
    let newFile = try newKeyFile(way)
    guard try keychain.slotsOpened(by: way).isEmpty else {
      throw CommandFailure(.usage, "the store has a slot that opens with this already")
    }
    var hasWrittenDeviceKey = false
    let slot: KeySlot
    do throws(KeychainError) {
      slot = try keychain.addKeySlot(way, label: request.label ?? "", for: actor) {
        hasWrittenDeviceKey = true
      }
    } catch {
      throw failure(error, newFile: newFile)
    }
    return StoreReport(
      slots: [report(slot, opens: .yes)], keyFileMade: newFile,
      deviceKeyWritten: hasWrittenDeviceKey ? true : nil)
  }

  /// The path of the key file that is to be made; nil where there is one.
  ///
  /// - Throws: `CommandFailure` where its directory is missing: most likely that of a stick which is not mounted,
  ///   and a key on the store's own disk is none of a stick.
  private func newKeyFile(_ way: KeySlotSecret) throws(CommandFailure) -> String? {
    guard case .keyFile(let path) = way, access(path, F_OK) != 0 else { return nil }
    let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    var status = stat()
    guard stat(directory, &status) != 0, errno == ENOENT || errno == ENOTDIR else { return path }
    throw CommandFailure(
      .cannotCreate, "cannot make the key file \(path): \(String(cString: strerror(errno)))",
      remedy: "its directory must be there: is it on a disk that is not mounted?")
  }

  private func failure(_ error: KeychainError, newFile: String?) -> CommandFailure {
    switch error.status {
    case .writePermission where newFile != nil, .noSuchKeychain where newFile != nil:
      CommandFailure(.cannotCreate, error.message)
    default: CommandFailure(error)
    }
  }
}
