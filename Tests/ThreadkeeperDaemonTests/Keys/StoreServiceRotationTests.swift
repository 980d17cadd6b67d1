// SPDX-License-Identifier: Apache-2.0

import DaemonTestKit
import Foundation
import KeychainCore
import Logging
import SQLiteDatabase
import Settings
import SodiumCrypto
import Synchronization
import TestKit
import Testing

@testable import ThreadkeeperDaemon

@Suite("What the daemon does about a rotation of its keys", .timeLimit(.minutes(30)))
struct StoreServiceRotationTests {
  private let place: GuardedStore
  private let service: StoreService
  private var disk: FaultyDisk { place.disk }
  private var keychain: Keychain { place.keychain }

  init() throws {
    place = try GuardedStore()
    service = StoreService(
      MovedStore.settings(place.store), keychain: place.keychain,
      logger: Logger(label: "test"))
  }

  private var rotation: StoreReport.Rotation { service.rotation.withLock { $0.report } }

  /// The keys that the items stand under, the one that is always at hand first.
  private func classKeys() throws -> [Int64] {
    try keychain.database.read {
      try $0.all("SELECT class_key FROM items ORDER BY id") { $0.integer(0) }
    }
  }

  @Test("Who unlocks the store when a rotation has left out what was locked has it renewed too")
  func wantedAgain() async throws {
    keychain.lock()
    let before = try classKeys()
    let (report, writer) = (Holder(), Holder())
    defer {
      report.letGo()
      writer.letGo()
    }
    // The rotation stands still where it wants to say how far it is.
    service.rotation.withLock { $0.report.running = true }
    try await report.start { [service] wait in service.rotation.withLock { _ in wait() } }
    service.rotating.async { [service] in service.rotate(for: nil, beginning: true) }
    try await eventually("the open item to be renewed") { try classKeys()[0] != before[0] }
    #expect(try classKeys()[1] == before[1])
    try keychain.unlock(with: GuardedStore.passphrase)
    // Then at its last step, for which it must write.
    try await writer.start { [keychain] wait in try? keychain.database.write { _ in wait() } }
    report.letGo()
    service.goOnRotating()
    #expect(service.rotation.withLock { $0.report.running && $0.isWantedAgain })
    writer.letGo()
    try await eventually("the rotation to end") { !rotation.running }
    #expect(rotation.finished && rotation.locked == 0 && rotation.renewed == 2, "\(rotation)")
    #expect(try classKeys()[1] != before[1])
    #expect(try !keychain.rotationIsOwed() && !keychain.rotationIsPending())
    #expect(try keychain.verify(.everything) == VerificationReport(items: 2))
  }

  @Test("New keys wanted while items that were locked are renewed are made afterwards")
  func newKeysAfterLeftovers() async throws {
    keychain.lock()
    #expect(try keychain.rotateKeys().locked == 1)
    try keychain.unlock(with: GuardedStore.passphrase)
    let before = try classKeys()
    let writer = Holder()
    defer { writer.letGo() }
    // What is owed stands still before its first step, for which it must write.
    try await writer.start { [keychain] wait in try? keychain.database.write { _ in wait() } }
    service.goOnRotating()
    service.beginRotation(for: "somebody", .newKeys)
    #expect(rotation.running && rotation.queued == true)
    writer.letGo()
    try await eventually("the rotation to end") { !rotation.running }
    #expect(rotation.finished && !rotation.resumed && rotation.queued == nil, "\(rotation)")
    #expect(rotation.renewed == 2 && rotation.items == 2, "\(rotation)")
    #expect(try zip(before, classKeys()).allSatisfy { $0 < $1 })
    var begun: [String] = []
    try keychain.forEachAuditRecord { record in
      begun += record.lines.filter { $0.action == .rotationBegun }.map { _ in record.actor }
    }
    #expect(begun == ["a test", "somebody"])
  }

  @Test(
    "A step that fails is told with its status, and the rotation goes on when it is asked again")
  func failingStep() async throws {
    #expect(try !keychain.rotateKeys { _ in false }.isFinished)
    disk.arm(.full(at: 1))
    service.goOnRotating()
    try await eventually("the rotation to fail") { !rotation.running }
    #expect(disk.hasFired)
    let failure = try #require(rotation.failure)
    #expect(failure.status == .inputOutput && !rotation.finished, "\(failure)")
    disk.repair()
    #expect(try keychain.rotationIsPending())
    service.goOnRotating()
    try await eventually("the rotation to end") { !rotation.running }
    #expect(rotation.finished && rotation.failure == nil, "\(rotation)")
    #expect(try !keychain.rotationIsPending())
    #expect(try keychain.verify(.everything) == VerificationReport(items: 2))
  }
}
