// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Settings
import StatePlaces
import ThreadkeeperDaemon

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The answers that can be given as options.
struct SetupFlags: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The broker: a host name, an address, or `embedded` for a private one.", valueName: "host"))
  var broker: String?

  @Option(help: "Its port. Without it 1883, with TLS 8883.")
  var port: UInt16?

  @Flag(help: "Use TLS, with the authorities that this machine knows.")
  var tls = false

  @Option(
    help: ArgumentHelp(
      "Use TLS; who may have signed the broker's certificate, as PEM.", valueName: "file"))
  var caFile: String?

  @Option(help: ArgumentHelp("threadkeeper's login at the broker.", valueName: "name"))
  var login: String?

  @Flag(help: "The broker takes clients without a login.")
  var noLogin = false

  @Option(
    help: ArgumentHelp(
      "The password: the first line of a file that others cannot read, or of standard input with `-`.",
      valueName: "file"))
  var passwordFile: String?

  @Flag(inversion: .prefixedNo, help: "Announce devices to Home Assistant.")
  var homeAssistant: Bool?

  @Option(
    help: ArgumentHelp(
      "Home Assistant's login at the broker, for the access list.", valueName: "login"))
  var homeAssistantLogin: String?

  @Flag(inversion: .prefixedNo, help: "Serve the status page on this machine.")
  var page: Bool?

  @Option(
    help: ArgumentHelp(
      """
      A login of something else that uses the broker. The access list lets it do what it did, but \
      not speak for routers. Repeatable. Without it: all that this machine's Mosquitto knows.
      """, valueName: "login"))
  var keep: [String] = []

  @Option(
    help: ArgumentHelp(
      "A login of a border router, which is not kept. Repeatable.", valueName: "login"))
  var router: [String] = []

  @Option(help: ArgumentHelp("What all topics lie below.", valueName: "topic"))
  var baseTopic: String?

  @Option(
    help: ArgumentHelp(
      "Mosquitto's configuration, if it is not /etc/mosquitto/mosquitto.conf.", valueName: "file"))
  var mosquittoConfig: String?

  @Flag(help: "Write the settings without asking the broker.")
  var noValidate = false

  func validate() throws {
    if noLogin, login != nil || passwordFile != nil {
      throw ValidationError("--no-login and --login or --password-file exclude each other.")
    }
    if port == 0 { throw ValidationError("--port is from 1 to 65535.") }
    if broker == "embedded", port != nil || tls || caFile != nil || login != nil {
      throw ValidationError("The private broker makes its own port and login.")
    }
  }

  /// Where TLS is asked for: an absolute path.
  var authority: String? {
    caFile.map(Self.absolute) ?? (tls ? Self.systemAuthorities : nil)
  }

  /// What a person names is relative to where that person is, and not to the settings.
  static func absolute(_ path: String) -> String {
    FilePath.absolute(
      path, in: SettingsLoader.currentDirectory(),
      home: ProcessInfo.processInfo.environment["HOME"]) ?? path
  }

  static let systemAuthorities = "/etc/ssl/certs/ca-certificates.crt"

  static func missing(_ flag: String) -> CommandFailure {
    CommandFailure(
      .usage, "\(flag) is missing, and there is no terminal to ask on",
      remedy: "give it, or run this at a terminal")
  }
}
