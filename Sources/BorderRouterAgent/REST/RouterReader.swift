import Broker
import Home
import ThreadDataset

/// Makes a look of REST answers. Pure: `ask` does the requests.
///
/// `/node` has identity, state and network in one answer, so that they belong together; what it lacks is asked by its
/// own path, and the datasets as TLVs. `/api/node` is never asked: real routers answered `disabled` and an empty name
/// there, whatever they did.
package struct RouterReader: Sendable {
  /// Old versions have no border agent id; there it is the extended address. A version that has reported one is
  /// not old: without it, the answer is wrong, and not another router's.
  private var knowsAgent = false

  package init() {}

  package mutating func look(_ ask: (HTTPRequest) throws(HTTPFailure) -> HTTPAnswer) throws(HTTPFailure) -> RouterLook {
    do throws(Trouble) { return .report(try report(ask)) } catch {
      switch error {
      case .failure(.stopped): throw .stopped
      case .failure(let failure): return .silent(RouterSilence(failure))
      case .flaw(let flaw): return .silent(.garbage(flaw.description, status: flaw.status))
      }
    }
  }

  private enum Trouble: Error {
    case failure(HTTPFailure)
    case flaw(RESTFlaw)
  }

  private static let empty = DatasetError(code: .notHex, type: nil, offset: 0, message: "it is empty")

  private typealias Ask = (HTTPRequest) throws(HTTPFailure) -> HTTPAnswer

  private mutating func report(_ ask: Ask) throws(Trouble) -> RouterReport {
    var node = try self.node(ask)
    if node.state == nil { node.state = try value("/state", ask)?.threadState }
    guard let state = node.state else { throw .flaw(RESTFlaw("/node/state is no Thread state")) }
    if node.extendedAddress == nil { node.extendedAddress = try value("/ext-address", ask)?.extendedAddress }
    if node.network == nil { node.network = try value("/ext-panid", ask)?.text.flatMap { ExtendedPANID(hex: $0) } }
    if node.networkName == nil { node.networkName = try value("/network-name", ask)?.text }
    let agent = try agent(of: node, ask)
    let (_, reading) = try dataset("/active", ask)
    let (pending, pendingReading) = try dataset("/pending", ask)
    var report = RouterReport(
      agent: agent, extendedAddress: node.extendedAddress, state: state, network: node.network,
      networkName: node.networkName, dataset: reading, pending: pending)
    report.partition = state.isAttached ? node.partition : nil
    report.isAlone = state == .leader && node.routers == 1
    report.hasUnreadablePending = pending == nil && pendingReading != .none
    return report
  }

  private mutating func agent(of node: OTBRNode, _ ask: Ask) throws(Trouble) -> BorderAgentID {
    let reported =
      if let agent = node.agent { agent } else { try value("/ba-id", ask)?.text.flatMap { BorderAgentID(hex: $0) } }
    if let reported {
      knowsAgent = true
      return reported
    }
    guard !knowsAgent, let id = node.extendedAddress.flatMap({ BorderAgentID(hex: $0) }) else {
      throw .flaw(RESTFlaw("/node/ba-id is no border agent id"))
    }
    return id
  }

  /// An empty one where the router answers something else than 200: then each path is asked.
  private func node(_ ask: Ask) throws(Trouble) -> OTBRNode {
    let answer = try answer(to: .node(), ask)
    guard answer.status == 200 else { return OTBRNode() }
    do throws(RESTFlaw) { return try OTBRNode(reading: answer.body) } catch { throw .flaw(error) }
  }

  /// - Returns: nil for a path that this version does not have.
  private func value(_ path: String, _ ask: Ask) throws(Trouble) -> RESTValue? {
    let answer = try answer(to: .node(path), ask)
    switch answer.status {
    case 200: return RESTValue(reading: answer.body)
    case 404: return nil
    default: throw .flaw(RESTFlaw(path, answers: answer.status))
    }
  }

  /// - Returns: the dataset where it is sound, and what an active one is good for.
  private func dataset(_ kind: String, _ ask: Ask) throws(Trouble) -> (OperationalDataset?, RouterReport.Reading) {
    let answer = try answer(to: .node("/dataset" + kind, accept: "text/plain"), ask)
    switch (answer.status, kind) {
    case (204, _), (404, "/pending"): return (nil, .none)
    case (200, _): break
    default: throw .flaw(RESTFlaw("/dataset" + kind, answers: answer.status))
    }
    let text = String(decoding: answer.body, as: UTF8.self)
    do throws(DatasetError) {
      // Only 204 means that there is none.
      guard !text.allSatisfy(\.isWhitespace) else { throw Self.empty }
      let dataset = try OperationalDataset(hex: text)
      return (dataset, .init(dataset))
    } catch {
      // What is not even hexadecimal is no dataset, and says nothing about the router's.
      guard error.code != .notHex else { throw .flaw(RESTFlaw("/node/dataset\(kind) is not hexadecimal")) }
      return (nil, .unusable(error.message))
    }
  }

  private func answer(to request: HTTPRequest, _ ask: Ask) throws(Trouble) -> HTTPAnswer {
    do throws(HTTPFailure) { return try ask(request) } catch { throw .failure(error) }
  }
}
