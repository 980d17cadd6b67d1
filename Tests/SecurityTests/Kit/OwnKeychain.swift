import Foundation
import Security
import Synchronization
import Testing

/// A program has one keychain, so tests that choose one run one after the other.
@Suite(.serialized) struct OwnKeychain {}

/// Chooses an empty keychain for this program; gone with this object.
final class ProgramStore {
  /// The directory of the keychain.
  let path: String
  private(set) var groups = ["team.own", "team.shared"]

  init() {
    // In memory if possible: thousands of durable transactions are no business of these tests.
    let places = ["/dev/shm", NSTemporaryDirectory()]
    let place = places.first { FileManager.default.isWritableFile(atPath: $0) } ?? "/tmp"
    path = place + "/keychain-" + UUID().uuidString
    use()
  }

  deinit {
    LinuxKeychain.close()
    try? FileManager.default.removeItem(atPath: path)
  }

  /// Goes on with the same store as another program would: with other groups, another person, a passphrase.
  func use(
    groups: [String]? = nil, passphraseFile: String? = nil, report: Reports? = nil,
    confirmPresence: (@Sendable (String?) -> Bool?)? = nil
  ) {
    self.groups = groups ?? self.groups
    var settings = LinuxKeychain.Settings(
      directory: path, passphraseFile: passphraseFile, accessGroups: self.groups, confirmPresence: confirmPresence)
    if let report { settings.report = { report.note($0, $1) } }
    LinuxKeychain.bootstrap(settings)
  }
}

/// What was reported to a program.
final class Reports: Sendable {
  private let list = Mutex<[(OSStatus, String)]>([])

  func note(_ status: OSStatus, _ reason: String) { list.withLock { $0.append((status, reason)) } }

  var all: [(OSStatus, String)] { list.withLock { $0 } }
}

/// What a call gave.
struct Answer {
  let status: OSStatus
  let result: AnyObject?

  var data: Data? { result as? Data }
  var dictionary: [String: Any]? { result as? [String: Any] }
  var array: [[String: Any]]? { result as? [[String: Any]] }
}

// Each takes its dictionary in parts, of which a later one goes before an earlier one.

func add(_ parts: [String: Any]...) -> OSStatus { SecItemAdd(joined(parts), nil) }

/// Adds what can be added.
func insert(_ parts: [String: Any]..., location: SourceLocation = #_sourceLocation) {
  #expect(SecItemAdd(joined(parts), nil) == errSecSuccess, sourceLocation: location)
}

func addAndCopy(_ parts: [String: Any]...) -> Answer {
  var result: AnyObject?
  let status = SecItemAdd(joined(parts), &result)
  return Answer(status: status, result: result)
}

func copy(_ parts: [String: Any]...) -> Answer {
  var result: AnyObject?
  let status = SecItemCopyMatching(joined(parts), &result)
  return Answer(status: status, result: result)
}

/// The status of a search alone.
func find(_ parts: [String: Any]...) -> OSStatus {
  var result: AnyObject?
  return SecItemCopyMatching(joined(parts), &result)
}

/// The secret that a search gives, as text.
func text(_ parts: [String: Any]...) -> String? {
  copy(joined(parts), [kSecReturnData: true]).data.map { String(decoding: $0, as: UTF8.self) }
}

/// The attributes that a search gives.
func attributes(_ parts: [String: Any]...) -> [String: Any]? {
  copy(joined(parts), [kSecReturnAttributes: true]).dictionary
}

func update(_ query: [String: Any], _ change: [String: Any]...) -> OSStatus {
  SecItemUpdate(query as CFDictionary, joined(change))
}

func delete(_ parts: [String: Any]...) -> OSStatus { SecItemDelete(joined(parts)) }

/// A generic password, with what a test wants to say besides.
func password(_ account: String, service: String = "mail", _ more: [String: Any]...) -> [String: Any] {
  joined([[kSecClass: kSecClassGenericPassword, kSecAttrAccount: account, kSecAttrService: service]] + more)
}

func secret(_ text: String) -> [String: Any] { [kSecValueData: Data(text.utf8)] }

/// An access control, by default one that needs a person.
func control(
  _ accessible: CFString = kSecAttrAccessibleAfterFirstUnlock, _ flags: SecAccessControlCreateFlags = .userPresence
) -> [String: Any] { [kSecAttrAccessControl: SecAccessControlCreateWithFlags(nil, accessible, flags, nil) as Any] }

private func joined(_ parts: [[String: Any]]) -> [String: Any] { parts.reduce(into: [:]) { $0.merge($1) { $1 } } }

/// How many items of a class there are, synchronizable or not.
func count(_ itemClass: CFString = kSecClassGenericPassword) -> Int {
  let answer = copy([
    kSecClass: itemClass, kSecMatchLimit: kSecMatchLimitAll, kSecReturnPersistentRef: true,
    kSecAttrSynchronizable: kSecAttrSynchronizableAny,
  ])
  return (answer.result as? [Data])?.count ?? 0
}

/// Whether two results are the same; nothing is not.
func areEqual(_ one: AnyObject?, _ other: AnyObject?) -> Bool {
  guard let one = one as? NSObject, let other = other as? NSObject else { return false }
  return one.isEqual(other)
}
