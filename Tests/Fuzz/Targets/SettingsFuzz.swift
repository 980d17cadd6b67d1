import Foundation
import Settings

/// The configuration file: it always gives settings or errors, and each problem says on one line where it is.
enum SettingsFuzz {
  static func check(_ bytes: [UInt8]) throws {
    let directory = try Scratch.shared.get()
    let file = directory.path + "/threadkeeper.yaml"
    try Data(bytes).write(to: URL(fileURLWithPath: file))
    let result = load(file)
    let errors = result.problems.filter { $0.severity == .error }
    try expect((result.settings == nil) == !errors.isEmpty, "there are settings, or errors")
    let lines = bytes.count { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } + 2
    for problem in result.problems {
      // YAML also ends lines at U+0085, U+2028 and U+2029, which have more bytes than one.
      let isPlaced = (1...lines + bytes.count / 2).contains(problem.line ?? 0)
      try expect(isPlaced && problem.column ?? 0 >= 1, "a problem has a line: \(problem)")
      try expect(
        !problem.description.unicodeScalars.contains { $0.properties.generalCategory == .control },
        "a problem is one line")
    }
    try expect(load(file).problems == result.problems, "the same file has the same problems")
  }

  private static func load(_ file: String) -> SettingsResult {
    SettingsLoader.load(
      file: file, environment: [:], stateDirectory: "/dev/null/state", systemFile: "/dev/null/threadkeeper.yaml",
      workingDirectory: "/dev/null", isRoot: true)
  }
}
