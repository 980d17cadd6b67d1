// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SodiumCrypto
import TestKit
import Testing

/// What an import does about items that are there already.
@Suite struct ImportConflictTests {
  private let file: ExportedFile
  private let (from, to): (TemporaryStore, TemporaryStore)

  init() throws {
    file = try ExportedFile()
    (from, to) = try ExportedFile.stores(["anna", "berta", "carla"])
    var labelled = Sample.password("dora")
    labelled.attributes[.label] = .string("of the export")
    try from.keychain.add(labelled)
    try file.export(from.keychain)
    // The same, another secret, another label and class; carla is new.
    try to.keychain.add(Sample.password("anna"))
    try to.keychain.add(Sample.password("berta", secret: "mine"))
    labelled.attributes[.label] = .string("mine")
    labelled.attributes[.comment] = .string("mine too")
    labelled.accessible = .always
    try to.keychain.add(labelled)
  }

  private func plan(
    _ onConflict: ItemImport.OnConflict, trial: Bool = false,
    _ found: @escaping (ImportConflict) -> Void = { _ in }
  ) -> ItemImport {
    var plan = ItemImport()
    plan.onConflict = onConflict
    plan.isTrial = trial
    plan.found = found
    return plan
  }

  private func secret(_ account: String) throws -> SecretBytes? {
    try to.keychain.first(
      ItemQuery(
        .genericPassword,
        [.account: .string(account), .service: .string("mail"), .accessGroup: .string("own")]))?
      .secret
  }

  @Test func aConflictIsToldByNameAndNothingIsImported() throws {
    let before = try to.keychain.portrait()
    var conflicts: [ImportConflict] = []
    let report = try file.import(to: to.keychain, plan(.refuse) { conflicts.append($0) })
    #expect(!report.isDone && report.conflicts == 2 && report.unchanged == 1 && report.added == 1)
    #expect(
      conflicts == [
        ImportConflict(item: "genp mail berta (own)", differs: ["secret"]),
        ImportConflict(item: "genp mail dora (own)", differs: ["icmt", "labl", "accessible"]),
      ])
    #expect(try to.keychain.portrait() == before)
  }

  @Test func keepLeavesWhatIsHere() throws {
    let report = try file.import(to: to.keychain, plan(.keep))
    #expect(report.isDone && report.kept == 2 && report.added == 1 && report.replaced == 0)
    #expect(try secret("berta") == Sample.secret("mine"))
    #expect(try secret("carla") == Sample.secret("secret"))
    #expect(try to.keychain.verify(.everything) == VerificationReport(items: 4))
  }

  @Test func replaceTakesWhatComes() throws {
    let untouched = try to.keychain.items(ItemQuery())[0]
    let report = try file.import(to: to.keychain, plan(.replace))
    #expect(report.isDone && report.replaced == 2 && report.added == 1 && report.unchanged == 1)
    #expect(try secret("berta") == Sample.secret("secret"))
    // All but the one that was the same is that of the export, dates and all.
    let (mine, theirs) = (try to.keychain.portrait(), try from.keychain.portrait())
    #expect(Set(mine).subtracting(theirs).count == 1 && Set(theirs).subtracting(mine).count == 1)
    #expect(try to.keychain.items(ItemQuery())[0].version == untouched.version)
    #expect(try to.keychain.verify(.everything) == VerificationReport(items: 4))
    // And then all of it is the same.
    #expect(try file.import(to: to.keychain).unchanged == 4)
  }

  @Test func aTrialSaysTheSameAndChangesNothing() throws {
    let before = try to.keychain.portrait()
    for onConflict in ItemImport.OnConflict.allCases {
      let trial = try file.import(to: to.keychain, plan(onConflict, trial: true))
      #expect(!trial.isDone && trial.conflicts == 2 && trial.added == 1)
      #expect(trial.kept == (onConflict == .keep ? 2 : 0))
      #expect(trial.replaced == (onConflict == .replace ? 2 : 0))
      #expect(try to.keychain.portrait() == before)
    }
  }

  @Test func anItemThatIsDamagedHereIsMendedByReplacing() throws {
    try to.reopen {
      try RawStore(to.location.databasePath).run(
        "UPDATE items SET metadata = CAST(substr(metadata, 1, 40) || x'00000000' ||"
          + " substr(metadata, 45) AS BLOB) WHERE id = 1")
    }
    var conflicts: [ImportConflict] = []
    _ = try file.import(to: to.keychain, plan(.refuse) { conflicts.append($0) })
    #expect(
      conflicts.first == ImportConflict(item: "genp mail anna (own)", differs: ["damaged"]))
    let report = try file.import(to: to.keychain, plan(.replace))
    #expect(report.replaced == 3)
    #expect(try secret("anna") == Sample.secret("secret"))
    #expect(to.keychain.quarantine.isEmpty)
    #expect(try to.keychain.verify(.everything) == VerificationReport(items: 4))
  }

  @Test func aCredentialOfAnotherTeamIsAConflict() throws {
    try from.keychain.add(Sample.credential("a1b2c3d4e5f60718", team: "team-a"))
    try to.keychain.add(Sample.credential("a1b2c3d4e5f60718", team: "team-b"))
    try file.export(from.keychain)
    var conflicts: [ImportConflict] = []
    _ = try file.import(to: to.keychain, plan(.refuse) { conflicts.append($0) })
    #expect(
      conflicts.last
        == ImportConflict(
          item: "genp thread-network/home a1b2c3d4e5f60718 (team-a)", differs: ["agrp"]))
  }

  @Test func whileTheIndexIsRenewedItemsOfBothKeysAreFound() throws {
    try file.import(to: to.keychain, plan(.keep))
    // Stopped after its first step.
    _ = try? to.keychain.rotateKeys { _ in false }
    #expect(try to.keychain.rotationIsPending())
    let report = try file.import(to: to.keychain, plan(.keep))
    #expect(report.added == 0 && report.unchanged == 2 && report.kept == 2)
  }

  @Test func anItemThatTheCallerRejectsStopsTheImport() throws {
    var plan = plan(.replace)
    plan.rejectionReason = { $0.attributes[.account]?.string == "carla" ? "is not wanted" : nil }
    do {
      try file.import(to: to.keychain, plan)
      Issue.record("it was imported")
    } catch let error as KeychainError {
      #expect(error.status == .decode && error.message.contains("record 3 is not wanted"))
    }
    #expect(try secret("berta") == Sample.secret("mine"))
  }
}
