// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security
import Testing

/// A program has one keychain, so tests that choose one run one after the other.
@Suite(.serialized) struct OwnKeychain {}

/// Chooses an empty keychain for this program; gone with this object.
final class ProgramStore {
  /// The directory of the keychain.
  let path: String
  let groups: [String]

  init(
    groups: [String] = ["team.own", "team.shared"],
    confirmPresence: (@Sendable (String?) -> Bool?)? = nil
  ) throws {
    // In memory if possible: thousands of durable transactions are no business of these tests.
    let places = ["/dev/shm", NSTemporaryDirectory()]
    let place = places.first { FileManager.default.isWritableFile(atPath: $0) } ?? "/tmp"
    path = place + "/keychain-" + UUID().uuidString
    self.groups = groups
    use(groups: groups, confirmPresence: confirmPresence)
  }

  deinit {
    LinuxKeychain.close()
    try? FileManager.default.removeItem(atPath: path)
  }

  /// Goes on with the same store as another program would: with other groups, another person.
  func use(groups: [String], confirmPresence: (@Sendable (String?) -> Bool?)? = nil) {
    LinuxKeychain.bootstrap(
      .init(directory: path, accessGroups: groups, confirmPresence: confirmPresence))
  }
}

/// What a call gave.
struct Answer {
  let status: OSStatus
  let result: AnyObject?

  var data: Data? { result as? Data }
  var dictionary: [String: Any]? { result as? [String: Any] }
  var array: [[String: Any]]? { result as? [[String: Any]] }
}

func add(_ attributes: [String: Any]) -> OSStatus { SecItemAdd(attributes as CFDictionary, nil) }

func addAndCopy(_ attributes: [String: Any]) -> Answer {
  var result: AnyObject?
  let status = SecItemAdd(attributes as CFDictionary, &result)
  return Answer(status: status, result: result)
}

func copy(_ query: [String: Any]) -> Answer {
  var result: AnyObject?
  let status = SecItemCopyMatching(query as CFDictionary, &result)
  return Answer(status: status, result: result)
}

/// A generic password, with what a test wants to say besides.
func password(
  _ account: String, service: String = "mail", _ more: [String: Any] = [:]
) -> [String: Any] {
  [
    kSecClass as String: kSecClassGenericPassword,
    kSecAttrAccount as String: account,
    kSecAttrService as String: service,
  ].merging(more) { $1 }
}

func secret(_ text: String) -> [String: Any] { [kSecValueData as String: Data(text.utf8)] }

/// How many items of a class there are, synchronizable or not.
func count(_ itemClass: CFString = kSecClassGenericPassword) -> Int {
  let answer = copy([
    kSecClass as String: itemClass, kSecMatchLimit as String: kSecMatchLimitAll,
    kSecReturnPersistentRef as String: true,
    kSecAttrSynchronizable as String: kSecAttrSynchronizableAny,
  ])
  return (answer.result as? [Data])?.count ?? 0
}

/// Whether two results are the same; nothing is not.
func areEqual(_ one: AnyObject?, _ other: AnyObject?) -> Bool {
  guard let one = one as? NSObject, let other = other as? NSObject else { return false }
  return one.isEqual(other)
}
