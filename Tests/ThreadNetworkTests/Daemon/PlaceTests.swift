import Foundation
import KeychainCore
import TestKit
import Testing
import ThreadRequests

@testable import ThreadNetwork

@Suite("Where a client looks", .timeLimit(.minutes(30))) struct PlaceTests {
  private static let available = Array("{\"v\":1,\"status\":\"ok\",\"data\":{\"available\":true}}".utf8)

  private func machine(in place: OwnPlace, socket: String) -> MachineDaemon {
    MachineDaemon(directory: place.directory.file("machine"), socket: socket)
  }

  @Test("The daemon of the machine is used, also beside an older store of the user's own") func machine() async throws {
    let place = try OwnPlace()
    try await place.client().store(for: Agents.attic)
    let daemon = try FakeDaemon { request, _ in
      request.command == .isPreferredAvailable ? Self.available : ThreadAnswer(AnswerData(credentials: [])).json()
    }
    var configuration = place.configuration()
    configuration.machine = machine(in: place, socket: daemon.path)
    let client = THClient(configuration: configuration)
    #expect(await client.isPreferredAvailable())
    try await client.store()
    #expect(try await client.allCredentials().isEmpty)
    let commands: [RequestCommand] = [.isPreferredAvailable, .storeCredentials, .listCredentials]
    #expect(daemon.requests.map(\.command) == commands)

    // Named, the own store is used.
    #expect(try await place.client().allCredentials().map(\.borderAgentID) == [Agents.attic])
    #expect(daemon.requests.count == 3)
  }

  @Test("While the daemon of the machine does not run, calls fail with `notNow` and make no store") func stopped()
    async throws
  {
    let place = try OwnPlace()
    let machine = machine(in: place, socket: place.directory.file("none/client.sock"))
    try FileManager.default.createDirectory(atPath: machine.directory, withIntermediateDirectories: false)
    var configuration = place.configuration()
    configuration.machine = machine
    let link = DaemonLink(configuration, timeout: .milliseconds(300))
    var request = ThreadRequest(.storeCredentials)
    request.agent = BorderAgentID(hex: "0000000000000001")
    request.dataset = try SampleNetwork.home.dataset(at: 1)
    let error = await failure { try await link.ask(request) }
    #expect(error?.reason == .notNow)
    #expect(error?.code == 18)
    #expect(error?.localizedDescription.contains(machine.socket) == true)
    #expect(error?.localizedDescription.contains("THREADKEEPER_STORE_PATH") == true)
    #expect(!FileManager.default.fileExists(atPath: place.storePath))
  }

  @Test("A daemon whose directory cannot be looked at is installed all the same") func unreadable() throws {
    let place = try OwnPlace()
    // A name that is too long cannot be looked at either, by root too.
    let hidden = place.directory.file(String(repeating: "x", count: 300))
    let absent = place.directory.file("none")
    #expect(MachineDaemon(directory: hidden, socket: absent).isInstalled)
    #expect(!MachineDaemon(directory: absent, socket: absent + "/client.sock").isInstalled)
  }

  @Test("A call that comes while the daemon of the machine starts is answered by it") func starting() async throws {
    let place = try OwnPlace()
    let path = try place.makeSocketDirectory()
    var configuration = place.configuration()
    configuration.machine = machine(in: place, socket: path)
    try FileManager.default.createDirectory(atPath: place.directory.file("machine"), withIntermediateDirectories: false)
    let link = DaemonLink(configuration, timeout: .seconds(60))
    async let answer = link.ask(ThreadRequest(.isPreferredAvailable))
    try await Task.sleep(for: .milliseconds(50))
    let daemon = try FakeDaemon(at: path) { _, _ in Self.available }
    #expect(try await answer.available == true)
    daemon.stop()
  }

  @Test("Root's store is that of the machine where root runs the daemon: it is opened") func ownMachine() async throws {
    let place = try OwnPlace()
    var configuration = place.configuration()
    configuration.machine = MachineDaemon(
      directory: place.directory.path, socket: place.directory.file("none/client.sock"))
    let client = THClient(configuration: configuration)
    try await client.store()
    #expect(try await client.allCredentials().count == 1)
  }

  @Test("Without a daemon on the machine a store is made with the first credentials") func none() async throws {
    let place = try OwnPlace()
    var configuration = place.configuration()
    configuration.machine = machine(in: place, socket: place.directory.file("none/client.sock"))
    let client = THClient(configuration: configuration)
    #expect(await !client.isPreferredAvailable())
    try await client.store()
    #expect(await client.isPreferredAvailable())
  }

  @Test("Without any place that is said") func nowhere() async throws {
    var configuration = try OwnPlace().configuration()
    configuration.storeDirectory = nil
    let client = THClient(configuration: configuration)
    let error = await failure { try await client.allCredentials() }
    #expect(error?.reason == .unavailable)
    #expect(error?.localizedDescription.contains("THREADKEEPER_SOCKET") == true)
  }

  @Test("A passphrase opens the own store, and a wrong one does not") func passphrase() async throws {
    let place = try OwnPlace()
    // The least that is accepted: a store that the client makes itself takes a second for each call.
    var options = KeychainOptions()
    options.passwordHash = .floor
    let path = place.directory.file("passphrase")
    func client(_ passphrase: String) throws -> THClient {
      try Data((passphrase + "\n").utf8).write(to: URL(fileURLWithPath: path))
      chmod(path, 0o600)
      var configuration = place.configuration()
      configuration.passphraseFile = path
      return THClient(configuration: configuration)
    }
    let right = try client("a passphrase of the test's")
    try Keychain.create(
      at: StoreLocation(directory: place.storePath, anchorDirectory: place.storePath + ".anchor"),
      slots: [.passphrase(inFile: path)], options: options
    ).close()
    try await right.store()
    #expect(try await right.allCredentials().count == 1)
    let wrong = try client("another one")
    #expect(await failure { try await wrong.allCredentials() }?.reason == .unavailable)
  }
}
