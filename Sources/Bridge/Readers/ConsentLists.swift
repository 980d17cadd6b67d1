import Home
import HomeStore
import ThreadDataset

/// Something of a home, and the home's name.
package struct OfHome<Value: Sendable>: Sendable {
  package let home: String
  package let value: Value

  package init(home: String, value: Value) {
    self.home = home
    self.value = value
  }
}

/// Lists that are about all homes.
extension HomeSnapshot {
  /// What waits for a person; what ends first comes first.
  package func waitingQuestions(at now: WireTime) -> [OfHome<ConsentQuestion>] {
    all { $0.waitingQuestions(at: now) }.sorted { $0.value.endsBefore($1.value) }
  }

  /// Who is given credentials without a question, oldest first.
  package var grants: [OfHome<ConsentGrant>] {
    all(\.grants).sorted { ($0.value.createdAt, $0.value.id.value) < ($1.value.createdAt, $1.value.id.value) }
  }

  /// What was decided, the newest first.
  package func decisions(limit: Int) -> [OfHome<ConsentRecord>] {
    // No more of one home can be among them.
    let newest = all { Array($0.decisions.suffix(limit).reversed()) }.sorted { $0.value.decidedAt > $1.value.decidedAt }
    return Array(newest.prefix(limit))
  }

  /// Another text whenever something was decided since.
  package var revision: String {
    // Ids are random, and each decision is the last one of its home at first.
    String(homes.values.reduce(0) { $0 &+ ($1.decisions.last?.id.value ?? 0) }, radix: 16)
  }

  /// Enrolled users and revoked ones, by home and name.
  ///
  /// - Parameter home: nil: of all.
  package func clients(in home: String?) -> [OfHome<(user: ExactName, client: EnrolledClient)>] {
    let clients = all { $0.clients.map { (user: $0.key, client: $0.value) } }
    return clients.filter { home == nil || $0.home == home }.sorted {
      ($0.home, $0.value.user) < ($1.home, $1.value.user)
    }
  }

  private func all<Value>(_ values: (Home) -> [Value]) -> [OfHome<Value>] {
    homes.flatMap { name, home in values(home).map { OfHome(home: name, value: $0) } }
  }
}

extension Home {
  /// What waits for a person. What ends first comes first: a question that waits for days hides none that waits for
  /// minutes.
  package func waitingQuestions(at now: WireTime) -> [ConsentQuestion] {
    questions.filter { !$0.isDenied && !$0.isOver(at: now) }.sorted { $0.endsBefore($1) }
  }
}

extension ConsentQuestion {
  fileprivate func endsBefore(_ other: ConsentQuestion) -> Bool {
    (expiresAt, createdAt, id.value) < (other.expiresAt, other.createdAt, other.id.value)
  }
}

extension ConsentGrant {
  /// Whether it covers nothing any more: it is for another network key than that of the preferred network.
  package func isOutdated(preferred: DatasetSummary?) -> Bool {
    subject.networks.contains { network in
      guard let key = network.key else { return true }
      return network.team == nil && network.id == preferred?.network && key != preferred?.parameters?.networkKey
    }
  }
}
