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
package struct RuntimeRecord: Codable, Equatable {
  package struct Broker: Codable, Equatable {
    package enum State: String, Codable {
      case connecting, connected
      case notRunning = "not_running"
      case unknown
    }

    package var host: String
    package var port: Int
    package var embedded: Bool
    package var state: State
    package var problem: String?

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
  }

  /// Whether events are taken up, in the words of `bridge/health`.
  package struct Intake: Codable, Equatable {
    package enum State: String, Codable {
      case running, connecting
      case backingOff = "backing_off"
      case notRunning = "not_running"
      case unknown
    }

    package var state: State
    package var reason: String?
  }

  package struct Login: Codable, Equatable {
    package var username: String?
    package var source: LoginInUse.Source
  }

  /// What the broker does not take from the daemon.
  package struct Refused: Codable, Equatable {
    package var topics: Int
    package var lastTopic: String
    /// Words of the last.
    package var problem: String
    package var remedy: String
  }

  /// With which files its store is opened, for commands of the same user.
  package struct Places: Codable, Equatable {
    package var keyFile: String
    package var anchorPath: String

    /// Nil where they are too long for the record, which has little room.
    init?(_ store: Settings.Store) {
      guard store.keyFile.utf8.count + store.anchorPath.utf8.count <= 1500 else { return nil }
      keyFile = store.keyFile
      anchorPath = store.anchorPath
    }
  }

  package var pid: Int32
  package var places: Places?
  package var broker: Broker
  /// Whom the daemon says it is to its broker. Its settings may be others than those of who asks.
  package var login: Login?
  package var intake: Intake
  /// Whether what is accessible "when unlocked" can be reached.
  package var unlocked: Bool?
  /// Nil while it takes everything.
  package var refused: Refused?

  package static func path(_ settings: Settings) -> String { settings.store.path + "/run.json" }

  /// Bytes of the file. It always has the same size and is written in place: on a full disk that
  /// works, too, when there is the most to tell.
  private static let length = 4096

  package func write(_ settings: Settings) {
    let path = Self.path(settings)
    guard let bytes = try? JSONEncoder().encode(self), bytes.count <= Self.length,
      Self.put(
        bytes + Data(repeating: UInt8(ascii: " "), count: Self.length - bytes.count), into: path)
    else {
      // Better nothing than what is no longer true.
      unlink(path)
      return
    }
  }

  private static func put(_ bytes: Data, into path: String) -> Bool {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
      == bytes.count
  }

  /// What the process that holds the store's lock has written; nil when it has written nothing yet,
  /// or could not.
  package static func read(_ settings: Settings, of process: Int32) -> RuntimeRecord? {
    // Where nothing can be written any more, what stands there may be long out of date.
    guard access(path(settings), W_OK) == 0 || errno != EROFS,
      let data = try? Data(contentsOf: URL(filePath: path(settings))),
      let record = try? JSONDecoder().decode(RuntimeRecord.self, from: data),
      record.pid == process
    else { return nil }
    return record
  }
}
