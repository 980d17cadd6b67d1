// SPDX-License-Identifier: Apache-2.0

import BoundedJSON
import SealedEnvelope
import ThreadkeeperDaemon

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What the daemon answers to a request, and what it means for who asked.
struct ClientAnswer {
  private struct Form: Decodable {
    struct Failure: Decodable {
      var code: String
      var message: String?
      var field: String?
    }

    var v: Int
    var status: String
    var error: Failure?
    var transaction: String?
  }

  /// The text of `data`; an empty object where there is none.
  let data: [UInt8]
  /// Whether only the daemon can have said it, and only to this client.
  let wasSealed: Bool

  /// The most objects and arrays within each other in an answer.
  static let nesting = 16

  /// - Parameters:
  ///   - transaction: of the request. An envelope is bound to it: an old one is no answer.
  ///   - keys: of the client and of the daemon; nil: nothing can be opened.
  ///   - needsSeal: whether data that is not sealed is refused: anybody on the broker could have said it.
  init(
    _ payload: [UInt8], to transaction: String,
    keys: (own: Identity, daemon: PublicIdentity)?, topic: String, needsSeal: Bool
  ) throws(CommandFailure) {
    guard Self.isReadable(payload),
      let form = try? JSONDecoder().decode(Form.self, from: Data(payload)), form.v == 1
    else { throw CommandFailure(.badInput, "the answer cannot be read") }
    guard form.status == "ok" else { throw Self.failure(form.error) }
    let data = UntrustedJSON.value(of: "data", in: payload, depth: Self.nesting) ?? Array("{}".utf8)
    guard let envelope = UntrustedJSON.value(of: "sealed", in: data, depth: Self.nesting) else {
      guard !needsSeal else {
        throw CommandFailure(
          .badInput, "not_sealed: the answer is not sealed, so anybody may have made it")
      }
      self.data = data
      wasSealed = false
      return
    }
    guard let keys else {
      throw CommandFailure(
        .usage, "the answer is sealed", remedy: "give the daemon's line with --daemon")
    }
    do throws(EnvelopeRefusal) {
      let opened = try Envelope.open(
        envelope, with: keys.own, from: [keys.daemon], topic: topic,
        now: Int64(Date().timeIntervalSince1970))
      guard opened.order == .identifier(transaction) else { throw .replayed }
      self.data = opened.body
      wasSealed = true
    } catch {
      throw CommandFailure(.badInput, "\(error.rawValue): \(error.message)")
    }
  }

  /// The `transaction` of an answer; for brokers that pass no correlation data on.
  static func transaction(of payload: [UInt8]) -> String? {
    guard isReadable(payload) else { return nil }
    return (try? JSONDecoder().decode(Form.self, from: Data(payload)))?.transaction
  }

  private static func isReadable(_ payload: [UInt8]) -> Bool {
    payload.count <= 1 << 20 && (try? UntrustedJSON.check(payload, depth: nesting)) == true
  }

  private static func failure(_ failure: Form.Failure?) -> CommandFailure {
    guard let failure else { return CommandFailure(.badInput, "the answer cannot be read") }
    let status: ExitStatus =
      switch failure.code {
      case "not_authorized", "not_enrolled", "consent_required", "consent_denied": .notPermitted
      case "not_found", "stale_id": .noInput
      case "rate_limited", "consent_expired", "expired", "replayed", "not_yet_valid": .temporary
      case "read_only": .inputOutput
      case "unsupported": .unavailable
      default: .badInput
      }
    return CommandFailure(
      status,
      "\(failure.code): \(failure.message ?? "the daemon says no more")"
        + (failure.field.map { " (field \($0))" } ?? ""))
  }
}
