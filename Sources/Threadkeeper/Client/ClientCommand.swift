import ArgumentParser
import Broker
import FoundationEssentials
import Glibc
import Settings
import SodiumCrypto
import ThreadkeeperSupport
import Wire

/// `threadkeeper client`
struct ClientCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "client", "For border routers and other clients: keys of their own, and what is sealed with them.",
    """
    These work on any machine, without a store and without a daemon.
    """,
    subcommands: [ClientKeygenCommand.self, ClientSealCommand.self, ClientOpenCommand.self, ClientRequestCommand.self])
}

/// Which key file a client's command uses.
struct ClientKeyOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The client's key file.", discussion: "Without it: ~/.config/threadkeeper/client.key.", valueName: "file"))
  var key: String?

  func file() throws -> ClientKeyFile { ClientKeyFile(path: try key ?? Self.usual()) }

  static func usual() throws(CommandFailure) -> String {
    guard let home = ProcessInfo.processInfo.environment["HOME"], home.hasPrefix("/") else {
      throw CommandFailure(.usage, "there is no home directory to keep a key file in")
    }
    return home + "/.config/threadkeeper/client.key"
  }
}

/// `threadkeeper client keygen`
struct ClientKeygenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "keygen", "Make the keys of a client.",
    """
    Prints the enrolment line, which is public: `threadkeeper clients enroll` takes it where the \
    daemon is. Compare the fingerprint there: a line that somebody has replaced on its way has \
    another one.

    Examples:
      threadkeeper client keygen
      threadkeeper client keygen --out /etc/threadkeeper/router.key
      threadkeeper client keygen --json | jq -r .line
    """)

  @Option(
    help: ArgumentHelp(
      "Where to keep them.", discussion: "Without it: ~/.config/threadkeeper/client.key.", valueName: "file")) var out:
    String?

  @OptionGroup var output: OutputOptions

  func run() throws {
    let path: String
    if let out {
      path = out
    } else {
      path = try ClientKeyOption.usual()
      try PrivateDirectory.make(FilePath.directory(of: path))
    }
    let identity: Identity
    do throws(SodiumError) { identity = try Identity() } catch { throw CommandFailure(.system, error.description) }
    try ClientKeyFile(path: path).create(identity)
    let report = PublicKeysReport(identity.keys, keyFile: path)
    try output.show(report, text: report.text)
  }
}

extension PublicKeysReport {
  /// The line alone comes first: `head -1` has it.
  var text: String { "\(line)\nfingerprint  \(fingerprint)\n" + (keyFile.map { "key file     \($0)\n" } ?? "") }
}

/// `threadkeeper client open`
struct ClientOpenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "open", "Open an envelope that the daemon has sealed to this client.",
    """
    Reads the envelope, or the payload of an event or an answer that has one, on standard input, and \
    prints the object that was in it. What comes out may be secret. An envelope that is refused ends the \
    command with 65 and the name of the reason.

    Examples:
      mosquitto_sub -C 1 -t threadkeeper/out/phone/response/preferred/get |
        threadkeeper client open --from "$DAEMON_LINE" \\
          --topic threadkeeper/out/phone/response/preferred/get
    """)

  @OptionGroup var key: ClientKeyOption

  @Option(help: ArgumentHelp("The daemon's enrolment line.", valueName: "line")) var from: String

  @Option(help: "The whole topic that it came on.") var topic: String

  func run() throws {
    let sender = try PublicIdentity.argument(from, whose: "--from")
    let identity = try key.file().read()
    guard let input = try StandardInput.read(limit: 2 * Envelope.limit) else {
      throw CommandFailure(.badInput, "too_large: \(EnvelopeRefusal.tooLarge.message)")
    }
    let data = UntrustedJSON.value(of: "data", in: input, depth: Envelope.nesting) ?? input
    let envelope = UntrustedJSON.value(of: "sealed", in: data, depth: Envelope.nesting) ?? data
    var opened: OpenedEnvelope
    do throws(EnvelopeRefusal) {
      opened = try Envelope.open(
        envelope, with: identity, from: [sender], topic: topic, now: Int64(Date().timeIntervalSince1970))
    } catch { throw CommandFailure(.badInput, "\(error.rawValue): \(error.message)") }
    defer { wipe(&opened.body) }
    try StandardStream.output.write(String(decoding: opened.body, as: UTF8.self) + "\n")
  }
}

/// `threadkeeper client seal`
struct ClientSealCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "seal", "Seal a JSON object to the daemon and sign it.",
    """
    Reads the object on standard input and prints the envelope, for one topic only. Events take \
    --seq, a number that rises; the time in milliseconds is one. Requests take --id, any text that \
    is new.

    Examples:
      threadkeeper client seal --to "$DAEMON_LINE" \\
        --topic threadkeeper/in/router/announce \\
        --seq "$(date +%s%3N)" --event < event.json |
        mosquitto_pub -q 1 -t threadkeeper/in/router/announce -s
    """)

  @OptionGroup var key: ClientKeyOption

  @Option(help: ArgumentHelp("The daemon's enrolment line.", valueName: "line")) var to: String

  @Option(help: "The whole topic that it will be published on.") var topic: String

  @Option(help: ArgumentHelp("A number that rises.", valueName: "number")) var seq: UInt64?

  @Option(help: ArgumentHelp("A text of its own, instead of --seq.", valueName: "text")) var id: String?

  @Option(
    help: ArgumentHelp(
      "Seconds for which it counts, at most 300.", discussion: "Without it: 30 with --id, for ever with --seq.",
      valueName: "seconds")) var lifetime: Int64?

  @Flag(help: "Print it as the payload of an event: {\"sealed\":…}.") var event = false

  func validate() throws {
    guard (seq == nil) != (id == nil) else { throw ValidationError("Say one of --seq and --id.") }
  }

  func run() throws {
    let recipient = try PublicIdentity.argument(to, whose: "--to")
    let identity = try key.file().read()
    guard var body = try StandardInput.read(limit: Envelope.limit) else {
      throw CommandFailure(.badInput, SealingError.tooLarge.message)
    }
    defer { wipe(&body) }
    try StandardStream.output.write(payload(body, to: recipient, from: identity) + "\n")
  }

  private func payload(_ body: [UInt8], to recipient: PublicIdentity, from identity: Identity) throws(CommandFailure)
    -> String
  {
    do throws(SealingError) {
      let envelope = try Envelope.seal(
        body, to: recipient, from: identity,
        at: .init(
          topic: topic, order: id.map { .identifier($0) } ?? .sequence(seq ?? 0),
          now: Int64(Date().timeIntervalSince1970), lifetime: lifetime ?? (id == nil ? nil : Envelope.requestLifetime)))
      let payload = String(decoding: event ? SealedPayload(envelope).json() : envelope.json(), as: UTF8.self)
      // No payload of an event may be longer either.
      guard payload.utf8.count <= Envelope.limit else { throw .tooLarge }
      return payload
    } catch { throw CommandFailure(error == .badOrder ? .usage : .badInput, error.message) }
  }
}

/// The key file of a client: a line of words for people, and one that holds both secrets.
///
/// ```
/// # …
/// threadkeeper-client-key-1 <base64url of X25519 secret key | Ed25519 seed, 86 characters>
/// ```
struct ClientKeyFile {
  private static let word = "threadkeeper-client-key-1"
  /// Bytes; the file has some two hundred.
  private static let limit = 4_096

  let path: String

  /// - Parameter owner: user and group; nil: who makes it.
  /// - Throws: `CommandFailure` with status 73; a file that is there is never replaced.
  func create(_ identity: Identity, owner: (uid_t, gid_t)? = nil) throws(CommandFailure) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      guard errno != EEXIST else {
        throw CommandFailure(
          .cannotCreate, "there is a file at \(path) already",
          remedy: "a key that is in use should not be replaced; --out names another file")
      }
      throw CommandFailure(.cannotCreate, "can't make \(path): \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    var bytes = identity.secrets.withUnsafeBytes { Array($0) }
    defer { wipe(&bytes) }
    let text = """
      # The keys of a client of threadkeeper. Who has them speaks for it, and reads what it is sent.
      \(Self.word) \(Base64.encode(bytes, .urlSafe))

      """
    do throws(CommandFailure) {
      // Whatever the umask is.
      guard fchmod(descriptor, 0o600) == 0 else { throw CommandFailure(.inputOutput, "can't protect \(path)") }
      try StandardStream.write(text, to: descriptor)
      guard owner.map({ fchown(descriptor, $0.0, $0.1) == 0 }) != false, fsync(descriptor) == 0 else {
        throw CommandFailure(.inputOutput, "can't write \(path)")
      }
    } catch {
      unlink(path)
      throw error
    }
  }

  /// - Parameter owner: whose it may be, beside this user's and root's.
  /// - Throws: `CommandFailure`, with status 77 when others can read the file or it is another's.
  func read(of owner: uid_t? = nil) throws(CommandFailure) -> Identity {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    var status = stat()
    guard descriptor >= 0 else {
      let code = errno
      guard code == EACCES else {
        throw CommandFailure(
          .noInput, "can't read \(path): \(String(cString: strerror(code)))",
          remedy: "`threadkeeper client keygen` makes a key file")
      }
      guard stat(path, &status) == 0 else {
        throw CommandFailure(
          .noInput, "can't read \(path): this user may not enter \(FilePath.directory(of: path))",
          remedy: "run this as the file's owner: `sudo -u USER threadkeeper …`")
      }
      let owner = Self.name(of: status.st_uid)
      throw CommandFailure(
        .noInput, "\(path) belongs to \(owner), and this user may not read it",
        remedy: "run this as that user: `sudo -u \(owner) threadkeeper …`")
    }
    defer { close(descriptor) }
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw CommandFailure(.noInput, "\(path) is no file")
    }
    guard status.st_uid == geteuid() || status.st_uid == 0 || status.st_uid == owner else {
      throw CommandFailure(
        .notPermitted, "\(path) belongs to \(Self.name(of: status.st_uid)), who knows what is in it",
        remedy: "run this as that user, or `chown` it")
    }
    guard status.st_mode & 0o077 == 0 else {
      throw CommandFailure(
        .notPermitted, "other users of this machine can read \(path)",
        remedy: "chmod 600 \(path); if somebody may have read it, make a new one")
    }
    var bytes = [UInt8](repeating: 0, count: Self.limit)
    defer { wipe(&bytes) }
    let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
    guard let identity = Self.identity(bytes.prefix(max(count, 0))) else {
      throw CommandFailure(.badInput, "\(path) is no key file of a client")
    }
    return identity
  }

  private static func name(of user: uid_t) -> String { SystemAccount.name(ofUser: user) ?? "user \(user)" }

  private static func identity(_ bytes: ArraySlice<UInt8>) -> Identity? {
    let lines = bytes.split(separator: UInt8(ascii: "\n")).filter { $0.first != UInt8(ascii: "#") }
    guard lines.count == 1, let line = lines.first else { return nil }
    let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }
    guard words.count == 2, words[0].elementsEqual(word.utf8),
      var secrets = Base64.decode(String(decoding: words[1], as: UTF8.self), .urlSafe)
    else { return nil }
    defer { wipe(&secrets) }
    return try? Identity(secrets: SecretBytes(copying: secrets))
  }
}
