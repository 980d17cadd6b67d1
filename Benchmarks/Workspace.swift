import ArgumentParser
import Broker
import Foundation

/// A directory for stores and brokers that is gone afterwards, and the programs that are measured.
final class Workspace {
  let path: String
  private let program: String
  /// This program, which plays subscriber and publisher in processes of their own.
  let helper: String
  private var counter = 0

  init(in parent: String, daemon: String?) throws {
    let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    helper = program.path
    self.program = daemon ?? program.deletingLastPathComponent().appendingPathComponent("threadkeeper").path
    path = URL(fileURLWithPath: parent).appendingPathComponent("bench-\(getpid())").path
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  func remove() { try? FileManager.default.removeItem(atPath: path) }

  /// The daemon that is measured. Not every measurement needs one.
  var daemon: String {
    get throws {
      guard FileManager.default.isExecutableFile(atPath: program) else {
        throw ValidationError("there is no program \(program): " + "build it first with `make build`")
      }
      return program
    }
  }

  func remove(_ directory: String) { try? FileManager.default.removeItem(atPath: directory) }

  /// A path below the workspace that is not in use yet.
  func fresh(_ name: String) -> String {
    counter += 1
    return "\(path)/\(name)-\(counter)"
  }

  /// An empty directory of its own.
  func freshDirectory(_ name: String, in parent: String? = nil) throws -> String {
    let path = parent.map { "\($0)/\(name)" } ?? fresh(name)
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    return path
  }

  /// A private broker that drops nothing and saves nothing, so that only its speed matters.
  func startBroker() throws -> EmbeddedBroker {
    var configuration = EmbeddedBrokerConfiguration(directory: fresh("broker"), persistence: false, logins: [])
    configuration.receiveMaximum = UInt16(Helper.window)
    configuration.extraConfiguration = ["max_queued_bytes 0", "log_type error", "log_type information"]
    let broker = EmbeddedBroker(configuration)
    try broker.start()
    return broker
  }
}
