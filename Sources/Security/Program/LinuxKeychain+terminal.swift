// SPDX-License-Identifier: Apache-2.0

extension LinuxKeychain {
  /// Asks the person at the terminal that controls this program, as the default of
  /// `Settings.confirmPresence`: shows the name of the program and the prompt, and waits a minute
  /// for `y`. It shows that somebody is there, and not who: no passphrase is asked for.
  ///
  /// - Parameter prompt: the words of `kSecUseOperationPrompt`; one line of them is shown, and nothing
  ///   in it that could move the cursor.
  /// - Returns: true for `y` or `yes`; false for every other answer, also an empty line and Ctrl-D;
  ///   nil when nobody can be asked: there is no terminal, the program is in its background, nobody
  ///   answers, or the variable `THREADKEEPER_KEYCHAIN_PRESENCE` is `none`.
  @Sendable
  public static func askOnTerminal(_ prompt: String?) -> Bool? {
    askOnTerminal(prompt, within: .seconds(60))
  }

  /// The same, with another time to wait for an answer.
  public static func askOnTerminal(_ prompt: String?, within limit: Duration) -> Bool? {
    let environment = ProgramEnvironment()
    guard environment.allowsQuestions else { return nil }
    let program = HarmlessText(environment.executableName).text
    var question = "\(program) wants to use a secret that needs a person's consent"
    if let prompt = prompt.map({ HarmlessText($0).text }), !prompt.isEmpty {
      question += ": \(prompt)"
    }
    return TerminalConsent.agrees(to: question, within: limit)
  }
}
