// SPDX-License-Identifier: Apache-2.0

import DaemonTestKit
import Foundation
import Logging
import TestKit
import Testing
import VarlinkSocket

@testable import ThreadkeeperDaemon

@Suite("The interfaces of the local API")
struct LocalAPITests {
  private static let interfaces: [VarlinkInterface] = [.threadkeeper, .status]

  private static let files = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
    .appendingPathComponent("docs/interfaces")

  @Test("What is compiled in is what the files say", arguments: interfaces.map(\.name))
  func files(name: String) throws {
    let interface = try #require(Self.interfaces.first { $0.name == name })
    let file = try String(
      contentsOf: Self.files.appendingPathComponent("\(name).varlink"), encoding: .utf8)
    #expect(interface.text == file)
  }

  @Test("Every file is of an interface that is served")
  func allFiles() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.files.path)
    #expect(Set(names) == Set(Self.interfaces.map { "\($0.name).varlink" }))
  }

  @Test("Every method that is described is answered, and the other way round, for the owner alone")
  func methods() throws {
    let store = try TemporaryStore()
    let settings = MovedStore.settings(store)
    let socket = LocalAPISocket(
      settings: settings,
      status: StatusEndpoints(settings: settings, keychain: store.keychain) {
        RuntimeRecord(
          pid: 1, broker: .init(settings, state: .connected), intake: .init(state: .running))
      }, logger: Logger(label: "test"))
    let described = socket.service.interfaces.flatMap { interface in
      interface.methods.map { "\(interface.name).\($0)" }
    }
    let answered = socket.service.endpoints.map { "\($0.interface).\($0.name)" }
    #expect(described.sorted() == answered.sorted())
    for endpoint in socket.service.endpoints where endpoint.interface != "org.varlink.service" {
      #expect(endpoint.access == .owner)
    }
  }
}
