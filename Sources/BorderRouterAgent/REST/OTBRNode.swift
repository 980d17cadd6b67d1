// SPDX-License-Identifier: Apache-2.0

import BoundedJSON
import BridgeProtocol
import ThreadDataset

/// The object at `/node` of an OpenThread Border Router, whose keys are `baId` since 2025 and `BaId` before.
///
/// A key that is absent, or has a value of another form, is nil: older routers have fewer.
package struct OTBRNode: Equatable, Sendable {
  package var agent: BorderAgentID?
  /// 16 hex digits in lower case.
  package var extendedAddress: String?
  package var state: ThreadState?
  /// Where the router is, whatever its dataset says.
  package var network: ExtendedPANID?
  package var networkName: String?
  /// How many routers its partition has, itself among them; 0 while it is on none.
  package var routers: UInt64?

  /// The most objects and arrays within each other in an answer; real ones have two.
  static let nesting = 8

  package init() {}

  /// - Throws: `RESTFlaw` when it is no JSON object.
  package init(reading body: [UInt8]) throws(RESTFlaw) {
    var node = OTBRNode()
    let isObject = try? UntrustedJSON.readMembers(of: body, depth: Self.nesting) { member in
      node.take(member)
    }
    guard isObject == true else { throw RESTFlaw("/node is no JSON object") }
    self = node
  }

  private mutating func take(_ member: JSONMember) {
    guard let name = member.name.text, let first = name.first else { return }
    let value = RESTValue(member.value)
    switch first.lowercased() + name.dropFirst() {
    case "baId": agent = value.text.flatMap { BorderAgentID(hex: $0) }
    case "extAddress": extendedAddress = value.extendedAddress
    case "state": state = value.threadState
    case "extPanId": network = value.text.flatMap { ExtendedPANID(hex: $0) }
    case "networkName": networkName = value.text
    case "routerCount", "numOfRouter": if case .number(let count) = value { routers = count }
    default: break
    }
  }
}
