import KeychainCore
import LocalAPI
import SQLiteDatabase
import SodiumCrypto
import ThreadRequests
import ThreadkeeperSupport

/// The daemon's login at its broker, kept as an internet password (`inet`):
///
/// | attribute | value |
/// |---|---|
/// | server, port | of the broker; the name in small letters |
/// | protocol | `mqtt`, or `mqts` with TLS |
/// | authentication type | `dflt` |
/// | account | the user name |
/// | access group | `threadkeeper.internal` |
/// | accessible | after first unlock |
///
/// `login` keeps one for each broker: a new one replaces that of another user.
struct BrokerLoginStore {
  static let group = "threadkeeper.internal"
  private static let authenticationType = "dflt"

  let keychain: Keychain
  let address: BrokerAddress

  init(_ keychain: Keychain, _ address: BrokerAddress) {
    self.keychain = keychain
    self.address = address
  }

  /// The login that is stored.
  ///
  /// - Parameter username: nil: of any user; the one that was changed last, should there be several.
  /// - Throws: `interactionNotAllowed` while the class is locked, `decode` when the row was altered.
  func find(username: String? = nil, _ tx: ReadTransaction) throws(KeychainError) -> BrokerLogin? {
    let found = try items(username: username, tx).max { $0.modified < $1.modified }
    guard let item = found else { return nil }
    return BrokerLogin(username: item[.account]?.string ?? "", password: try keychain.secret(of: item, in: tx))
  }

  func items(username: String?, _ tx: ReadTransaction) throws(KeychainError) -> [Item] {
    var attributes = key
    if let username { attributes[.account] = .string(username) }
    return try keychain.items(matching: ItemQuery(.internetPassword, attributes), in: tx)
  }

  /// What makes the item unique, but for the account: with that a look-up needs one row only.
  var key: ItemAttributes {
    [
      .server: .string(address.host.lowercased()), .port: .integer(Int64(address.port)),
      .protocolType: .string(address.isEncrypted ? "mqts" : "mqtt"),
      .authenticationType: .string(Self.authenticationType), .securityDomain: .string(""), .path: .string(""),
      .accessGroup: .string(Self.group),
    ]
  }
}

extension BrokerLoginStore {
  enum Change: String { case added, updated }

  /// Stores a login, also over a damaged one, and deletes those of other users.
  @discardableResult func save(_ login: BrokerLogin, _ tx: WriteTransaction) throws(KeychainError) -> Change {
    let all = try items(username: nil, tx)
    for other in all where other[.account]?.string != login.username { try keychain.delete(other, in: tx) }
    if let item = all.first(where: { $0[.account]?.string == login.username }) {
      try keychain.update(item, secret: login.password, in: tx)
      return .updated
    }
    var attributes = key.filter { $0.value != .string("") }
    attributes[.account] = .string(login.username)
    attributes[.label] = .string("\(address)")
    attributes[.itemDescription] = .string("MQTT password")
    try keychain.add(
      NewItem(.internetPassword, attributes: attributes, secret: login.password, accessible: .afterFirstUnlock), in: tx)
    return .added
  }

  /// Deletes every login of this broker.
  ///
  /// - Returns: the user names; none when there was nothing.
  func deleteAll(_ tx: WriteTransaction) throws(KeychainError) -> [String] {
    var names: [String] = []
    for item in try items(username: nil, tx) {
      try keychain.delete(item, in: tx)
      names.append(item[.account]?.string ?? "")
    }
    return names.sorted()
  }
}

extension BrokerLoginStore {
  /// The logins at all brokers, by broker and name. No password is opened.
  static func all(in keychain: Keychain, _ tx: ReadTransaction) throws(KeychainError) -> [(
    address: BrokerAddress, username: String
  )] {
    let items = try keychain.items(
      matching: ItemQuery(.internetPassword, [.accessGroup: .string(group)], unreadable: .skip), in: tx)
    var logins: [(address: BrokerAddress, username: String)] = []
    for item in items {
      guard let host = item[.server]?.string, let port = item[.port]?.integer.flatMap({ UInt16(exactly: $0) }) else {
        continue
      }
      let address = BrokerAddress(host: host, port: port, isEncrypted: item[.protocolType]?.string == "mqts")
      logins.append((address, item[.account]?.string ?? ""))
    }
    return logins.sorted { ($0.address.url, $0.username) < ($1.address.url, $1.username) }
  }
}

/// A user name and its password.
struct BrokerLogin {
  let username: String
  let password: SecretBytes

  /// The password as MQTT has it.
  var text: String { password.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
}

extension BrokerLogin: CustomStringConvertible, CustomReflectable {
  /// The name; never the password.
  var description: String { username }
  var customMirror: Mirror { Mirror(self, children: ["username": username]) }
}

/// The broker that a password is for. One that was given for an encrypted connection is never found
/// for one in plaintext.
struct BrokerAddress: Hashable, CustomStringConvertible {
  let host: String
  let port: UInt16
  let isEncrypted: Bool

  /// Names the broker and how it is spoken to: `mqtts://broker.local:8883`.
  var url: String { "\(isEncrypted ? "mqtts" : "mqtt")://\(self)".lowercased() }

  var description: String { "\(HostAndPort(host, port))" }
}

/// User names, by the rule of `mqtt.username`.
enum Username {
  /// - Throws: `CommandFailure` with status 64, without the name: people mistake one field for another.
  static func checked(_ name: String) throws(CommandFailure) -> String {
    let text = name.unicodeScalars
    guard (1...256).contains(text.count), !text.contains(where: isUnfit) else {
      throw CommandFailure(.usage, "a user name has 1 to 256 characters, no control character, none of `/`, `+`, `#`")
    }
    return name
  }

  private static func isUnfit(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .control || ["/", "+", "#"].contains(scalar)
  }
}

/// Passwords as MQTT takes them: 1 to 65,535 bytes (MQTT 5.0, section 3.1.3.6), here of UTF-8
/// without a zero byte.
enum Password {
  static let limit = 65_535

  static func checked(_ bytes: ArraySlice<UInt8>) throws(CommandFailure) -> SecretBytes {
    guard !bytes.isEmpty else { throw CommandFailure(.badInput, "the password is empty", code: .invalidPayload) }
    guard bytes.count <= limit else { throw tooLong }
    guard !bytes.contains(0), String(validating: bytes, as: UTF8.self) != nil else {
      throw CommandFailure(.badInput, "the password is not UTF-8, or has a zero byte", code: .invalidPayload)
    }
    return SecretBytes(copying: bytes)
  }

  static let tooLong = CommandFailure(.badInput, "the password has more than \(limit) bytes", code: .invalidPayload)
}
