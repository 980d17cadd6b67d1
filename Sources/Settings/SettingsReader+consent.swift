// SPDX-License-Identifier: Apache-2.0

import YAMLReader

extension SettingsReader {
  mutating func consent() -> Settings.Consent {
    var consent = Settings.Consent()
    consent.approvers = approvers()
    consent.approversTrust =
      choice(.consentApproversTrust, among: Settings.Consent.ApproversTrust.allCases)
      ?? consent.approversTrust
    return consent
  }

  private mutating func approvers() -> [String] {
    let key = "consent.approvers"
    guard let (document, node) = mappings[key], !node.isNull else { return [] }
    guard case .sequence(let users) = node.content else {
      report(
        key, at: document.place(of: node), "expected a list of user names, found \(node.kind)")
      return []
    }
    var approvers: [String] = []
    for node in users {
      let place = document.place(of: node)
      guard let user = user(node, of: key, at: place) else { continue }
      guard !approvers.contains(where: { $0.utf8.elementsEqual(user.utf8) }) else {
        report(key, at: place, "the user `\(user)` is listed twice")
        continue
      }
      approvers.append(user)
    }
    return approvers
  }
}
