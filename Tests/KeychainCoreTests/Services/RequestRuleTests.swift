// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto
import Testing

@testable import KeychainCore

/// What a call may say, before any item is looked at.
@Suite struct RequestRuleTests {
  private let groups = AccessGroups(["own", "shared"])

  private func status(
    _ call: KeychainCall, _ change: (inout ItemRequest) -> Void = { _ in }
  ) -> KeychainStatus? {
    var request = ItemRequest(.stored(.genericPassword))
    change(&request)
    do {
      try request.check(for: call, by: groups)
      return nil
    } catch {
      return error.status
    }
  }

  private let reference = PersistentReference(
    .stored(.genericPassword), ItemReference(rowID: 1, id: .random()))

  @Test func aPlainRequestMakesSenseToEveryCall() {
    for call in [.add, .search, .update(to: ItemRequest()), .delete] as [KeychainCall] {
      #expect(status(call) == nil)
      #expect(status(call) { $0.itemClass = nil } == .param)
      #expect(status(call) { $0.accessGroup = "shared" } == nil)
      #expect(status(call) { $0.accessGroup = "other" } == .missingEntitlement)
    }
  }

  @Test func addingRules() {
    #expect(status(.add) { $0.itemClass = .identity } == .param)
    #expect(status(.add) { $0.reference = reference } == .param)
    #expect(status(.add) { $0.itemList = [] } == .param)
    #expect(status(.add) { $0.synchronizable = .any } == .param)
    #expect(status(.add) { $0.authenticationUI = .skip } == .param)
    #expect(
      status(.add) { $0.accessControl = AccessControl(.applicationPassword) } == .unimplemented)
    #expect(status(.add) { $0.limit = .all } == nil)
    #expect(status(.add) { $0.shape = [.data, .attributes] } == nil)
  }

  @Test func searchingRules() {
    #expect(status(.search) { $0.authenticationUI = .skip } == nil)
    #expect(status(.search) { $0.synchronizable = .any } == nil)
    #expect(
      status(.search) {
        $0.itemClass = nil
        $0.reference = reference
      } == nil)
    #expect(
      status(.search) {
        $0.itemClass = nil
        $0.itemList = [reference]
      } == nil)
  }

  @Test func updatingRules() {
    let call = KeychainCall.update(to: ItemRequest())
    for shape in [ResultShape.data, .attributes, .reference, .persistentReference] {
      #expect(status(call) { $0.shape = shape } == .param)
    }
    for limit in [MatchLimit.one, .all, .count(3)] {
      #expect(status(call) { $0.limit = limit } == .param)
    }
    #expect(status(call) { $0.namesMatching = true } == .param)
    #expect(status(call) { $0.authenticationUI = .skip } == .param)
    #expect(status(call) { $0.authenticationUI = .fail } == nil)
    #expect(status(call) { $0.reference = reference } == nil)

    func changing(_ change: (inout ItemRequest) -> Void) -> KeychainStatus? {
      var wanted = ItemRequest()
      change(&wanted)
      return status(.update(to: wanted))
    }
    #expect(changing { $0.secret = SecretBytes(copying: [1]) } == nil)
    #expect(changing { $0.itemClass = .identity } == .param)
    #expect(changing { $0.shape = .data } == .param)
    #expect(changing { $0.limit = .all } == .param)
    #expect(changing { $0.reference = reference } == .param)
    #expect(changing { $0.synchronizable = .any } == .param)
    #expect(changing { $0.synchronizable = .yes } == nil)
    #expect(changing { $0.accessGroup = "other" } == .missingEntitlement)
  }

  @Test func deletingRules() {
    #expect(status(.delete) { $0.limit = .all } == nil)
    #expect(status(.delete) { $0.limit = .one } == .param)
    #expect(status(.delete) { $0.limit = .count(2) } == .param)
    #expect(status(.delete) { $0.authenticationUI = .skip } == .param)
    #expect(status(.delete) { $0.shape = .attributes } == nil)
  }

  @Test func aLimitIsAtLeastOne() throws {
    #expect(try MatchLimit(1) == .one)
    #expect(try MatchLimit(2) == .count(2))
    #expect(try MatchLimit(.max) == .count(.max))
    for number in [0, -1, Int64.min] {
      #expect(throws: KeychainError.self) { try MatchLimit(number) }
    }
  }

  @Test func groupsAreTakenOnceAndNeverTheInternalOne() {
    let groups = AccessGroups(["a", "", "threadkeeper.internal", "b", "a"])
    #expect(groups.names == ["a", "b"])
    #expect(AccessGroups(["threadkeeper.internal"]).names.isEmpty)
  }

  @Test func aDescriptionTellsNamesAndNoValues() {
    var request = ItemRequest(.stored(.genericPassword))
    request.attributes = [.account: .string("anna"), .service: .string("mail")]
    request.secret = SecretBytes(copying: Array("hunter2".utf8))
    #expect("\(request)" == "request for genp by [acct svce]")
  }
}
