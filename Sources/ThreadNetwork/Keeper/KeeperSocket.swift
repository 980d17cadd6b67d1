// SPDX-License-Identifier: Apache-2.0

/// The socket of a keeper: one request and one answer for each connection. See docs/reference/daemon-socket.md.
struct KeeperSocket: Sendable {
  /// Seconds. A daemon does what it is asked for within some milliseconds, but for its disk.
  private static let patience = 60
  /// Seconds: a person has two minutes, and the daemon tells when they are over.
  private static let personsPatience = 125

  let path: String
  /// Whether a daemon of another user is meant, too.
  var admitsOthers = false
  /// Whether the person at this program's terminal may be told of a question that waits.
  var usesTerminal = false

  /// - Returns: nil when nobody listens there.
  /// - Throws: `THError`, among them what the daemon answers; `CancellationError`.
  func ask(_ request: ThreadRequest) async throws -> AnswerData? {
    guard request.command.needsConsent, usesTerminal, TerminalConsent.isPossible else {
      return try await exchange(request)
    }
    let person = Task { await ConsentAtTerminal(keeper: self, request: request).run() }
    let answer: AnswerData?
    do {
      answer = try await exchange(request)
    } catch {
      await Self.end(person)
      throw error
    }
    await Self.end(person)
    return answer
  }

  /// Returns when the terminal is as it was before.
  private static func end(_ person: Task<Void, Never>) async {
    person.cancel()
    await person.value
  }

  /// - Parameter asKeeper: whether the daemon's own user, or root, speaks as such.
  /// - Returns: nil when nobody listens there.
  /// - Throws: `THError`, `CancellationError`.
  func exchange(_ request: ThreadRequest, asKeeper: Bool? = nil) async throws -> AnswerData? {
    var fields = request.fields
    fields.v = ThreadAnswer.version
    fields.command = request.command.rawValue
    fields.asKeeper = asKeeper
    let seconds = request.command.needsConsent ? Self.personsPatience : Self.patience
    let bytes: [UInt8]?
    do {
      bytes = try await DaemonCaller.ask(
        fields.json, at: path, within: seconds, admittingOthers: admitsOthers)
    } catch let error as DaemonSocketError {
      if error.reason == .abandoned { throw CancellationError() }
      throw THError(error, at: path)
    }
    guard let bytes else { return nil }
    guard let answer = ThreadAnswer(json: bytes) else { throw KeeperLink.unreadable }
    do throws(AnswerFailure) {
      return try answer.result()
    } catch {
      throw THError(error, to: request.command)
    }
  }
}
