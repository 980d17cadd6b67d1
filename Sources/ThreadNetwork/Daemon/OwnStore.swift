import Foundation

@_implementationOnly import Home
@_implementationOnly import HomeStore

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

  /// A key file that is named may be that of several stores.
  ///
  /// - Throws: where there was one, and where that cannot be seen.
  private var exists: Bool {
    get throws(KeychainError) { try location.holdsStore(keys: [location.directory + ".key"]) }
  }

  /// - Throws: `THError`.
  func answer(_ request: ThreadRequest) throws -> AnswerData {
    do {
      guard try exists || request.command == .storeCredentials else { return try answerOfNone(request) }
      let keychain = try open()
      defer { keychain.close() }
      return try answer(request, keychain)
    } catch let failure as AnswerFailure { throw THError(failure, to: request.command) } catch let error
      as KeychainError
    { throw THError(error) }
  }

  private enum Outcome {
    case data(AnswerData)
    /// A person must agree to this first.
    case question(ConsentSubject)
  }

  private func answer(_ request: ThreadRequest, _ keychain: Keychain) throws -> AnswerData {
    let call = LocalRequest(request, user: geteuid(), team: ExactName(team))
    switch try perform(call, keychain) {
    case .data(let data): return data
    case .question(let subject):
      // Nothing is held while a person thinks, and what is there meanwhile is looked at again.
      try ask(about: subject)
      guard case .data(let data) = try perform(call, agreed: subject, keychain) else {
        throw AnswerFailure(.consentDenied, "the credentials have become others while the person was asked")
      }
      return data
    }
  }

  /// - Parameter agreed: what a person has agreed to.
  private func perform(_ call: LocalRequest, agreed: ConsentSubject? = nil, _ keychain: Keychain) throws -> Outcome {
    // What is refused must come out of the transaction as it is, not as the store's own failure.
    let result = try SealedRecords(keychain).inTransaction { records in
      do { return Result<_, AnswerFailure>.success(try handle(call, agreed, keychain, records)) } catch let failure
        as AnswerFailure
      { return .failure(failure) }
    }
    return try result.get()
  }

  private func handle(
    _ call: LocalRequest, _ agreed: ConsentSubject?, _ keychain: Keychain, _ records: RecordTransaction
  ) throws -> Outcome {
    let (command, context) = (call.request.command, call.context)
    let now = WireTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
    if command.writes, !command.needsConsent { try keychain.checkWritable() }
    // Without a daemon nobody listens to border routers: none is active.
    if command == .listActiveCredentials || command == .nearbyNetworks { return .data(AnswerData(credentials: [])) }
    let datasets = try DatasetReader(key: records.hashKey())
    let route = try RequestRules().route(
      of: call.request, context, buttonsAltered: false, summarize: datasets.summarize)
    guard case .home(let input, let dataset) = route else {
      throw AnswerFailure(.unsupported, "no daemon runs that could answer this")
    }
    let isHealthy = keychain.condition == .healthy
    let before = try StoredHome(home, rules: rules(isHealthy: isHealthy), in: records)
    var stored = before
    var output = stored.handle(input, dataset: dataset, actor: context.actor, at: now)
    if case .waiting(let id)? = output.answer, let question = stored.home.questions.first(where: { $0.id == id }) {
      // Nothing of it is written: once a person has agreed it is asked again.
      guard question.subject == agreed else { return .question(question.subject) }
      let decision = ConsentDecision(.approve(id, .once), by: .program(user: call.user))
      output = stored.handle(.decision(decision), actor: context.actor, at: now)
    }
    let writer = AnswerWriter(home: home, datasets: datasets) { key in
      try before.withDataset(of: key, in: records) { try OperationalDataset(bytes: Array($0)) }
    }
    let answer = output.settled.first?.answer ?? output.answer
    let data = try answer.flatMap { try writer.data(of: $0, to: call.request, context) }
    // A store that takes no changes is read all the same.
    if !command.needsConsent || isHealthy { try stored.commit(to: records) }
    return .data(data ?? AnswerData())
  }

  /// The program sees no settings of a daemon.
  private func rules(isHealthy: Bool) -> HomeRules {
    var rules = HomeRules()
    // Limits of the settings, as of a daemon only.
    rules.settings.routersPerTeam = .max / 2
    rules.settings.routersPerHome = .max
    rules.hasDaemon = false
    rules.grantsCount = isHealthy
    // It waits itself.
    rules.isAwaited = { _ in true }
    return rules
  }

  /// What a person is asked, in one sentence.
  private func ask(about subject: ConsentSubject) throws(AnswerFailure) {
    let name = ShownName.quoted(ProcessInfo.processInfo.processName)
    let program = name.map { "program that calls itself \($0)" } ?? "program"
    let question = "A \(program) asks for credentials, the keys included, of the Thread network " + subject.networkNames
    switch confirm?(question) {
    case true?: return
    case false?: throw AnswerFailure(.consentDenied, "the person who was asked has refused")
    case nil: throw AnswerFailure(.consentRequired, "a person must agree to this, and nobody can be asked here")
    }
  }

  /// What an empty store would answer.
  private func answerOfNone(_ request: ThreadRequest) throws(AnswerFailure) -> AnswerData {
    var data = AnswerData()
    switch request.command {
    case .listCredentials, .listActiveCredentials, .nearbyNetworks: data.credentials = []
    case .isPreferredAvailable: data.available = false
    case .checkPreferred: data.result = AnswerData.Check.none
    case .shareCredentials: throw AnswerFailure.codesAreForPeople
    default:
      throw AnswerFailure(
        .notFound, "nothing is stored yet: no daemon runs, and there is no store in \(location.directory)")
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
      if let passphraseFile { try .passphrase(inFile: passphraseFile) } else { .keyFile(path: keyFile) }
    if try !exists {
      do throws(KeychainError) { try Keychain.create(at: location, slots: [way], options: options).close() } catch {
        // Another process may have done it.
        guard try exists else { throw error }
      }
    }
    return try Keychain.open(at: location, with: way, access: .shared, options: options)
  }
}
