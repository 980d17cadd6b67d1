import Foundation
import TestKit
import Testing

@testable import KeychainCore

@Suite struct PassphraseFileTests {
  private let home: TemporaryDirectory
  private var path: String { home.file("passphrase") }

  init() throws { home = try TemporaryDirectory() }

  private func write(_ text: String, mode: mode_t = 0o600) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    chmod(path, mode)
  }

  @Test(arguments: ["correct horse", "correct horse\nmore\n", "correct horse\r\n"]) func thePassphraseIsTheFirstLine(
    _ text: String
  ) throws {
    try write(text)
    #expect(try PassphraseFile.read(path) == Sample.secret("correct horse"))
  }

  @Test func aLineIsTakenWholeOrNotAtAll() throws {
    let longest = String(repeating: "x", count: 4095)
    for end in ["", "\n", "\nmore"] {
      try write(longest + end)
      #expect(try PassphraseFile.read(path) == Sample.secret(longest))
    }
    try write(longest + "xx\n")
    refuses(.authFailed) { try PassphraseFile.read(path) }
  }

  @Test func whatIsNoPassphraseIsRefused() throws {
    refuses(.authFailed) { try PassphraseFile.read(path) }
    try write("\nsecond line")
    refuses(.authFailed) { try PassphraseFile.read(path) }
    try write("correct horse", mode: 0o640)
    refuses(.notAvailable) { try PassphraseFile.read(path) }
    refuses(.notAvailable) { try PassphraseFile.read(home.path) }
    try FileManager.default.createSymbolicLink(atPath: home.file("link"), withDestinationPath: path)
    refuses(.notAvailable) { try PassphraseFile.read(home.file("link")) }
    // Nobody writes to it, and nobody waits.
    #expect(mkfifo(home.file("pipe"), 0o600) == 0)
    refuses(.notAvailable) { try PassphraseFile.read(home.file("pipe")) }
  }
}
