// SPDX-License-Identifier: Apache-2.0

import DaemonTestKit
import KeychainCore
import TestKit
import Testing
import ThreadkeeperDaemon

@testable import ThreadkeeperCLI

@Suite("A rotation in the command itself", .timeLimit(.minutes(30)))
struct RotationHereTests {
  private let place: GuardedStore
  private var disk: FaultyDisk { place.disk }
  private var keychain: Keychain { place.keychain }

  init() throws {
    place = try GuardedStore()
  }

  @Test(
    "Without a keeper: a step that fails ends the command with its status, the next one goes on")
  func failingStepHere() async throws {
    #expect(try !keychain.rotateKeys { _ in false }.isFinished)
    let watch = RotationWatch()
    let here = RotationHere(
      keychain: keychain, client: StoreClient(settings: MovedStore.settings(place.store)),
      watch: watch)
    disk.arm(.full(at: 1))
    var status: ThreadkeeperDaemon.ExitStatus?
    do {
      _ = try await here.run(KeysMethods.Rotation())
    } catch let failure as CommandFailure {
      status = failure.status
    }
    #expect(disk.hasFired && status == .inputOutput)
    disk.repair()
    #expect(try keychain.rotationIsPending())
    _ = try await here.run(KeysMethods.Rotation())
    #expect(watch.rotation.finished && !watch.rotation.running)
    #expect(try keychain.verify(.everything) == VerificationReport(items: 2))
  }

  @Test("Without a keeper: who stops it leaves it at a step, and is told who goes on")
  func stoppedHere() async throws {
    let watch = RotationWatch()
    let here = RotationHere(
      keychain: keychain, client: StoreClient(settings: MovedStore.settings(place.store)),
      watch: watch)
    let holder = Holder()
    defer { holder.letGo() }
    // It stands still before its first step, for which it must write.
    try await holder.start { [keychain] wait in try? keychain.database.write { _ in wait() } }
    let work = Task { try await here.run(KeysMethods.Rotation()) }
    try await eventually("the rotation to be shown") { watch.rotation.running }
    work.cancel()
    holder.letGo()
    await #expect(throws: CancellationError.self) { try await work.value }
    #expect(try keychain.rotationIsPending())
    #expect(watch.wordsOfStop.contains("or the next `keys rotate`"))
    #expect(try keychain.rotateKeys().isFinished)
    #expect(try keychain.verify(.everything) == VerificationReport(items: 2))
  }
}
