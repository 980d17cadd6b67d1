import Foundation
import Security

/// The calls of Keychain Services. Each thread has an item of its own, which must be as it left it, and
/// all share a few, which may be in any state but a torn one.
struct SecItemLoad: Load {
  private static let shared = 4

  init(directory: String) { LinuxKeychain.bootstrap(.init(directory: directory, accessGroups: ["stress"])) }

  func step(thread: Int, _ random: inout SystemRandomNumberGenerator, _ journal: Journal) {
    switch Int.random(in: 0..<64, using: &random) {
    case 0: LinuxKeychain.close()
    case 1: LinuxKeychain.bootstrap(LinuxKeychain.settings)
    case 2..<8: ownItem(thread, round: Int.random(in: 0..<1_000, using: &random), journal)
    case 8..<12: list(journal)
    case let choice:
      let account = "shared \(Int.random(in: 0..<Self.shared, using: &random))"
      touch(account, choice % 4, journal)
    }
  }

  func finish(_ journal: Journal) {
    list(journal)
    LinuxKeychain.close()
  }

  /// Added, found, changed, found, deleted: nobody else touches it.
  private func ownItem(_ thread: Int, round: Int, _ journal: Journal) {
    let account = "thread \(thread)"
    let first = Self.secret(account, "first \(round)")
    let second = Self.secret(account, "second \(round)")
    expect(SecItemAdd(Self.item(account, first), nil), [errSecSuccess], "add", journal)
    expect(SecItemAdd(Self.item(account, first), nil), [errSecDuplicateItem], "add twice", journal)
    if find(account, journal) != first { journal.complain("a secret that was not stored") }
    let change = [kSecValueData as String: second] as CFDictionary
    expect(SecItemUpdate(Self.item(account), change), [errSecSuccess], "update", journal)
    if find(account, journal) != second { journal.complain("a secret that was changed") }
    expect(SecItemDelete(Self.item(account)), [errSecSuccess], "delete", journal)
  }

  private func touch(_ account: String, _ kind: Int, _ journal: Journal) {
    let secret = Self.secret(account, UUID().uuidString)
    switch kind {
    case 0:
      expect(SecItemAdd(Self.item(account, secret), nil), [errSecSuccess, errSecDuplicateItem], "shared add", journal)
    case 1:
      let change = [kSecValueData as String: secret] as CFDictionary
      expect(SecItemUpdate(Self.item(account), change), [errSecSuccess, errSecItemNotFound], "shared update", journal)
    case 2: expect(SecItemDelete(Self.item(account)), [errSecSuccess, errSecItemNotFound], "shared delete", journal)
    default:
      if let found = find(account, journal), !found.starts(with: Data("\(account):".utf8)) {
        journal.complain("the secret of another item")
      }
    }
  }

  private func find(_ account: String, _ journal: Journal) -> Data? {
    var query = Self.dictionary(account)
    query[kSecReturnData as String] = true
    var result: AnyObject?
    let status = SecItemCopyMatching(query as CFDictionary, &result)
    expect(status, [errSecSuccess, errSecItemNotFound], "find", journal)
    return result as? Data
  }

  private func list(_ journal: Journal) {
    let query: [String: Any] = [
      kSecClass as String: kSecClassGenericPassword, kSecReturnAttributes as String: true,
      kSecMatchLimit as String: kSecMatchLimitAll,
    ]
    var result: AnyObject?
    let status = SecItemCopyMatching(query as CFDictionary, &result)
    expect(status, [errSecSuccess, errSecItemNotFound], "list", journal)
    for attributes in result as? [[String: Any]] ?? []
    where attributes[kSecAttrService as String] as? String != "stress" { journal.complain("an item of nobody") }
  }

  private func expect(_ status: OSStatus, _ allowed: [OSStatus], _ what: String, _ journal: Journal) {
    journal.did("SecItem: \(what)")
    if !allowed.contains(status) { journal.complain("\(what) answered \(status)") }
  }

  private static func secret(_ account: String, _ text: String) -> Data { Data("\(account):\(text)".utf8) }

  private static func dictionary(_ account: String) -> [String: Any] {
    [
      kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "stress",
      kSecAttrAccount as String: account,
    ]
  }

  private static func item(_ account: String, _ secret: Data? = nil) -> CFDictionary {
    var dictionary = dictionary(account)
    if let secret { dictionary[kSecValueData as String] = secret }
    return dictionary as CFDictionary
  }
}
