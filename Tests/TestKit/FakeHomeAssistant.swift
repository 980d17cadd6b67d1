// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import ThreadDataset

/// Home Assistant's WebSocket API, as far as its Thread store goes. It answers as a real one was recorded: see
/// Tests/BorderRouterAgentTests/Recorded/home-assistant.txt.
package final class FakeHomeAssistant: Sendable {
  /// An entry of its store.
  private struct Entry {
    let id: String
    var dataset: OperationalDataset
    var borderAgent: String?
  }

  private final class Store: Sendable {
    let state = Mutex(State())
  }

  private struct State {
    var entries: [Entry] = []
    var preferred: String?
    var commands: [String] = []
    var logins = 0
    /// Error codes by command.
    var errors: [String: String] = [:]
    var lastID = 0
  }

  private let store: Store
  private let server: WebSocketServer

  /// - Parameters:
  ///   - token: of its administrator.
  ///   - certificates: with them it speaks TLS.
  package init(
    token: String = "a-long-lived-token", tls certificates: TestCertificates? = nil,
    port: UInt16 = 0
  ) throws {
    let store = Store()
    self.store = store
    server = try WebSocketServer(tls: certificates, port: port) { peer in
      guard peer.accept() != nil else { return }
      peer.send(#"{"type":"auth_required","ha_version":"2025.4.4"}"#)
      guard let login = peer.receive() else { return }
      store.state.withLock { $0.logins += 1 }
      guard Self.object(login)["access_token"] as? String == token else {
        peer.send(#"{"type":"auth_invalid","message":"Invalid access token or password"}"#)
        return peer.send(frame: [0x03, 0xE8], opcode: 8)
      }
      peer.send(#"{"type":"auth_ok","ha_version":"2025.4.4"}"#)
      while let command = peer.receive() {
        peer.send(store.state.withLock { Self.answer(Self.object(command), &$0) })
      }
    }
  }

  package var port: UInt16 { server.port }
  package var url: String { "http://127.0.0.1:\(port)" }
  /// What was asked, in order: `thread/list_datasets`.
  package var commands: [String] { store.state.withLock { $0.commands } }
  /// Logins that were tried.
  package var logins: Int { store.state.withLock { $0.logins } }

  package var ids: [String] { store.state.withLock { $0.entries.map(\.id) } }

  /// As a phone does.
  ///
  /// - Returns: the id.
  @discardableResult
  package func add(
    _ dataset: OperationalDataset, isPreferred: Bool = false, borderAgent: String? = nil
  ) -> String {
    store.state.withLock { state in
      let id = Self.add(dataset, &state)
      if let index = state.entries.firstIndex(where: { $0.id == id }) {
        state.entries[index].borderAgent = borderAgent
      }
      if isPreferred { state.preferred = id }
      return id
    }
  }

  package func delete(_ id: String) {
    store.state.withLock { $0.entries.removeAll { $0.id == id } }
  }

  package func prefer(_ id: String) { store.state.withLock { $0.preferred = id } }

  /// The Extended PAN ID of the preferred network.
  package var preferred: String? {
    store.state.withLock { state in
      state.entries.first { $0.id == state.preferred }?.dataset.extendedPANID?.description
    }
  }

  /// In hex, by Extended PAN ID.
  package var datasets: [String: String] {
    store.state.withLock { state in
      Dictionary(
        state.entries.map { ($0.dataset.extendedPANID?.description ?? "", $0.dataset.hex) }
      ) { $1 }
    }
  }

  /// From now on, a command is answered with this error; nil: as usual.
  package func refuse(_ command: String, _ code: String?) {
    store.state.withLock { $0.errors[command] = code }
  }

  // MARK: Answers

  /// A newer dataset of a network replaces the one that is there; others are ignored.
  private static func add(_ dataset: OperationalDataset, _ state: inout State) -> String {
    let network = dataset.extendedPANID
    if let index = state.entries.firstIndex(where: { $0.dataset.extendedPANID == network }) {
      let old = state.entries[index].dataset.activeTimestamp?.seconds ?? 0
      if (dataset.activeTimestamp?.seconds ?? 0) > old { state.entries[index].dataset = dataset }
      return state.entries[index].id
    }
    state.lastID += 1
    let id = "01M8DM62HR10QSSG5X3EFED\(state.lastID)"
    state.entries.append(Entry(id: id, dataset: dataset))
    return id
  }

  private static func answer(_ command: [String: Any], _ state: inout State) -> String {
    let (type, id) = (command["type"] as? String ?? "", command["id"] as? Int ?? 0)
    state.commands.append(type)
    func result(_ json: String) -> String {
      #"{"id":\#(id),"type":"result","success":true,"result":\#(json)}"#
    }
    func error(_ code: String) -> String {
      #"{"id":\#(id),"type":"result","success":false,"error":{"code":"\#(code)","message":"No."}}"#
    }
    if let code = state.errors[type] { return error(code) }
    let entry = state.entries.first { $0.id == command["dataset_id"] as? String }
    switch type {
    case "thread/list_datasets":
      let list = state.entries.map { listed($0, isPreferred: $0.id == state.preferred) }
      return result(#"{"datasets":[\#(list.joined(separator: ","))]}"#)
    case "thread/get_dataset_tlv":
      return entry.map { result(#"{"tlv":"\#($0.dataset.hex)"}"#) } ?? error("not_found")
    case "thread/add_dataset_tlv":
      guard let hex = command["tlv"] as? String, let dataset = try? OperationalDataset(hex: hex)
      else { return error("invalid_format") }
      _ = add(dataset, &state)
      return result("null")
    case "thread/set_preferred_dataset":
      guard let entry else { return error("not_found") }
      state.preferred = entry.id
      return result("null")
    default: return error("unknown_command")
    }
  }

  private static func listed(_ entry: Entry, isPreferred: Bool) -> String {
    let dataset = entry.dataset
    let fields: [String: Any?] = [
      "channel": dataset.channel.map { Int($0.number) },
      "created": "2026-11-27T04:28:28.088900+00:00", "dataset_id": entry.id,
      "extended_pan_id": dataset.extendedPANID?.description, "network_name": dataset.networkName,
      "pan_id": dataset.panID.map { String($0, radix: 16) }, "preferred": isPreferred,
      "preferred_border_agent_id": entry.borderAgent, "preferred_extended_address": nil,
      "source": "iOS-app",
    ]
    let object = fields.mapValues { $0 ?? NSNull() }
    let json = try? JSONSerialization.data(withJSONObject: object, options: .sortedKeys)
    return String(decoding: json ?? Data(), as: UTF8.self)
  }

  private static func object(_ text: String) -> [String: Any] {
    (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:]
  }
}
