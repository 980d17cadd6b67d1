// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// Passwords as MQTT takes them: 1 to 65,535 octets (MQTT 5.0, section 3.1.3.6), here of UTF-8
/// without a zero octet.
enum Password {
  static let limit = 65_535

  /// All of standard input but one line end.
  static func fromStandardInput() throws(CommandFailure) -> SecretBytes {
    guard let octets = try StandardInput.read(limit: limit + 2) else { throw tooLong }
    return try checked(withoutLineEnd(octets))
  }

  /// Asks again as long as Enter alone is the answer.
  ///
  /// - Throws: `CancellationError` at the end of the input.
  static func asked(_ question: String) async throws -> SecretBytes {
    guard TerminalPrompt.isPossible else { throw TerminalPrompt.noTerminal }
    while true {
      guard let text = try await TerminalPrompt.ask(question, isHidden: true) else {
        throw CancellationError()
      }
      if !text.isEmpty { return try checked(Array(text.utf8)[...]) }
    }
  }

  static func withoutLineEnd(_ octets: [UInt8]) -> ArraySlice<UInt8> {
    guard octets.last == UInt8(ascii: "\n") else { return octets[...] }
    let line = octets.dropLast()
    return line.last == UInt8(ascii: "\r") ? line.dropLast() : line
  }

  static func checked(_ octets: ArraySlice<UInt8>) throws(CommandFailure) -> SecretBytes {
    guard !octets.isEmpty else { throw CommandFailure(.badInput, "the password is empty") }
    guard octets.count <= limit else { throw tooLong }
    guard !octets.contains(0), String(validating: octets, as: UTF8.self) != nil else {
      throw CommandFailure(.badInput, "the password is not UTF-8, or has a zero octet")
    }
    return SecretBytes(copying: octets)
  }

  private static let tooLong = CommandFailure(
    .badInput, "the password has more than \(limit) octets")
}
