// SPDX-License-Identifier: Apache-2.0

/// The base topic of every home, and the way back from a topic to its home.
package struct BaseTopics: Hashable, Sendable {
  /// A home's name and the topic below which all of its messages live.
  package struct Home: Hashable, Sendable {
    package let name: String
    package let base: String

    package init(name: String, base: String) {
      self.name = name
      self.base = base
    }
  }

  /// In the order of the settings. The first one carries what concerns the daemon as a whole.
  package let homes: [Home]

  package init(_ homes: [Home]) {
    self.homes = homes
  }

  /// Splits a topic into its home and what follows the base topic; `nil` for a foreign topic.
  ///
  /// No base topic lies below another one: the settings see to that.
  package func split(_ topic: String) -> (home: Home, rest: Substring)? {
    let bytes = topic.utf8
    for home in homes where bytes.starts(with: home.base.utf8) {
      let rest = bytes.dropFirst(home.base.utf8.count)
      if rest.first == UInt8(ascii: "/") { return (home, Substring(rest.dropFirst())) }
    }
    return nil
  }

  /// The base topic of a home; empty for one that the settings do not name.
  package func base(of home: String) -> String { homes.first { $0.name == home }?.base ?? "" }

  /// One subscription for each home: everything that is said to the daemon.
  package var intakeFilters: [String] { homes.map { "\($0.base)/in/#" } }
}

extension String {
  /// Equal byte by byte, as the broker sees it: `==` also takes texts for equal that are written
  /// differently and only look the same.
  package func hasBytes(of other: String) -> Bool {
    utf8.withContiguousStorageIfAvailable { mine in
      other.utf8.withContiguousStorageIfAvailable { mine.elementsEqual($0) }
    }.flatMap { $0 } ?? utf8.elementsEqual(other.utf8)
  }
}
