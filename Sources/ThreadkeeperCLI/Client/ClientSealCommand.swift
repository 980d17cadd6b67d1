// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SealedEnvelope
import SodiumCrypto
import ThreadkeeperDaemon

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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
