// SPDX-License-Identifier: Apache-2.0

extension Settings {
  /// Who says whether credentials are given out.
  package struct Consent: Sendable, Equatable {
    /// Logins of the broker that may approve and deny over MQTT; never their own requests.
    package var approvers: [String] = []
    package var approversTrust: ApproversTrust = .signed

    package init() {}

    /// Which decisions of an approver count.
    package enum ApproversTrust: String, Sendable, Equatable, CaseIterable {
      /// Those that it has sealed and signed, with keys that are enrolled for it.
      case signed
      /// The broker's word for who speaks is enough.
      case broker
    }

    /// Byte by byte, as the broker has it.
    package func isApprover(_ user: String) -> Bool {
      approvers.contains { $0.utf8.elementsEqual(user.utf8) }
    }
  }
}
