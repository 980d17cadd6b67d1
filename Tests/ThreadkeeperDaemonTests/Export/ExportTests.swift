// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import SodiumCrypto
import TestKit
import Testing

@testable import ThreadkeeperDaemon
@testable import VarlinkSocket

@Suite("Export and import in the daemon", .timeLimit(.minutes(30)))
struct ExportTests {
  @Test("What an import names comes to the command in replies that fit into a message")
  func list() throws {
    let conflicts = (0..<5_000).map {
      ImportConflict(item: "genp mail \"user\"\n\($0) 🔑 (own)", differs: ["secret", "labl"])
    }
    let all =
      [
        ImportedName(client: "router \"\n🔑, home home"),
        ImportedName(consent: String(repeating: "\u{1}", count: 60_000)),
      ] + conflicts.map { ImportedName(conflict: $0) }
    let news = ExchangeNews()
    for name in all { news.add(name) }
    var names: [ImportedName] = []
    var replies = 0
    while let step = news.next() {
      let reply = try VarlinkReply<ExchangeStep>(parameters: step, continues: true).encoded()
      #expect(reply.count <= VarlinkLimits.owner.message)
      names += try #require(VarlinkReply<ExchangeStep>(reading: reply).parameters.names)
      replies += 1
    }
    #expect(names == all)
    #expect(replies > 5)
  }

  @Test("What an exchange comes to is the same after the way over the socket")
  func outcomes() throws {
    var report = ExportReport(store: StoreID.random())
    report.items = 7
    report.notInExport = [.whenUnlockedThisDeviceOnly: 2]
    let step = ExchangeStep(data: Data([0, 255]), exported: ExportOutcome(report))
    let read = try VarlinkReply<ExchangeStep>(
      reading: VarlinkReply<ExchangeStep>(parameters: step, continues: false).encoded()
    ).parameters
    #expect(read.data == step.data)
    #expect(read.exported?.storeID == report.store.description && read.exported?.items == 7)
    #expect(read.exported?.notInExport == ["when_unlocked_this_device_only": 2])
  }

  @Test(
    "Each refusal has its status",
    arguments: [
      (KeychainStatus.authFailed, ThreadkeeperDaemon.ExitStatus.notPermitted),
      (.interactionNotAllowed, .notPermitted),
      (.decode, .badInput), (.readOnly, .badInput), (.dataTooLarge, .badInput),
      (.duplicateItem, .cannotCreate), (.noSuchKeychain, .cannotCreate),
      (.writePermission, .cannotCreate), (.diskFull, .inputOutput), (.io, .inputOutput),
      (.notAvailable, .temporary), (.userCanceled, .temporary), (.param, .usage),
    ])
  func statuses(_ status: KeychainStatus, _ exit: ThreadkeeperDaemon.ExitStatus) {
    let failure = CommandFailure(exchanging: KeychainError(status, "the words"))
    #expect(failure.status == exit && failure.message == "the words")
  }

  @Test("What is asked of the daemon shows no passphrase")
  func request() throws {
    let export = StoreMethods.Export(passphrase: "correct horse", file: "/media/home.tkexport")
    let taken = StoreMethods.Import(passphrase: "correct horse", file: "/media/home.tkexport")
    for text in ["\(export)", String(reflecting: export), "\(taken)", String(reflecting: taken)] {
      #expect(!text.contains("horse"))
    }
    var dumped = ""
    dump(export, to: &dumped)
    dump(taken, to: &dumped)
    #expect(!dumped.contains("horse"))
  }

  @Test("Every class that stays out has a name of its own, for scripts and for people")
  func classes() {
    #expect(Set(Accessibility.allCases.map(\.name)).count == Accessibility.allCases.count)
    for accessible in Accessibility.allCases {
      #expect(accessible.name.hasSuffix("this_device_only") == accessible.isThisDeviceOnly)
    }
  }

  @Test("Keys of a daemon and consents that are none are refused; programs have what they like")
  func access() {
    func item(
      _ service: String, secret: Int = 64, group: String = "threadkeeper.internal",
      accessible: Accessibility = .afterFirstUnlock
    ) -> NewItem {
      NewItem(
        .genericPassword,
        attributes: [.service: .string(service), .accessGroup: .string(group)],
        secret: SecretBytes(copying: [UInt8](repeating: 7, count: secret)), accessible: accessible)
    }
    #expect(ImportedKind.rejectionReason(for: item("keeper-identity")) == nil)
    #expect(ImportedKind.rejectionReason(for: item("keeper-identity", secret: 63)) != nil)
    #expect(ImportedKind.rejectionReason(for: item("keeper-identity", accessible: .always)) != nil)
    #expect(
      ImportedKind.rejectionReason(for: item("keeper-identity", secret: 1, group: "own")) == nil)
    #expect(ImportedKind.rejectionReason(for: item("thread-consent/grant")) != nil)
    #expect(ImportedKind.rejectionReason(for: item("client-enrolment/villa")) != nil)
    #expect(ImportedKind.rejectionReason(for: item("client-enrolment/villa", group: "own")) == nil)
  }
}
