// SPDX-License-Identifier: Apache-2.0

import Bridge
import EmbeddedBroker
import KeychainCore
import Logging
import MosquittoClient
import SQLiteDatabase
import ServiceLifecycle
import Settings

/// The composition root: store, broker and bridge, put together from the settings.
struct Keeper {
  let settings: Settings
  let keychain: Keychain
  let bridge: Bridge
  let privateBroker: PrivateBroker?
  let port: UInt16
  let logger: Logger

  /// Opens the store, making it where there is none, and starts the private broker where one is
  /// wanted. `end` undoes it.
  static func start(_ settings: Settings, logger: Logger) throws -> Keeper {
    SQLiteProcess.endMemoryStatistics()
    let keychain = try openOrCreate(settings, logger: logger)
    do {
      let broker =
        try settings.mqtt.host.isEmbedded ? PrivateBroker.start(settings, logger: logger) : nil
      let connection = MosquittoConfiguration(settings.mqtt, embeddedBroker: broker?.broker)
      let clientID = settings.mqtt.clientID ?? "threadkeeper-\(keychain.storeID)"
      do {
        let bridge = try Bridge(
          BridgeConfiguration(settings), connection: connection, clientID: clientID,
          keychain: keychain, logger: logger)
        return Keeper(
          settings: settings, keychain: keychain, bridge: bridge, privateBroker: broker,
          port: connection.port, logger: logger)
      } catch {
        broker?.stop()
        throw error
      }
    } catch {
      keychain.close()
      throw error
    }
  }

  /// Runs until SIGTERM or SIGINT, or until it cannot go on.
  func run() async throws {
    for notice in keychain.notices { logger.notice("\(notice)") }
    let broker = privateBroker.map { ServiceGroupConfiguration.ServiceConfiguration(service: $0) }
    let group = ServiceGroup(
      configuration: ServiceGroupConfiguration(
        services: (broker.map { [$0] } ?? []) + [
          .init(service: bridge),
          .init(
            service: RuntimeRecorder(settings: settings, port: port, monitor: bridge.monitor)),
          .init(service: StoreVerification(keychain: keychain, logger: logger)),
        ],
        gracefulShutdownSignals: [.sigterm, .sigint],
        logger: Logger(label: "threadkeeper.services") { _ in SwiftLogNoOpLogHandler() }))
    do {
      try await group.run()
    } catch let error as MosquittoError {
      throw CommandFailure(.unavailable, error.message)
    }
  }

  func end() {
    keychain.close()
    privateBroker?.stop()
  }

  private static func openOrCreate(_ settings: Settings, logger: Logger) throws -> Keychain {
    var options = KeychainOptions()
    options.upkeep = .deferred
    guard !OpenStore.exists(settings) else {
      return try OpenStore.forWriting(settings, options: options)
    }
    let keychain = try OpenStore.create(settings, options: options)
    logger.notice(
      "made a new store; back up its key, without which nobody can read it",
      metadata: ["store": "\(settings.store.path)", "key_file": "\(settings.store.keyFile)"])
    return keychain
  }
}

extension Settings.MQTT.Host {
  var isEmbedded: Bool { self == .embedded }
}

extension MosquittoConfiguration {
  fileprivate init(_ mqtt: Settings.MQTT, embeddedBroker: EmbeddedBroker?) {
    switch mqtt.host {
    case .named(let name): self.init(mqtt, host: name)
    case .embedded:
      self.init(mqtt, host: "127.0.0.1")
      tls = nil
      port = embeddedBroker?.port ?? mqtt.port
      username = "threadkeeper"
      password = embeddedBroker?.password(of: "threadkeeper")
    }
  }
}
