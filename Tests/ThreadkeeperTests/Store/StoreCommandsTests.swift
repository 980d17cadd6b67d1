import DaemonTestKit
import Foundation
import KeychainCore
import SodiumCrypto
import TestKit
import Testing

@testable import Threadkeeper

@Suite("What commands print of stores and settings, and how they end") struct StoreCommandsTests {
  @Test("What cannot be read is named, listed nowhere without a warning, and given up on demand") func damage()
    async throws
  {
    let place = try MovedStore()
    try place.fill()
    _ = try place.damageLastRecord("state")
    let scene = try CommandScene(store: place.store)
    try await scene.check(
      "damage.txt",
      [
        "store verify", "credentials list", "consent list --grants", "store forget-damaged",
        "store forget-damaged --yes --home home", "store forget-damaged --yes", "store verify", "credentials list",
      ])
  }

  @Test("A backup is refused with a reason, or put in place with a list of who has access") func restore() async throws
  {
    let place = try MovedStore()
    try place.fill()
    let scene = try CommandScene(store: place.store)
    let file = "\(scene.store.path)/store.tkbackup"
    _ = try place.keychain.backup(to: file)
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
    try Data(bytes.dropLast()).write(to: URL(fileURLWithPath: file + "-cut"))
    bytes[bytes.count / 2] ^= 1
    try Data(bytes).write(to: URL(fileURLWithPath: file + "-altered"))
    // In another place than that of the scene.
    let restore = "store restore --state-directory \(scene.store.path)/new"
    let opened = "\(restore) --key-file \(scene.store.keyFilePath)"
    try scene.put("{}", "threadkeeper.yaml")
    try await scene.check(
      "restore.txt",
      [
        "\(opened) \(file)-altered", "\(opened) \(file)-cut", "\(opened) \(scene.configuration)",
        "\(opened) \(file)-none", "\(restore) \(file)", "\(restore) --key-file \(scene.configuration) \(file)",
      ])
    let left = try? FileManager.default.subpathsOfDirectory(atPath: "\(scene.store.path)/new")
    #expect(!(left ?? []).contains { $0.contains("sqlite3") }, "\(left ?? [])")
    try await scene.check(
      "restored.txt",
      [
        "\(opened) \(file)", "\(opened) \(file)", "\(restore) --yes \(file)",
        "store restore --in-place --state-directory \(scene.store.path)/new", "store restore --in-place \(file)",
        "store restore",
      ])
  }

  @Test("Who names a passphrase means it: with another one nothing else is tried") func namedPassphrase() async throws {
    var options = KeychainOptions()
    options.passwordHash = .floor
    let right = "correct horse battery"
    let store = try TemporaryStore(options: options, slots: [.passphrase(SecretBytes(copying: Array(right.utf8)))])
    let scene = try CommandScene(store: store)
    let file = "\(store.path)/store.tkbackup"
    _ = try store.keychain.backup(to: file)
    try scene.put(
      "store: {path: new/store, key_file: \(store.keyFilePath), passphrase: !secret passphrase}", "threadkeeper.yaml")
    for (passphrase, status) in [("corect horse battery", Int32(77)), (right, 0)] {
      try scene.put(passphrase, "passphrase")
      let outcome = await scene.run("store restore \(file)")
      #expect(outcome.status == status, "\(outcome)")
      #expect(outcome.error.contains("mistyped") == (status != 0), "\(outcome)")
      #expect(!(outcome.output + outcome.error).contains(passphrase))
    }
  }

  @Test("Settings with mistakes are named as one, each with its place, and no command uses them") func settings()
    async throws
  {
    let scene = try CommandScene()
    try await scene.check("settings.txt", ["check-config"])
    try scene.put(
      """
      mqtt:
        host: broker.local
        port: 99999
        prot: 5
        password: Sesame-9c1d
      alerts:
        hold: soon
      nonsense: 1
      """, "threadkeeper.yaml")
    try await scene.check("mistakes.txt", ["check-config", "check-config --json", "status"])
  }
}
