/// What the keychain wants to know of an X.509 certificate (RFC 5280, section 4.1):
///
///     Certificate = { { [0] version?, serial, algorithm, issuer, validity, subject,
///                       { algorithm, key }, … [3] extensions? }, algorithm, signature }
struct CertificateFields {
  /// 1 or 3.
  let version: Int64
  let serialNumber: [UInt8]
  /// The DER of the names.
  let issuer: [UInt8]
  let subject: [UInt8]
  /// The SHA-1 of the public key.
  let publicKeyHash: [UInt8]
  let subjectKeyID: [UInt8]?
  /// What a person would call the subject.
  let summary: String?

  init?(_ bytes: [UInt8]) {
    guard let outer = DERElement(first: bytes[...]), outer.tag == DERElement.sequence, outer.whole.count == bytes.count,
      let parts = outer.children, parts.count == 3, parts[0].tag == DERElement.sequence,
      parts[1].tag == DERElement.sequence, parts[2].tag == DERElement.bitString, var fields = parts[0].children
    else { return nil }
    var version: Int64 = 1
    if fields.first?.tag == DERElement.context(0) {
      guard let number = fields.removeFirst().children?.first?.contents, number.count == 1, let value = number.first
      else { return nil }
      version = Int64(value) + 1
    }
    let tags: [UInt8] = [DERElement.integer] + Array(repeating: DERElement.sequence, count: 5)
    guard fields.count >= 6, fields.prefix(6).map(\.tag) == tags, let key = fields[5].children, key.count == 2,
      key[1].tag == DERElement.bitString
    else { return nil }
    self.version = version
    serialNumber = Array(fields[0].contents)
    issuer = Array(fields[2].whole)
    subject = Array(fields[4].whole)
    // The first byte counts the bits that do not belong to the key.
    publicKeyHash = SHA1.hash(key[1].contents.dropFirst())
    subjectKeyID = Self.subjectKeyID(fields.dropFirst(6))
    summary = Self.summary(of: fields[4])
  }

  /// What tells a certificate from others.
  var primaryKey: ItemAttributes {
    [.certificateType: .integer(version), .issuer: .data(issuer), .serialNumber: .data(serialNumber)]
  }

  /// The other attributes that follow from the certificate.
  var derived: ItemAttributes {
    var attributes: ItemAttributes = [
      .certificateEncoding: .integer(3), .subject: .data(subject), .publicKeyHash: .data(publicKeyHash),
    ]
    if let subjectKeyID { attributes[.subjectKeyID] = .data(subjectKeyID) }
    if let summary { attributes[.label] = .string(summary) }
    return attributes
  }

  /// The extension 2.5.29.14.
  private static func subjectKeyID(_ rest: ArraySlice<DERElement>) -> [UInt8]? {
    let extensions = rest.first { $0.tag == DERElement.context(3) }?.children?.first?.children
    for one in extensions ?? [] {
      guard let parts = one.children, let id = parts.first, let value = parts.last,
        Array(id.contents) == [0x55, 0x1D, 0x0E], let inner = DERElement(first: value.contents),
        inner.tag == DERElement.octetString
      else { continue }
      return Array(inner.contents)
    }
    return nil
  }

  /// The common name; else the unit, the organization or the country.
  private static func summary(of name: DERElement) -> String? {
    var found: [UInt8: String] = [:]
    for set in name.children ?? [] {
      for pair in set.children ?? [] {
        // The attributes of a name are 2.5.4.x.
        guard let parts = pair.children, parts.count == 2, parts[0].contents.count == 3,
          parts[0].contents.starts(with: [0x55, 0x04]), let kind = parts[0].contents.last
        else { continue }
        found[kind] = text(parts[1])
      }
    }
    return [3, 11, 10, 6].lazy.compactMap { found[$0] }.first
  }

  private static func text(_ element: DERElement) -> String? {
    switch element.tag {
    case 0x1E:  // BMPString: two bytes a character.
      let bytes = Array(element.contents)
      guard bytes.count.isMultiple(of: 2) else { return nil }
      let units = stride(from: 0, to: bytes.count, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
      return String(decoding: units, as: UTF16.self)
    default: return String(decoding: element.contents, as: UTF8.self)
    }
  }
}

/// One element of DER (X.690): `tag 1 | length 1…5 | contents`.
struct DERElement {
  let tag: UInt8
  let contents: ArraySlice<UInt8>
  /// With tag and length.
  let whole: ArraySlice<UInt8>

  static let integer: UInt8 = 0x02
  static let bitString: UInt8 = 0x03
  static let octetString: UInt8 = 0x04
  static let sequence: UInt8 = 0x30
  /// The tag of a constructed element `[number]`.
  static func context(_ number: UInt8) -> UInt8 { 0xA0 | number }

  /// The DER of a sequence of elements.
  static func sequence(of contents: ArraySlice<UInt8>) -> [UInt8] {
    guard contents.count >= 0x80 else { return [sequence, UInt8(contents.count)] + contents }
    let bytes = withUnsafeBytes(of: contents.count.bigEndian) { Array($0.drop { $0 == 0 }) }
    return [sequence, 0x80 | UInt8(bytes.count)] + bytes + contents
  }

  /// The elements that stand one after the other in `bytes`; nil unless they fill it exactly.
  static func all(in bytes: ArraySlice<UInt8>) -> [DERElement]? {
    var elements: [DERElement] = []
    var rest = bytes
    while !rest.isEmpty {
      guard let element = DERElement(first: rest) else { return nil }
      elements.append(element)
      rest = rest[element.whole.endIndex...]
    }
    return elements
  }

  /// The elements within this one.
  var children: [DERElement]? { Self.all(in: contents) }

  init?(first bytes: ArraySlice<UInt8>) {
    guard bytes.count >= 2, let tag = bytes.first, tag & 0x1F != 0x1F else { return nil }
    var position = bytes.startIndex + 1
    var length = Int(bytes[position])
    position += 1
    if length >= 0x80 {
      let count = length & 0x7F
      guard (1...4).contains(count), bytes.endIndex - position >= count else { return nil }
      length = bytes[position..<(position + count)].reduce(0) { $0 << 8 | Int($1) }
      // The shortest form only.
      guard length >= 0x80, length >> (8 * (count - 1)) > 0 else { return nil }
      position += count
    }
    guard bytes.endIndex - position >= length else { return nil }
    self.tag = tag
    contents = bytes[position..<(position + length)]
    whole = bytes[bytes.startIndex..<(position + length)]
  }
}

/// SHA-1 (FIPS 180-4, section 6.1). Broken as a signature's hash, and only a name here: the keychain
/// joins a certificate to its private key by the SHA-1 of the public one.
enum SHA1 {
  static func hash(_ message: some Collection<UInt8>) -> [UInt8] {
    var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
    var padded = Array(message)
    let bits = UInt64(padded.count) * 8
    padded.append(0x80)
    while padded.count % 64 != 56 { padded.append(0) }
    padded += withUnsafeBytes(of: bits.bigEndian) { Array($0) }
    for start in stride(from: 0, to: padded.count, by: 64) { update(&state, with: padded[start..<(start + 64)]) }
    return state.flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } }
  }

  private static func update(_ state: inout [UInt32], with block: ArraySlice<UInt8>) {
    var schedule = stride(from: block.startIndex, to: block.endIndex, by: 4).map { index in
      block[index..<(index + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    }
    for index in 16..<80 {
      let word = schedule[index - 3] ^ schedule[index - 8] ^ schedule[index - 14] ^ schedule[index - 16]
      schedule.append(rotate(word, by: 1))
    }
    var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
    for (index, word) in schedule.enumerated() {
      let (mix, constant): (UInt32, UInt32) =
        switch index {
        case 0..<20: (b & c | ~b & d, 0x5A82_7999)
        case 20..<40: (b ^ c ^ d, 0x6ED9_EBA1)
        case 40..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
        default: (b ^ c ^ d, 0xCA62_C1D6)
        }
      let next = rotate(a, by: 5) &+ mix &+ e &+ constant &+ word
      (e, d, c, b, a) = (d, c, rotate(b, by: 30), a, next)
    }
    for (index, value) in [a, b, c, d, e].enumerated() { state[index] &+= value }
  }

  private static func rotate(_ word: UInt32, by count: UInt32) -> UInt32 { word << count | word >> (32 - count) }
}
