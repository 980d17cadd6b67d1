// SPDX-License-Identifier: Apache-2.0

import CredentialService
import Foundation
import SQLiteDatabase
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

@Suite("Reading by request")
struct ReadTests {
  let service: Service

  init() throws { service = try Service() }

  private func get(_ agent: String, team: String = "anna") throws -> CredentialRecord? {
    try service.ask(.getCredentials, team: team) { $0.agent = BorderAgentID(hex: agent) }
      .credentials?.first
  }

  @Test("what was stored comes back whole, with its dates")
  func get() throws {
    let before = Date().addingTimeInterval(-1)
    try service.keep(Agent.living, .home, at: 7)
    let record = try #require(try get(Agent.living))
    #expect(record.agent?.description == Agent.living)
    #expect(record.dataset == (try SampleNetwork.home.dataset(at: 7)))
    #expect(record.networkName == "home")
    #expect(record.channel == 15)
    #expect(record.panID == 0x1234)
    #expect(record.activeTimestamp == 7)
    let created = try #require(record.created)
    #expect(created > before && created <= Date())
    #expect(record.modified == created)
  }

  @Test("a change has another date, the creation keeps its own")
  func dates() throws {
    try service.keep(Agent.living, .home, at: 1)
    let first = try #require(try get(Agent.living))
    try service.keep(Agent.living, .home, at: 2)
    let second = try #require(try get(Agent.living))
    #expect(second.created == first.created)
    #expect(try #require(second.modified) > (try #require(first.modified)))
  }

  @Test("what another team has stored is not found, as if it were not there")
  func otherTeam() throws {
    try service.keep(Agent.living, .home, at: 1)
    let there = try service.refusal(.getCredentials, team: "bob") {
      $0.agent = BorderAgentID(hex: Agent.living)
    }
    let notThere = try service.refusal(.getCredentials, team: "bob") {
      $0.agent = BorderAgentID(hex: Agent.attic)
    }
    #expect(there?.known == .notFound)
    #expect(there == notThere)
  }

  @Test("a list has the own team's and nobody else's")
  func list() throws {
    try service.keep(Agent.living, .home, at: 1)
    try service.keep(Agent.attic, .guest, at: 1)
    try service.keep(Agent.garage, .guest, at: 1, team: "bob")
    let own = try #require(try service.ask(.listCredentials).credentials)
    #expect(own.compactMap(\.agent?.description) == [Agent.living, Agent.attic])
    #expect(own.allSatisfy { $0.dataset != nil })
    let others = try #require(try service.ask(.listCredentials, team: "bob").credentials)
    #expect(others.compactMap(\.agent?.description) == [Agent.garage])
    #expect(try service.ask(.listCredentials, team: "carol").credentials == [])
  }

  @Test("where lists hold no secrets, no dataset is in them")
  func listWithoutSecrets() throws {
    try service.keep(Agent.living, .home, at: 1)
    var context = service.context()
    context.listsSecrets = false
    guard case .data(let data) = try service.reply(ThreadRequest(.listCredentials), context) else {
      Issue.record("no data")
      return
    }
    #expect(!data.isSecret)
    #expect(data.credentials?.first?.networkName == "home")
  }

  @Test("a list that no answer can hold is refused")
  func tooLarge() throws {
    for number in 0..<4 { try service.keep("a1b2c3d4e5f6070\(number)", .home, at: 1) }
    var context = service.context()
    context.mostEntries = 3
    #expect(throws: AnswerFailure.self) {
      try service.reply(ThreadRequest(.listCredentials), context)
    }
    context.mostEntries = 4
    _ = try service.reply(ThreadRequest(.listCredentials), context)
  }

  @Test("active are the routers that can be reached now")
  func active() throws {
    try service.keep(Agent.living, .home, at: 1)
    try service.keep(Agent.attic, .home, at: 1)
    #expect(try service.ask(.listActiveCredentials).credentials == [])
    service.active = [Agent.attic]
    let active = try #require(try service.ask(.listActiveCredentials).credentials)
    #expect(active.compactMap(\.agent?.description) == [Agent.attic])
    #expect(try get(Agent.living)?.isActive == false)
  }

  @Test("a damaged dataset is named, hides no other one, and can be deleted")
  func damaged() throws {
    try service.keep(Agent.living, .home, at: 1)
    try service.keep(Agent.attic, .home, at: 1)
    try service.damage(Agent.attic)
    let list = try service.ask(.listCredentials)
    #expect(list.credentials?.compactMap(\.agent?.description) == [Agent.living])
    #expect(list.damaged == [Agent.attic])
    #expect(
      try service.refusal(.getCredentials) { $0.agent = BorderAgentID(hex: Agent.attic) }?.known
        == .damagedCredentials)
    #expect(
      try service.refusal(.storeCredentials) {
        $0.agent = BorderAgentID(hex: Agent.attic)
        $0.dataset = try SampleNetwork.home.dataset(at: 2)
      }?.known == .damagedCredentials)
    _ = try service.ask(.deleteCredentials) { $0.agent = BorderAgentID(hex: Agent.attic) }
    #expect(try service.keep(Agent.attic, .home, at: 2).change == .stored)
  }

  @Test("another team is refused before a damaged dataset is opened")
  func damagedOfAnotherTeam() throws {
    try service.keep(Agent.attic, .home, at: 1)
    try service.damage(Agent.attic)
    #expect(
      try service.refusal(.storeCredentials, team: "ben") {
        $0.agent = BorderAgentID(hex: Agent.attic)
        $0.dataset = try SampleNetwork.home.dataset(at: 2)
      }?.known == .notAuthorized)
  }

  @Test("ping tells the time and the version")
  func ping() throws {
    let data = try service.ask(.ping)
    #expect(data.version == "test")
    #expect(data.time?.hasSuffix("Z") == true)
  }

  @Test("what this version cannot do is unsupported")
  func unsupported() throws {
    #expect(
      try service.refusal(.shareCredentials) {
        $0.network = ExtendedPANID(hex: "1111111122222222")
      }?
      .known == .unsupported)
  }
}
