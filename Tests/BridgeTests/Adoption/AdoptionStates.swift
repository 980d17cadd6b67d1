// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import ThreadCredentialStore
import ThreadDataset

@testable import Bridge

/// A router on the guest network while the home network is preferred, in each state of its adoption.
struct AdoptionStates {
  let home: OperationalDataset
  let guest: OperationalDataset
  let router: BorderAgentID
  let consent = "c-0000000000000001"

  init() throws {
    router = try agent(Agent.living)
    home = try SampleNetwork.home.dataset(at: 5)
    guest = try SampleNetwork.guest.dataset(at: 1)
  }

  func machine(_ state: AdoptionState?) -> AdoptionMachine {
    switch state {
    case nil, .due, .notEnrolled, .damagedKeys: AdoptionMachine(state, nil)
    case .asked: AdoptionMachine(state, record(.asked))
    case .agreed: AdoptionMachine(state, record(.agreed))
    case .sent: AdoptionMachine(state, record(.sent))
    default: AdoptionMachine(state, record(.over))
    }
  }

  func record(_ phase: Adoption.Phase) -> Adoption {
    Adoption(
      home: "home", agent: router, user: "anna", key: "k", phase: phase,
      consent: consent, preferred: home, reported: guest)
  }

  /// What follows when the adoption ends.
  func ending(_ state: AdoptionState) -> [AdoptionEffect] {
    switch state {
    case .asked: [.withdraw(consent), .logChanged, .delete]
    case .agreed: [.noteNotGiven(consent), .logChanged, .delete]
    case .sent: [.logChanged, .delete]
    default: [.delete]
    }
  }

  func situation(key: AdoptionKey = .enrolled("k")) -> AdoptionSituation {
    AdoptionSituation(preferred: home, reported: guest, user: "anna", key: key)
  }

  func check(
    _ check: PreferredCheck = .mismatch([.extendedPANID]), isEnabled: Bool = true,
    key: AdoptionKey = .enrolled("k"), isRaised: Bool = false, isSSIDNew: Bool = false
  ) -> AdoptionCheck {
    AdoptionCheck(
      isEnabled: isEnabled, check: check, before: situation(), now: situation(key: key),
      isRaised: isRaised, isSSIDNew: isSSIDNew)
  }

  /// Where what is stored does not count any more.
  func check(before: AdoptionSituation?) -> AdoptionCheck {
    AdoptionCheck(
      isEnabled: true, check: .mismatch([.extendedPANID]), before: before, now: situation(),
      isRaised: false, isSSIDNew: false)
  }
}
