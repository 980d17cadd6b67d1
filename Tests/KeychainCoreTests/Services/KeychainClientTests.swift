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

  private func client(_ store: TemporaryStore, confirm: (@Sendable (String?) -> Bool?)? = nil) -> KeychainClient {
    KeychainClient(store.keychain, groups: AccessGroups(["own"]), confirm: confirm)
  }

  @Test func aRefusedCallChangesNothing() throws {
    let store = try TemporaryStore()
    let client = client(store)
    for account in ["a", "b", "c"] { _ = try client.add(request(account)) }
    var change = ItemRequest()
    change.attributes[.account] = .string("same")
    change.attributes[.label] = .string("changed")
    #expect(throws: KeychainError.self) { try client.update(request(), to: change) }
    #expect(throws: KeychainError.self) { try client.add(request("a")) }
    #expect(throws: KeychainError.self) { try client.delete(request("z")) }
    _ = try client.add(request("d"))
    try store.reopen()
    #expect(store.keychain.condition == .healthy)
    var all = request()
    all.limit = .all
    let found = try self.client(store).search(all)
    #expect(found.map { $0.item[.account]?.string } == ["a", "b", "c", "d"])
    #expect(found.allSatisfy { $0.item[.label] == nil })
  }

  @Test("A damaged item is neither given nor called not found nor deleted, and remembered") func damagedItem() throws {
    let store = try TemporaryStore()
    for account in ["a", "b"] { _ = try client(store).add(request(account, secret: account)) }
    try store.alter(
      """
      UPDATE items SET metadata = CAST(zeroblob(length(metadata) - 16) || substr(metadata, -16) AS BLOB) WHERE id = 1
      """)
    let client = client(store)
    refuses(.decode) { try client.search(request("a")) }
    // It might be what any search means that has to look at every item.
    var labelled = ItemRequest(.stored(.genericPassword))
    labelled.attributes[.label] = .string("z")
    refuses(.decode) { try client.search(labelled) }
    // The index knows better.
    refuses(.itemNotFound) { try client.search(request("z")) }
    #expect(try client.search(request("b").asking(for: .data))[0].secret?.text == "b")
    var all = request()
    all.limit = .all
    refuses(.decode) { try client.search(all) }
    refuses(.decode) { try client.delete(request("a")) }
    var change = ItemRequest()
    change.secret = Sample.secret("x")
    refuses(.decode) { try client.update(request("a"), to: change) }
    #expect(store.keychain.quarantine == [1])
    #expect(try store.raw().run("SELECT count(*) FROM items") == [[.integer(2)]])
  }

  @Test func whoeverComesWhileAPersonIsAskedIsAskedForToo() throws {
    let store = try TemporaryStore()
    func add(_ account: String) throws {
      var item = request(account, secret: "secret")
      item.accessControl = AccessControl(.userPresence)
      _ = try client(store).add(item)
    }
    try add("a")
    let person = Person()
    person.onFirstQuestion { try? add("b") }
    var all = request()
    all.limit = .all
    all.shape = .data
    all.prompt = "open the door"
    let found = try client(store, confirm: person.ask).search(all)
    #expect(found.count == 2)
    #expect(found.allSatisfy { $0.secret?.count == 6 })
    #expect(person.prompts == ["open the door", "open the door"])
  }

  @Test func aPersonWhoAgreedToOneCallIsAskedAgainForTheNext() throws {
    let store = try TemporaryStore()
    var item = request("a", secret: "secret")
    item.accessControl = AccessControl(.userPresence)
    let person = Person()
    let client = client(store, confirm: person.ask)
    _ = try client.add(item)
    var wanted = request("a")
    wanted.shape = .data
    for _ in 0..<3 { _ = try client.search(wanted) }
    #expect(person.prompts.count == 3)
    // Without the secret nobody is asked.
    wanted.shape = .attributes
    _ = try client.search(wanted)
    #expect(person.prompts.count == 3)
    #expect(throws: KeychainError.self) { try self.client(store).search(item.asking(for: .data)) }
  }
}

extension ItemRequest {
  fileprivate func asking(for shape: ResultShape) -> ItemRequest {
    var copy = self
    copy.shape = shape
    return copy
  }
}

/// Somebody who agrees.
private final class Person: Sendable {
  private struct State {
    var prompts: [String?] = []
    var first: (() -> Void)?
  }
  private let state = Locked(State())

  func onFirstQuestion(_ body: @escaping () -> Void) { state.withLock { $0.first = body } }

  var prompts: [String?] { state.withLock { $0.prompts } }

  @Sendable func ask(_ prompt: String?) -> Bool? {
    let first = state.withLock { state in
      state.prompts.append(prompt)
      defer { state.first = nil }
      return state.first
    }
    first?()
    return true
  }
}
