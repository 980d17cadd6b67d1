// SPDX-License-Identifier: Apache-2.0

extension String {
  /// Equal byte by byte, as the broker sees it: `==` also takes texts for equal that are written
  /// differently and only look the same.
  package func hasBytes(of other: String) -> Bool {
    utf8.withContiguousStorageIfAvailable { mine in
      other.utf8.withContiguousStorageIfAvailable { mine.elementsEqual($0) }
    }.flatMap { $0 } ?? utf8.elementsEqual(other.utf8)
  }
}
