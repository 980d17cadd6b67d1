// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Settings
import ThreadkeeperDaemon

extension Registry {
  /// The one of the store that the options name.
  init(_ options: SettingsOptions) throws {
    let settings = try options.loadOfStore()
    self.init(settings, try OpenStore.forReading(settings))
  }
}
