// SPDX-License-Identifier: Apache-2.0

import Home
import KeychainCore

/// All homes as they are on disk after a commit. Whoever reads keeps it for as long as it likes: the loop goes on with
/// copies.
package struct HomeSnapshot: Sendable {
  /// By their names in the settings.
  package var homes: [String: Home]

  package init(homes: [String: Home] = [:]) { self.homes = homes }
}

extension HomeSnapshot {
  /// All homes of a store that no daemon has. Nothing is written.
  package static func read(_ records: some RecordAccess) throws -> HomeSnapshot {
    let homes = try LoadedStore([], records).former.map { ($0.name, $0.home) }
    return HomeSnapshot(homes: Dictionary(homes, uniquingKeysWith: { $1 }))
  }
}
