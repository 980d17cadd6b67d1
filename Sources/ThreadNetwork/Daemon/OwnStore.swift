// SPDX-License-Identifier: Apache-2.0

import Glibc

@_implementationOnly import CredentialService
@_implementationOnly import ThreadCredentialStore

/// A store that the program opens itself, because no daemon runs on it. Others may do the same: each
/// holds the lock for a transaction.
struct OwnStore: Sendable {
  /// Nanoseconds. A daemon keeps it for its life, so then its socket is tried again.
  private static let turnLimit: UInt64 = 200_000_000

  private let location: StoreLocation
  private let keyFile: String
  private let passphraseFile: String?
  private let team: String
  private let home: String
  private let confirm: (@Sendable (String) -> Bool?)?

  /// Nil when nothing says where it lies.
  init?(_ configuration: THClient.Configuration) {
    guard let directory = configuration.storeDirectory else { return nil }
    location = StoreLocation(directory: directory, anchorDirectory: directory + ".anchor")
    keyFile = configuration.keyFile ?? directory + ".key"
    passphraseFile = configuration.passphraseFile
    team = configuration.team
    home = configuration.home ?? "home"
    confirm = configuration.confirmConsent
  }

  var directory: String { location.directory }
  /// Where a daemon of this store listens.
  var socketPath: String { location.directory + "/varlink.sock" }

  var exists: Bool { Keychain.exists(at: location) }

  /// - Throws: `THError`.
  func answer(_ request: ThreadRequest) throws -> AnswerData {
    do {
      guard exists || request.command == .storeCredentials else {
        return try answerOfNone(request)
      }
      let keychain = try open()
      defer { keychain.close() }
      return try answer(request, keychain)
    } catch let failure as AnswerFailure {
      throw THError(failure, to: request.command)
    } catch let error as KeychainError {
      throw THError(error)
    }
  }

  private func answer(_ request: ThreadRequest, _ keychain: Keychain) throws -> AnswerData {
    let gate = PersonsConsent()
    if let data = try perform(request, keychain, gate) { return data }
    guard let question = gate.question else { throw DaemonLink.unreadable }
    // Nothing is held while a person thinks, and what is there meanwhile is looked at again.
    try ask(question)
    gate.agree()
    guard let data = try perform(request, keychain, gate) else {
      throw AnswerFailure(
        .consentDenied, "the credentials have become others while the person was asked")
    }
    return data
  }

  /// - Returns: nil when a person must be asked first.
  private func perform(
    _ request: ThreadRequest, _ keychain: Keychain, _ gate: PersonsConsent
  ) throws -> AnswerData? {
    var context = RequestContext(requester: .systemUser(geteuid()), team: team, home: home)
    context.listsSecrets = true
    // What is refused must come out of the transaction as it is, not as the store's own failure.
    let result = try keychain.write { tx -> Result<CredentialService.Reply, AnswerFailure> in
      let store = ThreadCredentialStore(keychain)
      if request.command.writes, !request.command.needsConsent { try store.checkWritable() }
      let service = CredentialService(
        store: store, gate: gate, registry: NoRegistry(), context: context, tx)
      do {
        return .success(try service.answer(request))
      } catch let failure as AnswerFailure {
        return .failure(failure)
      }
    }
    switch try result.get() {
    case .data(let data): return data
    case .waiting: return nil
    case .decided: throw DaemonLink.unreadable
    }
  }

  private func ask(_ question: ConsentQuestion) throws(AnswerFailure) {
    switch confirm?(ConsentWords(question).text) {
    case true?: return
    case false?:
      throw AnswerFailure(.consentDenied, "the person who was asked has refused")
    case nil:
      throw AnswerFailure(
        .consentRequired, "a person must agree to this, and nobody can be asked here")
    }
  }

  /// What an empty store would answer.
  private func answerOfNone(_ request: ThreadRequest) throws(AnswerFailure) -> AnswerData {
    var data = AnswerData()
    switch request.command {
    case .listCredentials, .listActiveCredentials, .nearbyNetworks: data.credentials = []
    case .isPreferredAvailable: data.available = false
    case .checkPreferred: data.result = AnswerData.Check.none
    case .shareCredentials:
      throw AnswerFailure(.unsupported, "credentials/share is not in this version")
    default:
      throw AnswerFailure(
        .notFound,
        "nothing is stored yet: no daemon runs, and there is no store in \(location.directory)")
    }
    return data
  }

  // MARK: The store

  private func open() throws(KeychainError) -> Keychain {
    var options = KeychainOptions()
    options.turnLimit = Self.turnLimit
    options.anchorInterval = 0
    options.auditor = "uid \(geteuid())"
    let way: KeySlotSecret =
      if let passphraseFile {
        try .passphrase(inFile: passphraseFile)
      } else {
        .keyFile(path: keyFile)
      }
    if !exists {
      do {
        try Keychain.create(at: location, slots: [way], options: options).close()
      } catch {
        // Another process may have done it.
        guard exists else { throw error }
      }
    }
    return try Keychain.open(at: location, with: way, access: .shared, options: options)
  }
}
