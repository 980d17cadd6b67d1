import Foundation

/// All passwords in one JSON file, in plain text: `Peers/json_store.py`, a process of its own that measures itself.
final class JSONFileStore: PasswordStore {
  let name = "JSON file"
  /// All at once: each write is one of the whole file.
  let batch = Int.max
  private let directory: String
  private let script: ChildProcess

  init(in directory: String, peers: Peers, secretBytes: Int) throws {
    self.directory = directory
    script = try peers.start("json_store.py", ["\(directory)/items.json", "\(secretBytes)"], takesInput: true)
  }

  func changes(of items: Int) -> Int { items >= 100_000 ? 3 : 30 }

  func add(_ numbers: Range<Int>, secret: [UInt8]) throws -> Stopwatch {
    try order("add \(numbers.lowerBound) \(numbers.count)", count: numbers.count)
  }

  func find(_ numbers: [Int]) throws -> Stopwatch {
    try order("find " + numbers.map(String.init).joined(separator: " "), count: numbers.count)
  }

  func change(_ number: Int, secret: [UInt8]) throws -> Stopwatch { try order("change \(number)", count: 1) }

  func reopen() throws -> Stopwatch { try order("open", count: nil) }

  var fileSize: Double { get throws { try StoreFiles.size(of: directory) } }

  func close() { script.end() }

  /// - Parameter count: of items that it has to say, and by which its times are divided; nil: one.
  private func order(_ text: String, count: Int?) throws -> Stopwatch {
    try script.write(text)
    let line = try script.nextLine(within: 300)
    let numbers = line.text.split(separator: " ").compactMap { Double($0) }
    guard numbers.count == 3 else { throw StoreFailure(description: "\(name) answered `\(line.text)`") }
    if let count { try StoreFailure.check(name, found: Int(numbers[0]), of: count) }
    let operations = Double(count ?? 1)
    return Stopwatch(elapsed: numbers[1] / 1e3 / operations, processor: numbers[2] / 1e3 / operations)
  }
}
