// SPDX-License-Identifier: Apache-2.0

/// A sealed envelope as it travels in the field `sealed`: who made it, and what it holds, only its
/// recipient can tell.
package struct SealedText: Codable, Hashable, Sendable {
  package var v: Int
  package var typ: String
  package var alg: String
  /// Names the recipient's key.
  package var kid: String
  /// The ciphertext as base64.
  package var ct: String

  package init(v: Int, typ: String, alg: String, kid: String, ct: String) {
    self.v = v
    self.typ = typ
    self.alg = alg
    self.kid = kid
    self.ct = ct
  }
}
