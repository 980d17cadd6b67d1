import CLibSodium
import Foundation
import Testing

/// Reads a store of format 4 with plain SQLite and plain libsodium.
struct FormatReader {
  let raw: RawStore
  private let store: [UInt8]
  /// By their ids.
  let keys: [Int: [UInt8]]

  init(_ raw: RawStore, keyFile: String, deviceKeyFile: String? = nil) throws {
    self.raw = raw
    store = try Self.blob(raw.run("SELECT uuid FROM store")[0][0])
    let secret = try Self.key(inFile: keyFile)
    let device = try deviceKeyFile.map { try Self.key(inFile: $0) }

    let slot = try raw.run("SELECT uuid, kind, created, label, parameters, payload FROM key_slots")[0]
    guard case .integer(let kind) = slot[1], case .integer(let created) = slot[2], case .text(let label) = slot[3]
    else { throw Malformed() }
    let columns =
      Self.bytes(kind, 8) + Self.bytes(created, 8) + Self.bytes(Int64(label.count), 4) + label
      + (try Self.blob(slot[4]))
    let roots = try Self.open(
      Self.blob(slot[5]), key: Self.subkey(1, "tk-slot1", secret), role: 5, store: store, subject: Self.blob(slot[0]),
      extra: columns)
    // One entry: the master key, 1 << 24 | 1.
    try #require(roots.count == 36 && Array(roots[0..<4]) == [1, 0, 0, 1])
    let master = Array(roots[4...])

    var keys: [Int: [UInt8]] = [:]
    for row in try raw.run("SELECT id, wrapped FROM keys ORDER BY id") {
      guard case .integer(let id) = row[0] else { throw Malformed() }
      let wrapped = try Self.blob(row[1])
      let wrapper = Array(wrapped[1..<5]) == [1, 0, 0, 1] ? master : keys[2 << 24 | 1]
      let subkey = Self.subkey(UInt64(id >> 24), "tk-wrap1", try #require(wrapper))
      let subject = Self.bytes(0, 8) + Self.bytes(id, 8)
      var key = try Self.open(wrapped, key: subkey, role: 4, store: store, subject: subject)
      // The classes for this device only.
      if (19...22).contains(id >> 24) {
        let device = try #require(device)
        let name = Self.hash(Array("threadkeeper device key".utf8), key: device, count: 16)
        try #require(Array(key[..<16]) == name)
        key = try Self.open(
          Array(key[16...]), key: Self.hash(subkey, key: device, count: 32), role: 4, store: store, subject: subject)
      }
      keys[Int(id)] = key
    }
    self.keys = keys
  }

  private static func key(inFile path: String) throws -> [UInt8] {
    [UInt8](hex: try String(contentsOfFile: path, encoding: .utf8))
  }

  struct Malformed: Error {}

  func metadata(row: Int64) throws -> [UInt8] {
    let row = try raw.run("SELECT uuid, class, version, metadata FROM items WHERE id = \(row)")[0]
    guard case .integer(let form) = row[1], case .integer(let version) = row[2] else { throw Malformed() }
    return try Self.open(
      Self.blob(row[3]), key: key(8 << 24 | 1), role: 1, store: store, subject: Self.blob(row[0]),
      classByte: UInt8(form), version: version)
  }

  func secret(row: Int64, classByte: UInt8, version: Int64) throws -> [UInt8] {
    let row = try raw.run("SELECT uuid, class_key, secret FROM items WHERE id = \(row)")[0]
    return try Self.open(
      Self.blob(row[2]), key: key(Int(Self.number(row[1]))), role: 2, store: store, subject: Self.blob(row[0]),
      classByte: classByte, version: version)
  }

  /// A part of a record: "state" or "secret".
  func record(_ id: Int64, _ part: String) throws -> [UInt8] {
    let row = try raw.run("SELECT home, version, secret_version, \(part) FROM records WHERE id = \(id)")[0]
    let (version, secretVersion) = (try Self.number(row[1]), try Self.number(row[2]))
    return try Self.open(
      Self.blob(row[3]), key: key(12 << 24 | 1), role: part == "state" ? 8 : 9, store: store,
      subject: Self.bytes(try Self.number(row[0]), 8) + Self.bytes(id, 8),
      version: part == "state" ? version : secretVersion, extra: part == "state" ? Self.bytes(secretVersion, 8) : [])
  }

  func manifest() throws -> [UInt8] {
    try Self.open(
      Self.blob(raw.run("SELECT sealed FROM manifest")[0][0]), key: Self.subkey(1, "tk-mani1", key(10 << 24 | 1)),
      role: 6, store: store, subject: [UInt8](repeating: 0, count: 16))
  }

  /// The sum that the manifest should have: every element's hash, as a number, modulo 2^256.
  func manifestSum() throws -> [UInt8] {
    var sum = [UInt8](repeating: 0, count: 32)
    for element in try elements() {
      // The hash is little-endian.
      let key = Self.subkey(2, "tk-mani1", try key(10 << 24 | 1))
      let hash = Self.hash(element, key: key, count: 32)
      var carry = 0
      for position in 0..<32 {
        carry += Int(sum[position]) + Int(hash[position])
        sum[position] = UInt8(carry & 255)
        carry >>= 8
      }
    }
    return sum.reversed()
  }

  private func elements() throws -> [[UInt8]] {
    let none = [UInt8](repeating: 0, count: 16)
    var elements: [[UInt8]] = []
    for row in try raw.run(
      "SELECT id, class, uuid, version, metadata, secret, index_epoch, primary_index, index_1,"
        + " index_2, class_key FROM items")
    {
      let indexes = row[8...9].map { value in if case .blob(let bytes) = value { bytes } else { none } }
      let present = 1 | (row[8] == .null ? 0 : 2) | (row[9] == .null ? 0 : 4)
      var element: [UInt8] = [1, UInt8(try Self.number(row[1]))] + (try Self.blob(row[2]))
      element += Self.bytes(try Self.number(row[3]), 8)
      element += try Self.blob(row[4]).suffix(16) + Self.blob(row[5]).suffix(16)
      element += Self.bytes(try Self.number(row[6]), 4) + (try Self.blob(row[7]))
      element += [UInt8(present)] + indexes[0] + indexes[1] + Self.bytes(try Self.number(row[0]), 8)
      elements.append(element + Self.bytes(try Self.number(row[10]), 4))
    }
    for row in try raw.run("SELECT id, uuid, payload, kind, created, label, parameters FROM key_slots") {
      guard case .text(let label) = row[5] else { throw Malformed() }
      var element: [UInt8] = [2] + (try Self.blob(row[1])) + (try Self.blob(row[2])).suffix(16)
      element += Self.bytes(try Self.number(row[0]), 8) + Self.bytes(try Self.number(row[3]), 8)
      element += Self.bytes(try Self.number(row[4]), 8) + Self.bytes(Int64(label.count), 4)
      elements.append(element + label + (try Self.blob(row[6])))
    }
    for row in try raw.run("SELECT id, wrapped FROM keys") {
      elements.append([3] + Self.bytes(try Self.number(row[0]), 4) + (try Self.blob(row[1])).suffix(16))
    }
    for row in try raw.run("SELECT id, sealed FROM audit ORDER BY id DESC LIMIT 1") {
      elements.append([4] + Self.bytes(try Self.number(row[0]), 8) + (try Self.blob(row[1])).suffix(16))
    }
    for row in try raw.run("SELECT id, home, version, secret_version, state, secret FROM records") {
      let numbers = try row[0...3].flatMap { Self.bytes(try Self.number($0), 8) }
      let secret = row[5] == .null ? none : try Self.blob(row[5])
      elements.append([5] + numbers + (try Self.blob(row[4])).suffix(16) + secret.suffix(16))
    }
    return elements
  }

  func hash(_ message: [UInt8], keyID: Int, count: Int) throws -> [UInt8] {
    Self.hash(message, key: try key(keyID), count: count)
  }

  private static func hash(_ message: [UInt8], key: [UInt8], count: Int) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: count)
    crypto_generichash(&output, count, message, UInt64(message.count), key, key.count)
    return output
  }

  private func key(_ id: Int) throws -> [UInt8] { try #require(keys[id]) }

  /// `format 1 | key id 4 | nonce 24 | ciphertext | tag 16`, with the additional data
  /// `role 1 | format 1 | key id 4 | store 16 | subject 16 | class 1 | version 8 | extra`.
  private static func open(
    _ sealed: [UInt8], key: [UInt8], role: UInt8, store: [UInt8], subject: [UInt8], classByte: UInt8 = 0,
    version: Int64 = 0, extra: [UInt8] = []
  ) throws -> [UInt8] {
    try #require(sealed[0] == 1 && subject.count == 16)
    let additionalData = [role] + sealed[0..<5] + store + subject + [classByte] + bytes(version, 8) + extra
    var output = [UInt8](repeating: 0, count: sealed.count - 45)
    let result = crypto_aead_xchacha20poly1305_ietf_decrypt(
      &output, nil, nil, Array(sealed[29...]), UInt64(sealed.count - 29), additionalData, UInt64(additionalData.count),
      Array(sealed[5..<29]), key)
    try #require(result == 0, "role \(role) does not open")
    return output
  }

  private static func subkey(_ number: UInt64, _ context: String, _ key: [UInt8]) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: 32)
    crypto_kdf_derive_from_key(&output, 32, number, context, key)
    return output
  }

  private static func bytes(_ number: Int64, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }

  private static func blob(_ value: RawStore.Value) throws -> [UInt8] {
    guard case .blob(let bytes) = value else { throw Malformed() }
    return bytes
  }

  private static func number(_ value: RawStore.Value) throws -> Int64 {
    guard case .integer(let number) = value else { throw Malformed() }
    return number
  }
}
