// SPDX-License-Identifier: Apache-2.0

/// The rules of the setting `ingest`, in its order. A pure value.
package struct IngestRules: Sendable, Hashable {
  package let all: [IngestRule]

  package init(_ all: [IngestRule] = []) {
    self.all = all
  }

  package var isEmpty: Bool { all.isEmpty }

  /// What the broker is asked for, without filters that another one covers: a broker may send a message once for each
  /// subscription (MQTT 5.0, section 3.3.4).
  package var subscriptions: [String] {
    var filters: [TopicFilter] = []
    for rule in all where !filters.contains(where: { $0.covers(rule.filter) }) {
      filters.removeAll { rule.filter.covers($0) }
      filters.append(rule.filter)
    }
    return filters.map(\.subscription)
  }

  /// Every rule whose topics have this one among them: a message can be several events.
  package func reading(_ topic: String, _ payload: [UInt8]) -> IngestReading? {
    guard !all.isEmpty else { return nil }
    let levels = TopicFilter.split(topic)
    let matches = all.compactMap { rule in
      rule.filter.match(levels).map { IngestReading.Match(rule: rule, parts: $0) }
    }
    return matches.isEmpty ? nil : IngestReading(matches: matches, payload: payload)
  }
}
