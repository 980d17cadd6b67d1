// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import KeychainCore
import Logging
import Settings

/// Says at the start, by name, which users in `consent.approvers` have no say, and who else has theirs.
struct ApproverNotice: Sendable {
  private let settings: Settings
  private let enrolments: ClientEnrolmentStore

  init(_ settings: Settings, enrolments: ClientEnrolmentStore) {
    self.settings = settings
    self.enrolments = enrolments
  }

  func log(to logger: Logger) {
    guard !settings.consent.approvers.isEmpty,
      let clients = try? enrolments.keychain.database.read({ try enrolments.all($0).clients })
    else { return }
    for user in settings.consent.approvers {
      let own = clients.filter { $0.user.utf8.elementsEqual(user.utf8) }
      switch settings.consent.approversTrust {
      case .signed:
        say(
          .warning, "an approver is not enrolled, and decides nothing", of: user,
          in: homes { home in !own.contains { $0.home == home && !$0.isRevoked } }, to: logger)
      case .broker:
        // Also of a revoked one with this trust nothing counts that is in plaintext.
        say(
          .notice, "an approver is believed in plaintext, and so is whoever can publish as it",
          of: user, in: homes { home in !own.contains { $0.home == home && $0.trust == .signed } },
          to: logger)
      }
    }
  }

  private func homes(where isMeant: (String) -> Bool) -> [String] {
    settings.homes.map(\.name).filter(isMeant)
  }

  private func say(
    _ level: Logger.Level, _ words: Logger.Message, of user: String, in homes: [String],
    to logger: Logger
  ) {
    guard !homes.isEmpty else { return }
    logger.log(
      level: level, words,
      metadata: [
        "user": "\(user)", "home": "\(homes.joined(separator: ", "))",
        "remedy": "threadkeeper clients enroll, with --trust signed",
      ])
  }
}
