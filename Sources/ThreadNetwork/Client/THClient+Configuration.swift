import Foundation

extension THClient {
  /// Which daemon or store a client uses. Linux only: Apple's systems have one keychain, and sign the
  /// team of a program into it.
  ///
  /// The first of these that applies is used, and nothing else:
  ///
  /// 1. the daemon at ``socket``, if that is set;
  /// 2. the store in ``storeDirectory``, if the program or a variable names one: by the daemon that runs
  ///    on it, or else opened by the program itself;
  /// 3. the daemon of this machine, at ``systemSocket``, if one is installed: `/var/lib/threadkeeper` or
  ///    that socket exists. While it does not run, calls wait ten seconds for it and then fail with
  ///    ``THError/Code/notNow``;
  /// 4. the store of the program's own user, in the same way as a named one. It is made when the first
  ///    credentials are stored.
  public struct Configuration: Sendable {
    /// Where the daemon of a machine listens for programs of other users.
    public static let systemSocket = "/run/threadkeeper/client.sock"

    /// Path of the daemon's socket. Variable `THREADKEEPER_SOCKET`; nil looks at the places above.
    ///
    /// Who listens there is told credentials, so it must be this user or root; or another user in a
    /// directory of its own or root's, with nothing but root's or this user's directories above.
    public var socket: String?
    /// Directory of the own store. Variables `THREADKEEPER_STORE_PATH`, or `store` in
    /// `$THREADKEEPER_STATE_DIRECTORY`: who sets one of them, or this, names a store. The default is
    /// `store` by the rule of the program `threadkeeper`: for root `/var/lib/threadkeeper`, for others
    /// `$XDG_DATA_HOME/threadkeeper` or `~/.local/share/threadkeeper`; it names none. Nil when no rule
    /// gives one.
    public var storeDirectory: String? { didSet { machine = nil } }
    /// The file with the key of the own store, outside of its directory. Variable
    /// `THREADKEEPER_STORE_KEY_FILE`; nil is the directory's name with `.key` after it.
    public var keyFile: String?
    /// A file (0600) whose first line is a passphrase that opens the own store, instead of the key
    /// file. Variable `THREADKEEPER_STORE_PASSPHRASE_FILE`; there is no default.
    public var passphraseFile: String?
    /// The team in the own store. Variable `THREADKEEPER_NETWORK_TEAM`; the default is `uid/` and the
    /// number of the user, as a daemon of the same user has it. A daemon does not ask for it: there
    /// the team follows from the user.
    public var team: String
    /// The home that calls are about. Variable `THREADKEEPER_NETWORK_HOME`; nil is the daemon's first
    /// one, `home` in an own store.
    public var home: String?
    /// Asks a person, in an own store, whether credentials that need consent may be told: the
    /// parameter says who asks for what, in one sentence. True: somebody agrees. False: somebody
    /// refuses. Nil: nobody can be asked. The default is ``THClient/askOnTerminal(_:)``. It is called
    /// on a thread of the system's, and may take its time. A daemon asks by itself, see
    /// ``asksOnTerminal``.
    public var confirmConsent: (@Sendable (String) -> Bool?)?
    /// Whether the terminal that controls this program may be used while a daemon waits for somebody's
    /// decision. Who may decide there, the daemon's own user and root, is asked: once, always or no.
    /// All others are shown how it is approved. Without a terminal, in the background, with
    /// ``confirmConsent`` nil, or the variable `THREADKEEPER_NETWORK_PRESENCE` set to `none`, nobody is
    /// asked and nothing is shown.
    public var asksOnTerminal: Bool

    /// A configuration in which some things may be left to the environment.
    public init(
      socket: String? = nil, storeDirectory: String? = nil, keyFile: String? = nil, passphraseFile: String? = nil,
      team: String? = nil, home: String? = nil, confirmConsent: (@Sendable (String) -> Bool?)? = THClient.askOnTerminal,
      asksOnTerminal: Bool = true
    ) {
      let environment = ClientEnvironment()
      // Who brings a store of its own means that, and no daemon that happens to run elsewhere.
      self.socket = socket ?? (storeDirectory == nil ? environment.socket : nil)
      self.storeDirectory = storeDirectory ?? environment.storeDirectory
      self.keyFile = keyFile ?? (storeDirectory == nil ? environment.keyFile : nil)
      self.passphraseFile = passphraseFile ?? (storeDirectory == nil ? environment.passphraseFile : nil)
      self.team = team ?? environment.team
      self.home = home ?? environment.home
      self.confirmConsent = confirmConsent
      self.asksOnTerminal = asksOnTerminal
      machine = storeDirectory == nil && !environment.namesStore ? environment.machine : nil
    }

    /// The daemon that serves all users of this machine. Nil where a store is named.
    var machine: MachineDaemon?

    /// Whether a person at the terminal may be told of a daemon's question.
    var usesTerminal: Bool { asksOnTerminal && confirmConsent != nil && ClientEnvironment().allowsQuestions }
  }

  /// Asks the person at the terminal that controls this program, and waits a minute for `y`. It shows
  /// that somebody is there, and not who. Linux only.
  ///
  /// - Parameter question: one sentence; nothing in it can move the cursor.
  /// - Returns: true for `y` or `yes`; false for every other answer; nil when nobody can be asked:
  ///   there is no terminal, the program is in its background, nobody answers, or the variable
  ///   `THREADKEEPER_NETWORK_PRESENCE` is `none`.
  @Sendable public static func askOnTerminal(_ question: String) -> Bool? {
    guard ClientEnvironment().allowsQuestions else { return nil }
    return TerminalConsent.agrees(to: HarmlessText(question).text, within: .seconds(60))
  }
}

/// What the environment says about daemons, stores and teams. An empty variable counts as not set.
struct ClientEnvironment {
  private let variables: [String: String]
  private let workingDirectory: String

  init(
    _ variables: [String: String] = ProcessInfo.processInfo.environment,
    workingDirectory: String = FileManager.default.currentDirectoryPath
  ) {
    self.variables = variables
    self.workingDirectory = workingDirectory
  }

  var socket: String? { path("SOCKET") }
  var keyFile: String? { path("STORE_KEY_FILE") }
  var passphraseFile: String? { path("STORE_PASSPHRASE_FILE") }

  var storeDirectory: String? {
    path("STORE_PATH")
      ?? StateDirectory.path(
        given: nil, environment: variables, workingDirectory: workingDirectory,
        // Who makes the machine's directory says by that that a daemon is installed.
        isRoot: geteuid() == 0 && machine.isInstalled
      ).map { $0 + "/store" }
  }

  /// Whether a variable names a store for this program. systemd's `STATE_DIRECTORY` does not: a service
  /// has one for its own files.
  var namesStore: Bool { own("STORE_PATH") != nil || own("STATE_DIRECTORY") != nil }

  var machine: MachineDaemon {
    let places = SystemPlaces(environment: variables)
    return MachineDaemon(directory: places.stateDirectory, socket: places.clientSocket)
  }

  var team: String { own("NETWORK_TEAM") ?? "uid/\(geteuid())" }
  var home: String? { own("NETWORK_HOME") }
  /// Whether a person may be asked at a terminal.
  var allowsQuestions: Bool { own("NETWORK_PRESENCE") != "none" }

  private func own(_ name: String) -> String? { variables["THREADKEEPER_" + name].flatMap { $0.isEmpty ? nil : $0 } }

  private func path(_ name: String) -> String? {
    own(name).flatMap { FilePath.absolute($0, in: workingDirectory, home: variables["HOME"]) }
  }
}

extension THClient {
  func start<R: Sendable>(
    _ completion: @escaping @Sendable (R?, (any Error)?) -> Void,
    _ call: @escaping @Sendable (DaemonLink) async throws -> R
  ) {
    run(call) { result in
      switch result {
      case .success(let value): completion(value, nil)
      case .failure(let error): completion(nil, error)
      }
    }
  }

  func start(
    _ completion: @escaping @Sendable ((any Error)?) -> Void,
    _ call: @escaping @Sendable (DaemonLink) async throws -> Void
  ) {
    run(call) { result in
      switch result {
      case .success: completion(nil)
      case .failure(let error): completion(error)
      }
    }
  }

  /// What can't be answered is false.
  func start(
    _ completion: @escaping @Sendable (Bool) -> Void, _ call: @escaping @Sendable (DaemonLink) async throws -> Bool
  ) { run(call) { completion((try? $0.get()) ?? false) } }

  private func run<R: Sendable>(
    _ call: @escaping @Sendable (DaemonLink) async throws -> R,
    then end: @escaping @Sendable (Result<R, any Error>) -> Void
  ) {
    let task = Task {
      let result: Result<R, any Error>
      do { result = .success(try await call(daemon)) } catch { result = .failure(error) }
      // A handler may block, which a thread of Swift's must not. The client lives until it returns.
      SystemThread.run {
        end(result)
        withExtendedLifetime(self) {}
      }
    }
    PendingCall.current?.began(task)
  }
}
