// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SQLiteDatabase
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@Suite("Thread credential store")
struct ThreadCredentialStoreTests {
  let temporary: TemporaryStore
  let agent: BorderAgentID
  let other: BorderAgentID

  init() throws {
    temporary = try TemporaryStore()
    agent = try #require(BorderAgentID(hex: "a1b2c3d4e5f60718"))
    other = try #require(BorderAgentID(hex: "0011223344556677"))
  }

  private var store: ThreadCredentialStore { ThreadCredentialStore(temporary.keychain) }

  private func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
    try temporary.keychain.database.write(body)
  }

  private func read<R>(_ body: (ReadTransaction) throws -> R) throws -> R {
    try temporary.keychain.database.read(body)
  }

  private func add(
    _ dataset: OperationalDataset, of agent: BorderAgentID, team: String = "anna",
    in home: String = "home", followsPreferred: Bool = false
  ) throws {
    try write {
      try store.add(
        dataset, of: agent, team: team, in: home, followsPreferred: followsPreferred, $0)
    }
  }

  private func credential(_ agent: BorderAgentID, in home: String = "home") throws
    -> ThreadCredential?
  {
    try read { try store.credential(of: agent, in: home, $0) }
  }

  @Test("A credential is read back as it was stored, also after a restart")
  func roundTrip() throws {
    let dataset = try SampleNetwork.home.dataset(at: 1)
    try add(dataset, of: agent, followsPreferred: true)
    for _ in 0..<2 {
      let credential = try #require(try credential(agent))
      #expect(credential.agent == agent)
      #expect(credential.home == "home")
      #expect(credential.team == "anna")
      #expect(credential.dataset == dataset)
      #expect(credential.followsPreferred)
      try temporary.reopen()
    }
    #expect(try credential(other) == nil)
  }

  @Test("A border agent id in its long form finds the same credential")
  func alias() throws {
    try add(try SampleNetwork.home.dataset(at: 1), of: agent)
    let long = try #require(BorderAgentID(hex: "a1b2c3d4e5f607180000000000000000"))
    #expect(try credential(long)?.agent == agent)
  }

  @Test("An update changes only the dataset and the membership")
  func update() throws {
    try add(try SampleNetwork.home.dataset(at: 1), of: agent, followsPreferred: true)
    let newer = try SampleNetwork.guest.dataset(at: 2)
    try write { tx in
      let stored = try #require(try store.credential(of: agent, in: "home", tx))
      try store.update(stored, to: newer, followsPreferred: false, tx)
      let updated = try #require(try store.credential(of: agent, in: "home", tx))
      #expect(updated.dataset == newer)
      try store.update(updated, followsPreferred: true, tx)
    }
    let credential = try #require(try credential(agent))
    #expect(credential.dataset == newer)
    #expect(credential.followsPreferred)
    #expect(credential.team == "anna")
    #expect(try read { try store.count(in: "home", $0) } == 1)
  }

  @Test("A second credential for a border agent id in a home is refused, of whichever team")
  func oneForEachID() throws {
    let dataset = try SampleNetwork.home.dataset(at: 1)
    try add(dataset, of: agent, team: "anna")
    for team in ["anna", "bert"] {
      let error = #expect(throws: KeychainError.self) { try add(dataset, of: agent, team: team) }
      #expect(error?.status == .duplicateItem)
    }
    #expect(try credential(agent)?.team == "anna")
  }

  @Test("Credentials of one home are neither visible nor deleted in another home")
  func homes() throws {
    try add(try SampleNetwork.home.dataset(at: 1), of: agent, team: "anna", in: "home")
    try add(try SampleNetwork.guest.dataset(at: 1), of: agent, team: "bert", in: "cabin")
    try add(try SampleNetwork.guest.dataset(at: 1), of: other, team: "bert", in: "cabin")
    #expect(try credential(agent, in: "home")?.team == "anna")
    #expect(try credential(agent, in: "cabin")?.team == "bert")
    #expect(try credential(agent, in: "attic") == nil)
    try read { tx throws in
      #expect(try store.count(in: "home", tx) == 1)
      #expect(try store.count(in: "cabin", tx) == 2)
      #expect(try store.all(in: "cabin", tx).readable.map(\.agent) == [agent, other])
      #expect(try store.all(in: "attic", tx).readable.isEmpty)
    }
    #expect(try write { try store.delete(of: agent, in: "cabin", $0) })
    #expect(try credential(agent, in: "home") != nil)
  }

  @Test("A border agent id keeps its owning team after each deletion of its credential")
  func owner() throws {
    #expect(try read { try store.owner(of: agent, in: "home", $0) } == nil)
    for _ in 0..<3 {
      try add(try SampleNetwork.home.dataset(at: 1), of: agent, team: "anna")
      #expect(try read { try store.owner(of: agent, in: "home", $0) } == "anna")
      try write { tx in
        try store.delete(try #require(try store.credential(of: agent, in: "home", tx)), tx)
      }
      #expect(try credential(agent) == nil)
      #expect(try read { try store.owner(of: agent, in: "home", $0) } == "anna")
      #expect(try read { try store.formerOwner(of: agent, in: "home", $0) } == "anna")
      #expect(try read { try store.owner(of: agent, in: "cabin", $0) } == nil)
      #expect(try read { try store.count(in: "home", $0) } == 0)
    }
    #expect(try read { try temporary.keychain.count(in: $0) } == 1)
  }

  @Test("Deleting a credential again, or one that is missing, returns false")
  func deleteTwice() throws {
    try add(try SampleNetwork.home.dataset(at: 1), of: agent)
    #expect(try write { try store.delete(of: agent, in: "home", $0) })
    #expect(try !write { try store.delete(of: agent, in: "home", $0) })
    #expect(try !write { try store.delete(of: other, in: "home", $0) })
  }

  @Test("A failed transaction changes neither credentials nor the preferred network")
  func rollback() throws {
    struct Stop: Error {}
    try add(try SampleNetwork.home.dataset(at: 1), of: agent)
    #expect(throws: Stop.self) {
      try write { tx in
        try store.setPreferredNetwork(of: "home", to: SampleNetwork.home.dataset(at: 1), tx)
        try store.add(
          SampleNetwork.guest.dataset(at: 1), of: other, team: "anna", in: "home",
          followsPreferred: false, tx)
        _ = try store.delete(of: agent, in: "home", tx)
        throw Stop()
      }
    }
    #expect(try credential(agent) != nil)
    #expect(try credential(other) == nil)
    #expect(try read { try store.preferredNetwork(of: "home", $0) } == nil)
  }

  @Test("Each home has its own preferred network, which can change and remains without routers")
  func preferredNetwork() throws {
    let first = try SampleNetwork.home.dataset(at: 1)
    let second = try SampleNetwork.guest.dataset(at: 1)
    try add(first, of: agent)
    try write { tx in
      #expect(try store.preferredNetwork(of: "home", tx) == nil)
      try store.setPreferredNetwork(of: "home", to: first, tx)
      try store.setPreferredNetwork(of: "cabin", to: second, tx)
      #expect(try store.preferredNetwork(of: "home", tx) == first)
      #expect(try store.delete(of: agent, in: "home", tx))
    }
    try temporary.reopen()
    #expect(try read { try store.preferredNetwork(of: "home", $0) } == first)
    try write { try store.setPreferredNetwork(of: "home", to: second, $0) }
    #expect(try read { try store.preferredNetwork(of: "home", $0) } == second)
    #expect(try read { try store.preferredNetwork(of: "cabin", $0) } == second)
    #expect(try read { try store.preferredNetwork(of: "attic", $0) } == nil)
    #expect(try read { try store.count(in: "home", $0) } == 0)
  }

  @Test("A damaged dataset is a `decode` error, leaves other credentials intact and can be deleted")
  func damaged() throws {
    try add(try SampleNetwork.home.dataset(at: 1), of: agent, team: "anna")
    try add(try SampleNetwork.guest.dataset(at: 1), of: other, team: "anna")
    _ = try write { tx in
      try tx.execute(
        """
        UPDATE items
         SET secret = CAST(substr(secret, 1, 40) || zeroblob(8) || substr(secret, 49) AS BLOB)
         WHERE id = (SELECT min(id) FROM items)
        """)
    }
    let error = #expect(throws: KeychainError.self) { try credential(agent) }
    #expect(error?.status == .decode)
    #expect(try credential(other) != nil)
    #expect(try read { try store.owner(of: agent, in: "home", $0) } == "anna")
    #expect(try write { try store.delete(of: agent, in: "home", $0) })
    #expect(try credential(agent) == nil)
    #expect(try read { try store.owner(of: agent, in: "home", $0) } == "anna")
  }

  @Test("The description of a credential shows no secret")
  func descriptions() throws {
    try add(try SampleNetwork.home.dataset(at: 1), of: agent)
    let credential = try #require(try credential(agent))
    var dumped = ""
    dump(credential, to: &dumped)
    let shown = "\(credential) \(String(reflecting: credential)) \(dumped)".lowercased()
    #expect(!shown.contains(SampleNetwork.home.networkKey.prefix(8)))
    #expect(!shown.contains(SampleNetwork.home.pskc.prefix(8)))
  }
}
