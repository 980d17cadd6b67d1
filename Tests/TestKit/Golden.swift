import Foundation
import Testing

/// Files with what is expected, below `Golden` of the suite whose test asks. `MAKE_GOLDEN=1` writes them.
package enum Golden {
  private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

  package static func check(_ text: String, _ name: String, _ location: SourceLocation = #_sourceLocation) throws {
    let suite = location.fileID.prefix { $0 != "/" }
    let file = tests.appendingPathComponent("\(suite)/Golden/\(name)")
    if ProcessInfo.processInfo.environment["MAKE_GOLDEN"] == "1" {
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
    let expected = try String(contentsOf: file, encoding: .utf8)
    let differs = zip(
      text.split(separator: "\n", omittingEmptySubsequences: false),
      expected.split(separator: "\n", omittingEmptySubsequences: false)
    ).first { $0 != $1 }
    #expect(
      text == expected, "\(name) has another line: \(differs.map { "\($0) instead of \($1)" } ?? "one more or less")",
      sourceLocation: location)
  }
}

extension Golden {
  /// Those of a suite, one after another.
  package static func texts(_ location: SourceLocation = #_sourceLocation) throws -> String {
    let folder = tests.appendingPathComponent("\(location.fileID.prefix { $0 != "/" })/Golden")
    return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil).map {
      try String(contentsOf: $0, encoding: .utf8)
    }.joined(separator: "\n")
  }
}

/// A schema of `docs/reference/schemas`.
package struct PublishedSchema {
  private let root: [String: Any]

  package init(_ name: String) throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
      "../../docs/reference/schemas/\(name).json"
    ).standardized
    let schema = try JSONSerialization.jsonObject(with: Data(contentsOf: file))
    root = try #require(schema as? [String: Any])
  }

  /// Of its fields, as they are in JSON, those that a text lacks; and so of the words that they may have.
  package func missing(in text: String) -> [String] {
    var parts: Set<String> = []
    collect(root, &parts)
    return parts.filter { !text.contains($0) }.sorted()
  }

  /// Also below `definitions`, but not of the objects that are named there and used nowhere.
  private func collect(_ schema: [String: Any], _ parts: inout Set<String>) {
    for (name, field) in schema["properties"] as? [String: [String: Any]] ?? [:] {
      parts.insert("\"\(name)\":")
      let named = resolved(field)
      for case let word as String in named["enum"] as? [Any] ?? [] { parts.insert("\"\(name)\":\"\(word)\"") }
      collect(named, &parts)
      collect(resolved(named["items"] as? [String: Any] ?? [:]), &parts)
    }
  }

  private func resolved(_ schema: [String: Any]) -> [String: Any] {
    guard let name = (schema["$ref"] as? String)?.split(separator: "/").last.map(String.init),
      let definitions = root["definitions"] as? [String: [String: Any]]
    else { return schema }
    return definitions[name] ?? schema
  }
}
