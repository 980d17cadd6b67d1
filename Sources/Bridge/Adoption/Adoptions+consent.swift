// SPDX-License-Identifier: Apache-2.0

import ConsentLedger
import ThreadCredentialStore
import ThreadDataset

/// What a person's decision means for an adoption.
extension Adoptions {
  /// The router that a decision is about; nil for a question of a client.
  static func router(of record: ConsentRecord) -> BorderAgentID? {
    record.subject.command == AdoptionQuestion.command ? record.subject.router?.agent : nil
  }

  /// A person wants to be asked again about a router.
  func askAgain(_ router: RouterRecord, in home: String) throws -> [Effect] {
    var machine = try machine(of: router, in: home)
    let effects = machine.handle(.wantedAgain)
    return try perform(effects, &machine, of: router, in: home)
  }

  /// A question about a router is settled.
  ///
  /// - Parameter router: nil where it has left, or its home is not served any more.
  func settle(
    _ record: ConsentRecord, _ router: RouterRecord?, preferred: () throws -> OperationalDataset?
  ) throws -> [Effect] {
    let (home, consent) = (record.subject.home, record.id.description)
    guard let router else {
      guard record.outcome == .approved,
        let noted = try consents.noteNotGiven(consent, .changed, tx)
      else { return [] }
      return [.log(.notGiven(noted, .changed))]
    }
    var machine = try machine(of: router, in: home)
    let isEnabled = configuration.adoptTimeout != nil
    var target: AdoptionTarget?
    if record.outcome == .approved, isEnabled, let asked = machine.record,
      asked.phase == .asked, asked.consent == consent
    {
      // A person may have agreed to something else. The walk may not have come to this router yet.
      let preferred = try preferred()
      target = try self.target(of: router, preferred, in: home)
      if try isOutdated(asked, of: router, preferred, in: home) { target = nil }
    }
    let effects = machine.handle(
      .decided(record.outcome, consent: consent, isEnabled: isEnabled, target: target))
    return try perform(effects, &machine, of: router, in: home)
  }
}

extension RouterRecord {
  /// Why nobody can be asked again whether it gets the preferred credentials; nil where somebody can.
  var askAgainObstacle: String? {
    guard adoption?.canBeAskedAgain != true else { return nil }
    return switch adoption {
    case .due, .asked: "a person is asked about \(displayName) already"
    case .agreed, .sent: "\(displayName) is being given the credentials already"
    case .notEnrolled, .damagedKeys: "nothing can be sealed for the login of \(displayName)"
    default: "there is nothing to ask about \(displayName)"
    }
  }
}
