// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing
import ThreadDataset

@testable import ThreadkeeperCLI

@Suite("The list of networks")
struct NetworkListingTests {
  private func network(_ sample: SampleNetwork) throws -> ExtendedPANID {
    try #require(ExtendedPANID(hex: sample.extendedPANID))
  }

  private func router(_ name: String?, isOnline: Bool = true) -> NetworkListing.Router {
    NetworkListing.Router(
      borderAgentID: "a1b2c3d4e5f60718", name: name, vendor: nil, model: nil, partitionID: 7,
      isOnline: isOnline)
  }

  @Test("A network shows its name, its mark and its routers, those that are offline marked")
  func cells() throws {
    let listing = NetworkListing(
      network: try network(.home).description, name: "home", home: "home",
      routers: [router("Kitchen"), router("Attic", isOnline: false), router(nil)])
    #expect(
      listing.cells == [
        "home", "1111111122222222", "", "", "Attic (offline), Kitchen, a1b2c3d4e5f60718", "",
      ])
    let none = NetworkListing(network: nil, name: nil, home: nil, routers: [router("Kitchen")])
    #expect(none.cells == ["(none)", "", "", "", "Kitchen", ""])
  }

  @Test("The fields of a known network stay as they are published, with its routers beside them")
  func json() throws {
    var state = NetworkState(
      home: "home", extendedPANID: "1111111122222222", networkName: "home", channel: 15,
      panID: 1, activeTimestamp: 1, routers: 0, routersOnline: 0, isPreferred: false,
      isAccepted: true)
    let listing = NetworkListing(state, [])
    #expect(listing.cells[3] == "accepted")
    state.isPreferred = true
    #expect(NetworkListing(state, []).cells[3] == "yes")
    state.sharedBy = ["ha", "hb"]
    #expect(NetworkListing(state, []).cells[5] == "ha, hb")
    let object = try #require(
      try JSONSerialization.jsonObject(with: JSONEncoder().encode(listing)) as? [String: Any])
    #expect(object["routers"] as? Int == 0)
    #expect((object["border_routers"] as? [Any])?.isEmpty == true)
  }
}
