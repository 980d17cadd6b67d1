// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BoundedJSON
import SealedEnvelope
import SodiumCrypto
import ThreadkeeperDaemon

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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
