// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BorderRouterAgent

/// Where an SSID comes from: exactly one source.
struct SSIDSourceOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Run this with /bin/sh at each look; the first line that it prints is the SSID.",
      valueName: "command"))
  var command: String?

  @Flag(
    help: ArgumentHelp("Ask NetworkManager, with nmcli, for the Wi-Fi that is active on INTERFACE.")
  )
  var networkmanager = false

  @Argument(
    help: ArgumentHelp(
      "Of --networkmanager; the first that is active unless given.", valueName: "interface"))
  var interface: String?

  @Option(
    help: ArgumentHelp("Ask the kernel, with iw, for this interface.", valueName: "interface"))
  var iw: String?

  @Option(
    help: ArgumentHelp("Follow this configuration file of hostapd.", valueName: "file"))
  var hostapd: String?

  @Option(
    help: ArgumentHelp(
      "Of --hostapd: the interface of the BSS; the first BSS unless given.", valueName: "interface")
  )
  var bss: String?

  func validate() throws { _ = try source() }

  func source() throws -> SSIDSource {
    let sources: [SSIDSource?] = [
      command.map { .command($0) }, networkmanager ? .networkManager(interface: interface) : nil,
      iw.map { .iw(interface: $0) }, hostapd.map { .hostapd(file: $0, bss: bss) },
    ]
    let named = sources.compactMap(\.self)
    guard named.count == 1, let source = named.first else {
      throw ValidationError("Give one of --command, --networkmanager, --iw and --hostapd.")
    }
    guard interface == nil || networkmanager else {
      throw ValidationError("An interface without an option belongs to --networkmanager.")
    }
    guard bss == nil || hostapd != nil else { throw ValidationError("--bss needs --hostapd.") }
    guard command != "", hostapd != "" else {
      throw ValidationError("--command and --hostapd can't be empty.")
    }
    for name in [interface, iw].compactMap(\.self) where !SSIDSource.isInterface(name) {
      throw ValidationError("\(name) can't be the name of an interface.")
    }
    return source
  }
}
