// SPDX-License-Identifier: Apache-2.0

import Bridge
import DaemonTestKit
import Foundation
import LocalRequests
import Logging
import MosquittoClient
import TestKit
import Testing
import VarlinkSocket

@testable import ThreadkeeperDaemon

@Suite("The interfaces of the local API")
struct LocalAPITests {
  private let store: TemporaryStore
  private let socket: LocalAPISocket

  private struct NoPrompt: LoginPrompt {
    let isPossible = false
    func ask(_ question: String, isHidden: Bool) -> String? { nil }
    func say(_ text: String) {}
  }

  init() throws {
    store = try TemporaryStore()
    let settings = MovedStore.settings(store)
    let logger = Logger(label: "test")
    let bridge = try Bridge(
      BridgeConfiguration(settings),
      connection: MosquittoConfiguration(host: "127.0.0.1", clientID: "test"), clientID: "test",
      keychain: store.keychain, logger: logger)
    socket = LocalAPISocket(
      settings, bridge: bridge,
      store: StoreService(settings, keychain: store.keychain, logger: logger),
      logins: BrokerLoginService(
        settings, keychain: store.keychain, bridge: bridge,
        login: LoginInUse(username: nil, password: nil, source: .none), prompt: NoPrompt(),
        logger: logger),
      runtime: {
        DaemonState(
          pid: 1, broker: .init(settings, state: .connected), intake: .init(state: .running),
          discovery: .init(.off), page: .init(.off))
      }, logger: logger)
  }

  private static let shown: Set<String> = [
    "Status.Get", "Status.Watch", "Lists.Alerts", "Lists.Routers", "Lists.Networks",
    "Lists.Credentials", "Lists.Credential", "Lists.Former", "Lists.Preferred", "Audit.Follow",
    "Audit.Verify", "Clients.List", "Consent.List", "Consent.Watch", "Consent.Grants",
    "Consent.History", "Keys.List",
  ]

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

  @Test(
    "Every method that is described is answered, and the other way round: requests for teams, those that only show for readers, all others for the owner alone"
  )
  func methods() throws {
    let described = socket.service.interfaces.flatMap { interface in
      interface.methods.map { "\(interface.name).\($0)" }
    }
    let answered = socket.service.endpoints.map { "\($0.interface).\($0.name)" }
    #expect(described.sorted() == answered.sorted())
    for endpoint in socket.service.endpoints
    where endpoint.interface != VarlinkInterface.service.name {
      let isRequest = RequestMethods.interfaces.contains { $0.name == endpoint.interface }
      let name = "\(endpoint.interface).\(endpoint.name)".dropFirst("io.threadkeeper.".count)
      #expect(
        endpoint.access
          == (isRequest ? .team : Self.shown.contains(String(name)) ? .reader : .owner), "\(name)")
    }
  }
}
