// SPDX-License-Identifier: Apache-2.0

import KeychainCore

/// What is asked of a person before a secret is given out.
package struct PresenceQuestion: Sendable {
  /// What each of the items demands.
  package let demands: [AccessControl]
  /// The words of the program that asks, if it has any.
  package let prompt: String?
}

package enum PresenceAnswer: Sendable {
  /// Somebody is there and agrees.
  case present
  /// Somebody is there and refuses: -128.
  case refused
  /// There is nobody to ask: -25308.
  case nobody

  /// - Parameter agrees: nil when nobody can be asked.
  package init(agrees: Bool?) {
    self =
      switch agrees {
      case true?: .present
      case false?: .refused
      case nil: .nobody
      }
  }

  package var agrees: Bool? {
    switch self {
    case .present: true
    case .refused: false
    case .nobody: nil
    }
  }
}

/// Asks a person. Called without a lock or a transaction, and may take as long as a person does.
package protocol PresenceProvider: Sendable {
  func ask(_ question: PresenceQuestion) -> PresenceAnswer
}

/// For programs that nobody watches.
package struct NobodyPresent: PresenceProvider {
  package init() {}

  package func ask(_ question: PresenceQuestion) -> PresenceAnswer { .nobody }
}

/// What a step answers that may need a person first. Nothing has changed when it does.
package enum PresenceStep<Value: Sendable>: Sendable {
  case done(Value)
  case asks([Item])
}

/// Whether a person may be asked for items that need one (`u_AuthUI`).
package enum AuthenticationUI: String, Sendable {
  case allow = "u_AuthUIA"
  /// Answer -25308 when somebody would have to be asked.
  case fail = "u_AuthUIF"
  /// Leave out what somebody would have to be asked for. For searches only.
  case skip = "u_AuthUIS"
}
