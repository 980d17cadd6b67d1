// SPDX-License-Identifier: Apache-2.0

import StatePlaces

extension SettingsReader {
  mutating func store(stateDirectory: String) -> Settings.Store {
    var store = Settings.Store(path: path(.storePath) ?? stateDirectory + "/store")
    store.keyFile = path(.storeKeyFile) ?? store.keyFile
    store.passphrase = text(.storePassphrase) {
      (1...4_096).contains($0.utf8.count)
    }.map { SecretText($0) }
    if FilePath.isInside(store.keyFile, store.path) {
      report(
        .storeKeyFile, at: blamed(.storeKeyFile),
        "expected a path outside `store.path`: a copy of the store would carry its own key")
    }
    if FilePath.isInside(store.anchorPath, store.keyFile)
      || FilePath.isInside(store.path, store.keyFile)
    {
      report(
        .storeKeyFile, at: blamed(.storeKeyFile),
        "expected the path of a file, found the directory of the store or of its anchor")
    }
    return store
  }

  /// The key to look at when two paths do not go together: the one given, else the store's.
  private func blamed(_ key: SettingsKey) -> SettingsProblem.Place {
    sources[key] == nil ? place(of: .storePath) : place(of: key)
  }
}
