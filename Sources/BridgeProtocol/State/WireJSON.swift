// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How values become the JSON that is published: keys sorted, so that equal values are equal bytes.
package struct WireJSON {
  private let encoder: JSONEncoder

  package init() {
    encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  }

  package func encode(_ value: some Encodable) -> [UInt8] {
    // Every published type holds texts, whole numbers and booleans only, for which encoding is total.
    guard let data = try? encoder.encode(value) else { return Array("{}".utf8) }
    return Array(data)
  }
}
