// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@Suite("A key file that is added", .inTurns, .timeLimit(.minutes(30)))
struct KeysAddFileTests {
  @Test("It is said when it is made; and none is made where a stick is not mounted")
  func made() async throws {
    let installation = try Installation(port: nil)
    try installation.makeStore()
    try await expectFiles(installation, "one")
    let daemon = try await installation.start()
    try await expectFiles(installation, "two")
    #expect(try await daemon.stop() == .exit(0))
    #expect(try await installation.json("keys", "list")["slots"]?.list.count == 5)
  }

  private func expectFiles(_ installation: Installation, _ name: String) async throws {
    let stick = installation.directory.file("stick-\(name)")
    let missing = try await installation.command(
      "keys", "add", "--key-file", "\(stick)/deep/store.key")
    #expect(missing.status == 73, "\(missing.error)")
    #expect(missing.error.contains("\(stick)/deep/store.key") && missing.error.contains("mounted"))
    #expect(!FileManager.default.fileExists(atPath: stick))

    let file = installation.directory.file("\(name).key")
    let made = try await installation.command("keys", "add", "--key-file", file)
    #expect(made.status == 0 && made.output.contains("key file is made: \(file)"), "\(made.error)")
    // What is there already is only added.
    let typed = installation.directory.file("\(name)-typed.key")
    try Data(String(repeating: name == "one" ? "1a" : "2b", count: 32).utf8)
      .write(to: URL(fileURLWithPath: typed))
    chmod(typed, 0o400)
    let added = try await installation.json("keys", "add", "--key-file", typed)
    #expect(added["slot"]?["id"] != nil && added["key_file_made"]?.text == nil)
  }
}
