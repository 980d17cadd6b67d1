import Home
import ThreadDataset
import ThreadkeeperSupport
import Wire

/// Thread 1.4 credential sharing: a code of 9 digits with which a phone or another ecosystem gets this network's
/// credentials from the border router, once and for a few minutes. The router makes it.
///
/// ```
/// PUT  /node/ba-epskc/state  "enable"              200; 404: the router does not have it
/// POST /node/ba-epskc/key    {"lifetime":120000}   200 {"tap":"123456789","port":49152}; 409: a code is in use
/// ```
/// The code is for the eyes of whoever sits there: it is neither logged nor published.
package struct CredentialSharing: Equatable, Sendable {
  /// OpenThread takes at most ten.
  package static let minutes = 1...10

  package let agent: BorderAgentID?
  package let network: ExtendedPANID?
  package let networkName: String?
  /// 9 digits.
  package let code: String

  /// Why there is no code, as what the router does: `is detached`.
  package enum Obstacle: Error, Equatable, Sendable {
    case silent(RouterSilence)
    case detached(ThreadState)
    case otherNetwork(ExtendedPANID?, name: String?)
    /// By its answer's status.
    case notOffered(Int)
    case inUse
    case unexpected(String)

    package var description: String {
      switch self {
      case .silent(.untrusted(let message)): "cannot be asked: \(message), which is neither root nor this user"
      case .silent(let silence): "cannot be asked: \(silence.description)"
      case .detached(let state): "is \(state.word), on no network"
      case .otherNetwork(let network, let name):
        "is on another network, \([name, network.map { "(\($0))" }].compactMap { $0 }.joined(separator: " "))"
      case .notOffered(let status): "has no credential sharing in this version (\(status))"
      case .inUse: "has a code in use already (409)"
      case .unexpected(let what): "gives no code: \(what)"
      }
    }
  }

  /// Looks at a router, and asks it for a code where it is on the network. On the caller's thread.
  ///
  /// - Parameter network: nil for whichever it is on.
  package static func start(by client: OTBRClient, on network: ExtendedPANID?, minutes: Int) throws(Obstacle)
    -> CredentialSharing
  { try start(on: network, minutes: minutes) { request throws(HTTPFailure) in try client.perform(request) } }

  static func start(on network: ExtendedPANID?, minutes: Int, _ ask: (HTTPRequest) throws(HTTPFailure) -> HTTPAnswer)
    throws(Obstacle) -> CredentialSharing
  {
    func answer(to request: HTTPRequest) throws(Obstacle) -> HTTPAnswer {
      do throws(HTTPFailure) { return try ask(request) } catch { throw .silent(RouterSilence(error)) }
    }
    let report = try report(ask)
    guard report.state.isAttached else { throw .detached(report.state) }
    guard network == nil || network == report.network else {
      throw .otherNetwork(report.network, name: report.networkName)
    }
    let state = try answer(to: HTTPRequest(method: .put, path: "/node/ba-epskc/state", body: Array("\"enable\"".utf8)))
    guard state.status == 200 else { throw obstacle(state.status) }
    let lifetime = "{\"lifetime\":\(minutes * 60_000)}"
    let key = try answer(to: HTTPRequest(method: .post, path: "/node/ba-epskc/key", body: Array(lifetime.utf8)))
    guard key.status == 200 || key.status == 201 else { throw obstacle(key.status) }
    guard let code = code(in: key.body) else { throw .unexpected("its answer has none of 9 digits") }
    return CredentialSharing(agent: report.agent, network: report.network, networkName: report.networkName, code: code)
  }

  private static func report(_ ask: (HTTPRequest) throws(HTTPFailure) -> HTTPAnswer) throws(Obstacle) -> RouterReport {
    var reader = RouterReader()
    let look: RouterLook
    do throws(HTTPFailure) { look = try reader.look(ask) } catch { throw .silent(RouterSilence(error)) }
    switch look {
    case .report(let report): return report
    case .silent(let silence): throw .silent(silence)
    }
  }

  private static func code(in body: [UInt8]) -> String? {
    var code: String?
    let isObject = try? UntrustedJSON.readMembers(of: body, depth: OTBRNode.nesting) { member in
      if member.name.text?.lowercased() == "tap" { code = RESTValue(member.value).text }
    }
    guard isObject == true, let code, code.utf8.count == 9, code.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 })
    else { return nil }
    return code
  }

  private static func obstacle(_ status: Int) -> Obstacle {
    switch status {
    case 404, 405, 501: .notOffered(status)
    case 409: .inUse
    default: .unexpected("it answers \(status)")
    }
  }
}
