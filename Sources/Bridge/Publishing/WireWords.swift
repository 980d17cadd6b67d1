// SPDX-License-Identifier: Apache-2.0

import Home
import ThreadDataset
import Wire

// What values are called in everything that is published.

extension AlertSubject {
  /// Empty for the home.
  var text: String {
    switch self {
    case .home: ""
    case .router(let agent): agent.description
    case .user(let user): user.text
    case .network(let network): network.description
    }
  }
}

extension RouterEvent {
  /// Why a dataset was ignored, or a router left.
  var reason: StaticString? {
    if types.contains(.datasetIgnored) { return isConflict ? "conflict" : "older" }
    return isRemoved ? "removed" : nil
  }

  /// Nil where it is not known.
  var networkName: String? { network.flatMap { $0.name.isEmpty ? nil : $0.name } }
}

extension Alert.News {
  var eventType: StaticString {
    switch self {
    case .raised: "alert_raised"
    case .updated: "alert_updated"
    case .resolved: "alert_resolved"
    }
  }
}

extension DatasetDifferences {
  var words: [String] { parameters.map(\.rawValue) }
}
