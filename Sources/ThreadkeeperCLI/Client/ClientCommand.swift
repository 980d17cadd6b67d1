// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Broker
import SodiumCrypto
import ThreadkeeperDaemon
import ThreadkeeperSupport

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `threadkeeper client`
struct ClientCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "client",
    abstract:
      "For border routers and other clients: keys of their own, and what is sealed with them.",
    discussion: """
      These work on any machine, without a store and without a daemon.
      """,
    subcommands: [
      ClientKeygenCommand.self, ClientSealCommand.self, ClientOpenCommand.self,
      ClientRequestCommand.self,
    ])
}

/// Which key file a client's command uses.
struct ClientKeyOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The client's key file.", discussion: "Without it: ~/.config/threadkeeper/client.key.",
      valueName: "file"))
  var key: String?

  func file() throws(CommandFailure) -> ClientKeyFile {
    if let key { return ClientKeyFile(path: key) }
    return ClientKeyFile(path: try Self.usual())
  }

  static func usual() throws(CommandFailure) -> String {
    guard let home = ProcessInfo.processInfo.environment["HOME"], !home.isEmpty else {
      throw CommandFailure(.usage, "there is no home directory to keep a key file in")
    }
    return home + "/.config/threadkeeper/client.key"
  }
}

/// `threadkeeper client keygen`
struct ClientKeygenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keygen",
    abstract: "Make the keys of a client.",
    discussion: """
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
      "Where to keep them.", discussion: "Without it: ~/.config/threadkeeper/client.key.",
      valueName: "file"))
  var out: String?

  @OptionGroup var output: OutputOptions

  func run() throws {
    let path: String
    if let out {
      path = out
    } else {
      path = try ClientKeyOption.usual()
      let directory = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
      try? FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
    }
    let identity: Identity
    do throws(SodiumError) {
      identity = try Identity()
    } catch {
      throw CommandFailure(.system, error.description)
    }
    try ClientKeyFile(path: path).create(identity)
    let report = PublicKeysReport(identity.keys, keyFile: path)
    try output.show(report, text: report.text)
  }
}

extension PublicKeysReport {
  /// The line alone comes first: `head -1` has it.
  var text: String {
    "\(line)\nfingerprint  \(fingerprint)\n" + (keyFile.map { "key file     \($0)\n" } ?? "")
  }
}

/// `threadkeeper client open`
struct ClientOpenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "open",
    abstract: "Open an envelope that the daemon has sealed to this client.",
    discussion: """
      Reads the envelope, or the payload of an event or an answer that has one, on standard input, and \
      prints the object that was in it. What comes out may be secret. An envelope that is refused ends the \
      command with 65 and the name of the reason.

      Examples:
        mosquitto_sub -C 1 -t threadkeeper/out/phone/response/preferred/get |
          threadkeeper client open --from "$DAEMON_LINE" \\
            --topic threadkeeper/out/phone/response/preferred/get
      """)

  @OptionGroup var key: ClientKeyOption

  @Option(help: ArgumentHelp("The daemon's enrolment line.", valueName: "line"))
  var from: String

  @Option(help: "The whole topic that it came on.")
  var topic: String

  func run() throws {
    let sender = try PublicIdentity.argument(from, whose: "--from")
    let identity = try key.file().read()
    guard let input = try StandardInput.read(limit: 2 * Envelope.limit) else {
      throw CommandFailure(.badInput, "too_large: \(EnvelopeRefusal.tooLarge.message)")
    }
    let data = UntrustedJSON.value(of: "data", in: input, depth: ClientAnswer.nesting) ?? input
    let envelope = UntrustedJSON.value(of: "sealed", in: data, depth: ClientAnswer.nesting) ?? data
    var opened: OpenedEnvelope
    do throws(EnvelopeRefusal) {
      opened = try Envelope.open(
        envelope, with: identity, from: [sender], topic: topic,
        now: Int64(Date().timeIntervalSince1970))
    } catch {
      throw CommandFailure(.badInput, "\(error.rawValue): \(error.message)")
    }
    defer { wipe(&opened.body) }
    try StandardStream.output.write(String(decoding: opened.body, as: UTF8.self) + "\n")
  }
}

/// `threadkeeper client seal`
struct ClientSealCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "seal",
    abstract: "Seal a JSON object to the daemon and sign it.",
    discussion: """
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

  @Option(help: ArgumentHelp("The daemon's enrolment line.", valueName: "line"))
  var to: String

  @Option(help: "The whole topic that it will be published on.")
  var topic: String

  @Option(help: ArgumentHelp("A number that rises.", valueName: "number"))
  var seq: UInt64?

  @Option(help: ArgumentHelp("A text of its own, instead of --seq.", valueName: "text"))
  var id: String?

  @Option(
    help: ArgumentHelp(
      "Seconds for which it counts, at most 300.",
      discussion: "Without it: 30 with --id, for ever with --seq.", valueName: "seconds"))
  var lifetime: Int64?

  @Flag(help: "Print it as the payload of an event: {\"sealed\":…}.")
  var event = false

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

  private func payload(
    _ body: [UInt8], to recipient: PublicIdentity, from identity: Identity
  ) throws(CommandFailure) -> String {
    do throws(SealingError) {
      let envelope = try Envelope.seal(
        body, to: recipient, from: identity,
        at: .init(
          topic: topic, order: id.map { .identifier($0) } ?? .sequence(seq ?? 0),
          now: Int64(Date().timeIntervalSince1970),
          lifetime: lifetime ?? (id == nil ? nil : Envelope.requestLifetime)))
      let text = String(decoding: envelope, as: UTF8.self)
      let payload = event ? "{\"sealed\":\(text)}" : text
      // No payload of an event may be longer either.
      guard payload.utf8.count <= Envelope.limit else { throw .tooLarge }
      return payload
    } catch {
      throw CommandFailure(error == .badOrder ? .usage : .badInput, error.message)
    }
  }
}
