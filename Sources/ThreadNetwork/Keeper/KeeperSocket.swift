// SPDX-License-Identifier: Apache-2.0

/// The socket of a keeper: one request and one answer for each connection. See docs/architecture.md.
struct KeeperSocket: Sendable {
  /// Seconds. A keeper does what it is asked for within some milliseconds, but for its disk.
  private static let patience = 60
  /// Seconds: a person has two minutes, and the keeper tells when they are over.
  private static let personsPatience = 125

  let path: String
  /// Whether a keeper of another user is meant, too.
  var admitsOthers = false

  /// - Returns: nil when nobody listens there.
  /// - Throws: `THError`, among them what the keeper answers; `CancellationError`.
  func ask(_ request: ThreadRequest) async throws -> AnswerData? {
    var fields = request.fields
    fields.v = ThreadAnswer.version
    fields.command = request.command.rawValue
    let seconds = request.command.needsConsent ? Self.personsPatience : Self.patience
    let octets: [UInt8]?
    do {
      octets = try await DaemonCaller.ask(
        fields.json, at: path, within: seconds, admittingOthers: admitsOthers)
    } catch let error as DaemonSocketError {
      if error.reason == .abandoned { throw CancellationError() }
      throw THError(error, at: path)
    }
    guard let octets else { return nil }
    guard let answer = ThreadAnswer(json: octets) else { throw KeeperLink.unreadable }
    do throws(AnswerFailure) {
      return try answer.result()
    } catch {
      throw THError(error)
    }
  }
}
