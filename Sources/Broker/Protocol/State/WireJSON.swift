// SPDX-License-Identifier: Apache-2.0

import ThreadkeeperSupport

/// How values become the JSON that is published: keys sorted, so that equal values are equal bytes.
package struct WireJSON: Sendable {
  package init() {}

  package func encode(_ value: some Encodable) -> [UInt8] {
    // Every published type holds texts, whole numbers and booleans only, for which encoding is total.
    (try? JSONWriter.bytes(of: value)) ?? Array("{}".utf8)
  }
}
