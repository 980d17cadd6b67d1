// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Secrets in all the forms in which they could slip out, and the search for them.
struct Needles: Sendable {
  struct Needle: Sendable {
    let name: String
    let octets: Data
  }

  private(set) var all: [Needle] = []

  /// Adds both halves of a secret of 16 octets: whatever shows the whole of it shows them too.
  mutating func add(_ name: String, _ secret: [UInt8]) {
    for (half, octets) in [("first", secret.prefix(8)), ("second", secret.suffix(8))] {
      addOctets("\(half) half of \(name)", Array(octets))
    }
    addBase64(name, secret)
  }

  private mutating func addOctets(_ name: String, _ octets: [UInt8]) {
    let hex = octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    all.append(Needle(name: "\(name), raw", octets: Data(octets)))
    all.append(Needle(name: "\(name), hex", octets: Data(hex.utf8)))
    all.append(Needle(name: "\(name), upper-case hex", octets: Data(hex.uppercased().utf8)))
  }

  /// Base64 of something that holds the secret: three texts, by where it begins. The characters at
  /// the ends depend on the neighbours and are left off.
  private mutating func addBase64(_ name: String, _ secret: [UInt8]) {
    for shift in 0..<3 {
      let whole = Data([UInt8](repeating: 0, count: shift) + secret).base64EncodedString()
      let known = whole.prefix { $0 != "=" }.dropFirst([0, 2, 3][shift]).dropLast(1)
      all.append(Needle(name: "\(name), base64 at \(shift)", octets: Data(known.utf8)))
      let web = known.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }
      all.append(Needle(name: "\(name), URL base64 at \(shift)", octets: Data(String(web).utf8)))
    }
  }

  /// The names of the needles that are in there.
  func found(in haystack: Data) -> [String] {
    all.filter { haystack.range(of: $0.octets) != nil }.map(\.name)
  }

  func found(in text: String) -> [String] { found(in: Data(text.utf8)) }

  /// What is found in the files below a directory, with their names, and how many files there were.
  func found(below directory: String) throws -> (finds: [String], files: Int) {
    var finds: [String] = []
    var files = 0
    let paths =
      FileManager.default.enumerator(atPath: directory)?.compactMap { $0 as? String } ?? []
    for path in paths {
      // What is gone meanwhile, or no file, is nothing to look at.
      guard let content = try? Data(contentsOf: URL(fileURLWithPath: "\(directory)/\(path)"))
      else { continue }
      files += 1
      finds += found(in: content).map { "\(path): \($0)" }
    }
    return (finds, files)
  }
}
