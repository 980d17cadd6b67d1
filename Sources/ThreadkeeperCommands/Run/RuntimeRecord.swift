// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import KeychainCore
import Settings

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// `run.json` beside the store: what other processes may know of the one that runs. It is believed
/// only while that process holds the store's lock.
struct RuntimeRecord: Codable, Equatable {
  struct Broker: Codable, Equatable {
    enum State: String, Codable {
      case connecting, connected
      case notRunning = "not_running"
      case unknown
    }

    var host: String
    var port: Int
    var embedded: Bool
    var state: State
    var problem: String?

    init(
      _ settings: Settings, state: State, problem: String? = nil, port: UInt16? = nil
    ) {
      switch settings.mqtt.host {
      case .embedded:
        host = "127.0.0.1"
        embedded = true
      case .named(let name):
        host = name
        embedded = false
      }
      self.port = Int(port ?? settings.mqtt.port)
      self.state = state
      self.problem = problem
    }

    var words: String {
      let place = "\(embedded ? "embedded, " : "")\(host):\(port)"
      switch state {
      case .connected: return "\(place), connected"
      case .connecting: return "\(place), not connected" + (problem.map { ": \($0)" } ?? "")
      case .notRunning: return "\(place), not asked (the keeper is not running)"
      case .unknown: return "\(place), \(RuntimeRecord.unknownWords)"
      }
    }
  }

  /// Whether events are taken up, in the words of `bridge/health`.
  struct Intake: Codable, Equatable {
    enum State: String, Codable {
      case running, connecting
      case backingOff = "backing_off"
      case notRunning = "not_running"
      case unknown
    }

    var state: State
    var reason: String?

    var words: String {
      switch state {
      case .running: "running" + (reason.map { "; \($0)" } ?? "")
      case .connecting: "connecting" + (reason.map { ": \($0)" } ?? "")
      case .backingOff: "stands still" + (reason.map { ": \($0)" } ?? "")
      case .notRunning: "not running"
      case .unknown: RuntimeRecord.unknownWords
      }
    }
  }

  private static let unknownWords =
    "not known: the keeper has not written how it is; `bridge/health` on the broker tells"

  struct Login: Codable, Equatable {
    var username: String?
    var source: LoginInUse.Source
  }

  /// What the broker does not take from the keeper.
  struct Refused: Codable, Equatable {
    var topics: Int
    var lastTopic: String
    /// Words of the last.
    var problem: String
    var remedy: String

    var words: String {
      let place = problem.contains(lastTopic) ? "" : ", `\(lastTopic)`"
      return
        "\(topics == 1 ? "1 topic" : "\(topics) topics"); the last\(place): \(problem). \(remedy)"
    }
  }

  /// With which files its store is opened, for commands of the same user.
  struct Places: Codable, Equatable {
    var keyFile: String
    var anchorPath: String

    /// Nil where they are too long for the record, which has little room.
    init?(_ store: Settings.Store) {
      guard store.keyFile.utf8.count + store.anchorPath.utf8.count <= 1500 else { return nil }
      keyFile = store.keyFile
      anchorPath = store.anchorPath
    }
  }

  var pid: Int32
  var places: Places?
  var broker: Broker
  /// Whom the keeper says it is to its broker. Its settings may be others than those of who asks.
  var login: Login?
  var intake: Intake
  /// Whether what is accessible "when unlocked" can be reached.
  var unlocked: Bool?
  /// Nil while it takes everything.
  var refused: Refused?

  static func path(_ settings: Settings) -> String { settings.store.path + "/run.json" }

  /// Octets of the file. It always has the same size and is written in place: on a full disk that
  /// works, too, when there is the most to tell.
  private static let length = 4096

  func write(_ settings: Settings) {
    let path = Self.path(settings)
    guard let octets = try? JSONEncoder().encode(self), octets.count <= Self.length,
      Self.put(
        octets + Data(repeating: UInt8(ascii: " "), count: Self.length - octets.count), into: path)
    else {
      // Better nothing than what is no longer true.
      unlink(path)
      return
    }
  }

  private static func put(_ octets: Data, into path: String) -> Bool {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return octets.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
      == octets.count
  }

  /// What the process that holds the store's lock has written; nil when it has written nothing yet,
  /// or could not.
  static func read(_ settings: Settings, of process: Int32) -> RuntimeRecord? {
    // Where nothing can be written any more, what stands there may be long out of date.
    guard access(path(settings), W_OK) == 0 || errno != EROFS,
      let data = try? Data(contentsOf: URL(filePath: path(settings))),
      let record = try? JSONDecoder().decode(RuntimeRecord.self, from: data),
      record.pid == process
    else { return nil }
    return record
  }
}
