// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import DaemonTestKit
import Foundation
import Logging
import TestKit
import Testing
import VarlinkSocket

@testable import Bridge
@testable import ThreadkeeperDaemon

@Suite("The interfaces of the local API")
struct LocalAPITests {
  private let store: TemporaryStore
  private let socket: LocalAPISocket

  init() throws {
    store = try TemporaryStore()
    let settings = MovedStore.settings(store)
    let enrolments = ClientEnrolmentStore(store.keychain)
    let service = StoreService(
      settings, enrolments: enrolments, logger: Logger(label: "test"))
    socket = LocalAPISocket(
      settings: settings,
      handlers: [
        StatusEndpoints(settings: settings, keychain: store.keychain) {
          RuntimeRecord(
            pid: 1, broker: .init(settings, state: .connected), intake: .init(state: .running))
        },
        RoutersHandler(
          settings,
          ownership: try OwnershipService(
            BridgeConfiguration(settings), keychain: store.keychain)),
        EnrolmentHandler(enrolments, logger: Logger(label: "test")),
        ConsentHandler(
          keychain: store.keychain,
          consents: ConsentDesk(
            try TransactionRunner(
              BridgeConfiguration(settings), keychain: store.keychain, clock: SystemClock()))),
        KeysHandler(service: service), StoreHandler(service: service),
      ], logger: Logger(label: "test"))
  }

  private var interfaces: [VarlinkInterface] {
    socket.service.interfaces.filter { $0.name != VarlinkInterface.service.name }
  }

  private static let files = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
    .appendingPathComponent("docs/interfaces")

  @Test("What is compiled in is what the files say, and every file is served")
  func files() throws {
    for interface in interfaces {
      let file = try String(
        contentsOf: Self.files.appendingPathComponent("\(interface.name).varlink"), encoding: .utf8)
      #expect(interface.text == file)
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.files.path)
    #expect(names.sorted() == interfaces.map { "\($0.name).varlink" }.sorted())
  }

  @Test("Every method that is described is answered, and the other way round, for the owner alone")
  func methods() throws {
    let described = socket.service.interfaces.flatMap { interface in
      interface.methods.map { "\(interface.name).\($0)" }
    }
    let answered = socket.service.endpoints.map { "\($0.interface).\($0.name)" }
    #expect(described.sorted() == answered.sorted())
    for endpoint in socket.service.endpoints
    where endpoint.interface != VarlinkInterface.service.name {
      #expect(endpoint.access == .owner)
    }
  }
}
