// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import SodiumCrypto
import TestKit
import Testing

@testable import ThreadkeeperDaemon

@Suite("Export and import in the daemon", .timeLimit(.minutes(30)))
struct ExportTests {
  @Test("A list of any length comes to the command as it was")
  func list() throws {
    let conflicts = (0..<5_000).map {
      ImportConflict(item: "genp mail \"user\"\n\($0) 🔑 (own)", differs: ["secret", "labl"])
    }
    let router = ImportList.Access(what: .enrolment, name: "router \"\n🔑, home home")
    let list = try ImportList()
    #expect(list.read().lines.isEmpty)
    let daemons = try ImportList(openAs: list.passed)
    try daemons.add(.stayedOut(router))
    try daemons.add(.takenOver(router))
    for conflict in conflicts { try daemons.add(.conflict(conflict)) }
    try daemons.flush()
    let content = list.read()
    #expect(content.unread == 0)
    let read = content.lines
    #expect(read.prefix(2) == [.stayedOut(router), .takenOver(router)])
    #expect(read.dropFirst(2).compactMap(\.conflict) == conflicts)
    #expect(read.count == conflicts.count + 2)
  }

  @Test("A line that names nothing is refused")
  func noLine() throws {
    func line(_ text: String) throws -> ImportList.Line {
      try JSONDecoder().decode(ImportList.Line.self, from: Data(text.utf8))
    }
    let read = try line(#"{"leftOut":{"what":"client_enrolment","name":"hub"}}"#)
    #expect(read == .stayedOut(.init(what: .enrolment, name: "hub")))
    // A newer daemon's.
    let newer = try line(#"{"takenOver":{"what":"client_role","name":"hub"}}"#)
    #expect(newer == .takenOver(.init(what: .unknown, name: "hub")))
    for text in [
      "{}", #"{"leftOut":null}"#, #"{"other":{"what":"client_enrolment","name":"hub"}}"#,
    ] {
      #expect(throws: DecodingError.self) { try line(text) }
    }
  }

  @Test("Lines of a daemon of another version are read as far as they are known, and fail nothing")
  func otherDaemon() throws {
    let list = try ImportList()
    let text = """
      {"item":"genp mail anna (own)","differs":["secret"]}
      {"conflict":{"item":"genp mail berta (own)","differs":["labl"],"removes":["genp mail c (own)"]}}
      {"held":{"what":"client_role","name":"hub"}}
      {"leftOut":{"what":"consent_grant","name":"hub"}}
      no line at all

      """
    let bytes = Array(text.utf8)
    #expect(bytes.withUnsafeBytes { write(list.passed, $0.baseAddress, $0.count) } == bytes.count)
    let content = list.read()
    #expect(content.unread == 2)
    #expect(
      content.lines == [
        .conflict(.init(item: "genp mail anna (own)", differs: ["secret"])),
        .conflict(
          .init(
            item: "genp mail berta (own)", differs: ["labl"], removes: ["genp mail c (own)"])),
        .stayedOut(.init(what: .grant, name: "hub")),
      ])
  }

  private static let earlier = """
    {"storeID":"a","created":"2026-01-01T00:00:00Z","items":3,"added":2,"unchanged":1,"kept":0,"replaced":0,
    "conflicts":0,"notInExport":{},"damagedThere":0,"unknownHomes":[],"imported":true}
    """

  @Test("What a daemon of an earlier version says of an import is understood")
  func earlierDaemon() throws {
    let outcome = try JSONDecoder().decode(ImportOutcome.self, from: Data(Self.earlier.utf8))
    #expect(outcome.imported && outcome.added == 2)
    #expect(outcome.stayedOut.isEmpty && outcome.takenOver.isEmpty && !outcome.replacesKeys)
  }

  @Test("A list that could hold up the daemon, or cannot be written, is refused")
  func noList() throws {
    let directory = try TemporaryDirectory()
    let (fifo, file) = (directory.file("fifo"), directory.file("file"))
    #expect(mkfifo(fifo, 0o600) == 0)
    try Data("theirs".utf8).write(to: URL(fileURLWithPath: file))
    var pair: [Int32] = [-1, -1]
    #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
    let refused = [open(fifo, O_RDWR), open(file, O_RDONLY), open("/dev/null", O_RDWR)] + pair
    defer { for descriptor in refused { close(descriptor) } }
    #expect(refused.allSatisfy { $0 >= 0 })
    for descriptor in refused + [-1] {
      #expect(throws: KeychainError.self) { try ImportList(openAs: descriptor) }
    }
    let written = open(file, O_WRONLY)
    defer { close(written) }
    _ = try ImportList(openAs: written)
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

  @Test("What is asked of the daemon shows no passphrase, and comes as it was")
  func request() throws {
    var request = StoreRequest(
      command: .importItems, secret: StoreSecret(kind: .passphrase, value: "correct horse"))
    request.file = "/media/home.tkexport"
    request.onConflict = .replace
    request.isTrial = true
    #expect(!"\(request)".contains("horse") && !String(reflecting: request).contains("horse"))
    let read = try JSONDecoder().decode(StoreRequest.self, from: Data(try request.bytes))
    #expect(read.command == .importItems && read.onConflict == .replace && read.isTrial == true)
    #expect(read.file == request.file && read.secret?.value == "correct horse")
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
    #expect(ImportedAccess.objection(to: item("keeper-identity")) == nil)
    #expect(ImportedAccess.objection(to: item("keeper-identity", secret: 63)) != nil)
    #expect(ImportedAccess.objection(to: item("keeper-identity", accessible: .always)) != nil)
    #expect(ImportedAccess.objection(to: item("keeper-identity", secret: 1, group: "own")) == nil)
    #expect(ImportedAccess.objection(to: item("thread-consent/grant")) != nil)
    #expect(ImportedAccess.objection(to: item("client-enrolment/villa")) != nil)
    #expect(ImportedAccess.objection(to: item("client-enrolment/villa", group: "own")) == nil)
  }
}
