// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol

/// A message that rules match, and what each makes of it.
package struct IngestReading {
  /// A rule, and the parts of the topic that its filter names.
  package struct Match {
    package let rule: IngestRule
    let parts: [String: String]
  }

  package enum Outcome {
    case event(InboundEvent)
    case nothing(Reason)
  }

  package enum Reason {
    /// As a retained topic is cleared.
    case isEmpty
    /// With what is wrong with a payload that the condition could not even look at.
    case unmet(IngestCondition, IngestFlaw?)
  }

  package let matches: [Match]
  private var payload: IngestPayload

  init(matches: [Match], payload: [UInt8]) {
    self.matches = matches
    self.payload = IngestPayload(payload)
  }

  /// In whose name the rule speaks; looked at before the payload is.
  ///
  /// - Throws: a `Rejection` for what cannot be a user's name.
  package func user(of match: Match) throws(Rejection) -> String {
    var none = IngestPayload([])
    let user = (try? match.rule.user.text(match.parts, &none)) ?? ""
    guard (1...InboundLimits.userBytes).contains(user.utf8.count) else {
      throw Rejection(
        ingestRule: match.rule.name,
        message: "the user has to have 1 to \(InboundLimits.userBytes) bytes")
    }
    return user
  }

  /// - Throws: a `Rejection`: with the rule's code for what the rule needs and the message does not have; with that of the
  ///   field for a value that an event cannot have.
  package mutating func outcome(of match: Match) throws(Rejection) -> Outcome {
    let rule = match.rule
    guard !payload.bytes.isEmpty else { return .nothing(.isEmpty) }
    guard !payload.isTooLarge else {
      throw Rejection(
        ingestRule: rule.name,
        message: "a payload has at most \(InboundLimits.payloadBytes) bytes, this one has "
          + "\(payload.bytes.count)")
    }
    for condition in rule.conditions {
      do throws(IngestFlaw) {
        guard try !condition.isMet(&payload) else { continue }
        return .nothing(.unmet(condition, nil))
      } catch {
        return .nothing(.unmet(condition, error))
      }
    }
    var values: [InboundEventField: String] = [:]
    for field in InboundEventField.allCases {
      guard let source = rule.fields[field] else { continue }
      do throws(IngestFlaw) {
        values[field] = try source.text(numbers: field == .sequence, match.parts, &payload)
      } catch {
        throw Rejection(
          ingestRule: rule.name, field: field.rawValue, offset: error.offset,
          message: error.message)
      }
    }
    for field in InboundEventField.needed(by: rule.event) where values[field] == nil {
      if rule.event == .ssid, field == .borderAgentID, values[.accessPoint] != nil { continue }
      throw Rejection(
        ingestRule: rule.name, field: field.rawValue,
        message: rule.fields[field]?.absence ?? "there is nothing")
    }
    return .event(try InboundEventDecoder().event(rule.event, values))
  }
}
