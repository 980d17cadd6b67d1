import Foundation

/// The files of a store.
enum StoreFiles {
  /// Bytes of all files in a directory and below it.
  static func size(of directory: String) throws -> Double {
    let manager = FileManager.default
    return try manager.subpathsOfDirectory(atPath: directory).reduce(into: 0) { sum, path in
      let attributes = try manager.attributesOfItem(atPath: "\(directory)/\(path)")
      guard attributes[.type] as? FileAttributeType == .typeRegular else { return }
      sum += (attributes[.size] as? NSNumber)?.doubleValue ?? 0
    }
  }
}
