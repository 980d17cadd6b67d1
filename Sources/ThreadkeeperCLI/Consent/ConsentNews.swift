// SPDX-License-Identifier: Apache-2.0

import ConsentLedger
import ThreadkeeperDaemon

/// A line of `consent list --follow`: a question has come, or is over.
enum ConsentNews: Encodable {
  /// Without what it says to who decides where it was decided before it was seen.
  case asked(ConsentReport.Request, ConsentReport.Waiting?)
  case ended(ConsentReport.Decision)

  private enum CodingKeys: String, CodingKey {
    case event
  }

  /// `asked`, `approved`, `denied` or `expired`, beside the fields of the request or the decision.
  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .asked(let question, let more):
      try fields.encode("asked", forKey: .event)
      try question.encode(to: encoder)
      try more?.encode(to: encoder)
    case .ended(let decision):
      try fields.encode(decision.outcome, forKey: .event)
      try decision.encode(to: encoder)
    }
  }

  var text: String {
    switch self {
    case .asked(let question, _):
      "\(question.createdAt)  \(question.id)  asked     "
        + "\(question.requester.printable) wants \(question.command) of "
        + "\(question.wanted.printable)\n"
    case .ended(let decision):
      "\(decision.decidedAt)  \(decision.id)  \(words(of: decision))\n"
    }
  }

  private func words(of decision: ConsentReport.Decision) -> String {
    var words = decision.outcome
    if decision.outcome == "approved", let scope = decision.scope { words += " \(scope)" }
    if let by = decision.decidedBy { words += " by \(by.printable)" }
    if let router = decision.router { words += ", for \(router.description.printable)" }
    if decision.given == false {
      words += ", not given" + (decision.notGiven.map { ": \($0.message.printable)" } ?? "")
    }
    return words
  }
}

extension ConsentReport.Request {
  var networkNames: String { networks.map(\.description).joined(separator: ", ") }

  /// With the router that would get it: `"home-thread" (1111111122222222) for deadbeefcafe0042 "Attic"`. One
  /// requester may speak for several.
  var wanted: String { networkNames + (router.map { " for \($0)" } ?? "") }
}
