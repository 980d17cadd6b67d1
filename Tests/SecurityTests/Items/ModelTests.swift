import Foundation
import FuzzTargets
import Security
import TestKit
import Testing

extension OwnKeychain {
  /// Random calls against a keychain and against a model of it, which must agree in every answer. With SOAK_ROUNDS in
  /// the environment there are 10,000.
  @Suite struct ModelTests {
    private let store = ProgramStore()

    @Test func randomCallsAnswerAsTheModelDoes() throws {
      let variable = ProcessInfo.processInfo.environment["MODEL_SEED"]
      let seed = variable.flatMap { UInt64($0) } ?? UInt64.random(in: .min ... .max)
      print("MODEL_SEED=\(seed)")
      var random = SeededGenerator(seed: seed)
      store.use(groups: ["one", "two"])
      var model = KeychainModel(groups: ["one", "two"])
      for step in 0..<(Soak.triesAll ? 10_000 : 2_000) {
        let problem = oneStep(&model, &random)
        try #require(problem == nil, "seed \(seed), step \(step): \(problem ?? "")")
      }
      #expect(model.items.count > 5, "the model was worth the trouble")
    }

    private func oneStep(_ model: inout KeychainModel, _ random: inout SeededGenerator) -> String? {
      switch random.below(100) {
      case 0..<40:
        let item = RandomCall.item(&random)
        var result: AnyObject?
        let status = SecItemAdd(item as CFDictionary, &result)
        let expected = model.add(item)
        return status == expected ? nil : "add \(item): \(status), not \(expected)"
      case 40..<75: return search(RandomCall.search(&random), model)
      case 75..<88:
        let (query, change) = (RandomCall.query(&random), RandomCall.change(&random))
        let status = SecItemUpdate(query as CFDictionary, change as CFDictionary)
        let expected = model.update(query, change)
        return status == expected ? nil : "update \(query) \(change): \(status), not \(expected)"
      case 88..<97:
        let query = RandomCall.query(&random)
        let status = SecItemDelete(query as CFDictionary)
        let expected = model.delete(query)
        return status == expected ? nil : "delete \(query): \(status), not \(expected)"
      case 97:
        LinuxKeychain.close()
        return nil
      default:
        model.groups = random.pick([["one", "two"], ["two", "one"], ["one"], ["two", "three"]])
        store.use(groups: model.groups)
        return search(
          [
            kSecClass: kSecClassGenericPassword, kSecReturnAttributes: true, kSecReturnData: true,
            kSecMatchLimit: kSecMatchLimitAll, kSecAttrSynchronizable: kSecAttrSynchronizableAny,
          ], model)
      }
    }

    private func search(_ query: [String: Any], _ model: KeychainModel) -> String? {
      var result: AnyObject?
      let status = SecItemCopyMatching(query as CFDictionary, &result)
      let (expected, items) = model.search(query)
      guard status == expected else { return "search \(query): \(status), not \(expected)" }
      guard status == errSecSuccess else { return result == nil ? nil : "a result with \(status)" }
      let found: [Any] =
        query[kSecMatchLimit] is String || query[kSecMatchLimit] as? Int ?? 1 > 1
        ? result as? [Any] ?? [] : [result as Any]
      guard found.count == items.count else { return "search \(query): \(found.count) items, not \(items.count)" }
      for (one, item) in zip(found, items) {
        if query[kSecReturnAttributes] == nil {
          guard one as? Data == item.data ?? Data() else { return "search \(query): other data" }
          continue
        }
        guard let one = one as? [String: Any] else { return "search \(query): no dictionary" }
        if query[kSecReturnData] != nil, one[kSecValueData] as? Data != item.data {
          return "search \(query): other data"
        }
        for (name, value) in item.attributes {
          guard let given = one[name] as? NSObject, given.isEqual(value as AnyObject) else {
            return "search \(query): \(name) is \(String(describing: one[name])), not \(value)"
          }
        }
      }
      return nil
    }
  }

  @Suite struct FuzzSeedTests {
    @Test("The fuzz target of Keychain Services takes its seeds whole, cut and changed") func seeds() throws {
      try SecItemFuzz.bootstrap()
      defer { LinuxKeychain.close() }
      for (name, bytes) in try Seeds.variants(of: .secitem) {
        #expect(throws: Never.self, "\(name)") { try FuzzTarget.secitem.check(bytes) }
      }
    }
  }
}
