// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto
import TestKit
import Testing

@testable import KeychainCore

@Suite struct KeychainClientTests {
  private func request(_ account: String? = nil, secret: String? = nil) -> ItemRequest {
    var request = ItemRequest(.stored(.genericPassword))
    request.attributes[.service] = .string("mail")
    request.attributes[.account] = account.map { .string($0) }
    request.secret = secret.map { SecretBytes(copying: Array($0.utf8)) }
    return request
  }

  private func client(_ store: TemporaryStore, _ groups: [String] = ["own"]) -> KeychainClient {
    KeychainClient(store.keychain, groups: AccessGroups(groups))
  }

  @Test func aRefusedCallLeavesTheRestOfATransactionAlone() throws {
    let store = try TemporaryStore()
    let client = client(store)
    try store.keychain.write { tx in
      for account in ["a", "b", "c"] { _ = try client.add(request(account), in: tx) }
      var change = ItemRequest()
      change.attributes[.account] = .string("same")
      change.attributes[.label] = .string("changed")
      #expect(throws: KeychainError.self) {
        try client.update(request(), to: change, in: tx)
      }
      #expect(throws: KeychainError.self) { try client.add(request("a"), in: tx) }
      #expect(throws: KeychainError.self) { try client.delete(request("z"), in: tx) }
      _ = try client.add(request("d"), in: tx)
    }
    try store.reopen()
    #expect(store.keychain.condition == .healthy)
    try store.keychain.read { tx in
      var all = request()
      all.limit = .all
      guard case .done(let found) = try self.client(store).search(all, in: tx) else {
        Issue.record("nobody is to be asked")
        return
      }
      #expect(found.map { $0.item[.account]?.string } == ["a", "b", "c", "d"])
      #expect(found.allSatisfy { $0.item[.label] == nil })
    }
  }

  @Test func aDamagedRowIsRemembered() throws {
    let store = try TemporaryStore()
    try store.keychain.write { tx in _ = try client(store).add(request("a"), in: tx) }
    try store.reopen {
      let database = try SQLiteDatabase(
        path: store.location.databasePath, access: .readWrite(create: false))
      defer { database.close() }
      try database.write { tx in
        try tx.execute("UPDATE items SET metadata = zeroblob(length(metadata))")
      }
    }
    #expect(throws: KeychainError.self) {
      try store.keychain.read { tx in try client(store).search(request("a"), in: tx) }
    }
    #expect(store.keychain.quarantine == [1])
  }

  @Test func whoeverComesWhileAPersonIsAskedIsAskedForToo() throws {
    let store = try TemporaryStore()
    let client = client(store)
    func add(_ account: String) throws {
      var item = request(account, secret: "secret")
      item.accessControl = AccessControl(.userPresence)
      try store.keychain.write { tx in _ = try client.add(item, in: tx) }
    }
    try add("a")
    let person = Person { question in
      guard question.demands.count == 1 else { return .refused }
      return .present
    }
    person.onFirstQuestion { try? add("b") }
    var all = request()
    all.limit = .all
    all.shape = .data
    all.prompt = "open the door"
    let found = try KeychainService(client, presence: person).search(all)
    #expect(found.count == 2)
    #expect(found.allSatisfy { $0.secret?.count == 6 })
    #expect(person.prompts == ["open the door", "open the door"])
  }

  @Test func aPersonWhoAgreedToOneCallIsAskedAgainForTheNext() throws {
    let store = try TemporaryStore()
    let client = client(store)
    var item = request("a", secret: "secret")
    item.accessControl = AccessControl(.userPresence)
    try store.keychain.write { tx in _ = try client.add(item, in: tx) }
    let person = Person { _ in .present }
    let services = KeychainService(client, presence: person)
    var wanted = request("a")
    wanted.shape = .data
    for _ in 0..<3 { _ = try services.search(wanted) }
    #expect(person.prompts.count == 3)
    // Without the secret nobody is asked.
    wanted.shape = .attributes
    _ = try services.search(wanted)
    #expect(person.prompts.count == 3)
    #expect(throws: KeychainError.self) {
      try KeychainService(client).search(item.asking(for: .data))
    }
  }
}

extension ItemRequest {
  fileprivate func asking(for shape: ResultShape) -> ItemRequest {
    var copy = self
    copy.shape = shape
    return copy
  }
}

/// Somebody who can be asked.
private final class Person: PresenceProvider {
  private struct State {
    var prompts: [String?] = []
    var first: (() -> Void)?
  }
  private let state = Locked(State())
  private let answer: @Sendable (PresenceQuestion) -> PresenceAnswer

  init(_ answer: @escaping @Sendable (PresenceQuestion) -> PresenceAnswer) { self.answer = answer }

  func onFirstQuestion(_ body: @escaping () -> Void) { state.withLock { $0.first = body } }

  var prompts: [String?] { state.withLock { $0.prompts } }

  func ask(_ question: PresenceQuestion) -> PresenceAnswer {
    let first = state.withLock { state in
      state.prompts.append(question.prompt)
      defer { state.first = nil }
      return state.first
    }
    first?()
    return answer(question)
  }
}
