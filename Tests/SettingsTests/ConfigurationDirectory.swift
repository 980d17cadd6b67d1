// SPDX-License-Identifier: Apache-2.0

import Foundation
import Settings
import Testing

/// A directory of its own with a configuration and the files beside it.
final class ConfigurationDirectory: Sendable {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "settings-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  func write(_ text: String, to name: String, mode: Int = 0o600) throws {
    try write(Data(text.utf8), to: name, mode: mode)
  }

  func write(_ data: Data, to name: String, mode: Int = 0o600) throws {
    let file = "\(path)/\(name)"
    let directory = URL(fileURLWithPath: file).deletingLastPathComponent()
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    try data.write(to: URL(fileURLWithPath: file))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
  }

  /// Loads `threadkeeper.yaml` of this directory, as root would with nothing else about.
  func load(_ variables: [String: String] = [:]) -> SettingsResult {
    SettingsLoader.load(
      file: "threadkeeper.yaml", environment: variables, systemFile: "/dev/null/none",
      workingDirectory: path, isRoot: true)
  }
}

/// Loads one text.
func load(_ yaml: String, _ variables: [String: String] = [:]) throws -> SettingsResult {
  let directory = try ConfigurationDirectory()
  try directory.write(yaml, to: "threadkeeper.yaml")
  return directory.load(variables)
}

/// The problems of one text as a person reads them, without the name of the file.
func problems(_ yaml: String, _ variables: [String: String] = [:]) throws -> [String] {
  let result = try load(yaml, variables)
  let hasErrors = result.problems.contains { $0.severity == .error }
  #expect((result.settings == nil) == hasErrors)
  return result.problems.map { problem in
    problem.description.replacing("threadkeeper.yaml:", with: "")
  }
}
