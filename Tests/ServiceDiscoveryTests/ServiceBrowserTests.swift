// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing
import ThreadDataset

@Suite(
  .enabled(if: LocalNetwork.obstacle == nil, "\(LocalNetwork.obstacle ?? "")"))
struct ServiceBrowserTests {
  private func text(_ entry: String) -> [UInt8] { Array(entry.utf8) }

  @Test("A service is found with its binary values, and what is there is listed")
  func found() async throws {
    let network = try LocalNetwork()
    let publisher = try ServicePublisher(network)
    let extendedPANID: [UInt8] = [0x11, 0, 0xFF, 0x3D, 0x0A, 0x80, 0xC3, 0x28]
    try publisher.publish(
      "Küche #1",
      text: [
        text("vn=eero"), text("xp=") + extendedPANID, text("flag"), text("id=1"), text("ID=2"),
      ])
    let browser = try BrowserProcess(network.environment(), keys: ["vn", "xp", "flag", "id", "nn"])
    try await browser.wait(for: "found")
    try await browser.wait(for: "listed")
    #expect(
      browser.updates("found") == [
        "found\tKüche #1\tfar.local\t49152\tvn=6565726f\txp=1100ff3d0a80c328\tflag\tid=31\tnn-"
      ])
    #expect(try await browser.stop() < 2_000)
  }

  @Test("A change of the TXT record is found, and a withdrawn service is lost")
  func changed() async throws {
    let network = try LocalNetwork()
    let browser = try BrowserProcess(network.environment(), keys: ["at"])
    try await browser.wait(for: "listed")
    let publisher = try ServicePublisher(network)
    try publisher.publish("router", text: [text("at=\u{1}")])
    try await browser.wait(for: "found\trouter\tfar.local\t49152\tat=01")
    try publisher.publish("router", text: [text("at=\u{2}")])
    try await browser.wait(for: "found\trouter\tfar.local\t49152\tat=02")
    #expect(browser.updates("lost") == [])
    try publisher.withdraw("router")
    try await browser.wait(for: "lost\trouter")
    try publisher.publish("router", text: [text("at=\u{3}")])
    try await browser.wait(for: "found\trouter\tfar.local\t49152\tat=03")
  }

  @Test("Without avahi-daemon it is unavailable; once it is there, services are found and listed")
  func restarted() async throws {
    let network = try LocalNetwork()
    let publisher = try ServicePublisher(network)
    try publisher.publish("router")
    try network.stop(.avahi)
    let browser = try BrowserProcess(network.environment())
    try await browser.wait(
      for: "unavailable\tavahi-daemon does not answer.\tInstall and start it: `apt-get install")
    for round in 1...2 {
      try network.start(.avahi)
      try await browser.wait(for: "found\trouter\t", count: round)
      try await browser.wait(for: "listed", count: round)
      try network.stop(.avahi, kill: round == 2)
      try await browser.wait(for: "unavailable\tavahi-daemon", count: round + 1)
    }
    #expect(try await browser.stop() < 2_000)
  }

  @Test("When the D-Bus daemon goes and comes back, services are found and listed again")
  func busRestarted() async throws {
    let network = try LocalNetwork()
    let publisher = try ServicePublisher(network)
    try publisher.publish("router")
    let browser = try BrowserProcess(network.environment())
    try await browser.wait(for: "found\trouter\t")
    try await browser.wait(for: "listed")
    try network.stop(.bus)
    try await browser.wait(for: "unavailable\tThe system's D-Bus does not answer")
    // Like systemd: who needs the bus is started again after it.
    try? network.stop(.avahi)
    try network.start(.bus)
    try network.start(.avahi)
    try await browser.wait(for: "listed", count: 2)
    #expect(browser.updates("found\trouter\t").count == 2)
  }

  @Test(
    "A stop returns soon although the D-Bus daemon or avahi-daemon stands still",
    arguments: [LocalNetwork.Part.bus, .avahi])
  func frozen(_ part: LocalNetwork.Part) async throws {
    let network = try LocalNetwork()
    let publisher = try ServicePublisher(network)
    let browser = try BrowserProcess(network.environment())
    try await browser.wait(for: "listed")
    if part == .bus {
      try network.freeze(.bus)
    } else {
      // It is asked for a resolver, and does not answer.
      try publisher.publish("router")
      try network.freeze(.avahi)
    }
    #expect(try await browser.stop() < 10_000)
    // Another one begins with a call that is not answered.
    let late = try BrowserProcess(network.environment())
    #expect(try await late.stop() < 10_000)
    #expect(late.isRunning)
  }

  @Test(
    "Of 201 services 200 are found, and the other one as soon as there is room",
    .timeLimit(.minutes(5)))
  func limit() async throws {
    let network = try LocalNetwork()
    let publisher = try ServicePublisher(network)
    for number in 1...201 { try publisher.publish("router \(number)") }
    // The near avahi-daemon must know all of them first.
    let watcher = try BrowserProcess(network.environment(), maximumServices: 300)
    try await watcher.wait(for: "found", count: 201, within: .seconds(120))
    let browser = try BrowserProcess(network.environment())
    try await browser.wait(for: "listed", within: .seconds(120))
    let names = browser.updates("found").map { $0.split(separator: "\t")[1] }
    #expect(Set(names).count == 200)
    #expect(try await browser.refused() >= 1)
    let other = try #require((1...201).map { "router \($0)" }.first { !names.contains($0[...]) })
    try publisher.withdraw(String(names[0]))
    try await browser.wait(for: "lost\t\(names[0])")
    try await browser.wait(for: "found\t\(other)\t")
    #expect(browser.isRunning)
  }

  @Test("Where services of another type are published nothing is found")
  func otherType() async throws {
    let network = try LocalNetwork()
    let publisher = try ServicePublisher(network)
    try publisher.publish("web", type: "_http._tcp")
    try publisher.publish("router")
    let browser = try BrowserProcess(network.environment())
    try await browser.wait(for: "found\trouter\t")
    try await browser.wait(for: "listed")
    #expect(browser.updates("found").count == 1)
  }
}
