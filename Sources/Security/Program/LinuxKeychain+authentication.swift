// SPDX-License-Identifier: Apache-2.0

extension LinuxKeychain {
  /// What `kSecUseAuthenticationContext` can say about the question to a person. `LAContext` of the module
  /// LocalAuthentication is one; any other object is accepted and not used.
  public protocol AuthenticationContext: AnyObject, Sendable {
    /// The words of the question, unless `kSecUseOperationPrompt` has some. Empty: none.
    var localizedReason: String { get }
    /// True: nobody is asked, and what needs a person answers -25308, unless an earlier agreement counts.
    var interactionNotAllowed: Bool { get }
    /// Answers for a person who has agreed a short while ago, or asks.
    ///
    /// - Parameter ask: asks; true, false for a refusal, nil when there is nobody.
    /// - Returns: likewise.
    func agreement(orByAsking ask: () -> Bool?) -> Bool?
  }
}

extension RequestReader {
  mutating func readContext(_ value: Any?) {
    guard let context = value as? any LinuxKeychain.AuthenticationContext else { return }
    let reason = context.localizedReason
    if request.prompt == nil, !reason.isEmpty { request.prompt = reason }
    request.agreement = { ask in
      PresenceAnswer(
        agrees: context.agreement { context.interactionNotAllowed ? nil : ask().agrees })
    }
  }
}
