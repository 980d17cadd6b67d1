// SPDX-License-Identifier: Apache-2.0

/// What became of an event, for a publisher that asked by a Response Topic. The form is that of the answer to
/// a request:
///
///     {"status":"ok","v":1}
///     {"error":{"code":"not_found","field":"border_agent_id","message":"…"},"status":"error","v":1}
package struct EventAnswer: Encodable, Sendable {
  private struct Failure: Encodable {
    let code: String
    let field: String?
    let tlv: String?
    let offset: Int?
    let message: String
  }

  private let v = 1
  private let status: String
  private let error: Failure?

  /// - Parameter rejection: nil when the event was acted upon, or had come before.
  package init(_ rejection: Rejection?) {
    status = rejection == nil ? "ok" : "error"
    error = rejection.map {
      Failure(
        code: $0.code, field: $0.field, tlv: $0.tlv, offset: $0.offset, message: $0.message)
    }
  }
}
