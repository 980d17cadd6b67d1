// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing
import ThreadRequests

@testable import ThreadNetwork

@Suite("Where a client looks", .timeLimit(.minutes(5)))
struct PlaceTests {
  @Test(
    "The machine's keeper is asked where there is no own store, and that is used once it is there")
  func machine() async throws {
    let place = try OwnPlace()
    let keeper = try FakeKeeper { fields, _ in
      fields.command == "preferred/available"
        ? Array("{\"v\":1,\"status\":\"ok\",\"data\":{\"available\":true}}".utf8)
        : ThreadAnswer(AnswerData(credentials: [])).json
    }
    var configuration = place.configuration()
    configuration.machineSocket = keeper.path
    let client = THClient(configuration: configuration)
    #expect(await client.isPreferredAvailable())
    try await client.storeCredentials(
      forBorderAgent: Agents.kitchen, activeOperationalDataSet: SampleNetwork.home.octets())
    #expect(keeper.requests.map(\.command) == ["preferred/available", "credentials/store"])
    #expect(!FileManager.default.fileExists(atPath: place.storePath))

    try await place.client().storeCredentials(
      forBorderAgent: Agents.attic, activeOperationalDataSet: SampleNetwork.home.octets())
    #expect(try await client.allCredentials().map(\.borderAgentID) == [Agents.attic])
    #expect(keeper.requests.count == 2)
  }

  @Test("Without a keeper of the machine a store is made with the first credentials")
  func none() async throws {
    let place = try OwnPlace()
    var configuration = place.configuration()
    configuration.machineSocket = place.directory.file("nobody/client.sock")
    let client = THClient(configuration: configuration)
    #expect(await !client.isPreferredAvailable())
    try await client.storeCredentials(
      forBorderAgent: Agents.kitchen, activeOperationalDataSet: SampleNetwork.home.octets())
    #expect(await client.isPreferredAvailable())
  }

  @Test("Without any place that is said")
  func nowhere() async throws {
    var configuration = try OwnPlace().configuration()
    configuration.storeDirectory = nil
    let client = THClient(configuration: configuration)
    let error = await failure { _ = try await client.allCredentials() }
    #expect(error?.reason == .unavailable)
    #expect(error?.localizedDescription.contains("THREADKEEPER_SOCKET") == true)
  }

  @Test("A passphrase opens the own store, and a wrong one does not")
  func passphrase() async throws {
    let place = try OwnPlace()
    var configuration = place.configuration()
    for (name, text) in [("right", "a passphrase of the test's\n"), ("wrong", "another one\n")] {
      let path = place.directory.file(name)
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
      chmod(path, 0o600)
    }
    configuration.passphraseFile = place.directory.file("right")
    try await THClient(configuration: configuration).storeCredentials(
      forBorderAgent: Agents.kitchen, activeOperationalDataSet: SampleNetwork.home.octets())
    #expect(try await THClient(configuration: configuration).allCredentials().count == 1)
    configuration.passphraseFile = place.directory.file("wrong")
    let client = THClient(configuration: configuration)
    #expect(await failure { _ = try await client.allCredentials() }?.reason == .unavailable)
  }
}
