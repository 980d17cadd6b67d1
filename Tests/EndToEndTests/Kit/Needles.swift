import Foundation

/// Secrets in all the forms in which they could slip out, and the search for them.
struct Needles: Sendable {
  struct Needle: Sendable {
    let name: String
    let bytes: Data
  }

  private(set) var all: [Needle] = []

  /// Adds both halves of a secret of 16 bytes: whatever shows the whole of it shows them too.
  mutating func add(_ name: String, _ secret: [UInt8]) {
    for (half, bytes) in [("first", secret.prefix(8)), ("second", secret.suffix(8))] {
      addBytes("\(half) half of \(name)", Array(bytes))
    }
    addBase64(name, secret)
  }

  /// Adds the secrets of a network.
  mutating func add(_ network: ThreadNetwork) {
    add("the network key of \(network.name)", network.networkKey)
    add("the PSKc of \(network.name)", network.pskc)
  }

  /// Adds a secret that a test has by itself, once. Values that stand in documentation are no secret, and
  /// occur in addresses: they are left out.
  mutating func note(_ name: String, _ secret: [UInt8]) {
    guard !all.contains(where: { $0.bytes == Data(secret.prefix(8)) }), secret.count >= 16,
      Set(secret.prefix(8)).count > 5, Set(secret.suffix(8)).count > 5, !secret.starts(with: [0x00, 0x11, 0x22, 0x33])
    else { return }
    add(name, secret)
  }

  /// The same for a text: the whole of it, because parts of it are words.
  mutating func note(_ name: String, _ secret: String) {
    let bytes = Array(secret.utf8)
    guard bytes.count >= 8, !all.contains(where: { $0.bytes == Data(bytes) }) else { return }
    addBytes(name, bytes)
    addBase64(name, bytes)
  }

  private mutating func addBytes(_ name: String, _ bytes: [UInt8]) {
    let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    all.append(Needle(name: "\(name), raw", bytes: Data(bytes)))
    all.append(Needle(name: "\(name), hex", bytes: Data(hex.utf8)))
    all.append(Needle(name: "\(name), upper-case hex", bytes: Data(hex.uppercased().utf8)))
  }

  /// Base64 of something that holds the secret: three texts, by where it begins. The characters at
  /// the ends depend on the neighbours and are left off.
  private mutating func addBase64(_ name: String, _ secret: [UInt8]) {
    for shift in 0..<3 {
      let whole = Data([UInt8](repeating: 0, count: shift) + secret).base64EncodedString()
      let known = whole.prefix { $0 != "=" }.dropFirst([0, 2, 3][shift]).dropLast(1)
      all.append(Needle(name: "\(name), base64 at \(shift)", bytes: Data(known.utf8)))
      let web = known.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }
      all.append(Needle(name: "\(name), URL base64 at \(shift)", bytes: Data(String(web).utf8)))
    }
  }

  /// The names of the needles that are in there.
  func found(in haystack: Data) -> [String] { all.filter { haystack.range(of: $0.bytes) != nil }.map(\.name) }

  func found(in text: String) -> [String] { found(in: Data(text.utf8)) }

  /// The same for many texts, by their places, and also where the case of hex is mixed and where JSON has
  /// escaped a slash. Nearly always there is nothing: all are looked at as one first.
  func found(inAll texts: [Data]) -> [(place: Int, names: [String])] {
    let forms = texts.map(Self.forms)
    // Nothing that is looked for has 32 bytes of one value in it.
    let gap = Data(repeating: 1, count: 32)
    let whole = Haystack(forms.reduce(into: Data()) { $0 += gap + $1 })
    let candidates = all.filter { whole.holds($0.bytes) }
    guard !candidates.isEmpty else { return [] }
    return forms.indices.compactMap { place in
      let text = Haystack(forms[place])
      let names = candidates.filter { text.holds($0.bytes) }.map(\.name)
      return names.isEmpty ? nil : (place, names)
    }
  }

  private static func forms(_ text: Data) -> Data {
    let lower = text + [0x0A] + Data(String(decoding: text, as: UTF8.self).lowercased().utf8)
    guard text.contains(UInt8(ascii: "\\")) else { return lower }
    return lower + [0x0A] + Data(text.split(separator: UInt8(ascii: "\\")).joined())
  }

  /// What is found in the files below a directory, with their names, and how many files there were.
  func found(below directory: String) throws -> (finds: [String], files: Int) {
    var finds: [String] = []
    var files = 0
    let paths = FileManager.default.enumerator(atPath: directory)?.compactMap { $0 as? String } ?? []
    for path in paths {
      // What is gone meanwhile, or no file, is nothing to look at.
      guard let content = try? Data(contentsOf: URL(fileURLWithPath: "\(directory)/\(path)")) else { continue }
      files += 1
      finds += found(in: content).map { "\(path): \($0)" }
    }
    return (finds, files)
  }
}

/// Bytes that are searched often: by the C library, which does it fast and ends at a zero. In both what is
/// searched and what is looked for, zeros are ones.
private struct Haystack {
  private let text: [CChar]

  init(_ bytes: Data) { text = Self.text(bytes) }

  func holds(_ needle: Data) -> Bool {
    text.withUnsafeBufferPointer { text in
      Self.text(needle).withUnsafeBufferPointer { bytes in
        guard let text = text.baseAddress, let bytes = bytes.baseAddress else { return false }
        return strstr(text, bytes) != nil
      }
    }
  }

  /// Without a loop over the bytes: this is not optimized.
  private static func text(_ bytes: Data) -> [CChar] {
    [CChar](unsafeUninitializedCapacity: bytes.count + 1) { buffer, count in
      count = bytes.count + 1
      bytes.copyBytes(to: UnsafeMutableRawBufferPointer(buffer))
      buffer[bytes.count] = 0
      var end = 0
      while let start = buffer.baseAddress.map({ $0 + end }), let zero = memchr(start, 0, bytes.count - end) {
        zero.storeBytes(of: 1, as: UInt8.self)
        end += zero - UnsafeMutableRawPointer(start) + 1
      }
    }
  }
}
