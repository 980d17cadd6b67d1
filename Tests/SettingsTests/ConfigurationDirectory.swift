import Foundation
import Settings
import TestKit
import Testing

/// A directory of its own with a configuration and the files beside it.
struct ConfigurationDirectory {
  private let directory: TemporaryDirectory
  var path: String { directory.path }

  init() throws { directory = try TemporaryDirectory() }

  func write(_ text: String, to name: String = "threadkeeper.yaml", mode: Int = 0o600) throws {
    try write(Data(text.utf8), to: name, mode: mode)
  }

  func write(_ data: Data, to name: String, mode: Int = 0o600) throws {
    let file = URL(fileURLWithPath: directory.file(name))
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try data.write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
  }

  /// Loads `threadkeeper.yaml` of this directory, as root would with nothing else about.
  func load(_ variables: [String: String] = [:]) -> SettingsResult {
    SettingsLoader.load(
      file: "threadkeeper.yaml", environment: variables, systemFile: "/dev/null/none", workingDirectory: path,
      isRoot: true)
  }
}

/// Loads one text.
func load(_ yaml: String, _ variables: [String: String] = [:]) throws -> SettingsResult {
  let directory = try ConfigurationDirectory()
  try directory.write(yaml)
  return directory.load(variables)
}

/// The settings of one text that can be used.
func settings(_ yaml: String = "", _ variables: [String: String] = [:]) throws -> Settings {
  let result = try load(yaml, variables)
  return try #require(result.settings, "\(yaml): \(result.problems)")
}

/// The problems of one text as a person reads them, without the name of the file.
func problems(_ yaml: String, _ variables: [String: String] = [:]) throws -> [String] {
  let result = try load(yaml, variables)
  let hasErrors = result.problems.contains { $0.severity == .error }
  #expect((result.settings == nil) == hasErrors)
  return result.problems.map { problem in problem.description.replacing("threadkeeper.yaml:", with: "") }
}

/// The only problem of one text.
func problem(_ yaml: String, _ variables: [String: String] = [:]) throws -> String {
  let found = try problems(yaml, variables)
  try #require(found.count == 1, "\(yaml): \(found)")
  return found[0]
}
