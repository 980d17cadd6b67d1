// SPDX-License-Identifier: Apache-2.0

import BorderRouterAgent
import Broker
import TestKit
import Testing
import ThreadDataset

import enum Home.ThreadState

/// Reports of routers that a test makes up.
enum Sample {
  static func agent(_ digit: Character = "1") throws -> BorderAgentID {
    try #require(BorderAgentID(hex: String(repeating: digit, count: 32)))
  }

  /// For that router; it lives for 300 s.
  static func order(
    _ id: String, _ dataset: OperationalDataset, issuedAt: Int64 = 1_000
  ) throws -> AdoptionOrder {
    AdoptionOrder(
      id: id, agent: try agent(), dataset: dataset, issuedAt: issuedAt, expiresAt: issuedAt + 300)
  }

  /// A router with a dataset of its own network.
  static func report(
    _ digit: Character = "1", _ state: ThreadState = .leader, on network: SampleNetwork = .home,
    at seconds: UInt64 = 1, dataset: RouterReport.Reading? = nil
  ) throws -> RouterReport {
    RouterReport(
      agent: try agent(digit), extendedAddress: "0102030405060708", state: state,
      network: ExtendedPANID(hex: network.extendedPANID),
      dataset: try dataset ?? .complete(network.dataset(at: seconds)))
  }
}
