// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What the environment says about daemons, stores and teams. An empty variable counts as not set.
struct ClientEnvironment {
  private let variables: [String: String]
  private let workingDirectory: String

  init(
    _ variables: [String: String] = ProcessInfo.processInfo.environment,
    workingDirectory: String = FileManager.default.currentDirectoryPath
  ) {
    self.variables = variables
    self.workingDirectory = workingDirectory
  }

  var socket: String? { path("SOCKET") }
  var keyFile: String? { path("STORE_KEY_FILE") }
  var passphraseFile: String? { path("STORE_PASSPHRASE_FILE") }

  var storeDirectory: String? {
    path("STORE_PATH")
      ?? StateDirectory.path(
        given: nil, environment: variables, workingDirectory: workingDirectory,
        // Who makes the machine's directory says by that that a daemon is installed.
        isRoot: geteuid() == 0 && machine.isInstalled
      ).map { $0 + "/store" }
  }

  /// Whether a variable names a store for this program. systemd's `STATE_DIRECTORY` does not: a service
  /// has one for its own files.
  var namesStore: Bool { own("STORE_PATH") != nil || own("STATE_DIRECTORY") != nil }

  var machine: MachineDaemon {
    let places = SystemPlaces(environment: variables)
    return MachineDaemon(directory: places.stateDirectory, socket: places.clientSocket)
  }

  var team: String { own("NETWORK_TEAM") ?? "uid/\(geteuid())" }
  var home: String? { own("NETWORK_HOME") }
  /// Whether a person may be asked at a terminal.
  var allowsQuestions: Bool { own("NETWORK_PRESENCE") != "none" }

  private func own(_ name: String) -> String? {
    variables["THREADKEEPER_" + name].flatMap { $0.isEmpty ? nil : $0 }
  }

  private func path(_ name: String) -> String? {
    own(name).flatMap {
      FilePath.absolute($0, in: workingDirectory, home: variables["HOME"])
    }
  }
}
