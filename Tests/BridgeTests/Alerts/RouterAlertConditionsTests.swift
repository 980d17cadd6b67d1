// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@testable import Bridge

@Suite("Which alerts a router calls for, and what they say")
struct RouterAlertConditionsTests {
  private let agent: BorderAgentID

  init() throws {
    agent = try #require(BorderAgentID(hex: Agent.living))
  }

  private func router(
    on dataset: OperationalDataset?, _ change: (inout RouterRecord) -> Void = { _ in }
  ) -> RouterRecord {
    let now = WireTime(milliseconds: 0)
    var router = RouterRecord(home: 1, agent: agent, user: "anna", now: now)
    router.name = "Living room"
    router.credential = dataset == nil ? .missing : .stored
    if let dataset { router.describe(dataset, at: now) }
    change(&router)
    return router
  }

  private func wanted(
    _ router: RouterRecord, _ dataset: OperationalDataset?, preferred: OperationalDataset?
  ) -> [AlertName: AlertFacts] {
    RouterAlertConditions(
      router: router, check: PreferredCheck(dataset, preferred: preferred), dataset: dataset,
      preferred: preferred, trigger: "announce"
    ).wanted
  }

  private func only(
    _ name: AlertName, _ wanted: [AlertName: AlertFacts],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> AlertFacts {
    #expect(Set(wanted.keys) == [name], sourceLocation: sourceLocation)
    return try #require(wanted[name], sourceLocation: sourceLocation)
  }

  @Test("A router that is well calls for none")
  func well() throws {
    let dataset = try SampleNetwork.home.dataset(at: 1)
    #expect(wanted(router(on: dataset), dataset, preferred: dataset).isEmpty)
    #expect(wanted(router(on: dataset), dataset, preferred: nil).isEmpty)
  }

  @Test("On another network: says which, what differs, and what to do")
  func mismatch() throws {
    let dataset = try SampleNetwork.guest.dataset(at: 1)
    let facts = try only(
      .preferredNetworkMismatch,
      wanted(router(on: dataset), dataset, preferred: try SampleNetwork.home.dataset(at: 100)))
    #expect(
      facts.summary
        == #""Living room" is on "guest-thread", not on the preferred network "home""#)
    #expect(facts.remedy.contains("Living room") && facts.remedy.contains("home"))
    #expect(facts.differs == ["network_key", "ext_pan_id", "network_name"])
    #expect(facts.router == Agent.living)
    #expect(facts.routerName == "Living room")
    #expect(facts.networkName == "guest-thread")
    #expect(facts.extendedPANID == SampleNetwork.guest.extendedPANID)
    #expect(facts.preferredNetworkName == "home")
    #expect(facts.preferredExtendedPANID == SampleNetwork.home.extendedPANID)
    #expect(facts.trigger == "announce")
  }

  @Test("The preferred network with other credentials, newer, of the same age, or older")
  func sameNetwork() throws {
    let other = SampleNetwork.home.with { $0.channel = 20 }
    let preferred = try SampleNetwork.home.dataset(at: 5)
    let expected: [(UInt64, AlertName, String)] = [
      (6, .preferredNetworkMismatch, "other credentials"), (5, .datasetConflict, "same age"),
      (4, .staleDataset, "older dataset"),
    ]
    for (seconds, name, words) in expected {
      let dataset = try other.dataset(at: seconds)
      let facts = try only(name, wanted(router(on: dataset), dataset, preferred: preferred))
      #expect(facts.summary.contains("Living room") && facts.summary.contains("home"))
      #expect(facts.summary.contains(words))
      #expect(facts.differs == ["channel"])
      #expect(!facts.remedy.isEmpty)
    }
  }

  @Test("What a router reported against what is stored of it")
  func reports() throws {
    let dataset = try SampleNetwork.home.dataset(at: 5)
    for (credential, name) in [
      (CredentialState.stale, AlertName.staleDataset), (.conflict, .datasetConflict),
    ] {
      let router = router(on: dataset) { $0.credential = credential }
      let facts = try only(name, wanted(router, dataset, preferred: dataset))
      #expect(facts.summary.contains(#""Living room" reported"#))
      #expect(facts.summary.contains("home"))
    }
  }

  @Test("One alert of a name: what concerns the preferred network is said first")
  func both() throws {
    let preferred = try SampleNetwork.home.dataset(at: 5)
    let dataset = try SampleNetwork.home.with { $0.channel = 20 }.dataset(at: 4)
    let stale = router(on: dataset) { $0.credential = .stale }
    #expect(
      try only(.staleDataset, wanted(stale, dataset, preferred: preferred)).differs == ["channel"])
    let conflict = router(on: dataset) { $0.credential = .conflict }
    #expect(
      Set(wanted(conflict, dataset, preferred: preferred).keys) == [
        .staleDataset, .datasetConflict,
      ])
  }

  @Test("Without a dataset")
  func missing() throws {
    let facts = try only(
      .credentialsMissing,
      wanted(router(on: nil), nil, preferred: try SampleNetwork.home.dataset(at: 1)))
    #expect(facts.summary.contains("Living room"))
    #expect(facts.remedy.contains("dataset"))
    #expect(facts.networkName == nil)
  }

  @Test("Out of reach, whatever else is the matter")
  func offline() throws {
    let dataset = try SampleNetwork.guest.dataset(at: 1)
    let router = router(on: dataset) { $0.isOnline = false }
    let wanted = wanted(router, dataset, preferred: try SampleNetwork.home.dataset(at: 1))
    #expect(Set(wanted.keys) == [.preferredNetworkMismatch, .borderRouterOffline])
    #expect(wanted[.borderRouterOffline]?.summary == #""Living room" cannot be reached"#)
  }

  @Test("A key from the documentation, on the preferred network too")
  func wellKnownKey() throws {
    let known = SampleNetwork.home.with { $0.networkKey = "00112233445566778899aabbccddeeff" }
    let dataset = try known.dataset(at: 1)
    let facts = try only(
      .wellKnownNetworkKey, wanted(router(on: dataset), dataset, preferred: dataset))
    #expect(facts.summary.contains("home"))
    #expect(facts.routerName == "Living room")
    #expect(facts.remedy.contains("random key"))
  }

  @Test("A router without a name, or with one that shows nothing, is called by its id")
  func nameless() throws {
    for name in [nil, "", " ", "\t\n"] as [String?] {
      let router = router(on: nil) { $0.name = name }
      let facts = try only(.credentialsMissing, wanted(router, nil, preferred: nil))
      #expect(facts.summary.hasPrefix("\(Agent.living) announced itself"))
    }
  }

  @Test("No alert shows a secret")
  func secrets() throws {
    let known = SampleNetwork.guest.with { $0.networkKey = "00112233445566778899aabbccddeeff" }
    for network in [SampleNetwork.home, .guest, known] {
      for credential in CredentialState.allCases {
        for seconds in [1, 5, 9] as [UInt64] {
          let dataset = try network.with { $0.channel = 20 }.dataset(at: seconds)
          let router = router(on: dataset) {
            $0.credential = credential
            $0.isOnline = false
          }
          for (name, facts) in wanted(
            router, dataset, preferred: try SampleNetwork.home.dataset(at: 5))
          {
            let shown = String(decoding: WireJSON().encode(facts), as: UTF8.self).lowercased()
            for secret in [network.networkKey, network.pskc, SampleNetwork.home.networkKey] {
              #expect(!shown.contains(secret.prefix(8)), "\(name)")
            }
            #expect(!facts.summary.isEmpty && !facts.remedy.isEmpty)
          }
        }
      }
    }
  }

  @Test("Alerts that are not about a router say what to do, too")
  func others() {
    let all: [AlertFacts] = [
      .noPreferredNetwork(isForgotten: false, seen: [], count: 0, homeOption: ""),
      .plaintextCredentials(user: "anna"), .messagesDropped, .sessionLost,
    ]
    for facts in all {
      #expect(!facts.summary.isEmpty && !facts.remedy.isEmpty)
      #expect(facts.router == nil)
    }
    #expect(AlertFacts.plaintextCredentials(user: "anna").user == "anna")
    #expect(AlertFacts.plaintextCredentials(user: "anna").summary.contains("anna"))
  }
}
