// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import CredentialService
import ThreadRequests

/// `routers/list`, `networks/list` and `alerts/list`: the states as they are published.
extension BatchRegistry {
  func states(_ command: RequestCommand, context: RequestContext) throws -> AnswerData {
    let home = try batch.home(named: context.home).record
    let limit = context.mostEntries ?? BridgeRegistry.listed
    var data = AnswerData()
    switch command {
    case .listRouters:
      data.routers = try RouterLedger.page(home: home.id, after: 0, limit: limit + 1, batch.tx)
        .map { try JSONValue($0.state(home: home.name)) }
    case .listNetworks:
      data.networks = try NetworkLedger.page(home: home.id, after: 0, limit: limit + 1, batch.tx)
        .map { try JSONValue($0.network.state(in: home)) }
    default:
      data.alerts = try AlertLedger.firing(home: home.id, limit: limit + 1, batch.tx)
        .map { try JSONValue($0.state(home: home.name)) }
    }
    let count = max(
      data.routers?.count ?? 0, data.networks?.count ?? 0, data.alerts?.count ?? 0)
    guard count <= limit else {
      throw AnswerFailure(
        .tooLarge, "there are more than \(limit), which no answer can hold; their topics have them")
    }
    return data
  }
}
