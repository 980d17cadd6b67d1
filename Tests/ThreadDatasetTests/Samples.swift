import Foundation
import Testing
import ThreadDataset

/// The public vectors, and datasets that tests share.
enum Samples {
  struct Vector: Decodable, Sendable, CustomTestStringConvertible {
    let id: String
    let hex: String
    let expect: String

    var testDescription: String { id }
  }

  private struct VectorFile: Decodable { let vectors: [Vector] }

  /// Empty when the file can't be read; a test asks for their number.
  static let vectors: [Vector] = {
    guard let file = Bundle.module.url(forResource: "datasets", withExtension: "json", subdirectory: "Vectors"),
      let data = try? Data(contentsOf: file)
    else { return [] }
    return (try? JSONDecoder().decode(VectorFile.self, from: data).vectors) ?? []
  }()

  static var soundVectors: [Vector] { vectors.filter { $0.expect == "complete" || $0.expect == "pending" } }

  static func vector(_ id: String) throws -> OperationalDataset {
    let vector = try #require(vectors.first { $0.id == id })
    return try OperationalDataset(hex: vector.hex)
  }

  /// What an OpenThread Border Router of 2026 sends: upper case, with a wake-up channel.
  static let realRouterHex =
    "0E08000000000001000000030000154A0300001835060004001FFFE002082D3F0EE2DD67CAF1"
    + "0708FD7E88B2789B1FAA051063C61007F020B7424AC5A45EECA256F2030F4F70656E5468726561642D33336363"
    + "010233CC0410EDC7D687D806DC47B152F4FEEFAFA4310C0402A0F7F8"
}
