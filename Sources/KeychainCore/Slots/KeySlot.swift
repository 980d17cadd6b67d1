import Glibc
import SQLiteDatabase
import SodiumCrypto

/// A key slot, one of the ways into the store: a row of `key_slots`. Its payload is the root keys, sealed by a subkey of
/// the slot's secret (`crypto_kdf`, number 1, context "tk-slot1"), each as `key id 4 | key 32`; every other column is
/// bound to it.
package struct KeySlot: Equatable, Sendable {
  /// The raw values are part of the format.
  package enum Kind: UInt8, CaseIterable, Sendable {
    case keyFile = 1
    case passphrase = 2
    case systemdCredential = 3
    case recoveryCode = 4

    /// Whether the session key is sealed into slots of this kind: they reach all that there is.
    var holdsSession: Bool { self == .passphrase || self == .recoveryCode }

    /// Whether the session key lies in slots only as long as there is one of this kind. Then what is
    /// accessible "when unlocked" needs a slot that holds it; otherwise the session key lies beside
    /// the others, wrapped by the master key.
    var guardsSession: Bool { self == .passphrase }
  }

  package fileprivate(set) var number: Int64 = 0
  let id: ItemID
  package let kind: Kind
  package let label: String
  /// Microseconds since 1970.
  package let created: Int64
  /// Of a passphrase: algorithm 1 (1 = Argon2id, version 1.3) | passes 4 | memory 8 | salt 16.
  fileprivate let parameters: [UInt8]
  fileprivate var payload: [UInt8] = []
}

extension KeySlot {
  /// What is sealed in it does not count: it opens or does not.
  package static func == (a: KeySlot, b: KeySlot) -> Bool {
    (a.number, a.id, a.kind, a.label, a.created) == (b.number, b.id, b.kind, b.label, b.created)
  }

  /// A slot that is not in the store yet; its number comes with `insert`.
  init(new kind: Kind, label: String, options: KeychainOptions) throws {
    if kind == .passphrase { try options.passwordHash.check() }
    self.init(
      id: .random(), kind: kind, label: label, created: options.now(),
      parameters: kind == .passphrase ? PassphraseParameters(options.passwordHash).encoded : [])
  }

  /// What is bound to the payload, and counted by the manifest:
  /// `kind 8 | created 8 | label length 4 | label | parameters`.
  static func columns(kind: Int64, created: Int64, label: String, parameters: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.write(kind)
    bytes.write(created)
    bytes.write(UInt32(clamping: label.utf8.count))
    return bytes + label.utf8 + parameters
  }

  private var columns: [UInt8] {
    Self.columns(kind: Int64(kind.rawValue), created: created, label: label, parameters: parameters)
  }

  private func binding(_ store: StoreID) -> SealedPart.Binding {
    SealedPart.Binding(role: .slot, store: store, subject: id, extra: columns)
  }

  var manifestElement: ManifestElement { .slot(id: id, number: number, tag: payload.tag, columns: columns) }

  /// Seals the root keys into the slot, and writes it.
  mutating func insert(_ roots: [RootKeys.Root], store: StoreID, slotKey: GuardedKey, in tx: WriteTransaction) throws {
    payload = try withScratchMemory(roots.count * (4 + KeyArena.keyLength)) { memory in
      var writer = RowWriter(memory)
      for (id, key) in roots {
        writer.write(id.rawValue)
        key.withUnsafeBytes { writer.write($0) }
      }
      return try SealedPart.seal(UnsafeRawBufferPointer(memory), at: binding(store), by: (.none, slotKey))
    }
    try tx.execute(
      """
      INSERT INTO key_slots (uuid, kind, label, created, parameters, payload)
      VALUES (?, ?, ?, ?, ?, ?)
      """, .blob(id.bytes), .integer(Int64(kind.rawValue)), .text(label), .integer(created), .blob(parameters),
      .blob(payload))
    number = tx.lastInsertedRowID
  }

  func delete(_ ledger: ChangeLedger, in tx: WriteTransaction) throws {
    try tx.execute("DELETE FROM key_slots WHERE id = ?", .integer(number))
    try ledger.remove(manifestElement)
  }

  /// Every slot of a kind that this version knows, oldest first.
  static func all(in tx: ReadTransaction) throws -> [KeySlot] {
    try tx.all("SELECT id, uuid, kind, label, created, parameters, payload FROM key_slots ORDER BY id") {
      row -> KeySlot? in
      guard let id = row.withBlob(1, { ItemID($0) }), let kind = UInt8(exactly: row.integer(2)).flatMap(Kind.init)
      else { return nil }
      return KeySlot(
        number: row.integer(0), id: id, kind: kind, label: row.text(3), created: row.integer(4),
        parameters: row.blob(5), payload: row.blob(6))
    }.compactMap { $0 }
  }

  /// The root keys in it.
  ///
  /// - Parameter secret: what opens it. For a passphrase this takes as long as its parameters say.
  func open(by secret: SecretBytes, store: StoreID, in arena: KeyArena) throws -> [KeyID: GuardedKey] {
    let slotKey = try slotKey(from: secret, in: arena)
    return try payload.withUnsafeBytes { sealed in
      try SealedPart.open(sealed, at: binding(store), by: { _ in slotKey }) { payload in
        var reader = RowReader(payload)
        var roots: [KeyID: GuardedKey] = [:]
        while !reader.rest.isEmpty {
          let id = KeyID(rawValue: try reader.number())
          roots[id] = try arena.key(copying: reader.take(KeyArena.keyLength))
        }
        return roots
      }
    }
  }

  /// The key that seals the payload.
  func slotKey(from secret: SecretBytes, in arena: KeyArena) throws -> GuardedKey {
    try withScratchMemory(KeyFile.length) { source in
      switch kind {
      case .keyFile, .systemdCredential, .recoveryCode:
        try secret.withUnsafeBytes { bytes in
          guard bytes.count == source.count else {
            throw SodiumError.wrongLength(expected: source.count, found: bytes.count)
          }
          source.copyMemory(from: bytes)
        }
      case .passphrase:
        let hash = try PassphraseParameters(decoding: parameters)
        try hash.salt.withUnsafeBytes { salt in
          try Argon2id.derive(from: secret, salt: salt, parameters: hash.cost, into: source)
        }
      }
      return try arena.key { memory in
        try KeyDerivation.derive(1, context: "tk-slot1", from: UnsafeRawBufferPointer(source), into: memory)
      }
    }
  }
}

/// What opens a key slot.
package enum KeySlotSecret: Sendable {
  /// A file with 32 random bytes: one line of 64 hexadecimal digits, mode 0400. `Keychain.create`
  /// and `addKeySlot` make it when there is none.
  case keyFile(path: String)
  /// What was in such a file.
  case keyFileBytes(SecretBytes, path: String)
  case passphrase(SecretBytes)
  /// What systemd hands to this service under that name; in the form of a key file.
  case systemdCredential(name: String)
  case recoveryCode(RecoveryCode)

  /// The passphrase in the first line of a file that nobody else can read.
  package static func passphrase(inFile path: String) throws(KeychainError) -> KeySlotSecret {
    .passphrase(try PassphraseFile.read(path))
  }

  /// What is in a key file now, for another user of this process to use.
  package static func readKeyFile(_ path: String) throws(KeychainError) -> KeySlotSecret {
    .keyFileBytes(try KeyFile.read(path), path: path)
  }

  /// Whether there is a key file at `path`.
  ///
  /// - Throws: why it cannot be read, when something is there.
  package static func isKeyFile(at path: String) throws(KeychainError) -> Bool {
    guard try StoreLocation.checkFile(path, remedy: "chmod 400") else { return false }
    _ = try KeyFile.read(path)
    return true
  }

  var kind: KeySlot.Kind {
    switch self {
    case .keyFile, .keyFileBytes: .keyFile
    case .passphrase: .passphrase
    case .systemdCredential: .systemdCredential
    case .recoveryCode: .recoveryCode
    }
  }

  /// The bytes that open the slot.
  func bytes() throws -> SecretBytes {
    switch self {
    case .keyFile(let path): try KeyFile.read(path)
    case .keyFileBytes(let bytes, _): bytes
    case .passphrase(let passphrase): passphrase
    case .systemdCredential(let name): try SystemdCredential.read(name)
    case .recoveryCode(let code): try code.secret()
    }
  }

  /// For an answer that it does not open the store.
  var words: String {
    switch self {
    case .keyFile(let path), .keyFileBytes(_, let path): "the key file \(path)"
    case .passphrase: "this passphrase"
    case .systemdCredential(let name): "the credential \(name)"
    case .recoveryCode: "this recovery code"
    }
  }

  /// Why that may be so.
  var suspicion: String {
    switch self {
    case .passphrase: "it is mistyped, or its slot was removed or altered"
    case .keyFile, .keyFileBytes, .systemdCredential, .recoveryCode:
      "it belongs to another store, or the slot was removed or altered"
    }
  }
}

/// A key that systemd hands to a service (systemd.exec(5), `LoadCredentialEncrypted=`): a file in
/// `$CREDENTIALS_DIRECTORY`, in the form of a key file.
package enum SystemdCredential {
  /// The file of a credential. Nil outside of a service, and for a name with a slash in it.
  package static func path(_ name: String) -> String? {
    guard let directory = getenv("CREDENTIALS_DIRECTORY").map({ String(cString: $0) }), directory.hasPrefix("/"),
      !name.isEmpty, !name.contains("/"), name != ".", name != ".."
    else { return nil }
    return "\(directory)/\(name)"
  }

  static func read(_ name: String) throws(KeychainError) -> SecretBytes {
    guard let path = path(name) else {
      throw KeychainError(
        .authFailed,
        "there is no credential \(name) without $CREDENTIALS_DIRECTORY, which systemd sets for a"
          + " service with LoadCredential= or LoadCredentialEncrypted=")
    }
    var status = stat()
    guard lstat(path, &status) == 0 else {
      throw KeychainError(.authFailed, "systemd hands no credential \(name) to this service: there is no \(path)")
    }
    // systemd gives root's file to the service's user by an access control list, which shows as the
    // group's rights; others have none.
    guard status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o007 == 0,
      status.st_uid == geteuid() || status.st_uid == 0
    else { throw KeychainError(.notAvailable, "\(path) is not as systemd makes it: others can reach it") }
    return try KeyFile.bytes(path, what: "the credential \(name)")
  }
}
