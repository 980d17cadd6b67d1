import Bridge
import Broker
import Logging
import ServiceDiscovery
import ServiceLifecycle
import Settings
import ThreadkeeperSupport

/// The broker that comes with the daemon: started before it, and again whenever it dies.
struct PrivateBroker: Service {
  /// A broker that dies sooner than this after its start is not started again at once.
  private static let pause = Duration.seconds(2)

  let broker: EmbeddedBroker
  private let ends: AsyncStream<EmbeddedBrokerError>
  private let logger: Logger

  /// Mosquitto's usual port where it is free and nothing else was asked for, otherwise any; any for 0.
  static func start(_ settings: Settings, _ logins: [EmbeddedBrokerConfiguration.Login], logger: Logger) throws
    -> PrivateBroker
  {
    do throws(CommandFailure) { try PrivateDirectory.make(settings.stateDirectory) } catch {
      throw CommandFailure(error.status, error.message, remedy: "name another place with --state-directory")
    }
    let (ends, ended) = AsyncStream.makeStream(of: EmbeddedBrokerError.self)
    func start(port: UInt16?) throws(EmbeddedBrokerError) -> EmbeddedBroker {
      var configuration = EmbeddedBrokerConfiguration(
        directory: settings.stateDirectory + "/broker", port: port, baseTopics: settings.homes.map(\.base),
        logins: logins)
      configuration.discoveryPrefix = settings.homeAssistant.prefix
      let broker = EmbeddedBroker(configuration, unexpectedEnd: { ended.yield($0) })
      try broker.start()
      return broker
    }
    func startAnywhere() throws(EmbeddedBrokerError) -> EmbeddedBroker {
      let port = settings.mqtt.port
      do { return try start(port: port == 0 ? nil : port) } catch {
        guard error.reason == .portTaken, port == Settings.MQTT().port else { throw error }
        return try start(port: nil)
      }
    }
    do {
      let broker = try startAnywhere()
      if broker.socket == nil {
        logger.warning(
          """
          the daemon reaches its private broker by a port: another user who takes it while the broker is away is given \
          the password
          """, metadata: ["remedy": "name a directory with a shorter path with --state-directory"])
      }
      return PrivateBroker(broker: broker, ends: ends, logger: logger)
    } catch { throw CommandFailure(.unavailable, "\(error)") }
  }

  func run() async throws {
    var startedAt = ContinuousClock.now
    for await end in ends.cancelOnGracefulShutdown() {
      logger.error("the private broker is started again", metadata: ["reason": "\(end)"])
      if startedAt.duration(to: .now) < Self.pause {
        try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.pause) }
      }
      guard !Task.isShuttingDownGracefully else { return }
      startedAt = .now
      await restartUntilItRuns()
    }
  }

  /// The port may be taken, or the system short of something, for a while.
  private func restartUntilItRuns() async {
    var reason: String?
    while !Task.isShuttingDownGracefully, !Task.isCancelled {
      do { return try await restart() } catch {
        let failure = "\(error)"
        if failure != reason {
          logger.error("the private broker cannot be started; trying again", metadata: ["reason": "\(failure)"])
        }
        reason = failure
      }
      try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.pause) }
    }
  }

  func stop() { broker.stop() }

  private func restart() async throws {
    let broker = broker
    try await SystemThread.result {
      broker.stop()
      try broker.start()
    }
  }
}

/// Looks for border routers on the local network, and hands what is found to the bridge.
struct RouterDiscovery: Service {
  let intake: DiscoveryIntake

  func run() async throws {
    let receivers: [(type: String, take: @Sendable (ServiceUpdate) -> Void)] = [
      (BorderRouterAdvertisement.serviceType, { intake.receive($0) }),
      (BorderRouterAdvertisement.codeServiceType, { intake.receiveCode($0) }),
      (BorderRouterAdvertisement.peerServiceType, { intake.receivePeer($0) }),
    ]
    intake.start()
    var browsers: [ServiceBrowser] = []
    for (type, take) in receivers {
      let browser = ServiceBrowser(type: type, handler: take)
      do { try browser.start() } catch let obstacle as DiscoveryObstacle { take(.unavailable(obstacle)) }
      browsers.append(browser)
    }
    try? await gracefulShutdown()
    for browser in browsers { browser.stop() }
    intake.stop()
  }
}
