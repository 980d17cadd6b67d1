// SPDX-License-Identifier: Apache-2.0

import ThreadRequests

extension AnswerFailure {
  /// What a command ends with.
  package var commandFailure: CommandFailure {
    let status = exit.flatMap { ExitStatus(rawValue: $0) } ?? exitStatus
    return CommandFailure(status, message, remedy: help)
  }

  private var exitStatus: ExitStatus {
    guard let known else { return ofDataset == nil ? .software : .badInput }
    switch known {
    case .invalidPayload: return .usage
    case .incompleteDataset, .badDataset, .damagedCredentials: return .badInput
    case .notFound, .staleID: return .noInput
    case .tooManyRouters, .notAuthorized, .notEnrolled, .consentRequired, .consentDenied,
      .consentExpired:
      return .notPermitted
    case .rateLimited, .expired, .ending, .conflict: return .temporary
    case .readOnly, .store, .tooLarge: return .inputOutput
    case .unsupported: return .unavailable
    }
  }
}

extension AnswerFailure {
  /// With the exit status that a command should end with.
  var forCommand: AnswerFailure {
    var failure = self
    failure.exit = commandFailure.status.rawValue
    return failure
  }
}
