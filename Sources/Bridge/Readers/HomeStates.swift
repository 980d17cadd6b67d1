// SPDX-License-Identifier: Apache-2.0

import Broker
import FoundationEssentials
import Home
import ThreadDataset
import ThreadRequests
import ThreadkeeperSupport
import Wire

/// The states of a home that are published, for lists.
extension Home {
  /// Border routers on the list, in the order in which they came.
  ///
  /// - Parameter name: of the home.
  package func routerStates(in name: String) -> [RouterState] {
    routers.lazy.filter(\.isPresent).map { RouterState($0, verdict(of: $0), in: name) }
  }

  /// By name.
  package func networkStates(in name: String) -> [NetworkState] {
    networks.map { NetworkState($0, in: name) }
  }

  /// Alerts that fire, the newest first.
  ///
  /// - Parameters:
  ///   - all: with those that were resolved within the last day.
  ///   - most: of more than these, the worst.
  /// - Throws: `DecodingError` where one of them cannot be read: no list leaves one out.
  package func alertStates(
    in name: String, isOnlyHome: Bool, all: Bool = false, most: Int = .max
  ) throws -> [AlertState] {
    let (writer, decoder) = (StateWriter(home: name, isOnlyHome: isOnlyHome), JSONDecoder())
    var shown = publishedAlerts(all: all)
    if shown.count > most {
      func rank(_ alert: (key: AlertKey, value: Alert)) -> UInt8 {
        alert.key.severity(alert.value.facts).rawValue
      }
      shown = Array(shown.sorted { rank($0) < rank($1) }.prefix(most))
    }
    // As published, byte by byte, so that the sentences are made in one place.
    return try shown.map {
      try decoder.decode(AlertState.self, from: Data(writer.alert($0, $1)))
    }
  }

  private func publishedAlerts(all: Bool) -> [(key: AlertKey, value: Alert)] {
    alerts.filter { $1.phase == .firing || all && $1.wasPublished }.sorted { a, b in
      if a.value.updatedAt != b.value.updatedAt { return a.value.updatedAt > b.value.updatedAt }
      if a.key.name != b.key.name { return a.key.name.rawValue > b.key.name.rawValue }
      return a.key.subject.text > b.key.subject.text
    }
  }

  /// Entries of a list on this machine: no more than a person or a script will read at once.
  package static let mostListed = 100_000

  /// What `routers/list`, `networks/list` and `alerts/list` come to.
  ///
  /// - Parameter most: entries that an answer can hold.
  package func states(
    _ command: RequestCommand, in name: String, isOnlyHome: Bool, most: Int = mostListed
  ) throws(AnswerFailure) -> AnswerData {
    let writer = StateWriter(home: name, isOnlyHome: isOnlyHome)
    var data = AnswerData()
    switch command {
    case .listRouters:
      data.routers = try Self.values(routers.lazy.filter(\.isPresent), most) {
        RouterState($0, verdict(of: $0), in: name).jsonValue()
      }
    case .listNetworks:
      data.networks = try Self.values(networks, most) { NetworkState($0, in: name).jsonValue() }
    case .listAlerts:
      data.alerts = try Self.values(publishedAlerts(all: false), most) {
        JSONValue(published: writer.alert($0, $1))
      }
    default: throw AnswerFailure(.unsupported, "\(command.rawValue) is no list of states")
    }
    return data
  }

  private static func values<All: Sequence>(
    _ all: All, _ most: Int, _ value: (All.Element) -> JSONValue
  ) throws(AnswerFailure) -> [JSONValue] {
    var values: [JSONValue] = []
    for one in all {
      guard values.count < most else {
        throw AnswerFailure(
          .tooLarge, "there are more than \(most), which no answer can hold; their topics have them"
        )
      }
      values.append(value(one))
    }
    return values
  }
}

extension WireObject {
  /// As it is published.
  package consuming func jsonValue() -> JSONValue { JSONValue(published: json()) }
}

extension JSONValue {
  /// An object as it is published. The decoder of any JSON takes a millisecond for it, because it tries what each value
  /// may be.
  fileprivate init(published json: [UInt8]) {
    var members: [String: JSONValue] = [:]
    _ = try? UntrustedJSON.readMembers(of: json, depth: 2) { member in
      guard let name = member.name.text else { return }
      members[name] =
        switch member.value {
        case .string(let text): text.text.map(JSONValue.text)
        case .number(let number): number.unsigned.map { .integer(Int64(clamping: $0)) }
        case .bool(let isTrue): .bool(isTrue)
        case .null: .null
        case .nested:
          // The names of parameters that differ, or of logins.
          (try? JSONDecoder().decode([String].self, from: Data(member.source)))
            .map { .array($0.map(JSONValue.text)) }
        }
    }
    self = .object(members)
  }
}
