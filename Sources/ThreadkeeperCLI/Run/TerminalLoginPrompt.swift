// SPDX-License-Identifier: Apache-2.0

import ThreadkeeperDaemon

/// Lets the daemon ask at the terminal that `run` was started at.
struct TerminalLoginPrompt: LoginPrompt {
  var isPossible: Bool { TerminalPrompt.isPossible }

  func ask(_ question: String, isHidden: Bool) async throws -> String? {
    try await TerminalPrompt.ask(question, isHidden: isHidden)
  }

  func say(_ text: String) { TerminalPrompt.show(text) }
}
