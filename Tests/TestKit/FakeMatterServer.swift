import Foundation
import Synchronization
import ThreadDataset

/// A Matter server, as far as its Thread credentials go. With schema 11 it answers as python-matter-server 7.0.1 did,
/// with schema 12 as the Matter server in JavaScript is documented. It has no login.
package final class FakeMatterServer: Sendable {
  private struct State {
    var dataset: OperationalDataset?
    var commands: [String] = []
    /// Error codes by command.
    var errors: [String: Int] = [:]
    var connections = 0
  }

  private final class Store: Sendable { let state = Mutex(State()) }

  private let store: Store
  private let server: WebSocketServer

  /// - Parameters:
  ///   - schema: of its API.
  ///   - leastSchema: of clients that it takes.
  package init(schema: Int = 11, leastSchema: Int = 9, tls certificates: TestCertificates? = nil, port: UInt16 = 0)
    throws
  {
    let store = Store()
    self.store = store
    server = try WebSocketServer(tls: certificates, port: port) { peer in
      guard peer.accept() != nil else { return }
      let isSet = store.state.withLock { state in
        state.connections += 1
        return state.dataset != nil
      }
      peer.send(
        """
        {
          "fabric_id": 1,
          "compressed_fabric_id": 16132846007179318543,
          "schema_version": \(schema),
          "min_supported_schema_version": \(leastSchema),
          "sdk_version": "2024.11.4",
          "wifi_credentials_set": false,
          "thread_credentials_set": \(isSet),
          "bluetooth_enabled": false
        }
        """)
      while let command = peer.receive() {
        peer.send(#"{"event":"server_info_updated","data":{"schema_version":\#(schema)}}"#)
        peer.send(store.state.withLock { Self.answer(Self.object(command), schema, &$0) })
      }
    }
  }

  package var port: UInt16 { server.port }
  package var url: String { "ws://127.0.0.1:\(port)/ws" }
  /// What was asked, in order: `set_thread_dataset`.
  package var commands: [String] { store.state.withLock { $0.commands } }
  package var connections: Int { store.state.withLock { $0.connections } }
  /// In hex.
  package var dataset: String? { store.state.withLock { $0.dataset?.hex } }

  /// As somebody else does, or as a restart of an older one.
  package func set(_ dataset: OperationalDataset?) { store.state.withLock { $0.dataset = dataset } }

  /// From now on, a command is answered with this error; nil: as usual.
  package func refuse(_ command: String, _ code: Int?) { store.state.withLock { $0.errors[command] = code } }

  private static func answer(_ message: [String: Any], _ schema: Int, _ state: inout State) -> String {
    let (id, command) = (message["message_id"] as? String ?? "", message["command"] as? String ?? "")
    let arguments = message["args"] as? [String: Any] ?? [:]
    state.commands.append(command)
    func result(_ json: String) -> String { "{\n  \"message_id\": \"\(id)\",\n  \"result\": \(json)\n}" }
    func error(_ code: Int) -> String { #"{"message_id":"\#(id)","error_code":\#(code),"details":"No."}"# }
    if let code = state.errors[command] { return error(code) }
    switch command {
    case "set_thread_dataset":
      guard let dataset = try? OperationalDataset(hex: arguments["dataset"] as? String ?? "") else { return error(0) }
      state.dataset = dataset
      return result("null")
    case "remove_thread_dataset" where schema >= 12:
      state.dataset = nil
      return result("null")
    case "get_all_credentials" where schema >= 12:
      let network = state.dataset?.extendedPANID.map { #","networkName":"n","extPanId":"\#("\($0)".uppercased())""# }
      return result(#"{"wifi":[],"thread":[{"id":"other"},{"id":"default"\#(network ?? "")}]}"#)
    default: return error(9)
    }
  }

  private static func object(_ text: String) -> [String: Any] {
    (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:]
  }
}
