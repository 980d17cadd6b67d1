// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import SodiumCrypto
import TestKit
import Testing

/// What is not imported, and in which words that is said.
@Suite struct ExportRefusalTests {
  private let file: ExportedFile
  private let to: TemporaryStore
  private let whole: [UInt8]

  init() throws {
    file = try ExportedFile()
    let from = try TemporaryStore(options: ExportedFile.options())
    to = try TemporaryStore(options: ExportedFile.options())
    try from.keychain.add(Sample.password("anna"))
    // Three chunks.
    for number in 0..<2 {
      try from.keychain.add(
        Sample.password("large \(number)", secret: String(repeating: "x", count: 70_000)))
    }
    try file.export(from.keychain)
    whole = try file.bytes()
  }

  /// The words of the refusal.
  private func refusal(
    _ bytes: [UInt8], passphrase: String = ExportedFile.passphrase
  ) throws -> KeychainError? {
    try file.write(bytes)
    defer {
      #expect((try? to.keychain.items(ItemQuery()).isEmpty) == true)
    }
    do {
      try file.import(to: to.keychain, passphrase: passphrase)
      return nil
    } catch let error as KeychainError {
      #expect(error.message.contains(file.path))
      return error
    }
  }

  private func expect(
    _ bytes: [UInt8], _ status: KeychainStatus, _ words: String,
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    let error = try refusal(bytes)
    #expect(error?.status == status, "\(error as Any)", sourceLocation: location)
    #expect(
      error?.message.contains(words) == true, "\(error as Any)", sourceLocation: location)
  }

  /// With a checksum that fits, as an attacker would make it.
  private func withHeader(_ change: (inout [UInt8]) -> Void) throws -> [UInt8] {
    var bytes = whole
    change(&bytes)
    var sum = [UInt8](repeating: 0, count: 16)
    try sum.withUnsafeMutableBytes { sum in
      try Array(bytes[..<96]).withUnsafeBytes { try BLAKE2b.hash($0, into: sum) }
    }
    bytes.replaceSubrange(96..<112, with: sum)
    return bytes
  }

  @Test func everyByteOfTheHeaderCounts() throws {
    for place in 0..<128 {
      var altered = whole
      altered[place] ^= 1 << (place % 8)
      let error = try refusal(altered)
      switch place {
      case 0..<8: #expect(error?.message.contains("is no export") == true)
      case 8..<12: #expect(error?.message.contains("use the newer program") == true)
      // The proof is what tells a wrong passphrase.
      case 112...: #expect(error?.status == .authFailed, "byte \(place): \(error as Any)")
      default:
        #expect(
          error?.status == .decode && error?.message.contains("header") == true,
          "byte \(place): \(error as Any)")
      }
      #expect(error != nil, "byte \(place) was altered, and nobody noticed")
    }
  }

  @Test func nobodyAltersTheHeaderWithoutThePassphrase() throws {
    // Salt, store, time and stream header, each with a checksum that fits.
    for place in [32, 47, 48, 63, 64, 71, 72, 95] {
      let error = try refusal(try withHeader { $0[place] ^= 1 })
      #expect(error?.status == .authFailed, "byte \(place): \(error as Any)")
    }
  }

  @Test func bytesOfTheBodyCount() throws {
    let end = whole.count
    let chunk = 65_536 + 17
    var places = [128, 129, 144, 145, end - 1, end - 17, end - 18]
    places += [128 + chunk - 1, 128 + chunk, 128 + 2 * chunk - 17, 128 + 2 * chunk]
    places += stride(from: 1_000, to: end, by: 13_007)
    for place in places {
      var altered = whole
      altered[place] ^= 1 << (place % 8)
      let error = try refusal(altered)
      #expect(
        error?.status == .decode && error?.message.contains("is damaged: bytes") == true,
        "byte \(place): \(error as Any)")
    }
  }

  @Test func aFileThatWasCutIsToldWhereverItWas() throws {
    let chunk = 65_536 + 17
    for length in [8, 20, 127] { try expect(Array(whole[..<length]), .decode, "cut off") }
    for length in [0, 4] { try expect(Array(whole[..<length]), .decode, "is no export") }
    for length in [128, 129, 145] { try expect(Array(whole[..<length]), .decode, "cut off") }
    for length in [128 + chunk, 128 + 2 * chunk, 128 + chunk + 5, whole.count - 1] {
      try expect(Array(whole[..<length]), .decode, "cut off")
    }
  }

  @Test func chunksStayInTheirOrderAndTheirFile() throws {
    let chunk = 65_536 + 17
    let (first, second) = (whole[128..<128 + chunk], whole[128 + chunk..<128 + 2 * chunk])
    let rest = whole[(128 + 2 * chunk)...]
    let head = Array(whole[..<128])
    try expect(head + second + first + rest, .decode, "altered")
    try expect(head + first + rest, .decode, "altered")
    try expect(head + first + first + second + rest, .decode, "altered")
    try expect(whole + [0], .decode, "altered")
    // Something after the last chunk, which is itself whole.
    let padding = [UInt8](repeating: 0, count: chunk)
    try expect(whole + padding, .decode, "altered")
  }

  @Test func aWrongPassphraseIsToldAsThat() throws {
    for passphrase in ["", "correct horse battery stapl", ExportedFile.passphrase + " "] {
      #expect(try refusal(whole, passphrase: passphrase)?.status == .authFailed)
    }
  }

  @Test func weakAndHugeParametersAreRefusedBeforeTheyAreUsed() throws {
    func expect(_ operations: UInt32, _ memory: UInt64, _ words: String) throws {
      let bytes = try withHeader { bytes in
        withUnsafeBytes(of: operations.bigEndian) { bytes.replaceSubrange(20..<24, with: $0) }
        withUnsafeBytes(of: memory.bigEndian) { bytes.replaceSubrange(24..<32, with: $0) }
      }
      try self.expect(bytes, .decode, words)
    }
    try expect(1, 64 << 20, "too weak")
    try expect(2, 8_192, "too weak")
    try expect(0, 0, "too weak")
    try expect(.max, 64 << 20, "more than is accepted")
    try expect(2, .max, "more than is accepted")
    try expect(2, 2 << 30, "more than is accepted")
  }

  @Test func whatIsNewerOrNoneOfOursIsSaid() throws {
    var newer = whole
    newer[11] = 2
    try expect(newer, .decode, "format 2, this program knows 1")
    try expect(try withHeader { $0[19] = 9 }, .decode, "in a way (9)")
    try expect(Array("mqtt:\n  host: embedded\n".utf8), .decode, "is no export")
    try expect(
      Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0, count: 5_000), .decode,
      "store restore")
  }
}
