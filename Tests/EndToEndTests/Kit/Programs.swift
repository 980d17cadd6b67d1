import Foundation
import TestKit

/// A program that is installed, or that `.ci/test-tools` has unpacked.
enum DebianTool {
  static let promtool = find("promtool", in: "prometheus")
  static let shellcheck = find("shellcheck", in: "shellcheck")
  /// Has the shell and the programs of OpenWrt.
  static let busybox = find("busybox", in: "busybox")

  /// The directory in which ejabberd and Erlang are unpacked.
  static let ejabberd = [tools("ejabberd")].first { tree in !libraryPlace(in: tree).isEmpty }

  /// The directory of `tree` that has the libraries of this machine's architecture; empty without one.
  static func libraryPlace(in tree: String) -> String {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(tree)/usr/lib")) ?? []
    return names.first { $0.contains("-linux-") }.map { "\(tree)/usr/lib/\($0)" } ?? ""
  }

  /// The browser itself: the script of the same name looks for it elsewhere.
  static let chromium = ["/usr/lib/chromium/chromium", tools("chromium") + "/usr/lib/chromium/chromium"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  /// The rules of axe-core, as JavaScript.
  static let axe = [tools("axe") + "/axe.min.js"].first { FileManager.default.isReadableFile(atPath: $0) }

  static let python = "/usr/bin/python3"

  /// Where Python finds the package that validates JSON; nil without Python.
  static let jsonSchema: String? =
    !FileManager.default.isExecutableFile(atPath: python)
    ? nil
    : ["", tools("python3-fastjsonschema")].map { $0 + "/usr/lib/python3/dist-packages" }.first {
      FileManager.default.fileExists(atPath: $0 + "/fastjsonschema/__init__.py")
    }

  /// What its libraries need, where they are unpacked.
  static var libraries: String {
    let base = tools("chromium") + "/usr/lib"
    let places = (try? FileManager.default.contentsOfDirectory(atPath: base)) ?? []
    return places.filter { $0.contains("-linux-") }.flatMap { ["\(base)/\($0)", "\(base)/\($0)/pulseaudio"] }.joined(
      separator: ":")
  }

  private static func tools(_ package: String) -> String { ProjectFiles.root.path + "/.build/test-tools/\(package)" }

  private static func find(_ program: String, in package: String) -> String? {
    ["", tools(package)].flatMap { ["\($0)/usr/bin/\(program)", "\($0)/bin/\(program)"] }.first {
      FileManager.default.isExecutableFile(atPath: $0)
    }
  }
}

extension Program {
  /// Where threadkeeper and the examples are.
  static let tools = ThreadkeeperBinary.executable.deletingLastPathComponent().path

  /// Runs one of the examples while the test does something else.
  ///
  /// - Parameters:
  ///   - file: below `examples`.
  ///   - program: what runs it.
  ///   - variables: with `HOME`; there is a `PATH`.
  static func example(
    _ file: String, by program: String = "/bin/sh", _ arguments: [String], input: String = "",
    _ variables: [String: String]
  ) async throws -> Result {
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
      "../../../examples/\(file)"
    ).standardized.path
    let environment = ["PATH": "\(tools):/usr/local/bin:/usr/bin:/bin"].merging(variables) { $1 }
    return try await withCheckedThrowingContinuation { continuation in
      Thread {
        continuation.resume(
          with: Swift.Result {
            try run(program, [script] + arguments, input: Array(input.utf8), environment: environment)
          })
      }.start()
    }
  }
}

extension TemporaryDirectory {
  /// A file that is there whole or not at all.
  func put(_ text: String, _ name: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: file(name)), options: .atomic)
  }

  /// A line that only its user reads; its path.
  @discardableResult func putSecret(_ line: String, _ name: String) throws -> String {
    try put(line + "\n", name)
    chmod(file(name), 0o600)
    return file(name)
  }

  /// A program of this name.
  func putScript(_ text: String, _ name: String) throws {
    try put("#!/bin/sh\n" + text, name)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file(name))
  }
}
