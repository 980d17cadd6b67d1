// SPDX-License-Identifier: Apache-2.0

extension Settings {
  /// Who says whether credentials are given out.
  package struct Consent: Sendable, Equatable {
    /// Logins of the broker that may approve and deny over MQTT; never their own requests.
    package var approvers: [String] = []

    package init() {}

    /// Octet by octet, as the broker has it.
    package func isApprover(_ user: String) -> Bool {
      approvers.contains { $0.utf8.elementsEqual(user.utf8) }
    }
  }
}
