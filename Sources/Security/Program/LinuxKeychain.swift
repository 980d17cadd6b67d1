import Foundation

/// The keychain of this program, which Apple's systems find by themselves: where it lies, which
/// access groups the program has, and who is asked. A program that says nothing shares one keychain
/// with the other programs of its user, and has an access group of its own there.
///
///     LinuxKeychain.bootstrap(.init(directory: "/var/lib/hub/keychain", accessGroups: ["hub"]))
public enum LinuxKeychain {
  /// What can be chosen. What is not given comes from the environment, or is the default.
  public struct Settings: Sendable {
    /// The directory of the keychain's files, made when the first item is added. It is not to be
    /// readable by others. Variable `THREADKEEPER_KEYCHAIN_DIRECTORY`; the default is
    /// `threadkeeper/keychain` in `$XDG_DATA_HOME`, or else in `~/.local/share`. Nil when neither is
    /// known: then every call answers -25307.
    public var directory: String?
    /// The file with the key that opens the keychain, made with it. Whoever has both can read
    /// everything. Variable `THREADKEEPER_KEYCHAIN_KEY_FILE`; nil is `store.key` in the directory,
    /// or no key file where the keychain is made with a passphrase.
    public var keyFile: String?
    /// A file with a passphrase: then the keychain is opened with that, which also opens what is
    /// accessible "when unlocked" in a keychain with passphrases. A keychain that is made while this
    /// is set opens with the passphrase only, unless `keyFile` is set too. Opening takes about a second.
    /// Variable `THREADKEEPER_KEYCHAIN_PASSPHRASE_FILE`; there is no default.
    public var passphraseFile: String?
    /// The access groups of the program; new items go to the first. Variable
    /// `THREADKEEPER_KEYCHAIN_GROUPS`, separated by commas; the default is the name of the
    /// executable. Programs of one user can share items by naming the same group: it keeps them
    /// apart by agreement, not by force.
    public var accessGroups: [String]
    /// Asks a person before a secret with an access control is given out; the parameter are the
    /// words of `kSecUseOperationPrompt`. True: somebody agrees. False: somebody refuses (-128).
    /// Nil: nobody can be asked (-25308), as when there is no such function. The default is
    /// `askOnTerminal`, which never asks a program without a terminal. It is called without a lock,
    /// on the thread of the call, and may take its time.
    public var confirmPresence: (@Sendable (String?) -> Bool?)?
    /// Gets the reason of every answer other than success and "not found", in words that say
    /// what to do; and, on another thread, if a large keychain turns out to have been altered. Never a
    /// secret. With the variable `THREADKEEPER_KEYCHAIN_REPORT=stderr` the default prints them to standard error.
    public var report: (@Sendable (OSStatus, String) -> Void)?

    /// Settings in which some things may be left to the environment.
    public init(
      directory: String? = nil, keyFile: String? = nil, passphraseFile: String? = nil, accessGroups: [String] = [],
      confirmPresence: (@Sendable (String?) -> Bool?)? = LinuxKeychain.askOnTerminal,
      report: (@Sendable (OSStatus, String) -> Void)? = nil
    ) {
      let environment = ProgramEnvironment()
      self.directory = directory ?? environment.directory
      self.keyFile = keyFile ?? environment.keyFile
      self.passphraseFile = passphraseFile ?? environment.passphraseFile
      self.accessGroups = accessGroups.isEmpty ? environment.accessGroups : accessGroups
      self.confirmPresence = confirmPresence
      self.report = report ?? environment.report
    }
  }

  /// The settings in use.
  public static var settings: Settings { ProgramKeychain.shared.settings }

  /// Chooses the keychain of this program. Best called before anything else; calls that are under
  /// way finish with the keychain that they began with. One that is open stays open if the new settings name the
  /// same directory, key file and passphrase file.
  public static func bootstrap(_ settings: Settings) { ProgramKeychain.shared.use(settings) }

  /// Closes the keychain: its keys leave the memory. The next call opens it again.
  public static func close() { ProgramKeychain.shared.close() }
}

extension LinuxKeychain {
  /// What `kSecUseAuthenticationContext` can say about the question to a person. `LAContext` of the module
  /// LocalAuthentication is one; any other object is accepted and not used.
  public protocol AuthenticationContext: AnyObject, Sendable {
    /// The words of the question, unless `kSecUseOperationPrompt` has some. Empty: none.
    var localizedReason: String { get }
    /// True: nobody is asked, and what needs a person answers -25308, unless an earlier agreement counts.
    var interactionNotAllowed: Bool { get }
    /// Answers for a person who has agreed a short while ago, or asks.
    ///
    /// - Parameter ask: asks; true, false for a refusal, nil when there is nobody.
    /// - Returns: likewise.
    func agreement(orByAsking ask: () -> Bool?) -> Bool?
  }
}

extension RequestReader {
  mutating func readContext(_ value: Any?) {
    guard let context = value as? any LinuxKeychain.AuthenticationContext else { return }
    let reason = context.localizedReason
    if request.prompt == nil, !reason.isEmpty { request.prompt = reason }
    request.agreement = { ask in context.agreement { context.interactionNotAllowed ? nil : ask() } }
  }
}

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
  @Sendable public static func askOnTerminal(_ prompt: String?) -> Bool? { askOnTerminal(prompt, within: .seconds(60)) }

  /// The same, with another time to wait for an answer.
  public static func askOnTerminal(_ prompt: String?, within limit: Duration) -> Bool? {
    let environment = ProgramEnvironment()
    guard environment.allowsQuestions else { return nil }
    let program = HarmlessText(environment.executableName).text
    var question = "\(program) wants to use a secret that needs a person's consent"
    if let prompt = prompt.map({ HarmlessText($0).text }), !prompt.isEmpty { question += ": \(prompt)" }
    return TerminalConsent.agrees(to: question, within: limit)
  }
}

/// What the environment says about the keychain of this program.
struct ProgramEnvironment {
  private static let prefix = "THREADKEEPER_KEYCHAIN_"
  private let variables: [String: String]
  private let executable: String

  init(_ variables: [String: String] = ProcessInfo.processInfo.environment, executable: String = Self.executablePath) {
    self.variables = variables
    self.executable = executable
  }

  var directory: String? {
    if let directory = own("DIRECTORY") { return directory }
    // The specification of the base directories says to pass over what is not absolute.
    if let data = variables["XDG_DATA_HOME"], data.hasPrefix("/") { return Self.below(data) }
    guard let home = variables["HOME"], home.hasPrefix("/") else { return nil }
    return Self.below(home + "/.local/share")
  }

  var keyFile: String? { own("KEY_FILE") }
  var passphraseFile: String? { own("PASSPHRASE_FILE") }

  var accessGroups: [String] {
    let named = (own("GROUPS") ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    let groups = named.filter { !$0.isEmpty }
    return groups.isEmpty ? [executableName] : groups
  }

  /// Whether a person may be asked at a terminal.
  var allowsQuestions: Bool { own("PRESENCE") != "none" }

  /// Prints reasons, if the environment says so.
  var report: (@Sendable (OSStatus, String) -> Void)? {
    guard own("REPORT") == "stderr" else { return nil }
    return { status, reason in
      let line = Array("keychain: \(status): \(reason)\n".utf8)
      _ = write(STDERR_FILENO, line, line.count)
    }
  }

  var executableName: String {
    var name = executable.split(separator: "/").last.map(String.init) ?? ""
    // The kernel's mark when the file was replaced while the program runs.
    let mark = " (deleted)"
    if name.hasSuffix(mark) { name.removeLast(mark.count) }
    return name.isEmpty ? "unknown" : name
  }

  /// Empty counts as not set.
  private func own(_ name: String) -> String? { variables[Self.prefix + name].flatMap { $0.isEmpty ? nil : $0 } }

  private static func below(_ directory: String) -> String { directory + "/threadkeeper/keychain" }

  private static var executablePath: String {
    let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return path ?? CommandLine.arguments.first ?? ""
  }
}
