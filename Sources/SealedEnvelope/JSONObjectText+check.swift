// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension JSONObjectText {
  /// Whether this is a JSON object in UTF-8, of no more depth than an envelope can hold.
  package static func isObject(_ bytes: [UInt8]) -> Bool {
    // A parser reads what is nested by calling itself, and other encodings than UTF-8 too.
    isAtMost(Envelope.nesting - 1, deep: bytes) && !bytes.contains(0)
      && (try? JSONDecoder().decode(AnyObject.self, from: Data(bytes))) != nil
  }

  /// Looked into by nobody.
  private struct AnyObject: Decodable {
    private struct Name: CodingKey {
      var stringValue: String
      var intValue: Int? { nil }
      init?(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: Name.self) }
  }
}
