import Foundation
import TestKit
import Testing

/// What `make sbom` writes, beside what the schema of CycloneDX 1.5 requires.
@Suite("What the program is made of") struct SBOMTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func written(_ name: String) throws -> Data {
    let file = directory.file(name)
    let result = try Program.run(
      DebianTool.python, [ProjectFiles.root.path + "/.ci/sbom.py", ThreadkeeperBinary.executable.path, file],
      environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"])
    #expect(result.status == 0, "\(result.output)")
    return try Data(contentsOf: URL(fileURLWithPath: file))
  }

  private func check(_ component: JSON) {
    let name = component["name"]?.text ?? "a part without a name"
    #expect(["application", "framework", "library"].contains(component["type"]?.text), "\(name)")
    for field in ["bom-ref", "name", "purl", "version"] {
      #expect(component[field]?.text?.isEmpty == false, "\(name): \(field)")
    }
    #expect(component["purl"]?.text?.hasPrefix("pkg:") == true, "\(name)")
    #expect([nil, "required", "optional"].contains(component["scope"]?.text), "\(name)")
    for licence in component["licenses"]?.list ?? [] {
      // The schema: one expression, or licences with an id or a name.
      #expect((licence["expression"]?.text != nil) != (licence["license"]?["name"]?.text != nil), "\(name)")
    }
    for reference in component["externalReferences"]?.list ?? [] {
      #expect(reference["type"] == "vcs" && reference["url"]?.text?.hasPrefix("https://") == true, "\(name)")
    }
  }

  @Test(
    "It has the Swift packages and the libraries of Debian, with versions, and all that the schema requires",
    .enabled(if: FileManager.default.isExecutableFile(atPath: DebianTool.python))) func parts() throws
  {
    let data = try written("one.json")
    let bom = try #require(JSON(String(decoding: data, as: UTF8.self)))
    #expect(bom["bomFormat"] == "CycloneDX")
    #expect(bom["specVersion"] == "1.5")
    #expect(bom["version"]?.number == 1)
    let hex = "(?:[0-9a-f]{4})"
    let serial = try Regex("urn:uuid:\(hex){2}-\(hex)-\(hex)-\(hex)-\(hex){3}")
    #expect(try serial.wholeMatch(in: bom["serialNumber"]?.text ?? "") != nil)

    let own = try #require(bom["metadata"]?["component"])
    let parts = try #require(bom["components"]?.list)
    for component in [own] + parts { check(component) }
    #expect(own["type"] == "application" && own["name"] == "threadkeeper")
    let references = parts.compactMap { $0["bom-ref"]?.text }
    #expect(Set(references).count == parts.count)
    let dependencies = try #require(bom["dependencies"]?.list)
    #expect(dependencies.map { $0["ref"] } == [own["bom-ref"]])
    #expect(dependencies.first?["dependsOn"]?.list.compactMap(\.text) == references)

    for package in ["swift-argument-parser", "swift-log", "swift-service-lifecycle"] {
      let part = parts.first { $0["name"]?.text == package }
      #expect(part?["purl"]?.text?.hasPrefix("pkg:swift/github.com/") == true, "\(package)")
      #expect(part?["licenses"]?.list.first?["expression"]?.text?.hasPrefix("Apache-2.0") == true, "\(package)")
    }
    if FileManager.default.isExecutableFile(atPath: "/usr/bin/dpkg-query") {
      for library in ["libmosquitto", "libsodium", "libsqlite3", "libssl", "libyaml", "libavahi-client"] {
        #expect(parts.contains { $0["purl"]?.text?.contains("/\(library)") == true }, "\(library)")
      }
    }
    #expect(try written("two.json") == data)
  }
}
