// SPDX-License-Identifier: Apache-2.0

/// The keychain of this program, opened when it is first needed and shared by its threads.
final class ProgramKeychain: Sendable {
  static let shared = ProgramKeychain()

  private struct State {
    var settings: LinuxKeychain.Settings?
    var open: OpenedStore?
  }
  private let state = Locked(State())

  var settings: LinuxKeychain.Settings {
    state.withLock { state in
      let settings = state.settings ?? LinuxKeychain.Settings()
      state.settings = settings
      return settings
    }
  }

  func use(_ settings: LinuxKeychain.Settings) {
    state.withLock { $0 = State(settings: settings) }
  }

  func close() {
    state.withLock { $0.open = nil }
  }

  /// Turns what `body` throws into a status, and tells the reason to whoever wants it.
  func answer(_ body: () throws -> Void) -> OSStatus {
    do {
      try body()
      return errSecSuccess
    } catch {
      let refusal = error as? KeychainError ?? KeychainError(.internalError, "\(error)")
      let status = refusal.status.rawValue
      if status != errSecItemNotFound { settings.report?(status, refusal.message) }
      return status
    }
  }

  /// Runs `body` on the keychain, which is made when the first item is added.
  ///
  /// - Throws: `itemNotFound` when there is none yet, and before that whatever is wrong with the
  ///   call itself.
  func perform<R>(
    _ call: KeychainCall, _ request: ItemRequest, _ body: (KeychainServices) throws -> R
  ) throws -> R {
    try request.check(for: call, by: AccessGroups(settings.accessGroups))
    let first = try services(call)
    do {
      return try body(first)
    } catch {
      // Another process changed the ways into the store, and nothing was done yet: once more.
      guard first.client.keychain.isOutdated else { throw error }
      close()
      return try body(services(call))
    }
  }

  private func services(_ call: KeychainCall) throws(KeychainError) -> KeychainServices {
    let makingStore = if case .add = call { true } else { false }
    let (opened, settings) = try state.withLock {
      state throws(KeychainError) -> (Keychain?, LinuxKeychain.Settings) in
      let settings = state.settings ?? LinuxKeychain.Settings()
      state.settings = settings
      // A store that was moved away or replaced is not the program's any more.
      if let open = state.open, open.isInPlace { return (open.keychain, settings) }
      state.open = nil
      state.open = try OpenedStore(settings, makingStore: makingStore)
      return (state.open?.keychain, settings)
    }
    guard let opened else { throw KeychainError(.itemNotFound, "there is no keychain yet") }
    return KeychainServices(
      KeychainClient(opened, groups: AccessGroups(settings.accessGroups)),
      presence: ProgramPresence(settings.confirmPresence))
  }
}

/// Asks the program's own function.
private struct ProgramPresence: PresenceProvider {
  private let confirm: (@Sendable (String?) -> Bool?)?

  init(_ confirm: (@Sendable (String?) -> Bool?)?) { self.confirm = confirm }

  func ask(_ question: PresenceQuestion) -> PresenceAnswer {
    switch confirm?(question.prompt) {
    case true?: .present
    case false?: .refused
    case nil: .nobody
    }
  }
}
