// SPDX-License-Identifier: Apache-2.0

/// Something that holds a key and lends its bytes for the length of a call.
package protocol KeyMaterial: Sendable {
  func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R
}
