// SPDX-License-Identifier: Apache-2.0

/// What an envelope held, and who signed it.
package struct OpenedEnvelope: Sendable {
  /// A JSON object, exactly as it was signed. It may be secret: wipe it when it is read.
  package var body: [UInt8]
  package let issuer: PublicIdentity
  package let order: Envelope.Order
  /// Unix seconds.
  package let issuedAt: Int64
  package let expiresAt: Int64?
}

extension OpenedEnvelope: CustomStringConvertible, CustomReflectable {
  /// Never the body.
  package var description: String { "an envelope of \(issuer)" }
  package var customMirror: Mirror { Mirror(self, children: ["issuer": issuer.fingerprint]) }
}
