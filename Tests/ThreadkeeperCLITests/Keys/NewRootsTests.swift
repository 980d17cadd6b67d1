// SPDX-License-Identifier: Apache-2.0

import DaemonTestKit
import KeychainCore
import SodiumCrypto
import TestKit
import Testing

@testable import ThreadkeeperCLI
@testable import ThreadkeeperDaemon

@Suite("What is said of new root keys", .timeLimit(.minutes(30)))
struct NewRootsTests {
  @Test("When the disk fills up after they have come, what came with them is told with the failure")
  func fullDisk() async throws {
    var told = 0
    for number in 1...200 {
      let disk = FaultyDisk()
      var options = KeychainOptions()
      options.passwordHash = .floor
      options.vfs = disk.name
      let store = try TemporaryStore(options: options)
      let keychain = store.keychain
      try keychain.database.write { tx in
        _ = try keychain.add(
          NewItem(
            .genericPassword, attributes: [.account: .string("anna")],
            secret: SecretBytes(copying: Array("secret".utf8)), accessible: .always), in: tx)
      }
      try keychain.addKeySlot(.keyFile(path: store.path + "/spare.key"), label: "spare")
      let watch = RotationWatch()
      let here = RotationHere(
        keychain: keychain, client: StoreClient(settings: MovedStore.settings(store)), watch: watch)
      disk.arm(.full(at: number))
      var failure: CommandFailure?
      do {
        _ = try await here.run(
          KeysMethods.Rotation(
            roots: [StoreSecret(kind: .keyFile, value: store.keyFilePath)], isConfirmed: true))
      } catch {
        failure = watch.tellRoots(before: error) as? CommandFailure
      }
      let hasFired = disk.hasFired
      disk.repair()
      let isGone = try keychain.slots().count == 1
      #expect(
        isGone == watch.wordsOfRoots.contains("Key slot 2 (key_file spare) is removed.\n"),
        "write \(number): \(watch.wordsOfRoots), \(String(describing: failure))")
      #expect(hasFired || isGone && failure == nil)
      guard hasFired else { break }
      let (status, remedy) = (failure?.status, failure?.remedy)
      guard isGone, status != nil else { continue }
      told += 1
      #expect(status == .inputOutput && remedy?.contains("`threadkeeper keys rotate`") == true)
      #expect(watch.wordsOfRoots.hasPrefix("The root keys of the store are new.\n"))
    }
    #expect(told > 0)
  }

  @Test("A failure before they have come is told as it is, and so is one of another rotation")
  func nothingDone() {
    let watch = RotationWatch()
    let failure = CommandFailure(.inputOutput, "the disk is full")
    #expect(watch.tellRoots(before: failure) as? CommandFailure == failure)
    watch.show(.init(running: true), by: .daemon)
    #expect(watch.tellRoots(before: failure) as? CommandFailure == failure)
  }

  @Test(
    "Who stops it is told what came with them, and before that what may have",
    arguments: [
      RotationWatch.Worker.daemon, .command,
    ])
  func stopped(worker: RotationWatch.Worker) {
    let watch = RotationWatch()
    #expect(watch.wordsOfStop == "Nothing is rotated.")
    watch.askFor(newRoots: true)
    #expect(watch.wordsOfStop.contains("may renew the root keys all the same"))
    watch.note(newRoots: StoreReport(deleted: 3))
    var rotation = StoreReport.Rotation(running: true)
    (rotation.renewed, rotation.items) = (1, 2)
    watch.show(rotation, by: worker)
    #expect(
      watch.wordsOfStop.hasPrefix(
        """
        The root keys of the store are new.
        3 items of a device that is gone are deleted.
        The daemon goes on with the rotation
        """), "\(watch.wordsOfStop)")
    #expect(watch.wordsOfStop.hasSuffix("1 of 2 items have new keys so far."))
  }
}
