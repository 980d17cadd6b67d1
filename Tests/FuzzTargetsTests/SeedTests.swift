import Foundation
import FuzzTargets
import Testing

/// `make fuzz` runs for minutes. Its seeds run here, so that no target breaks unnoticed. Those of Keychain Services run in
/// `SecurityTests`: a program has one keychain.
struct SeedTests {
  private static let targets = FuzzTarget.allCases.filter { $0 != .secitem }

  @Test("Each fuzz target takes its seeds whole, cut and changed, and no bytes", arguments: targets) func seeds(
    _ target: FuzzTarget
  ) throws {
    for (name, bytes) in try Seeds.variants(of: target) {
      #expect(throws: Never.self, "\(target.rawValue)/\(name)") { try target.check(bytes) }
    }
  }

  @Test("Every folder of seeds belongs to a fuzz target") func folders() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Seeds.corpus)
    #expect(folders.sorted() == FuzzTarget.allCases.map(\.rawValue).sorted())
  }
}
