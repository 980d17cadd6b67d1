/// What is fuzzed: everything that reads bytes from others. The raw value is its name on the command line, and of the
/// folder with its seeds in `Tests/Fuzz/Corpus`.
package enum FuzzTarget: String, CaseIterable, Sendable {
  case dataset, json, topic, event, envelope, varlink, settings, mdns, meshcop, secitem

  /// Reads one input with the decoder of the daemon, and checks what has to hold for any bytes.
  ///
  /// - Throws: `FuzzFinding` for what does not hold.
  package func check(_ bytes: [UInt8]) throws {
    switch self {
    case .dataset: try DatasetFuzz.check(bytes)
    case .json: try JSONFuzz.check(bytes)
    case .topic: try TopicFuzz.check(bytes)
    case .event: try EventFuzz.check(bytes)
    case .envelope: try EnvelopeFuzz.check(bytes)
    case .varlink: try VarlinkFuzz.check(bytes)
    case .settings: try SettingsFuzz.check(bytes)
    case .mdns: try AdvertisementFuzz.check(bytes)
    case .meshcop: try MeshCoPFuzz.check(bytes)
    case .secitem: try SecItemFuzz.check(bytes)
    }
  }
}

/// A property that does not hold.
package struct FuzzFinding: Error, CustomStringConvertible { package let description: String }

/// - Throws: `FuzzFinding` unless the condition holds.
func expect(_ condition: Bool, _ property: @autoclosure () -> String) throws {
  guard condition else { throw FuzzFinding(description: property()) }
}

/// The value.
///
/// - Throws: `FuzzFinding` where the expression throws, or there is no value.
func need<Value>(_ property: String, _ value: () throws -> Value?) throws -> Value {
  do { if let value = try value() { return value } } catch { throw FuzzFinding(description: "\(property): \(error)") }
  throw FuzzFinding(description: property)
}
