// SPDX-License-Identifier: Apache-2.0

/// The words for all that can go wrong below.
extension THError {
  /// What a daemon, or the own store, answers to a command; nil before anybody is asked.
  convenience init(_ failure: AnswerFailure, to command: RequestCommand? = nil) {
    var info: [String: Any] = [Self.answerCodeKey: failure.code]
    info[Self.tlvKey] = failure.tlv
    info[Self.offsetKey] = failure.offset
    let reason: Code =
      if failure.ofDataset != nil {
        .invalidDataset
      } else {
        failure.known.map { Self.reason(of: $0, to: command) } ?? .badAnswer
      }
    // The code, the TLV and the offset are in the words, too: not everybody prints `userInfo`.
    let message =
      if reason == .invalidDataset {
        "the dataset is refused (\(Self.place(failure))): \(failure.message)"
      } else {
        failure.message
      }
    self.init(
      reason, message, help: failure.help ?? Self.help(for: failure.known), info: info,
      isTemporary: failure.known == .ending)
  }

  private static func place(_ failure: AnswerFailure) -> String {
    var parts = [failure.code]
    if let tlv = failure.tlv { parts.append(tlv) }
    if let offset = failure.offset { parts.append("at byte \(offset)") }
    return parts.joined(separator: ", ")
  }

  private static func reason(of code: AnswerCode, to command: RequestCommand?) -> Code {
    switch code {
    case .incompleteDataset, .badDataset: .invalidDataset
    case .invalidPayload: .invalidArgument
    case .notAuthorized, .notEnrolled: .notAuthorized
    case .consentRequired, .consentDenied, .consentExpired: .refused
    case .notFound where command == .getPreferred: .noPreferredNetwork
    case .staleID, .notFound: .notFound
    case .conflict: .conflict
    case .rateLimited, .tooLarge, .tooManyRouters: .busy
    case .expired, .ending: .interrupted
    case .readOnly: .readOnly
    case .damagedCredentials: .damaged
    case .unsupported: .unsupported
    case .store: .storeFailure
    @unknown default: .badAnswer
    }
  }

  private static func help(for code: AnswerCode?) -> String? {
    switch code {
    case .consentRequired:
      "run a daemon (`threadkeeper run`) and agree with `threadkeeper consent`, or start this program"
        + " from a terminal"
    case .readOnly: "`threadkeeper store verify` tells why"
    case .rateLimited: "try again in a moment"
    default: nil
    }
  }

  /// What the way to the daemon comes to.
  convenience init(_ error: SocketError, at path: String) {
    switch error.reason {
    case .untrusted:
      self.init(
        .untrusted, "the daemon is not asked: \(error.message)",
        help: "its directory must be its own or root's, and nobody else may write there or above")
    case .forbidden:
      self.init(
        .notAuthorized, "the daemon cannot be asked: \(error.message)",
        help: "name a socket that this user can reach in the daemon's `clients.socket`")
    case .closed, .timedOut, .abandoned:
      self.init(
        .interrupted, "the daemon at \(path) has not answered: \(error.message)",
        help: "it may have done what it was asked for; `threadkeeper status` tells whether it runs",
        isTemporary: error.reason == .closed)
    case .tooLarge, .malformed:
      self.init(.badAnswer, "the daemon at \(path) cannot be understood: \(error.message)")
    case .taken, .system:
      self.init(
        .unavailable, "the daemon at \(path) cannot be asked: \(error.message)",
        help: "`threadkeeper status` tells whether it runs")
    @unknown default:
      self.init(.unavailable, "the daemon at \(path) cannot be asked: \(error.message)")
    }
  }

  /// What opening and using the own store comes to.
  convenience init(_ error: KeychainError) {
    if let holder = error.lockHolder {
      self.init(
        .storeInUse, "\(error.message)",
        help: "\(holder) holds it and answers no calls: end it, or let it start")
      return
    }
    let reason: Code =
      switch error.status {
      case .readOnly: .readOnly
      case .decode: .damaged
      case .notAvailable, .authFailed, .noSuchKeychain, .interactionNotAllowed: .unavailable
      default: .storeFailure
      }
    self.init(
      reason, "the own store cannot be used: \(error.message)",
      help: reason == .readOnly ? Self.help(for: .readOnly) : nil)
  }
}
