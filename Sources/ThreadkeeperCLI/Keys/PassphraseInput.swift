// SPDX-License-Identifier: Apache-2.0

import Glibc
import Settings
import ThreadkeeperDaemon

/// A passphrase from a file or from standard input; never from the command line.
enum PassphraseInput {
  private static let limit = 4_096

  static let noTerminal = CommandFailure(
    .usage, "there is no terminal to ask for the passphrase on",
    remedy: "give it with --passphrase-file")

  /// A new one.
  static func checked(_ text: String) throws(CommandFailure) -> SecretText {
    try StoreSecret(kind: .passphrase, value: text).checkAsNew()
    return SecretText(text)
  }

  /// - Parameter name: what it is, for errors.
  static func read(
    _ path: String, isNew: Bool = true, as name: String = "passphrase"
  ) throws(CommandFailure) -> SecretText {
    let bytes = try path == "-" ? StandardInput.read(limit: limit) : file(path)
    guard let bytes else { throw CommandFailure(.badInput, "the \(name) is too long") }
    let line = bytes.prefix { $0 != 0x0A && $0 != 0x0D }
    guard let text = String(validating: line, as: UTF8.self), !text.isEmpty else {
      throw CommandFailure(.badInput, "the first line is empty, or is not UTF-8")
    }
    return isNew ? try checked(text) : SecretText(text)
  }

  private static func file(_ path: String) throws(CommandFailure) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw CommandFailure(.noInput, "can't read \(path): \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & 0o007 == 0 else {
      throw CommandFailure(
        .notPermitted, "\(path) is open to every user of this machine", remedy: "chmod 600 \(path)")
    }
    var bytes = [UInt8](repeating: 0, count: limit + 1)
    let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
    guard count >= 0 else { throw CommandFailure(.inputOutput, "can't read \(path)") }
    return count > limit ? nil : Array(bytes.prefix(count))
  }
}
