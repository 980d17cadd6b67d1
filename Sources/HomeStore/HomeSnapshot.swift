// SPDX-License-Identifier: Apache-2.0

import Home

/// All homes as they are on disk after a commit. Whoever reads keeps it for as long as it likes: the loop goes on with
/// copies.
package struct HomeSnapshot: Sendable {
  /// By their names in the settings.
  package var homes: [String: Home]

  package init(homes: [String: Home] = [:]) { self.homes = homes }
}
