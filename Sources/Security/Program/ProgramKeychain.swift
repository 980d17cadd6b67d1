import Glibc

/// The keychain of this program, opened when it is first needed and shared by its threads.
final class ProgramKeychain: Sendable {
  static let shared = ProgramKeychain()

  fileprivate struct State {
    var settings: LinuxKeychain.Settings?
    /// Tells settings from those before them.
    var choice = 0
    var open: OpenedStore?
  }
  private let state = Locked(State())
  /// Held by the thread that opens the keychain, which takes its time with a passphrase.
  private let opening = Locked(false)

  var settings: LinuxKeychain.Settings { state.withLock { $0.chosen() } }

  func use(_ settings: LinuxKeychain.Settings) {
    // What was open is closed outside of the lock.
    let before = state.withLock { state in
      let before = state
      if let former = before.settings, former.opensSameStore(as: settings) {
        state.settings = settings
      } else {
        state = State(settings: settings, choice: state.choice + 1)
      }
      return before
    }
    withExtendedLifetime(before) {}
  }

  func close() { close { _ in true } }

  private func close(_ isMeant: (OpenedStore) -> Bool) {
    let before = state.withLock { state -> OpenedStore? in
      guard let open = state.open, isMeant(open) else { return nil }
      state.open = nil
      return open
    }
    withExtendedLifetime(before) {}
  }

  /// What is left to do when the program ends.
  private static let atEnd: Void = { atexit { ProgramKeychain.shared.state.withLock { $0.open }?.upkeep.finish() } }()

  /// Turns what `body` throws into a status, and reports the reason to whoever wants it.
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
  func perform<R>(_ call: KeychainCall, _ request: ItemRequest, _ body: (KeychainClient) throws -> R) throws -> R {
    try request.check(for: call, by: AccessGroups(settings.accessGroups))
    let first = try opened(call)
    defer { first.store.upkeep.plan() }
    do { return try body(first.client) } catch let error as KeychainError {
      guard error.asksForReopening else { throw error }
    }
    // Once more. Another thread may have opened it again already.
    close { $0.keychain === first.store.keychain }
    let second = try opened(call)
    defer { second.store.upkeep.plan() }
    return try body(second.client)
  }

  private func opened(_ call: KeychainCall) throws(KeychainError) -> (store: OpenedStore, client: KeychainClient) {
    let makingStore = if case .add = call { true } else { false }
    var (settings, choice, open) = current()
    if open == nil {
      open = try opening.withLock { _ throws(KeychainError) -> OpenedStore? in
        // Whoever was first has done it.
        (settings, choice, open) = current()
        if let open { return open }
        let new = try OpenedStore(settings, makingStore: makingStore)
        _ = Self.atEnd
        // Other settings meanwhile are for the calls after this one.
        state.withLock { state in if state.choice == choice { state.open = new } }
        return new
      }
    }
    guard let open else { throw KeychainError(.itemNotFound, "there is no keychain yet") }
    let client = KeychainClient(
      open.keychain, groups: AccessGroups(settings.accessGroups), confirm: settings.confirmPresence)
    return (open, client)
  }

  private func current() -> (LinuxKeychain.Settings, choice: Int, OpenedStore?) {
    // A store that was moved away or replaced is not the program's any more.
    close { !$0.isInPlace }
    return state.withLock { ($0.chosen(), $0.choice, $0.open) }
  }
}

extension LinuxKeychain.Settings {
  /// Whether both open the same store in the same way; the rest concerns each call.
  func opensSameStore(as other: Self) -> Bool {
    directory == other.directory && keyFile == other.keyFile && passphraseFile == other.passphraseFile
  }
}

extension ProgramKeychain.State {
  fileprivate mutating func chosen() -> LinuxKeychain.Settings {
    let settings = settings ?? LinuxKeychain.Settings()
    self.settings = settings
    return settings
  }
}
